// Modules of the bridge, for use in its build.

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const SOURCE = join(dirname(fileURLToPath(import.meta.url)), "..", "src");

/** What the module `name` in src/ exports. */
export const source = async (name) => {
  const entryPoints = [join(SOURCE, name)];
  const options = { bundle: true, format: "esm", write: false };
  const { outputFiles } = await build({ entryPoints, ...options });
  const code = encodeURIComponent(outputFiles[0].text);
  return import(`data:text/javascript,${code}`);
};
