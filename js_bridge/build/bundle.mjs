// Bundles the bridge: `node bundle.mjs DIST CONSTANTS`, called by build.py.
//
// CONSTANTS is JSON; each NAME in it replaces `__NAME__` in the sources, declared in
// src/constants.d.ts.

import { copyFile, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { minify } from "terser";
import { source } from "./source.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const SOURCE = join(HERE, "..", "src");
const dist = resolve(process.argv[2]);
const constants = JSON.parse(process.argv[3]);

// Engines that have no hashes where there is no https take ours.
const { hash } = await source("known/identity.ts");
for (const [name, about] of Object.entries(constants.FILES))
  about.push(hash(await readFile(join(dist, name))));

const common = {
  bundle: true,
  minify: true,
  platform: "neutral",
  // A page that imports the module is not held up by it.
  supported: { "top-level-await": false },
  target: "es2022",
  // Imported in Node alone, and only when they are needed.
  external: ["node:*"],
  legalComments: "none",
  logLevel: "warning",
  define: Object.fromEntries(
    Object.entries({ ...constants, CLASSIC: false }).map(([name, value]) => [
      `__${name}__`,
      JSON.stringify(value),
    ]),
  ),
};

/**
 * Says that most functions of a script are called at once, so that V8 compiles all of them while the script
 * comes, and not one by one on the page's thread (its "explicit compile hints"): a third less time there.
 */
const EAGER = "//# allFunctionsCalledOnLoad\n";

/** What esbuild leaves to do, and names that compress better than its own: a page loads 4 % less. */
const smaller = async (code, isModule, isPageScript) => {
  const options = {
    module: isModule,
    ecma: 2022,
    compress: { passes: 2 },
    format: {
      comments: false,
      max_line_len: 2000, // Node shows the whole line where an author's mistake was found
      preamble: `${isPageScript ? EAGER : ""}/* Rose ${constants.VERSION}, MIT License */`,
    },
  };
  return (await minify(code, options)).code;
};

/** Entry point in src/ -> file in dist/, and what is particular to it. */
const outputs = [
  { entry: "index.ts", file: "rose.js", format: "esm" },
  { entry: "worker.ts", file: "rose.worker.js", format: "esm" },
  { entry: "page/scripts.ts", file: "rose.python.js", format: "esm" },
  {
    entry: "index.ts",
    file: "rose.global.js",
    format: "iife",
    globalName: "rose",
    define: {
      ...common.define,
      "import.meta.url": "undefined",
      __CLASSIC__: "true",
    },
  },
];

/** Imports of an address that is known while the page runs. */
const COMPUTED = /\bimport\((?!")/g;
/** Tells a page's own bundler to leave them as they are; minified code has no comments else. */
const LEAVE = "/* webpackIgnore: true */ /* @vite-ignore */";

const sizes = [];
for (const { entry, file, ...particular } of outputs) {
  const outfile = join(dist, file);
  await build({
    ...common,
    ...particular,
    entryPoints: [join(SOURCE, entry)],
    outfile,
  }).catch(() => process.exit(1)); // esbuild has said why
  const isModule = particular.format === "esm";
  const text = await readFile(outfile, "utf8");
  const code = await smaller(text, isModule, entry === "index.ts");
  const bytes = Buffer.from(code.replace(COMPUTED, `import(${LEAVE} `));
  await writeFile(outfile, bytes);
  sizes.push(`${file} ${(gzipSync(bytes).length / 1000).toFixed(1)} kB`);
}
await copyFile(join(SOURCE, "..", "rose.d.ts"), join(dist, "rose.d.ts"));
// A page asks for it; `rose freeze` fills it.
await writeFile(join(dist, "rose.frozen.json"), "{}\n");
console.log(`${sizes.join(", ")} gzipped`);
