"""The bridge under Node: the whole interface, without a page."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import build
from build import DIST
from rose_core.language.ops import OPS

NAMES = (
    "Bool Dual Null Real Size Tan Vec abs add and ceil compile div eq floor fn geq gt iadd ieq iff igeq igt ileq "
    "idiv ilt imod ineq interp jvp leq lt mul neg neq not opaque or select sign sqrt struct sub sum trunc vec vjp "
    "xor zero sin cos tan asin acos atan atan2 sinh cosh tanh exp expm1 log log1p log2 log10 pow cbrt hypot "
    "min max configure ready checkpoint cond fori scan whileLoop real index isub imul imin imax "
    "fixedPoint functional minimize odeint quad root "
    "grad valueAndGrad hvp linearize jacobian hessian sparseJacobian sparseHessian jet vmap hot inspect python"
).split()

Run = Callable[[str], str]


def test_long_chains_of_calls_leave_python_alive(own_node: Run) -> None:
    """Interpreted and compiled, and let go of again: engines have little room on their stacks.

    Of choices in each other, Python ended at 1,000 where each was freed inside of the one before.
    """
    body = """
        const { Real, add, cond, fn, grad, interp, compile, lt, sin } = rose;
        const chain = ([length, step]) => {
            let f = fn([Real], Real, (x) => sin(x));
            for (let k = 0; k < length; ++k) {
                const g = f;
                f = fn([Real], Real, (x) => step(g, x));
            }
            return grad(f);
        };
        const steps = [
            [2500, (g, x) => add(g(x), 1)],
            [1000, (g, x) => cond(lt(x, 9), Real, () => add(g(x), 1), () => x)],
        ];
        const found = [];
        for (const step of [...steps, steps[1]]) {
            const f = chain(step);
            found.push(interp(f)(0), (await compile(f))(0));
        }
        return found;"""
    assert evaluate(own_node, body) == [1] * 6


def evaluate(node: Run, body: str) -> object:
    """What ``body`` returns, as JSON, with the module as ``rose``."""
    code = f"""
        import * as rose from "./rose.js";
        await rose.ready();
        const same = async (f, ...args) => {{
            const a = rose.interp(f)(...args), b = (await rose.compile(f))(...args);
            if (JSON.stringify(a) !== JSON.stringify(b)) throw Error(JSON.stringify([a, b]));
            return b;
        }};
        const messages = [];
        const attempt = (action) => {{
            try {{ action(); messages.push("no error"); }}
            catch (error) {{ messages.push(`${{error.name}}: ${{error.message}}`); }}
        }};
        console.log(JSON.stringify(await (async () => {{ {body} }})()));"""
    return json.loads(node(code))


def test_the_names(node: Run) -> None:
    assert evaluate(node, "return Object.keys(rose)") == sorted(NAMES)
    table = {op.name for op in OPS} - {"bound", "defined", "narrow", "side"}
    assert table <= set(NAMES)


def test_sign(node: Run) -> None:
    """The same in the interpreter and as WebAssembly: that of a zero is its sign bit's, that of NaN is NaN."""
    body = """
        const { Real, compile, fn, interp, neg, sign } = rose;
        const f = fn([Real], Real, (x) => sign(x)), g = fn([Real], Real, (x) => sign(neg(x)));
        const both = [interp(f), await compile(f), interp(g), await compile(g)];
        return both.map((h) => [0, -0, 5e-324, -Infinity, NaN].map((x) => String(h(x))));"""
    straight, turned = ["1", "-1", "1", "-1", "NaN"], ["-1", "1", "-1", "1", "NaN"]
    assert evaluate(node, body) == [straight, straight, turned, turned]


def test_every_operation(node: Run) -> None:
    """Each operation on numbers: interpreter and WebAssembly agree with `Math`, but for a last digit."""
    body = """
        const { Real, Vec, fn, interp, compile } = rose;
        const unary = ["sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "expm1", "log",
            "log1p", "log2", "log10", "cbrt", "abs", "ceil", "floor", "trunc", "sqrt"];
        const binary = ["pow", "atan2", "hypot", "min", "max"];
        const wrong = [];
        const close = (a, b) => Object.is(a, b) || Math.abs(a - b) <= 4e-16 * Math.abs(b);
        for (const name of [...unary, ...binary]) {
            const arity = unary.includes(name) ? 1 : 2;
            const f = fn(Array(arity).fill(Real), Real, (...x) => rose[name](...x));
            const compiled = await compile(f), interpreted = interp(f);
            for (const x of [[0.3, 0.7], [-0.5, 3], [2.5, -1.5], [0, 0]]) {
                const args = x.slice(0, arity), expected = Math[name](...args);
                if (!close(compiled(...args), expected)) wrong.push([name, args, compiled(...args), expected]);
                if (!close(interpreted(...args), expected)) wrong.push([name, args, interpreted(...args), expected]);
            }
        }
        return wrong;"""
    assert evaluate(node, body) == []


def test_structure(node: Run) -> None:
    """Structs and vectors destructured, iterated and nested; indices, loops, choices, calls."""
    body = """
        const { Bool, Null, Real, Vec, struct, fn, vec, sum, select, iadd, imod, ilt, lt, mul, add, not } = rose;
        const Point = struct({ y: Real, x: Real });
        const Shape = struct({ points: Vec(3, Point), closed: Bool, first: 3, nothing: Null });
        const f = fn([Shape, Real], { shape: Shape, lengths: Vec(3, Vec(2, Real)), sum: Real, next: 3 }, (shape, scale) => {
            const { points, closed, first } = shape;
            const [p, q, r] = points;
            return {
                shape: { ...shape, closed: not(closed), points: vec(3, Point, (i) =>
                    select(ilt(3, i, first), Point, points[i], { x: points[i].y, y: points[i].x })) },
                lengths: points.map(({ x, y }) => [mul(x, scale), y]),
                sum: add(sum(3, (i) => mul(points[i].x, points[first].y)), add(p.x, add(q.y, r.x))),
                next: imod(3, iadd(3, first, 1)),
            };
        });
        const points = [{ x: 1, y: 2 }, { x: 3, y: 4 }, { x: 5, y: 6 }];
        return await same(f, { points, closed: true, first: 1, nothing: null }, 10);"""
    assert evaluate(node, body) == {
        "shape": {
            "points": [{"y": 2, "x": 1}, {"y": 3, "x": 4}, {"y": 5, "x": 6}],
            "closed": False,
            "first": 1,
            "nothing": None,
        },
        "lengths": [[10, 2], [30, 4], [50, 6]],
        "sum": 9 * 4 + 1 + 4 + 5,
        "next": 2,
    }


def test_vectors_joined_as_arrays_are(node: Run) -> None:
    body = """
        const { Real, Vec, fn } = rose;
        const f = fn([Vec(2, Real), [Real, Real]], Vec(7, Real), (v, t) => v.concat([0].concat(t, v)));
        return await same(f, [1, 2], [3, 4]);"""
    assert evaluate(node, body) == [1, 2, 0, 3, 4, 1, 2]


def test_tuples(node: Run) -> None:
    """Of a type that is an array of types, the values are arrays, in a body and outside of it."""
    body = """
        const { Real, Vec, add, compile, fn, grad, interp, mul, opaque, struct, vec } = rose;
        const Pair = struct([Real, Vec(2, Real)]);
        const swap = fn([Pair], [Vec(2, Real), Real], ([x, v]) => [v, x]);
        const total = fn([Pair], Real, (pair) => {
            const [[a, b], x] = swap(pair);
            return add(mul(a, b), pair.slice(0, pair.length - 1).map((y) => mul(x, y))[0]);
        });
        const product = fn([Real, Real], Real, (x, y) => mul(x, mul(y, y)));
        const slopes = fn([Real, Real], Real, (x, y) => {
            const [dx, dy] = grad(product, [0, 1])(x, y);
            return add(dx, mul(10, dy));
        });
        const Many = Array(11).fill(Real);
        const many = fn([struct(Many)], { all: Many }, (all) => ({ all }));
        const told = [];
        const tell = opaque([Pair], Real, (pair) => told.push(JSON.stringify(pair)));
        const out = [await same(swap, [1, [2, 3]]), await same(total, [4, [2, 3]]), await same(slopes, 3, 2),
            await same(many, [...Many.keys()]), interp(fn([Pair], Real, (pair) => tell(pair)))([5, [6, 7]]), told,
            await same(fn([], Vec(2, Many.slice(9)), () => vec(2, Many.slice(9), () => ({ 0: 1, 1: 2 }))))];
        const [[x, v]] = (await compile(swap)).args;
        attempt(() => fn([Pair], Real, (pair) => pair[2]));
        attempt(() => fn([Real], [Real, Real], (x) => [x]));
        attempt(() => interp(swap)([1]));
        attempt(() => interp(fn([[Real, Real]], Real, ([a]) => a))(new Float64Array(3)));
        return [...out, [x.length, v.length], messages];"""
    assert evaluate(node, body) == [
        [[2, 3], 1],
        6 + 4 * 4,
        4 + 10 * 12,
        {"all": list(range(11))},
        1,
        ["[5,[6,7]]"],
        [[1, 2], [1, 2]],
        [1, 2],
        [
            'TypeError: unexpected key: [Real, Vec(2, Real)] has no "2"',
            "TypeError: the result of f: wrong struct keys: expected 0, 1, got 0",
            "TypeError: argument 1 of f: expected an object with 0, 1, got an array of 1",
            "TypeError: argument 1 of f: expected an object with 0, 1, got a Float64Array of 3",
        ],
    ]


