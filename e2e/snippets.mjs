// Runs modules one after the other, named on the lines that come in; of each, a line of JSON goes out:
// what it printed, and what went wrong.

import { createInterface } from "node:readline";
import { format } from "node:util";

let printed, wrong;
console.log = (...words) => (printed += `${format(...words)}\n`);
process.on("uncaughtException", (error) => (wrong ??= error)); // of promises, too

for await (const address of createInterface({ input: process.stdin })) {
  [printed, wrong] = ["", undefined];
  await import(address).catch((error) => (wrong = error));
  await new Promise((done) => setImmediate(done)); // promises that nobody waits for
  process.stdout.write(
    `${JSON.stringify([printed, wrong && format(wrong)])}\n`,
  );
}
