// What the page about deblurring says of how a descent stands.

import { SIDE } from "./blur.js";
import { count, fixed, format } from "../lib/format.js";

/** How far a picture is off: the root of the mean of the squares, in the levels that screens have. @param {number} error */
export const levels = (error) =>
  fixed(255 * Math.sqrt(error / (SIDE * SIDE * 3)), 2);

/** An error that was smaller by this part was noticeably smaller. */
const WORSE = 1.02;

/**
 * @param {import("./restoration.js").Restoration} restoration
 * @param {number} given  the error of the given picture
 * @param {number} size  of the last step
 * @param {number} limit  of step sizes
 */
export const ending = (
  { outcome, steps, losses, errors, nearest },
  given,
  size,
  limit,
) => {
  if (outcome === "lost")
    return (
      `A step size of ${format(size)} is too large: after ${count(steps)} steps the loss was ` +
      `${format(losses[steps], 3)} and growing. The guess is back at its best. Below ` +
      `${format(limit, 2)} it goes on from there.`
    );
  if (outcome === "going") return "";
  if (errors[steps] > WORSE * errors[nearest])
    return (
      `The loss still falls, but the guess was closest to what was there after ${count(nearest)} ` +
      "steps. What it fits since then is noise."
    );
  const closer = Math.sqrt(given / errors[steps]);
  const times =
    closer < 1
      ? `${format(1 / closer, 2)} times as far from what was there`
      : `${format(closer, 2)} times as close to what was there`;
  return `After ${count(steps)} steps the guess is ${times} as what is given. Run goes on.`;
};
