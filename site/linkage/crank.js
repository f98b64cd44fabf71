// A crank that goes round, or to and fro where it cannot.

/** Degrees per second. */
const SPEED = 60;

export class Crank {
  /**
   * @param {(by: number) => boolean} turn  by degrees; false if it cannot
   * @param {() => void} changed
   */
  constructor(turn, changed) {
    this.turn = turn;
    this.changed = changed;
    this.running = false;
    this.way = SPEED;
    this.next = 0;
  }

  run() {
    this.stop();
    this.running = true;
    let last = performance.now();
    const frame = () => {
      const now = performance.now();
      const by = (this.way * (now - last)) / 1000;
      last = now;
      if (!this.turn(by) && this.turn(-by)) this.way = -this.way;
      this.next = requestAnimationFrame(frame);
      this.changed();
    };
    this.next = requestAnimationFrame(frame);
    this.changed();
  }

  stop() {
    cancelAnimationFrame(this.next);
    this.running = false;
  }
}
