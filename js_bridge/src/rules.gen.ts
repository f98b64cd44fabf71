// Made from rose_core/language/ops.py by `python -m rose_core.export rules`.

import { OP } from "./opcodes.gen";

/** Where rules write what they compute; values are ids. */
export interface Writer {
  number(x: number): number;
  operation(op: number, x: number, y: number): number;
  select(p: number, a: number, b: number): number;
  /** Add a value to the cotangent of `id`, or take it away. */
  add(id: number, c: number): void;
  take(id: number, c: number): void;
}

/** From operands, the result `r` and the tangents of those that vary to the tangent of the result. */
export type Push = (
  w: Writer,
  a: number,
  b: number,
  c: number,
  r: number,
  da: number,
  db: number,
  dc: number,
) => number;

/** From operands, the result and its cotangent `d` to the cotangents of the operands that vary. */
export type Pull = (
  w: Writer,
  a: number,
  b: number,
  c: number,
  r: number,
  d: number,
) => void;

export const PUSH: Readonly<Record<number, Push>> = {
  1: (w, _a, _b, _c, _r, da) => {
    const t0 = w.operation(OP.neg, da, 0);
    return t0;
  },
  9: (w, a, _b, _c, _r, da) => {
    const t0 = w.operation(OP.side, a, 0);
    const t1 = w.operation(OP.mul, da, t0);
    return t1;
  },
  57: (w, _a, _b, _c, r, da) => {
    const t0 = w.operation(OP.add, r, r);
    const t1 = w.operation(OP.div, da, t0);
    return t1;
  },
  65: (w, a, _b, _c, _r, da) => {
    const t0 = w.operation(OP.cos, a, 0);
    const t1 = w.operation(OP.mul, da, t0);
    return t1;
  },
  73: (w, a, _b, _c, _r, da) => {
    const t0 = w.operation(OP.sin, a, 0);
    const t1 = w.operation(OP.mul, da, t0);
    const t2 = w.operation(OP.neg, t1, 0);
    return t2;
  },
  81: (w, _a, _b, _c, r, da) => {
    const t0 = w.operation(OP.mul, r, r);
    const t1 = w.operation(OP.add, w.number(1.0), t0);
    const t2 = w.operation(OP.mul, da, t1);
    return t2;
  },
  89: (w, a, _b, _c, _r, da) => {
    const t0 = w.operation(OP.sub, w.number(1.0), a);
    const t1 = w.operation(OP.add, w.number(1.0), a);
    const t2 = w.operation(OP.mul, t0, t1);
    const t3 = w.operation(OP.sqrt, t2, 0);
    const t4 = w.operation(OP.div, da, t3);
    return t4;
  },
  97: (w, a, _b, _c, _r, da) => {
    const t0 = w.operation(OP.sub, w.number(1.0), a);
    const t1 = w.operation(OP.add, w.number(1.0), a);
    const t2 = w.operation(OP.mul, t0, t1);
    const t3 = w.operation(OP.sqrt, t2, 0);
    const t4 = w.operation(OP.div, da, t3);
    const t5 = w.operation(OP.neg, t4, 0);
    return t5;
  },
  105: (w, a, _b, _c, _r, da) => {
    const t0 = w.operation(OP.mul, a, a);
    const t1 = w.operation(OP.add, w.number(1.0), t0);
    const t2 = w.operation(OP.div, da, t1);
    return t2;
  },
  113: (w, a, _b, _c, _r, da) => {
    const t0 = w.operation(OP.cosh, a, 0);
    const t1 = w.operation(OP.mul, da, t0);
    return t1;
  },
  121: (w, a, _b, _c, _r, da) => {
    const t0 = w.operation(OP.sinh, a, 0);
    const t1 = w.operation(OP.mul, da, t0);
    return t1;
  },
  129: (w, a, _b, _c, _r, da) => {
    const t0 = w.operation(OP.abs, a, 0);
    const t1 = w.operation(OP.mul, w.number(-2.0), t0);
    const t2 = w.operation(OP.exp, t1, 0);
    const t3 = w.operation(OP.mul, w.number(4.0), t2);
    const t4 = w.operation(OP.add, w.number(1.0), t2);
    const t5 = w.operation(OP.mul, t4, t4);
    const t6 = w.operation(OP.div, t3, t5);
    const t7 = w.operation(OP.mul, da, t6);
    return t7;
  },
  137: (w, _a, _b, _c, r, da) => {
    const t0 = w.operation(OP.mul, da, r);
    return t0;
  },
  145: (w, a, _b, _c, _r, da) => {
    const t0 = w.operation(OP.exp, a, 0);
    const t1 = w.operation(OP.mul, da, t0);
    return t1;
  },
  153: (w, a, _b, _c, _r, da) => {
    const t0 = w.operation(OP.div, da, a);
    return t0;
  },
  161: (w, a, _b, _c, _r, da) => {
    const t0 = w.operation(OP.add, w.number(1.0), a);
    const t1 = w.operation(OP.div, da, t0);
    return t1;
  },
  169: (w, a, _b, _c, _r, da) => {
    const t0 = w.operation(OP.div, da, a);
    const t1 = w.operation(OP.div, t0, w.number(0.6931471805599453));
    return t1;
  },
  177: (w, a, _b, _c, _r, da) => {
    const t0 = w.operation(OP.div, da, a);
    const t1 = w.operation(OP.div, t0, w.number(2.302585092994046));
    return t1;
  },
  185: (w, _a, _b, _c, r, da) => {
    const t0 = w.operation(OP.mul, r, r);
    const t1 = w.operation(OP.mul, w.number(3.0), t0);
    const t2 = w.operation(OP.div, da, t1);
    return t2;
  },
  209: (_w, _a, _b, _c, _r, da) => {
    return da;
  },
  210: (_w, _a, _b, _c, _r, _da, db) => {
    return db;
  },
  211: (w, _a, _b, _c, _r, da, db) => {
    const t0 = w.operation(OP.add, da, db);
    return t0;
  },
  217: (_w, _a, _b, _c, _r, da) => {
    return da;
  },
  218: (w, _a, _b, _c, _r, _da, db) => {
    const t0 = w.operation(OP.neg, db, 0);
    return t0;
  },
  219: (w, _a, _b, _c, _r, da, db) => {
    const t0 = w.operation(OP.sub, da, db);
    return t0;
  },
  225: (w, _a, b, _c, _r, da) => {
    const t0 = w.operation(OP.mul, da, b);
    return t0;
  },
  226: (w, a, _b, _c, _r, _da, db) => {
    const t0 = w.operation(OP.mul, db, a);
    return t0;
  },
  227: (w, a, b, _c, _r, da, db) => {
    const t0 = w.operation(OP.mul, da, b);
    const t1 = w.operation(OP.mul, db, a);
    const t2 = w.operation(OP.add, t0, t1);
    return t2;
  },
  233: (w, _a, b, _c, _r, da) => {
    const t0 = w.operation(OP.div, da, b);
    return t0;
  },
  234: (w, _a, b, _c, r, _da, db) => {
    const t0 = w.operation(OP.mul, db, r);
    const t1 = w.operation(OP.neg, t0, 0);
    const t2 = w.operation(OP.div, t1, b);
    return t2;
  },
  235: (w, _a, b, _c, r, da, db) => {
    const t0 = w.operation(OP.mul, db, r);
    const t1 = w.operation(OP.sub, da, t0);
    const t2 = w.operation(OP.div, t1, b);
    return t2;
  },
  241: (w, a, b, _c, _r, da) => {
    const t0 = w.operation(OP.gt, b, a);
    const t1 = w.operation(OP.lt, b, a);
    const t2 = w.operation(OP.mul, da, w.number(0.5));
    const t3 = w.select(t1, w.number(0), t2);
    const t4 = w.select(t0, da, t3);
    return t4;
  },
  242: (w, a, b, _c, _r, _da, db) => {
    const t0 = w.operation(OP.gt, b, a);
    const t1 = w.operation(OP.lt, b, a);
    const t2 = w.operation(OP.mul, db, w.number(0.5));
    const t3 = w.select(t1, db, t2);
    const t4 = w.select(t0, w.number(0), t3);
    return t4;
  },
  243: (w, a, b, _c, _r, da, db) => {
    const t0 = w.operation(OP.gt, b, a);
    const t1 = w.operation(OP.lt, b, a);
    const t2 = w.operation(OP.add, da, db);
    const t3 = w.operation(OP.mul, t2, w.number(0.5));
    const t4 = w.select(t1, db, t3);
    const t5 = w.select(t0, da, t4);
    return t5;
  },
  249: (w, a, b, _c, _r, da) => {
    const t0 = w.operation(OP.gt, a, b);
    const t1 = w.operation(OP.lt, a, b);
    const t2 = w.operation(OP.mul, da, w.number(0.5));
    const t3 = w.select(t1, w.number(0), t2);
    const t4 = w.select(t0, da, t3);
    return t4;
  },
  250: (w, a, b, _c, _r, _da, db) => {
    const t0 = w.operation(OP.gt, a, b);
    const t1 = w.operation(OP.lt, a, b);
    const t2 = w.operation(OP.mul, db, w.number(0.5));
    const t3 = w.select(t1, db, t2);
    const t4 = w.select(t0, w.number(0), t3);
    return t4;
  },
  251: (w, a, b, _c, _r, da, db) => {
    const t0 = w.operation(OP.gt, a, b);
    const t1 = w.operation(OP.lt, a, b);
    const t2 = w.operation(OP.add, da, db);
    const t3 = w.operation(OP.mul, t2, w.number(0.5));
    const t4 = w.select(t1, db, t3);
    const t5 = w.select(t0, da, t4);
    return t5;
  },
  257: (w, a, b, _c, _r, da) => {
    const t0 = w.operation(OP.eq, a, w.number(0));
    const t1 = w.operation(OP.eq, b, w.number(0));
    const t2 = w.operation(OP.and, t0, t1);
    const t3 = w.operation(OP.sub, b, w.number(1.0));
    const t4 = w.operation(OP.pow, a, t3);
    const t5 = w.operation(OP.mul, b, t4);
    const t6 = w.select(t2, w.number(0), t5);
    const t7 = w.operation(OP.mul, da, t6);
    return t7;
  },
  258: (w, a, _b, _c, r, _da, db) => {
    const t0 = w.operation(OP.eq, r, w.number(0));
    const t1 = w.select(t0, w.number(1.0), a);
    const t2 = w.operation(OP.log, t1, 0);
    const t3 = w.operation(OP.mul, r, t2);
    const t4 = w.select(t0, w.number(0), t3);
    const t5 = w.operation(OP.mul, db, t4);
    return t5;
  },
  259: (w, a, b, _c, r, da, db) => {
    const t0 = w.operation(OP.eq, a, w.number(0));
    const t1 = w.operation(OP.eq, b, w.number(0));
    const t2 = w.operation(OP.and, t0, t1);
    const t3 = w.operation(OP.sub, b, w.number(1.0));
    const t4 = w.operation(OP.pow, a, t3);
    const t5 = w.operation(OP.mul, b, t4);
    const t6 = w.select(t2, w.number(0), t5);
    const t7 = w.operation(OP.mul, da, t6);
    const t8 = w.operation(OP.eq, r, w.number(0));
    const t9 = w.select(t8, w.number(1.0), a);
    const t10 = w.operation(OP.log, t9, 0);
    const t11 = w.operation(OP.mul, r, t10);
    const t12 = w.select(t8, w.number(0), t11);
    const t13 = w.operation(OP.mul, db, t12);
    const t14 = w.operation(OP.add, t7, t13);
    return t14;
  },
  265: (w, a, b, _c, _r, da) => {
    const t0 = w.operation(OP.hypot, a, b);
    const t1 = w.operation(OP.div, b, t0);
    const t2 = w.operation(OP.mul, da, t1);
    const t3 = w.operation(OP.div, t2, t0);
    return t3;
  },
  266: (w, a, b, _c, _r, _da, db) => {
    const t0 = w.operation(OP.hypot, a, b);
    const t1 = w.operation(OP.div, a, t0);
    const t2 = w.operation(OP.mul, db, t1);
    const t3 = w.operation(OP.neg, t2, 0);
    const t4 = w.operation(OP.div, t3, t0);
    return t4;
  },
  267: (w, a, b, _c, _r, da, db) => {
    const t0 = w.operation(OP.hypot, a, b);
    const t1 = w.operation(OP.div, b, t0);
    const t2 = w.operation(OP.mul, da, t1);
    const t3 = w.operation(OP.div, a, t0);
    const t4 = w.operation(OP.mul, db, t3);
    const t5 = w.operation(OP.sub, t2, t4);
    const t6 = w.operation(OP.div, t5, t0);
    return t6;
  },
  273: (w, a, _b, _c, r, da) => {
    const t0 = w.operation(OP.max, r, w.number(5e-324));
    const t1 = w.operation(OP.div, a, t0);
    const t2 = w.operation(OP.min, r, w.number(1.0));
    const t3 = w.operation(OP.sqrt, t2, 0);
    const t4 = w.operation(OP.mul, w.number(0), t3);
    const t5 = w.operation(OP.add, t1, t4);
    const t6 = w.operation(OP.mul, da, t5);
    return t6;
  },
  274: (w, _a, b, _c, r, _da, db) => {
    const t0 = w.operation(OP.max, r, w.number(5e-324));
    const t1 = w.operation(OP.div, b, t0);
    const t2 = w.operation(OP.min, r, w.number(1.0));
    const t3 = w.operation(OP.sqrt, t2, 0);
    const t4 = w.operation(OP.mul, w.number(0), t3);
    const t5 = w.operation(OP.add, t1, t4);
    const t6 = w.operation(OP.mul, db, t5);
    return t6;
  },
  275: (w, a, b, _c, r, da, db) => {
    const t0 = w.operation(OP.max, r, w.number(5e-324));
    const t1 = w.operation(OP.div, a, t0);
    const t2 = w.operation(OP.min, r, w.number(1.0));
    const t3 = w.operation(OP.sqrt, t2, 0);
    const t4 = w.operation(OP.mul, w.number(0), t3);
    const t5 = w.operation(OP.add, t1, t4);
    const t6 = w.operation(OP.mul, da, t5);
    const t7 = w.operation(OP.div, b, t0);
    const t8 = w.operation(OP.add, t7, t4);
    const t9 = w.operation(OP.mul, db, t8);
    const t10 = w.operation(OP.add, t6, t9);
    return t10;
  },
  425: (_w, _a, _b, _c, _r, da) => {
    return da;
  },
  498: (w, a, _b, _c, _r, _da, db) => {
    const t0 = w.select(a, db, w.number(0));
    return t0;
  },
  500: (w, a, _b, _c, _r, _da, _db, dc) => {
    const t0 = w.select(a, w.number(0), dc);
    return t0;
  },
  502: (w, a, _b, _c, _r, _da, db, dc) => {
    const t0 = w.select(a, db, dc);
    return t0;
  },
};

