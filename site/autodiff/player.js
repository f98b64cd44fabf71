// Plays steps one after the other, until the last, or until somebody stops it.

/** Milliseconds between steps. */
const PACE = 900;

export class Player {
  /**
   * @param {() => boolean} step  goes a step on; whether there are more
   * @param {() => void} changed  called when it begins or ends
   */
  constructor(step, changed) {
    this.step = step;
    this.changed = changed;
    this.timer = 0;
  }

  get isPlaying() {
    return this.timer !== 0;
  }

  play() {
    const hasMore = this.step();
    this.timer = hasMore ? setTimeout(() => this.play(), PACE) : 0;
    this.changed();
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.changed();
  }
}
