/* Run by `rose freeze` in a page and in front of its workers' scripts: the page is told what they compile. */
(function watch() {
  const channel = new BroadcastChannel("rose freeze");
  if (!globalThis.document) {
    const name = crypto.randomUUID();
    let count = 0;
    channel.postMessage({ isThere: true });
    globalThis.roseFreezer = async (promise, key, index, signal) => {
      const id = `${name} ${++count}`;
      const tell = (more) => channel.postMessage({ id, key, index, ...more });
      tell();
      const beat = setInterval(tell, 500);
      try {
        const file = await promise;
        tell({ isOver: true, file: key && file });
      } catch (error) {
        /* see watch.js: what the worker gives up itself is no mistake of its */
        const { name, message } = signal?.aborted
          ? new DOMException("", "AbortError")
          : error;
        tell({ isOver: true, error: { name, message } });
      } finally {
        clearInterval(beat);
      }
    };
  }

  const blobs = new Map();
  const { createObjectURL } = URL;
  URL.createObjectURL = (blob) => {
    const address = createObjectURL.call(URL, blob);
    blobs.set(address, blob);
    return address;
  };

  /* where addresses have to be trusted, a page's own policy says so of what takes the place of one, too */
  const policies = new WeakMap();
  const trusting = globalThis.TrustedTypePolicy?.prototype ?? {};
  const { createScriptURL } = trusting;
  trusting.createScriptURL = function (...words) {
    const address = createScriptURL.apply(this, words);
    policies.set(address, this);
    return address;
  };

  /** The address of a worker's script with this in front of it. */
  const watched = (address, isModule) => {
    /* a page may say meanwhile where its addresses begin, or call itself something else */
    const place = globalThis.document?.baseURI ?? location.href;
    const url = new URL(address, place);
    const blob = blobs.get(url.href);
    const isServed = /^http/.test(url.protocol);
    if (!blob && !isServed) {
      channel.postMessage({ unseen: url.protocol });
      return url;
    }
    channel.postMessage({ begins: true });
    if (blob) {
      /* what a module imports runs before it, and in a sandbox it can import nothing of the site: see serve.py */
      const first =
        isModule && origin !== "null"
          ? `import "${origin}/?rose-freeze=watch"; `
          : `(${watch})();`;
      const { type } = blob;
      const script = new Blob([first, blob], { type });
      return createObjectURL.call(URL, script);
    }
    /* so that it is known what this is, see serve.py */
    url.search += `${url.search && "&"}rose-freeze${isModule ? "=module" : ""}`;
    return url;
  };
  for (const kind of ["Worker", "SharedWorker"])
    globalThis[kind] &&= new Proxy(globalThis[kind], {
      construct(target, [address, options], as) {
        const isOurs = options?.name === "rose.worker.js";
        const script = isOurs
          ? address
          : watched(address, options?.type === "module");
        const trusted =
          policies.get(address)?.createScriptURL(`${script}`) ?? script;
        return Reflect.construct(target, [trusted, options], as);
      },
    });
})();
