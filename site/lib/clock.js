// The time within a simulation, in frames: the slider `time` of a page and its button `play`.

import { element, oncePerFrame } from "./page.js";
import { inPassing } from "./pace.js";
import { label, write } from "./write.js";

export class Clock {
  /**
   * @param {number} frames  the number of the last one
   * @param {number} seconds  how long they last
   * @param {() => void} changed
   * @param {number} [pause]  if given, it begins again so many seconds after its end
   */
  constructor(frames, seconds, changed, pause) {
    this.frames = frames;
    this.seconds = seconds;
    this.changed = changed;
    this.pause = pause;
    /** How often it has begun again. */
    this.rounds = 0;
    this.at = 0;
    this.playing = false;
    /** When the last frame was, and how many seconds of the pause are left. */
    this.before = 0;
    this.rest = 0;
    this.goOnSoon = oncePerFrame((now) => this.tick(now));
    this.tellSoon = inPassing(() => this.tell());
    this.slider = element("time", HTMLInputElement);
    this.slider.max = String(frames);
    this.slider.addEventListener("input", () => {
      this.playing = false;
      this.set(this.slider.valueAsNumber);
    });
    element("play").addEventListener("click", () =>
      this.playing ? this.stop() : this.play(),
    );
  }

  /** The frame's number. */
  get frame() {
    return Math.min(this.frames, Math.floor(this.at));
  }

  /** @param {number} at */
  set(at) {
    this.at = at;
    this.slider.value = String(this.frame);
    this.tellSoon();
    write(element("play"), this.playing ? "Stop" : "Play");
    this.changed();
  }

  /** Say the time to who does not see it. */
  tell() {
    const words = `${((this.at / this.frames) * this.seconds).toFixed(2)} s`;
    label(this.slider, "aria-valuetext", words);
  }

  stop() {
    this.playing = false;
    this.set(this.frame);
  }

  /** From the beginning if it is at its end. */
  play() {
    this.playing = true;
    this.set(this.frame < this.frames ? this.at : 0);
    this.before = performance.now();
    this.rest = this.pause ?? 0;
    this.goOnSoon();
  }

  /** @param {number} now */
  tick(now) {
    if (!this.playing) return;
    const passed = Math.max(0, now - this.before) / 1000;
    this.before = now;
    const at = this.at + (passed / this.seconds) * this.frames;
    if (at < this.frames) this.set(at);
    else if (this.pause === undefined) {
      this.playing = false;
      this.set(this.frames);
    } else if ((this.rest -= passed) > 0) this.set(this.frames);
    else {
      this.rest = this.pause;
      this.rounds += 1;
      this.set(0);
    }
    if (this.playing) this.goOnSoon();
  }
}
