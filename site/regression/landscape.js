// What can be said of the loss of a line without a derivative: it is a quadratic function of the
// line's two numbers, with a lowest point and two curvatures that textbooks give.

/** @typedef {import("./descent.js").Line} Line */

/**
 * @typedef {object} Landscape
 * @property {(line: Line) => number} loss
 * @property {Line} best  the lowest point
 * @property {number} lowest  the loss there
 * @property {number} steep  the larger curvature, across the valley
 * @property {number} gentle  the smaller one, along it
 * @property {number} limit  steps of gradient descent must be smaller
 */

/**
 * @param {ArrayLike<number>} x
 * @param {ArrayLike<number>} y
 * @returns {Landscape}
 */
export const landscapeOf = (x, y) => {
  const n = x.length;
  let [sx, sy, sxx, sxy] = [0, 0, 0, 0];
  for (let i = 0; i < n; ++i) {
    sx += x[i];
    sy += y[i];
    sxx += x[i] * x[i];
    sxy += x[i] * y[i];
  }
  const spread = n * sxx - sx * sx;
  // with all points above one x, the line may as well be level
  const b = spread > 1e-9 * n * sxx ? (n * sxy - sx * sy) / spread : 0;
  const best = { b0: (sy - b * sx) / n, b };
  const loss = (/** @type {Line} */ line) => {
    let sum = 0;
    for (let i = 0; i < n; ++i) sum += (y[i] - line.b0 - line.b * x[i]) ** 2;
    return sum;
  };
  // the eigenvalues of the Hessian, 2 (n Σx; Σx Σx²)
  const steep = n + sxx + Math.hypot(n - sxx, 2 * sx);
  const gentle = (4 * Math.max(0, spread)) / steep;
  return { loss, best, lowest: loss(best), steep, gentle, limit: 2 / steep };
};
