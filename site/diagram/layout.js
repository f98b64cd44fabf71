// A diagram on its way to a layout: Penrose's state, step by step, with some of its points held.

/**
 * @typedef {readonly [number, number]} Point
 * @typedef {any} Penrose  the module
 * @typedef {any} PenroseState
 */

/**
 * Where not all can hold that must, the weight grows for ever, and Penrose's own test is never passed. But a
 * layout that so many steps have moved by less than this, in pixels, has settled, too.
 */
const STEPS = 50;
const STILL = 0.5;

/** With so many steps and no end, there will be none. */
const MOST = 5000;

/** So many milliseconds of looks are enough to tell how long one takes. */
const ROUND = 10;

/** In pixels: what is missed by less is met. */
const ENOUGH = 1;

/** The numbers in one of Penrose's values, in order. @returns {any[]} */
const numbersIn = ({ tag, contents }) =>
  tag === "Val" ? [contents.contents].flat(Infinity) : [];

export class Layout {
  /**
   * @param {Penrose} penrose
   * @param {PenroseState} state
   * @param {{ dispose: () => void, time: number }[]} made  what was compiled for it
   * @param {number} time  that all of it took, in milliseconds
   */
  constructor(penrose, state, made, time) {
    const { gradient, constraintSets, interactivityInfo } = state;
    this.penrose = penrose;
    this.made = made;
    this.time = time;
    this.steps = 0;
    this.calls = 0;
    this.masks = constraintSets;
    this.evaluate = gradient;
    this.state = {
      ...state,
      gradient: (...args) => {
        this.calls++;
        return gradient(...args);
      },
    };
    this.isStill = false;
    this.before = state.varyingValues;
    /** Where each shape that can be dragged has its coordinates. @type {Map<string, Point>} */
    this.handles = new Map();
    /** Shapes that stay where they are put. @type {Set<string>} */
    this.pins = new Set();
    const taken = new Set();
    for (const path of interactivityInfo.translatableShapePaths) {
      const { shapeType } = interactivityInfo.shapesByPath.get(path);
      const center = interactivityInfo.inputIdxsByPath.get(`${path}.center`);
      if (!center || shapeType === "Text") continue;
      const [x, y] = numbersIn(center);
      if (taken.has(x)) continue;
      taken.add(x);
      this.handles.set(path, [x, y]);
    }
  }

  get size() {
    const { width, height } = this.state.canvas;
    return { width, height };
  }

  /** How many numbers there are to find: Penrose makes some that no shape uses. */
  get unknowns() {
    const [{ inputMask }] = this.masks.values();
    const { inputIdxsByPath } = this.state.interactivityInfo;
    const used = new Set([...inputIdxsByPath.values()].flatMap(numbersIn));
    return inputMask.filter((on, index) => on && used.has(index)).length;
  }

  get isDone() {
    const { isOptimized, finalStage } = this.penrose;
    return this.isStill || (isOptimized(this.state) && finalStage(this.state));
  }

  get isLost() {
    return this.steps >= MOST && !this.isDone;
  }

  get shapes() {
    return this.state.computeShapes(this.state.varyingValues);
  }

  /** Where its coordinates are. @param {string} path @returns {Point} */
  placeOf(path) {
    return /** @type {Point} */ (this.handles.get(path));
  }

  /** Where it is. @param {string} path */
  at(path) {
    const [x, y] = this.placeOf(path);
    const { varyingValues } = this.state;
    return /** @type {Point} */ ([varyingValues[x], varyingValues[y]]);
  }

