// Run by `rose freeze` in a page before its own scripts: keeps what is compiled, counts what is under way, and tells
// what goes wrong.
(() => {
  const work = { pending: 0, started: false, files: {}, errors: [] };
  work.indices = new Set();
  work.asks = false; // in the page itself
  work.unseen = new Set();
  work.left = false; // whether it has added more than were used
  work.untried = false; // whether there was more to be done on it than was
  work.many = new Set(); // sliders of which each position seems to make a program
  work.openings = new Set(); // how else the page reloads itself
  globalThis.roseWork = work;
  const OURS = /\/rose(\.\w+)?\.js(\?.*)?$/;
  work.isOurs = ({ name }) => OURS.test(name);
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

  // the screen and the mouse stay as they are, whatever is pressed
  for (const way of ["requestFullscreen", "requestPointerLock"])
    Element.prototype[way] &&= async () => {};

  // what is told of what, which nobody else can say
  work.heard = new WeakMap();
  const { addEventListener: listen } = EventTarget.prototype;
  EventTarget.prototype.addEventListener = function (type, ...words) {
    const known = work.heard.get(this) ?? new Set();
    work.heard.set(this, known.add(`${type}`));
    return listen.call(this, type, ...words);
  };

  // whose inputs nobody else finds, where they are closed
  work.shadows = new Set();
  const { attachShadow } = Element.prototype;
  Element.prototype.attachShadow = function (...words) {
    const root = attachShadow.apply(this, words);
    work.shadows.add(root);
    return root;
  };
  // what elements say of themselves there, and of that what is written on them, see use.js
  work.internals = new Map();
  const { attachInternals } = HTMLElement.prototype;
  HTMLElement.prototype.attachInternals = function () {
    const internals = attachInternals.call(this);
    const { shadowRoot } = internals; // as the page's text has it
    if (shadowRoot) work.shadows.add(shadowRoot);
    work.internals.set(this, { internals, names: new Set() });
    return internals;
  };

  // the addresses of modules before these run, since a router changes from where they are counted
  work.modules = new WeakMap();
  document.addEventListener("readystatechange", () => {
    for (const script of document.querySelectorAll("script[type=module]"))
      if (!work.modules.has(script)) work.modules.set(script, script.src);
  });

  const tell = (message, place) =>
    globalThis.roseProblem?.(placed(message, place));
  const thrown = (error, place) => {
    // what takes a reader's own hand, or word, as to copy something, is no mistake
    if (error?.name === "NotAllowedError") return;
    tell(
      error?.message ?? `${error}`,
      placeIn(error?.stack) ?? places.get(error) ?? place,
    );
  };
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
    const begun = performance.now();
    work.due.set(timer, { begun, time: begun + delay });
    return timer;
  };
  globalThis.clearTimeout = (timer) => {
    work.due.delete(timer);
    clearTimeout(timer);
  };
})();