def test_tuples_and_vectors_stand_for_each_other(node: Run) -> None:
    """Where they have as many elements, of the same types: as arrays of elements do, of which both look like one."""
    body = """
        const { Real, Size, Vec, add, fn, grad, jvp, mul, sub, sum } = rose;
        const n = Size("n"), T = [Real, Real], R2 = Vec(2, Real);
        const norm = fn([R2], Real, ([x, y]) => add(mul(x, x), y));
        const squares = fn([Vec(n, Real)], Real, (v) => sum(n, (i) => mul(v[i], v[i])));
        const less = fn([T], Real, ([x, y]) => sub(x, y));
        const product = fn([Real, Real], Real, (x, y) => mul(x, mul(y, y)));
        const ruled = fn([T], Real, ([x, y]) => norm([x, y]));
        ruled.jvp = fn([[rose.Dual, rose.Dual]], rose.Dual, (t) => jvp(norm)(t));
        attempt(() => fn([[Real, Real, Real]], Real, (t) => norm(t)));
        attempt(() => fn([[Real, rose.Bool]], Real, (t) => norm(t)));
        attempt(() => fn([{ x: Real, y: Real }], Real, (s) => norm(s)));
        return [
            await same(fn([T], Real, (t) => norm(t)), [2, 3]),
            await same(fn([T], Real, (t) => squares(t)), [2, 3]),
            await same(fn([R2], Real, (v) => less(v)), [2, 3]),
            await same(fn([R2], T, (v) => v), [2, 3]),
            await same(fn([Real, Real], Real, (x, y) => norm(grad(product, [0, 1])(x, y))), 2, 3),
            await same(fn([[T, T]], Vec(2, R2), (t) => t), [[1, 2], [3, 4]]),
            await same(grad(ruled), [2, 3]),
            messages,
        ];"""
    *values, messages = evaluate(node, body)
    assert values == [7, 13, -1, [2, 3], 93, [[1, 2], [3, 4]], [4, 1]]
    assert messages == [
        "RangeError: argument 1 of f: wrong array size: expected 2 elements for Vec(2, Real), got 3",
        "TypeError: argument 1 of f[1]: variable type mismatch: expected Real, got Bool",
        "TypeError: argument 1 of f: variable type mismatch: expected Vec(2, Real), got { x: Real, y: Real }",
    ]


def test_the_order_of_fields_is_everybodys_own(node: Run) -> None:
    """What somebody else has defined of the same fields makes no difference, and neither has another type."""
    body = """
        const { Real, Vec, compile, fn, grad, interp, mul, sparseJacobian } = rose;
        const product = fn([Real, Real], Real, (x, y) => mul(x, mul(y, y)));
        const turned = await same(grad(product, [1, 0]), 2, 3);
        const pair = await same(fn([[Real, Real]], [Real, Real], ([a, b]) => [b, a]), [1, 2]);
        const first = fn([{ x: Real, y: Real }], Real, (p) => p.x);
        const points = fn([Vec(2, { x: Real, y: Real })], { x: Real, y: Real }, (v) => v[1]);
        const columns = [fn([{ y: Real, x: Real }], Real, (p) => p.y), fn([Vec(2, { y: Real, x: Real })], Real, (v) => v[1].x)]
            .map(async (f) => [...(await sparseJacobian(f)).columns]);
        const made = await compile(fn([Real], { y: Real, x: Real }, (x) => ({ x, y: 2 })));
        const passed = fn([Vec(2, { y: Real, x: Real })], Real, (v) => first(points(v)));
        return [turned, pair, await Promise.all(columns), Object.keys(made(1)),
            await same(passed, [{ x: 1, y: 2 }, { x: 3, y: 4 }])];"""
    assert evaluate(node, body) == [[9, 12], [2, 1], [[0], [3]], ["y", "x"], 3]


def test_an_index_is_checked_where_it_is_used(node: Run) -> None:
    """It is made before a choice, or a loop, which guards it."""
    body = """
        const { Real, Vec, add, cond, fn, fori, grad, iadd, ieq, ilt, mul, select, sub, sum, vec } = rose;
        const V = Vec(3, Real);
        const guarded = fn([3, V], Real, (i, v) => {
            const k = iadd(3, i, 1);
            const none = ieq(3, i, 2);
            const turns = rose.index(3, select(none, Real, 0, 2));
            return add(cond(none, Real, () => 0, () => sub(v[k], v[i])),
                fori(turns, Real, 0, (_, s) => add(s, mul(v[k], v[i]))));
        });
        const next = fn([V], Real, (v) => sum(3, (i) => {
            const k = iadd(3, i, 1);
            return cond(ilt(3, i, 2), Real, () => mul(v[k], v[i]), () => 0);
        }));
        const never = fn([Vec(1, Real)], Real, (v) => add(v[0], sum(0, (i) => v[iadd(1, i, 1)])));
        const v = [1, 3, 7];
        return [await same(guarded, 0, v), await same(guarded, 2, v), await same(grad(guarded, 1), 2, v),
            await same(grad(next), v), await same(never, [5])];"""
    assert evaluate(node, body) == [8, 0, [0, 0, 0], [3, 8, 3], 5]


def test_differences_of_indices_below_zero(node: Run) -> None:
    body = """
        const { Real, Vec, fn, iadd, idiv, igeq, imax, imod, isub, select, sub, sum, vec } = rose;
        const n = 4, V = Vec(n, Real), v = [1, 2, 3, 4];
        const of = (turn) => same(fn([V], V, (v) => vec(n, Real, turn(v))), v);
        return [
            await of((v) => (i) => v[imod(n, isub(n, i, 1))]),
            await of((v) => (i) => v[imod(n, isub(n, i, 3))]),
            await of((v) => (i) => v[imax(n, isub(n, i, 2), 0)]),
            await of((v) => (i) => v[imax(n, idiv(n, isub(n, i, 1), 2), 0)]),
            await of((v) => (i) => v[iadd(n, idiv(n, isub(n, i, 3), 2), 2)]),
            await of((v) => (i) => sum(n, (j) => select(igeq(n, isub(n, i, j), 0), Real, v[j], 0))),
        ];"""
    assert evaluate(node, body) == [
        [4, 1, 2, 3],
        [2, 3, 4, 1],
        [1, 1, 1, 2],
        [1, 1, 1, 2],
        [1, 2, 2, 3],
        [1, 3, 6, 10],
    ]