export const PULL: Readonly<Record<number, Pull>> = {
  1: (w, a, _b, _c, _r, d) => {
    w.take(a, d);
  },
  9: (w, a, _b, _c, _r, d) => {
    const t0 = w.operation(OP.side, a, 0);
    const t1 = w.operation(OP.mul, d, t0);
    w.add(a, t1);
  },
  57: (w, a, _b, _c, r, d) => {
    const t0 = w.operation(OP.add, r, r);
    const t1 = w.operation(OP.div, d, t0);
    w.add(a, t1);
  },
  65: (w, a, _b, _c, _r, d) => {
    const t0 = w.operation(OP.cos, a, 0);
    const t1 = w.operation(OP.mul, d, t0);
    w.add(a, t1);
  },
  73: (w, a, _b, _c, _r, d) => {
    const t0 = w.operation(OP.sin, a, 0);
    const t1 = w.operation(OP.mul, d, t0);
    w.take(a, t1);
  },
  81: (w, a, _b, _c, r, d) => {
    const t0 = w.operation(OP.mul, r, r);
    const t1 = w.operation(OP.add, w.number(1.0), t0);
    const t2 = w.operation(OP.mul, d, t1);
    w.add(a, t2);
  },
  89: (w, a, _b, _c, _r, d) => {
    const t0 = w.operation(OP.sub, w.number(1.0), a);
    const t1 = w.operation(OP.add, w.number(1.0), a);
    const t2 = w.operation(OP.mul, t0, t1);
    const t3 = w.operation(OP.sqrt, t2, 0);
    const t4 = w.operation(OP.div, d, t3);
    w.add(a, t4);
  },
  97: (w, a, _b, _c, _r, d) => {
    const t0 = w.operation(OP.sub, w.number(1.0), a);
    const t1 = w.operation(OP.add, w.number(1.0), a);
    const t2 = w.operation(OP.mul, t0, t1);
    const t3 = w.operation(OP.sqrt, t2, 0);
    const t4 = w.operation(OP.div, d, t3);
    w.take(a, t4);
  },
  105: (w, a, _b, _c, _r, d) => {
    const t0 = w.operation(OP.mul, a, a);
    const t1 = w.operation(OP.add, w.number(1.0), t0);
    const t2 = w.operation(OP.div, d, t1);
    w.add(a, t2);
  },
  113: (w, a, _b, _c, _r, d) => {
    const t0 = w.operation(OP.cosh, a, 0);
    const t1 = w.operation(OP.mul, d, t0);
    w.add(a, t1);
  },
  121: (w, a, _b, _c, _r, d) => {
    const t0 = w.operation(OP.sinh, a, 0);
    const t1 = w.operation(OP.mul, d, t0);
    w.add(a, t1);
  },
  129: (w, a, _b, _c, _r, d) => {
    const t0 = w.operation(OP.abs, a, 0);
    const t1 = w.operation(OP.mul, w.number(-2.0), t0);
    const t2 = w.operation(OP.exp, t1, 0);
    const t3 = w.operation(OP.mul, w.number(4.0), t2);
    const t4 = w.operation(OP.add, w.number(1.0), t2);
    const t5 = w.operation(OP.mul, t4, t4);
    const t6 = w.operation(OP.div, t3, t5);
    const t7 = w.operation(OP.mul, d, t6);
    w.add(a, t7);
  },
  137: (w, a, _b, _c, r, d) => {
    const t0 = w.operation(OP.mul, d, r);
    w.add(a, t0);
  },
  145: (w, a, _b, _c, _r, d) => {
    const t0 = w.operation(OP.exp, a, 0);
    const t1 = w.operation(OP.mul, d, t0);
    w.add(a, t1);
  },
  153: (w, a, _b, _c, _r, d) => {
    const t0 = w.operation(OP.div, d, a);
    w.add(a, t0);
  },
  161: (w, a, _b, _c, _r, d) => {
    const t0 = w.operation(OP.add, w.number(1.0), a);
    const t1 = w.operation(OP.div, d, t0);
    w.add(a, t1);
  },
  169: (w, a, _b, _c, _r, d) => {
    const t0 = w.operation(OP.div, d, w.number(0.6931471805599453));
    const t1 = w.operation(OP.div, t0, a);
    w.add(a, t1);
  },
  177: (w, a, _b, _c, _r, d) => {
    const t0 = w.operation(OP.div, d, w.number(2.302585092994046));
    const t1 = w.operation(OP.div, t0, a);
    w.add(a, t1);
  },
  185: (w, a, _b, _c, r, d) => {
    const t0 = w.operation(OP.mul, r, r);
    const t1 = w.operation(OP.mul, w.number(3.0), t0);
    const t2 = w.operation(OP.div, d, t1);
    w.add(a, t2);
  },
  209: (w, a, _b, _c, _r, d) => {
    w.add(a, d);
  },
  210: (w, _a, b, _c, _r, d) => {
    w.add(b, d);
  },
  211: (w, a, b, _c, _r, d) => {
    w.add(a, d);
    w.add(b, d);
  },
  217: (w, a, _b, _c, _r, d) => {
    w.add(a, d);
  },
  218: (w, _a, b, _c, _r, d) => {
    w.take(b, d);
  },
  219: (w, a, b, _c, _r, d) => {
    w.add(a, d);
    w.take(b, d);
  },
  225: (w, a, b, _c, _r, d) => {
    const t0 = w.operation(OP.mul, d, b);
    w.add(a, t0);
  },
  226: (w, a, b, _c, _r, d) => {
    const t0 = w.operation(OP.mul, d, a);
    w.add(b, t0);
  },
  227: (w, a, b, _c, _r, d) => {
    const t0 = w.operation(OP.mul, d, a);
    const t1 = w.operation(OP.mul, d, b);
    w.add(a, t1);
    w.add(b, t0);
  },
  233: (w, a, b, _c, _r, d) => {
    const t0 = w.operation(OP.div, d, b);
    w.add(a, t0);
  },
  234: (w, _a, b, _c, r, d) => {
    const t0 = w.operation(OP.div, d, b);
    const t1 = w.operation(OP.mul, t0, r);
    w.take(b, t1);
  },
  235: (w, a, b, _c, r, d) => {
    const t0 = w.operation(OP.div, d, b);
    const t1 = w.operation(OP.mul, t0, r);
    w.add(a, t0);
    w.take(b, t1);
  },
  241: (w, a, b, _c, _r, d) => {
    const t0 = w.operation(OP.gt, b, a);
    const t1 = w.operation(OP.lt, b, a);
    const t2 = w.operation(OP.mul, d, w.number(0.5));
    const t3 = w.operation(OP.or, t0, t1);
    const t4 = w.select(t3, w.number(0), t2);
    const t5 = w.select(t0, d, t4);
    w.add(a, t5);
  },
  242: (w, a, b, _c, _r, d) => {
    const t0 = w.operation(OP.gt, b, a);
    const t1 = w.operation(OP.lt, b, a);
    const t2 = w.operation(OP.mul, d, w.number(0.5));
    const t3 = w.operation(OP.or, t0, t1);
    const t4 = w.select(t3, w.number(0), t2);
    const t5 = w.select(t1, d, t4);
    w.add(b, t5);
  },
  243: (w, a, b, _c, _r, d) => {
    const t0 = w.operation(OP.gt, b, a);
    const t1 = w.operation(OP.lt, b, a);
    const t2 = w.operation(OP.mul, d, w.number(0.5));
    const t3 = w.operation(OP.or, t0, t1);
    const t4 = w.select(t3, w.number(0), t2);
    const t5 = w.select(t0, d, t4);
    const t6 = w.select(t1, d, t4);
    w.add(a, t5);
    w.add(b, t6);
  },
  249: (w, a, b, _c, _r, d) => {
    const t0 = w.operation(OP.gt, a, b);
    const t1 = w.operation(OP.lt, a, b);
    const t2 = w.operation(OP.mul, d, w.number(0.5));
    const t3 = w.operation(OP.or, t0, t1);
    const t4 = w.select(t3, w.number(0), t2);
    const t5 = w.select(t0, d, t4);
    w.add(a, t5);
  },
  250: (w, a, b, _c, _r, d) => {
    const t0 = w.operation(OP.gt, a, b);
    const t1 = w.operation(OP.lt, a, b);
    const t2 = w.operation(OP.mul, d, w.number(0.5));
    const t3 = w.operation(OP.or, t0, t1);
    const t4 = w.select(t3, w.number(0), t2);
    const t5 = w.select(t1, d, t4);
    w.add(b, t5);
  },
  251: (w, a, b, _c, _r, d) => {
    const t0 = w.operation(OP.gt, a, b);
    const t1 = w.operation(OP.lt, a, b);
    const t2 = w.operation(OP.mul, d, w.number(0.5));
    const t3 = w.operation(OP.or, t0, t1);
    const t4 = w.select(t3, w.number(0), t2);
    const t5 = w.select(t0, d, t4);
    const t6 = w.select(t1, d, t4);
    w.add(a, t5);
    w.add(b, t6);
  },
  257: (w, a, b, _c, _r, d) => {
    const t0 = w.operation(OP.eq, a, w.number(0));
    const t1 = w.operation(OP.eq, b, w.number(0));
    const t2 = w.operation(OP.and, t0, t1);
    const t3 = w.operation(OP.sub, b, w.number(1.0));
    const t4 = w.operation(OP.pow, a, t3);
    const t5 = w.operation(OP.mul, b, t4);
    const t6 = w.select(t2, w.number(0), t5);
    const t7 = w.operation(OP.mul, d, t6);
    w.add(a, t7);
  },
  258: (w, a, b, _c, r, d) => {
    const t0 = w.operation(OP.eq, r, w.number(0));
    const t1 = w.select(t0, w.number(1.0), a);
    const t2 = w.operation(OP.log, t1, 0);
    const t3 = w.operation(OP.mul, r, t2);
    const t4 = w.select(t0, w.number(0), t3);
    const t5 = w.operation(OP.mul, d, t4);
    w.add(b, t5);
  },
  259: (w, a, b, _c, r, d) => {
    const t0 = w.operation(OP.eq, r, w.number(0));
    const t1 = w.select(t0, w.number(1.0), a);
    const t2 = w.operation(OP.log, t1, 0);
    const t3 = w.operation(OP.mul, r, t2);
    const t4 = w.select(t0, w.number(0), t3);
    const t5 = w.operation(OP.mul, d, t4);
    const t6 = w.operation(OP.eq, a, w.number(0));
    const t7 = w.operation(OP.eq, b, w.number(0));
    const t8 = w.operation(OP.and, t6, t7);
    const t9 = w.operation(OP.sub, b, w.number(1.0));
    const t10 = w.operation(OP.pow, a, t9);
    const t11 = w.operation(OP.mul, b, t10);
    const t12 = w.select(t8, w.number(0), t11);
    const t13 = w.operation(OP.mul, d, t12);
    w.add(a, t13);
    w.add(b, t5);
  },
  265: (w, a, b, _c, _r, d) => {
    const t0 = w.operation(OP.hypot, a, b);
    const t1 = w.operation(OP.div, d, t0);
    const t2 = w.operation(OP.div, b, t0);
    const t3 = w.operation(OP.mul, t1, t2);
    w.add(a, t3);
  },
  266: (w, a, b, _c, _r, d) => {
    const t0 = w.operation(OP.hypot, a, b);
    const t1 = w.operation(OP.div, d, t0);
    const t2 = w.operation(OP.div, a, t0);
    const t3 = w.operation(OP.mul, t1, t2);
    w.take(b, t3);
  },
  267: (w, a, b, _c, _r, d) => {
    const t0 = w.operation(OP.hypot, a, b);
    const t1 = w.operation(OP.div, d, t0);
    const t2 = w.operation(OP.div, a, t0);
    const t3 = w.operation(OP.mul, t1, t2);
    const t4 = w.operation(OP.div, b, t0);
    const t5 = w.operation(OP.mul, t1, t4);
    w.add(a, t5);
    w.take(b, t3);
  },
  273: (w, a, _b, _c, r, d) => {
    const t0 = w.operation(OP.max, r, w.number(5e-324));
    const t1 = w.operation(OP.div, a, t0);
    const t2 = w.operation(OP.min, r, w.number(1.0));
    const t3 = w.operation(OP.sqrt, t2, 0);
    const t4 = w.operation(OP.mul, w.number(0), t3);
    const t5 = w.operation(OP.add, t1, t4);
    const t6 = w.operation(OP.mul, d, t5);
    w.add(a, t6);
  },
  274: (w, _a, b, _c, r, d) => {
    const t0 = w.operation(OP.max, r, w.number(5e-324));
    const t1 = w.operation(OP.div, b, t0);
    const t2 = w.operation(OP.min, r, w.number(1.0));
    const t3 = w.operation(OP.sqrt, t2, 0);
    const t4 = w.operation(OP.mul, w.number(0), t3);
    const t5 = w.operation(OP.add, t1, t4);
    const t6 = w.operation(OP.mul, d, t5);
    w.add(b, t6);
  },
  275: (w, a, b, _c, r, d) => {
    const t0 = w.operation(OP.max, r, w.number(5e-324));
    const t1 = w.operation(OP.div, b, t0);
    const t2 = w.operation(OP.min, r, w.number(1.0));
    const t3 = w.operation(OP.sqrt, t2, 0);
    const t4 = w.operation(OP.mul, w.number(0), t3);
    const t5 = w.operation(OP.add, t1, t4);
    const t6 = w.operation(OP.mul, d, t5);
    const t7 = w.operation(OP.div, a, t0);
    const t8 = w.operation(OP.add, t7, t4);
    const t9 = w.operation(OP.mul, d, t8);
    w.add(a, t9);
    w.add(b, t6);
  },
  425: (w, a, _b, _c, _r, d) => {
    w.add(a, d);
  },
  498: (w, a, b, _c, _r, d) => {
    const t0 = w.select(a, d, w.number(0));
    w.add(b, t0);
  },
  500: (w, a, _b, c, _r, d) => {
    const t0 = w.select(a, w.number(0), d);
    w.add(c, t0);
  },
  502: (w, a, b, c, _r, d) => {
    const t0 = w.select(a, d, w.number(0));
    const t1 = w.select(a, w.number(0), d);
    w.add(b, t0);
    w.add(c, t1);
  },
};
