const printed = (window.printed = []);
const { log } = console;
console.log = (...args) => {
  printed.push(args.length === 1 ? args[0] : args);
  log(...args);
};
try {
  await import(`./listings/${location.hash.slice(1)}.js`);
} finally {
  document.title = "done";
}
