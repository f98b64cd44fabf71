"""Loops of JavaScript that are found again, where a loop of the same words would compute something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from e2e.node import returned

Run = Callable[[str], str]

HEAD = """
    import * as rose from "./rose.js";
    const { Dual, Real, Tan, Vec, compile, fn, grad, opaque, select, vjp } = rose;
    // programs are written once: on symbols with what is in rose, on numbers with this
    const plain = {
        add: (x, y) => x + y, mul: (x, y) => x * y, sin: Math.sin, cos: Math.cos, real: (i) => i,
        iadd: (n, i, j) => i + j, imin: (n, i, j) => Math.min(i, j), imax: (n, i, j) => Math.max(i, j),
        imod: (n, i) => i % n, idiv: (n, i, by) => Math.floor(i / by), index: (n, i) => i,
        tanh: Math.tanh, lt: (x, y) => x < y, sum: (n, f) => numbers(n, f).reduce((s, x) => s + x, 0),
        vec: (n, type, f) => numbers(n, f), cond: (p, type, yes, no) => (p ? yes() : no()),
        fori: (n, type, state, f) => numbers(n, (k) => k).reduce((s, k) => f(k, s), state),
        scan: (n, type, state, f) => {
            const ys = numbers(n, (k) => { const [s, y] = f(state, k); state = s; return y; });
            return [state, ys];
        },
        step: (v, x) => v.map((y) => Math.sin(y * x)),
    };
    const both = async (params, body, ...args) => {
        const f = await compile(fn(params, Real, (...args) => body(rose, ...args)));
        return [f(...args), body(plain, ...args)];
    };
    const numbers = (n, f = (k) => Math.sin(k)) => Array.from({ length: n }, (_, k) => f(k));
    const added = (o, n, term) => numbers(n, term).reduce((s, x) => o.add(s, x), 0);
