// Run by `rose freeze` in a page, with page.js: what there is to be used on it, each once.
//
// Elements are given by functions that tell them, or what has taken their place in a page that draws itself anew.
({
  used: new WeakSet(),
  /** What these were, as far as it can be told of what takes their places when a page draws itself anew. */
  seen: new Set(),
  /** As many as can be tried one by one, and as many of a kind as are used. */
  FEW: 10,
  MOST: 50,

  /** What was dragged, carried, and hit keys on: each may have been used in other ways, too. */
  dragged: new WeakSet(),
  carried: new WeakSet(),
  struck: new WeakSet(),

  /** How many were used since this was set. */
  taken: 0,
  /** How many more may be. */
  room: Infinity,

  /** All that can be used. */
  usable(selector) {
    return this.all(selector).filter(
      (element) =>
        !element.matches(":disabled, [aria-disabled=true]") &&
        !element.readOnly,
    );
  },

  /** Of these, what was not used before, and `is` as wanted. */
  fresh(selector, is = () => true, used = this.used) {
    const before = this.usable(selector);
    const present = (element, place) => () => {
      if (element.isConnected) return element;
      const now = this.usable(selector);
      const named = now.find(({ id }) => id && id === element.id);
      const next = named ?? (now.length === before.length && now[place]);
      if (next) element = next;
      used.add(element);
      return element;
    };
    return before.flatMap((element, place) =>
      !used.has(element) && is(element) ? present(element, place) : [],
    );
  },

  /** Do something to each of these that are not among the `used`. */
  async each(selector, act, { is, most = Infinity, used = this.used } = {}) {
    const all = this.fresh(selector, is, used);
    const found = all.slice(0, Math.min(this.room, most));
    this.taken += found.length;
    this.room -= found.length;
    for (const present of found) {
      used.add(present());
      this.seen.add(this.sign(present()));
      await act(present);
    }
  },

  /** Whether something is neither known nor in the place of what is. */
  isOther(element) {
    return !this.seen.has(this.sign(element));
  },

  /** Whether something is chosen, or switched on. */
  isOn({ checked, ariaChecked, ariaSelected, ariaPressed }) {
    return checked || [ariaChecked, ariaSelected, ariaPressed].includes("true");
  },
});
