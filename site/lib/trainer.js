// Runs a search, try by try, and lets the reader look at each: the buttons `run`, `step` and `over` of
// a page, its slider `tries`, and its slider `size` for the length of a step.

import { calm, element, oncePerFrame } from "./page.js";
import { Search } from "./search.js";
import { label, write } from "./write.js";

/** While the reader moves something, and so many milliseconds after, there is no new try. */
const QUIET = 200;

/** For who wants little motion: so many milliseconds of tries between two pictures. */
const SLICE = 60;

export class Trainer {
  /**
   * @param {number} pace  the least number of milliseconds between two tries
   * @param {() => void} changed  called when there is something new to show
   */
  constructor(pace, changed) {
    this.pace = pace;
    this.changed = changed;
    /** @type {Search | undefined} */
    this.search = undefined;
    this.running = false;
    /** The reader wants to look, not to go on. */
    this.paused = false;
    /** The number of the try that is shown, and whether that is to be the newest. */
    this.shown = 0;
    this.follows = true;
    this.due = 0;
    /** When the reader will have moved nothing for long enough. */
    this.quiet = 0;
    addEventListener("input", () => (this.quiet = performance.now() + QUIET));
    this.goOnSoon = oncePerFrame((now) => this.frame(now));
    this.slider = element("tries", HTMLInputElement);
    this.size = element("size", HTMLInputElement);
    this.slider.addEventListener("input", () => {
      this.pause();
      this.look(this.slider.valueAsNumber);
    });
    this.size.addEventListener("input", () => this.changed());
    element("run").addEventListener("click", () =>
      this.running ? this.pause() : this.run(),
    );
    element("step").addEventListener("click", () => {
      this.pause();
      this.advance();
    });
    element("over").addEventListener("click", () => {
      this.pause();
      this.restart();
    });
  }

  /** The length of a step: its slider has the logarithm. */
  get stepSize() {
    return Number((10 ** this.size.valueAsNumber).toPrecision(2));
  }

  get tries() {
    return this.search?.tries ?? [];
  }

  /** What changes with every try, and with the one that is shown. */
  get progress() {
    return [this.search, this.tries.length, this.shown];
  }

  /** The try that is shown. */
  get current() {
    return this.tries[this.shown];
  }

  /** Search from here, unless paused. @param {import("./search.js").Problem} problem @param {any} start */
  begin(problem, start) {
    this.search = new Search(problem, start);
    this.look(0);
    this.running &&= this.search.outcome === "going";
    if (!this.paused && this.search.outcome === "going") this.run();
  }

  restart() {
    const { search } = this;
    if (search) this.begin(search.problem, search.tries[0].params);
  }

  /** Show a try. @param {number} number */
  look(number) {
    this.shown = number;
    this.follows = number === this.tries.length - 1;
    this.changed();
  }

  run() {
    this.paused = false;
    if (!this.search || this.running) return;
    const { outcome, problem, tries } = this.search;
    if (outcome === "arrived")
      this.search = new Search(problem, tries[0].params);
    this.running = true;
    this.follows = true;
    this.due = 0;
    this.goOnSoon();
    this.changed();
  }

  pause() {
    this.running = false;
    this.paused = true;
    this.changed();
  }

  /** @param {number} now */
  frame(now) {
    if (!this.running) return;
    if (now < this.quiet) {
      this.goOnSoon();
      return;
    }
    if (calm.matches) {
      const end = performance.now() + SLICE;
      do this.advance();
      while (this.running && performance.now() < end);
    } else if (now >= this.due) {
      this.due = now + this.pace;
      this.advance();
    }
    this.goOnSoon();
  }

  advance() {
    const { search } = this;
    if (!search) return;
    search.advance(this.stepSize);
    const { outcome, tries, best } = search;
    if (outcome !== "going") this.running = false;
    this.look(search.hasFailed ? tries.indexOf(best) : tries.length - 1);
  }

  /** Bring the controls up to date. */
  tell() {
    const { search, running, slider, shown } = this;
    for (const id of ["run", "step", "over"])
      element(id, HTMLButtonElement).disabled = !search;
    write(element("run"), running ? "Pause" : "Run");
    slider.disabled = !search;
    label(slider, "max", String(Math.max(1, this.tries.length - 1)));
    slider.value = String(shown);
  }
}
