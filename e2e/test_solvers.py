"""Functions of functions in JavaScript: what they give, their derivatives, and what is said of failures."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from e2e.node import Run, evaluate
from rose_core import Real, Vec, compile, fn, root, vjp

PAGES = Path(__file__).parent / "pages"

HELP = """
    const { Bool, Dual, Real, Tan, Vec, add, compile, cond, cos, div, exp, fixedPoint, fn, fori, functional,
        gt, interp, jvp, lt, minimize, mul, neg, odeint, quad, root, select, sin, sqrt, sub, sum, vec, vjp,
        whileLoop, zero } = rose;
    const grad = (f, T) => fn([T], T, (x) => vjp(f)(x).grad(1));
    const wrong = [];
    const numbers = (x) => (typeof x === "number" ? [x] : Object.values(x).flatMap(numbers));
    const near = (got, expected, tolerance, what) => {
        const wanted = numbers(expected);
        numbers(got).forEach((x, k) => {
            const y = wanted[k];
            if (!(Math.abs(x - y) <= tolerance * Math.max(1, Math.abs(y)))) wrong.push([what, k, x, y]);
        });
    };
    /** What both engines give, which differ in the last digits where they have functions of their own. */
    const alike = async (f, ...args) => {
        const found = (await compile(f))(...args);
        near(interp(f)(...args), found, 1e-8, "engines");
        return found;
    };
    /** First and second derivatives in both modes, against differences of the compiled function. */
    const derivatives = async (f, x, tolerance = 1e-6) => {
        const n = x.length, T = Vec(n, Real), h = 1e-4;
        const along = x.map((_, k) => 0.3 - 0.7 * k);
        const slopes = async (f) => {
            const run = await compile(f);
            const at = (k, d) => run(x.map((a, j) => a + (j === k ? d : 0)));
            return x.map((_, k) => (8 * (at(k, h) - at(k, -h)) - (at(k, 2 * h) - at(k, -2 * h))) / (12 * h));
        };
        const g = grad(f, T);
        const weighted = fn([T], Real, (v) =>
            along.map((c, k) => mul(c, g(v)[k])).reduce((a, b) => add(a, b)));
        const first = await alike(g, x), second = await alike(grad(weighted, T), x);
        near(first, await slopes(f), tolerance, "first");
        near(second, await slopes(weighted), tolerance, "second");
        const dot = (a) => a.reduce((total, b, k) => total + b * along[k], 0);
        const duals = x.map((re, k) => ({ re, du: along[k] }));
        near((await alike(jvp(f), duals)).du, dot(first), 1e-9, "forward");
        near((await alike(jvp(weighted), duals)).du, dot(second), 1e-9, "forward of reverse");
        return first;
    };
"""


def solve(node: Run, body: str) -> object:
    """What ``body`` returns; before that nothing may be wrong."""
    wrapped = f"{HELP} const result = await (async () => {{ {body} }})(); return [wrong, result ?? null];"
    wrong, result = evaluate(node, wrapped)  # type: ignore[misc]
    assert wrong == []
    return result


def test_functionals(node: Run) -> None:
    """One of a user's own, which sees the tangents of what its function closes over; and one without any."""
    body = """
        const byBisection = (f, low, high) => {
            const bisect = (f, low, high) => whileLoop(
                { low: Real, high: Real }, { low, high }, (s) => gt(sub(s.high, s.low), mul(1e-15, s.high)),
                (s) => {
                    const middle = div(add(s.low, s.high), 2), below = lt(f(middle), 0);
                    const low = select(below, Real, middle, s.low);
                    return { low, high: select(below, Real, s.high, middle) };
                }, { limit: 60 }).low;
            const rule = (x, f, low) => neg(div(jvp(f)({ re: x, du: mul(low.du, 0) }).du, vjp(f)(x).grad(1)));
            return functional([f], [Real, Real], Real, bisect, rule)(low, high);
        };
        const V2 = Vec(2, Real);
        const f = fn([V2], Real, (v) =>
            byBisection(fn([Real], Real, (x) => sub(mul(mul(x, x), mul(x, v[0])), exp(v[1]))), 0, 10));
        const x = Math.cbrt(Math.exp(0.3) / 2);
        near(await same(f, [2, 0.3]), x, 1e-14, "value");
        near(await derivatives(f, [2, 0.3]), [-x / 6, x / 3], 1e-11, "slopes");
        const square = functional([], [V2], V2, (v) => vec(2, Real, (i) => mul(v[i], v[i])),
            (y, v) => vec(2, Tan, (i) => mul(v[i].du, mul(3, v[i].re))));
        const g = fn([V2], Real, (v) => mul(square(v)[0], square(v)[1]));
        near(await same(grad(g, V2), [2, 5]), [6 * 25, 15 * 4], 0, "a rule that is wrong on purpose");
        const total = functional([], [V2], Real, (v) => add(v[0], v[1]),
            (y, v) => sum(2, (i) => mul(v[i].du, 5)));
        near(await same(grad(total, V2), [2, 5]), [5, 5], 0, "a sum of tangents");
    """
    solve(node, body)


