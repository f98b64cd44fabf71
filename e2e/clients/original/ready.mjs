// The original has its compiler loaded once it is imported; ours is asked to load it.

import { ready } from "../../../dist/rose.js";

await ready();
