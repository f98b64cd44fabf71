// The playground: what the reader can do, and what is shown.

import { ready } from "../../rose.js";
import { Editor, wholeLine } from "../lib/editor.js";
import { format } from "../lib/format.js";
import { html } from "../lib/html.js";
import { latest } from "../lib/latest.js";
import { choice, during, element, judge } from "../lib/page.js";
import { oncePerFrame, onActs, show } from "../lib/page.js";
import { comparison, listingOf, numbersOf, operations } from "./words.js";
import { PROGRAMS } from "./programs.js";
import { Mistake } from "./run.js";
import { packed, unpacked } from "./share.js";
import { forget, make, messageOf } from "./workshop.js";

/**
 * @typedef {import("./workshop.js").Language} Language
 * @typedef {import("./workshop.js").Made} Made
 */

/** Milliseconds that a program may take, to be run and to be compiled. */
const PATIENCE = 20_000;

/** Milliseconds without a key before a program is run. */
const PAUSE = 250;

const DOING = "Deriving and compiling…";

const LANGUAGES = /** @type {const} */ (["javascript", "python"]);
const status = element("status");
const pointField = element("at", HTMLInputElement);
const runButton = element("run", HTMLButtonElement);
const stopButton = element("stop", HTMLButtonElement);

/** The last good program in each language. @type {Partial<Record<Language, Made>>} */
const made = {};
/** What is being done now. @type {Set<Language>} */
const busy = new Set();
/** Whose program is shown. @type {Language} */
let chosen = "javascript";
/** As what it is shown. */
let form = "program";
/** The arguments at which it is looked at. @type {unknown[]} */
let point = [];
/** What is said of arguments that are none. */
let senseless = "";
/** Whether the programs came with the address, and nobody has asked to run them. */
let isHeld = false;
let stopping = new AbortController();

// ---- from text to functions ----------------------------------------------

/** Runs a program; until that is done, and if it is wrong, the last good one stays. @param {Language} language */
const runner = (language) =>
  latest(async (/** @type {string} */ text, isLatest) => {
    const late = AbortSignal.timeout(PATIENCE);
    const signal = AbortSignal.any([stopping.signal, late]);
    busy.add(language);
    redraw();
    try {
      const found = await make(language, text, point.length, signal);
      forget(made[language]);
      made[language] = found;
      if (isLatest()) editors[language].right();
    } catch (error) {
      if (isLatest()) await blame(language, error, signal);
    }
    busy.delete(language);
    redraw();
  });

/** Say what went wrong: with a program, or with the compiler. @param {Language} language @param {unknown} error @param {AbortSignal} signal */
const blame = async (language, error, signal) => {
  const editor = editors[language];
  if (signal.aborted)
    editor.wrong("This was stopped before it came to an end.");
  else if (error instanceof Mistake) {
    const { line, message } = error;
    if (line) editor.wrong(`Line ${line}: ${message}`, wholeLine(line));
    else editor.wrong(message);
  } else {
    const works = ready().then(() => true);
    if (await during(status, "", works)) editor.wrong(messageOf(error));
  }
};

const runners = { javascript: runner("javascript"), python: runner("python") };

/** @param {Language} language */
const run = (language) => {
  if (!isHeld) runners[language](editors[language].text);
};

/** @param {Language} language */
const place = (language) => {
  // who looks at a program may change it
  element(language).addEventListener("focus", () => ready().catch(() => {}), {
    once: true, // and a failure is told when it matters
  });
  let timer = 0;
  const edited = () => {
    chosen = language;
    clearTimeout(timer);
    timer = setTimeout(() => run(language), PAUSE);
  };
  const [told, gutter] = ["told", "lines"].map((id) =>
    element(`${language}-${id}`),
  );
  const field = element(language, HTMLTextAreaElement);
  return new Editor(field, told, edited, gutter);
};

const editors = { javascript: place("javascript"), python: place("python") };

/** Put in other programs. @param {import("./programs.js").Program} program */
const put = (program) => {
  for (const language of LANGUAGES) editors[language].put(program[language]);
  pointField.value = program.at;
  readPoint();
  LANGUAGES.forEach(run);
  redraw();
};

