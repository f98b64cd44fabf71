// Run by `rose freeze` in a page, with elements.js and hands.js: inputs, brought to their states one by one.
({
  /** What has been found so far that has states: see together.js. */
  controls: [],
  /** Of these, what makes the page compile something by itself, and was not moved together with others. */
  telling: [],

  /** Bring a control to its states, and back. Of how many of them something is compiled that was not before. */
  async move(control) {
    const { states, home } = control;
    let found = 0;
    for (const state of states) found += await this.isNew(state);
    // where it was may be new the first time, too; who compiles something new each time does so with all others
    let isSteady = !(await this.isNew(home));
    if (found && !isSteady) {
      await states.at(-1)();
      isSteady = !(await this.isNew(home));
    }
    if (states.length) this.controls.push(control);
    if (found && isSteady) this.telling.push(control);
    return found;
  },

  /** What gives a control a value, and tells the page. */
  giving(present, key) {
    // as it comes with the element: libraries put their own in front of it, to know what is new
    const { set } = Object.getOwnPropertyDescriptor(
      Object.getPrototypeOf(present()),
      key,
    );
    const before = present()[key];
    // by which sliders are held
    const isHeld = present().type === "range";
    return async (value) => {
      if (isHeld) this.point(present, ["pointerdown", "mousedown"]);
      const element = present();
      set.call(element, value);
      // a choice that nobody can make may have been made at first
      if (value === before && element.selectedOptions?.[0]?.disabled) return;
      this.tell(present, Event, ["input"]);
      if (isHeld) this.point(present, ["pointerup", "mouseup"]);
      this.tell(present, Event, ["change"]);
      if (isHeld) this.point(present, ["click"]);
      await this.pause();
    };
  },

  /** Give a control values, and that which it had. */
  turn(present, key, values) {
    const before = present()[key];
    const give = this.giving(present, key);
    const others = values.filter((value) => `${value}` !== `${before}`);
    const states = others.map((value) => () => give(value));
    return this.move({ present, states, home: () => give(before) });
  },

  /** Press those of these that are not on. */
  async pressAll(chosen) {
    for (const present of chosen)
      if (!this.isOn(present())) await this.press(present);
  },

  /** Press some that may switch each other off, and those last that were on. */
  async choose(selector) {
    const chosen = this.fresh(selector, this.isOn);
    await this.each(selector, (present) => this.press(present));
    await this.pressAll(chosen);
  },

  /** Press what is on or off, and once more. */
  async flip(selector) {
    const chosen = this.fresh(selector, this.isOn);
    await this.each(selector, (present) => {
      const was = this.isOn(present());
      const home = async () => {
        await this.press(present);
        // of those that switch each other off
        if (this.isOn(present()) !== was) await this.pressAll(chosen);
      };
      const states = [() => this.press(present)];
      return this.move({ present, states, home });
    });
  },

  /** Choose each of those that belong together. */
  async pick(selector) {
    const groups = new Map();
    await this.each(selector, (present) => {
      const { name, form } = present();
      const key = name || present().closest("[role=radiogroup]") || form;
      groups.set(key, [...(groups.get(key) ?? []), present]);
    });
    for (const group of groups.values()) {
      const [present] = group;
      const chosen = group.filter((one) => this.isOn(one()));
      const others = group.filter((one) => !chosen.includes(one));
      const states = others.map((one) => () => this.press(one));
      await this.move({ present, states, home: () => this.pressAll(chosen) });
    }
  },

  /** The values that the list of an input offers. */
  offered({ list }) {
    const options = [...(list?.options ?? [])].slice(0, this.MOST);
    return options.map(({ value }) => value);
  },

  /** Move a slider, or a field of numbers that has bounds, to its positions if they are few, or make programs each. */
  async slide(present) {
    const ALL = 128;
    const input = present();
    const { min, max, type, value } = input;
    const step = input.step === "any" ? 0 : +(input.step || 1);
    if (type === "number" && !(min && max)) return this.step(present, step);
    const low = +(min || 0);
    const high = +(max || 100);
    // 0.3 is three steps of 0.1, which is a little more than a third of it
    const steps = step && Math.floor((high - low) / step + 1e-6);
    /** As readers come to it: three steps of 0.1 are 0.3, and no more. */
    const after = (k) => +(low + k * step).toPrecision(12);
    const middle = step ? after(Math.round(steps / 2)) : (low + high) / 2;
    const positions = () =>
      Array.from({ length: steps + 1 }, (_, k) => after(k));
    const isFew = steps > 0 && steps <= this.FEW;
    const offered = this.offered(input).map(Number);
    const tried = new Set(
      isFew ? positions() : [low, middle, high, ...offered],
    );
    tried.delete(+value);
    const others = tried.size;
    const isEach = (await this.turn(present, "value", [...tried])) === others;
    if (isFew || !isEach || !others) return;
    const control = this.controls.pop();
    this.telling = this.telling.filter((other) => other !== control);
    if (steps > 0 && steps < ALL)
      await this.turn(present, "value", positions());
    else globalThis.roseWork.many.add(input.id || input.name || type);
  },

  /** Bring a field of numbers to its bound, if it has one, and to the numbers next to its own. */
  async step(present, step) {
    const { min, max, value } = present();
    const near = ["stepUp", "stepDown"].flatMap((way) => {
      const copy = present().cloneNode();
      copy.value = value;
      if (step && value) copy[way]();
      return copy.value || [];
    });
    const values = [...[min, max].filter((x) => x !== ""), ...near];
    await this.turn(present, "value", [...new Set(values)]);
  },

  /** Fill a field of which one value is enough to know what the page does with any. */
  fill(present) {
    const copy = present().cloneNode();
    if (copy.type === "color") copy.value = "#336699";
    else copy.stepUp();
    return this.turn(present, "value", [copy.value]);
  },

  /** What is typed, nobody knows; but that something is, or which of the values that are offered. */
  async type(present) {
    present().focus();
    this.tell(present, InputEvent, ["input"]);
    this.tell(present, Event, ["change"]);
    const values = this.offered(present());
    if (values.length) await this.turn(present, "value", values);
    if (this.hears(present(), this.KEYS)) await this.hit(present, "Enter");
    else await this.pause();
    present().blur();
  },

  /** Choose each of a list, of which one is chosen. */
  select(present) {
    const options = [...present().options];
    const open = options.flatMap((option, k) =>
      option.matches(":disabled") ? [] : k,
    );
    return this.turn(present, "selectedIndex", open);
  },

  /** Choose one of a list of which several may be, or leave it, and once more. */
  mark(option) {
    const flipped = async () => {
      option().selected = !option().selected;
      const list = () => option().closest("select");
      this.tell(list, Event, ["input", "change"]);
      await this.pause();
    };
    return this.move({ present: option, states: [flipped], home: flipped });
  },

  SLIDERS: "input:is([type=range], [type=number])",

  /** Move all inputs. */
  async moveAll() {
    const { MOST: most } = this;
    const MADE = ":is([role=slider], [role=spinbutton])[aria-valuenow]";
    const BOXES = "[role=checkbox], [role=switch], [aria-pressed]";
    const TIMES = ["date", "time", "datetime-local", "month", "week"];
    const FIELDS = ["color", ...TIMES].map((type) => `[type=${type}]`);
    const TYPED =
      "input:is(:not([type]), [type=text], [type=search]), textarea";
    const EDITED = "[contenteditable=true], [contenteditable='']";
    await this.each(this.SLIDERS, (x) => this.slide(x));
    await this.each(`${MADE}:not(input)`, (x) => this.strike(x));
    await this.each("select:not([multiple])", (x) => this.select(x));
    await this.each("select[multiple] option", (x) => this.mark(x));
    await this.pick("input[type=radio], [role=radio]:not(input)");
    await this.flip(`input[type=checkbox], :is(${BOXES}):not(input)`);
    await this.each(`input:is(${FIELDS})`, (x) => this.fill(x));
    await this.each(`${TYPED}, ${EDITED}`, (x) => this.type(x), { most });
  },
});
