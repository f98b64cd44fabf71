// The page about diagrams: the programs that the reader edits, and the picture that follows.

import { DiagramView } from "./view.js";
import {
  GIVEN_UP,
  broken,
  ending,
  energyOf,
  lost,
  measured,
  stopped,
} from "./words.js";
import { Editor } from "../lib/editor.js";
import { count } from "../lib/format.js";
import { latest } from "../lib/latest.js";
import { Layout } from "./layout.js";
import { announcer, calm, during, element } from "../lib/page.js";
import { oncePerFrame, onActs, show } from "../lib/page.js";
import { compileTrio, Mistake, ofEachKind } from "./trio.js";
import { TRIOS } from "./trios.js";
import { write } from "../lib/write.js";

/**
 * @typedef {import("./trio.js").Kind} Kind
 * @typedef {import("./trio.js").Programs} Programs
 */

/** Typing is over when nothing was typed for so long, in milliseconds. */
const PAUSE = 400;

/** For so long, in milliseconds, steps are taken until there has to be a picture. */
const SLICE = 12;

/** @type {Kind[]} */
const KINDS = ["substance", "style", "domain"];

const status = element("status");
const kinds = element("kind", HTMLSelectElement);
const pace = element("pace", HTMLInputElement);
const withArrows = element("arrows", HTMLInputElement);
const run = element("run", HTMLButtonElement);
const say = announcer(status);

// ---- laying out ----------------------------------------------------------

/** The last good one. @type {Layout | undefined} */
let layout;
/** Chooses where things are at first. */
let variation = "rose";
let running = false;
/** Whether the reader has hold of a shape. */
let holds = false;
/** Steps that should have been taken by now, and when that was reckoned. */
let due = 0;
let reckoned = 0;

const stepsPerSecond = () => 10 ** pace.valueAsNumber;

/** @param {string} words @param {boolean} [isBad] */
const halt = (words, isBad = false) => {
  running = false;
  due = 0;
  say(words, isBad);
  refresh();
};

const goOnSoon = oncePerFrame(() => {
  if (!running || !layout) return;
  const began = performance.now();
  due += (stepsPerSecond() * Math.min(100, began - reckoned)) / 1000;
  reckoned = began;
  // what is held has to follow at once, and who wants no motion has the end as soon as possible
  if (holds || calm.matches) due = Infinity;
  try {
    while (due >= 1 && !layout.isDone && performance.now() - began < SLICE) {
      layout.advance();
      due--;
    }
  } catch (error) {
    return halt(broken(/** @type {Error} */ (error)), true);
  }
  if (!Number.isFinite(due)) due = 0;
  if (layout.isDone && !holds) {
    measure(layout); // by now, engines have made the best of it
    return halt(ending(layout.steps, layout.unmet), layout.unmet.length > 0);
  }
  if (layout.isLost) return halt(lost(layout.steps), true);
  if (holds || !calm.matches) refresh();
  goOnSoon();
});

const go = () => {
  say("", false);
  if (running) return;
  running = true;
  reckoned = performance.now();
  goOnSoon();
  refresh();
};

// ---- new programs --------------------------------------------------------

/** Gives up what is being compiled, or has done so. */
let giveUp = new AbortController();
let isCompiling = false;
/** Whether the programs are others than those of the picture, so that it has to begin anew. */
let isOther = true;

const programs = ofEachKind((kind) => {
  const field = element(kind, HTMLTextAreaElement);
  const message = element(`${kind}-message`);
  return new Editor(field, message, () => edited());
});

/** @param {Programs} texts @returns {Promise<Layout | Mistake | undefined>} */
const compileOrMistake = async (texts) => {
  const { signal } = giveUp;
  try {
    return await compileTrio(texts, variation, signal);
  } catch (error) {
    if (signal.aborted) return undefined;
    if (error instanceof Mistake) return error;
    throw error;
  }
};

const compile = latest(async (/** @type {void} */ _, isLatest) => {
  giveUp = new AbortController();
  const texts = ofEachKind((kind) => programs[kind].text);
  const words = "Penrose and the compiler are at work…";
  isCompiling = true;
  refresh();
  const made = await during(status, words, compileOrMistake(texts));
  isCompiling = false;
  refresh();
  if (!isLatest()) return made instanceof Layout ? made.dispose() : undefined;
  if (!made) return giveUp.signal.aborted ? say(GIVEN_UP, false) : undefined;
  for (const kind of KINDS) programs[kind].right();
  if (made instanceof Mistake)
    return programs[made.kind].wrong(made.message, made.range);
  if (layout && !isOther) made.adopt(layout);
  layout?.dispose();
  isOther = false;
  layout = made;
  view.begin(made);
  measure(layout);
  go();
});

const start = () => {
  giveUp.abort();
  compile();
};

let typing = 0;
const edited = () => {
  clearTimeout(typing);
  typing = setTimeout(start, PAUSE);
};

const choose = () => {
  clearTimeout(typing);
  for (const kind of KINDS) programs[kind].put(TRIOS[kinds.value][kind]);
  variation = "rose";
  isOther = true;
  start();
};

// ---- what else the reader does -------------------------------------------

const view = new DiagramView(element("diagram-stage"), {
  take: () => (holds = true),
  put: (path, to) => {
    layout?.put(path, to);
    go();
  },
  leave: () => (holds = false),
});

const resample = () => {
  if (!layout) return;
  variation = crypto.randomUUID();
  layout.resample(variation);
  go();
};

kinds.addEventListener("change", choose);
element("resample").addEventListener("click", resample);
run.addEventListener("click", () => {
  if (isCompiling) giveUp.abort();
  else if (running && layout) halt(stopped(layout.steps));
  else if (giveUp.signal.aborted) start();
  else go();
});
withArrows.addEventListener("change", () => refresh());
new ResizeObserver(() => refresh()).observe(view.stage);

onActs({
  kind: (kind) => {
    kinds.value = kind;
    choose();
  },
  arrows: () => (withArrows.checked = true),
  add: (line) => {
    const { substance } = programs;
    substance.put(`${substance.text.trimEnd()}\n${line}`);
    substance.field.scrollTo(0, substance.field.scrollHeight);
    start();
  },
  resample,
});

// ---- what the reader sees ------------------------------------------------

const measure = (/** @type {Layout} */ layout) =>
  show(measured(layout.measure()));

const refresh = oncePerFrame(() => {
  write(run, running || isCompiling ? "Stop" : "Go on");
  const isStill = !layout || layout.isDone;
  run.disabled = !isCompiling && !giveUp.signal.aborted && isStill;
  element("resample", HTMLButtonElement).disabled = !layout;
  const perSecond = `${count(Math.round(stepsPerSecond()))} steps per second`;
  pace.setAttribute("aria-valuetext", perSecond);
  if (!layout) return;
  const { phi, gradient } = layout.look();
  view.draw(layout, withArrows.checked ? gradient : undefined);
  show({
    steps: count(layout.steps),
    calls: count(layout.calls),
    energy: energyOf(phi),
  });
});

choose();

/** For those who freeze the page: what the text offers is compiled. */
export const warmUp = async () => {
  for (const button of document.querySelectorAll("button[data-act^=kind]")) {
    /** @type {HTMLButtonElement} */ (button).click();
    do await new Promise((wake) => setTimeout(wake, 20));
    while (isCompiling);
  }
};
