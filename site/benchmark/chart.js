// Charts in SVG, styled by style/chart.css: times on logarithmic axes, one colour and dash per contender.

import { format } from "../lib/format.js";
import { label, Scale } from "../lib/plot.js";
import { svg } from "../lib/svg.js";

/** @typedef {[number, number]} Point */

const WIDTH = 340;
const HEIGHT = 230;
const LEFT = 44;
const RIGHT = 14;
const TOP = 12;
const BOTTOM = 26;

/** How contenders are drawn: classes of style/chart.css. @type {Record<string, string>} */
const LOOKS = {
  this: "ours",
  "rose 0.4.10": "plain",
  "JS by hand": "gold",
  "C -O3": "blue dashed",
  "C -O3 simd": "blue",
  "C -O3 simd, libm": "blue dotted",
  "TensorFlow.js": "soft dashed",
  "jax-js": "soft dotted",
  JAX: "plain dashed",
  Taichi: "gold dashed",
  "Taichi, 1 kernel": "gold dotted",
};

/** @param {number} width @param {number} height @param {string} name */
const frame = (width, height, name) =>
  svg("svg", {
    viewBox: `0 0 ${width} ${height}`,
    class: "chart",
    role: "img",
    "aria-label": name,
  });

const look = (/** @type {string} */ name) => `line ${LOOKS[name] ?? "plain"}`;

/** What stands for a contender in a legend. @param {string} name */
export const swatch = (name) => {
  const found = svg("svg", { viewBox: "0 0 30 10", class: "swatch" });
  found.append(svg("path", { class: look(name), d: "M1,5H29" }));
  return found;
};

/** A logarithmic axis that begins and ends at powers of ten. */
const powers = (
  /** @type {number[]} */ values,
  /** @type {number} */ from,
  /** @type {number} */ to,
) => {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.ceil(Math.log10(Math.max(...values)));
  return new Scale(
    [10 ** low, 10 ** Math.max(high, low + 1)],
    [from, to],
    true,
  );
};

/**
 * Times by size: a curve for each contender.
 *
 * @param {Map<string, Point[]>} series
 * @param {string} name
 * @param {Map<string, Point[]>} [others]  which shall have room on the same axes
 */
export const curves = (series, name, others = new Map()) => {
  const found = frame(WIDTH, HEIGHT, name);
  const points = [...series.values(), ...others.values()].flat();
  const x = powers(
    points.map(([n]) => n),
    LEFT,
    WIDTH - RIGHT,
  );
  const y = powers(
    points.map(([, time]) => time),
    HEIGHT - BOTTOM,
    TOP,
  );
  for (const n of x.ticks(40)) {
    const at = x.at(n);
    found.append(
      svg("path", { class: "grid", d: `M${at},${TOP}V${HEIGHT - BOTTOM}` }),
      svg("text", { class: "below", x: at, y: HEIGHT - 8 }, label(n, true)),
    );
  }
  for (const time of y.ticks(24)) {
    const at = y.at(time);
    found.append(
      svg("path", { class: "grid", d: `M${LEFT},${at}H${WIDTH - RIGHT}` }),
      svg(
        "text",
        { class: "beside", x: LEFT - 6, y: at + 4 },
        label(time, true),
      ),
    );
  }
  for (const [contender, points] of [...series].reverse()) {
    const places = points.map(([n, time]) => [x.at(n), y.at(time)]);
    const d = `M${places.map((place) => place.join()).join("L")}`;
    found.append(svg("path", { class: look(contender), d }));
    for (const [k, [cx, cy]] of places.entries()) {
      const dot = svg("circle", { class: look(contender), cx, cy, r: 2.5 });
      const [n, time] = points[k];
      dot.append(
        svg("title", {}, `${contender}, n = ${n}: ${format(time, 3)}`),
      );
      found.append(dot);
    }
  }
  return found;
};

const ROW = 24;
const NAMES = 112;

/**
 * One time of each contender: a bar on a logarithmic axis.
 *
 * @param {[name: string, time: number, note?: string][]} times  what is noted stands behind the time
 * @param {string} name
 * @param {[string, number][]} [others]  which shall have room on the same axis
 */
export const bars = (times, name, others = []) => {
  const bottom = TOP + ROW * times.length;
  const found = frame(WIDTH, bottom + BOTTOM, name);
  const x = powers(
    [...times, ...others].map(([, time]) => time),
    NAMES,
    WIDTH - RIGHT - (times.some(([, , note]) => note) ? 50 : 30),
  );
  for (const time of x.ticks(40)) {
    const at = x.at(time);
    found.append(
      svg("path", { class: "grid", d: `M${at},${TOP}V${bottom}` }),
      svg("text", { class: "below", x: at, y: bottom + 17 }, label(time, true)),
    );
  }
  for (const [k, [contender, time, note = ""]] of times.entries()) {
    const at = TOP + ROW * (k + 0.5);
    const end = x.at(time);
    found.append(
      svg("text", { class: "beside", x: NAMES - 8, y: at + 4 }, contender),
      svg("path", {
        class: `${look(contender)} bar`,
        d: `M${NAMES},${at}H${end}`,
      }),
      svg(
        "text",
        { class: "after", x: end + 6, y: at + 4 },
        format(time, 3) + note,
      ),
    );
  }
  return found;
};
