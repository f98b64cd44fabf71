// The benchmarks on the reader's machine, in a worker, which can be stopped at any time. What they are is
// in ../bench/, and nothing of it is loaded before the first of them is made.

/** @typedef {{ title: string, sizes: number[] }} Kind */

/** Whom the reader may leave out: in the order of the page, by the name of the part that is loaded. */
export const PEERS = {
  rose: { title: "npm’s rose", names: ["rose 0.4.10"] },
  c: { title: "C by hand, as WebAssembly", names: ["C -O3", "C -O3 simd"] },
  tensorflow: { title: "TensorFlow.js", names: ["TensorFlow.js"] },
  jax: { title: "jax-js", names: ["jax-js"] },
};

/** Contenders that are never here: their modules are made where there is a compiler of C. */
const ELSEWHERE = ["C -O3 simd, libm"];

/** What can be measured, and how many kB are loaded for it. */
export const about = async () => {
  const response = await fetch(
    new URL("../../bench/about.json", import.meta.url),
  );
  if (!response.ok) throw Error("The page could not load about.json.");
  return /** @type {Promise<{ workloads: Record<string, Kind>, kB: Record<string, number> }>} */ (
    response.json()
  );
};

/** What a task ends with that has been stopped. */
export class Stopped extends Error {}

export class Contest {
  #worker = new Worker(new URL("../../bench/worker.js", import.meta.url), {
    type: "module",
  });
  #omitted = ELSEWHERE;
  /** @type {(reason: Error) => void} */
  #reject = () => {};

  /** @param {unknown[]} task @returns {Promise<any>} */
  #ask(...task) {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      this.#worker.onmessage = ({ data: { failure, result } }) =>
        failure === undefined ? resolve(result) : reject(Error(failure));
      this.#worker.onerror = ({ message }) =>
        reject(Error(message || "The page could not load bench/worker.js."));
      this.#worker.postMessage(task);
    });
  }

  /** Load what a contender needs. @param {string} name */
  load(name) {
    return this.#ask("load", name);
  }

  /** Leave a contender out from now on. @param {string} name */
  omit(name) {
    this.#omitted = [...this.#omitted, name];
  }

  /**
   * What is found of a workload at a size.
   *
   * @param {string} name
   * @param {number} n
   * @returns {Promise<import("./results.js").Size>}
   */
  measure(name, n) {
    return this.#ask("bench", name, n, this.#omitted);
  }

  /** End it, whatever it is doing. */
  stop() {
    this.#worker.terminate();
    this.#reject(new Stopped());
  }
}
