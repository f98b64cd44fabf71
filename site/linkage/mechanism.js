// A linkage that is to have its pen in places: what it is like, what of it may change, and what has been tried.

import { move, sensitivity } from "./four-bar.js";
import { reach } from "./reach.js";
import { clamp } from "../lib/region.js";

/**
 * @typedef {readonly number[]} Point
 * @typedef {import("./reach.js").Goal} Goal  at an angle of the crank, in degrees
 */

/** On its way to a goal, the pen goes so far at once. */
const STRIDE = 0.2;

/** Degrees between two points of a curve. */
const GRAIN = 2;

const radians = (/** @type {number} */ degrees) => (degrees * Math.PI) / 180;

/** What `f` gives, or undefined where there is no root: where the bars do not meet. @template T @param {() => T} f */
const ifTheyMeet = (f) => {
  try {
    return f();
  } catch (error) {
    if (/^root: no root/.test(String(/** @type {Error} */ (error).message)))
      return undefined;
    throw error;
  }
};

export class Mechanism {
  /**
   * @param {readonly number[]} numbers
   * @param {number} angle  of the crank, in degrees
   * @param {readonly (readonly [number, number])[]} ranges  where the numbers may be
   */
  constructor(numbers, angle, ranges) {
    this.numbers = [...numbers];
    this.angle = angle;
    this.ranges = ranges;
    this.free = numbers.map(() => true);
    /** Where the pen has to pass. @type {Goal[]} */
    this.pins = [];
    /** Rounds to the last goal that was reached. */
    this.rounds = 0;
    this.calls = 0;
    /** The curve of the pen that was asked for last. */
    this.drawn = {
      /** @type {number[]} */ numbers: [],
      /** @type {typeof this.joints} */ joints: undefined,
      /** @type {(Point | undefined)[]} */ points: [],
    };
  }

  /** Derive and compile. */
  async prepare() {
    const [joints, slopes] = await Promise.all([move(), sensitivity()]);
    this.joints = joints;
    this.slopes = slopes;
  }

  /** @param {number} [angle] */
  jointsAt(angle = this.angle, numbers = this.numbers) {
    return ifTheyMeet(() => this.joints?.(numbers, radians(angle)));
  }

  /** Where the pen is, and how each number would move it. */
  penAt(angle = this.angle, numbers = this.numbers) {
    this.calls += 1;
    return ifTheyMeet(() => this.slopes?.(numbers, radians(angle)));
  }

  /** All places of the pen; gaps where the crank cannot get. */
  curve() {
    const { numbers, joints, drawn } = this;
    if (drawn.numbers === numbers && drawn.joints === joints)
      return drawn.points;
    const angles = Array.from({ length: 360 / GRAIN }, (_, k) => k * GRAIN);
    const points = angles.map((angle) => this.jointsAt(angle)?.pen);
    this.drawn = { numbers, joints, points };
    return points;
  }

  /** Turn the crank; false if it cannot get there. @param {number} angle */
  turn(angle) {
    const meets = !!this.jointsAt(angle);
    if (meets) this.angle = angle;
    return meets;
  }

  /** Put a pin where the pen is, at this angle, unless there are too many. @param {number} most */
  pin(most) {
    const { angle, pins } = this;
    const others = pins.filter((pin) => pin.angle !== angle);
    const at = this.penAt()?.at;
    if (at && others.length < most) this.pins = [...others, { angle, at }];
  }

  /** Have some numbers as they are given, and change others so that the pen passes its pins. @param {Map<number, number>} given */
  set(given) {
    const from = this.numbers.map((x, k) => given.get(k) ?? x);
    return this.settle(from, this.pins, (k) => !given.has(k));
  }

  /** Bring the pen to a place, or as far on the way as it gets. @param {Point} goal */
  lead(goal) {
    const start = this.penAt()?.at;
    if (!start) return false;
    const far = goal.map((c, i) => c - start[i]);
    const parts = Math.max(1, Math.ceil(Math.hypot(...far) / STRIDE));
    for (let part = 1; part <= parts; ++part) {
      const at = start.map((c, i) => c + (part / parts) * far[i]);
      const goals = [...this.pins, { angle: this.angle, at }];
      if (!this.settle(this.numbers, goals)) return false;
    }
    return true;
  }

  /** @param {number[]} from @param {Goal[]} goals @param {(number: number) => boolean} [mayChange] */
  settle(from, goals, mayChange = () => true) {
    const solved = reach(
      (numbers, angle) => this.penAt(angle, numbers),
      from,
      goals,
      (k) => this.free[k] && mayChange(k),
      (numbers) => numbers.map((x, k) => clamp(x, this.ranges[k])),
    );
    if (!solved || !this.jointsAt(this.angle, solved.numbers)) return false;
    this.numbers = solved.numbers;
    this.rounds = solved.rounds;
    return true;
  }
}
