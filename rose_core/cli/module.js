// NAME, compiled by Rose

const FILES = {}; // for bundlers in full

const VIEWS = { f: Float64Array, i: Int32Array, b: Uint8Array };

const bytesOf = async (url) => {
  // in Node; to import it would have bundlers look for it
  if (url.protocol === "file:" && globalThis.process)
    return process.getBuiltinModule("fs").readFileSync(url);
  const answer = await fetch(url);
  if (!answer.ok) throw Error(`${url}: ${answer.status}`);
  return answer.arrayBuffer();
};

const misfit = (name, expected, x) => {
  if (typeof x === "string") x = JSON.stringify(x);
  throw TypeError(`${name}: expected ${expected}, got ${x}`);
};

// A vector of structs is a struct of vectors: at `at` in `cells` from `k` on. Vectors of numbers may be long.

const put = (cells, type, x, k, at, name) => {
  if (type[0] === "vec") {
    const [, size, elem] = type;
    if (x?.length !== size) misfit(name, `${size} elements`, x?.length);
    if (elem === "real" && x instanceof Float64Array)
      cells[k].set(x, at * size);
    else
      for (let i = 0; i < size; ++i)
        put(cells, elem, x[i], k, at * size + i, name);
  } else if (type[0] === "struct")
    for (const [key, field, leaf] of type[1])
      put(cells, field, x?.[key], k + leaf, at, `${name}.${key}`);
  else if (type === "bool") {
    if (typeof x !== "boolean") misfit(name, "true or false", x);
    cells[k][at] = +x;
  } else if (type !== "unit") {
    if (typeof x !== "number") misfit(name, "a number", x);
    if (type !== "real" && (x >>> 0 !== x || x >= type))
      misfit(name, `a whole number below ${type}`, x);
    cells[k][at] = x;
  }
};

const take = (cells, type, k, at) => {
  if (type[0] === "vec") {
    const [, size, elem] = type;
    const all = Array(size);
    for (let i = 0; i < size; ++i) all[i] = take(cells, elem, k, at * size + i);
    return all;
  }
  if (type[0] === "struct") {
    const [, fields, isTuple] = type;
    const all = fields.map(([name, field, leaf]) => {
      const x = take(cells, field, k + leaf, at);
      return isTuple ? x : [name, x];
    });
    return isTuple ? all : Object.fromEntries(all);
  }
  if (type === "unit") return null;
  return type === "bool" ? !!cells[k][at] : cells[k][at];
};

const callable = async (url) => {
  const module = await WebAssembly.compile(await bytesOf(url));
  const [section] = WebAssembly.Module.customSections(module, "rose");
  const {
    name,
    names,
    params,
    starts,
    takes,
    defaults,
    ret,
    args,
    results,
    fails,
    notes,
  } = await new Response(section).json();
  const functions = {
    __proto__: Math,
    fail(code, x, y) {
      const text = fails[code] ?? notes[code - fails.length];
      throw RangeError(text.replace("{x}", x).replace("{y}", y));
    },
  };
  const {
    exports: { f, m },
  } = await WebAssembly.instantiate(module, { "": functions });
  let buffer, given, gotten;
  const look = () => {
    if (buffer === m.buffer) return; // until it grows
    buffer = m.buffer;
    const cells = ([kind, address]) =>
      address < 0 ? [0] : new VIEWS[kind](buffer, address);
    given = args.map(cells);
    gotten = results.map(cells);
  };
  return (...values) => {
    if (!takes.includes(values.length))
      misfit(name, `${takes.join(" or ")} arguments`, values.length);
    look();
    params.forEach((type, i) => {
      const { [i]: x = defaults[i] } = values; // null is a value
      put(given, type, x, starts[i], 0, names[i]);
    });
    // what is not in memory goes in and out by itself
    const returned = f(...given.flatMap((x) => (x.buffer ? [] : x)));
    look();
    const all = gotten.map((x) => (x.buffer ? x : [returned]));
    return take(all, ret, 0, 0);
  };
};

const page = globalThis.document;
// A classic script knows its address while it is first run.
const script = page?.currentScript?.src;

// What it does is told by its declaration.
export const load = async (folder) => {
  const base =
    page?.baseURI ?? globalThis.location ?? import.meta.url ?? "file:";
  const at = folder ? new URL(folder, base) : script || base;
  const made = Object.entries(FILES).map(async ([name, [file, beside]]) => [
    name,
    await callable(folder || !import.meta.url ? new URL(file, at) : beside()),
  ]);
  return Object.fromEntries(await Promise.all(made));
};
