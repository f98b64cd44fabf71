// Three programs, compiled by Penrose on our engine; or the mistake in one of them.

import { inWords } from "./words.js";
import { Layout } from "./layout.js";
import { isDrawn } from "./shapes.js";
import { compiled } from "./timed.js";

/**
 * @typedef {"domain" | "substance" | "style"} Kind
 * @typedef {Record<Kind, string>} Programs
 * @typedef {import("../lib/editor.js").Range} Range
 * @typedef {import("./layout.js").Penrose} Penrose
 */

/** Made by build.py. @type {string} */
const PENROSE = "../penrose.js";

/** So many objects, and so many turns of an indexed statement: with more, the page would hang. */
const OBJECTS = 30;
const TURNS = 1000;

/** Something for each of the three. @template T @param {(kind: Kind) => T} make @returns {Record<Kind, T>} */
export const ofEachKind = (make) => ({
  substance: make("substance"),
  style: make("style"),
  domain: make("domain"),
});

/** What is wrong with a program. */
export class Mistake extends Error {
  /** @param {string} message @param {Kind} kind @param {Range} [range] */
  constructor(message, kind, range) {
    super(message);
    this.kind = kind;
    this.range = range;
  }
}

/** Syntax errors say in their text where they are. @param {string} text @returns {Range | undefined} */
const rangeIn = (text) => {
  const found = /line (\d+) col (\d+)/.exec(text);
  if (!found) return undefined;
  const [line, col] = found.slice(1).map(Number);
  const token = /token: (".*?")\. Instead/.exec(text);
  const length = token ? JSON.parse(token[1]).length : 1;
  return {
    start: { line, col: col - 1 },
    end: { line, col: col - 1 + length },
  };
};

/** @param {Penrose} penrose @param {any} error  of Penrose's */
const mistakeOf = ({ errLocs, showError }, error) => {
  const kind = error.errorType.replace("Error", "").toLowerCase();
  const [one] = error.tag === "StyleErrorList" ? error.errors : [error];
  const text = showError(one);
  const range = one.tag === "ParseError" ? rangeIn(text) : undefined;
  const [place] = errLocs(one) ?? [];
  return new Mistake(inWords(text), kind, range ?? place?.range);
};

/** A Substance program that would take too long is refused. @param {Penrose} penrose @param {string} program */
const checkSize = ({ parseSubstance }, program) => {
  const parsed = parseSubstance(program);
  if (parsed.isErr()) return; // compiling says why
  let objects = 0;
  for (const statement of parsed.value.statements) {
    const { iset, stmt = statement } = statement;
    const turns = (iset?.indices ?? []).reduce(
      (product, { range: { low, high } }) =>
        product * Math.max(0, high.contents - low.contents + 1),
      1,
    );
    if (stmt.tag.startsWith("Decl"))
      objects += turns * (stmt.names?.length ?? 1);
    if (turns > TURNS || objects > OBJECTS)
      throw new Mistake(
        `On this page, a program has at most ${OBJECTS} objects, and a statement ${TURNS} turns.`,
        "substance",
        statement,
      );
  }
};

/**
 * The diagram that programs describe, before any layout; throws a Mistake.
 *
 * @param {Programs} programs @param {string} variation  chooses where things are at first
 * @param {AbortSignal} signal
 */
export const compileTrio = async (programs, variation, signal) => {
  // Penrose is larger than the rest of the page, so it is loaded when it is needed
  const penrose = await import(PENROSE);
  checkSize(penrose, programs.substance);
  compiled.signal = signal;
  const began = performance.now();
  try {
    const result = await penrose.compile({ ...programs, variation });
    if (result.isErr()) throw mistakeOf(penrose, result.error);
    const time = performance.now() - began;
    const made = compiled.made.splice(0);
    const layout = new Layout(penrose, result.value, made, time);
    const other = layout.shapes.find((shape) => !isDrawn(shape));
    if (!other) return layout;
    layout.dispose();
    const { shapeType } = other;
    throw new Mistake(
      `This page draws no shapes of type ${shapeType}.`,
      "style",
    );
  } finally {
    for (const { dispose } of compiled.made.splice(0)) dispose();
  }
};
