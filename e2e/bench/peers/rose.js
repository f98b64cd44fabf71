// Rose: this one, and npm's `rose` 0.4.10, whose programs this one runs.

import { flatten } from "../agree.js";
import { calling } from "../measure.js";
import { watch } from "../probe.js";

/** The arguments as an author has them: vectors as typed arrays, matrices as arrays of their rows. */
const asArguments = (workload, { x, data = [] }, pack = (...args) => args) =>
  pack(
    workload.first?.(x) ?? x,
    ...data.map(({ shape, values }) =>
      shape.length === 1 ? values : rows(values, shape[1]),
    ),
  );

const rows = (values, length) =>
  Array.from({ length: values.length / length }, (_, k) =>
    values.subarray(k * length, (k + 1) * length),
  );

/** `draft`: how to compile what is to be called as soon as possible. */
const rose = (name, load, draft) => ({
  name,
  tolerance: 1e-9,
  has: (workload) => workload.rose !== undefined,
  load,
  async first(lib, workload, n, input, options = draft) {
    const start = performance.now();
    const { gradient, pack } = workload.rose(lib, n);
    const recorded = performance.now();
    let callable = recorded;
    const { result: call, seen } = await watch(async () => {
      const compiled = await lib.compile(gradient, options);
      callable = performance.now();
      return compiled;
    });
    const args = asArguments(workload, input, pack);
    const converted = performance.now();
    call(...args);
    const end = performance.now();
    call.dispose?.();
    return {
      callable: callable - start,
      compile: Math.max(callable, seen.end) - start,
      record: recorded - start,
      engine: seen.compile + seen.instantiate,
      "first call": end - converted,
    };
  },
  async prepare(lib, workload, n, input) {
    const { value, gradient, pack } = workload.rose(lib, n);
    const args = asArguments(workload, input, pack);
    const [f, g] = [await lib.compile(value), await lib.compile(gradient)];
    const observe = async (fn) => {
      const { result, seen } = await watch(() => lib.compile(fn));
      result(...args);
      return { ...seen, result };
    };
    const [seenF, seenG] = [await observe(value), await observe(gradient)];
    return {
      value: await calling(f, ...args),
      gradient: await calling(g, ...args),
      body: {
        value: await calling(...seenF.called),
        gradient: await calling(...seenG.called),
      },
      numbers: (result) => flatten(result),
      bytes: { value: seenF.bytes, gradient: seenG.bytes },
      dispose() {
        for (const call of [f, g, seenF.result, seenG.result]) call.dispose?.();
      },
    };
  },
});

export const ours = rose(
  "this",
  async () => {
    const lib = await import("../../rose.js");
    // every compilation is measured, and all of it
    lib.configure({ cache: false, incremental: false, frozen: false });
    await lib.ready();
    return lib;
  },
  { draft: true },
);

export const original = rose(
  "rose 0.4.10",
  () => import("../libraries/rose.js"),
);
