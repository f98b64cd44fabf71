// Run by `rose freeze` in a page, with page.js: what controls do together.
//
// A control is `{ present, home, states }`: its element, and what brings it to where it was, and to its other states.
({
  /** How many programs the page has compiled. */
  count() {
    return Object.keys(globalThis.roseWork.files).length;
  },

  /** Whether something makes the page compile what it did not before. */
  async isNew(act, count = () => this.count()) {
    const before = count();
    await act();
    return count() > before;
  },

  /** Whether it does, or makes it ask for itself in a way that it did not. */
  leadsFurther(act) {
    return this.isNew(
      act,
      () => this.count() + globalThis.roseWork.openings.size,
    );
  },

  /** Whether enough was tried: of what can be done at the same time there is no end. */
  isOver() {
    const { roseWork: work } = globalThis;
    const now = performance.now();
    const sizes = Object.values(work.files).map(({ length }) => length);
    const size = sizes.reduce((total, other) => total + other, 0);
    const [SECONDS, BYTES, TRIES] = [120, 2e6, 400];
    work.limits ??= [now + 1000 * SECONDS, size + BYTES, TRIES];
    const [time, most, tries] = work.limits;
    const isOver = now > time || size > most || tries <= 0;
    work.untried ||= isOver;
    return isOver;
  },

  /** Whether something makes the page compile or ask for anything new, unless enough was tried. */
  async tried(act) {
    if (this.isOver()) return false;
    --globalThis.roseWork.limits[2];
    return this.leadsFurther(act);
  },

  /**
   * Bring each control to its states, and back: those that make the page compile something. What the page does
   * after each, as when a button is pressed, is `act`.
   */
  async apart(controls, act = async () => {}) {
    const found = [];
    for (const control of controls) {
      if (this.isOver() || !control.present().isConnected) continue;
      const { states, home } = control;
      const go = (state) => this.tried(() => state().then(act));
      const last = states.at(-1);
      if (await go(last)) {
        found.push(control);
        for (const state of states) if (state !== last) await go(state);
      }
      await home();
    }
    return found;
  },

  /** Bring controls to their states at the same time, where two of them make something new. */
  async together(controls, act = async () => {}) {
    const pairs = [];
    controls.forEach((a, k) => {
      for (const b of controls.slice(k + 1)) pairs.push([a, b]);
    });
    const met = new Map();
    for (const [a, b] of pairs) {
      if (!(await this.meet(a, b, act))) continue;
      for (const [c, d] of [
        [a, b],
        [b, a],
      ])
        met.set(c, [...(met.get(c) ?? []), d]);
      await this.walk([a, b], act);
    }
    // more than two, which are all that meet one another in some way
    while (met.size) {
      const [first] = met.keys();
      const group = new Set([first]);
      for (const control of group)
        for (const other of met.get(control)) group.add(other);
      for (const control of group) met.delete(control);
      if (group.size > 2) await this.walk([...group], act);
    }
  },

  /** Whether two controls at once make something new. */
  async meet(a, b, act) {
    const isThere = [a, b].every(({ present }) => present().isConnected);
    if (this.isOver() || !isThere) return false;
    await a.states.at(-1)();
    let isFound = false;
    for (const state of new Set([b.states[0], b.states.at(-1)]))
      isFound ||= await this.tried(() => state().then(act));
    await b.home();
    await a.home();
    return isFound;
  },

  /** Bring controls to all their states at once, moving one at a time, and back; none if there are too many. */
  async walk(controls, act) {
    const { roseWork: work } = globalThis;
    const all = controls.map(({ home, states }) => [home, ...states]);
    const product = all.reduce((total, { length }) => total * length, 1);
    if (this.isOver() || product > work.limits[2]) {
      work.untried = true;
      return;
    }
    const at = controls.map(() => 0);
    const step = async (k) => {
      if (k === controls.length) return;
      const order = [...all[k].keys()];
      if (at[k]) order.reverse();
      for (const place of order) {
        if (place !== at[k]) await this.tried(() => all[k][place]().then(act));
        at[k] = place;
        await step(k + 1);
      }
    };
    await step(0);
    for (const [k, { home }] of controls.entries()) if (at[k]) await home();
  },
});