def test_indices_are_compared_with_any_number(node: Run) -> None:
    body = """
        const { Real, Size, Vec, fn, iadd, ieq, igeq, igt, ileq, ilt, imod, ineq, isub, select, sum } = rose;
        const n = Size("n");
        const numbers = [-(2 ** 40), -2, -1, 0, 1, 3, 2 ** 31 - 1, 2 ** 40];
        const wrong = [];
        for (const size of [0, 1, 3])
            for (const shift of [0, 1])
                for (const [op, holds] of [[ilt, (i, k) => i < k], [ileq, (i, k) => i <= k], [ieq, (i, k) => i === k],
                        [ineq, (i, k) => i !== k], [igeq, (i, k) => i >= k], [igt, (i, k) => i > k]])
                    for (const k of numbers) {
                        const body = (v) => sum(n, (i) => select(op(n, isub(n, i, shift), k), Real, v[i], 0));
                        const v = [1, 10, 100].slice(0, size);
                        const found = await same(fn([Vec(n, Real)], Real, body).at({ n: size }), v);
                        const expected = v.reduce((s, x, i) => s + (holds(i - shift, k) ? x : 0), 0);
                        if (found !== expected) wrong.push([size, shift, op.name, k, found]);
                    }
        const near = fn([Vec(n, Real)], Real, (v) => sum(n, (i) => v[imod(n, iadd(n, i, -1))]));
        const first = fn([Vec(n, Real)], Real, (v) => v[imod(n, 0)]);
        const values = [await same(near.at({ n: 0 }), []), await same(near.at({ n: 2 }), [3, 4])];
        try { first.at({ n: 0 }); } catch ({ message }) { values.push(message); }
        return [wrong, values];"""
    said = "imod: 0 is out of range, expected no index, since there are no elements"
    assert evaluate(node, body) == [[], [0, 7, said]]


def test_an_index_is_one_of_more_elements(node: Run) -> None:
    body = """
        const { Real, Vec, cond, fn, fori, grad, iadd, ilt, imin, imul, mul, real, select, sub, sum } = rose;
        const V = Vec(3, Real), v = [1, 2, 4];
        const passed = fn([3], Real, (i) => real(i));
        const bodies = [
            (v) => sum(2, (i) => v[i]),
            (v) => sum(2, (i) => sub(v[iadd(2, i, 1)], v[i])),
            (v) => sum(2, (i) => v[imul(2, i, 2)]),
            (v) => sum(2, (i) => sum(2, (j) => v[iadd(2, i, j)])),
            (v) => sum(3, (i) => sum(2, (j) => select(ilt(3, j, i), Real, v[i], 0))),
            (v) => sum(2, (i) => v[fori(2, 3, 0, (j, k) => imin(3, iadd(3, k, i), 2))]),
            (v) => sum(2, (i) => mul(passed(iadd(2, i, 1)), v[i])),
            (v) => fori(2, V, v, (i, w) => w.at[iadd(2, i, 1)].add(w[i]))[2],
            (v) => sum(2, (i) => cond(ilt(2, i, 1), Real, () => v[iadd(2, i, 1)], () => v[i])),
        ];
        const values = [];
        for (const body of bodies) {
            const f = fn([V], Real, body);
            values.push([await same(f, v), await same(grad(f), v)]);
        }
        const over = await rose.compile(fn([V], Real, (v) => sum(3, (i) => v[iadd(3, i, 1)])));
        attempt(() => over(v));
        return [values, /expected a whole number from 0 to 2/.test(messages[0])];"""
    assert evaluate(node, body) == [
        [
            [3, [1, 1, 0]],
            [3, [-1, 0, 1]],
            [5, [1, 0, 1]],
            [9, [1, 2, 1]],
            [10, [0, 1, 2]],
            [5, [1, 0, 1]],
            [5, [1, 2, 0]],
            [7, [1, 1, 1]],
            [4, [0, 2, 0]],
        ],
        True,
    ]


def test_structs_of_values(node: Run) -> None:
    """As with npm's rose, `struct` gives in a body what it was given; types are checked where it is called."""
    body = """
        const { Bool, Real, Vec, add, fn, mul, select, struct, lt } = rose;
        const V = Vec(2, Real), minus = (a, b) => struct([add(a[0], mul(-1, b[0])), 0.5]);
        const f = fn([V, V], { v: V, s: Real }, (a, b) => {
            const d = minus(a, b);
            const chosen = select(lt(d[0], 0), V, d, struct([0.25, 0.75]));
            return struct({ v: chosen, s: struct({ x: chosen[0] }).x });
        });
        attempt(() => struct({ x: 0.5 }));
        attempt(() => fn([], Real, () => fn([struct([0.5])], Real, () => 0)([1])));
        return [await same(f, [1, 2], [3, 4]), await same(f, [3, 4], [1, 2]), messages];"""
    assert evaluate(node, body) == [
        {"v": [-2, 0.5], "s": -2},
        {"v": [0.25, 0.75], "s": 0.25},
        ["TypeError: invalid type: 0.5; expected Real, Vec(3, Real), a size or the like"] * 2,
    ]


def test_typed_arrays(node: Run) -> None:
    body = """
        const { Real, Vec, compile, fn, vec, mul } = rose;
        const f = fn([Vec(2, Vec(3, Real))], Vec(2, Vec(3, Real)), (m) => vec(2, Vec(3, Real), (i) => vec(3, Real, (j) => mul(m[i][j], 2))));
        return (await compile(f))([Float64Array.of(1, 2, 3), Float32Array.of(4, 5, 6)]);"""
    assert evaluate(node, body) == [[2, 4, 6], [8, 10, 12]]


def test_large_vectors_and_a_memory_shared(node: Run) -> None:
    body = """
        const { Real, Vec, compile, fn, vec, mul } = rose;
        const memory = new WebAssembly.Memory({ initial: 0 });
        const small = fn([Vec(2, Real)], Vec(2, Real), ([x, y]) => [y, x]);
        const f = await compile(small, { memory });
        const before = memory.buffer.byteLength;
        const n = 20000;
        const g = await compile(fn([Vec(n, Real)], Vec(n, Real), (v) => vec(n, Real, (i) => mul(v[i], v[i]))), { memory });
        const squares = g(Array.from({ length: n }, (_, i) => i));
        const size = memory.buffer.byteLength;
        const constants = await compile(fn([Vec(2, Real)], Vec(4, Real), ([x, y]) => [x, 5, y, 6]), { memory });
        const table = await compile(fn([4], Real, (i) => fn([Vec(4, Real), 4], Real, (v, k) => v[k])([7, 8, 9, 10], i)), { memory });
        const again = [table(1), g(Array(n).fill(3))[5], table(2), constants([1, 2])];
        return [before, size > before, memory.buffer.byteLength === size, f([2, 3]), squares[n - 1], squares.length, again];"""
    again = [8, 9, 9, [1, 5, 2, 6]]
    assert evaluate(node, body) == [65536, True, True, [3, 2], 19999**2, 20000, again]


def test_results_do_not_share_memory(node: Run) -> None:
    body = """
        const { Real, Vec, compile, fn, vec, mul } = rose;
        const f = await compile(fn([Vec(2, Real)], Vec(2, Real), (v) => vec(2, Real, (i) => mul(v[i], 2))));
        const a = f([1, 2]), b = f([3, 4]);
        return [a, b];"""
    assert evaluate(node, body) == [[2, 4], [6, 8]]


def test_tables_of_an_author(node: Run) -> None:
    """Arrays of JavaScript become vectors, with elements at symbolic indices."""
    body = """
        const { Real, Vec, add, fn, index, mul, sum, vec } = rose;
        const data = [[1, 2], [3, 4], [5, 6]];
        const f = fn([Real, 3], Real, (x, k) => {
            const table = vec(3, Vec(2, Real), data);
            const own = vec(2, Real, [x, mul(x, x)]);
            const typed = vec(2, Real, Float64Array.of(10, 20));
            return sum(2, (i) => add(mul(table[k][i], own[i]), typed[i]));
        });
        return same(f, 2, 1);"""
    assert evaluate(node, body) == 3 * 2 + 4 * 4 + 30


