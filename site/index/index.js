// The first page: a miniature of each explorable, and the sample's numbers.

import { format } from "../lib/format.js";
import { MINIATURES } from "./miniatures.js";
import { during, element, show, showSource } from "../lib/page.js";
import { PROGRAMS } from "../playground/programs.js";

const sliders = ["x", "y"].map((id) => element(id, HTMLInputElement));
const status = element("status");

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
      ...{ x: format(x), y: format(y), z: format(z, 5), g: row(g) },
      ...{ h0: row(h[0]), h1: row(h[1]) },
    });
  };
  for (const slider of sliders) slider.addEventListener("input", call);
  call();
  show({ there: `${format(performance.now() / 1000, 2)} s` });
};

/** Miniatures begin when they are about to be seen: each of them has functions to be compiled. */
const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries)
      if (isIntersecting) begin(target);
  },
  { rootMargin: "25% 0px" },
);

/** @param {Element} picture */
const begin = (picture) => {
  observer.unobserve(picture);
  return during(status, "", MINIATURES[picture.id]());
};

/** For `rose freeze`: all of them. */
export const warmUp = async () => {
  for (const id of Object.keys(MINIATURES)) await begin(element(id));
};

for (const language of /** @type {const} */ (["javascript", "python"]))
  element(`in-${language}`).textContent = PROGRAMS.waves[language];
showSource("index/sample.js");
// the sample first: it tells how long it took
during(status, "Loading the compiler…", runSample()).then(() => {
  for (const id of Object.keys(MINIATURES)) observer.observe(element(id));
});
