// Shapes that Penrose has placed, as SVG. Black is the page's ink, so that it can be seen in the dark, too.

/**
 * A shape as Penrose gives it: each property has `contents`.
 *
 * @typedef {Record<string, any> & { shapeType: string }} Shape
 * @typedef {{ width: number, height: number }} Size
 * @typedef {import("../lib/svg.js").Attributes} Attributes
 * @typedef {import("../lib/svg.js").Description} Description
 */

/** @param {Shape["fillColor"]["contents"]} color @returns {[string, number]} paint and opacity */
const paint = ({ tag, contents }) => {
  if (tag === "NONE") return ["none", 1];
  const [a, b, c, opacity] = contents;
  let rgb = [a, b, c];
  if (tag === "HSVA") {
    // the hue in degrees, saturation and value in percent
    const part = (/** @type {number} */ from) => {
      const k = (from + a / 60) % 6;
      return (c / 100) * (1 - (b / 100) * Math.max(0, Math.min(k, 4 - k, 1)));
    };
    rgb = [part(5), part(3), part(1)];
  }
  if (rgb.every((x) => x === 0)) return ["currentColor", opacity];
  return [`rgb(${rgb.map((x) => Math.round(255 * x)).join(" ")})`, opacity];
};

/** @param {Shape} shape @returns {Attributes} */
const painted = ({ fillColor, strokeColor, strokeWidth, strokeStyle }) => {
  const [fill, fillOpacity] = fillColor ? paint(fillColor.contents) : ["none"];
  const [stroke, strokeOpacity] = paint(strokeColor.contents);
  return {
    fill,
    "fill-opacity": fillOpacity ?? 1,
    stroke,
    "stroke-opacity": strokeOpacity,
    "stroke-width": strokeWidth.contents,
    "stroke-dasharray": strokeStyle?.contents === "dashed" ? "7 5" : "none",
  };
};

/** @typedef {(at: readonly number[]) => number[]} Screen */

/** @param {Shape} shape @param {Screen} screen */
const center = ({ center }, screen) => screen(center.contents);

/** @param {Shape} shape @param {Screen} screen */
const corners = ({ points }, screen) => ({
  points: points.contents.map((at) => screen(at).join(",")).join(" "),
});

/**
 * Where shapes are, by their kinds: the name of the element, and its attributes.
 *
 * @type {Record<string, (shape: Shape, screen: Screen) => [string, Attributes]>}
 */
const PLACED = {
  Circle(shape, screen) {
    const [cx, cy] = center(shape, screen);
    return ["circle", { cx, cy, r: Math.max(0, shape.r.contents) }];
  },
  Ellipse(shape, screen) {
    const [cx, cy] = center(shape, screen);
    const [rx, ry] = [shape.rx.contents, shape.ry.contents];
    return ["ellipse", { cx, cy, rx, ry }];
  },
  Rectangle(shape, screen) {
    const [x, y] = center(shape, screen);
    const [width, height] = [shape.width.contents, shape.height.contents];
    const corner = { x: x - width / 2, y: y - height / 2 };
    const rx = shape.cornerRadius.contents;
    return ["rect", { ...corner, width, height, rx }];
  },
  Line(shape, screen) {
    const [x1, y1] = screen(shape.start.contents);
    const [x2, y2] = screen(shape.end.contents);
    return ["line", { x1, y1, x2, y2, ...arrowheads(shape) }];
  },
  Path(shape, screen) {
    const parts = shape.d.contents.map(({ cmd, contents }) => {
      const numbers = contents.map((c) =>
        c.tag === "CoordV" ? screen(c.contents) : c.contents,
      );
      return [cmd, ...numbers.flat()].join(" ");
    });
    return ["path", { d: parts.join(" "), ...arrowheads(shape) }];
  },
  Polygon: (shape, screen) => ["polygon", corners(shape, screen)],
  Polyline: (shape, screen) => ["polyline", corners(shape, screen)],
  Text(shape, screen) {
    const [x, y] = center(shape, screen);
    // it is placed by the middle of its box, and drawn from its baseline
    const down = shape.height.contents / 2 - shape.descent.contents;
    return [
      "text",
      {
        ...{ x, y: y + down, "text-anchor": "middle" },
        "font-family": shape.fontFamily.contents,
        "font-size": shape.fontSize.contents,
        "font-style": shape.fontStyle.contents || "normal",
        "font-weight": shape.fontWeight.contents || "normal",
      },
    ];
  },
};

/** Whether this page draws shapes of such a kind. @param {Shape} shape */
export const isDrawn = ({ shapeType }) => shapeType in PLACED;

/** There is one, of the page's. @param {Shape} shape @returns {Attributes} */
const arrowheads = ({ startArrowhead, endArrowhead }) => {
  const head = (/** @type {Shape} */ { contents }) =>
    contents && contents !== "none" ? "url(#arrowhead)" : "none";
  return {
    "marker-start": head(startArrowhead),
    "marker-end": head(endArrowhead),
  };
};

/** @param {Size} size @returns {Screen} */
const screenOf =
  ({ width, height }) =>
  ([x, y]) => [width / 2 + x, height / 2 - y];

/** @param {Shape[]} shapes @param {Size} size @returns {Description[]} */
export const shapesAsSvg = (shapes, size) =>
  shapes.map((shape) => {
    const { shapeType, name, string } = shape;
    const [element, where] = PLACED[shapeType](shape, screenOf(size));
    const attributes = { "data-name": name.contents, ...painted(shape) };
    return [element, { ...attributes, ...where }, string?.contents];
  });

/**
 * Arrows, by their logarithms: at first, forces are a million times what they are in the end.
 *
 * @param {{ at: readonly number[], by: readonly number[] }[]} pulls @param {Size} size @returns {Description[]}
 */
export const arrowsAsSvg = (pulls, size) =>
  pulls.map(({ at, by: [dx, dy] }) => {
    const force = Math.hypot(dx, dy);
    const part = force > 0 ? (10 * Math.log10(1 + force)) / force : 0;
    const [x1, y1] = screenOf(size)(at);
    const tip = { x2: x1 + part * dx, y2: y1 - part * dy };
    const head = part * force > 4 ? "url(#arrowhead)" : "none";
    return ["line", { x1, y1, ...tip, "marker-end": head }];
  });
