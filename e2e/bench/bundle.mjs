// Puts the benchmarks where a page of the site can load them: `node bundle.mjs DIST SOURCES`.
//
// DIST/bench/ gets the modules as they are, which reach ../rose.js and ../site/ from there; the peers, each
// bundled; and about.json, which says what there is and how much of it is loaded. SOURCES is a file that
// gets the list of the files that the bundles are made of.

import { createRequire } from "node:module";
import { copyFileSync, cpSync, mkdirSync, readFileSync } from "node:fs";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = join(HERE, "../..");
const { build } = createRequire(join(ROOT, "js_bridge/package.json"))(
  "esbuild",
);

const MODULES = "agree bench measure place probe simulation vocabulary worker";
/** What our own compiler needs when it starts in a worker. */
const OURS = [
  ...["rose.js", "rose.worker.js", "rose.python.js"],
  ...["pyodide/pyodide.js", "pyodide/pyodide.asm.js"],
  ...["pyodide/pyodide.asm.wasm", "pyodide/rose_core.snapshot.wasm"],
];

const [dist, sources] = process.argv.slice(2);
const folder = join(dist, "bench");
const libraries = join(folder, "libraries");

/** Whether it is loaded as it is; of folders, only those given. */
const isServed = (path) =>
  statSync(path).isDirectory()
    ? dirname(path) === HERE
    : /\.(js|wasm)$/.test(path) && !path.endsWith(".bundle.js");

mkdirSync(libraries, { recursive: true });
for (const name of MODULES.split(" "))
  copyFileSync(join(HERE, `${name}.js`), join(folder, `${name}.js`));
for (const name of ["c", "peers", "workloads"])
  cpSync(join(HERE, name), join(folder, name), {
    recursive: true,
    filter: isServed,
  });

const peers = readdirSync(join(HERE, "peers"))
  .filter((name) => name.endsWith(".bundle.js"))
  .sort();
const { metafile } = await build({
  absWorkingDir: ROOT,
  entryPoints: peers.map((name) => ({
    in: join(HERE, "peers", name),
    out: basename(name, ".bundle.js"),
  })),
  outdir: libraries,
  ...{ bundle: true, splitting: true, minify: true, metafile: true },
  ...{ format: "esm", target: "es2022", logLevel: "error" },
});
const read = Object.keys(metafile.inputs).filter(
  (path) => !path.startsWith("(disabled)"), // what only Node has
);
writeFileSync(sources, JSON.stringify(read));
const core = "rose_web_bg.wasm"; // which npm's rose looks for next to itself
copyFileSync(
  join(HERE, "node_modules/@rose-lang/wasm/dist/wbg", core),
  join(libraries, core),
);

/** kB of files as a host sends them. */
const kB = (paths) =>
  Math.ceil(
    paths
      .map((path) => gzipSync(readFileSync(path)).length)
      .reduce((a, b) => a + b, 0) / 1000,
  );

/** A bundle and what it imports at once. */
const parts = (output, found = new Set()) => {
  if (found.has(output)) return found;
  found.add(output);
  for (const { path, kind } of metafile.outputs[output].imports)
    if (kind === "import-statement") parts(path, found);
  return found;
};
const library = (name) =>
  [...parts(relative(ROOT, join(libraries, `${name}.js`)))].map((path) =>
    join(ROOT, path),
  );

const workloads = {};
for (const file of readdirSync(join(folder, "workloads")).sort()) {
  const address = pathToFileURL(join(folder, "workloads", file)).href;
  const { title, sizes } = await import(address);
  workloads[basename(file, ".js")] = { title, sizes };
}
const about = {
  workloads,
  kB: {
    this: kB(OURS.map((name) => join(dist, name))),
    rose: kB([...library("rose"), join(libraries, core)]),
    c: kB(
      readdirSync(join(folder, "c")).map((name) => join(folder, "c", name)),
    ),
    tensorflow: kB(library("tensorflow")),
    jax: kB(library("jax")),
  },
};
writeFileSync(join(folder, "about.json"), `${JSON.stringify(about)}\n`);
console.log(`${peers.length} peers, ${JSON.stringify(about.kB)}`);
