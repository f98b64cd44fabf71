// Runs the benchmark that the address names after `#`, and leaves its lines in `window.lines`.

/** @type {object[]} */
const lines = (window.lines = []);
try {
  const benchmark = await import(`./${location.hash.slice(1)}.js`);
  document.title = benchmark.title;
  await benchmark.run((line) => lines.push(line));
  window.finished = "";
} catch (error) {
  window.finished = String(error.stack ?? error);
}
