// Run by `rose freeze` in a page, with inputs.js and together.js: all that is done with it, and in which order.
({
  // forms are not: their inputs' names may be those of what is asked of elements
  SHOWN: "*:not(html, body, head, head *, script, style, form)",
  BUTTONS:
    "button, input:is([type=button], [type=submit], [type=reset]), [role=button], " +
    "a:is([href='#'], [href^='javascript:'])",
  OTHERS: "a, summary, label, input, select, textarea, option, canvas, svg",
  OPTIONS: ":is([role=option], [role=menuitemradio]):not(option)",

  /** How many controls are moved together, or again when something else has changed. */
  SEVERAL: 8,

  /** The controls that are moved again. */
  several() {
    return this.controls.slice(0, this.SEVERAL);
  },

  /** Show what an element opens. */
  async reveal(present) {
    present().scrollIntoView({ behavior: "instant" });
    await this.drawn();
    await this.pause();
  },

  /** Open a tab, and move what is only there as long as it is open. */
  async show(tab) {
    const isNew = await this.isNew(() => this.press(tab));
    await this.reveal(tab);
    await this.moveAll();
    if (isNew) await this.together(await this.apart(this.several()));
  },

  /** Open a menu, or what else scripts have made that opens, choose and move all that is in it, and close it. */
  async unfold(opener) {
    let options = [];
    const isOpen = () =>
      opener().ariaExpanded
        ? opener().ariaExpanded === "true"
        : options.some((option) => option().checkVisibility());
    const open = async () => {
      if (!isOpen()) await this.press(opener);
    };
    await open();
    await this.reveal(opener);
    options = this.fresh(this.OPTIONS).slice(0, this.room);
    const chosen = options.filter((option) => this.isOn(option()));
    for (const option of [...options, ...chosen]) {
      await open(); // to choose may close it
      await this.press(option);
    }
    if (!options.length) await this.moveAll();
    if (isOpen()) await this.press(opener);
  },

  /** Open `<details>`, and close them. */
  async peep(details) {
    details().open = true;
    await this.reveal(details);
    details().open = false;
  },

  /** Whether something is pressed: buttons, and what hears that, and is nothing that others are in. */
  isPressed(element) {
    const { BUTTONS, OTHERS } = this;
    return (
      this.isOther(element) &&
      element.checkVisibility() &&
      (element.matches(BUTTONS) ||
        (!element.querySelector(`${BUTTONS}, ${OTHERS}`) &&
          (this.hears(element, ["click", "dblclick"]) ||
            (!element.matches("a[href]") && this.looks(element, /pointer/)))))
    );
  },

  /** Places where something is drawn, or put together: of all that can be there, nobody knows what comes of it. */
  drawings: new Set(),
  /** The buttons that were pressed, by place. */
  pressed: new Map(),

  /** Whether that is such a place: of buttons next to each other, the last pressed is not all that matters. */
  async isDrawing(place, button) {
    const others = this.pressed.get(place) ?? [];
    this.pressed.set(place, [...others, button]);
    if (others.length !== 3) return false;
    const isSo = await this.isNew(() =>
      this.press(others[0]).then(() => this.press(button)),
    );
    if (isSo) this.drawings.add(place);
    return isSo;
  },

  /** Buttons that lead nowhere by themselves, as controls that nothing brings back; and what those do that lead on. */
  modes: [],
  acts: [],

  /** Press a button, use what comes by that, and see what controls and other buttons do then, and it after others. */
  async push(button) {
    const { parentElement } = button();
    const place = parentElement && this.sign(parentElement);
    if (this.isOver() || this.drawings.has(place)) return;
    const again = () => this.click(button);
    const { acts } = this;
    let told = false;
    // a page may go on with each time, though not forever
    for (let k = 1; k <= this.SEVERAL && button().isConnected; ++k) {
      const before = new Set(this.shown());
      const isNew = await this.leadsFurther(again);
      const isMore = await this.useMore(before, again);
      told ||= isNew;
      if (!isMore && !(isNew && k < 4)) break;
    }
    if (!told) {
      const home = async () => {};
      this.modes.push({ present: button, states: [again], home });
      for (const act of acts.slice(0, this.FEW)) await this.tried(act);
      return;
    }
    if (await this.isDrawing(place, button)) return;
    acts.push(again);
    const some = await this.apart(this.several(), again);
    await this.together(some, again);
    await this.apart(this.modes.slice(-this.SEVERAL), again);
  },

  /** All that is shown, and can be used. */
  shown() {
    return this.usable(this.SHOWN).filter((element) =>
      element.checkVisibility(),
    );
  },

  /**
   * Use what is shown now, and was not before something was pressed, which shows it `again`, and close what is open.
   * Whether there was anything to use.
   */
  async useMore(before, again) {
    const isMore = (element) => !before.has(element);
    if (!this.shown().some(isMore)) return false;
    const { taken } = this;
    await this.moveAll();
    const push = async (button) => {
      const isThere = () => this.shown().includes(button());
      if (!isThere()) await again(); // as what leads back was pressed
      if (isThere()) await this.push(button);
    };
    const is = (element) => isMore(element) && this.isPressed(element);
    await this.each(this.SHOWN, push, { is, most: this.MOST });
    const opened = this.all("dialog[open], :popover-open").filter(isMore);
    for (const element of opened)
      element.close ? element.close() : element.hidePopover();
    if (opened.length) await this.pause();
    return this.taken > taken;
  },

  /** Press all buttons; those of which there are several, as in each row of a table, may take rows away. */
  async pushAll() {
    const { MOST: most, SHOWN } = this;
    const push = (button) => this.push(button);
    const is = (element) => this.isPressed(element);
    const kinds = new Map();
    for (const present of this.fresh(SHOWN, is)) {
      const kind = present().textContent.replace(/\d+/g, "");
      kinds.set(kind, [...(kinds.get(kind) ?? []), present()]);
    }
    const single = new Set(
      [...kinds.values()].filter(({ length }) => length === 1).flat(),
    );
    await this.each(SHOWN, push, { is: (x) => single.has(x), most });
    await this.each(SHOWN, push, { is, most });
  },

  /** Whether something is drawn on, or dragged. */
  isDragged(element) {
    const ways = ["pointer", "mouse"].flatMap((kind) =>
      ["down", "move", "enter", "over"].map((way) => kind + way),
    );
    return (
      element.matches("canvas, svg:not(svg svg)") ||
      this.hears(element, [...ways, ...this.TOUCHES]) ||
      this.looks(element, /grab|move|resize|crosshair/)
    );
  },

  /**
   * Drag what is in the middle of something, and where much is drawn in other places, too, a little way, and what makes
   * programs, or is moved itself, to all sides; pinch it; and turn the wheel.
   */
  async haul(present) {
    if (this.isOver()) return;
    present().scrollIntoView({ block: "nearest", behavior: "instant" });
    const quarters = [1 / 4, 3 / 4];
    const corners = quarters.flatMap((x) => quarters.map((y) => [x, y]));
    const isWide = present().matches("canvas, svg");
    let isFar = !isWide; // what is moved itself may be anywhere
    for (const [x, y] of [[1 / 2, 1 / 2], ...(isWide ? corners : [])]) {
      const drag = () => this.drag(present, this.middle(present, x, y));
      if (await this.isNew(drag)) isFar = true;
    }
    const middle = this.middle(present);
    if (isFar) await this.drag(present, middle, this.sides(present));
    if (this.isTold(present(), ["pointerdown", "touchstart"]))
      await this.pinch(present);
    if (!this.hears(present(), ["wheel"])) return;
    // two fingers that pinch a touchpad are a wheel, with the key
    for (const ctrlKey of [false, true])
      for (const deltaY of [100, -100]) {
        const more = { ...this.middle(present), deltaY, ctrlKey };
        this.tell(present, WheelEvent, ["wheel"], more);
      }
    await this.pause();
  },

  /** Hit keys that many pages obey, and those that this one names. */
  async play() {
    const arrows = ["Left", "Right", "Up", "Down"].map((way) => `Arrow${way}`);
    const SHORT = { Esc: "Escape", Del: "Delete", Space: " " };
    const named = this.all("kbd")
      .map(({ textContent }) => textContent.replace(/\s/g, ""))
      .map((name) => (name.length === 1 ? name.toLowerCase() : name))
      .filter((name) => /^(.|[A-Z]\w+)$/u.test(name))
      .map((name) => SHORT[name] ?? name);
    const keys = new Set([...arrows, " ", "Enter", ...named]);
    const hitAll = async (present) => {
      for (const key of [...keys].slice(0, this.MOST))
        await this.hit(present, key);
    };
    if (this.isHeard(this.KEYS)) await hitAll(() => document.body);
    const is = (element) => this.hears(element, this.KEYS);
    const { FEW: most, struck: used } = this;
    await this.each("[tabindex], canvas", hitAll, { is, most, used });
  },

  /** Follow links by which the page shows something else. */
  async follow(link) {
    await this.press(link);
    await this.moveAll();
  },

  /** Whether the page can compile anything, as far as that can be seen: what it shows of others takes long. */
  async hasRose() {
    const { isOurs } = globalThis.roseWork;
    const loaded = performance.getEntriesByType("resource");
    return this.count() > 0 || loaded.some(isOurs) || this.loadsMore(loaded);
  },

  /** Whether a script of the page's may load others, Rose perhaps, when something is done. */
  async loadsMore(loaded) {
    const own = loaded
      .map(({ name }) => name)
      .filter((name) => name.startsWith(`${location.origin}/`))
      .filter((name) => /\.m?js(\?.*)?$/.test(name));
    const textOf = async (name) => {
      try {
        return await (await fetch(name)).text();
      } catch {
        return ""; // a policy may forbid it, or the page have its own idea of it
      }
    };
    const inline = [...document.querySelectorAll("script")];
    const texts = await Promise.all([
      ...inline.map(({ textContent }) => textContent),
      ...own.map(textOf),
    ]);
    return texts.some((text) => /\bimport\s*\(|\brose(\.\w+)?\.js/.test(text));
  },

  /** What only pages that can compile something are used for. */
  async actAll() {
    const { MOST: most, SHOWN, BUTTONS, OTHERS } = this;
    const OPENERS = "[role=combobox], [aria-haspopup], [aria-expanded=false]";
    const opener = `:is(${OPENERS}):not(input, select)`;
    await this.each(opener, (x) => this.unfold(x), { most });
    await this.choose(this.OPTIONS);
    const link = "a[href]:not([target], [download])";
    const leads = (x) => this.leadsOn(x);
    await this.each(link, (x) => this.follow(x), { is: leads, most });
    await this.pushAll();
    const dragged = `${SHOWN}:not(${BUTTONS}, ${OTHERS}), canvas, svg`;
    const is = (x) => this.isDragged(x);
    const haul = (x) => this.haul(x);
    await this.each(dragged, haul, { is, most, used: this.dragged });
    const carry = (x) => this.carry(x);
    const { FEW, carried } = this;
    await this.each("[draggable=true]", carry, { most: FEW, used: carried });
    await this.play();
  },

  /**
   * Use all that can be used, and put it back: also what appears meanwhile, but not forever. Whether there is
   * anything that can compile.
   */
  async use() {
    const LATE = 64; // how many may come while others are used
    let rounds = 3;
    do {
      this.taken = 0;
      await this.moveAll();
      const { telling } = this;
      this.telling = [];
      await this.together(telling.slice(0, this.SEVERAL));
      const open = this.fresh("[role=tab]", this.isOn);
      await this.each("[role=tab]", (tab) => this.show(tab));
      for (const tab of open) await this.press(tab);
      await this.each("details:not([open])", (x) => this.peep(x));
      if (await this.hasRose()) await this.actAll();
      this.room = Math.min(this.room, LATE);
    } while (this.taken && --rounds);
    const isOther = (element) => this.isOther(element);
    const left = this.fresh(this.SLIDERS, isOther);
    globalThis.roseWork.left ||= left.length > 0;
    return this.hasRose();
  },
});
