// Run by `rose freeze` in a page, to see what the page compiles.
({
  /** Before the page's own scripts: keep what is compiled, count what is under way, and tell what goes wrong. */
  watch() {
    const work = { pending: 0, started: false, files: {}, errors: [] };
    work.indices = new Set();
    work.asks = false; // in the page itself
    work.unseen = new Set();
    work.turns = new Set(); // what else the page would show at addresses of its own
    globalThis.roseWork = work;
    const OURS = /\/rose(\.\w+)?\.js(\?.*)?$/;
    /** The place in the page's own scripts from which a call came: file and line. */
    const placeIn = (stack) =>
      [...`${stack}`.matchAll(/(https?:[^\s()]+):(\d+):\d+/g)]
        .map(([, file, line]) => [file, line])
        .find(([file]) => !OURS.test(file));
    /** Where a page called for what failed. */
    const places = new WeakMap();
    const placed = (message, [file, line] = []) =>
      (file ? `${file}${line ? `, line ${line}` : ""}: ` : "") + message;
    const during = async (promise, key, index, signal) => {
      ++work.pending;
      const place = placeIn(Error().stack);
      if (index) work.indices.add(index);
      try {
        const file = await promise;
        if (key) work.files[key] = file;
      } catch (error) {
        // what a page gives up itself, for a reason of any kind, is no mistake of its
        if (!signal?.aborted) {
          places.set(error, place);
          if (error.name !== "AbortError")
            work.errors.push(placed(error.message, place));
        }
      } finally {
        --work.pending;
      }
    };
    work.fresh = 0;
    const noted = (promise, key, index, signal) => {
      if (!key) work.started = true; // told of Python itself
      const isFresh = !(key in work.files);
      work.fresh += isFresh;
      return during(promise, key, index, signal).finally(() => {
        work.fresh -= isFresh;
      });
    };
    globalThis.roseFreezer = (promise, key, index, signal) => {
      if (index) work.asks = true;
      return noted(promise, key, index, signal);
    };

    // the page's own workers, which tell what they compile, see worker.js: until when to wait for the next word
    const others = new Map();
    const PATIENCE = 3000;
    const hear = (id, note, ...what) => {
      let other = others.get(id);
      if (!other) {
        const made = new Promise((resolve, reject) => {
          other = { resolve, reject };
        });
        others.set(id, other);
        note(made, ...what);
      }
      other.until = performance.now() + PATIENCE;
      return other;
    };
    const BEGINS = "a worker begins";
    let begun = 0;
    const { setInterval } = globalThis;
    new BroadcastChannel("rose freeze").onmessage = ({ data }) => {
      const { begins, unseen, isThere, isOver, file, error, key, index } = data;
      if (begins) hear(`${BEGINS} ${++begun}`, during);
      if (unseen) work.unseen.add(unseen);
      if (begins || unseen) return;
      const first = [...others.keys()].find((id) => id.startsWith(BEGINS));
      const id = isThere ? first : data.id;
      if (id === undefined) return;
      const other = hear(id, noted, key, index);
      if (!isThere && !isOver) return;
      others.delete(id);
      if (error) other.reject(Object.assign(Error(error.message), error));
      else other.resolve(file);
    };
    setInterval(() => {
      for (const [id, { until, reject }] of others)
        if (until < performance.now()) {
          others.delete(id); // a worker that was ended says nothing more
          reject(new DOMException("", "AbortError"));
        }
    }, 500);

    // whose inputs nobody else finds, where they are closed
    work.shadows = new Set();
    const { attachShadow } = Element.prototype;
    Element.prototype.attachShadow = function (...words) {
      const root = attachShadow.apply(this, words);
      work.shadows.add(root);
      return root;
    };

    // the addresses of modules before these run, since a router changes from where they are counted
    work.modules = new WeakMap();
    document.addEventListener("readystatechange", () => {
      for (const script of document.querySelectorAll("script[type=module]"))
        if (!work.modules.has(script)) work.modules.set(script, script.src);
    });

    const tell = (message, place) =>
      globalThis.roseProblem?.(placed(message, place));
    const thrown = (error, place) =>
      tell(
        error?.message ?? `${error}`,
        placeIn(error?.stack) ?? places.get(error) ?? place,
      );
    const failed = ({ target, error, message, filename, lineno }) => {
      if (target === window) {
        // of what no script has thrown itself, nothing is told here
        const place = OURS.test(filename) ? undefined : [filename, lineno];
        if (filename) thrown(error ?? message, place);
      } else if (target instanceof HTMLScriptElement)
        tell(
          target.src
            ? "it, or what it imports, could not be loaded"
            : "what a script in it imports could not be loaded",
          [target.src],
        );
    };
    addEventListener("error", failed, { capture: true });
    addEventListener("unhandledrejection", ({ reason }) => thrown(reason));
    // of a page that shows itself what is asked for; it may be asked for something else meanwhile
    globalThis.navigation?.addEventListener("navigateerror", ({ error }) => {
      if (error?.name !== "AbortError") thrown(error);
    });
    addEventListener("securitypolicyviolation", ({ blockedURI }) => {
      // without the index, Rose goes on, but nothing is frozen for it
      if (blockedURI.endsWith("/rose.frozen.json"))
        tell(
          `its Content-Security-Policy forbids ${blockedURI}: add 'self' to its connect-src`,
        );
    });
    // what a page is to do a little later, as when a slider rests
    const { setTimeout, clearTimeout } = globalThis;
    work.later = setTimeout;
    work.due = new Map();
    globalThis.setTimeout = (f, delay = 0, ...args) => {
      const run = () => {
        work.due.delete(timer);
        f(...args);
      };
      if (typeof f !== "function") return setTimeout(f, delay, ...args);
      const timer = setTimeout(run, delay);
      work.due.set(timer, performance.now() + delay);
      return timer;
    };
    globalThis.clearTimeout = (timer) => {
      work.due.delete(timer);
      clearTimeout(timer);
    };
  },

  /** Begin one of the other actions, whose end is told by its number. */
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

  /** Show all of the page once, down to the end: some of it may not be there before it is seen. */
  async scroll() {
    const { scrollHeight } = document.documentElement;
    if (scrollHeight <= innerHeight) return;
    const loads = [...document.querySelectorAll("iframe[loading=lazy]")]
      .filter(({ contentDocument }) => contentDocument?.URL === "about:blank")
      .map(
        (frame) => new Promise((wake) => frame.addEventListener("load", wake)),
      );
    // a browser that is too busy may draw nothing for long
    const drawn = () =>
      Promise.race([
        new Promise((wake) => requestAnimationFrame(wake)),
        this.wait(1000),
      ]);
    const show = async (top) => {
      scrollTo({ top, behavior: "instant" });
      // who observes what is in view is told after the next frame
      await drawn();
      await drawn();
    };
    for (let top = 0; top < scrollHeight; top += innerHeight) await show(top);
    await show(0);
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
    const { shadows } = globalThis.roseWork;
    /** The document, and what is hidden in its elements. */
    const roots = (root) => [
      root,
      ...[...root.querySelectorAll("*")].flatMap(({ shadowRoot }) =>
        shadowRoot ? roots(shadowRoot) : [],
      ),
    ];
    const used = new WeakSet();
    /** What can be moved. */
    const all = (selector) => {
      const closed = [...shadows].filter(({ host }) => host.isConnected);
      const places = new Set([document, ...closed].flatMap(roots));
      return [...places]
        .flatMap((root) => [...root.querySelectorAll(selector)])
        .filter((element) => element.matches(":enabled") && !element.readOnly);
    };
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
    const tell = async (element) => {
      for (const type of ["input", "change"]) {
        const composed = type === "input"; // it leaves shadow roots
        element.dispatchEvent(new Event(type, { bubbles: true, composed }));
      }
      await pause();
    };
    const turn = async (present, key, values) => {
      const before = present()[key];
      // as it comes with the element: libraries put their own in front of it, to know what is new
      const { set } = Object.getOwnPropertyDescriptor(
        Object.getPrototypeOf(present()),
        key,
      );
      for (const value of values) {
        const element = present();
        set.call(element, value);
        await tell(element);
      }
      const element = present();
      set.call(element, before);
      // a choice that nobody can make may have been made at first
      if (!element.selectedOptions?.[0]?.disabled) await tell(element);
    };
    const FEW = 10;
    let [found, rounds] = [0, 3];
    /** Do something to each that it was not done to before; `act` is given what tells it. */
    const each = async (selector, act) => {
      const elements = fresh(selector);
      found += elements.length;
      for (const present of elements) {
        used.add(present());
        await act(present);
      }
    };
    const press = async (present) => {
      present().click();
      await pause();
    };
    do {
      found = 0;
      await each("input[type=range], input[type=number]", async (present) => {
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
      await each("select", (present) => {
        const options = [...present().options];
        const open = options.flatMap(({ disabled }, k) => (disabled ? [] : k));
        return turn(present, "selectedIndex", open);
      });
      const chosen = fresh("input[type=radio]", ({ checked }) => checked);
      await each("input[type=radio]", press);
      for (const radio of chosen) await press(radio);
      await each("input[type=checkbox]", async (box) => {
        await press(box);
        await press(box);
      });
    } while (found && --rounds);
  },

  /** The files, in base 64, where they were looked for, and what was not seen or went wrong. */
  async found() {
    const base64 = (file) =>
      new Promise((resolve) => {
        const reader = new FileReader();
        reader.onload = () => resolve(reader.result.split(",", 2)[1]);
        reader.readAsDataURL(new Blob([file]));
      });
    const { files, indices, asks, unseen, turns, errors, registered } =
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
      workers: workers.map(({ scope, active }) => [scope, active.scriptURL]),
      errors,
    };
  },
});
