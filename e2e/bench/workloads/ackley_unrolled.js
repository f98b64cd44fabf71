// The Ackley function, unrolled: every term is recorded.

import { wave } from "../vocabulary.js";
import { js, unrolled } from "./ackley.js";

export const title = "Ackley, unrolled";
export const sizes = [10, 100, 1_000, 4_000];
export const input = (n) => ({ x: wave(n) });
export const operations = (n) => 6 * n + 10; // arithmetic, and reads of x
export const fails = { "rose 0.4.10": 4_000 };
export const rose = unrolled;
export const c = { file: "ackley", math: true, straight: [10, 100] };
export { js };
