"""The bridge under Node: names, operations and functions, without a page."""

from __future__ import annotations

import math
import shutil
import subprocess
from pathlib import Path

import pytest

from e2e.node import Run, evaluate
from js_bridge.build.paths import DIST
from js_bridge.build.tools import node
from rose_core.language.ops import OPS

NAMES = (
    "Bool Dual Null Real Size Tan Vec abs add and ceil compile div eq floor fn geq gt iadd ieq iff igeq igt ileq "
    "idiv ilt imod ineq interp jvp leq lt mul neg neq not opaque or select sign sqrt struct sub sum trunc vec vjp "
    "xor zero sin cos tan asin acos atan atan2 sinh cosh tanh exp expm1 log log1p log2 log10 pow cbrt hypot "
    "min max configure ready checkpoint cond fori scan whileLoop real index isub imul imin imax "
    "fixedPoint functional minimize odeint quad root "
    "grad valueAndGrad hvp linearize jacobian hessian sparseJacobian sparseHessian jet vmap hot inspect python"
).split()


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


def test_precise_powers(node: Run) -> None:
    """By one option, of one function or for all, compiled and interpreted; by default they are products."""
    body = """
        const { Real, compile, configure, fn, grad, inspect, interp, pow } = rose;
        const f = fn([Real], Real, (x) => pow(x, 13)), slope = fn([Real], Real, (x) => grad(f)(x));
        const found = async (...options) => Promise.all([f, slope].map(async (g) => (await compile(g, ...options))(1.7)));
        const interpreted = () => interp(slope)(1.7);
        const size = async () => (await inspect(f)).size;
        const fast = [...await found(), interpreted(), await size()], precise = await found({ precise: true });
        attempt(() => configure({ precise: 1 }));
        configure({ precise: true });
        const all = [...await found(), interpreted(), await size()], again = await found({ precise: false });
        return { fast, precise, all, again, messages };"""
    found = evaluate(node, body)
    assert found["messages"] == ["RangeError: configure: expected precise to be true or false, got 1"]
    (y, slope, interpreted, size), (all_y, all_slope, all_interpreted, all_size) = found["fast"], found["all"]
    assert found["again"] == [y, slope] != found["precise"] == [all_y, all_slope]
    assert interpreted == slope and all_interpreted == all_slope and size < all_size
    for x, exact in ((all_y, 1.7**13), (all_slope, 13 * 1.7**12)):
        assert abs(x - exact) <= 2 * math.ulp(exact)


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


def test_captures_first_used_in_a_loop_without_iterations(node: Run) -> None:
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
        "TypeError: invalid type: the size n is known only in the body of a function that has it",
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


def test_any_folder_will_do(tmp_path: Path) -> None:
    """Whose address is not its path."""
    folder = tmp_path / "C# 100% what?"
    shutil.copytree(DIST / "pyodide", folder / "pyodide")
    for name in ("rose.js", "rose.worker.js", "package.json"):
        shutil.copy(DIST / name, folder)
    code = """import { Real, compile, fn, mul } from "./rose.js";
        console.log((await compile(fn([Real], Real, (x) => mul(x, x))))(3));"""
    words = [node(), "--input-type=module", "--eval", code]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("9\n", "")


def test_timers_have_a_time(node: Run) -> None:
    """Node 22 warns of others."""
    body = """
        const { setTimeout } = globalThis;
        const times = [];
        globalThis.setTimeout = (f, time, ...args) => { times.push(time); return setTimeout(f, time, ...args); };
        const f = rose.fn([rose.Real], rose.Real, (x) => rose.mul(x, 7));
        try { await rose.compile(f); } finally { globalThis.setTimeout = setTimeout; }
        return times.filter((time = 1) => !(time >= 0));"""
    assert evaluate(node, body) == []
