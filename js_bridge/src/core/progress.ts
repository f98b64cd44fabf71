// Tells a page how far Python's start is: the event `rose-progress` on the window. A page that shows it
// in its own way prevents the default, a thin bar at the top.

import type { Progress } from "../../rose";

/** In milliseconds: what is sooner done needs no bar. */
const PATIENCE = 400;

let bar: HTMLElement | undefined;
/** What has been told last, while something goes on. */
let now: Progress | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

const STYLE = {
  position: "fixed",
  inset: "0 auto auto 0",
  height: "3px",
  zIndex: "2147483647",
  background: "#4a7dff",
  forcedColorAdjust: "none", // else it were as the page is
  pointerEvents: "none",
};

const hide = (): void => {
  clearTimeout(timer);
  bar?.remove();
  bar = timer = undefined;
};

const show = (progress: Progress): void => {
  // Python may start for long from files that were here at once, and tell nothing
  timer ??= setTimeout(begin, PATIENCE);
  if (bar) fill(bar, progress);
};

const begin = (): void => {
  if (!document.body || !now) {
    timer = setTimeout(begin, PATIENCE); // the page itself is still on its way
    return;
  }
  bar = document.createElement("div");
  bar.setAttribute("role", "progressbar");
  bar.setAttribute("aria-label", "Loading Python");
  Object.assign(bar.style, STYLE);
  fill(bar, now);
  document.body.append(bar);
};

const fill = (bar: HTMLElement, { loaded, total }: Progress): void => {
  const done = Math.round((100 * loaded) / (total || 1));
  bar.style.width = `${Math.max(done, 1)}%`; // seen before the first byte, too
  bar.setAttribute("aria-valuenow", `${done}`);
};

export const report = (detail: Progress): void => {
  if (typeof document !== "object") return;
  now = /download|start/.test(detail.stage) ? detail : undefined;
  const init = { detail, cancelable: true };
  const isOurs = dispatchEvent(new CustomEvent("rose-progress", init));
  if (isOurs && now) show(now);
  else hide();
};

/** Tell the end of what goes on, if anything does: who told of it can do so no more. */
export const reportFailure = (): void => {
  if (now) report({ ...now, stage: "failed" });
};