def test_records_and_rows(node: Run) -> None:
    """Vectors of structs and of rows, as they come and in other forms, and what is wrong with them."""
    body = """
        const { Bool, Real, Vec, add, compile, fn, mul, real, select, sum } = rose;
        const item = { b: Real, a: Vec(2, Real), k: 4 };
        const f = fn([Vec(3, item), Vec(3, Vec(2, Real)), Vec(3, Vec(2, 5)), Vec(3, 4)], Real, (v, w, e, s) =>
            sum(3, (i) => [v[i].b, v[i].a[0], mul(10, v[i].a[1]), real(v[i].k), mul(100, w[i][1]), real(e[i][0]),
                mul(1000, real(e[i][1])), mul(0.5, real(s[i]))].reduce((x, y) => add(x, y))));
        const g = await compile(f);
        const records = [1, 2, 3].map((b) => ({ b, a: [b, -b], k: b }));
        const rows = [[0, 1], [2, 3], [4, 5]];
        const edges = [[0, 1], [2, 3], [4, 0]];
        const given = [records, rows, edges, [0, 1, 3]];
        const values = [g(...given)];
        values.push(g(records.map(({ k, a, b }) => ({ k, b, a: Float64Array.from(a) })),
            rows.map((row) => Float64Array.from(row)), edges.map((row) => Int32Array.from(row)), Int32Array.of(0, 1, 3)));
        values.push(g(records, Float64Array.from(rows.flat()), edges, [0, 1, 3]));
        values.push(g(records.map((record, id) => ({ id, ...record, color: "red" })), rows, edges, [0, 1, 3]));
        const but = (k, x) => attempt(() => g(...given.map((y, j) => (j === k ? x : y))));
        but(0, [...records.slice(0, 2), { b: 1, a: [1, "2"], k: 0 }]);
        but(0, [records[0], { b: 1, a: [1], k: 0 }, records[2]]);
        but(0, [records[0], { b: 1, a: [1, 2] }, records[2]]);
        but(0, [{ ...records[0], k: 4 }, ...records.slice(1)]);
        but(0, [null, ...records.slice(1)]);
        but(1, [[0, 1], [2, true], [3, 4]]);
        but(1, [[0, 1], [2, 3, 4], [3, 4]]);
        but(2, [[0, 1], [2, 5], [3, 4]]);
        but(2, [[0, 1], [2, 0.5], [3, 4]]);
        but(3, [0, -1, 2]);
        but(3, [0, 1]);
        return [values, messages];"""
    values, messages = evaluate(node, body)  # type: ignore[misc]
    expected = 6 + 6 - 60 + 6 + 900 + 6 + 4000 + 2
    assert values == [expected] * 4
    assert messages == [
        'TypeError: argument 1 of f[2].a[1]: expected Real, got the string "2"',
        "RangeError: argument 1 of f[1].a: expected 2 elements for Vec(2, Real), got 1",
        "TypeError: argument 1 of f[1]: expected an object with b, a, k, got an object with b, a",
        "RangeError: argument 1 of f[0].k: expected an index from 0 to 3, got 4",
        "TypeError: argument 1 of f[0]: expected { b: Real, a: Vec(2, Real), k: 4 }, got null",
        "TypeError: argument 2 of f[1][1]: expected Real, got true",
        "RangeError: argument 2 of f[1]: expected 2 elements for Vec(2, Real), got 3",
        "RangeError: argument 3 of f[1][1]: expected an index from 0 to 4, got 5",
        "RangeError: argument 3 of f[1][1]: expected an index from 0 to 4, got 0.5",
        "RangeError: argument 4 of f[1]: expected an index from 0 to 3, got -1",
        "RangeError: argument 4 of f: expected 3 elements for Vec(3, 4), got 2",
    ]


def test_records_there_and_back(node: Run) -> None:
    """Fields of every kind, in any order and among others, come back in the author's order."""
    body = """
        const { Bool, Real, Vec, compile, fn, interp } = rose;
        const item = { y: Real, on: Bool, x: Real, k: 5, row: Vec(2, Real), a: Real, b: Real };
        const one = { y: 1, on: true, x: 2, k: 3, row: [4, 5], a: 6, b: 7 };
        const turned = Object.fromEntries(Object.entries({ ...one, name: "p", on: false }).reverse());
        const f = fn([item, Vec(2, item)], [item, Vec(2, item)], (p, v) => [v[1], [p, v[0]]]);
        const several = [await compile(f), interp(f)].map((g) => g(one, [turned, { id: 1, ...one, y: 8 }]));
        attempt(() => interp(f)(one, [one, { ...one, on: 1 }]));
        const { b, ...less } = one;
        attempt(() => interp(f)(less, [one, one]));
        return [several, messages];"""
    several, messages = evaluate(node, body)  # type: ignore[misc]
    one = {"y": 1, "on": True, "x": 2, "k": 3, "row": [4, 5], "a": 6, "b": 7}
    assert several == [[one | {"y": 8}, [one, one | {"on": False}]]] * 2
    assert all(list(item) == list(one) for first, rest in several for item in (first, *rest))
    assert messages == [
        "TypeError: argument 2 of f[1].on: expected Bool, got 1",
        "TypeError: argument 1 of f: expected an object with y, on, x, k, row, a, b, "
        "got an object with y, on, x, k, row, a",
    ]


def test_sums_and_extremes_by_reduce(node: Run) -> None:
    """What `reduce` gives its callback besides is no mistake."""
    body = """
        const { Real, Vec, add, fn, max, min, mul } = rose;
        const f = fn([Vec(4, Real)], Vec(4, Real), (v) => [add, mul, max, min].map((op) => v.reduce(op)));
        return same(f, [3, -1, 4, 2]);"""
    assert evaluate(node, body) == [8, -24, 4, -1]


def test_functions_as_callbacks(node: Run) -> None:
    """Methods of arrays give an index and the array besides, which nobody asks for: to compiled functions, too."""
    body = """
        const { Real, Size, Vec, add, compile, fn, interp, mul, real, sub } = rose;
        const n = Size("n"), M = Vec(3, Vec(2, Real)), R3 = Vec(3, Real);
        const first = fn([Vec(2, Real)], Real, (v) => add(v[0], 1));
        const last = fn([Vec(n, Real)], Real, (v) => v.at(-1));
        const less = fn([Real, Real], Real, (x, y) => sub(x, y));
        const weighted = fn([Real, 3], Real, (x, i) => mul(x, real(i)));
        const rows = [[1, 2], [3, 4], [5, 6]];
        const all = [
            await same(fn([M], R3, (m) => m.map(first)), rows),
            await same(fn([M], R3, (m) => m.map(last)), rows),
            await same(fn([R3], Real, (v) => v.reduce(less)), [1, 2, 4]),
            await same(fn([R3], R3, (v) => v.map(weighted)), [1, 2, 4]),
            rows.map(await compile(first)), rows.map(interp(first)),
            [...Float64Array.of(1, 2).map(await compile(fn([Real], Real, (x) => mul(x, 3))))],
        ];
        const f = await compile(first);
        for (const call of [() => f([1, 2], 0), () => f([1, 2], [1]), () => f([1, 2], "0", [[1, 2]])]) attempt(call);
        return [all, messages];"""
    values, messages = evaluate(node, body)
    assert values == [[2, 4, 6], [2, 4, 6], -5, [0, 2, 8], [2, 4, 6], [2, 4, 6], [3, 6]]
    assert messages == [f"TypeError: f takes 1 argument, got {k}" for k in (2, 2, 3)]


def test_captures_first_used_in_a_loop_without_turns(node: Run) -> None:
    """By the compiler, the interpreter and a draft."""
    body = """
        const { Real, Size, Vec, add, compile, cond, fn, fori, mul, sum } = rose;
        const n = Size("n");
        const f = fn([Real], Real, (x) => cond(true, Real, () => add(sum(0, () => x), x), () => 0));
        const g = fn([Vec(n, Real), Real], Real, (v, x) =>
            fori(3, Real, 0, (i, s) => add(s, add(sum(n, (j) => mul(v[j], x)), x)))).at({ n: 0 });
        const drafts = [await compile(f, { draft: true }), await compile(g, { draft: true })];
        return [await same(f, 2), await same(g, [], 2), drafts[0](2), drafts[1]([], 2)];"""
    assert evaluate(node, body) == [2, 6, 2, 6]


def test_elements_are_read_one_by_one(node: Run) -> None:
    body = """
        const { Real, Vec, add, fn, inspect, interp } = rose;
        const n = 2000;
        const rows = async (f) => (await inspect(f)).recorded.split("\\n").length;
        const P = [Real, Vec(2, Real)];
        const f = fn([Vec(n, Real)], Real, (v) => {
            let s = v.at(n) ?? 0;
            for (let i = 0; i < n; ++i) s = add(s, v.at(i - n));
            const [x, y] = v;
            return add(s, add(x, y));
        });
        const g = fn([Vec(n, Real), Vec(n, P)], Real, (v, w) => { const [x, y] = v; const [t] = w[1]; return add(add(x, y), t); });
        fn([Vec(2 ** 30, Real)], Real, (v) => add(v.slice(5, 7).reduce(add), v.slice(-1)[0]));
        const h = fn([Vec(n, Real)], Real, (v) => [v.slice(-2), v.slice(7, 8), v.slice(n)].flat().reduce(add));
        const ones = Array(n).fill(1);
        return [await same(f, ones), await same(g, ones, ones.map(() => [1, [1, 1]])), await same(h, ones),
            await rows(f) < 3 * n, await rows(g) < 20];"""
    assert evaluate(node, body) == [2002, 3, 3, True, True]


