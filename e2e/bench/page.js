// Gives `window.bench` and `window.start` to whoever drives this page: e2e/bench/run.py.

import { bench, start } from "./bench.js";

window.bench = bench;
window.start = start;
