// Runs the tests that npm's rose ships, as they are, on our dist/rose.js in place of what they import.
import { fileURLToPath } from "node:url";

const root = new URL("../../../", import.meta.url);

/** The module to test, as `$ROSE` names it from the project's root. */
const ours = new URL(process.env.ROSE ?? "dist/rose.js", root).href;

const substitute = {
  name: "ours in place of the original",
  enforce: "pre",
  resolveId(id, importer) {
    if (id === "./index.js" && importer?.endsWith("/rose/dist/index.test.js"))
      return fileURLToPath(ours);
  },
};

export default {
  plugins: [substitute],
  test: {
    // Not impl.test.js: it looks into the original's own compiler, at the sizes of its data
    // structures in bytes and the text of its intermediate representation.
    include: ["node_modules/rose/dist/index.test.js"],
    exclude: [],
    setupFiles: ["./ready.mjs"],
    server: {
      deps: {
        // loaded by Vite, so that it asks the plugin what is imported
        inline: [/\/rose\/dist\/index\.test\.js$/],
        // loaded by Node itself, once, for `ready.mjs` and for the tests
        external: [/\/dist\/rose\.js$/, /\/original\/wrong\.mjs$/],
      },
    },
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
};