def test_accessors_that_call_the_function_that_reads_them(node: Run) -> None:
    body = """
        const { Real, Vec, compile, fn, interp, sub } = rose;
        const f = fn([{ a: Real, b: Real }], Real, ({ a, b }) => sub(a, b));
        const P = { a: Real, b: [Real, Vec(1, Real)] };
        const g = fn([Vec(2, P)], Real, (v) => sub(v[0].a, v[1].b[1][0]));
        const memory = new WebAssembly.Memory({ initial: 1 });
        const other = await compile(f, { memory });
        const found = [];
        for (const run of [await compile(f), interp(f), other])
            found.push(run({ a: 10, get b() { return run({ a: 1, b: 0 }); } }));
        for (const run of [await compile(g), interp(g), await compile(g, { memory })])
            found.push(run([{ a: 10, b: [0, [0]] }, { a: 0, get b() { return [0, [other({ a: 2, b: 1 })]]; } }]));
        return found;"""
    assert evaluate(node, body) == [9] * 6


def test_accessors_of_a_class_with_views_of_memory(node: Run) -> None:
    body = """
        const { Real, Vec, add, compile, fn } = rose;
        const f = await compile(fn([{ a: Real, v: Vec(2, Real) }], Real, ({ a, v }) => add(a, v[1])));
        const [{ v }] = f.args;
        class P { #a = 5; get a() { return this.#a; } get v() { return v; } }
        v.set([1, 2]);
        return f(new P());"""
    assert evaluate(node, body) == 7


def test_no_index_has_a_sign(node: Run) -> None:
    body = """
        const { Real, Vec, div, fn, imul, index, real } = rose;
        const f = fn([Real, 3, Vec(1, 3)], Vec(5, Real), (x, i, v) =>
            [index(3, -0), index(3, x), i, v[0], imul(3, i, -1)].map((j) => div(1, real(j))));
        const draft = await rose.compile(f, { draft: true });
        const all = (g) => String(g(-0, -0, [-0]));
        return [all(draft), all(rose.interp(f)), await draft.settled && all(draft)];"""
    assert evaluate(node, body) == [",".join(["Infinity"] * 5)] * 3


def test_functions_inside_functions(node: Run) -> None:
    """They use values of the functions around them, and are differentiated by these too."""
    body = """
        const { Real, Vec, fn, sin, mul, add, sum, vjp, jvp, zero } = rose;
        const outer = fn([Real, Vec(2, Real)], Real, (x, v) => {
            const inner = fn([Real], Real, (y) => mul(sin(mul(x, y)), v[1]));
            return add(inner(2), sum(2, (i) => fn([Real], Real, (z) => mul(v[i], add(z, x)))(v[0])));
        });
        const gradient = fn([Real, Vec(2, Real)], Vec(3, Real), (x, v) => {
            const [dx, dv] = vjp(outer)(x, v).grad(1);
            return [dx, dv[0], dv[1]];
        });
        const confused = fn([Real], Real, (x) => mul(x, vjp(fn([Real], Real, (y) => add(x, y)))(1).grad(1)));
        const grad = (f) => fn([Real], Real, (x) => vjp(f)(x).grad(1));
        return [await same(gradient, 1.5, [0.5, 2]), await same(grad(confused), 3), await same(jvp(confused), { re: 3, du: 1 })];"""
    gradient, reverse, forward = evaluate(node, body)  # type: ignore[misc]
    x, a, b = 1.5, 0.5, 2.0
    expected = [2 * math.cos(2 * x) * b + a + b, 2 * a + x + b, math.sin(2 * x) + a + x]
    assert gradient == pytest.approx(expected, rel=1e-14)
    assert (reverse, forward) == (1, {"re": 3, "du": 1})


def test_sizes_that_calls_tell(node: Run) -> None:
    body = """
        const { Dual, Real, Size, Vec, compile, fn, jvp, mul, struct, sum, vec, vjp } = rose;
        const n = Size("n"), m = Size("m");
        const dot = fn([Vec(n, Real), Vec(n, Real)], Real, function dot(u, v) { return sum(n, (i) => mul(u[i], v[i])); });
        const matvec = fn([Vec(m, Vec(n, Real)), Vec(n, Real)], Vec(m, Real), (A, x) => vec(m, Real, (i) => dot(A[i], x)));
        const table = struct({ rows: Vec(n, Real), scale: Real });
        const total = fn([table], Real, (t) => mul(t.scale, sum(n, (i) => t.rows[i])));
        const product = await same(fn([Vec(3, Real)], Vec(2, Real), (x) => matvec([[1, 2, 3], [4, 5, 6]], x)), [1, 2, 3]);
        const gradient = await same(fn([Vec(3, Real)], Vec(3, Real), (x) => vjp(dot)(x, x).grad(1)[0]), [1, 2, 3]);
        const forward = await same(fn([Vec(2, Dual)], Dual, (x) => jvp(dot)(x, x)), [{ re: 1, du: 1 }, { re: 2, du: 0 }]);
        const named = await same(total.at({ n: 2 }), { rows: [1, 2], scale: 3 });
        attempt(() => fn([Vec(2, Real), Vec(3, Real)], Real, (a, b) => dot(a, b)));
        attempt(() => dot.at({}));
        attempt(() => fn([], Real, () => fn([n], Real, (i) => 1)(2)));
        attempt(() => fn([], Vec(1, Real), () => vec(n, Real, (i) => 0)));
        messages.push(await compile(dot).catch((error) => error.message));
        return [product, gradient, forward, named, dot.at({ n: 2 }) === dot.at({ n: 2 }), messages];"""
    *values, messages = evaluate(node, body)  # type: ignore[misc]
    assert values == [[14, 32], [1, 2, 3], {"re": 5, "du": 2}, 9, True]
    assert messages == [
        "RangeError: argument 2 of dot: wrong array size: n is 2 elsewhere, and 3 here",
        "TypeError: dot.at: n: expected a size, got undefined",
        "TypeError: f: the arguments do not tell the size n; use .at({ n })",
        "TypeError: the size n is known only in the body of a function that has it",
        "compile: dot has sizes that are not known: n; give them with .at({ n })",
    ]


def test_opaque_functions_of_anything(node: Run) -> None:
    body = """
        const { Bool, Null, Real, Vec, fn, opaque, struct, vec, mul, add } = rose;
        const Point = struct({ x: Real, y: Real });
        const calls = [];
        const turn = opaque([Vec(2, Real), Point, Bool, 3], { v: Vec(3, Real), p: Point, b: Bool, i: 3, n: Null }, (...args) => {
            calls.push(args);
            const [v, p, b, i] = args;
            return { v: [v[0], v[1], p.x], p: { x: p.y, y: p.x }, b: !b, i: (i + 1) % 3, n: null };
        });
        const f = fn([Real, Real], { v: Vec(3, Real), s: Real, i: 3, b: Bool }, (x, y) => {
            const r = turn([x, y], { x: y, y: x }, true, 2), q = turn([r.p.x, 7], r.p, r.b, r.i);
            return { v: vec(3, Real, (k) => mul(q.v[k], r.v[k])), s: add(q.p.x, r.p.y), i: q.i, b: q.b };
        });
        const wrong = opaque([Real], Bool, function wrong(x) { return 1; });
        const g = await rose.compile(fn([Real], Bool, (x) => wrong(x)));
        attempt(() => g(1));
        return [await same(f, 2, 3), calls.length, calls[0], messages];"""
    value, count, first, messages = evaluate(node, body)  # type: ignore[misc]
    assert value == {"v": [4, 21, 6], "s": 6, "i": 1, "b": True}
    assert (count, first) == (4, [[2, 3], {"x": 3, "y": 2}, True, 2])
    assert messages == ["TypeError: the result of wrong: expected Bool, got 1"]


