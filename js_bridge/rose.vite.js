// For Vite: what rose.js loads while a page runs comes to lie next to the page's own scripts.
//
// Vite puts rose.js into a script of the page's. The worker, Python and the compiler are files that it
// loads by their names, from where that script lies.

import { readFile, readdir } from "node:fs/promises";

const HERE = new URL("./", import.meta.url);

/** Give this to `plugins` in vite.config.js. */
export default () => {
  let folder = "";
  return {
    name: "rose",
    // the server hands out rose.js as it is, from where its files are
    config: () => ({ optimizeDeps: { exclude: ["rose-web"] } }),
    configResolved(config) {
      folder = config.build.assetsDir;
    },
    async generateBundle() {
      const runtime = await readdir(new URL("pyodide/", HERE));
      const names = runtime.map((name) => `pyodide/${name}`);
      for (const name of ["rose.worker.js", "rose.frozen.json", ...names])
        this.emitFile({
          type: "asset",
          fileName: `${folder}/${name}`,
          source: await readFile(new URL(name, HERE)),
        });
    },
  };
};
