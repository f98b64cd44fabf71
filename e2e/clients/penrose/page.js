// Gives `window.clients` to whoever drives this page: Penrose with our rose and with its own.

import * as original from "./bundles/original.js";
import * as ours from "./bundles/ours.js";

const core = new URLSearchParams(location.search).get("core") ?? "worker";
await ours.start(new URL("../", import.meta.url), core);
window.clients = { ours, original };
