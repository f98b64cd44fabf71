"""Drafts: functions that run before they are compiled, and what takes their place."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route

from e2e.node import returned
from e2e.noted import listen
from e2e.test_abort import in_page
from e2e.test_original import ORIGINAL, shown
from js_bridge.build.tools import node

HEAD = """
    import * as rose from "./rose.js";
    const { Bool, Dual, Null, Real, Vec, add, compile, cond, div, exp, fn, fori, gt, iadd, idiv } = rose;
    const { imod, jvp, mul, neg, not, opaque, real, root, scan, select, sin, sub, sum, vec, vjp } = rose;
    const { whileLoop } = rose;
    const attempt = (work) => { try { return work(); } catch (e) { return `${e}`; } };
    /** What a draft gives, whether it was one, and what the compiled function gives. */
    const both = async (f, ...args) => {
        const made = await compile(f, { draft: true });
        let isDraft = true;
        void made.settled.then(() => (isDraft = false));
        await undefined; // of what is compiled, that is said by now
        const wasDraft = isDraft;
        const early = attempt(() => made(...args));
        const settled = await made.settled;
        return [early, wasDraft && settled, attempt(() => made(...args))];
    };
"""


def evaluate(node: Callable[[str], str], body: str) -> Any:
    return returned(node, HEAD, body)


def test_random_programs() -> None:
    """What the original can say, its derivatives and loops, nested in all ways."""
    words = [str(node()), "drafts.mjs", "0", "400"]
    done = subprocess.run(words, cwd=ORIGINAL, capture_output=True, text=True, timeout=300)
    assert not done.returncode, done.stderr[-4000:]
    report = json.loads(done.stdout)
    assert not report["differ"], shown(report["differ"][0])
    assert report["drafts"] > 390
    assert report["bits"] > 0.97 * report["calls"], (
        "only functions of Math, and some sums, are rounded otherwise"
    )


def test_every_kind_of_argument_and_result(own_node: Callable[[str], str]) -> None:
    body = """
        const Point = { on: Bool, at: Vec(2, Real), k: 3, none: Null };
        const params = [Vec(2, Point), Vec(2, Vec(3, Real)), Real, [Real, Bool]];
        const f = fn(params, [Vec(2, Point), Real], (points, m, x, [y, b]) => [vec(2, Point, (i) => {
            const { on, at, k } = points[i];
            return { on: not(on), at: [mul(x, m[i][0]), at[1]], k, none: null };
        }), select(b, Real, y, neg(y))]);
        const point = { on: true, at: [1, 2], k: 2, none: null };
        const args = [[point, { ...point, on: false }], [[1, 2, 3], [4, 5, 6]], 10, [7, false]];
        return both(f, ...args);
    """
    early, was_draft, late = evaluate(own_node, body)
    assert was_draft
    assert early == late
    assert early[0][1] == {"on": True, "at": [40, 2], "k": 2, "none": None}
    assert early[1] == -7


def test_derivatives(own_node: Callable[[str], str]) -> None:
    """Forward in reverse, rules of authors, loops, and constants in place of arguments."""
    body = """
        const root2 = opaque([Real], Real, Math.sqrt);
        root2.jvp = fn([Dual], Dual, ({ re, du }) => {
            const y = root2(re);
            return { re: y, du: div(du, mul(2, y)) };
        });
        const f = fn([Vec(3, Real)], Real, (v) => {
            const s = fori(4, Real, 1, (i, s) => add(mul(s, v[0]), sin(mul(real(i), v[1]))));
            const [last, all] = scan(3, Real, s, (s, i) => [mul(s, v[i]), s]);
            return add(root2(add(5, mul(last, last))), sum(3, (i) => mul(all[i], exp(v[i]))));
        });
        const gradient = fn([Vec(3, Real)], Vec(3, Real), (v) => vjp(f)(v).grad(1));
        const hvp = fn([Vec(3, Real)], Vec(3, Real), (v) => {
            const along = fn([Vec(3, Real)], Real, (u) => sum(3, (i) => mul(vjp(f)(u).grad(1)[i], v[i])));
            return vjp(along)([0.5, 0.25, 2]).grad(1);
        });
        const forward = fn([Real], Real, (x) => {
            const line = fn([Real], Real, (t) => f([t, mul(t, x), 0.75]));
            return jvp(line)({ re: x, du: 1 }).du;
        });
        const x = [0.3, -0.7, 1.1];
        return [await both(gradient, x), await both(hvp, x), await both(forward, 0.6)];
    """
    for early, was_draft, late in evaluate(own_node, body):
        assert was_draft
        early, late = ([x] if isinstance(x, float) else x for x in (early, late))
        assert all(abs(a - b) <= 1e-13 * (1 + abs(b)) for a, b in zip(early, late, strict=True))
        assert any(late)


def test_operators(own_node: Callable[[str], str]) -> None:
    """What the core makes of functions by name, by one argument or several, of structs and in closures."""
    body = """
        const { grad, hessian, hvp, jacobian, linearize, pow, tanh, valueAndGrad, vmap } = rose;
        const V3 = Vec(3, Real), P = { a: Real, b: V3 }, U = { u: Vec(2, Real), w: Real };
        const f = fn([V3], Real, (v) => add(mul(sin(v[0]), exp(v[1])), mul(pow(v[2], 3), v[1])));
        const g = fn([P, Real], Real, ({ a, b }, x) =>
            add(mul(a, f(b)), mul(tanh(x), sum(3, (i) => mul(b[i], b[i])))));
        const h = fn([V3], U, (v) => ({ u: [mul(v[0], v[1]), sin(v[2])], w: f(v) }));
        const cube = fn([Real], Real, (x) => mul(x, mul(x, x)));
        cube.jvp = fn([Dual], Dual, ({ re, du }) => ({ re: cube(re), du: mul(du, mul(7, cube(re))) }));
        const cubes = fn([V3], Real, (v) => sum(3, (i) => cube(mul(v[i], v[0]))));
        const around = (of) => fn([V3, Real], V3, (v, k) =>
            of(fn([V3], Real, (u) => mul(k, mul(f(u), f(v)))), v));
        const x = [0.5, -0.25, 1.5], p = { a: 2, b: x }, d = { a: 1, b: [0.1, 0.2, 0.3] };
        const found = [];
        for (const [made, ...args] of [
            [grad(g), p, 0.3],
            [grad(g, [1, 0]), p, 0.3],
            [valueAndGrad(g, [0, 1]), p, 0.3],
            [hvp(g, [0, 1]), p, 0.3, { 0: d, 1: 2 }],
            [jacobian(h), x],
            [jacobian(h, 0, { mode: "reverse" }), x],
            [hessian(g, [0, 1]), p, 0.3],
            [hessian(h), x],
            [fn([V3, V3], U, (v, d) => linearize(h)(v).push(d)), x, [1, 2, 3]],
            [vmap(grad(f)).at({ batch: 2 }), [x, [1, 2, 3]]],
            [grad(cubes), x],
            [hessian(cubes), x],
            [around((f, v) => grad(f)(v)), x, 3],
            [around((f, v) => hvp(f)(v, v)), x, 3],
            [around((f, v) => vec(3, Real, () => linearize(f)(v).push(v))), x, 3],
            [grad(fn([{ y: Real, k: 3 }], Real, ({ y }) => mul(y, y))), { y: 3, k: 2 }],
            [grad(fn([V3], Real, (v) => {
                const w = v.set(1, mul(v[0], v[2])).at[2].add(v[1]);
                return sum(3, (i) => mul(w[idiv(3, i, 2)], w[imod(3, iadd(3, i, 1))]));
            })), x],
        ])
            found.push(await both(made, ...args));
        return found;
    """
    for early, was_draft, late in evaluate(own_node, body):
        assert was_draft
        assert numbers(early) == pytest.approx(numbers(late), rel=1e-13, abs=1e-13)
        assert json.dumps(early).translate(SHAPE) == json.dumps(late).translate(SHAPE)


SHAPE = str.maketrans("", "", "0123456789.-e")
"""Takes away what numbers differ in."""


def numbers(value: Any) -> list[float]:
    """All numbers in a value."""
    if isinstance(value, dict | list):
        items = value.values() if isinstance(value, dict) else value
        return [x for item in items for x in numbers(item)]
    return [value]


def test_values_are_those_of_rules_where_derivatives_are_taken(own_node: Callable[[str], str]) -> None:
    body = """
        const { hessian, hvp, valueAndGrad } = rose;
        const f = fn([Real], Real, (x) => mul(x, x));
        f.jvp = fn([Dual], Dual, ({ re, du }) => ({ re: add(f(re), 1), du: mul(du, mul(2, re)) }));
        const g = fn([Real], Real, (x) => add(f(x), 5));
        const h = fn([Real], Real, (x) => mul(f(x), f(x)));
        const k = fn([Real], Real, (x) => add(mul(x, f(2)), f(mul(3, f(-1)))));
        const along = fn([Real], Vec(2, Real), (x) => {
            const { re, du } = jvp(g)({ re: x, du: 3 });
            return [re, du];
        });
        const found = [];
        for (const [made, ...args] of [
            [valueAndGrad(f), 3],
            [valueAndGrad(g), 3],
            [valueAndGrad(k), 3],
            [hessian(h), 3],
            [hvp(h), 3, 1],
            [along, 3],
            [g, 3],
        ])
            found.push(await both(made, ...args));
        return found;
    """
    found = evaluate(own_node, body)
    assert all(was_draft for _, was_draft, _ in found)
    gradients = [{"value": 10, "grad": 6}, {"value": 15, "grad": 6}, {"value": 21, "grad": 4}]
    expected = [*gradients, 116, 116, [15, 18], 14]
    assert [early for early, _, _ in found] == expected
    assert [late for _, _, late in found] == expected


def test_what_has_no_draft_is_waited_for(own_node: Callable[[str], str]) -> None:
    body = """
        const R2 = Vec(2, Real);
        const secret = opaque([Real], Real, (x) => 2 * x);
        const far = fn([Real], Real, (x) => fori(1_000_000, Real, x, (_, s) => mul(s, 1)));
        const found = [];
        for (const [f, ...args] of [
            [fn([Real], Real, (x) => cond(gt(x, 0), Real, () => x, () => neg(x))), -3],
            [fn([Real], Real, (x) => whileLoop(Real, x, (s) => gt(s, 1), (s) => div(s, 2))), 6],
            [fn([R2, 2], Real, (v, i) => v[i]), [4, 5], 1],
            [fn([Real], Real, (x) => root((y) => sub(mul(y, y), x), 1)), 9],
            [far, 2],
        ]) {
            const [early, wasDraft] = await both(f, ...args);
            found.push([early, wasDraft]);
        }
        const bad = fn([Real], Real, (x) => vjp(secret)(x).grad(1));
        const refused = await compile(bad, { draft: true }).catch(String);
        return [found, refused];
    """
    found, refused = evaluate(own_node, body)
    assert [value for value, _ in found] == [3, 0.75, 5, 3, 2]
    assert not any(was_draft for _, was_draft in found)
    assert "has no derivative" in refused


def test_what_moves_much_is_waited_for(own_node: Callable[[str], str]) -> None:
    """Also if it computes little."""
    body = """
        const V = (n) => Vec(n, Real), M = Vec(500, V(500));
        const swaps = fn([V(2)], V(2), (v) =>
            fori(1000, V(2), v, () => fori(30_001, V(2), v, (_, [a, b]) => [b, a])));
        const sets = fn([V(300_000), Real], Real, (v, x) => {
            for (let k = 0; k < 400; ++k) v = v.set(k, mul(x, k));
            return add(v[3], v[400]);
        });
        const transpositions = fn([M], Real, (a) => {
            for (let k = 0; k < 21; ++k) {
                const b = a;
                a = vec(500, V(500), (i) => vec(500, Real, (j) => b[j][i]));
            }
            return a[1][2];
        });
        const row = Array.from({ length: 300_000 }, (_, k) => k);
        const matrix = Array.from({ length: 500 }, (_, k) => row.slice(1000 * k % 7919).slice(0, 500));
        const found = [];
        for (const [f, ...args] of [[swaps, [1, 2]], [sets, row, 2], [transpositions, matrix]])
            found.push(await both(f, ...args));
        return [found, matrix[2][1]];
    """
    found, moved = evaluate(own_node, body)
    assert [early for early, _, _ in found] == [[2, 1], 406, moved]
    assert not any(was_draft for _, was_draft, _ in found)


def test_what_is_compiled_sooner_is_waited_for(own_node: Callable[[str], str]) -> None:
    """Loops of many iterations are, where Python is there already; what is as long unrolled is not."""
    body = """
        const n = 10_000;
        const loop = () => fn([Vec(n, Real)], Real, (v) => sum(n, (i) => mul(v[i], mul(v[i], 2))));
        const writtenOut = () => fn([Real], Real, (x) => {
            for (let k = 0; k < 6 * n; ++k) x = add(x, k % 3);
            return x;
        });
        const x = Array(n).fill(1);
        const found = [await both(loop(), x), await both(writtenOut(), 1)];
        await rose.ready();
        rose.configure({ cache: false });
        return [...found, await both(loop(), x), await both(writtenOut(), 1)];
    """
    assert evaluate(own_node, body) == [
        [20_000, True, 20_000],
        [60_001, True, 60_001],
        [20_000, False, 20_000],
        [60_001, True, 60_001],
    ]


def test_opaque_functions_that_call_what_calls_them(own_node: Callable[[str], str]) -> None:
    body = """
        let made;
        const deeper = opaque([Real], Real, (x) => (x > 0 ? made(x - 1) : 0));
        const f = fn([Real], Real, (x) => add(mul(x, 10), deeper(x)));
        made = await compile(f, { draft: true });
        const early = made(3);
        const wrong = fn([Real], Real, (x) => opaque([Real], Real, () => "no")(x));
        const bad = await compile(wrong, { draft: true });
        const message = attempt(() => bad(1));
        await Promise.all([made.settled, bad.settled]);
        return [early, made(3), message, attempt(() => bad(1))];
    """
    early, late, message, same = evaluate(own_node, body)
    assert early == late == 60
    assert message == same
    assert "expected Real" in message


def test_opaque_functions_that_call_what_has_views(own_node: Callable[[str], str]) -> None:
    """What the outer call has in memory stays, before and after the swap, as in compiled code."""
    body = """
        const V = Vec(3, Real);
        const found = [];
        for (const draft of [false, true]) {
            let made, tried, refused;
            const deeper = opaque([Real], Real, (n) => {
                if (!tried) {
                    tried = true;
                    refused = attempt(() => [...made.run()]);
                }
                return n > 0 ? made([n - 1, 100, 200])[1] : 0;
            });
            made = await compile(fn([V], V, (v) => {
                const d = deeper(v[0]);
                return [add(v[0], d), add(v[1], d), mul(v[2], v[1])];
            }), { draft });
            const [view] = made.args;
            for (const turn of [0, 1]) {
                tried = false;
                view.set([2, 10, 20]);
                found.push([[...made.run()], [...view], made([2, 10, 20]), refused]);
                await made.settled;
            }
        }
        return found;
    """
    result = [202, 210, 200]
    refused = "Error: f.run: an opaque function cannot use the memory of its caller"
    assert evaluate(own_node, body) == [[result, [2, 10, 20], result, refused]] * 4


def test_calls_in_a_memory_that_a_viewed_draft_has_too(own_node: Callable[[str], str]) -> None:
    body = """
        const V = Vec(3, Real);
        const memory = new WebAssembly.Memory({ initial: 1 });
        const twice = await compile(fn([V], V, (v) => vec(3, Real, (i) => mul(v[i], 2))), {
            memory,
            draft: true,
        });
        twice.args;
        const settled = await twice.settled;
        const other = opaque([Real], Real, (x) => twice([x, x, x])[0]);
        const f = fn([V], V, (v) => {
            const d = other(v[0]);
            return [v[0], add(v[1], d), v[2]];
        });
        return [settled, (await compile(f, { memory }))([1, 2, 3])];
    """
    assert evaluate(own_node, body) == [True, [1, 4, 3]]


def test_an_opaque_function_that_disposes_of_its_caller(own_node: Callable[[str], str]) -> None:
    body = """
        const V = Vec(2, Real);
        const found = [];
        for (const draft of [false, true])
            for (const late of [false, true]) {
                let made;
                const last = opaque([Real], Real, (x) => {
                    made.dispose();
                    return 10 * x;
                });
                made = await compile(fn([V], V, (v) => [last(v[0]), v[1]]), { draft });
                made.args;
                if (late) await made.settled;
                found.push([attempt(() => made([1, 2])), attempt(() => made([1, 2])), await made.settled]);
            }
        return found;
    """
    called, again = [10, 2], "Error: f was disposed of"
    settled = [True, True, False, True]
    assert evaluate(own_node, body) == [[called, again, is_settled] for is_settled in settled]


def test_views_of_nothing(own_node: Callable[[str], str]) -> None:
    body = """
        const none = Vec(0, Real);
        const found = [];
        for (const draft of [false, true]) {
            const nothing = await compile(fn([none], none, (v) => v), { draft });
            const more = await compile(fn([none, Real], Real, (_, x) => mul(x, 2)), { draft });
            const [v] = nothing.args;
            const [, x] = more.args;
            for (const turn of [1, 2]) {
                x[0] = turn;
                found.push([v.length, attempt(() => nothing.run().length), attempt(() => more.run()[0])]);
                await Promise.all([nothing.settled, more.settled]);
            }
        }
        return found;
    """
    assert evaluate(own_node, body) == [[0, 0, 2], [0, 0, 4]] * 2


def test_the_memory_of_a_draft_is_let_go(own_node: Callable[[str], str]) -> None:
    body = """
        const { setFlagsFromString } = await import("node:v8");
        const { runInNewContext } = await import("node:vm");
        setFlagsFromString("--expose-gc");
        const gc = runInNewContext("gc");
        const f = fn([Real], Real, (x) => {
            for (let k = 0; k < 2000; ++k) x = add(sin(x), k);
            return x;
        });
        await compile(f); // what is recorded of it, it keeps
        const lists = [];
        const { Int32Array } = globalThis;
        globalThis.Int32Array = class extends Int32Array {
            constructor(...args) {
                super(...args);
                lists.push(new WeakRef(this));
            }
        };
        const made = await compile(f, { draft: true });
        globalThis.Int32Array = Int32Array;
        const sizes = lists.map((list) => list.deref().length);
        const settled = await made.settled;
        for (let k = 0; k < 3; ++k) {
            await new Promise((next) => setTimeout(next));
            gc();
        }
        return [Math.max(...sizes), settled, lists.filter((list) => list.deref()).length, made(1) > 0];
    """
    size, settled, kept, is_positive = evaluate(own_node, body)
    assert size > 4000
    assert settled and is_positive
    assert not kept


def test_views_outlive_the_draft(own_node: Callable[[str], str]) -> None:
    body = """
        const f = fn([Vec(3, Real), { p: Bool, k: 5 }], { v: Vec(3, Real), k: 5 }, (v, { p, k }) =>
            ({ v: vec(3, Real, (i) => select(p, Real, v[i], neg(v[i]))), k }));
        const made = await compile(f, { draft: true });
        const [v, s] = made.args;
        const { result } = made;
        v.set([1, 2, 3]);
        s.k[0] = 4;
        const first = [...made.run().v];
        const settled = await made.settled;
        s.p[0] = 1;
        const second = [...made.run().v, result.k[0], made.result === result];
        const third = made([5, 6, 7], { p: true, k: 1 });
        const fourth = [...v, ...result.v];
        const fifth = made.into({ v: [0, 0, 0], k: 0 }, [8, 9, 10], { p: false, k: 2 });
        s.k[0] = 5;
        const wrong = attempt(() => made.run());
        made.dispose();
        return [first, settled, second, third, fourth, fifth, wrong, attempt(() => made.run()), v.length];
    """
    first, settled, second, third, fourth, fifth, wrong, disposed, length = evaluate(own_node, body)
    assert (first, settled) == ([-1, -2, -3], True)
    assert second == [1, 2, 3, 4, True]
    assert third == {"v": [5, 6, 7], "k": 1}
    assert fourth == [5, 6, 7, 5, 6, 7]
    assert fifth == {"v": [-8, -9, -10], "k": 2}
    assert "argument 2 of f.k[0]" in wrong
    assert disposed == "Error: f was disposed of"
    assert length == 0


def test_a_rule_that_is_set_later_is_of_no_account(own_node: Callable[[str], str]) -> None:
    body = """
        const f = fn([Real], Real, (x) => mul(x, x));
        const slope = fn([Real], Real, (x) => vjp(f)(x).grad(1));
        const made = await compile(slope, { draft: true });
        f.jvp = fn([Dual], Dual, ({ re, du }) => ({ re: mul(re, re), du: mul(7, du) }));
        const early = made(3);
        await made.settled;
        return [early, made(3), (await both(slope, 3))];
    """
    early, late, both = evaluate(own_node, body)
    assert early == late == 6
    assert both == [7, True, 7]


def test_a_rule_that_is_set_while_the_draft_is_made(own_node: Callable[[str], str]) -> None:
    """The program is that of the call."""
    body = """
        const f = fn([Real], Real, (x) => mul(x, x));
        const slope = fn([Real], Real, (x) => vjp(f)(x).grad(1));
        const promise = compile(slope, { draft: true });
        f.jvp = fn([Dual], Dual, ({ re, du }) => ({ re: mul(re, re), du: mul(7, du) }));
        const made = await promise;
        const early = made(3);
        const settled = await made.settled;
        return [early, settled, made(3), await both(slope, 3)];
    """
    assert evaluate(own_node, body) == [6, True, 6, [7, True, 7]]


def test_what_is_no_object_of_options(own_node: Callable[[str], str]) -> None:
    """What belongs into one is none, and would have no effect."""
    body = """
        const f = fn([Real], Real, (x) => x);
        const wrong = [null, f, new AbortController().signal, new WebAssembly.Memory({ initial: 1 })];
        const told = await Promise.all(wrong.map((options) => compile(f, options).catch(String)));
        try { rose.hot(f); } catch (error) { told.push(String(error)); }
        return told;"""
    got = ["null", "a function", "an object of the class AbortSignal", "an object of the class Memory"]
    expected = [f"TypeError: compile: expected an object of options, got {x}" for x in got]
    assert evaluate(own_node, body) == [
        *expected,
        "TypeError: hot: expected an object of options, got a function",
    ]


LARGE = """
    const size = 50;
    const chain = (n) => fn([Vec(size, Real)], Real, (v) => {
        let x = v[0];
        for (let k = 0; k < n; ++k) x = add(sin(x), mul(x, v[k % size]));
        return x;
    });
    const slope = (f) => fn([Vec(size, Real)], Vec(size, Real), (v) => vjp(f)(v).grad(1));