"""


def evaluate(node: Run, body: str) -> Any:
    return returned(node, HEAD, body)


TERMS = {
    "remainders by the number of the turn": "o.imod(k + 2, i)",
    "bounds": "o.imin(300, o.iadd(200 + k, i, k), 120)",
    "quotients by any numbers": "o.imin(100, o.idiv(100, i, 1 + (k * k) % 7), 20)",
    "numbers as indices": "o.imin(200, o.index(k + 100, o.real(i)), 100)",
    "indices of two types": "o.imin(1000, (k * k) % 3 ? j : i, 500)",
}


@pytest.mark.parametrize("term", TERMS.values(), ids=TERMS.keys())
def test_sizes_that_differ_from_turn_to_turn(node: Run, term: str) -> None:
    body = f"""
        const term = (o, x, i, j, k) => o.mul(o.sin(o.mul(o.real({term}), x)), k);
        const body = (o, x, i, j) => added(o, 90, (k) => term(o, x, i, j, k));
        return await both([Real, 100, 1000], body, 0.3, 57, 999);"""
    found, expected = evaluate(node, body)
    assert found == pytest.approx(expected, rel=1e-12)


def test_a_loop_runs_up_to_an_index_and_with_it(node: Run) -> None:
    body = """
        const { fori, iadd, vec, add, sum, mul } = rose;
        const turn = (v) => (i, s) => add(s, v[i]);
        const upto = (v, i) => fori(iadd(3, i, 1), Real, 0, turn(v));
        const sums = await compile(fn([Vec(3, Real)], Vec(3, Real), (v) => vec(3, Real, (i) => upto(v, i))));
        const products = fn([Vec(3, Real)], Real, (v) => sum(3, (i) => mul(upto(v, i), v[i])));
        return [sums([1, 2, 4]), (await compile(grad(products)))([1, 2, 4])];"""
    assert evaluate(node, body) == [[1, 3, 7], [8, 9, 11]]


def test_elements_at_such_indices(node: Run) -> None:
    body = """
        const body = (o, v, i) => added(o, 90, (k) => o.mul(o.sin(v[o.index(300, o.imod(k + 2, i))]), k));
        return await both([Vec(300, Real), 100], body, numbers(300), 57);"""
    found, expected = evaluate(node, body)
    assert found == pytest.approx(expected, rel=1e-12)


def test_a_state_of_another_type_than_it_starts_with(node: Run) -> None:
    body = """
        const indices = (o, i, x) => {
            let [j, s] = [i, 0];
            for (let k = 0; k < 200; ++k) {
                j = o.imod(97, o.iadd(1000, j, 5));
                s = o.add(s, o.sin(o.mul(o.real(o.imax(100, j, 20)), x)));
            }
            return s;
        };
        const vectors = (o, first, rows) => {
            let [v, s] = [first, 0];
            for (let k = 0; k < 200; ++k) {
                const w = rows[k];
                s = o.add(s, o.mul(o.sin(v[k ? (k * k) % 5 : 6]), o.cos(w[2])));
                v = w;
            }
            return s;
        };
        const rows = numbers(200, (k) => numbers(5, (l) => Math.cos(k * l + 1)));
        return [
            await both([10, Real], indices, 3, 0.1),
            await both([Vec(7, Real), Vec(200, Vec(5, Real))], vectors, numbers(7), rows),
        ];"""
    for found, expected in evaluate(node, body):
        assert found == pytest.approx(expected, rel=1e-12)


def test_sums_of_tangents_from_nothing(node: Run) -> None:
    """The derivative that an author sets adds up what calls give, the first included."""
    body = """
        const { add, cos, mul, neg, sin } = rose;
        const rate = fn([Dual, Real], Tan, ({ re, du }, c) => mul(du, mul(c, cos(mul(re, c)))));
        const value = (x) => neg(added(rose, 40, (k) => sin(mul(x, k))));
        const slopes = [];
        for (const turned of [neg, (t) => mul(t, -1), (t) => select(true, Tan, neg(t), t)]) {
            const f = fn([Real], Real, value);
            f.jvp = fn([Dual], Dual, (x) => {
                const terms = numbers(40, (k) => rate(x, k));
                return { re: value(x.re), du: turned(terms.reduce((s, t) => add(s, t))) };
            });
            slopes.push((await compile(grad(f)))(0.3));
        }
        return [slopes, -added(plain, 40, (k) => k * Math.cos(0.3 * k))];"""
    slopes, expected = evaluate(node, body)
    assert slopes == pytest.approx([expected] * 3, rel=1e-12)


def test_a_sum_that_starts_from_one_of_earlier_calls(node: Run) -> None:
    body = """
        const calls = (o) => o === plain
            ? [(x, k) => Math.sin(x * k), (x, k) => Math.cos(x + k)]
            : [fn([Real, Real], Real, (x, k) => o.sin(o.mul(x, k))),
                fn([Real, Real], Real, (x, k) => o.cos(o.add(x, k)))];
        const body = (o, x) => {
            const [g, h] = calls(o);
            const first = numbers(40, (k) => g(x, k + 1));
            const total = first.reduce((s, y) => o.add(s, y));
            return numbers(40, (k) => h(total, k)).reduce((s, y) => o.add(s, y), first[0]);
        };
        return await both([Real], body, 0.7);"""
    found, expected = evaluate(node, body)
    assert found == pytest.approx(expected, rel=1e-12)


def test_effects_beside_many_calls_keep_their_order(node: Run) -> None:
    body = """
        const said = [];
        const say = opaque([Real], Real, (x) => { said.push(x); return x + 1; });
        const g = fn([Real, Real], Real, (x, k) => rose.sin(rose.mul(x, k)));
        const f = fn([Real], Real, (x) => {
            const twice = say(say(x));
            const once = say(rose.mul(x, 10));
            return rose.add(rose.add(twice, once), added(rose, 40, (k) => g(x, k + 1)));
        });
        (await compile(f))(1);
        return said;"""
    assert evaluate(node, body) == [1, 2, 10]


def test_an_index_that_a_function_uses_twice(node: Run) -> None:
    """Functions that differ in it only are not the same function of an element."""
    body = """
        const V = Vec(8, Real);
        const at = (k) => fn([V], Real, (v) => {
            const i = rose.index(8, k);
            return rose.add(v[i], rose.real(i));
        });
        const square = fn([V, 8], Real, (v, i) => rose.mul(v[i], v[i]));
        const slope = (k) => fn([V], Real, (v) => {
            const [, i] = vjp(square)(v, k).grad(1);
            return rose.add(v[i], rose.real(i));
        });
        const values = [];
        for (const make of [at, slope]) {
            const [three, five] = [make(3), make(5)];
            const f = fn([V], Real, (v) => rose.add(three(v), rose.mul(1000, five(v))));
            values.push((await compile(f))([1, 2, 3, 4, 5, 6, 7, 8]));
        }
        return values;"""
    assert evaluate(node, body) == [11007, 11007]


STRUCTURED = {
    "a sum": "total = o.add(total, o.tanh(o.sum(3, (j) => o.mul(v[k], o.real(o.iadd(9, j, k % 5))))))",
    "a vector": """
        const w = o.vec(3, Real, (j) => o.sin(o.mul(v[k], o.add(o.real(j), Math.cos(k)))));
        total = o.add(total, o.mul(w[k % 3], w[1]))""",
    "a vector that is handed on": """
        const [g, c] = [state, Math.sin(k)];
        state = o.vec(3, Real, (j) => o.tanh(o.add(o.mul(g[j], c), o.mul(o.mul(v[k], 0.2), o.sum(3, (i) => g[i])))));
        total = o.add(total, state[k % 2])""",
    "a choice": """
        total = o.add(total, o.cond(o.lt(v[k], Math.cos(3 * k)), Real,
            () => o.mul(v[k], k), () => o.sin(o.mul(v[k], v[(5 * k) % 40]))))""",
    "a choice in a sum": """
        total = o.add(total, o.sum(3, (j) => o.cond(o.lt(o.real(j), 1 + (k % 2)), Real,
            () => o.mul(v[k], o.real(j)), () => o.sin(o.add(v[k], k)))))""",
    "steps in each turn": """
        total = o.add(total, o.fori(4, Real, v[k], (j, x) => o.sin(o.add(o.mul(x, k / 9), o.real(j)))))""",
    "what is kept of steps": """
        const [last, all] = o.scan(4, Real, v[k], (x, j) => {
            const y = o.tanh(o.add(x, k / 40));
            return [y, o.mul(y, o.real(j))];
        });
        total = o.add(total, o.mul(last, all[k % 4]))""",
    "calls, one after the other": """
        state = o.step(state, o.add(v[k], 1 + k / 40));
        total = o.add(total, o.mul(state[2], k))""",
}


@pytest.mark.parametrize("turn", STRUCTURED.values(), ids=STRUCTURED.keys())
def test_loops_around_loops_choices_and_calls(node: Run, turn: str) -> None:
    body = f"""
        const T = Vec(40, Real);
        const step = fn([Vec(3, Real), Real], Vec(3, Real), (v, x) =>
            rose.vec(3, Real, (j) => rose.sin(rose.mul(v[j], x))));
        const body = (o, v) => {{
            let [total, state] = [0, o.vec(3, Real, (j) => o.real(j))];
            for (let k = 0; k < 40; ++k) {{
                {turn};
            }}
            return o.add(total, state[1]);
        }};
        const f = fn([T], Real, (v) => body({{ ...rose, step }}, v));
        const x = numbers(40);
        const g = (await compile(grad(f)))(x);
        const along = (h) => body(plain, numbers(40, (k) => x[k] + h * Math.cos(k)));
        const slope = (h) => (along(h) - along(-h)) / (2 * h);
        return [[(await compile(f))(x), along(0)],
            [g.reduce((s, y, k) => s + y * Math.cos(k), 0), (4 * slope(1e-4) - slope(2e-4)) / 3],
            (await rose.inspect(f)).ir.split("\\n").length];"""
    (found, expected), (along, slope), lines = evaluate(node, body)
    assert found == pytest.approx(expected, rel=1e-12)
    assert along == pytest.approx(slope, rel=1e-7)
    assert lines < 120
