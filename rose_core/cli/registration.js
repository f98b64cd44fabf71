// Run by `rose freeze` in a page: what registers a service worker finds one at work, which does nothing.
//
// The page's own would come between the page and what freezing has to see of it.
(() => {
  const container = globalThis.ServiceWorkerContainer?.prototype;
  if (!container) return; // where nobody has service workers
  const registered = new Map();
  globalThis.roseWork.registered = registered;
  const addressOf = (url) => new URL(url, document.baseURI).href;
  const refused = async () => {
    throw new DOMException("not while the page is frozen", "NotAllowedError");
  };

  const made = (scriptURL, scope) => {
    const active = Object.assign(new EventTarget(), {
      scriptURL,
      state: "activated",
      postMessage() {},
    });
    const registration = Object.assign(new EventTarget(), {
      scope,
      active,
      installing: null,
      waiting: null,
      navigationPreload: {
        async enable() {},
        async disable() {},
      },
      pushManager: {
        getSubscription: async () => null,
        permissionState: async () => "denied",
        subscribe: refused,
      },
      getNotifications: async () => [],
      showNotification: refused,
      update: async () => registration,
      unregister: async () => registered.delete(scope),
    });
    return registration;
  };

  /** Of those that serve an address, the one that is nearest to it. */
  const serving = (address) =>
    [...registered.values()]
      .filter(({ scope }) => address.startsWith(scope))
      .sort((a, b) => b.scope.length - a.scope.length)[0];

  let isReady;
  const ready = new Promise((resolve) => {
    isReady = resolve;
  });
  Object.defineProperty(container, "ready", { get: () => ready });
  Object.assign(container, {
    async register(url, options) {
      const script = addressOf(url);
      const scope = addressOf(options?.scope ?? new URL(".", script));
      const known = registered.get(scope);
      if (known?.active.scriptURL !== script)
        registered.set(scope, made(script, scope));
      const found = serving(document.URL);
      if (found) isReady(found);
      return registered.get(scope);
    },
    getRegistration: async (url = "") => serving(addressOf(url)),
    getRegistrations: async () => [...registered.values()],
  });
})();
