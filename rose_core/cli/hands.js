// Run by `rose freeze` in a page, with elements.js: how hands act on elements, which functions tell.
({
  KEYS: ["keydown", "keyup", "keypress"],
  TOUCHES: ["touchstart", "touchmove", "touchend"],
  /** The numbers of two pointers. */
  FINGERS: [101, 102],
  /** Whether elements may capture these. */
  areCaptured: false,

  /** When the last pause was over. */
  rested: 0,
  /** How often to wait longer than for most, if nothing comes of it. */
  patience: 3,

  /** A page may wait for the end of a movement, and some do so for long. */
  async pause() {
    const moved = performance.now() + 50; // scripts may act a little later
    await this.settled(100, 500);
    const isLate = ({ begun, time }) =>
      begun > this.rested && begun < moved && time < moved + 2000;
    const late = [...globalThis.roseWork.due.values()].filter(isLate);
    if (late.length && this.patience) {
      const last = Math.max(...late.map(({ time }) => time));
      const wait = () => this.wait(last - performance.now());
      const isNew = await this.isNew(() =>
        wait().then(() => this.settled(100, 500)),
      );
      this.patience = isNew ? 3 : this.patience - 1;
    }
    this.rested = performance.now();
  },

  /** The window has another size. */
  async resized() {
    await this.drawn();
    await this.pause();
  },

  /** Whether an element, a document or a window is told of any of these. */
  hears(target, types) {
    const heard = globalThis.roseWork.heard.get(target);
    return types.some(
      (type) => heard?.has(type) || typeof target[`on${type}`] === "function",
    );
  },

  /** Whether an element, or what it is in, is told of any of these. */
  isTold(element, types) {
    for (let place = element; place; place = place.parentElement)
      if (this.hears(place, types)) return true;
    return this.isHeard(types);
  },

  /** Whether the mouse looks so on an element, and not on what is around it. */
  looks(element, cursor) {
    const [own, other] = [element, element.parentElement].map(
      (place) => place && getComputedStyle(place).cursor,
    );
    return own !== other && cursor.test(own);
  },

  /** Have an element tell what happens to it; all but a change leaves shadow roots. Whether nobody prevented the last. */
  tell(present, Kind, types, more) {
    let goesOn = true;
    for (const type of types) {
      const composed = type !== "change";
      const options = { bubbles: true, composed, cancelable: composed };
      const event = new Kind(type, { ...options, ...more });
      goesOn = present().dispatchEvent(event);
    }
    return goesOn;
  },

  /** The mouse, whose pointer is always there, is pressed on an element, moved or let go: in its middle, or elsewhere. */
  point(present, types, more = this.middle(present)) {
    const mouse = { pointerId: 1, pointerType: "mouse", isPrimary: true };
    for (const type of types) {
      const Kind = /^pointer|click/.test(type) ? PointerEvent : MouseEvent;
      const buttons = +type.endsWith("down");
      const all = { ...mouse, view: window, buttons, ...more };
      this.tell(present, Kind, [type], all);
    }
  },

  /** Fingers are put on places in an element, moved there or taken away. */
  touch(present, type, places) {
    const fingers = places.map(({ clientX, clientY }, identifier) => {
      const page = { pageX: clientX + scrollX, pageY: clientY + scrollY };
      const place = { clientX, clientY, ...page };
      return new Touch({ identifier, target: present(), ...place });
    });
    const touches = type === "touchend" ? [] : fingers;
    const more = { touches, targetTouches: touches, changedTouches: fingers };
    this.tell(present, TouchEvent, [type], { ...more, view: window });
  },

  /** A place in an element, by shares of its width and height. */
  middle(present, across = 1 / 2, down = 1 / 2) {
    const { x, y, width, height } = present().getBoundingClientRect();
    return { clientX: x + across * width, clientY: y + down * height };
  },

  /** Press an element, and let it go. */
  async press(present) {
    if (this.hears(present(), this.TOUCHES))
      for (const type of ["touchstart", "touchend"])
        this.touch(present, type, [this.middle(present)]);
    this.point(present, ["pointerdown", "mousedown", "pointerup", "mouseup"]);
    if (present().click) present().click();
    else this.point(present, ["click"]); // of what is drawn as SVG
    await this.pause();
  },

  /** Press an element once, and twice if that is heard. */
  async click(present) {
    await this.press(present);
    if (!this.hears(present(), ["dblclick"])) return;
    this.point(present, ["dblclick"]);
    await this.pause();
  },

  /** Places on a little way from one. */
  near({ clientX, clientY }) {
    const steps = [1, 2, 3, 4];
    return steps.map((k) => ({
      clientX: clientX + 5 * k,
      clientY: clientY + 3 * k,
    }));
  },

  /** Places on the way from the middle of an element across what it is in, to both ends, and down that, and back. */
  sides(present) {
    const { FEW } = this;
    const start = this.middle(present);
    const around = present().parentElement ?? present();
    const { left, right, top, bottom } = around.getBoundingClientRect();
    const way = (axis, low, high) => {
      const at = start[axis];
      const goals = [at, low, high, at];
      const steps = Array.from({ length: FEW }, (_, k) => (k + 1) / FEW);
      return goals.slice(1).flatMap((goal, k) =>
        steps.map((share) => ({
          ...start,
          [axis]: goals[k] + share * (goal - goals[k]),
        })),
      );
    };
    return [
      ...way("clientX", Math.max(left, 0), Math.min(right, innerWidth)),
      ...way("clientY", Math.max(top, 0), Math.min(bottom, innerHeight)),
    ];
  },

  /** Come to a place in an element with the mouse, click there, and drag what is there to others; then by finger. */
  async drag(present, start, places = this.near(start)) {
    const { clientX: x, clientY: y } = start;
    const top = present().getRootNode().elementFromPoint?.(x, y);
    // what is held hears all until it is let go, and those around it do
    const CONTROLS = "button, a, input, select, textarea, label, summary";
    const isIn = present().contains(top) && !top.closest(CONTROLS);
    const target = () => (isIn && top.isConnected ? top : present());
    this.point(target, ["pointerover", "mouseover"], start);
    this.point(present, ["pointerenter", "mouseenter"], start);
    this.point(target, ["pointermove", "mousemove"], start);
    const [DOWN, UP] = [
      ["pointerdown", "mousedown"],
      ["pointerup", "mouseup"],
    ];
    this.point(target, [...DOWN, ...UP, "click"], start);
    this.point(target, DOWN, start);
    let place = start;
    await this.lead(places, (next) => {
      const movementX = next.clientX - place.clientX;
      const movementY = next.clientY - place.clientY;
      place = next;
      const more = { ...place, movementX, movementY, buttons: 1 };
      this.point(target, ["pointermove", "mousemove"], more);
    });
    this.point(target, [...UP, "dblclick", "contextmenu"], place);
    await this.pause();
    if (!this.isTold(target(), this.TOUCHES)) return;
    this.touch(target, "touchstart", [start]);
    await this.lead(places, (next) => this.touch(target, "touchmove", [next]));
    this.touch(target, "touchend", [place]);
    await this.pause();
  },

  /** Two fingers do the same to an element. */
  pair(present, [pointer, touch], places) {
    places.forEach((place, k) => {
      const finger = { pointerId: this.FINGERS[k], pointerType: "touch" };
      const buttons = +(pointer !== "pointerup");
      const more = { ...place, ...finger, isPrimary: !k, buttons };
      this.point(present, [pointer], more);
    });
    if (this.isTold(present(), this.TOUCHES))
      this.touch(present, touch, places);
  },

  /** Put two fingers on an element, and move them apart, then together, then around each other. */
  async pinch(present) {
    this.letCapture();
    const { width, height } = present().getBoundingClientRect();
    const unit = Math.min(width, height) / 10;
    for (const [goal, turn] of [
      [4, 0],
      [1, 0],
      [2, Math.PI / 4],
    ]) {
      const { clientX, clientY } = this.middle(present);
      const at = (share) => {
        const distance = unit * (2 + share * (goal - 2));
        const x = distance * Math.cos(share * turn);
        const y = distance * Math.sin(share * turn);
        return [
          { clientX: clientX - x, clientY: clientY - y },
          { clientX: clientX + x, clientY: clientY + y },
        ];
      };
      this.pair(present, ["pointerdown", "touchstart"], at(0));
      await this.lead([1 / 3, 2 / 3, 1], (share) =>
        this.pair(present, ["pointermove", "touchmove"], at(share)),
      );
      this.pair(present, ["pointerup", "touchend"], at(1));
      await this.pause();
    }
  },

  /** Have elements capture these fingers, too, of which the engine knows nothing. */
  letCapture() {
    const { FINGERS } = this;
    if (this.areCaptured) return;
    this.areCaptured = true;
    for (const name of ["setPointerCapture", "releasePointerCapture"]) {
      const act = Element.prototype[name];
      Element.prototype[name] = function (id) {
        if (!FINGERS.includes(id)) act.call(this, id);
      };
    }
  },

  /** Move what is held to one place after the other. */
  async lead(places, move) {
    for (const place of places) {
      move(place);
      await this.drawn(); // many wait for that
      // what is overtaken may be given up
      if (globalThis.roseWork.pending) await this.settled(100, 500);
    }
  },

  /** Carry what is `draggable` to all places that take it, to those around it last. */
  async carry(present) {
    const hears = (place) => this.hears(place, ["dragover", "drop"]);
    const [around, others] = [true, false].map((isAround) =>
      this.all("body, body *").filter(
        (place) => hears(place) && place.contains(present()) === isAround,
      ),
    );
    for (const place of [...others, ...around].slice(0, this.FEW)) {
      if (this.isOver() || !place.isConnected) continue;
      const dataTransfer = new DataTransfer();
      const tell = (target, types) =>
        this.tell(target, DragEvent, types, {
          ...this.middle(target),
          dataTransfer,
        });
      const there = () => place;
      if (!tell(present, ["dragstart"])) continue;
      tell(present, ["drag"]);
      const isTaken = !tell(there, ["dragenter", "dragover"]);
      await this.drawn(); // many wait for that
      tell(there, isTaken ? ["drop"] : ["dragleave"]);
      tell(present, ["dragend"]);
      await this.pause();
    }
  },

  /** Hit a key where an element is. */
  async hit(present, key) {
    present().focus?.();
    const code = key
      .replace(/^[a-z]$/, (letter) => `Key${letter.toUpperCase()}`)
      .replace(/^\d$/, "Digit$&")
      .replace(" ", "Space");
    const more = { key, code };
    this.tell(present, KeyboardEvent, ["keydown", "keyup"], more);
    await this.pause();
  },

  /** Move a slider that scripts have made, by the keys that it obeys: to its ends and up from there, and back. */
  async strike(present) {
    this.struck.add(present());
    const valueOf = (name, other) => {
      this.reflect();
      return +(present().getAttribute(`aria-value${name}`) ?? other);
    };
    const hit = (key) => this.hit(present, key);
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
    await go(valueOf("min", 0), this.FEW);
    await go(valueOf("max", 100), this.FEW);
    await go(before, this.MOST);
  },

  /** Whether the page as a whole is told of any of these, wherever they happen. */
  isHeard(types) {
    return [globalThis, document, document.body].some((place) =>
      this.hears(place, types),
    );
  },

  /** Whether a link leads to the page itself, and to no place in it: a script is to show something else then. */
  leadsOn({ href, hash }) {
    if (typeof href !== "string") return false; // in SVG
    const [own, its] = [document.URL, href].map((url) => url.split("#")[0]);
    if (own !== its)
      return (
        own.split("?")[0] === its.split("?")[0] ||
        // which may show all of a site's pages
        (new URL(its).origin === location.origin && this.isHeard(["click"]))
      );
    const name = hash.slice(1);
    const isPlace = ({ id }) => [id, encodeURIComponent(id)].includes(name);
    return name && name !== "top" && !this.all("[id]").some(isPlace);
  },
});
