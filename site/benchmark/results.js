// Results of the benchmarks as pictures and tables, whoever has measured them.

import { bars, curves, swatch } from "./chart.js";
import { format } from "../lib/format.js";
import { html } from "../lib/html.js";

/** @typedef {{ median: number, q1: number, q3: number, ratio?: number }} Times */
/** @typedef {Record<string, Times | undefined> & { failure?: string }} Found */
/** @typedef {{ n: number, contenders: Record<string, Found> }} Size */
/** @typedef {{ title: string, sizes: Size[] }} Workload */

const COLUMNS = [
  ["gradient", "gradient (µs)"],
  ["gradient, body", "its body (µs)"],
  ["value", "value (µs)"],
  ["compile", "compilation (ms)"],
  ["first call", "first call (ms)"],
];

/** What `build.py bench --keep` has written. */
export const loadKept = async () => {
  const response = await fetch(new URL("../benchmark.json", import.meta.url));
  if (!response.ok) throw Error("The page could not load benchmark.json.");
  return response.json();
};

/**
 * One time of a workload, by contender: medians by size.
 *
 * @param {Workload} workload
 * @param {string} what
 */
const seriesOf = ({ sizes }, what) => {
  /** @type {Map<string, [number, number][]>} */
  const series = new Map();
  for (const { n, contenders } of sizes)
    for (const [name, { [what]: times }] of Object.entries(contenders))
      if (times) {
        if (!series.has(name)) series.set(name, []);
        series.get(name)?.push([n, times.median]);
      }
  return series;
};

/** @param {Map<string, [number, number][]>} series @returns {[string, number][]} */
const firstOfEach = (series) => [...series].map(([name, [[, y]]]) => [name, y]);

/** @param {number[]} values  one at least */
export const median = (values) => {
  const sorted = values.toSorted((a, b) => a - b);
  const { length } = sorted;
  const middle = sorted.slice((length - 1) >> 1, (length >> 1) + 1);
  return middle.reduce((a, b) => a + b) / middle.length;
};

/**
 * How many times as long as ours the gradients of each contender take: the median of all comparisons, and how
 * many these are.
 *
 * @param {Workload[]} workloads
 * @returns {[string, number, string][]}
 */
export const multiples = (workloads) => {
  /** @type {Map<string, number[]>} */
  const all = new Map();
  for (const { contenders } of workloads.flatMap(({ sizes }) => sizes)) {
    const ours = contenders.this?.gradient;
    for (const [name, { gradient: theirs }] of Object.entries(contenders)) {
      if (!ours || !theirs) continue;
      if (!all.has(name)) all.set(name, []);
      all.get(name)?.push(theirs.median / ours.median);
    }
  }
  return [...all].map(([name, values]) => [
    name,
    median(values),
    ` (${values.length})`,
  ]);
};

/** One time of each contender for a size. @param {Workload} workload @param {string} what @param {number} size @param {string} name */
export const barsAt = ({ title, sizes }, what, size, name) => {
  const alone = sizes.filter(({ n }) => n === size);
  return bars(firstOfEach(seriesOf({ title, sizes: alone }, what)), name);
};

/**
 * A picture of one time of a workload, by contender.
 *
 * @param {Workload} workload
 * @param {string} what
 * @param {string} [caption]
 * @param {Workload} [other]  the same elsewhere, for which the axes shall have room, too
 */
export const picture = (workload, what, caption, other) => {
  const series = seriesOf(workload, what);
  if (series.size === 0) return;
  const others = other ? seriesOf(other, what) : new Map();
  const sizes = new Set(
    [...workload.sizes, ...(other?.sizes ?? [])].map(({ n }) => n),
  );
  const title = caption ? `${workload.title}: ${caption}` : workload.title;
  const drawn =
    sizes.size > 1
      ? curves(series, title, others)
      : bars(firstOfEach(series), title, firstOfEach(others));
  return html("figure", {}, html("figcaption", {}, caption ?? title), drawn);
};

/**
 * Rows of cells, the first row and the first cell of each being names, in a frame that scrolls.
 *
 * @param {string} name
 * @param {(string | HTMLElement)[][]} rows
 */
export const grid = (name, [names, ...rows]) => {
  const head = names.map((text) => html("th", { scope: "col" }, text));
  const body = rows.map(([first, ...others]) =>
    html(
      "tr",
      {},
      html("th", { scope: "row" }, first),
      ...others.map((other) => html("td", {}, other)),
    ),
  );
  const table = html("table", {}, html("tr", {}, ...head), ...body);
  const frame = { className: "scroll", tabIndex: 0, role: "region" };
  return html("div", { ...frame, ariaLabel: name }, table);
};

/** All numbers of a workload, to be unfolded. @param {Workload} workload @param {string} [caption] */
export const table = ({ title, sizes }, caption = title) => {
  const names = ["contender", "n", ...COLUMNS.map(([, name]) => name)];
  const rows = sizes.flatMap(({ n, contenders }) =>
    Object.entries(contenders).map(([name, found]) => [
      name,
      String(n),
      ...(found.failure
        ? [found.failure]
        : COLUMNS.map(([what]) => withQuartiles(found[what]))),
    ]),
  );
  const summary = html("summary", {}, caption);
  return html("details", {}, summary, grid(caption, [names, ...rows]));
};

/** @param {Times | undefined} times */
const withQuartiles = (times) => {
  if (!times) return "";
  const { median, q1, q3 } = times;
  const quartiles = html("small", {}, ` ${format(q1, 2)}…${format(q3, 2)}`);
  return html("span", {}, format(median, 3), quartiles);
};

/** What stands for the contenders of these workloads. @param {Workload[]} workloads */
export const legendOf = (workloads) =>
  [
    ...new Set(
      workloads.flatMap(({ sizes }) =>
        sizes.flatMap(({ contenders }) => Object.keys(contenders)),
      ),
    ),
  ].map((name) => {
    const words = name === "this" ? "this library" : name;
    return html("li", {}, swatch(name), words);
  });