def test_dispose_and_memory_used_again(node: Run) -> None:
    body = """
        const { Real, Vec, compile, fn, vec, mul } = rose;
        const n = 100000;
        const f = fn([Vec(n, Real)], Vec(n, Real), (v) => vec(n, Real, (i) => mul(v[i], 2)));
        const zeros = fn([], Vec(n, Real), () => rose.vjp(fn([Vec(n, Real)], Real, (v) => v[0]))(Array(n).fill(1)).grad(1));
        let made = 0;
        const { Memory } = WebAssembly;
        WebAssembly.Memory = class extends Memory { constructor(...x) { super(...x); ++made; } };
        const sums = [];
        for (let k = 0; k < 20; ++k) {
            const g = await compile(k % 2 ? f : zeros);
            const out = k % 2 ? g(Array(n).fill(k)) : g();
            sums.push(out.reduce((a, b) => a + b));
            g.dispose();
            g.dispose();
        }
        const g = await compile(f);
        g[Symbol.dispose ?? "dispose"]();
        attempt(() => g([]));
        return [made, sums.slice(0, 4), messages];"""
    made, sums, messages = evaluate(node, body)  # type: ignore[misc]
    assert made == 1
    assert sums == [1, 200000, 1, 600000]
    assert messages == ["Error: f was disposed of"]


def test_large_memories_are_not_kept(own_node: Run) -> None:
    body = """
        const { Real, Vec, compile, fn, sum, vec } = rose;
        const n = 1 << 20;
        const f = fn([Vec(n, Real)], Vec(n, Real), (v) => vec(n, Real, (i) => v[i]));
        const made = [];
        const { Memory } = WebAssembly;
        WebAssembly.Memory = class extends Memory { constructor(...x) { super(...x); made.push(0); } };
        for (let k = 0; k < 2; ++k) (await compile(f)).dispose();
        return made.length;"""
    assert evaluate(own_node, body) == 2


def test_what_was_recorded_is_let_go(own_node: Run) -> None:
    body = """
        const { setFlagsFromString } = await import("node:v8");
        setFlagsFromString("--expose-gc");
        const gc = (await import("node:vm")).runInNewContext("gc");
        const { Real, add, compile, fn } = rose;
        const sumTo = (n) => fn([Real], Real, (x) => { for (let k = 0; k < n; ++k) x = add(x, k); return x; });
        // engines let go of some of it later than asked
        const used = async () => {
            let least = Infinity;
            for (let k = 0; k < 30; ++k) {
                await new Promise((wake) => setTimeout(wake, 50));
                gc();
                const { arrayBuffers, heapUsed } = process.memoryUsage();
                least = Math.min(least, arrayBuffers + heapUsed);
            }
            return least;
        };
        await compile(sumTo(1000));
        const before = await used();
        const f = await compile(sumTo(200000));
        const more = await used() - before;
        return [f(0), more];"""
    result, more = evaluate(own_node, body)  # type: ignore[misc]
    assert result == 19999900000
    assert more < 3e6


def test_functions_that_are_disposed_of_make_room(own_node: Run) -> None:
    """Though somebody still has them."""
    body = """
        const { Real, compile, fn, mul } = rose;
        const twice = fn([Real], Real, (x) => mul(2, x));
        const kept = [];
        for (let k = 0; k < 300; ++k) {
            kept.push(await compile(twice));
            if (k % 100 === 99) for (const f of kept) f.dispose();
        }
        return (await compile(twice))(kept.length);"""
    assert evaluate(own_node, body) == 600


def test_functions_that_are_dropped_make_room(own_node: Run) -> None:
    """Engines have a hundred memories or so at a time."""
    body = """
        const { Real, compile, fn, mul } = rose;
        const twice = fn([Real], Real, (x) => mul(2, x));
        const two = await compile(twice);
        let last = 1;
        for (let k = 0; k < 400; ++k) last = (await compile(twice))(k);
        return [two(3), last];"""
    assert evaluate(own_node, body) == [6, 798]


@pytest.mark.parametrize("height", [20, 2000])
def test_call_graphs(own_node: Run, height: int) -> None:
    """A function that calls the one before twice (20 high: 2^20 runs) or once (2,000 high)."""
    step = "add(g(x), g(x))" if height == 20 else "add(g(x), 1)"
    body = f"""
        const {{ Real, add, compile, configure, fn, grad, jvp }} = rose;
        let f = fn([Real], Real, (x) => x);
        for (let i = 0; i < {height}; ++i) {{ const g = f; f = fn([Real], Real, (x) => {step}); }}
        const forward = await compile(jvp(f));
        const reverse = await compile(grad(f));
        for (const k of [1, 2, 3, 4, 5]) await compile(fn([Real], Real, (x) => add(x, k))); // lets go of both
        configure({{ incremental: false }}); // and at once of what comes next
        const again = await compile(grad(f));
        await compile(fn([Real], Real, (x) => x));
        return [forward({{ re: 2, du: 3 }}), reverse(2), again(2)];"""
    slope = 2**20 if height == 20 else 1
    assert evaluate(own_node, body) == [
        {"re": 2**21 if height == 20 else 2002, "du": 3 * slope},
        slope,
        slope,
    ]


def test_control_flow(node: Run) -> None:
    """Choices and loops, and their derivatives in reverse, twice."""
    body = """
        const { Real, Vec, add, compile, cond, fn, fori, gt, index, isub, lt, mul, real, scan, sqrt, struct, vjp,
            whileLoop } = rose;
        const V = Vec(5, Real);
        const grad = (f) => fn([Real], Real, (x) => vjp(f)(x).grad(1));
        const gradient = (f) => fn([V], V, (v) => vjp(f)(v).grad([1, 1, 1, 1, 1]));
        const guarded = fn([Real], Real, (x) => cond(gt(x, 0), Real, () => sqrt(x), () => 0));
        const cube = fn([Real], Real, (x) => fori(3, Real, 1, (i, s) => mul(s, x)));
        const state = struct({ y: Real, n: 9 });
        const eighth = fn([Real, 9], Real, (x, n) => whileLoop(state, { y: x, n }, (s) => rose.igt(9, s.n, 0),
            (s) => ({ y: mul(s.y, s.y), n: isub(9, s.n, 1) })).y);
        const power = fn([Real], Real, (x) => eighth(x, 3));
        const sums = fn([V], V, (v) => scan(5, Real, 0, (s, i) => {
            const t = add(s, mul(v[i], v[i]));
            return [t, t];
        })[1]);
        const turned = fn([V], V, (v) => fori(5, V, v, (i, s) => s.set(i, mul(s[isub(5, 4, i)], s[i]))));
        const picked = fn([V, Real], Real, (v, x) => v[index(5, x)]);
        const Rows = Vec(3, Vec(2, struct({ y: Real, b: Vec(2, Real) })));
        const placed = fn([Rows, 3, Real], Rows, (m, i, x) => fori(2, Rows, m, (k, s) =>
            s.at[i][k].add({ b: [x, 1], y: s[i][k].y }).at[2].add(s[0]).at[2][1].set(m.at(-1)[0])));
        const weighed = fn([Real], Real, (x) => {
            const row = [{ y: x, b: [1, x] }, { y: 2, b: [3, 4] }];
            const m = placed([row, row, row], 1, x);
            return add(mul(m[1][1].y, m[1][1].b[0]), mul(m[2][0].y, m[2][1].b[1]));
        });
        return [
            await same(guarded, 4), await same(guarded, -1), await same(grad(guarded), 4),
            await same(grad(guarded), 0), await same(grad(grad(guarded)), -1),
            await same(cube, 2), await same(grad(cube), 2), await same(grad(grad(cube)), 2),
            await same(power, 1.5), await same(grad(power), 1.5), await same(grad(grad(power)), 1.5),
            await same(sums, [1, 2, 3, 4, 5]), await same(gradient(sums), [1, 2, 3, 4, 5]),
            await same(turned, [1, 2, 3, 4, 5]), await same(gradient(turned), [1, 2, 3, 4, 5]),
            await same(picked, [5, 6, 7, 8, 9], 3), await same(weighed, 3), await same(grad(weighed), 3),
        ];
    """
    results = evaluate(node, body)
    assert isinstance(results, list)
    assert results[:8] == [2, 0, 0.25, 0, 0, 8, 12, 12]
    assert results[8:11] == pytest.approx([1.5**8, 8 * 1.5**7, 56 * 1.5**6])
    assert results[11:13] == [[1, 5, 14, 30, 55], [10, 16, 18, 16, 10]]
    assert results[13] == [5, 8, 9, 32, 25]
    assert results[14] == [30, 20, 6, 18, 11]
    # 4 (3 + x) + 3 x x
    assert results[15:] == [8, 51, 22]


