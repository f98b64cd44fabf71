// Run by `rose freeze` in a page, which stays where it is: other pages have their own turn.
//
// Where the page itself shows what is asked for, as routers do, it goes on. Where it asks for itself with another
// query, as forms do, or anew, that is noted: see opening.py.
(() => {
  const { navigation } = globalThis;
  if (!navigation) return;
  const shown = new WeakSet();
  const { intercept } = NavigateEvent.prototype;
  NavigateEvent.prototype.intercept = function (...words) {
    intercept.apply(this, words);
    shown.add(this);
  };
  /** What the page has stored, as text, if anything. */
  const stored = () => {
    if (origin === "null") return ""; // in a sandbox
    const { cookie } = document;
    const [local, session] = [localStorage, sessionStorage].map((all) =>
      Object.entries(all).sort(),
    );
    const isAny = local.length || session.length || cookie;
    return isAny ? JSON.stringify({ local, session, cookie }) : "";
  };
  const stay = (event) => {
    if (event.destination.sameDocument || shown.has(event)) return;
    const { signal, destination, formData } = event;
    const [page, found] = [location.href, destination.url].map(
      (address) => address.split(/[?#]/)[0],
    );
    // itself, with another query, or with what it has stored; frames are pages of their own, or none
    if (self === top && page === found && !formData) {
      const { url } = destination; // the same, too, if it is loaded anew
      const opening = [url, url === location.href ? stored() : ""];
      globalThis.roseWork.openings.add(JSON.stringify(opening));
    }
    signal.addEventListener("abort", () => refusals.add(signal.reason));
    event.preventDefault();
  };

  // back to what was there before it came, nobody is asked
  const { go } = History.prototype;
  const goIn = function (delta = 0) {
    const at = navigation.currentEntry.index + delta;
    if (!delta || navigation.entries()[at]?.sameDocument) go.call(this, delta);
  };
  Object.assign(History.prototype, {
    go: goIn,
    back() {
      goIn.call(this, -1);
    },
    forward() {
      goIn.call(this, 1);
    },
  });

  // that it stays is no mistake of the page; this comes first of those who listen, see visit.py
  const refusals = new WeakSet();
  const silence = (event) => {
    if (!refusals.has(event.reason)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  globalThis.addEventListener("unhandledrejection", silence);

  // of an event that is prevented nothing can be shown: the page's own listeners come first
  const { addEventListener, removeEventListener } = navigation;
  const comeLast = () => {
    removeEventListener.call(navigation, "navigate", stay);
    addEventListener.call(navigation, "navigate", stay);
  };
  navigation.addEventListener = (...words) => {
    addEventListener.apply(navigation, words);
    comeLast();
  };
  const { get, set } = Object.getOwnPropertyDescriptor(
    Object.getPrototypeOf(navigation),
    "onnavigate",
  );
  Object.defineProperty(navigation, "onnavigate", {
    get,
    set(listener) {
      set.call(navigation, listener);
      comeLast();
    },
  });
  comeLast();
})();
