// A page that knows Pyodide and nothing of the bridge: the wheel comes with micropip.
import { loadPyodide } from "../stock/pyodide.mjs";

const { wheel, micropip } = await (await fetch("../stock/wheels.json")).json();
const pyodide = await loadPyodide();
await pyodide.loadPackage(new URL(`../stock/${micropip}`, location.href).href, {
  checkIntegrity: false,
});
const install = pyodide.pyimport("micropip");
await install.install(new URL(`../${wheel}`, location.href).href);
window.result = pyodide
  .runPython(await (await fetch("stock.py")).text())
  .toJs();
document.title = "done";