def test_operators(node: Run) -> None:
    """Derivatives as functions of functions, by several arguments and of structs, nested, at any size."""
    body = """
        const { Bool, Real, Size, Vec, cond, fn, fori, grad, gt, hessian, hvp, iadd, index, jacobian, linearize,
            lt, mul, pow, sub, add, sum, valueAndGrad, vec } = rose;
        const V = Vec(3, Real), x = [0.3, -0.2, 1.1];
        const f = fn([V], Real, (x) => sum(2, (i) => {
            const [a, b] = [x[index(3, i)], x[iadd(3, i, 1)]];
            return add(mul(100, pow(sub(b, mul(a, a)), 2)), pow(sub(1, a), 2));
        }));
        const out = {};
        out.grad = await same(grad(f), x);
        out.both = await same(valueAndGrad(f), x);
        out.hessian = await same(hessian(f), x);
        out.hvp = await same(hvp(f), x, [1, 0, 0]);
        const S = { v: Vec(2, Real), n: 3, w: Real };
        const mixed = fn([Real, S], { p: Vec(2, Real), q: Bool }, (a, s) => ({
            p: [mul(mul(a, s.v[0]), s.w), rose.div(s.v[1], a)],
            q: gt(a, s.w),
        }));
        const s = { v: [3, 4], n: 1, w: 5 };
        out.jacobians = [];
        for (const mode of ["forward", "reverse", "auto"])
            out.jacobians.push(await same(jacobian(mixed, [0, 1], { mode }), 2, s));
        out.jacobian = await same(jacobian(mixed, 1), 2, s);
        const n = Size("n");
        const g = fn([Vec(n, Real)], Real, (x) => sum(n, (i) => mul(mul(x[i], x[i]), x[0])));
        out.generic = await same(hessian(g).at({ n: 2 }), [0.1, 0.2]);
        const inside = fn([V], V, (x) => hvp(g)(x, [1, 0, 0]));
        out.inside = await same(inside, [0.1, 0.2, 0.3]);
        const nested = fn([Real], Real, (a) => grad(grad(fn([Real], Real, (x) => mul(mul(x, mul(x, x)), a))))(a));
        out.nested = await same(grad(nested), 2);
        const tangents = fn([V], V, (x) => {
            const { ret, push } = linearize(f)(x);
            return [ret, push([1, 0, 0]), push([0, 1, 2])];
        });
        out.tangents = await same(tangents, x);
        const flow = fn([V], Real, (x) => fori(3, Real, 0.5, (i, s) =>
            cond(gt(s, x[i]), Real, () => mul(s, x[i]), () => rose.sqrt(add(1, mul(s, x[i]))))));
        out.flow = [await same(hessian(flow), x),
            await same(jacobian(jacobian(flow, 0, { mode: "forward" }), 0, { mode: "reverse" }), x)];
        attempt(() => grad(mixed));
        attempt(() => grad((x) => x));
        attempt(() => hvp(f, 1));
        attempt(() => grad(f, []));
        attempt(() => jacobian(f, 0, { mode: "sparse" }));
        attempt(() => jacobian(f, 0, { way: 1 }));
        attempt(() => jacobian(fn([Real], Bool, (x) => lt(x, 0))));
        attempt(() => fn([V], Real, (x) => linearize(f)(x).push(x, x)));
        attempt(() => fn([V], Real, (x) => linearize(f)(x).push([1, 2])));
        return [out, messages];"""
    out, messages = evaluate(node, body)
    assert out["both"]["grad"] == out["grad"]
    assert out["hvp"] == pytest.approx([row[0] for row in out["hessian"]], rel=1e-15)
    assert out["hessian"][0][1] == out["hessian"][1][0] == -120
    p, q = [15, {"v": [10, 0], "n": 1, "w": 6}], [-1, {"v": [0, 0.5], "n": 1, "w": 0}]
    assert out["jacobians"] == [{"p": [p, q], "q": False}] * 3
    assert out["jacobian"] == {"p": [p[1], q[1]], "q": False}
    assert out["generic"][0][1] == out["generic"][1][0] == 0.4
    assert out["inside"][1:] == [0.4, 0.6]
    assert out["nested"] == 24
    y, a, b = out["tangents"]
    assert y == out["both"]["value"]
    assert [a, b] == pytest.approx([out["grad"][0], out["grad"][1] + 2 * out["grad"][2]], rel=1e-14)
    forward, reverse = out["flow"]
    for rows in zip(forward, reverse, strict=True):
        assert rows[0] == pytest.approx(rows[1], rel=1e-13, abs=1e-15)
    assert messages == [
        "TypeError: grad: f gives a { p: Vec(2, Real), q: Bool }, expected a Real; use jacobian",
        "TypeError: grad: expected a function made with fn or opaque, got a function",
        "RangeError: hvp: f takes 1 argument, the first is 0; got 1",
        "TypeError: grad: expected the number of an argument, or some, got an array of 0",
        'RangeError: jacobian: expected mode to be "auto", "forward" or "reverse", got the string "sparse"',
        "TypeError: jacobian: there is no option way; the options are mode",
        "TypeError: jacobian: the result of f: expected a type with Reals in it, and no tangents, got the type Bool",
        "TypeError: the push of f takes 1 argument, got 2",
        "RangeError: argument 1 of the push of f: wrong array size: expected 3 elements for Vec(3, Real), got 2",
    ]


def test_taylor_series_and_many_arguments(node: Run) -> None:
    body = """
        const { Bool, Real, Size, Vec, add, cond, div, exp, fn, fori, grad, gt, hessian, jet, mul, sub, sum,
            vmap } = rose;
        const out = {};
        const reciprocal = fn([Real], Real, (x) => div(1, sub(1, x)));
        out.series = await same(jet(reciprocal, 5), [0, 1, 0, 0, 0, 0]);
        const P = { x: Real, ok: Bool };
        const f = fn([P, Real], Vec(2, P), (p, y) => [p, { x: mul(p.x, y), ok: gt(y, 0) }]);
        out.structs = await same(jet(f, 1), [{ x: 2, ok: true }, { x: 1, ok: false }], [3, 5]);
        const flow = fn([Real], Real, (x) => fori(3, Real, 1, (i, s) =>
            cond(gt(s, 0.5), Real, () => mul(s, x), () => add(s, x))));
        out.flow = await same(jet(flow, 3), [0.25, 1, 0, 0]);
        const closure = fn([Real], Real, (a) =>
            jet(fn([Real], Real, (x) => mul(a, mul(x, mul(x, x)))), 3)([a, 1, 0, 0])[2]);
        out.closure = [await same(closure, 2), await same(grad(closure), 2)];
        const n = Size("n");
        const norm = fn([Vec(n, Real)], Real, (v) => sum(n, (i) => mul(v[i], v[i])));
        out.generic = await same(jet(norm, 2).at({ n: 2 }), [[1, 2], [1, 0], [0, 0]]);
        const g = fn([Real, P], P, (a, p) => ({ x: mul(a, p.x), ok: p.ok }));
        const ps = [{ x: 1, ok: true }, { x: 3, ok: false }];
        out.all = await same(vmap(g).at({ batch: 2 }), [2, 3], ps);
        out.shared = await same(vmap(g, [null, 0], "points").at({ points: 2 }), 2, ps);
        const M = Vec(2, Vec(2, Real));
        const loss = fn([M, Real], Real, (m, scale) => {
            const norms = vmap(norm)(m);
            return mul(vmap(fn([Real], Real, (x) => mul(x, scale)))(norms)[0], norms[1]);
        });
        out.loss = await same(loss, [[1, 2], [3, 1]], 2);
        out.grad = await same(grad(loss), [[1, 2], [3, 1]], 2);
        out.hessians = await same(vmap(hessian(norm)).at({ n: 2, batch: 1 }), [[1, 2]]);
        const table = vmap(vmap(fn([Real, Real], Real, mul), [null, 0], "columns"), [0, null], "rows");
        out.table = await same(table.at({ rows: 1, columns: 2 }), [2], [3, 4]);
        attempt(() => jet(norm, -1));
        attempt(() => jet(Math.sin, 2));
        attempt(() => vmap(g, [null, null]));
        attempt(() => vmap(vmap(g)));
        return [out, messages];"""
    out, messages = evaluate(node, body)
    assert out == {
        "series": [1, 1, 1, 1, 1, 1],
        "structs": [
            [{"x": 2, "ok": True}, {"x": 6, "ok": True}],
            [{"x": 1, "ok": True}, {"x": 13, "ok": True}],
        ],
        "flow": [0.75, 3, 0, 0],
        "closure": [12, 12],
        "generic": [5, 2, 1],
        "all": [{"x": 2, "ok": True}, {"x": 9, "ok": False}],
        "shared": [{"x": 2, "ok": True}, {"x": 6, "ok": False}],
        "loss": 100,
        "grad": [[40, 80], [60, 20]],
        "hessians": [[[2, 0], [0, 2]]],
        "table": [[6, 8]],
    }
    assert messages == [
        "RangeError: jet: expected an order from 0 to 999, got -1",
        "TypeError: jet: expected a function made with fn or opaque, got a function",
        "TypeError: vmap: expected 0, or for each of 2 arguments 0 or null and not for all null, got an array of 2",
        "TypeError: vmap: vmap_f has a size batch already; give another name",
    ]