"""


def test_the_page_does_not_wait_for_the_compiler(page: Page, site_url: str) -> None:
    """While the core is busy with something else, a function is there, and is compiled in its turn."""
    page.goto(f"{site_url}pages/blank.html")
    body = f"""async () => {{
        const rose = await import("../rose.js");
        rose.configure({{ cache: false }});
        const {{ Real, Vec, add, compile, fn, mul, sin, vjp }} = rose;
        await rose.ready();
        {LARGE}
        const order = [];
        const long = compile(slope(chain(3000)), {{ draft: false }}).then(() => order.push("long"));
        const short = await compile(slope(chain(3)), {{ draft: true }});
        order.push("draft");
        const x = new Float64Array(size).fill(0.5);
        const early = short(x);
        const waits = compile(chain(4)).then(() => order.push("default"));
        const settled = await short.settled;
        order.push("settled");
        await Promise.all([long, waits]);
        rose.configure({{ draft: true }});
        const dropped = await compile(slope(chain(5)));
        dropped.dispose();
        return [order, settled, early, short(x), await dropped.settled];
    }}"""
    order, settled, early, late, dropped = page.evaluate(body)
    assert order[0] == "draft" and sorted(order) == ["default", "draft", "long", "settled"]
    assert settled and not dropped
    assert all(abs(a - b) < 1e-14 for a, b in zip(early, late, strict=True))


def test_disposed_of_while_it_compiles(page: Page, site_url: str) -> None:
    body = """
        await ready();
        const made = await compile(large, { draft: true });
        const early = made(1);
        await asked(1);
        made.dispose();
        return [early, await made.settled];"""
    assert in_page(page, site_url, body) == [1, False]


def test_given_up_while_others_compile(page: Page, site_url: str) -> None:
    """Nobody waits for those: what another function has begun goes on."""
    body = """
        await ready();
        const order = [];
        const say = (what) => (settled) => order.push(`${what} ${settled}`);
        const giving = new AbortController();
        const long = await compile(large, { draft: true });
        const made = await compile(small(3), { draft: true, signal: giving.signal });
        const all = [long.settled.then(say("long")), made.settled.then(say("given up"))];
        await asked(1);
        giving.abort();
        await Promise.all(all);
        return [order, made(2)];"""
    assert in_page(page, site_url, body) == [["given up false", "long true"], 6]


def test_given_up_while_its_module_is_made(own_node: Callable[[str], str]) -> None:
    """It stays a draft, as it says."""
    body = """
        const giving = new AbortController();
        await rose.ready();
        const { signal } = giving;
        const made = await compile(fn([Real], Real, (x) => mul(x, sin(x))), { draft: true, signal });
        const { Module } = WebAssembly;
        WebAssembly.Module = function (bytes) {
            giving.abort();
            return new Module(bytes);
        };
        const settled = await made.settled;
        await new Promise((next) => setTimeout(next));
        const page = 65536;
        return [settled, made.args[0].buffer.byteLength < page, made(0)];
    """
    assert evaluate(own_node, body) == [False, True, 0]


def test_no_timers_between_drafts(page: Page, site_url: str) -> None:
    """In hidden pages, each would take a second; nobody waits for those that watch over a worker."""
    page.goto(f"{site_url}pages/blank.html")
    body = """async () => {
        const { Real, compile, configure, fn, mul, ready } = await import("../rose.js");
        configure({ cache: false });
        await ready();
        const scales = [2, 3, 4].map((c) => fn([Real], Real, (x) => mul(x, c)));
        const made = await Promise.all(scales.map((f) => compile(f, { draft: true })));
        let timers = 0;
        const { setTimeout } = globalThis;
        globalThis.setTimeout = (action, delay = 0) => {
            timers += delay < 1000;
            return setTimeout(action, delay);
        };
        const settled = await Promise.all(made.map((f) => f.settled));
        return [settled, timers];
    }"""
    assert page.evaluate(body) == [[True, True, True], 0]


def test_a_late_index_of_what_is_frozen(page: Page, site_url: str) -> None:
    """The draft is there before that comes."""
    page.goto(f"{site_url}pages/blank.html")
    held: list[Route] = []
    page.route("**/rose.frozen.json", lambda route: held.append(route))
    body = """async () => {
        const { Real, compile, fn, mul } = await import("../rose.js");
        compile(fn([Real], Real, (x) => mul(x, 3)), { draft: true }).then((made) => (globalThis.made = made));
    }"""
    page.evaluate(body)
    page.wait_for_function("globalThis.made !== undefined")
    assert page.evaluate("made(2)") == 6
    (index,) = held
    index.continue_()
    assert page.evaluate("made.settled") is True
    assert page.evaluate("made(3)") == 9


@pytest.mark.provokes(r"/pyodide/\S+ net::ERR_FAILED")
def test_a_draft_needs_no_python(page: Page, site_url: str) -> None:
    page.goto(f"{site_url}pages/blank.html")
    page.route("**/pyodide/**", lambda route: route.abort())
    said = listen(page)
    body = """async () => {
        const { Real, compile, configure, fn, mul, vjp } = await import("../rose.js");
        configure({ cache: false });
        const f = fn([Real], Real, (x) => mul(x, mul(x, x)));
        const slope = fn([Real], Real, (x) => vjp(f)(x).grad(1));
        globalThis.made = await compile(slope, { draft: true });
        return [made(2), made.args[0].length];
    }"""
    assert page.evaluate(body) == [12, 1]
    assert page.evaluate("made.settled") is False
    assert page.evaluate("made(3)") == 27
    (told,) = (text for text in said if "works, but slowly" in text)
    assert "could not load Python" in told


@pytest.mark.provokes(r"/pyodide/\S+ net::ERR_FAILED")
def test_one_warning_for_one_reason(page: Page, site_url: str) -> None:
    page.goto(f"{site_url}pages/blank.html")
    page.route("**/pyodide/**", lambda route: route.abort())
    said = listen(page)
    body = """async () => {
        const { Real, compile, configure, fn, mul } = await import("../rose.js");
        configure({ cache: false });
        const scales = [2, 3, 4, 5].map((c) => fn([Real], Real, (x) => mul(x, c)));
        const made = await Promise.all(scales.map((f) => compile(f, { draft: true })));
        return [await Promise.all(made.map((f) => f.settled)), made.map((f) => f(10))];
    }"""
    assert page.evaluate(body) == [[False] * 4, [20, 30, 40, 50]]
    assert len([text for text in said if "works, but slowly" in text]) == 1
