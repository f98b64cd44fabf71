// Run by `rose freeze` in a page, to see what the page compiles.
({
  /** Before the page's own scripts: keep what is compiled, count what is under way, and tell what goes wrong. */
  watch() {
    const work = { pending: 0, started: false, files: {}, errors: [] };
    work.indices = new Set();
    globalThis.roseWork = work;
    globalThis.roseFreezer = async (promise, key, index) => {
      ++work.pending;
      if (!key) work.started = true; // told of Python itself
      if (index) work.indices.add(index);
      try {
        const file = await promise;
        if (key) work.files[key] = file;
      } catch (error) {
        work.errors.push(error.message);
      }
      --work.pending;
    };

    const tell = (message, file, line) =>
      globalThis.roseProblem?.(
        (file ? `${file}${line ? `, line ${line}` : ""}: ` : "") + message,
      );
    /** What was thrown, and the place in the page's own scripts from which it came. */
    const thrown = (error, file, line) => {
      const calls = [
        ...`${error?.stack}`.matchAll(/(https?:[^\s()]+):(\d+):\d+/g),
      ];
      const own = calls.find(([, url]) => !/\/rose(\.global)?\.js$/.test(url));
      tell(error?.message ?? `${error}`, ...(own?.slice(1) ?? [file, line]));
    };
    const failed = ({ target, error, message, filename, lineno }) => {
      if (target === window) thrown(error ?? message, filename, lineno);
      else if (target instanceof HTMLScriptElement)
        tell("it, or what it imports, could not be loaded", target.src);
    };
    addEventListener("error", failed, { capture: true });
    addEventListener("unhandledrejection", ({ reason }) => thrown(reason));
  },

  /** Wait until nothing has been under way for a while, in milliseconds. */
  async settled(quiet = 500) {
    const step = 20;
    for (let still = 0; still < quiet; still += step) {
      await new Promise((wake) => setTimeout(wake, step));
      if (globalThis.roseWork.pending) still = 0;
    }
  },

  /** Do what the page's own warm-up does; false if it has none. */
  async warmUp() {
    const scripts = [...document.querySelectorAll("script[type=module][src]")];
    // what cannot be imported was told when the page was opened
    const modules = await Promise.all(
      scripts.map(({ src }) => import(src).catch(() => ({}))),
    );
    const found = [globalThis, ...modules].map(({ warmUp }) => warmUp);
    const functions = found.filter((f) => typeof f === "function");
    for (const f of functions) await f();
    return functions.length > 0;
  },

  /** Move what can be moved, and put it back. */
  async use() {
    const tell = (element) => {
      for (const type of ["input", "change"])
        element.dispatchEvent(new Event(type, { bubbles: true }));
    };
    const all = (selector) =>
      [...document.querySelectorAll(selector)].filter((e) => !e.disabled);
    const turn = async (element, key, values) => {
      const before = element[key];
      for (const value of [...values, before]) {
        element[key] = value;
        tell(element);
        await this.settled(100); // a page may wait for the end of a movement
      }
    };
    for (const input of all("input[type=range]")) {
      const low = +(input.min || 0);
      const high = +(input.max || 100);
      await turn(input, "value", [low, (low + high) / 2, high]);
    }
    for (const input of all("input[type=number]")) {
      const values = [input.min, input.max].filter((x) => x !== "");
      if (values.length) await turn(input, "value", values);
    }
    for (const select of all("select"))
      await turn(select, "selectedIndex", [...select.options].keys());
    for (const box of all("input[type=checkbox]"))
      await turn(box, "checked", [!box.checked]);
    const chosen = all("input[type=radio]:checked");
    for (const radio of [...all("input[type=radio]"), ...chosen])
      await turn(radio, "checked", [true]);
  },

  /** The files, in base 64, where they were looked for, and what went wrong. */
  async found() {
    const base64 = (file) =>
      new Promise((resolve) => {
        const reader = new FileReader();
        reader.onload = () => resolve(reader.result.split(",", 2)[1]);
        reader.readAsDataURL(new Blob([file]));
      });
    const { files, indices, errors } = globalThis.roseWork;
    const entries = Object.entries(files).map(async ([key, file]) => [
      key,
      await base64(file),
    ]);
    return { files: await Promise.all(entries), indices: [...indices], errors };
  },
});
