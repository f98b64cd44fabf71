"""Derivatives as functions: `grad` to `sparseHessian`, under Node."""

from __future__ import annotations

import pytest

from e2e.node import Run, evaluate


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
        "TypeError: grad: expected an argument number, or several, got an array of 0",
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
        "TypeError: vmap: expected 0, or 0 or null for each of 2 arguments and not null for all, got an array of 2",
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
