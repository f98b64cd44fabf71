// Keeping up with the reader's hand: what makes frames too long is done less often, or roughly.

/** Milliseconds of this thread that a frame may take. */
const BUDGET = 12;

/** How long to wait with what does not fit, in milliseconds: nobody reads numbers faster. */
const REST = 100;

/** After a frame that was too long, those of the next milliseconds are taken for too long, too. */
const CROWDED = 500;

/** One after the other, whatever comes of each. @template T @param {readonly ((given: T) => void)[]} acts @param {T} given */
const callAll = (acts, given) => {
  for (const act of acts)
    try {
      act(given);
    } catch (error) {
      reportError(error);
    }
};

/** @type {((now: number) => void)[]} */
let acts = [];

/** As `requestAnimationFrame`, which takes its time, and is called once per frame here. @param {(now: number) => void} act */
export const atNextFrame = (act) => {
  if (acts.push(act) > 1) return;
  requestAnimationFrame((now) => {
    const all = acts;
    acts = [];
    callAll(all, now);
  });
};

/** @type {((ended: number) => void)[]} */
let listeners = [];
const { port1, port2 } = new MessageChannel();
// comes once the frame has been laid out and painted
port1.onmessage = () => {
  const all = listeners;
  listeners = [];
  callAll(all, performance.now());
};

/**
 * Find out whether this frame takes too long.
 *
 * @param {number} began  what `requestAnimationFrame` gives
 * @param {(isLong: boolean) => void} told
 */
const judgeFrame = (began, told) => {
  if (!listeners.length) port2.postMessage(null);
  listeners.push((ended) => told(ended - began > BUDGET));
};

/** What waits for its turn. @type {((now: number) => void)[]} */
let waiting = [];

/** Frames are too long until then, if nothing is done about it. */
let crowded = 0;

/** Until then nothing waits: the reader has pressed or chosen something, and is to see what comes of it. */
let prompted = 0;

/** What waits until its time. @type {Set<() => void>} */
const resting = new Set();

for (const act of ["click", "change"])
  addEventListener(
    act,
    () => {
      prompted = performance.now() + REST;
      callAll([...resting], undefined);
    },
    true,
  );

const takeTurns = (/** @type {number} */ now) => {
  const isCrowded = prompted < now && now < crowded;
  const all = waiting.splice(0, isCrowded ? 1 : Infinity);
  judgeFrame(now, (isLong) => {
    if (isLong) crowded = performance.now() + CROWDED;
  });
  if (waiting.length) atNextFrame(takeTurns);
  callAll(all, now);
};

/**
 * What does `act` at the next frame, however often it is asked for until then; where frames are too long, each
 * such act has one to itself.
 *
 * @param {(now: number) => void} act
 */
export const inTurn = (act) => {
  const turn = (/** @type {number} */ now) => {
    isAsked = false;
    act(now);
  };
  let isAsked = false;
  return () => {
    if (isAsked) return;
    isAsked = true;
    if (waiting.push(turn) === 1) atNextFrame(takeTurns);
  };
};

/**
 * What does `act` in its turn, however often it is asked for until then; where that makes frames too long, it
 * waits from one time to the next.
 *
 * @param {() => void} act
 */
export const inPassing = (act) => {
  let next = 0;
  let isPending = false;
  let again = false;
  const soon = inTurn((now) => {
    resting.delete(soon);
    judgeFrame(now, (isLong) => {
      next = isLong || now < crowded ? performance.now() + REST : 0;
      isPending = false;
      // what was asked for in the meantime may have been drawn after this
      if (again) ask();
    });
    act();
  });
  const ask = () => {
    again = isPending;
    if (isPending) return;
    isPending = true;
    const now = performance.now();
    if (next < now || now < prompted) return soon();
    resting.add(soon);
    setTimeout(() => resting.has(soon) && soon(), next - now);
  };
  return ask;
};

/**
 * What has `draw` draw: roughly while one drawing follows the other and a fine one takes too long, and
 * finely in the end.
 *
 * @param {(isRough: boolean) => void} draw
 */
export const roughly = (draw) => {
  let isSlow = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let end;
  const fine = (/** @type {number} */ now) => {
    judgeFrame(now, (isLong) => {
      isSlow = isLong;
    });
    draw(false);
  };
  return (/** @type {number} */ now) => {
    clearTimeout(end);
    if (!isSlow) return fine(now);
    draw(true);
    end = setTimeout(atNextFrame, REST, fine);
  };
};