def test_roots(node: Run) -> None:
    body = """
        const V2 = Vec(2, Real);
        const f = fn([Real], Real, (a) => root((x) => sub(mul(x, x), a), 1));
        near(await same(f, 2), Math.SQRT2, 1e-15, "root");
        near(await same(grad(grad(grad(f, Real), Real), Real), 2), 0.375 * 2 ** -2.5, 1e-12, "third");
        const s = fn([V2], V2, (v) => root((x) => [
            sub(add(mul(x[0], x[0]), mul(x[1], x[1])), v[0]), sub(mul(x[0], x[1]), v[1])], [2, 0.5]));
        near(await same(s, [5, 2]), [2, 1], 1e-15, "system");
        const first = fn([V2], Real, (v) => s(v)[0]), second = fn([V2], Real, (v) => s(v)[1]);
        near(await derivatives(first, [5, 2]), [1 / 3, -1 / 3], 1e-13, "first row");
        near(await derivatives(second, [5, 2]), [-1 / 6, 2 / 3], 1e-13, "second row");
        const loop = fn([V2], Real, (v) =>
            sum(2, (i) => root((x) => sub(mul(mul(x, x), x), mul(v[i], v[0])), 1)));
        await derivatives(loop, [2, 5]);
        const nested = fn([V2], Real, (v) =>
            root((y) => sub(mul(root((x) => sub(mul(x, x), mul(v[1], y)), 1), y), v[0]), 1));
        near(await same(nested, [3, 2]), Math.cbrt(4.5), 1e-14, "nested");
        await derivatives(nested, [3, 2]);
        const c = fn([Real], Real, (a) => fixedPoint((x) => cos(mul(a, x)), 0.5));
        const x = 0.7390851332151607;
        near(await same(c, 1), x, 1e-12, "fixed point");
        near(await same(grad(c, Real), 1), (-Math.sin(x) * x) / (1 + Math.sin(x)), 1e-11, "its derivative");
        const d = fn([V2], Real, (v) => {
            const p = fixedPoint(
                (x) => [add(mul(0.5, sin(x[1])), v[0]), mul(0.4, cos(mul(x[0], v[1])))], [0, 0]);
            return add(p[0], mul(2, p[1]));
        });
        await derivatives(d, [0.3, 1.7]);
    """
    solve(node, body)


def test_options_are_those_of_the_call(node: Run) -> None:
    """Whatever becomes of the object that they came in."""
    body = """
        const options = { tolerance: 1e-2 };
        const f = fn([Real], Real, (a) => {
            const rough = fixedPoint((x) => mul(0.5, add(x, a)), 0, options);
            options.tolerance = 1e-15;
            return sub(fixedPoint((x) => mul(0.5, add(x, a)), 0, options), rough);
        });
        near(await same(f, 1), 2 ** -7, 1e-3, "rough");
        const numbers = [0, 1];
        const both = rose.grad(fn([Real, Real], Real, (x, y) => mul(x, y)), numbers);
        numbers.pop();
        near(await same(both, 2, 3), [3, 2], 0, "both");
    """
    solve(node, body)