def test_perturbations_are_not_confused(node: Run) -> None:
    """d/dx (x · d/dy (x + y)) is 1; and the derivative of shifts, applied to what it gives."""
    body = """
        const { Real, add, fn, jacobian, mul } = rose;
        const ways = ["forward", "reverse"].map((mode) => (f) => jacobian(f, 0, { mode }));
        const out = [];
        for (const outer of ways)
            for (const inner of ways) {
                const f = fn([Real], Real, (x) => mul(x, inner(fn([Real], Real, (y) => add(x, y)))(1)));
                const shifted = (of) => (f) => (x) => of(fn([Real], Real, (u) => f(add(x, u))))(0);
                const cube = (x) => mul(x, mul(x, x));
                const twice = fn([Real], Real, (x) => shifted(outer)(shifted(inner)(cube))(x));
                out.push(await same(outer(f), 1), await same(twice, 2));
            }
        return out;"""
    assert evaluate(node, body) == [1, 12] * 4


def test_sparse_derivatives(node: Run) -> None:
    """The pattern comes from the core, and the values are those of dense derivatives."""
    body = """
        const { Bool, Real, Vec, add, compile, fn, fori, grad, hessian, iadd, index, jacobian, mul, pow, sparseHessian,
            sparseJacobian, sub, sum, vec } = rose;
        const V = Vec(6, Real), x = [0.3, -0.2, 1.1, 0.7, -1.3, 0.5];
        const term = (x, i) => {
            const [a, b] = [x[index(6, i)], x[iadd(6, i, 1)]];
            return add(mul(100, pow(sub(b, mul(a, a)), 2)), pow(sub(1, a), 2));
        };
        const out = {};
        const dense = ({ rows, columns, shape: [m, n] }, values) => {
            const found = Array.from({ length: m }, () => Array(n).fill(0));
            rows.forEach((i, k) => found[i][columns[k]] = values[k]);
            return found;
        };
        const ways = [(x) => sum(5, (i) => term(x, i)), (x) => fori(5, Real, 0, (i, s) => add(s, term(x, i)))];
        out.hessians = [];
        for (const way of ways) {
            const f = fn([V], Real, way);
            const h = await sparseHessian(f);
            out.hessians.push([h.rows.length, h.passes, h.shape,
                dense(h, await same(h.values, x)), await same(hessian(f), x)]);
        }
        const long = Vec(5000, Real), all = fn([long], Real, (x) => sum(5000, (i) => mul(x[i], mul(x[i], x[i]))));
        const diagonal = await sparseHessian(all);
        const elements = (await compile(diagonal.values))(Array.from({ length: 5000 }, (_, i) => i));
        out.long = [diagonal.passes, diagonal.rows.length, elements[4999]];
        const P = { y: Real, ok: Bool, x: Vec(2, Real) };
        const S = { sums: Vec(3, Real), one: Real, pairs: Vec(2, { z: Real, a: Real }) };
        const f = fn([Vec(3, P), Real], S, (ps, a) => ({
            sums: vec(3, Real, (i) => mul(ps[i].x[0], ps[i].y)),
            one: mul(ps[1].x[1], a),
            pairs: [{ z: ps[1].x[1], a }, { z: mul(ps[0].y, a), a: 1 }],
        }));
        const ps = [0, 1, 2].map((k) => ({ y: 2 + k, ok: k == 1, x: [0.5 * k, 3 - k] }));
        const s = await sparseJacobian(f, [1, 0]);
        out.structs = [s.shape, s.passes, dense(s, await same(s.values, ps, 7))];
        const wide = fn([V], Vec(2, Real), (x) => [sum(6, (i) => mul(x[i], x[i])), x[0]]);
        const w = await sparseJacobian(wide);
        out.wide = [w.passes, dense(w, await same(w.values, x)), await same(jacobian(wide), x)];
        try { await sparseHessian(wide); } catch (error) { messages.push(error.message); }
        try { await sparseJacobian(wide, 1); } catch (error) { messages.push(error.message); }
        return [out, messages];"""
    out, messages = evaluate(node, body)
    for nonzeros, passes, shape, found, expected in out["hessians"]:
        assert [nonzeros, passes, shape] == [16, 3, [6, 6]]
        for row, other in zip(found, expected, strict=True):
            assert row == pytest.approx(other, rel=1e-13)
    assert out["long"] == [1, 5000, 6 * 4999]
    # by a; and for each point by y, x[0] and x[1], in the order in which they are written
    assert out["structs"][0] == [8, 10]
    assert out["structs"][2] == [
        [0, 0, 2, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0.5, 3, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 1, 4, 0],
        [2, 0, 0, 0, 0, 0, 7, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 1, 0, 0, 0],
        [1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [2, 7, 0, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    ]
    assert out["wide"][0] == 2 and out["wide"][1] == out["wide"][2]
    assert messages == [
        "sparseHessian: f gives a Vec(2, Real), expected a Real; use jacobian",
        "sparseJacobian: f takes 1 argument, the first is 0; got 1",
    ]


def test_a_million_steps_in_little_memory(node: Run) -> None:
    """Four variables by two, back through all steps: 32 MB of tape, but not with checkpoints."""
    body = """
        const { Real, add, compile, div, fn, fori, grad, mul, sub } = rose;
        const State = { a: Real, b: Real, c: Real, d: Real };
        const after = (n, checkpoint) => fn([Real, Real], Real, (h, d) => fori(n, State, { a: 1, b: 0.5, c: 1, d },
            (i, { a, b, c, d }) => ({
                a: add(a, mul(h, b)), b: sub(b, mul(h, div(a, add(1, mul(a, a))))),
                c: add(c, mul(h, mul(a, d))), d: sub(d, mul(h, c)),
            }), { checkpoint }).c);
        const results = [];
        for (const checkpoint of ["none", "revolve", 500]) {
            const memory = new WebAssembly.Memory({ initial: 1 });
            const slope = await compile(grad(after(1e6, checkpoint), [0, 1]), { memory });
            results.push(slope(1e-6, 0.2), slope(1e-6, 0.2), memory.buffer.byteLength);
        }
        return results;"""
    results = evaluate(node, body)
    assert isinstance(results, list)
    full, again, most, *others = results
    assert full == again
    assert most > 16e6
    for first, second, size in (others[:3], others[3:]):
        assert first == second == pytest.approx(full, rel=1e-9)
        assert size < 1e6


def test_any_folder_will_do(tmp_path: Path) -> None:
    """Whose address is not its path."""
    folder = tmp_path / "C# 100% what?"
    shutil.copytree(DIST / "pyodide", folder / "pyodide")
    for name in ("rose.js", "rose.worker.js", "package.json"):
        shutil.copy(DIST / name, folder)
    code = """import { Real, compile, fn, mul } from "./rose.js";
        console.log((await compile(fn([Real], Real, (x) => mul(x, x))))(3));"""
    words = [build.node(), "--input-type=module", "--eval", code]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("9\n", "")
