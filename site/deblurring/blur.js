import { Real, Vec, compile, fn, vjp } from "../../rose.js";
import { add, iadd, imax, imin, isub } from "../../rose.js";
import { mul, sqrt, sub, sum, vec } from "../../rose.js";

export const SIDE = 128; // of a picture, in pixels
export const REACH = 3; // how far a pixel spreads
export const TAPS = 2 * REACH + 1;
const WIDE = SIDE + 2 * REACH;
const EDGE = 0.05; // where neighbours differ by more, there may be an edge

const Colour = Vec(3, Real);
const Image = Vec(SIDE, Vec(SIDE, Colour));
const Kernel = Vec(TAPS, Vec(TAPS, Real));

const sqr = (x) => mul(x, x);
const overAll = (term) =>
  sum(SIDE, (y) => sum(SIDE, (x) => sum(3, (c) => term(y, x, c))));

/** The pixel of the picture that is nearest to one of the picture with a margin. */
const nearest = (at) =>
  isub(SIDE, imin(WIDE, imax(WIDE, at, REACH), REACH + SIDE - 1), REACH);

/** Every pixel a mean of those around it, which the kernel weighs. */
const blurred = fn([Kernel, Image], Image, (kernel, image) => {
  const wide = vec(WIDE, Vec(WIDE, Colour), (y) =>
    vec(WIDE, Colour, (x) => image[nearest(y)][nearest(x)]),
  );
  const mean = (y, x, c) =>
    sum(TAPS, (j) =>
      sum(TAPS, (i) =>
        mul(kernel[j][i], wide[iadd(WIDE, y, j)][iadd(WIDE, x, i)][c]),
      ),
    );
  return vec(SIDE, Vec(SIDE, Colour), (y) =>
    vec(SIDE, Colour, (x) => vec(3, Real, (c) => mean(y, x, c))),
  );
});

/** How much a picture changes from pixel to pixel, in all. */
const roughness = fn([Image], Real, (image) => {
  const next = (at) => imin(SIDE, iadd(SIDE + 1, at, 1), SIDE - 1);
  return overAll((y, x, c) => {
    const down = sub(image[next(y)][x][c], image[y][x][c]);
    const across = sub(image[y][next(x)][c], image[y][x][c]);
    return sqrt(add(EDGE ** 2, add(sqr(down), sqr(across))));
  });
});

const loss = fn(
  [Kernel, Image, Image, Real],
  Real,
  (kernel, guess, given, weight) => {
    const again = blurred(kernel, guess);
    const misfit = overAll((y, x, c) =>
      sqr(sub(again[y][x][c], given[y][x][c])),
    );
    return add(misfit, mul(weight, roughness(guess)));
  },
);

/** The loss of a guess, and its slope in every colour of every pixel. */
export const descent = () =>
  compile(
    fn([Kernel, Image, Image, Real], { loss: Real, grad: Image }, (...all) => {
      const { ret, grad } = vjp(loss)(...all);
      return { loss: ret, grad: grad(1)[1] };
    }),
  );

export const blur = () => compile(blurred);