def test_integrals(node: Run) -> None:
    body = """
        const V2 = Vec(2, Real), V3 = Vec(3, Real);
        const f = fn([V3], Real, (v) => quad((x) => exp(neg(mul(v[2], mul(x, x)))), v[0], v[1]));
        const [low, high] = [Math.exp(-0.7 * 0.04), Math.exp(-0.7 * 1.69)];
        const value = 0.7297439478498537;
        near(await (await compile(f))([0.2, 1.3, 0.7]), value, 1e-14, "value");
        near(await derivatives(f, [0.2, 1.3, 0.7]),
            [-low, high, (1.3 * high - 0.2 * low - value) / 1.4], 1e-12, "slopes");
        const pole = fn([], Real, () => quad((x) => div(1, sqrt(x)), 0, 1));
        near(await same(pole), 2, 1e-8, "a pole");
        const tail = fn([Real], Real, (a) => quad((x) => exp(neg(mul(a, x))), a, Infinity));
        near(await same(tail, 0.7), Math.exp(-0.49) / 0.7, 1e-9, "a tail");
        near(await same(grad(tail, Real), 0.7), -Math.exp(-0.49) * (2 + 1 / 0.49), 1e-9, "its slope");
        const T = { a: V2, b: Real };
        const g = fn([V3], Real, (v) => {
            const total = quad(fn([Real], T, (x) => ({
                a: vec(2, Real, () => mul(sin(mul(v[0], x)), v[2])), b: mul(v[1], mul(x, x)) })), v[0], v[2]);
            return add(mul(total.a[0], total.b), total.a[1]);
        });
        await derivatives(g, [0.4, 0.3, 1.9]);
        const peak = fn([V2], Real, (v) => quad((x) => {
            const d = sub(x, v[1]);
            return add(1, div(v[0], add(1e-6, mul(d, d))));
        }, 0, 1));
        const whole = 1e3 * (Math.atan(0.6e3) + Math.atan(0.4e3));
        near(await same(grad(peak, V2), [0, 0.4]), [whole, 0], 1e-8, "a peak of the derivative alone");
    """
    solve(node, body)


def test_differential_equations(node: Run) -> None:
    body = """
        const V3 = Vec(3, Real), times = [0, 0.5, 1, 1, 2];
        const decay = fn([Real, Real], Vec(5, Real), (a, k) => odeint((y) => neg(mul(k, y)), a, times));
        near(await alike(decay, 2, 0.5), times.map((t) => 2 * Math.exp(-0.5 * t)), 1e-8, "decay");
        const f = fn([V3], Real, (v) => odeint((y, t) => mul(mul(v[0], y), cos(t)), 2, [v[1], v[2]])[1]);
        for (const v of [[0.5, 0.3, 3], [0.5, 3, 0.3]]) {
            const y = 2 * Math.exp(v[0] * (Math.sin(v[2]) - Math.sin(v[1])));
            near((await compile(f))(v), y, 1e-8, "value");
            const sines = Math.sin(v[2]) - Math.sin(v[1]);
            near((await compile(grad(f, V3)))(v),
                [y * sines, -y * v[0] * Math.cos(v[1]), y * v[0] * Math.cos(v[2])], 1e-7, "slopes");
        }
        const T = { angle: Real, speed: Real };
        for (const checkpoint of ["none", 5, "revolve"]) {
            const swing = fn([V3], Real, (v) => {
                const slope = fn([T, Real], T, (s) => ({
                    angle: s.speed, speed: neg(add(mul(v[0], s.angle), mul(v[1], s.speed))) }));
                const end = odeint(slope, { angle: v[2], speed: 0 }, [0, 5], { checkpoint })[1];
                return add(end.angle, mul(2, end.speed));
            });
            await derivatives(swing, [1, 0.1, 1.2], 1e-4);
        }
        const two = fn([Vec(2, Real)], Real, (v) =>
            odeint((y) => [y[1], neg(y[0])], v, new Float64Array([0, Math.PI / 2]))[1][0]);
        near(await alike(two, [3, 4]), 4, 1e-8, "a quarter of a turn");
    """
    solve(node, body)