  /** One step of the optimizer. */
  advance() {
    const { step, isOptimized, finalStage, nextStage, showError } =
      this.penrose;
    let count = 0;
    const result = step(this.state, { until: () => count++ >= 1 });
    if (result.isErr()) throw Error(showError(result.error));
    this.steps++;
    this.state = result.value;
    if (this.steps % STEPS === 0) {
      const { varyingValues } = this.state;
      this.isStill = varyingValues.every(
        (x, k) => Math.abs(x - this.before[k]) < STILL,
      );
      this.before = varyingValues;
    }
    if (finalStage(this.state)) return;
    if (this.isStill || isOptimized(this.state)) {
      this.state = nextStage(this.state);
      this.isStill = false;
    }
  }

  /** Begin again, from where things are. */
  restart() {
    this.steps = 0;
    this.isStill = false;
    this.before = this.state.varyingValues;
    const params = this.penrose.start(this.state.varyingValues.length);
    const held = new Set([...this.pins].flatMap((p) => this.placeOf(p)));
    const constraintSets = new Map(
      [...this.masks].map(([stage, masks]) => [
        stage,
        {
          ...masks,
          inputMask: masks.inputMask.map((on, k) => on && !held.has(k)),
        },
      ]),
    );
    this.state = {
      ...this.state,
      params,
      constraintSets,
      currentStageIndex: 0,
    };
  }

  /** Begin again, from places that chance has chosen. @param {string} variation */
  resample(variation) {
    this.pins.clear();
    this.state = this.penrose.resample({ ...this.state, variation });
    this.restart();
  }

  /** Put a shape there, where it stays. @param {string} path @param {Point} to */
  put(path, to) {
    this.pins.add(path);
    const varyingValues = [...this.state.varyingValues];
    const [x, y] = this.placeOf(path);
    [varyingValues[x], varyingValues[y]] = to;
    this.state = { ...this.state, varyingValues };
    this.restart();
  }

  /** Begin where another diagram is, with what both have. @param {Layout} other */
  adopt(other) {
    const theirs = other.state.interactivityInfo.inputIdxsByPath;
    const varyingValues = [...this.state.varyingValues];
    for (const [path, value] of this.state.interactivityInfo.inputIdxsByPath) {
      const before = theirs.get(path);
      if (!before) continue;
      const from = numbersIn(before);
      numbersIn(value).forEach((index, k) => {
        if (typeof index !== "number" || typeof from[k] !== "number") return;
        // but not the sizes of labels, which are measured
        if (this.state.inputs[index].meta.init.tag === "Sampled")
          varyingValues[index] = other.state.varyingValues[from[k]];
      });
    }
    this.state = { ...this.state, varyingValues };
    for (const path of other.pins)
      if (this.handles.has(path)) this.pins.add(path);
    this.restart();
  }

  /** The energy, its gradient, and how far each constraint is from being met. */
  look() {
    const { varyingValues, optStages, currentStageIndex, params } = this.state;
    const masks = this.masks.get(optStages[currentStageIndex]);
    const gradient = new Float64Array(varyingValues.length);
    const xs = Float64Array.from(varyingValues);
    const found = this.evaluate(masks, xs, params.weight, gradient);
    return { ...found, gradient };
  }

  /** How large the problem is, and how long it took to compile, and takes to be looked at, in milliseconds. */
  measure() {
    this.look(); // engines make functions ready when they are first called
    let calls = 0;
    const began = performance.now();
    let now = began;
    for (; now - began < ROUND; now = performance.now(), ++calls) this.look();
    return {
      compiling: this.made.reduce((sum, { time }) => sum + time, 0),
      ...{ whole: this.time, gradient: (now - began) / calls },
      unknowns: this.unknowns,
      constraints: this.state.constrFns.length,
      objectives: this.state.objFns.length,
    };
  }

  /** What could not be had, in the words of the Style program. */
  get unmet() {
    const { prettyPrintFn } = this.penrose;
    return this.look()
      .constraints.map((miss, k) => ({ miss, k }))
      .filter(({ miss }) => miss > ENOUGH)
      .map(({ k }) => prettyPrintFn(this.state.constrFns[k]));
  }

  dispose() {
    for (const { dispose } of this.made) dispose();
  }
}
