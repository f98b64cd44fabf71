// The part of the page that measures on the reader's machine.

import { about, Contest, PEERS, Stopped } from "./contest.js";
import { count, format } from "../lib/format.js";
import { html } from "../lib/html.js";
import { during, element, show } from "../lib/page.js";
import { grid, legendOf, median, picture, table } from "./results.js";

/** @typedef {import("./results.js").Workload} Workload */
/** @typedef {import("./results.js").Found} Found */

/** Workloads that are chosen when the page is opened. */
const FIRST = ["logsumexp", "rosenbrock", "rosenbrock_unrolled"];
/** Sizes above this have to be asked for. */
const QUICK = 1000;

const form = element("choose", HTMLFormElement);
const start = element("measure", HTMLButtonElement);
const stop = element("stop", HTMLButtonElement);
const large = element("large", HTMLInputElement);
const bar = element("progress", HTMLProgressElement);
const said = element("measuring");

/** @param {string} place @param {string} value @param {string} text @param {boolean} on */
const choice = (place, value, text, on) => {
  const box = document.createElement("input");
  Object.assign(box, { type: "checkbox", name: place, value, checked: on });
  element(place).append(html("label", { className: "check" }, box, text));
};

/** @param {string} place */
const chosen = (place) =>
  new FormData(form).getAll(place).map((value) => String(value));

/** Our time as a part of each other's: the median, and the largest. @param {Workload[]} workloads */
const ratios = (workloads) => {
  /** @type {Map<string, Record<string, number[]>>} */
  const all = new Map();
  for (const { contenders } of workloads.flatMap(({ sizes }) => sizes))
    for (const [name, found] of Object.entries(contenders)) {
      if (name === "this" || !found.gradient || !contenders.this) continue;
      const row = all.get(name) ?? { gradient: [], compile: [] };
      all.set(name, row);
      row.gradient.push(found.gradient.ratio ?? NaN);
      const [ours, theirs] = [contenders.this, found].map((x) => x.compile);
      if (ours && theirs) row.compile.push(ours.median / theirs.median);
    }
  const cells = (/** @type {number[]} */ values) => {
    if (!values.length) return ["", ""];
    return [format(median(values), 2), format(Math.max(...values), 2)];
  };
  const head = ["contender", "gradient", "at most", "compilation", "at most"];
  return [
    head,
    ...[...all].map(([name, { gradient, compile }]) => [
      name,
      ...cells(gradient),
      ...cells(compile),
    ]),
  ];
};

/**
 * Show what has been found so far, a workload beside what is kept of it.
 *
 * @param {Record<string, Workload>} found
 * @param {Record<string, Workload>} kept
 */
const showFound = (found, kept) => {
  const all = Object.values(found);
  element("found").hidden = false;
  element("found-legend").replaceChildren(...legendOf(all));
  element("ratios").replaceChildren(grid("Ratios", ratios(all)));
  element("pairs").replaceChildren(
    ...Object.entries(found).flatMap(([name, here]) => {
      const there = kept[name];
      const charts = html("div", { className: "charts" });
      for (const [what, words] of Object.entries({
        gradient: "One gradient (µs)",
        compile: "Compilation (ms)",
      })) {
        charts.append(picture(here, what, `${words}, here`, there) ?? "");
        if (there)
          charts.append(picture(there, what, `${words}, ours`, here) ?? "");
      }
      const numbers = table(here, `All numbers of ${here.title}, here`);
      return [html("h3", {}, here.title), charts, numbers];
    }),
  );
};

/**
 * Let the reader choose, and measure.
 *
 * @param {Promise<Record<string, Workload>>} kept
 */
export const measureHere = async (kept) => {
  const found = await during(
    said,
    "Looking what there is to measure…",
    about(),
  );
  if (!found) return;
  const { workloads, kB } = found;
  for (const [name, { title }] of Object.entries(workloads))
    choice("workloads", name, title, FIRST.includes(name));
  for (const [name, { title }] of Object.entries(PEERS))
    choice("peers", name, `${title} (${count(kB[name])} kB)`, true);

  const jobs = () =>
    chosen("workloads").flatMap((name) =>
      workloads[name].sizes
        .filter((n, k) => large.checked || k === 0 || n <= QUICK)
        .map((n) => ({ name, n })),
    );
  const tell = () => {
    const parts = ["this", ...chosen("peers")];
    const total = parts.map((name) => kB[name]).reduce((a, b) => a + b);
    show({ kB: count(total), jobs: count(jobs().length) });
    start.disabled = jobs().length === 0;
  };
  form.addEventListener("change", tell);
  tell();

  /** @type {Contest | undefined} */
  let contest;
  stop.addEventListener("click", () => contest?.stop());

  /** @param {Contest} contest @param {{ name: string, n: number }[]} all @param {string[]} peers */
  const run = async (contest, all, peers) => {
    const notes = element("notes");
    notes.replaceChildren();
    const note = (/** @type {string} */ words) =>
      notes.append(html("li", {}, words));
    const doing = (/** @type {string} */ words) => (said.textContent = words);
    await contest.load("this");
    for (const [peer, { title, names }] of Object.entries(PEERS)) {
      doing(`Loading ${title}…`);
      for (const name of names)
        try {
          if (peers.includes(peer)) await contest.load(name);
          else contest.omit(name);
        } catch (error) {
          if (error instanceof Stopped) throw error;
          contest.omit(name);
          note(`${name} is left out: ${/** @type {Error} */ (error).message}`);
        }
    }
    /** @type {Record<string, Workload>} */
    const results = {};
    bar.max = all.length;
    for (const [k, { name, n }] of all.entries()) {
      const { title } = workloads[name];
      bar.value = k;
      doing(`${k + 1} of ${all.length}: ${title}, n = ${count(n)}`);
      try {
        const size = await contest.measure(name, n);
        (results[name] ??= { title, sizes: [] }).sizes.push(size);
      } catch (error) {
        if (error instanceof Stopped) throw error;
        note(`${title}, n = ${n}: ${/** @type {Error} */ (error).message}`);
        continue;
      }
      showFound(results, await kept);
    }
    doing("Done.");
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    contest = new Contest();
    const work = run(contest, jobs(), chosen("peers")).catch((error) => {
      if (!(error instanceof Stopped)) throw error;
      said.textContent = "Stopped. What was measured until then stays.";
    });
    const fields = [...form.querySelectorAll("fieldset")];
    for (const field of fields) field.disabled = true;
    start.disabled = true;
    stop.disabled = bar.hidden = false;
    stop.focus({ preventScroll: true }); // where it was, it cannot stay
    bar.removeAttribute("value");
    await during(said, "Loading this library, and Python for it…", work);
    contest.stop();
    for (const field of fields) field.disabled = false;
    start.disabled = false;
    if (document.activeElement === stop) start.focus({ preventScroll: true });
    stop.disabled = bar.hidden = true;
  });
};
