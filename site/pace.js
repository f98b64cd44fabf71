// Keeping up with the reader's hand: what makes frames too long is done less often, or roughly.

/** Milliseconds of this thread that a frame may take. */
const BUDGET = 12;

/** How long to wait with what does not fit, in milliseconds: nobody reads numbers faster. */
const REST = 100;

/** @type {((now: number) => void)[]} */
let acts = [];

/** As `requestAnimationFrame`, which takes its time, and is called once per frame here. @param {(now: number) => void} act */
export const atNextFrame = (act) => {
  if (acts.push(act) > 1) return;
  requestAnimationFrame((now) => {
    const all = acts;
    acts = [];
    for (const act of all)
      try {
        act(now);
      } catch (error) {
        reportError(error); // the others go on
      }
  });
};

/** @type {((ended: number) => void)[]} */
let listeners = [];
const { port1, port2 } = new MessageChannel();
// comes once the frame has been laid out and painted
port1.onmessage = () => {
  const all = listeners;
  listeners = [];
  for (const listener of all) listener(performance.now());
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

/**
 * What does `act` at the next frame, however often it is asked for until then; where that makes frames too
 * long, it waits from one time to the next.
 *
 * @param {() => void} act
 */
export const inPassing = (act) => {
  let next = 0;
  let isPending = false;
  let again = false;
  const run = (/** @type {number} */ now) => {
    judgeFrame(now, (isLong) => {
      next = isLong ? performance.now() + REST : 0;
      isPending = false;
      // what was asked for in the meantime may have been drawn after this
      if (again) ask();
    });
    act();
  };
  const ask = () => {
    again = isPending;
    if (isPending) return;
    isPending = true;
    const wait = next - performance.now();
    if (wait > 0) setTimeout(atNextFrame, wait, run);
    else atNextFrame(run);
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
