// What the scripts of all pages need: finding elements, showing values in the text, buttons in the
// text, and saying what the page waits for.

import { configure } from "../../rose.js";
import { format } from "./format.js";
import { atNextFrame, inPassing } from "./pace.js";
import { label, write } from "./write.js";

// `build.py build` freezes the site: what its pages compile when they are opened lies next to them.
configure({ frozen: "." });

/**
 * The element with this id, which is there and of this kind.
 *
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} [kind]
 * @returns {T}
 */
export const element = (id, kind) => {
  const found = document.getElementById(id);
  if (!(found instanceof (kind ?? HTMLElement)))
    throw Error(`the page has no ${id} of this kind`);
  return /** @type {T} */ (found);
};

/**
 * Show texts in the elements that ask for them: `<span data-show="loss">`.
 *
 * @param {Record<string, string>} texts
 */
export const show = (texts) => {
  for (const [name, text] of Object.entries(texts))
    for (const place of document.querySelectorAll(`[data-show="${name}"]`))
      write(place, text);
};

/**
 * Say `words` in `place` until `work` is done; if it fails, say why. Gives what `work` gives, or
 * undefined if it failed.
 *
 * @template T
 * @param {Element} place
 * @param {string} words
 * @param {Promise<T>} work
 * @returns {Promise<T | undefined>}
 */
export const during = async (place, words, work) => {
  place.textContent = words;
  place.classList.remove("failed");
  place.classList.add("busy");
  try {
    const result = await work;
    // something else may have been said in the meantime
    if (place.textContent === words) place.textContent = "";
    return result;
  } catch (error) {
    place.classList.add("failed");
    place.textContent = error instanceof Error ? error.message : String(error);
    return undefined;
  } finally {
    place.classList.remove("busy");
  }
};

// These pages say in words what they wait for.
addEventListener("rose-progress", (event) => event.preventDefault());

/** `act` at the next frame, however often it is asked for until then. @param {(now: number) => void} act */
export const oncePerFrame = (act) => {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    atNextFrame((now) => {
      asked = false;
      act(now);
    });
  };
};

/**
 * Has pictures drawn again, and `tell` called with them, less often where there is no time for it.
 *
 * @param {() => readonly { redraw(): void }[]} pictures
 * @param {() => void} tell
 */
export const refresher = (pictures, tell) => {
  const soon = inPassing(tell);
  return () => {
    for (const picture of pictures()) picture.redraw();
    soon();
  };
};

/** Say `words` in `place`, if they are new: they are read out. @param {Element} place */
export const announcer = (place) => {
  let said = "";
  return (/** @type {string} */ words, /** @type {boolean} */ isBad) => {
    if (words === said) return;
    write(place, (said = words));
    place.classList.toggle("failed", isBad);
  };
};

/**
 * Have the page's functions compiled, and show how long that took, and when it was done. The compiler is
 * loaded only if it is needed: of a frozen page, it is not.
 *
 * @param {Element} place  where it is said
 * @param {() => Promise<void>} compile
 */
export const prepare = async (place, compile) => {
  const work = async () => {
    const began = performance.now();
    await compile();
    const now = performance.now();
    show({
      compiled: `${format(now - began, 2)} ms`,
      there: `${format(now / 1000, 2)} s`,
    });
  };
  await during(place, "Loading the compiler, to derive the gradient…", work());
};

/** Whether the reader has asked for little motion. */
export const calm = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * Buttons in the text, which act on the picture: `<button data-act="eta 0.001, centre no">`.
 *
 * @param {Record<string, (value: string) => void>} acts
 */
export const onActs = (acts) => {
  for (const button of document.querySelectorAll("[data-act]"))
    button.addEventListener("click", () => {
      for (const act of button.getAttribute("data-act")?.split(", ") ?? []) {
        const [name, ...value] = act.split(" ");
        acts[name](value.join(" "));
      }
      const behavior = calm.matches ? "auto" : "smooth";
      element("workbench").scrollIntoView({ block: "nearest", behavior });
    });
};

/**
 * Radio buttons within an element; gives what chooses one of them, which is not "chosen" by the reader.
 *
 * @param {string} id  of the element
 * @param {(value: string) => void} chosen
 */
export const choice = (id, chosen) => {
  const all = [...element(id).getElementsByTagName("input")];
  for (const one of all)
    one.addEventListener("change", () => chosen(one.value));
  return (/** @type {string} */ value) => {
    for (const one of all) one.checked = one.value === value;
  };
};

/** Show a number in a field, but not where the reader is typing. @param {HTMLInputElement} field @param {number} value */
export const put = (field, value) => {
  if (document.activeElement !== field) field.value = String(value);
};

/** Say whether what is in a field makes sense. @param {HTMLElement} field @param {boolean} isGood */
export const judge = (field, isGood) =>
  label(field, "aria-invalid", String(!isGood));

/** Once the browser knows how high everything is: see style/explorable.css. */
const settle = () => {
  // the next frame lays out what there is, and the one after that finds it so
  requestAnimationFrame(() =>
    requestAnimationFrame(() => document.body.classList.add("settled")),
  );
};

/** Show the text of a file next to the page, so that what is shown is what runs. @param {string} name */
export const showSource = async (name) => {
  const response = await fetch(new URL(`../${name}`, import.meta.url));
  if (response.ok)
    element("source").textContent = (await response.text()).trim();
  settle();
};
