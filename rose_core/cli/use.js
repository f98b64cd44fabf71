// Run by `rose freeze` in a page, with page.js: what there is to be used on it, and how.
({
  /**
   * Move what can be moved, and put it back: also what appears meanwhile, but not forever. Whether there is anything
   * that can compile.
   */
  async use() {
    const { roseWork: work } = globalThis;
    const used = new WeakSet();
    /** What these were, as far as it can be told of what takes their places when a page draws itself anew. */
    const seen = new Set();
    /** What can be moved. */
    const all = (selector) =>
      this.all(selector).filter(
        (element) =>
          !element.matches(":disabled, [aria-disabled=true]") &&
          !element.readOnly,
      );
    /**
     * Of what was not moved before, and `is` as wanted: functions that each tell an element, or what takes its
     * place whenever the page draws itself anew.
     */
    const fresh = (selector, is = () => true) => {
      const before = all(selector);
      const present = (element, place) => () => {
        if (element.isConnected) return element;
        const now = all(selector);
        const named = now.find(({ id }) => id && id === element.id);
        const next = named ?? (now.length === before.length && now[place]);
        if (next) element = next;
        used.add(element);
        return element;
      };
      return before.flatMap((element, place) =>
        !used.has(element) && is(element) ? present(element, place) : [],
      );
    };
    const pause = () => this.pause();
    const press = (present) => this.press(present);
    /** What has been found so far that is moved: see together.js. */
    const controls = [];
    /** Of these, what makes the page compile something by itself, and was not moved together with others. */
    let telling = [];
    /** How many are moved again when something else has changed. */
    const SEVERAL = 8;
    /** Bring a control to its states, and back. Of how many of them something is compiled that was not before. */
    const move = async (control) => {
      const { states, home } = control;
      let found = 0;
      for (const state of states) found += await this.isNew(state);
      // where it was may be new the first time, too; who compiles something new each time does so with all others
      let isSteady = !(await this.isNew(home));
      if (found && !isSteady) {
        await states.at(-1)();
        isSteady = !(await this.isNew(home));
      }
      if (states.length) controls.push(control);
      if (found && isSteady) telling.push(control);
      return found;
    };
    /** What gives a control a value, and tells the page. */
    const giving = (present, key) => {
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
        await pause();
      };
    };
    /** Give a control values, and that which it had. */
    const turn = (present, key, values) => {
      const before = present()[key];
      const give = giving(present, key);
      const others = values.filter((value) => `${value}` !== `${before}`);
      const states = others.map((value) => () => give(value));
      return move({ present, states, home: () => give(before) });
    };
    const FEW = 10;
    const MOST = 50;
    /** How many positions of a slider are tried, if each seems to make a program of its own. */
    const ALL = 128;
    /** How many may come while others are used. */
    const LATE = 64;
    let [found, rounds, room] = [0, 3, Infinity];
    /** Do something to each that it was not done to before; `act` is given what tells it. */
    const each = async (selector, act, { is, most = Infinity } = {}) => {
      const elements = fresh(selector, is).slice(0, Math.min(room, most));
      found += elements.length;
      room -= elements.length;
      for (const present of elements) {
        used.add(present());
        seen.add(this.sign(present()));
        await act(present);
      }
    };
    /** Whether something is chosen, or switched on. */
    const isOn = ({ checked, ariaChecked, ariaSelected, ariaPressed }) =>
      checked || [ariaChecked, ariaSelected, ariaPressed].includes("true");
    /** Press those that are not on, of these. */
    const pressAll = async (chosen) => {
      for (const present of chosen) if (!isOn(present())) await press(present);
    };
    /** Press some that may switch each other off, and those last that were on. */
    const choose = async (selector) => {
      const chosen = fresh(selector, isOn);
      await each(selector, press);
      await pressAll(chosen);
    };
    /** Press what is on or off, and once more. */
    const flip = async (selector) => {
      const chosen = fresh(selector, isOn);
      await each(selector, (present) => {
        const was = isOn(present());
        const home = async () => {
          await press(present);
          // of those that switch each other off
          if (isOn(present()) !== was) await pressAll(chosen);
        };
        return move({ present, states: [() => press(present)], home });
      });
    };
    /** Choose each of those that belong together. */
    const pick = async (selector) => {
      const groups = new Map();
      await each(selector, (present) => {
        const { name, form } = present();
        const key = name || present().closest("[role=radiogroup]") || form;
        groups.set(key, [...(groups.get(key) ?? []), present]);
      });
      for (const group of groups.values()) {
        const chosen = group.filter((present) => isOn(present()));
        const others = group.filter((present) => !chosen.includes(present));
        const states = others.map((present) => () => press(present));
        await move({
          present: group[0],
          states,
          home: () => pressAll(chosen),
        });
      }
    };
    const INPUTS = "input:is([type=range], [type=number])";
    /** Move a slider, or a field of numbers. */
    const slide = async (present) => {
      const input = present();
      const { min, max, type, value } = input;
      const step = input.step === "any" ? 0 : +(input.step || 1);
      if (type === "number" && !(min && max)) {
        const near = ["stepUp", "stepDown"].flatMap((way) => {
          const copy = input.cloneNode();
          copy.value = value;
          if (step && value) copy[way]();
          return copy.value || [];
        });
        const values = [...[min, max].filter((x) => x !== ""), ...near];
        await turn(present, "value", [...new Set(values)]);
        return;
      }
      const low = +(min || 0);
      const high = +(max || 100);
      // 0.3 is three steps of 0.1, which is a little more than a third of it
      const steps = step && Math.floor((high - low) / step + 1e-6);
      /** As readers come to it: three steps of 0.1 are 0.3, and no more. */
      const after = (k) => +(low + k * step).toPrecision(12);
      const middle = step ? after(Math.round(steps / 2)) : (low + high) / 2;
      // where there are few, each may be a program of its own
      const positions = Array.from({ length: steps + 1 }, (_, k) => after(k));
      const isFew = steps > 0 && steps <= FEW;
      const tried = isFew ? positions : [low, middle, high];
      const others = new Set(tried.filter((x) => x !== +value)).size;
      const isEach = (await turn(present, "value", tried)) === others;
      if (isFew || !isEach || !others) return;
      const control = controls.pop();
      telling = telling.filter((other) => other !== control);
      if (steps > 0 && steps < ALL) await turn(present, "value", positions);
      else work.many.add(input.id || input.name || input.type);
    };
    /** Fields of which one value is enough to know what the page does with any. */
    const FIELDS =
      "input:is([type=color], [type=date], [type=time], [type=datetime-local], [type=month], [type=week])";
    const fill = (present) => {
      const copy = present().cloneNode();
      if (copy.type === "color") copy.value = "#336699";
      else copy.stepUp();
      return turn(present, "value", [copy.value]);
    };
    const TEXTS =
      "input:is(:not([type]), [type=text], [type=search]), textarea, [contenteditable=true], [contenteditable='']";
    /** What is typed, nobody knows; but that something is, or which of the values that are offered. */
    const type = async (present) => {
      present().focus();
      this.tell(present, InputEvent, ["input"]);
      this.tell(present, Event, ["change"]);
      const { list } = present();
      if (list) {
        const values = [...list.options].map(({ value }) => value);
        await turn(present, "value", values.slice(0, MOST));
      }
      const KEYS = ["keydown", "keyup", "keypress"];
      if (this.hears(present(), KEYS)) await this.hit(present, "Enter");
      else await pause();
      present().blur();
    };
    const moveAll = async () => {
      await each(INPUTS, slide);
      const MADE = ":is([role=slider], [role=spinbutton])[aria-valuenow]";
      await each(`${MADE}:not(input)`, (present) => this.strike(present));
      await each("select:not([multiple])", (present) => {
        const options = [...present().options];
        const open = options.flatMap(({ disabled }, k) => (disabled ? [] : k));
        return turn(present, "selectedIndex", open);
      });
      await each("select[multiple] option", (option) => {
        const flipped = async () => {
          option().selected = !option().selected;
          this.tell(() => option().closest("select"), Event, [
            "input",
            "change",
          ]);
          await pause();
        };
        return move({ present: option, states: [flipped], home: flipped });
      });
      await pick("input[type=radio], [role=radio]:not(input)");
      const BOXES = "[role=checkbox], [role=switch], [aria-pressed]";
      await flip(`input[type=checkbox], :is(${BOXES}):not(input)`);
      await each(FIELDS, fill);
      await each(TEXTS, type, { most: MOST });
    };
    /** Show what an element opens. */
    const reveal = async (present) => {
      present().scrollIntoView({ behavior: "instant" });
      await this.drawn();
      await pause();
    };
    const OPTIONS = ":is([role=option], [role=menuitemradio]):not(option)";
    const OPENERS =
      ":is([role=combobox], [aria-haspopup], [aria-expanded=false]):not(input, select)";
    /** Open a menu, or what else scripts have made that opens, choose and move all that is in it, and close it. */
    const unfold = async (opener) => {
      let options = [];
      const isOpen = () =>
        opener().ariaExpanded
          ? opener().ariaExpanded === "true"
          : options.some((option) => option().checkVisibility());
      const open = async () => {
        if (!isOpen()) await press(opener);
      };
      await open();
      await reveal(opener);
      options = fresh(OPTIONS).slice(0, room);
      const chosen = options.filter((option) => isOn(option()));
      for (const option of [...options, ...chosen]) {
        await open(); // to choose may close it
        await press(option);
      }
      if (!options.length) await moveAll();
      if (isOpen()) await press(opener);
    };
    const LINKS = "a[href]:not([target], [download])";
    const follow = async (link) => {
      await press(link);
      await moveAll();
    };
    const SHOWN = "*:not(html, body, head, head *, script, style)";
    const BUTTONS =
      "button, input:is([type=button], [type=submit], [type=reset]), [role=button]";
    const OTHERS =
      "a, summary, label, input, select, textarea, option, canvas, svg";
    /** What is pressed: buttons, and what hears that, and is nothing that others are in. */
    const isPressed = (element) =>
      !seen.has(this.sign(element)) &&
      element.checkVisibility() &&
      (element.matches(BUTTONS) ||
        (!element.querySelector(`${BUTTONS}, ${OTHERS}`) &&
          (this.hears(element, ["click", "dblclick"]) ||
            (!element.matches("a") && this.looks(element, /pointer/)))));
    /** What is open above the page. */
    const opened = () => this.all("dialog[open], :popover-open");
    /** Of places where something is drawn, or put together, with all that is there, nobody knows what comes of it. */
    const drawings = new Set();
    const pressed = new Map();
    /** Whether that is such a place: of buttons next to each other, the last pressed is not all that matters. */
    const isDrawing = async (place, button) => {
      const others = pressed.get(place) ?? [];
      pressed.set(place, [...others, button]);
      if (others.length !== 3) return false;
      const isSo = await this.isNew(() =>
        press(others[0]).then(() => press(button)),
      );
      if (isSo) drawings.add(place);
      return isSo;
    };
    /** How often a button is pressed, if the page goes on with each. */
    const OFTEN = 4;
    /** Press a button, use what opens by that, and see what controls do then. */
    const push = async (button) => {
      const { parentElement } = button();
      const kin = parentElement && this.sign(parentElement);
      if (this.isOver() || drawings.has(kin)) return;
      const before = opened();
      const isNew = () => this.isNew(() => press(button));
      const told = await isNew();
      if (opened().some((element) => !before.includes(element))) {
        await moveAll();
        await each(SHOWN, push, { is: isPressed, most: MOST });
        for (const element of opened())
          if (!before.includes(element))
            element.close ? element.close() : element.hidePopover();
        await pause();
      }
      if (!told) return;
      if (await isDrawing(kin, button)) return;
      for (let k = 2; k <= OFTEN && button().isConnected; ++k)
        if (!(await isNew())) break;
      const again = () => press(button);
      const some = await this.apart(controls.slice(0, SEVERAL), again);
      await this.together(some, again);
    };
    /** Whether the page can compile anything, as far as that can be seen: what it shows of others takes long. */
    const hasRose = () =>
      this.count() > 0 ||
      performance.getEntriesByType("resource").some(work.isOurs);
    const WAYS = "pointer mouse"
      .split(" ")
      .flatMap((kind) =>
        "down move enter over".split(" ").map((way) => kind + way),
      );
    /** What is drawn on, or dragged. */
    const isDragged = (element) =>
      element.matches("canvas, svg:not(svg svg)") ||
      this.hears(element, WAYS) ||
      this.looks(element, /grab|move|resize|crosshair/);
    const DRAGGED = `${SHOWN}:not(${BUTTONS}, ${OTHERS}), canvas, svg`;
    const drag = async (present) => {
      present().scrollIntoView({ block: "nearest", behavior: "instant" });
      const isWide = present().matches("canvas, svg");
      if (this.isOver()) return;
      const places = isWide
        ? [
            [1, 1],
            [3, 1],
            [1, 3],
            [3, 3],
          ]
        : [];
      for (const [x, y] of [[2, 2], ...places])
        await this.drag(present, this.middle(present, x / 4, y / 4));
      if (!this.hears(present(), ["wheel"])) return;
      for (const deltaY of [100, -100])
        this.tell(present, WheelEvent, ["wheel"], {
          ...this.middle(present),
          deltaY,
        });
      await pause();
    };
    /** Hit keys that many pages obey, and those that this one names. */
    const play = async () => {
      const KEYS = ["keydown", "keyup", "keypress"];
      const named = this.all("kbd").map(({ textContent }) =>
        textContent.trim(),
      );
      const keys = [
        "ArrowLeft",
        "ArrowRight",
        "ArrowUp",
        "ArrowDown",
        " ",
        "Enter",
      ];
      const hitAll = async (present) => {
        for (const key of new Set([
          ...keys,
          ...named.filter(({ length }) => length === 1),
        ]))
          await this.hit(present, key);
      };
      if (this.isHeard(KEYS)) await hitAll(() => document.body);
      await each("[tabindex], canvas", hitAll, {
        is: (element) => this.hears(element, KEYS),
        most: FEW,
      });
    };
    do {
      found = 0;
      await moveAll();
      await this.together(telling.slice(0, SEVERAL));
      telling = [];
      const open = fresh("[role=tab]", isOn);
      await each("[role=tab]", async (tab) => {
        const isNew = await this.isNew(() => press(tab));
        await reveal(tab);
        await moveAll(); // what is only there as long as this is open
        if (isNew)
          await this.together(await this.apart(controls.slice(0, SEVERAL)));
      });
      for (const tab of open) await press(tab);
      await each("details:not([open])", async (present) => {
        present().open = true;
        await reveal(present);
        present().open = false;
      });
      if (hasRose()) {
        await each(OPENERS, unfold, { most: MOST });
        await choose(OPTIONS);
        await each(LINKS, follow, {
          is: (link) => this.leadsOn(link),
          most: MOST,
        });
        await each(SHOWN, push, { is: isPressed, most: MOST });
        await each(DRAGGED, drag, { is: isDragged, most: MOST });
        await play();
      }
      room = Math.min(room, LATE);
    } while (found && --rounds);
    const isOther = (element) => !seen.has(this.sign(element));
    work.left ||= fresh(INPUTS, isOther).length > 0;
    return hasRose();
  },
});
