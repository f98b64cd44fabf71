// The first page: a miniature of each explorable, and the sample's numbers.

import { approximation } from "./approximation.js";
import { Camera } from "./camera.js";
import { evaluator, parse } from "./expression.js";
import { format } from "./format.js";
import { leastSquares } from "./least-squares.js";
import { compare, deblur, explain, learn, shoot, trace } from "./miniatures.js";
import { during, element, show, showSource } from "./page.js";
import { Picture } from "./picture.js";
import { Playback } from "./playback.js";
import { PRESETS } from "./presets.js";
import { PROGRAMS } from "./programs.js";
import { heightsOf } from "./region.js";
import { drawMap } from "./regression-view.js";
import { Study } from "./study.js";
import { drawSurface } from "./surface.js";
import { taylor } from "./taylor.js";

// ---- a descent, which runs once ------------------------------------------

const study = new Study("I");
const playback = new Playback(() => map.redraw());
playback.eta = 0.7 * study.land.limit;

const map = new Picture(element("map", HTMLCanvasElement), (ctx, size) =>
  drawMap(ctx, size, study.land, playback, true),
);

const descend = async () => {
  const gradient = await leastSquares(study.x.length);
  playback.begin(playback.start, study.problem(gradient));
};

// ---- a surface, and its approximation where the pointer is ---------------

const { text, x, y, point: first } = PRESETS.waves;
const tree = parse(text);
const f = evaluator(tree);
const box = { x, y, z: heightsOf(f, x, y) ?? x };
const lookAt = (/** @type {{ width: number, height: number }} */ size) =>
  new Camera().look(size, box, -14);
let point = first;
/** @type {Awaited<ReturnType<typeof approximation>> | undefined} */
let derivatives;

const surface = new Picture(
  element("surface", HTMLCanvasElement),
  (ctx, size) => {
    const d = derivatives?.(...point);
    const patch = d && taylor(d, point, 2);
    drawSurface(ctx, lookAt(size), {
      f,
      box,
      point,
      patch,
      gradient: d?.g,
      bare: true,
    });
  },
);

element("surface").addEventListener("pointermove", ({ offsetX, offsetY }) => {
  point = lookAt(surface).pick([offsetX, offsetY], f, point) ?? point;
  surface.redraw();
});

const approximate = async () => {
  derivatives = await approximation(tree);
  surface.redraw();
};

// ---- the sample ----------------------------------------------------------

const sliders = ["x", "y"].map((id) => element(id, HTMLInputElement));

const runSample = async () => {
  const began = performance.now();
  const { compiled } = await import("./sample.js");
  const all = await compiled;
  show({ compiled: `${format(performance.now() - began, 2)} ms` });
  const call = () => {
    const [x, y] = sliders.map((slider) => slider.valueAsNumber);
    const { z, g, h } = all(x, y);
    const row = (/** @type {number[]} */ v) =>
      v.map((n) => format(n, 5)).join(", ");
    show({
      x: format(x),
      y: format(y),
      z: format(z, 5),
      g: row(g),
      h0: row(h[0]),
      h1: row(h[1]),
    });
  };
  for (const slider of sliders) slider.addEventListener("input", call);
  call();
};

for (const language of /** @type {const} */ (["javascript", "python"]))
  element(`in-${language}`).textContent = PROGRAMS.waves[language];
explain();
showSource("sample.js");
const work = async () => {
  await runSample();
  show({ there: `${format(performance.now() / 1000, 2)} s` });
  await Promise.all([
    approximate(),
    descend(),
    shoot(),
    learn(),
    deblur(),
    trace(),
    compare(),
  ]);
};
during(element("status"), "Loading the compiler…", work());