def test_tuples_stand_for_vectors(node: Run) -> None:
    body = """
        const T = [Real, Real], turned = (t) => ([x, y]) => [sub(mul(2, x), t[1]), sub(mul(4, y), t[0])];
        near(await alike(fn([T], T, (t) => root(turned(t), t)), [8, 2]), [1, 2], 1e-15, "root");
        near(await alike(fn([T], T, (t) => minimize(([x, y]) =>
            add(mul(sub(x, t[0]), sub(x, t[0])), mul(y, y)), t)), [8, 2]), [8, 0], 1e-6, "minimize");
        near(await alike(fn([T], T, (t) => odeint((y) => y, 1, t)), [1, 2]), [1, Math.E], 1e-7, "odeint");
        attempt(() => fn([[Real, Bool]], T, (t) => root((x) => x, t)));
        return messages;
    """
    expected = (
        "TypeError: root: expected a Real or a vector of Reals to start from, got a symbolic [Real, Bool]"
    )
    assert evaluate(node, HELP + body) == [expected]


def test_minima(node: Run) -> None:
    body = """
        const V2 = Vec(2, Real), square = (x) => mul(x, x);
        for (const method of ["lbfgs", "newton", "adam"]) {
            const f = fn([V2], V2, (v) => minimize((x) => {
                const d = sub(x[1], square(x[0]));
                return add(square(sub(v[0], x[0])), mul(v[1], square(d)));
            }, [-1.2, 1], { method }));
            near((await compile(f))([1, 100]), [1, 1], 1e-5, method);
            const first = fn([V2], Real, (v) => f(v)[1]);
            near((await compile(grad(first, V2)))([1, 100]), [2, 0], 1e-4, method);
        }
        const g = fn([V2], Real, (v) =>
            minimize((x) => add(square(square(sub(x, v[0]))), mul(v[1], x)), 0, { tolerance: 1e-13 }));
        near(await derivatives(g, [0.5, 2]), [1, -Math.cbrt(0.5) / 6], 1e-10, "slopes");
    """
    solve(node, body)


def test_both_languages_give_the_same(node: Run) -> None:
    """The method is the same, step by step, so a root is the same to the last digits."""
    v = [1.0, 2.0]
    body = f"""
        const V2 = Vec(2, Real);
        const s = fn([V2], V2, (v) => root((x) => [
            sub(mul(x[0], mul(x[1], x[1])), v[0]), sub(add(mul(x[0], x[0]), x[1]), v[1])], [0.3, 1.8]));
        return [await same(s, {v}), await same(fn([V2], V2, (v) => vjp(s)(v).grad([1, 2])), {v})];
    """

    @fn
    def s(v: Vec(2, Real)) -> Vec(2, Real):  # type: ignore[valid-type]
        return root(lambda x: [x[0] * (x[1] * x[1]) - v[0], x[0] * x[0] + x[1] - v[1]], [0.3, 1.8])

    pull = fn([Vec(2, Real)], Vec(2, Real), lambda v: vjp(s)(v).grad([1.0, 2.0]))
    found, slopes = solve(node, body)  # type: ignore[misc]
    assert found == pytest.approx(compile(s)(v), rel=1e-15)
    assert slopes == pytest.approx(compile(pull)(v), rel=1e-13)


