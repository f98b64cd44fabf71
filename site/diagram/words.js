// What the page about diagrams says, in words.

import { count, format } from "../lib/format.js";

/** So many of them are named. */
const NAMED = 2;

/** @param {number} steps @param {readonly string[]} unmet  constraints that do not hold */
export const ending = (steps, unmet) => {
  const settled = `Settled after ${count(steps)} steps`;
  if (!unmet.length) return `${settled}: all that must hold does.`;
  const more = unmet.length - NAMED;
  const names = unmet.slice(0, NAMED).map((name) => name.replaceAll("`", ""));
  const others = more > 0 ? `, and ${count(more)} more` : "";
  return `${settled}, but not all holds that must: ${names.join("; ")}${others}.`;
};

/** @param {number} steps */
export const lost = (steps) =>
  `After ${count(steps)} steps it still moves, so it is left as it is.`;

/** @param {Error} error */
export const broken = ({ message }) => `It cannot go on: ${message}.`;

export const GIVEN_UP = "Given up. “Go on” takes it up again.";

/** @param {number} steps */
export const stopped = (steps) => `Stopped after ${count(steps)} steps.`;

/** The name of a shape, of which "`Birds`.icon" is the main one of Birds. @param {string} path */
export const nameOf = (path) => path.replaceAll("`", "").replace(/\.icon$/, "");

/** What Penrose says of a mistake, without its place and without the grammar. @param {string} text */
export const inWords = (text) => {
  const unexpected = /^Unexpected .*?(?=\. Instead)/m.exec(text)?.[0];
  if (unexpected?.includes('nl token: "\\n"'))
    return "The line ends too early.";
  if (text.includes("(lexer error)"))
    return "Something here means nothing in such a program.";
  const said = unexpected ? `${unexpected}.` : text.split("\n")[0];
  return said
    .replace(/^(Error|FATAL): /, "")
    .replace(/ \(at line \d+, column \d+ of \w+ program\)/g, "")
    .replaceAll("`", "");
};

export const energyOf = (/** @type {number} */ phi) => format(phi, 3);

/** What was counted and timed of a diagram. @param {Record<"compiling" | "whole" | "gradient" | "unknowns" | "constraints" | "objectives", number>} found */
export const measured = (found) => {
  const milliseconds = (/** @type {number} */ time) => `${format(time, 2)} ms`;
  return {
    compiling: milliseconds(found.compiling),
    whole: milliseconds(found.whole),
    gradient: `${format(1000 * found.gradient, 2)} µs`,
    unknowns: count(found.unknowns),
    evaluations: count(found.unknowns + 1),
    constraints: count(found.constraints),
    objectives: count(found.objectives),
  };
};
