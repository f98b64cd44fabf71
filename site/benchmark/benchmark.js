// What `build.py bench --keep` has written, as pictures and tables.

import { bars } from "./chart.js";
import { measureHere } from "./here.js";
import { html } from "../lib/html.js";
import { during, element, show } from "../lib/page.js";
import { legendOf, loadKept, multiples, picture, table } from "./results.js";

const showKept = async () => {
  const { date, machine, browser, start, workloads } = await loadKept();
  show({
    date,
    browser,
    machine: `${machine.processor}, ${machine.cores} cores, ${machine.system}`,
  });
  /** @type {import("./results.js").Workload[]} */
  const all = Object.values(workloads);
  // room down to a tenth, so that ours has a bar
  element("summary").append(
    bars(multiples(all), "Times as multiples of this library’s", [["", 0.1]]),
  );
  element("legend").append(...legendOf(all));
  const names = all.flatMap(({ sizes: [{ contenders }] }) =>
    Object.keys(contenders),
  );
  for (const place of document.querySelectorAll(".elsewhere"))
    /** @type {HTMLElement} */ (place).hidden = !names.includes("JAX");
  for (const workload of all) {
    for (const [id, what] of Object.entries({
      calls: "gradient",
      compilations: "compile",
    }))
      element(id).append(picture(workload, what) ?? "");
    element("tables").append(table(workload));
  }
  /** @type {[string, number][]} */
  const medians = Object.entries(start).map(([name, { median }]) => [
    name,
    median,
  ]);
  const starts = bars(medians, "From a fresh page to a first gradient");
  element("starts").append(html("figure", {}, starts));
  return workloads;
};

const kept = during(element("status"), "Loading the results…", showKept());
measureHere(kept.then((found) => found ?? {}));

/** For `rose freeze`: what is measured here is compiled here. */
export const warmUp = async () => {};
