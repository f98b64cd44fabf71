// The graph of an expression: what is computed from what, from the variables at the top down to f.

import { format } from "../lib/format.js";
import { svg } from "../lib/svg.js";

/**
 * @typedef {import("../lib/expression.js").Tree} Tree
 * @typedef {import("./sweep.js").Line} Line
 * @typedef {import("./sweep.js").Sweep} Sweep
 * @typedef {{ x: number, y: number }} Place  in CSS pixels
 */

const WIDE = 112;
const HIGH = 68;
const RADIUS = 17;

/** @type {Record<string, string>} */
const SIGNS = { add: "+", sub: "−", neg: "−", mul: "×", div: "÷", pow: "^" };

/** What stands in the circle of an operation: `sin`, `×`, `^ 2`. @param {Tree} tree @param {Sweep} sweep */
const labelOf = (tree, { names }) => {
  if (tree.kind !== "call") return names.get(tree) ?? "";
  const parts = tree.args.map((arg) =>
    arg.kind === "number" ? (names.get(arg) ?? "") : "",
  );
  const sign = SIGNS[tree.op] ?? tree.op;
  return (parts.length > 1 ? [parts[0], sign, parts[1]] : [sign])
    .join(" ")
    .trim();
};

/** Where each subexpression stands: below what it is computed from. @param {Tree[]} order @returns {Map<Tree, Place>} */
const placesIn = (order) => {
  /** @type {Map<Tree, Place>} */
  const places = new Map();
  /** @type {Map<Tree, number>} */
  const depths = new Map();
  /** @type {Tree[][]} */
  const rows = [];
  for (const tree of order) {
    if (tree.kind === "number") continue;
    const args = tree.kind === "call" ? tree.args : [];
    const depth = Math.max(
      0,
      ...args.map((arg) => 1 + (depths.get(arg) ?? -1)),
    );
    depths.set(tree, depth);
    (rows[depth] ??= []).push(tree);
  }
  rows.forEach((row, depth) => {
    const wanted = row.map((tree, k) => {
      const above =
        tree.kind === "call"
          ? tree.args.flatMap((arg) => places.get(arg)?.x ?? [])
          : [k * WIDE * 1.5];
      return above.reduce((sum, x) => sum + x, 0) / (above.length || 1);
    });
    const sorted = row
      .map((tree, k) => ({ tree, x: wanted[k] }))
      .sort((a, b) => a.x - b.x);
    let end = -Infinity;
    let moved = 0;
    for (const item of sorted) {
      const x = Math.max(item.x, end + WIDE);
      moved += x - item.x;
      item.x = end = x;
    }
    // pushed apart to both sides alike
    for (const { tree, x } of sorted)
      places.set(tree, { x: x - moved / sorted.length, y: depth * HIGH });
  });
  const left = Math.min(...[...places.values()].map(({ x }) => x));
  for (const place of places.values()) {
    place.x += RADIUS + 26 - left;
    place.y += RADIUS + 4;
  }
  return places;
};

/** An edge that goes around what stands between its ends. @param {Place} from @param {Place} to */
const curve = (from, to) => {
  const rows = Math.round((to.y - from.y) / HIGH);
  const aside = rows > 1 ? (from.x <= to.x ? -0.45 : 0.45) * WIDE : 0;
  const third = (to.y - from.y) / 3;
  return (
    `M${from.x},${from.y}C${from.x + aside},${from.y + third} ` +
    `${to.x + aside},${to.y - third} ${to.x},${to.y}`
  );
};

/**
 * Draw the graph as it is after some of a sweep's lines.
 *
 * @param {HTMLElement} host  whose content is replaced
 * @param {Sweep} sweep
 * @param {number} step  so many lines have been computed
 */
export const drawGraph = (host, sweep, step) => {
  const places = placesIn(sweep.order);
  host.replaceChildren();
  if (!places.size) return; // a number
  const done = sweep.lines.slice(0, step);
  const now = done.at(-1);
  /** @type {Map<Tree, Line>} */
  const latest = new Map(done.map((line) => [line.to, line]));
  const width = Math.max(...[...places.values()].map(({ x }) => x)) + 78;
  const height = Math.max(...[...places.values()].map(({ y }) => y)) + 30;
  const picture = svg("svg", {
    ...{ width, height, viewBox: `0 0 ${width} ${height}`, role: "img" },
    "aria-label": "The operations of f, and what each is computed from",
  });
  const [edges, circles] = [svg("g", {}), svg("g", {})];
  for (const [tree, at] of places) {
    for (const arg of new Set(tree.kind === "call" ? tree.args : [])) {
      const from = places.get(arg);
      if (!from) continue;
      const isUp = now?.to === arg && now.from.includes(tree);
      const isDown = now?.to === tree && now.from.includes(arg);
      const state = isUp ? "edge up" : isDown ? "edge down" : "edge";
      edges.append(svg("path", { class: state, d: curve(from, at) }));
      if (isUp && now.partial !== undefined)
        circles.append(
          svg(
            "text",
            {
              class: "partial",
              x: (from.x + at.x) / 2 + 8,
              y: (from.y + at.y) / 2 + 4,
            },
            `× ${format(now.partial, 3)}`,
          ),
        );
    }
    const line = latest.get(tree);
    const isKnown = line || tree.kind === "variable";
    const state =
      tree === now?.to ? "node now" : isKnown ? "node done" : "node";
    const group = svg("g", { class: state });
    const label = labelOf(tree, sweep);
    const half = Math.max(RADIUS, 5 + 3.8 * label.length);
    group.append(
      svg("rect", {
        ...{ x: at.x - half, y: at.y - RADIUS, rx: RADIUS },
        ...{ width: 2 * half, height: 2 * RADIUS },
      }),
      svg("text", { class: "label", x: at.x, y: at.y + 4.5 }, label),
    );
    if (tree.kind === "call")
      group.append(
        svg(
          "text",
          { class: "name", x: at.x - half - 5, y: at.y + 4 },
          sweep.names.get(tree),
        ),
      );
    const beside = at.x + half + 6;
    const value = isKnown ? format(sweep.values.get(tree) ?? NaN, 4) : "";
    const change = line?.change === undefined ? "" : format(line.change, 4);
    group.append(
      svg("text", { class: "value", x: beside, y: at.y - 2 }, value),
      svg("text", { class: "change", x: beside, y: at.y + 13 }, change),
    );
    circles.append(group);
  }
  picture.append(edges, circles);
  host.append(picture);
  const seen = now && places.get(now.to);
  host.scrollTo({
    left: seen ? seen.x - host.clientWidth / 2 : 0,
    top: seen ? seen.y - host.clientHeight / 2 : 0,
  });
};
