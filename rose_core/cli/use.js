// Run by `rose freeze` in a page, to use it as its readers do: see watch.js for what is noted meanwhile.
({
  /** Begin one of the actions, whose end is told by its number. */
  begin(action, number) {
    const { roseEnd } = globalThis;
    this[action]().then(
      (value) => roseEnd(number, { value }),
      (error) => roseEnd(number, { error: error?.message ?? `${error}` }),
    );
  },

  /** Milliseconds go by, which nobody waits for as for something due. */
  wait(time) {
    const { later } = globalThis.roseWork;
    return new Promise((wake) => later(wake, time));
  },

  /** Whether the page has started Python. */
  async started() {
    return globalThis.roseWork.started;
  },

  /** Wait until nothing has been under way for a while, and for what is due soon, in milliseconds. */
  async settled(quiet = 500, soon = 2000) {
    const { due } = globalThis.roseWork;
    const now = performance.now();
    const times = [...due.values()].map((time) => time - now);
    await this.wait(Math.max(0, ...times.filter((time) => time <= soon)));
    // a page may go on with what is known for ever: that it does so without anything new is waited for once
    const enough = 5000;
    const step = 20;
    const { roseWork: work } = globalThis;
    work.news ??= performance.now();
    let calm = 0;
    for (let still = 0; still < quiet; still += step) {
      await this.wait(step);
      calm = work.pending ? 0 : calm + step;
      if (work.fresh || calm >= quiet) work.news = performance.now();
      if (work.pending && performance.now() - work.news < enough) still = 0;
    }
  },

  /** A document or shadow, and what is hidden in its elements. */
  roots(root) {
    const inner = [...root.querySelectorAll("*")]
      .filter(({ shadowRoot }) => shadowRoot)
      .flatMap(({ shadowRoot }) => this.roots(shadowRoot));
    return [root, ...inner];
  },

  /** What elements say of themselves in their internals alone, write on them, where it is looked for. */
  reflect() {
    for (const [host, { internals, names }] of globalThis.roseWork.internals)
      for (const key in internals) {
        const name = key.toLowerCase().replace("aria", "aria-");
        const isOurs = names.has(name) || !host.hasAttribute(name);
        if (!/^(role|aria-)/.test(name) || !isOurs) continue;
        if (typeof internals[key] !== "string") continue;
        names.add(name);
        host.setAttribute(name, internals[key]);
      }
  },

  /** All elements that are there, also in what is closed. */
  all(selector) {
    this.reflect();
    const { shadows } = globalThis.roseWork;
    const closed = [...shadows].filter(({ host }) => host.isConnected);
    const places = [document, ...closed].flatMap((root) => this.roots(root));
    return [...new Set(places)].flatMap((root) => [
      ...root.querySelectorAll(selector),
    ]);
  },

  /** Who observes what is in view is told after the next frame. */
  async drawn() {
    for (let k = 0; k < 2; ++k)
      await Promise.race([
        new Promise((wake) => requestAnimationFrame(wake)),
        this.wait(1000), // a browser that is too busy may draw nothing for long
      ]);
  },

  /** Show all of the page once, to the end, and of what scrolls in it: some may not be there before it is seen. */
  async scroll() {
    const page = document.scrollingElement ?? document.documentElement;
    globalThis.frameElement?.scrollIntoView({ behavior: "instant" });
    const scrolls = (box) => {
      const { scrollHeight, clientHeight, scrollWidth, clientWidth } = box;
      if (scrollHeight <= clientHeight && scrollWidth <= clientWidth)
        return false;
      const { overflow } = getComputedStyle(box);
      return clientHeight > 0 && /auto|scroll/.test(overflow);
    };
    // texts hold nothing that waits to be seen
    const inner = this.all(":not(pre, textarea)").filter(scrolls);
    const isLong = page.scrollHeight > page.clientHeight;
    const boxes = new Set([...(isLong ? [page] : []), ...inner]);
    if (!boxes.size) return;
    const loads = [...document.querySelectorAll("iframe[loading=lazy]")]
      .filter(({ contentDocument }) => contentDocument?.URL === "about:blank")
      .map(
        (frame) => new Promise((wake) => frame.addEventListener("load", wake)),
      );
    const MOST = 400; // places in one box
    const behavior = "instant";
    for (const box of boxes) {
      if (box !== page) box.scrollIntoView({ block: "nearest", behavior });
      const isLeftwards = getComputedStyle(box).direction === "rtl";
      const show = async (side, size, view) => {
        // what is told of the middle of a view is to have been there
        const step = Math.max(view / 4, size / MOST);
        const sign = side === "left" && isLeftwards ? -1 : 1;
        for (let at = 0; at < size; at += step) {
          box.scrollTo({ [side]: sign * at, behavior });
          await this.drawn();
          // what is overtaken may be given up
          if (globalThis.roseWork.pending) await this.settled(100, 500);
        }
        box.scrollTo({ [side]: 0, behavior });
      };
      await show("top", box.scrollHeight, box.clientHeight);
      if (box.scrollWidth > box.clientWidth)
        await show("left", box.scrollWidth, box.clientWidth);
    }
    for (const box of [page, ...boxes]) box.scrollTo({ top: 0, behavior });
    await this.drawn();
    // a frame that is not displayed never loads
    await Promise.race([Promise.all(loads), this.wait(2000)]);
    await this.settled();
  },

  /** Do what the page's own warm-up does; false if it has none. */
  async warmUp() {
    const scripts = [...document.querySelectorAll("script[type=module][src]")];
    // what cannot be imported was told when the page was opened
    const modules = await Promise.all(
      scripts
        .map((script) => globalThis.roseWork.modules.get(script) ?? script.src)
        .map((address) => import(address).catch(() => ({}))),
    );
    const found = [globalThis, ...modules].map(({ warmUp }) => warmUp);
    const functions = found.filter((f) => typeof f === "function");
    const inline = [
      ...document.querySelectorAll("script[type=module]:not([src])"),
    ];
    const WARM_UP = /(^|[;}])\s*export\b[^;=(]*\bwarmUp\b/m;
    if (!functions.length && inline.some(({ text }) => WARM_UP.test(text)))
      globalThis.roseWork.errors.push(
        "a script in it exports warmUp, which nobody can import: " +
          "write globalThis.warmUp = warmUp there, or make a file of that script",
      );
    for (const f of functions) await f();
    return functions.length > 0;
  },

  /** Move what can be moved, and put it back: also what appears meanwhile, but not forever. */
  async use() {
    const used = new WeakSet();
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
    /** A page may wait for the end of a movement. */
    const pause = () => this.settled(100, 500);
    /** Have an element tell what happens to it; all but a change leaves shadow roots. */
    const tell = (present, Kind, types, more) => {
      for (const type of types) {
        const composed = type !== "change";
        const options = { bubbles: true, composed, cancelable: composed };
        present().dispatchEvent(new Kind(type, { ...options, ...more }));
      }
    };
    /** The mouse, whose pointer is always there, is pressed on an element, and let go. */
    const point = (present, ...types) => {
      const { x, y, width, height } = present().getBoundingClientRect();
      const place = { clientX: x + width / 2, clientY: y + height / 2 };
      const mouse = { pointerId: 1, pointerType: "mouse", isPrimary: true };
      tell(present, PointerEvent, types, { ...mouse, ...place });
    };
    const turn = async (present, key, values) => {
      const before = present()[key];
      // as it comes with the element: libraries put their own in front of it, to know what is new
      const { set } = Object.getOwnPropertyDescriptor(
        Object.getPrototypeOf(present()),
        key,
      );
      // by which sliders are held
      const isHeld = present().type === "range";
      const give = async (value) => {
        if (isHeld) point(present, "pointerdown", "mousedown");
        const element = present();
        set.call(element, value);
        // a choice that nobody can make may have been made at first
        if (value === before && element.selectedOptions?.[0]?.disabled) return;
        tell(present, Event, ["input"]);
        if (isHeld) point(present, "pointerup", "mouseup");
        tell(present, Event, ["change"]);
        if (isHeld) point(present, "click");
        await pause();
      };
      for (const value of values) await give(value);
      await give(before);
    };
    const FEW = 10;
    const MOST = 50;
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
        await act(present);
      }
    };
    const press = async (present) => {
      point(present, "pointerdown", "mousedown", "pointerup", "mouseup");
      if (present().click) present().click();
      else point(present, "click"); // of what is drawn as SVG
      await pause();
    };
    /** Whether something is chosen, or switched on. */
    const isOn = ({ checked, ariaChecked, ariaSelected, ariaPressed }) =>
      checked || [ariaChecked, ariaSelected, ariaPressed].includes("true");
    /** Press some that may switch each other off, and those last that were on. */
    const choose = async (selector, twice) => {
      const chosen = fresh(selector, isOn);
      await each(selector, async (present) => {
        await press(present);
        if (twice) await press(present);
      });
      for (const present of chosen) if (!isOn(present())) await press(present);
    };
    const INPUTS = "input[type=range], input[type=number]";
    const move = async () => {
      await each(INPUTS, async (present) => {
        const input = present();
        const bounds = [input.min, input.max].filter((x) => x !== "");
        if (input.type === "number" && bounds.length < 2) {
          if (bounds.length) await turn(present, "value", bounds);
          return;
        }
        const low = +(input.min || 0);
        const high = +(input.max || 100);
        const step = input.step === "any" ? 0 : +(input.step || 1);
        // 0.3 is three steps of 0.1, which is a little more than a third of it
        const steps = Math.floor((high - low) / step + 1e-6);
        /** As readers come to it: three steps of 0.1 are 0.3, and no more. */
        const after = (k) => +(low + k * step).toPrecision(12);
        const middle =
          step > 0 ? after(Math.round(steps / 2)) : (low + high) / 2;
        // where there are few, each may be a program of its own
        const positions =
          steps > 0 && steps <= FEW
            ? Array.from({ length: steps + 1 }, (_, k) => after(k))
            : [low, middle, high];
        await turn(present, "value", positions);
      });
      const MADE = ":is([role=slider], [role=spinbutton])[aria-valuenow]";
      await each(`${MADE}:not(input)`, strike);
      await each("select", (present) => {
        const options = [...present().options];
        const open = options.flatMap(({ disabled }, k) => (disabled ? [] : k));
        return turn(present, "selectedIndex", open);
      });
      await choose("input[type=radio], [role=radio]:not(input)");
      const BOXES = "[role=checkbox], [role=switch], [aria-pressed]";
      await choose(`input[type=checkbox], :is(${BOXES}):not(input)`, true);
    };
    /** Move a slider that scripts have made, by the keys that it obeys: to its ends and up from there, and back. */
    const strike = async (present) => {
      const valueOf = (name, other) => {
        this.reflect();
        return +(present().getAttribute(`aria-value${name}`) ?? other);
      };
      const hit = async (key) => {
        present().focus();
        const more = { key, code: key };
        tell(present, KeyboardEvent, ["keydown", "keyup"], more);
        await pause();
      };
      /** Until it is there, or comes no nearer; of which keys lead there, scripts differ. */
      const go = async (goal, most) => {
        const keys =
          valueOf("now") < goal
            ? ["ArrowRight", "ArrowUp"]
            : ["ArrowLeft", "ArrowDown"];
        for (const key of keys) {
          let last = Infinity;
          for (; most > 0; --most) {
            const left = Math.abs(valueOf("now") - goal);
            if (!left || left >= last) break;
            last = left;
            await hit(key);
          }
        }
      };
      const before = valueOf("now");
      await hit("End");
      await hit("Home");
      await go(valueOf("min", 0), FEW);
      await go(valueOf("max", 100), FEW);
      await go(before, MOST);
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
      if (!options.length) await move();
      if (isOpen()) await press(opener);
    };
    /** Whether a link leads to the page itself, and to no place in it: a script is to show something else then. */
    const leadsOn = ({ href, hash }) => {
      if (typeof href !== "string") return false; // in SVG
      const [own, its] = [document.URL, href].map((url) => url.split("#")[0]);
      if (own !== its) return own.split("?")[0] === its.split("?")[0];
      const name = hash.slice(1);
      const isPlace = ({ id }) => [id, encodeURIComponent(id)].includes(name);
      return name && name !== "top" && !this.all("[id]").some(isPlace);
    };
    const LINKS = "a[href]:not([target], [download])";
    const follow = async (link) => {
      await press(link);
      await move();
    };
    const { roseWork: work } = globalThis;
    /** Whether the page can compile anything, as far as that can be seen: what it shows of others takes long. */
    const hasRose = () =>
      Object.keys(work.files).length > 0 ||
      performance.getEntriesByType("resource").some(work.isOurs);
    do {
      found = 0;
      await move();
      const open = fresh("[role=tab]", isOn);
      await each("[role=tab]", async (tab) => {
        await press(tab);
        await reveal(tab);
        await move(); // what is only there as long as this is open
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
        await each(LINKS, follow, { is: leadsOn, most: MOST });
      }
      room = Math.min(room, LATE);
    } while (found && --rounds);
    work.left ||= fresh(INPUTS).length > 0;
  },

  /** The files, in base 64, where they were looked for, and what was not seen or went wrong. */
  async found() {
    const base64 = (file) =>
      new Promise((resolve) => {
        const reader = new FileReader();
        reader.onload = () => resolve(reader.result.split(",", 2)[1]);
        reader.readAsDataURL(new Blob([file]));
      });
    const { files, indices, asks, unseen, turns, left, errors, registered } =
      globalThis.roseWork;
    const workers = [...(registered?.values() ?? [])];
    const entries = Object.entries(files).map(async ([key, file]) => [
      key,
      await base64(file),
    ]);
    return {
      files: await Promise.all(entries),
      indices: [...indices],
      asks,
      unseen: [...unseen],
      turns: [...turns],
      left,
      workers: workers.map(({ scope, active }) => [scope, active.scriptURL]),
      errors,
    };
  },
});
