// What `build.py bench --keep` has written, as pictures and tables.

import { bars, curves, swatch } from "./chart.js";
import { format } from "./format.js";
import { during, element, show } from "./page.js";

/** @typedef {{ median: number, q1: number, q3: number }} Times */
/** @typedef {Record<string, Times | undefined>} Found */
/** @typedef {{ n: number, contenders: Record<string, Found> }} Size */
/** @typedef {{ title: string, sizes: Size[] }} Workload */

const COLUMNS = [
  ["gradient", "gradient (µs)"],
  ["gradient, body", "its body (µs)"],
  ["value", "value (µs)"],
  ["compile", "compilation (ms)"],
  ["first call", "first call (ms)"],
];

/** @param {string} tag @param {string} [text] */
const make = (tag, text = "") => {
  const found = document.createElement(tag);
  found.textContent = text;
  return found;
};

/**
 * A picture of one time of a workload, by contender.
 *
 * @param {Workload} workload
 * @param {string} what
 */
const picture = ({ title, sizes }, what) => {
  /** @type {Map<string, [number, number][]>} */
  const series = new Map();
  for (const { n, contenders } of sizes)
    for (const [name, { [what]: times }] of Object.entries(contenders))
      if (times) {
        if (!series.has(name)) series.set(name, []);
        series.get(name)?.push([n, times.median]);
      }
  if (series.size === 0) return;
  const figure = make("figure");
  figure.append(make("figcaption", title));
  figure.append(
    sizes.length > 1
      ? curves(series, title)
      : bars(
          [...series].map(([name, [[, y]]]) => [name, y]),
          title,
        ),
  );
  return figure;
};

/** @param {Workload} workload */
const table = ({ title, sizes }) => {
  const whole = make("details");
  whole.append(make("summary", title));
  const scroll = make("div");
  scroll.className = "scroll";
  scroll.tabIndex = 0;
  scroll.role = "region";
  scroll.ariaLabel = title;
  const grid = make("table");
  const head = make("tr");
  for (const name of ["", "n", ...COLUMNS.map(([, name]) => name)]) {
    const cell = make("th", name);
    cell.setAttribute("scope", "col");
    head.append(cell);
  }
  grid.append(head);
  for (const { n, contenders } of sizes)
    for (const [name, found] of Object.entries(contenders)) {
      const row = make("tr");
      const cell = make("th", name);
      cell.setAttribute("scope", "row");
      row.append(cell, make("td", String(n)));
      for (const [what] of COLUMNS) row.append(timesCell(found[what]));
      grid.append(row);
    }
  scroll.append(grid);
  whole.append(scroll);
  return whole;
};

/** @param {Times | undefined} times */
const timesCell = (times) => {
  const cell = make("td", times ? format(times.median, 3) : "");
  if (times) {
    const [low, high] = [times.q1, times.q3].map((t) => format(t, 2));
    const spread = make("small", ` ${low}…${high}`);
    cell.append(spread);
  }
  return cell;
};

const showAll = async () => {
  const response = await fetch(new URL("benchmark.json", import.meta.url));
  if (!response.ok) throw Error("The page could not load benchmark.json.");
  const { date, machine, browser, start, workloads } = await response.json();
  show({
    date,
    browser,
    machine: `${machine.processor}, ${machine.cores} cores, ${machine.system}`,
  });
  /** @type {Workload[]} */
  const all = Object.values(workloads);
  const names = new Set(
    all.flatMap(({ sizes }) =>
      sizes.flatMap(({ contenders }) => Object.keys(contenders)),
    ),
  );
  for (const name of names) {
    const item = make("li");
    item.append(swatch(name), name === "this" ? "this library" : name);
    element("legend").append(item);
  }
  for (const workload of all) {
    const of = (/** @type {string} */ what) => picture(workload, what) ?? "";
    element("calls").append(of("gradient"));
    element("compilations").append(of("compile"));
    element("tables").append(table(workload));
  }
  const medians = Object.entries(start).map(([name, { median }]) => [
    name,
    median,
  ]);
  const figure = make("figure");
  figure.append(bars(medians, "From a fresh page to a first gradient"));
  element("starts").append(figure);
};

during(element("status"), "Loading the results…", showAll());
