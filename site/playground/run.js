// Programs that a reader has typed, run to get the function f that they define.

import { python as inPython } from "../../rose.js";
import { lineOf } from "./script-line.js";

/** A mistake in a program, and its line if that is known. */
export class Mistake extends Error {
  /** @param {string} message @param {number} [line] */
  constructor(message, line) {
    super(message);
    this.line = line;
  }
}

const NO_EXPORT =
  "The program defines no function f: write “export const f = fn(…)”.";
const NO_DEF =
  "The program defines no function f: write “@fn” above a “def f(…)”.";
const FORBIDDEN =
  "This site’s Content-Security-Policy allows no JavaScript that is typed here. Python works.";

/** @param {string} code */
const addressOf = (code) =>
  URL.createObjectURL(new Blob([code], { type: "text/javascript" }));

/**
 * What comes of a module in a worker of its own: there it may take forever, and touches no page.
 *
 * @param {string} address
 * @param {AbortSignal} signal
 * @returns {Promise<{ name?: string, message?: string, stack?: string }>}
 */
const tried = (address, signal) =>
  new Promise((resolve, reject) => {
    const trial = addressOf(
      `import(${JSON.stringify(address)}).then(() => postMessage({}),
        (error) => {
          const { name = "Error", message = String(error), stack = "" } = error ?? {};
          postMessage({ name, message, stack });
        })`,
    );
    const worker = new Worker(trial, { type: "module" });
    const end = () => {
      worker.terminate();
      URL.revokeObjectURL(trial);
    };
    worker.onmessage = ({ data }) => {
      end();
      resolve(data);
    };
    worker.onerror = () => {
      end();
      reject(new Mistake(FORBIDDEN));
    };
    signal.addEventListener("abort", () => {
      end();
      reject(signal.reason);
    });
  });

/** The function f of a program in JavaScript. @param {string} text @param {AbortSignal} signal */
export const javascript = async (text, signal) => {
  const rose = JSON.stringify(new URL("../../rose.js", import.meta.url).href);
  const code = text.replace(/(["'])\.\/rose\.js\1/g, rose);
  const address = addressOf(code);
  try {
    const { name, message, stack = "" } = await tried(address, signal);
    if (name === "SyntaxError")
      throw new Mistake(`${message}`, await lineOf(address));
    if (name) {
      const [, line] = stack.split(address)[1]?.match(/^:(\d+)/) ?? [];
      throw new Mistake(`${message}`, Number(line));
    }
    const { f } = await import(address);
    if (!f) throw new Mistake(NO_EXPORT);
    return f;
  } finally {
    URL.revokeObjectURL(address);
  }
};

const AT = /line (\d+) of the Python source(: )?/;

/** The function f of a program in Python. @param {string} text @param {AbortSignal} signal */
export const python = async (text, signal) => {
  const { f } = await inPython(text, { signal }).catch((error) => {
    const [, line] = AT.exec(error.message) ?? [];
    if (!line) throw error;
    throw new Mistake(error.message.replace(AT, ""), Number(line));
  });
  if (!f) throw new Mistake(NO_DEF);
  return f;
};
