// What the compiler's parts are worth: one program as `build.py bench ablation` has compiled it in several
// ways, checked and measured side by side.

import { mustAgree } from "./agree.js";
import { calling, callTimes, ratio, summary } from "./measure.js";

/** Run `work`, which compiles a function; what it sent to the core last. @param {() => Promise<any>} work */
const recorded = async (work) => {
  const send = Worker.prototype.postMessage;
  let program;
  Worker.prototype.postMessage = function (message, ...rest) {
    program = message.request?.work.program ?? program;
    return send.call(this, message, ...rest);
  };
  try {
    await work();
  } finally {
    Worker.prototype.postMessage = send;
  }
  const { header, ints, reals } = program;
  const bytes = ({ buffer, byteOffset, byteLength }) => [
    ...new Uint8Array(buffer, byteOffset, byteLength),
  ];
  return { header, ints: bytes(ints), reals: bytes(reals) };
};

/** The recording of a workload's gradient. */
export const workload = async (name, n) => {
  const { ours } = await import("./peers/rose.js");
  const lib = await ours.load();
  const { rose } = await import(`./workloads/${name}.js`);
  return recorded(() => lib.compile(rose(lib, n).gradient));
};

/** The recording of a diagram's energy and gradient. */
export const diagram = async (name) => {
  const { load } = await import("./penrose.js");
  const { client, state } = await load(name);
  return recorded(() => client.anew(state));
};

const VIEWS = { f: Float64Array, i: Int32Array, b: Uint8Array };

/** Numbers without a pattern that helps, none of them near 0, for each of the arguments. */
const inventedFor = (args) => {
  let k = 0;
  return args.map(([kind, , count]) =>
    Array.from({ length: count }, () =>
      kind === "f" ? 0.1 + 0.05 * Math.sin(++k) : kind === "b" ? 1 : 0,
    ),
  );
};

/** The numbers of a leaf as arrays of arrays, of this shape. */
const shaped = (values, kind, [n, ...inner], next = { at: 0 }) => {
  if (n === undefined)
    return kind === "b" ? !!values[next.at++] : values[next.at++];
  const all = Array.from({ length: n }, () =>
    shaped(values, kind, inner, next),
  );
  return kind === "f" && inner.length === 0 ? Float64Array.from(all) : all;
};

const module = async ({ bytes, args, results }) => {
  const start = performance.now();
  const code = await WebAssembly.compile(Uint8Array.from(bytes));
  const fail = () => {
    throw Error("the program fails");
  };
  const imports = Object.assign(Object.create(Math), { fail });
  const { exports } = await WebAssembly.instantiate(code, { "": imports });
  const view = ([kind, address, count]) =>
    new VIEWS[kind](exports.m.buffer, address, count);
  for (const [k, values] of inventedFor(args).entries())
    view(args[k]).set(values);
  exports.r();
  const ready = performance.now() - start;
  const numbers = results
    .filter(([kind]) => kind === "f")
    .flatMap((slot) => [...view(slot)]);
  return {
    call: await calling(exports.r),
    numbers,
    ready,
    bytes: bytes.length,
  };
};

const script = async ({ text, args, results }) => {
  const leaves = inventedFor(args).map((values, k) =>
    shaped(values, args[k][0], args[k][3]),
  );
  const start = performance.now();
  const f = Function(text)();
  const given = f(...leaves);
  const ready = performance.now() - start;
  const found = results.length === 1 ? [given] : given;
  const numbers = found.flatMap((leaf, k) =>
    results[k][0] === "f" ? flat(leaf) : [],
  );
  return {
    call: await calling(f, ...leaves),
    numbers,
    ready,
    bytes: text.length,
  };
};

const flat = (value) =>
  typeof value === "number" ? [value] : Array.from(value).flatMap(flat);

/**
 * Milliseconds until the engine has given the first result, microseconds of a call, and bytes.
 *
 * @param {Record<string, object>} variants  the first is what the others must agree with
 * @param {object} [calls]  how `callTimes` measures
 */
export const measure = async (variants, calls) => {
  const made = {};
  for (const [name, variant] of Object.entries(variants))
    made[name] = await (variant.text ? script(variant) : module(variant));
  const [first] = Object.values(made);
  for (const [name, { numbers }] of Object.entries(made))
    mustAgree(numbers, first.numbers, 1e-9, name);
  const times = callTimes(made, calls);
  const [[reference]] = Object.entries(times);
  return Object.fromEntries(
    Object.entries(made).map(([name, { ready, bytes }]) => [
      name,
      {
        ...{ ready, bytes },
        gradient: {
          ...summary(times[name]),
          ratio: ratio(times[name], times[reference]),
        },
      },
    ]),
  );
};
