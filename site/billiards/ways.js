// The ways of the balls: straight from one collision to the next, so that few corners are all there is to draw.

/** Twice the same distance from frame to frame, but for what rounding does. */
const SAME = 1e-9;

/** Whether a ball moves otherwise after a frame than before it. @param {readonly number[]} a @param {readonly number[]} b @param {readonly number[]} c */
const turns = ([ax, ay], [bx, by], [cx, cy]) =>
  Math.abs(ax - 2 * bx + cx) > SAME || Math.abs(ay - 2 * by + cy) > SAME;

/** By game, ball by ball, the numbers of the frames with its corners. @type {WeakMap<number[][][], number[][]>} */
const known = new WeakMap();

/** @param {number[][][]} frames */
const cornersOf = (frames) => {
  let found = known.get(frames);
  if (!found) {
    const inner = frames.slice(1, -1).map((_, k) => k + 1);
    found = frames[0].map((_, ball) => {
      const at = (/** @type {number} */ k) => frames[k][ball];
      return [0, ...inner.filter((k) => turns(at(k - 1), at(k), at(k + 1)))];
    });
    known.set(frames, found);
  }
  return found;
};

/**
 * The way of each ball until a frame: its corners, and where it is.
 *
 * @param {number[][][]} frames  where the balls are, frame by frame
 * @param {number} end
 */
export const waysOf = (frames, end) =>
  cornersOf(frames).map((corners, ball) =>
    [...corners.filter((k) => k < end), end].map((k) => frames[k][ball]),
  );
