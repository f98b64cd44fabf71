// Run by `rose freeze` in a page, to use it as its readers do, with elements.js, hands.js, inputs.js, together.js and
// use.js: see watch.js for what is noted meanwhile.
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
    const times = [...due.values()].map(({ time }) => time - now);
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

  /** Wait for what a page does by itself once it is there, if that is not much later. */
  async opened() {
    await this.settled(500, 8000);
  },

  /** What an element has by this name: of a form it may be one of its inputs' names, which come first. */
  own(element, name) {
    return Reflect.get(Object.getPrototypeOf(element), name, element);
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

  /** What an element is: its place among others, and what it says of itself that is not of the moment. */
  sign(element) {
    const names = ["id", "name", "type", "min", "max", "step", "role", "href"];
    const own = (at, name) => this.own(at, name);
    const read = own(element, "getAttribute");
    const said = names.map((name) => read.call(element, name));
    const isLeaf = !own(element, "firstElementChild");
    const text = isLeaf ? own(element, "textContent") : "";
    const path = [];
    let at = element;
    for (let around; (around = own(at, "parentElement")); at = around) {
      let place = 0;
      for (let other = at; (other = own(other, "previousElementSibling"));)
        ++place;
      path.push(place);
    }
    const tag = own(element, "tagName");
    return [tag, ...said, ...path, text.replace(/\d+/g, "")].join();
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

  /** The files, in base 64, where they were looked for, and what was not seen or went wrong. */
  async found() {
    const base64 = (file) =>
      new Promise((resolve) => {
        const reader = new FileReader();
        reader.onload = () => resolve(reader.result.split(",", 2)[1]);
        reader.readAsDataURL(new Blob([file]));
      });
    const { roseWork: work } = globalThis;
    const { files, indices, asks, unseen, openings, left, errors } = work;
    const { registered, many, untried } = work;
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
      openings: [...openings].map((opening) => JSON.parse(opening)),
      left,
      many: [...many],
      untried,
      workers: workers.map(({ scope, active }) => [scope, active.scriptURL]),
      errors,
    };
  },
});
