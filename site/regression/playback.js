// Plays a descent, frame by frame: first step by step, then faster and faster.

import { Descent } from "./descent.js";
import { calm, oncePerFrame } from "../lib/page.js";

/**
 * @typedef {import("./descent.js").Line} Line
 * @typedef {import("./descent.js").Problem} Problem
 * @typedef {"waiting" | "running" | "paused" | "settled" | "diverged"} Mode
 */

/** Steps per frame: at first, and what is added of the steps made so far. */
const PACE = 0.12;
const GROWTH = 0.03;

/** A descent that is over is kept for comparison if it was this long. */
const LONG = 50;

export class Playback {
  /** @param {() => void} changed  called when there is something new to show */
  constructor(changed) {
    this.changed = changed;
    /** @type {Mode} */
    this.mode = "waiting";
    /** The step size. */
    this.eta = 1e-4;
    /** Where descents begin. @type {Line} */
    this.start = { b0: 0, b: 0 };
    /** @type {Descent | undefined} */
    this.descent = undefined;
    /** @type {Descent | undefined} */
    this.before = undefined;
    /** Of a descent that came apart. */
    this.lost = { steps: 0, loss: 0 };
    /** Steps since the reader changed something. */
    this.since = 0;
    /** Steps that the clock is behind. */
    this.owed = 0;
    this.goOnSoon = oncePerFrame(() => this.frame());
  }

  get line() {
    return this.descent?.line ?? this.start;
  }

  /** Begin a descent, and run unless paused. @param {Line} line @param {Problem} problem */
  begin(line, problem) {
    if (this.descent && this.descent.steps > LONG) this.before = this.descent;
    this.descent = new Descent(line, problem);
    this.goOn();
  }

  /** Begin the descent from its start once more. */
  restart() {
    if (this.descent) this.begin(this.start, this.descent.problem);
  }

  /** The reader has changed something: go on, unless paused. */
  goOn() {
    this.since = 0;
    this.enter(this.mode === "paused" ? "paused" : "running");
  }

  run() {
    if (this.mode === "settled") this.restart();
    this.since = 0;
    this.enter("running");
  }

  pause() {
    this.enter("paused");
  }

  step() {
    if (this.mode === "settled") this.restart();
    this.enter("paused");
    this.advance(1);
  }

  /** @param {number} eta */
  setEta(eta) {
    this.eta = eta;
    if (this.mode === "settled") this.restart();
    else if (this.descent) this.goOn();
    else this.changed();
  }

  /** @param {Mode} mode */
  enter(mode) {
    const was = this.mode;
    this.mode = mode;
    if (mode === "running" && was !== "running") {
      this.owed = 1;
      this.goOnSoon();
    }
    this.changed();
  }

  frame() {
    if (this.mode !== "running") return;
    // who wants little motion sees the way's end, not the way
    if (calm.matches) this.advance(Infinity, performance.now() + 60);
    else {
      this.owed += PACE + GROWTH * this.since;
      const whole = Math.floor(this.owed);
      this.owed -= whole;
      if (whole) this.advance(whole, performance.now() + 9);
    }
    if (this.mode === "running") this.goOnSoon();
  }

  /** @param {number} count @param {number} [deadline] */
  advance(count, deadline) {
    const { descent } = this;
    if (!descent) return;
    this.since -= descent.steps;
    descent.advance(this.eta, count, deadline);
    this.since += descent.steps;
    if (descent.outcome === "going") this.changed();
    else if (descent.outcome === "settled") this.enter("settled");
    else {
      this.lost = { steps: descent.steps, loss: descent.at.loss };
      this.before = descent;
      this.descent = new Descent(descent.best.line, descent.problem);
      this.enter("diverged");
    }
  }
}
