// An orthographic look at a box: where its points are in the picture, and back.

/**
 * @typedef {readonly [number, number]} Pair
 * @typedef {{ x: Pair, y: Pair, z: Pair }} Box  the values at the box's ends
 */

/** Half the height of the box; half of its width and depth is 1. */
export const HALF = 0.66;

const LOWEST = 0.22;
const HIGHEST = 1.3;

/** From where one looks: turned about the vertical axis, and from how far above. */
export class Camera {
  constructor(azimuth = 0.6, tilt = 0.52) {
    this.azimuth = azimuth;
    this.tilt = tilt;
  }

  /** @param {number} azimuth @param {number} tilt */
  turn(azimuth, tilt) {
    this.azimuth = (this.azimuth + azimuth) % (2 * Math.PI);
    this.tilt = Math.min(HIGHEST, Math.max(LOWEST, this.tilt + tilt));
  }

  /** From where one looks. */
  get words() {
    const [turned, above] = [this.azimuth, this.tilt].map((a) =>
      Math.round((a * 180) / Math.PI),
    );
    return `turned by ${turned} degrees, from ${above} degrees above`;
  }

  /**
   * @param {{ width: number, height: number }} size
   * @param {Box} box
   * @param {number} [margin]  for what is written around it, in pixels
   */
  look(size, box, margin = 32) {
    return new Look(this.azimuth, this.tilt, size, box, margin);
  }
}

/** A value in the unit of its axis, where the box goes from -1 to 1. @param {Pair} ends */
const unit = ([low, high]) => {
  const middle = (low + high) / 2;
  const half = (high - low) / 2;
  return {
    to: (/** @type {number} */ v) => (v - middle) / half,
    from: (/** @type {number} */ u) => middle + u * half,
  };
};

/** One camera, one picture's size, one box. */
export class Look {
  /**
   * @param {number} azimuth
   * @param {number} tilt
   * @param {{ width: number, height: number }} size
   * @param {Box} box
   * @param {number} margin
   */
  constructor(azimuth, tilt, { width, height }, box, margin) {
    this.sin = Math.sin(azimuth);
    this.cos = Math.cos(azimuth);
    this.up = Math.cos(tilt);
    this.back = Math.sin(tilt);
    this.x = unit(box.x);
    this.y = unit(box.y);
    this.z = unit(box.z);
    const tall = Math.SQRT2 * this.back + HALF * this.up;
    /** Pixels per unit. */
    this.scale = Math.min(
      (width - 2 * margin) / (2 * Math.SQRT2),
      (height - 2.4 * margin) / (2 * tall),
    );
    this.left = width / 2 + margin / 4;
    this.top = height / 2 - margin / 2.7;
  }

  /** All that it depends on, but for the box. */
  get of() {
    return [this.sin, this.cos, this.back, this.scale, this.left, this.top];
  }

  /** How far a point of the unit box is to the right. @param {number} u @param {number} v */
  right(u, v) {
    return u * this.cos - v * this.sin;
  }

  /** And how far away. @param {number} u @param {number} v */
  away(u, v) {
    return u * this.sin + v * this.cos;
  }

  /** The pixel of a point of the unit box, whose heights are from -HALF to HALF. @param {number} u @param {number} v @param {number} w @returns {Pair} */
  place(u, v, w) {
    return [
      this.left + this.scale * this.right(u, v),
      this.top - this.scale * (this.away(u, v) * this.back + w * this.up),
    ];
  }

  /** @param {number} x @param {number} y @param {number} z @returns {Pair} */
  at(x, y, z) {
    return this.place(this.x.to(x), this.y.to(y), HALF * this.z.to(z));
  }

  /**
   * The point of the surface z = f(x, y) under a pixel: of several, the one nearest to the point
   * `from`; if there is none, one that is shown close to the pixel. Undefined where the surface
   * has no point at all.
   *
   * @param {Pair} pixel
   * @param {(x: number, y: number) => number} f
   * @param {Pair} from
   * @returns {Pair | undefined}
   */
  pick([px, py], f, from) {
    const right = (px - this.left) / this.scale;
    const height = (this.top - py) / this.scale;
    const clamp = (/** @type {number} */ v) => Math.min(1, Math.max(-1, v));
    const [u0, v0] = [this.x.to(from[0]), this.y.to(from[1])];
    // along the line of sight, which is at the height `w` here
    const meet = (/** @type {number} */ w) => {
      const away = (height - w * this.up) / this.back;
      const u = clamp(right * this.cos + away * this.sin);
      const v = clamp(away * this.cos - right * this.sin);
      const [x, y] = [this.x.from(u), this.y.from(v)];
      const z = f(x, y);
      const [qx, qy] = this.place(u, v, HALF * clamp(this.z.to(z)));
      const miss = Number.isFinite(z) ? Math.hypot(qx - px, qy - py) : Infinity;
      return {
        point: /** @type {Pair} */ ([x, y]),
        miss,
        far: Math.hypot(u - u0, v - v0),
      };
    };
    const STEPS = 256;
    let best = { w: 0, score: Infinity };
    for (let k = 0; k <= STEPS; ++k) {
      const w = HALF * (1 - (2 * k) / STEPS);
      const { miss, far } = meet(w);
      const score = miss + 8 * far;
      if (score < best.score) best = { w, score };
    }
    if (best.score === Infinity) return undefined;
    let [low, high] = [
      best.w - (2 * HALF) / STEPS,
      best.w + (2 * HALF) / STEPS,
    ];
    for (let k = 0; k < 24; ++k) {
      const [a, b] = [low + (high - low) / 3, high - (high - low) / 3];
      if (meet(a).miss < meet(b).miss) high = b;
      else low = a;
    }
    const found = meet((low + high) / 2);
    return found.miss === Infinity ? meet(best.w).point : found.point;
  }
}