def test_failures_name_the_construct_and_the_line(node: Run) -> None:
    """In every engine, interpreters included, and what was compiled works on."""
    body = """
        const lines = [];
        const outcome = (run, x) => { try { return run(x); } catch (error) { return error.message; } };
        const report = async (f, ...xs) => {
            const compiled = await compile(f), interpreted = interp(f);
            for (const x of xs) lines.push([outcome(compiled, x), outcome(interpreted, x)]);
        };
        const flat = fn([Real], Real, (a) => root((x) => add(mul(x, x), a), 0));
        const none = fn([Real], Real, (a) => root((x) => add(mul(x, x), a), 3));
        const apart = fn([Real], Real, (a) => fixedPoint((x) => add(mul(2, x), a), 1, { limit: 7 }));
        await report(flat, 1, 0);
        await report(none, 1, -9);
        await report(apart, 1, -1);
        const value = fn([Real], Real, (a) => root((x) => sub(mul(x, x), a), 0));
        await report(grad(value, Real), 0);
        const pole = fn([Real], Real, (a) => quad((x) => div(1, x), a, 1, { limit: 300 }));
        const blowUp = fn([Real], Real, (a) => odeint((y) => mul(y, y), a, [0, 2], { limit: 300 })[1]);
        const slope = fn([Real], Real, (a) => minimize((x) => mul(a, x), 0, { limit: 9 }));
        await report(pole, 0, 1);
        await report(blowUp, 1, 0);
        await report(slope, 1, 0);
        return lines;
    """
    lines = solve(node, body)
    for a, b in lines:  # type: ignore[union-attr]
        assert a == b
    texts = [str(a) for a, _ in lines]  # type: ignore[union-attr]
    place = r" \(.*, line \d+\)$"
    for text, start in zip(
        texts,
        [
            "root: the derivative is singular, so there is no step towards a root",
            "0",
            "root: no root was found in 100 steps",
            "3",
            "fixedPoint: it did not converge in 7 iterations",
            "1",
            "root: the derivative is singular, so the result has none",
            "quad: the integral does not converge, or not in 300 parts of the interval",
            "0",
            "odeint: more than 300 steps from one time to the next",
            "0",
            "minimize: no minimum was found in 9 steps",
            "0",
        ],
        strict=True,
    ):
        pattern = start + (place if ":" in start else "$")

        assert re.match(pattern, text), (text, pattern)


def test_mistakes(node: Run) -> None:
    body = """
        attempt(() => fn([Real], Real, () => root((x) => x, true)));
        attempt(() => fn([Real], Real, (a) => root(fn([Vec(2, Real)], Vec(2, Real), (x) => x), a)));
        attempt(() => fn([Real], Real, (a) => root((x) => x, a, { rtol: 1 })));
        attempt(() => fn([Real], Real, (a) => minimize((x) => x, a, { method: "sgd" })));
        attempt(() => fn([Real], Real, (a) => odeint((y) => y, a, 1)));
        attempt(() => fn([Real], Real, (a) => odeint((y) => y, gt(a, 1), [0, 1])));
        attempt(() => fn([Real], Real, (a) => quad(fn([Real], Bool, (x) => gt(x, a)), 0, 1)));
        attempt(() => functional([Math.sin], [Real], Real, (f, x) => x, (y, f, x) => x.du));
        attempt(() => functional([], [Real], Bool, (x) => gt(x, 0), () => null));
        attempt(() => functional([], [Real], Real, (x) => x, (y, x) => x.re));
        attempt(() => fn([Real], Real, (a) => functional([], [Real], Real, (x) => a, (y, x) => x.du)(a)));
        return messages;
    """
    messages = evaluate(node, HELP + body)
    assert messages == [
        "TypeError: root: expected a Real or a vector of Reals to start from, got true",
        "TypeError: root: expected a function (Real) -> Real, got (Vec(2, Real)) -> Vec(2, Real)",
        "TypeError: root: there is no option rtol; the options are tolerance, limit",
        'RangeError: minimize: expected method to be "lbfgs", "newton" or "adam", got the string "sgd"',
        "TypeError: odeint: expected a vector of Reals as the times, got 1",
        "TypeError: odeint: expected a result of Reals, got Bool",
        "TypeError: quad: expected a result of Reals, got Bool",
        "TypeError: functional: expected a function made with fn or opaque, got a function",
        "TypeError: functional: expected a result of Reals, got Bool",
        "TypeError: the tangent of functional: variable type mismatch: expected Tan, got Real",
        "ReferenceError: functional uses values of the function f around it, "
        "which have to be arguments of the functional",
    ]