/** Take the arguments from the field; if they make no sense, those before stay. */
const readPoint = () => {
  try {
    point = JSON.parse(`[${pointField.value}]`);
    senseless = "";
  } catch {
    senseless = "Arguments are numbers, or lists of them: 1.5, [2, 3].";
  }
};

/** Say what is wrong with the arguments. @param {string} trouble */
const tell = (trouble) => {
  judge(pointField, trouble === "");
  show({ trouble });
};

// ---- programs in the address ---------------------------------------------

/** @param {any} x @returns {x is import("./programs.js").Program} */
const isProgram = (x) =>
  ["javascript", "python", "at"].every((key) => typeof x?.[key] === "string");

const open = async () => {
  const text = location.hash.slice(1);
  const program = text && (await unpacked(text).catch(() => undefined));
  const found = isProgram(program) ? program : undefined;
  isHeld = found !== undefined;
  if (found) {
    put(found);
    status.textContent =
      "These programs came with the address. Read them, then press Run.";
    return;
  }
  put(PROGRAMS.waves);
  status.textContent = text
    ? "The address holds no program that can be read."
    : "";
};

element("share").addEventListener("click", async () => {
  const [text, code] = LANGUAGES.map((language) => editors[language].text);
  const program = { javascript: text, python: code, at: pointField.value };
  history.replaceState(null, "", `#${await packed(program)}`);
  status.textContent = await navigator.clipboard.writeText(location.href).then(
    () => "The link is copied.",
    () => "The link is in the address bar.",
  );
});
addEventListener("hashchange", open);

/** For `rose freeze`: compile what the buttons can ask for. */
export const warmUp = async () => {
  const { signal } = stopping;
  for (const program of Object.values(PROGRAMS))
    for (const language of LANGUAGES) {
      const { length } = JSON.parse(`[${program.at}]`);
      await make(language, program[language], length, signal);
    }
};

// ---- what the reader does ------------------------------------------------

onActs({
  preset: (name) => {
    isHeld = false;
    status.textContent = "";
    put(PROGRAMS[name]);
  },
  view: (kind) => setForm(kind),
});
pointField.addEventListener("input", () => {
  const { length } = point;
  readPoint();
  if (point.length !== length) LANGUAGES.forEach(run);
  redraw();
});
runButton.addEventListener("click", () => {
  isHeld = false;
  status.textContent = "";
  LANGUAGES.forEach(run);
  redraw();
});
stopButton.addEventListener("click", () => {
  stopping.abort();
  stopping = new AbortController();
});
const chooseLanguage = choice("languages", (language) => {
  chosen = /** @type {Language} */ (language);
  redraw();
});
/** @param {string} to */
const setForm = (to) => {
  form = to;
  chooseForm(to);
  redraw();
};
const chooseForm = choice("views", setForm);

// ---- what the reader sees ------------------------------------------------

/** Rows of names and values. @param {string[][]} rows */
const showNumbers = (rows) =>
  element("numbers").replaceChildren(
    ...rows.flatMap(([name, value]) => [
      html("dt", { textContent: name }),
      html("dd", { textContent: value }),
    ]),
  );

/** @param {Made} program */
const showProgram = (program) => {
  const { seen, derived } = program;
  const [a, b] = LANGUAGES.map((language) => made[language]);
  element("listing").textContent = listingOf(program, form);
  show({
    operations: String(operations(seen.ir)),
    grown: String(operations(derived?.ir ?? "")),
    bytes: format((derived ?? seen).size),
    both: a && b ? comparison(a, b, point) : "",
  });
  try {
    showNumbers(numbersOf(program, point));
    tell(senseless);
  } catch (error) {
    // what is still being made may take them
    if (!busy.size) tell(messageOf(error));
  }
};

const redraw = oncePerFrame(() => {
  chooseLanguage(chosen);
  runButton.hidden = !isHeld;
  stopButton.disabled = !busy.size;
  if (busy.size && !status.textContent) status.textContent = DOING;
  if (!busy.size && status.textContent === DOING) status.textContent = "";
  status.classList.toggle("busy", busy.size > 0);
  for (const language of LANGUAGES)
    element(language)
      .closest(".editor")
      ?.classList.toggle("busy", busy.has(language));
  const program = made[chosen] ?? made.python ?? made.javascript;
  if (program) showProgram(program);
});

open();
