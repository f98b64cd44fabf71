// Tells a page how far Python's start is: the event `rose-progress` on the window. A page that shows it
// in its own way prevents the default, a thin bar at the top.

/** What an event has as its `detail`. */
export interface Progress {
  /** What goes on: files come, Python starts from them, it is ready, or none of it worked. */
  readonly stage: "download" | "start" | "ready" | "failed";
  /** Bytes of the files that have come, and of all. */
  readonly loaded: number;
  readonly total: number;
}

/** In milliseconds: what is sooner done needs no bar. */
const PATIENCE = 400;

let bar: HTMLElement | undefined;
let began: number | undefined;

const STYLE = {
  position: "fixed",
  inset: "0 auto auto 0",
  height: "3px",
  zIndex: "2147483647",
  background: "#4a7dff",
  pointerEvents: "none",
};

const show = ({ stage, loaded, total }: Progress): void => {
  if (stage === "ready" || stage === "failed") {
    bar?.remove();
    bar = began = undefined;
    return;
  }
  began ??= performance.now();
  if (bar === undefined) {
    if (performance.now() - began < PATIENCE || !document.body) return;
    bar = document.createElement("div");
    bar.setAttribute("role", "progressbar");
    bar.setAttribute("aria-label", "Loading Python");
    Object.assign(bar.style, STYLE);
    document.body.append(bar);
  }
  const done = Math.round((100 * loaded) / (total || 1));
  bar.style.width = `${done}%`;
  bar.setAttribute("aria-valuenow", `${done}`);
};

export const report = (detail: Progress): void => {
  if (typeof document !== "object") return;
  const init = { detail, cancelable: true };
  if (dispatchEvent(new CustomEvent("rose-progress", init))) show(detail);
};