def test_lines_of_a_page(new_page: Callable[..., Page], site_url: str) -> None:
    """The author's file and line, when the program is compiled and when it comes from the browser's cache."""
    lines = (PAGES / "failure.js").read_text().splitlines()
    loop = 1 + next(k for k, line in enumerate(lines) if line.startswith("  whileLoop("))
    solve = 1 + next(k for k, line in enumerate(lines) if "=> root(" in line)
    endless = f"whileLoop: it did not end within its limit of 9 iterations (failure.js, line {loop})"
    singular = (
        f"root: the derivative is singular, so there is no step towards a root (failure.js, line {solve})"
    )
    context = new_page().context
    for _ in range(2):
        page = context.new_page()
        page.goto(f"{site_url}pages/failure.html")
        page.wait_for_function("document.title === 'done'")
        assert page.evaluate("told") == [endless, 0, singular, 0, endless, 1]
        page.close()


def test_opaque_and_derived_functions(node: Run) -> None:
    """What is solved may run on the page, have a derivative of its own, or be a derivative itself."""
    body = """
        const host = opaque([Real], Real, function cubed(x) { return x * x * x; });
        host.jvp = fn([Dual], Dual, ({ re, du }) => ({ re: host(re), du: mul(du, mul(3, mul(re, re))) }));
        const f = fn([Real], Real, (a) => root((x) => sub(host(x), a), 1));
        near(await same(f, 8), 2, 1e-14, "opaque");
        near(await same(grad(grad(f, Real), Real), 8), -2 / 9 * 8 ** (-5 / 3), 1e-12, "its derivatives");
        const height = fn([Real, Real], Real, (x, a) => sub(exp(x), mul(a, x)));
        const slope = rose.grad(height);
        const least = fn([Real], Real, (a) => root((x) => slope(x, a), 0.5));
        near(await same(least, 3), Math.log(3), 1e-14, "where a gradient is zero");
        near(await same(grad(least, Real), 3), 1 / 3, 1e-13, "its derivative");
        const area = fn([Real], Real, (b) => quad(fn([Real], Real, (x) => rose.grad(host)(mul(b, x))), 0, 1));
        near(await same(area, 2), 4, 1e-13, "an integral of a derivative");
        near(await same(rose.hessian(area), 2), 2, 1e-12, "its second derivative");
    """
    solve(node, "const { opaque } = rose;" + body)


def test_options_and_lines_are_of_a_program(node: Run) -> None:
    """Other options make another program; other lines do not, and yet are told."""
    body = """
        const found = (limit, pad) => {
            const lines = "\\n".repeat(pad);
            const make = new Function("rose", "limit", `${lines}const { fn, fixedPoint, mul, Real } = rose;
                return fn([Real], Real, (a) => fixedPoint((x) => mul(2, x), a, { limit }));
                //# sourceURL=made.js`);
            return make(rose, limit);
        };
        const keys = [];
        globalThis.roseFreezer = (work, key) => { if (key) keys.push(key); };
        const texts = [];
        for (const [limit, pad] of [[7, 0], [7, 3], [8, 0]])
            try { (await compile(found(limit, pad)))(1); } catch (error) { texts.push(error.message); }
        delete globalThis.roseFreezer;
        return [texts, keys[0] === keys[1], keys[0] === keys[2]];
    """
    texts, same_lines, same_options = solve(node, body)  # type: ignore[misc]
    numbers = [
        re.match(r"fixedPoint: it did not converge in (\d) iterations \(.*, line (\d+)\)$", t) for t in texts
    ]
    (a, b, c) = [tuple(map(int, found.groups())) for found in numbers if found]
    assert (a[0], b[0], c[0]) == (7, 7, 8) and b[1] == a[1] + 3 and a[1] == c[1]
    assert same_lines and not same_options
