"""Calls of compiled functions: what goes in and comes out, with and without copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import CDPSession, Page

from e2e.node import returned

HEAD = """
    import * as rose from "./rose.js";
    const { Bool, Null, Real, Vec, add, compile, cond, fn, fori, lt, mul, not, opaque, sum, vec, vjp } = rose;
    const attempt = (work) => { try { return work(); } catch (e) { return `${e}`; } };
"""


def evaluate(node: Callable[[str], str], body: str) -> Any:
    return returned(node, HEAD, body)


def test_every_kind_of_argument_and_result(node: Callable[[str], str]) -> None:
    body = """
        const Point = { on: Bool, at: Vec(2, Real), k: 3, none: Null };
        const params = [Vec(2, Point), Vec(2, Vec(3, Real)), Real];
        const f = await compile(fn(params, Vec(2, Point), (points, m, x) => vec(2, Point, (i) => {
            const { on, at, k } = points[i];
            return { on: not(on), at: [mul(x, m[i][0]), at[1]], k, none: null };
        })));
        const points = [
            { on: true, at: [1, 2], k: 2, none: null },
            { on: false, at: new Float64Array([3, 4]), k: 0, none: null },
        ];
        const nested = f(points, [[1, 2, 3], [4, 5, 6]], 10);
        const flat = f(points, Float64Array.of(1, 2, 3, 4, 5, 6), 10);
        const mixed = f(points, [Float32Array.of(1, 2, 3), new Int16Array([4, 5, 6])], 10);
        const out = [0, new Float64Array(2)].map((at) => ({ on: null, at: at || [0, 0], k: 9, none: null }));
        const same = f.into(out, points, [[1, 2, 3], [4, 5, 6]], 10) === out;
        out[1].at = [...out[1].at];
        return [nested, flat, mixed, out, same];
    """
    nested, flat, mixed, out, same = evaluate(node, body)
    assert nested == [
        {"on": False, "at": [10, 2], "k": 2, "none": None},
        {"on": True, "at": [40, 4], "k": 0, "none": None},
    ]
    assert nested == flat == mixed == out
    assert same


def test_in_place(node: Callable[[str], str]) -> None:
    body = """
        const f = await compile(fn([Vec(3, Real), Real, { p: Bool, k: 5 }], { v: Vec(3, Real), k: 5 },
            (v, x, { k }) => ({ v: vec(3, Real, (i) => mul(v[i], x)), k })));
        const [v, x, s] = f.args;
        v.set([1, 2, 3]);
        x[0] = 10;
        s.k[0] = 4;
        const { result } = f;
        const ran = f.run();
        const first = [[...ran.v], ran.k[0], ran === result, ran === f.run()];
        const mistakes = [];
        s.k[0] = 5;
        mistakes.push(attempt(() => f.run()));
        s.k[0] = -1;
        mistakes.push(attempt(() => f.run()));
        s.k[0] = 0;
        s.p[0] = 2;
        mistakes.push(attempt(() => f.run()));
        f.dispose();
        mistakes.push(attempt(() => f.run()), v.length);
        return [first, mistakes];
    """
    first, mistakes = evaluate(node, body)
    assert first == [[10, 20, 30], 4, True, True]
    assert mistakes == [
        "RangeError: argument 3 of f.k[0]: expected an index, from 0 to 4, got 5",
        "RangeError: argument 3 of f.k[0]: expected an index, from 0 to 4, got -1",
        "RangeError: argument 3 of f.p[0]: expected a Bool, from 0 to 1, got 2",
        "Error: f was disposed of",
        0,
    ]


def test_into_what_does_not_fit(node: Callable[[str], str]) -> None:
    body = """
        const Out = { m: Vec(2, Vec(2, Real)), x: Real };
        const f = await compile(fn([Real], Out, (x) => ({ m: [[x, x], [x, x]], x })));
        const g = await compile(fn([Real], Real, (x) => x));
        return [
            f.into({ m: new Float64Array(4), x: 0 }, 1).m.length,
            attempt(() => f.into({ m: new Float64Array(3), x: 0 }, 1)),
            attempt(() => f.into({ m: [[0, 0], 7], x: 0 }, 1)),
            attempt(() => f.into(null, 1)),
            attempt(() => g.into([0], 1)),
        ];
    """
    size, *mistakes = evaluate(node, body)
    assert size == 4
    assert all("Error: the result of" in message for message in mistakes)
    assert "expected 4 elements to fill, got 3" in mistakes[0]
    assert ".m[1]" in mistakes[1]


def test_vectors_of_bools(node: Callable[[str], str]) -> None:
    """In memory, and in the row of numbers that the interpreter has."""
    body = """
        const Two = Vec(2, Vec(3, Bool));
        const f = fn([Two], Two, ([a, b]) => [vec(3, Bool, (i) => not(a[i])), b]);
        const compiled = await compile(f);
        const x = [[true, false, true], [false, true, true]];
        const wrong = (y) => attempt(() => compiled([x[0], [true, y, false]]));
        return [compiled(x), rose.interp(f)(x), ...[1, 0, "", null, undefined].map(wrong), compiled(x)];
    """
    first, interpreted, *mistakes, last = evaluate(node, body)
    assert first == interpreted == last == [[False, True, False], [False, True, True]]
    for message, given in zip(mistakes, ["1", "0", 'the string ""', "null", "undefined"], strict=True):
        assert message == f"TypeError: argument 1 of f[1][1]: expected Bool, got {given}"


def test_rows_of_every_short_size(node: Callable[[str], str]) -> None:
    """Matrices, and rows of them, as new arrays and in given ones, plain and typed."""
    body = """
        const wrong = [];
        const shaped = (sizes, next) =>
            sizes.length ? Array.from({ length: sizes[0] }, () => shaped(sizes.slice(1), next)) : next();
        const check = async (sizes) => {
            const T = sizes.reduceRight((t, size) => Vec(size, t), Real);
            const f = await compile(fn([T], T, (x) => x));
            let k = 0.5;
            const x = shaped(sizes, () => k++), text = JSON.stringify(x);
            const typed = (rows) => typeof rows[0] === "number" ? new Float64Array(rows) : rows.map(typed);
            const plain = (rows) => typeof rows === "number" ? rows : Array.from(rows, plain);
            const out = shaped(sizes, () => 0);
            const outOfTyped = shaped(sizes.slice(0, -1), () => new Float64Array(sizes.at(-1)));
            const seen = [f(x), f(typed(x)), f.into(out, x), out, plain(f.into(outOfTyped, x))];
            if (out.length > 1) {  // of both kinds
                const mixed = [out[0], ...outOfTyped.slice(1)];
                seen.push(plain(f.into(mixed, x)));
            }
            seen.forEach((value, k) => JSON.stringify(value) === text || wrong.push([sizes, k, value]));
            f.dispose();
        };
        for (let rows = 1; rows <= 5; ++rows)
            for (let width = 1; width <= 5; ++width) await check([rows, width]);
        for (const sizes of [[3, 2, 4], [2, 3, 3], [1, 4, 2], [30, 2], [2, 30]]) await check(sizes);
        const f = await compile(fn([Real], Vec(3, Vec(2, Real)), (x) => vec(3, Vec(2, Real), () => [x, x])));
        const mistakes = [[[0, 0], [0, 0]], [[0, 0], [0, 0, 0], [0, 0]], [[0, 0], [0, 0], null]];
        return [wrong, f(1).map((row) => row.length), mistakes.map((out) => attempt(() => f.into(out, 1)))];
    """
    wrong, lengths, mistakes = evaluate(node, body)
    assert wrong == []
    assert lengths == [2, 2, 2]
    assert mistakes == [
        "RangeError: the result of f: expected 3 elements to fill, got 2",
        "RangeError: the result of f[1]: expected 2 elements to fill, got 3",
        "TypeError: the result of f[2]: "
        "expected an array or a Float64Array or a Float32Array to fill, got null",
    ]


def test_structs_and_tuples_in_each_other(node: Callable[[str], str]) -> None:
    """As they are, with keys in another order, with too many, and with something wrong deep in them."""
    body = """
        const axes = [Vec(2, Real), { on: Bool }];
        const Body = { p: { y: Real, x: Real }, spin: [Real, Bool, 4], axes, m: Real };
        const T = Vec(3, Body);
        const same = await compile(fn([T], T, (x) => x));
        const one = await compile(fn([Body], Body, (x) => x));
        const body = (k) => ({
            p: { y: k + 0.5, x: -k }, spin: [k / 4, k % 2 === 0, k], axes: [[k, 2 * k], { on: k > 1 }], m: 7,
        });
        const bodies = [0, 1, 2].map(body), text = JSON.stringify(bodies);
        const other = bodies.map(({ p: { y, x }, spin, axes, m }) => ({
            extra: 1, m, axes: [new Float64Array(axes[0]), { more: null, ...axes[1] }],
            spin: { ...spin }, p: { x, y },
        }));
        const out = [5, 6, 7].map(body);
        const given = [same(bodies), same(other), same.into(out, bodies), bodies.map((b) => one(b))];
        const wrong = (change) => {
            const changed = structuredClone(bodies);
            change(changed);
            return attempt(() => same(changed));
        };
        return [given.map((value) => JSON.stringify(value) === text), [
            wrong((b) => { b[1].p.x = "1"; }),
            wrong((b) => { b[2].spin[2] = 4; }),
            wrong((b) => { b[0].spin.pop(); }),
            wrong((b) => { b[1].axes[1] = null; }),
            wrong((b) => { delete b[1].p.y; }),
        ]];
    """
    right, mistakes = evaluate(node, body)
    assert right == [True] * 4
    assert mistakes == [
        'TypeError: argument 1 of f[1].p.x: expected Real, got the string "1"',
        "RangeError: argument 1 of f[2].spin.2: expected an index from 0 to 3, got 4",
        "TypeError: argument 1 of f[0].spin: expected an object with 0, 1, 2, got an array of 2",
        "TypeError: argument 1 of f[1].axes.1: expected { on: Bool }, got null",
        "TypeError: argument 1 of f[1].p: expected an object with y, x, got an object with x",
    ]


def test_a_memory_of_several(node: Callable[[str], str]) -> None:
    """Views of one function's result are another's arguments; and the memory grows."""
    body = """
        const memory = new WebAssembly.Memory({ initial: 1 });
        const Line = Vec(100, Real);
        const twice = await compile(fn([Line], Line, (v) => vec(100, Real, (i) => mul(2, v[i]))), { memory });
        const [line] = twice.args;
        for (let k = 0; k < 100; ++k) line[k] = k;
        const doubled = twice.run();
        const again = twice(doubled)[99];
        const f = fn([Vec(300, Real), [Real, Line]], Real, (v, [x, w]) => mul(x, w[99]));
        const pair = await compile(f, { memory });
        line[99] = 99;
        const held = pair(new Float64Array(300), [5, twice.run()]);
        const Long = Vec(20_000, Real);
        const long = await compile(fn([Long], Real, (v) => sum(20_000, (i) => v[i])), { memory });
        const stale = [line.length, attempt(() => twice.run())];
        twice.args[0].fill(1);
        const ones = new Float64Array(20_000).fill(1);
        return [again, held, long(ones), ...stale, attempt(() => twice.run().length)];
    """
    again, held, long, stale, message, length = evaluate(node, body)
    assert again == 4 * 99
    assert held == 5 * 2 * 99
    assert long == 20_000
    assert stale == 0
    assert "the memory has grown" in message
    assert length == 100


def test_views_of_a_memory_that_its_owner_has_grown(node: Callable[[str], str]) -> None:
    body = """
        const memory = new WebAssembly.Memory({ initial: 1 });
        const Row = Vec(2, Real);
        const f = await compile(fn([Row], Row, ([x, y]) => [y, mul(x, 2)]), { memory });
        f.args[0].set([3, 4]);
        memory.grow(1);
        const lengths = [f.args[0].length, f.result.length];
        const values = [...f.run()];
        memory.grow(1);
        return [lengths, values, [...f.result]];
    """
    assert evaluate(node, body) == [[2, 2], [4, 6], [4, 6]]


def test_its_own_memory_as_arguments(node: Callable[[str], str]) -> None:
    """They are what they were before the call, in whatever order; and cannot be filled by it."""
    body = """
        const Row = Vec(3, Real);
        const f = fn([Row, Row], Row, (v, w) => vec(3, Real, (i) => add(mul(10, v[i]), w[i])));
        const found = [];
        for (const draft of [false, true]) {
            const g = await compile(f, { draft });
            const [v, w] = g.args;
            v.set([1, 2, 3]);
            w.set([4, 5, 6]);
            found.push(g(w, v), g(g.run(), w), attempt(() => g.into(v, [1, 2, 3], w)));
        }
        return found;
    """
    *compiled, swapped, mixed, message = evaluate(node, body)
    assert swapped == [40 + 1, 50 + 2, 60 + 3]
    assert mixed == [10 * 41 + 1, 10 * 52 + 2, 10 * 63 + 3]
    assert message.endswith("the output lies in the memory that f itself uses")
    assert compiled == [swapped, mixed, message]


def test_a_data_view_of_its_own_memory_is_refused_as_any(node: Callable[[str], str]) -> None:
    body = """
        const f = await compile(fn([Vec(3, Real)], Real, (v) => v[1]));
        const { buffer } = f.args[0];
        return [new ArrayBuffer(24), buffer].map((of) => attempt(() => f(new DataView(of, 0, 24))));
    """
    expected = "TypeError: argument 1 of f: expected Vec(3, Real), got an object of the class DataView"
    assert evaluate(node, body) == [expected] * 2


def test_a_name_with_half_a_character(node: Callable[[str], str]) -> None:
    """As a text has that was cut off: browsers' tools are told another character in its place."""
    body = """
        const name = "cut off \\ud83d";
        const { [name]: f } = { [name]: (x) => mul(2, x) };
        const compiled = await compile(fn([Real], Real, f));
        return [compiled.name === name, compiled(3)];
    """
    assert evaluate(node, body) == [True, 6]


def test_a_tape_that_makes_the_memory_grow(node: Callable[[str], str]) -> None:
    body = """
        const f = fn([Real, Real], Real, (x, n) => {
            const k = mul(0.0001, x); // by this and by the start, of which either alone would need no tape
            return fori(n, Real, x, (i, y) => mul(y, add(1, mul(k, y))));
        });
        const g = await compile(fn([Real, Real], Real, (x, n) => vjp(f)(x, n).grad(1)[0]));
        const first = g(0.5, 10);
        const before = g.args[0].buffer.byteLength;
        g(0.5, 100_000);
        const after = g.args[0].buffer.byteLength;
        return [first, g(0.5, 10), after > before];
    """
    first, last, grew = evaluate(node, body)
    assert grew
    assert first == last


def test_more_memory_than_there_is(node: Callable[[str], str]) -> None:
    body = """
        const memory = new WebAssembly.Memory({ initial: 1, maximum: 2 });
        const Long = Vec(50_000, Real);
        const f = fn([Long], Real, (v) => sum(50_000, (i) => v[i]));
        const g = fn([Vec(100_000, Long)], Real, (m) => m[1][2]);
        const failed = (promise) => promise.then(() => "no error", (error) => `${error}`);
        return [await failed(compile(f, { memory })), await failed(compile(g))];
    """
    assert evaluate(node, body) == [
        "RangeError: f needs 0.5 MB of memory, more than there is",
        "Error: f needs 40.0 GB of memory, of which WebAssembly has 4.3 GB at most; "
        "100% of it is for the arguments",
    ]


def test_an_opaque_function_that_calls_its_caller(node: Callable[[str], str]) -> None:
    body = """
        let f;
        const down = opaque([Vec(2, Real)], Vec(2, Real), ([n, x]) => (n > 0 ? f([n - 1, x]) : [0, x]));
        f = await compile(fn([Vec(2, Real)], Vec(2, Real), (v) => {
            const w = down(v);
            return [add(v[0], w[0]), w[1]];
        }));
        return f([4, 7]);
    """
    assert evaluate(node, body) == [10, 7]


def test_an_opaque_function_that_calls_its_caller_before_the_way_back(node: Callable[[str], str]) -> None:
    """What a loop has kept for its derivative is there still, though another call has kept its own."""
    body = """
        let g, calls = 0;
        const inner = opaque([Real, Real], Real, (x, n) => {
            if (n > 0) g(x, n - 1);
            ++calls;
            return x;
        });
        inner.jvp = fn([{ re: Real, du: rose.Tan }, { re: Real, du: rose.Tan }], { re: Real, du: rose.Tan },
            (x, n) => ({ re: inner(x.re, n.re), du: x.du }));
        const f = fn([Real, Real], Real, (x, n) => {
            const step = (i, y) => mul(y, add(1, mul(0.01, y)));
            const y = fori(add(mul(100, n), 10), Real, x, step);
            return mul(y, inner(y, n));
        });
        g = await compile(fn([Real, Real], Real, (x, n) => vjp(f)(x, n).grad(1)[0]));
        const nested = g(0.5, 2);
        const deep = calls;
        const plain = g;
        g = () => {};
        return [nested, plain(0.5, 2), deep];
    """
    nested, alone, calls = evaluate(node, body)
    assert nested == alone
    assert calls == 3


def test_keys_of_symbols(node: Callable[[str], str]) -> None:
    """Those of arrays and objects, for what goes through the keys of a value."""
    body = """
        const keys = [];
        const f = fn([Vec(3, Real), { a: Real, b: Bool }], Real, (v, s) => {
            keys.push(Object.keys(v), Object.keys(s));
            let total = s.a;
            for (const k in v) total = add(total, mul(v[k], Number(k)));
            return total;
        });
        return [(await compile(f))([1, 10, 100], { a: 1000, b: true }), ...keys];
    """
    assert evaluate(node, body) == [1210, ["0", "1", "2"], ["a", "b"]]


def test_a_compiled_function_in_a_body(node: Callable[[str], str]) -> None:
    body = """
        const inside = async (T) => {
            const f = await compile(fn([T], T, (x) => x));
            return attempt(() => fn([T], T, (x) => f(x)));
        };
        return Promise.all([Real, Vec(3, Real)].map(inside));
    """
    assert evaluate(node, body) == [
        f"TypeError: argument 1 of f: expected {ty}, got a symbolic {ty}; "
        "in a body, call the function that it was made of"
        for ty in ("Real", "Vec(3, Real)")
    ]


def test_mistakes_tell_the_call(node: Callable[[str], str]) -> None:
    """However deep in an argument they are: engines tell ten calls, of which the author's is one."""
    body = """
        const f = await compile(fn([Vec(2, { a: [Vec(2, { b: Real })] })], Real, (v) => v[1].a[0][1].b));
        const callOfTheAuthor = () => f([{ a: [[{ b: 1 }, { b: 2 }]] }, { a: [[{ b: 1 }, { b: "2" }]] }]);
        try { callOfTheAuthor(); } catch ({ message, stack }) { return [message, stack]; }
    """
    message, stack = evaluate(node, body)
    assert message == 'argument 1 of f[1].a.0[1].b: expected Real, got the string "2"'
    assert message in stack
    assert "callOfTheAuthor" in stack


def test_choices_deep_in_each_other(node: Callable[[str], str]) -> None:
    """A chain of ``else if`` is compiled with all its derivatives, however long."""
    body = """
        const chain = (x, k) => k === 400 ? x : cond(lt(x, k), Real, () => mul(x, k), () => chain(x, k + 1));
        const f = fn([Real], Real, (x) => chain(x, 0));
        const g = await compile(fn([Real], Real, (x) => vjp(f)(x).grad(1)));
        return [g(2.5), g(300.5), g(1e9)];
    """
    assert evaluate(node, body) == [3, 301, 1]


def test_calls_in_place_allocate_nothing(page: Page, site_url: str) -> None:
    page.goto(site_url + "site/index.html")
    cdp = page.context.new_cdp_session(page)
    page.evaluate("""async () => {
        const { Real, Vec, compile, fn, sin, sum, vjp } = await import("/rose.js");
        const f = fn([Vec(10, Real), Real], Real, (v, x) => sum(10, (i) => sin(v[i])));
        window.g = await compile(fn([Vec(10, Real), Real], Vec(10, Real), (v, x) => vjp(f)(v, x).grad(1)[0]));
        window.calls = (n) => {
            const [v, x] = g.args;
            let total = 0;
            for (let k = 0; k < n; ++k) { v[0] = k; x[0] = k; total += g.run()[0]; }
            return total;
        };
        calls(1e5);
    }""")

    # once the engine has optimised it, which takes longer where the machine is busy
    assert any(allocated(page, cdp) < 5e5 for _ in range(20))


def allocated(page: Page, cdp: CDPSession) -> float:
    """Bytes of objects that `rose.js` makes in 100,000 calls; one of the smallest in each would be 1.2e6."""
    collected = {"includeObjectsCollectedByMajorGC": True, "includeObjectsCollectedByMinorGC": True}
    cdp.send("HeapProfiler.startSampling", {"samplingInterval": 256, **collected})
    page.evaluate("calls(1e5)")
    profile = cdp.send("HeapProfiler.stopSampling")["profile"]
    found = 0.0
    stack = [profile["head"]]
    while stack:
        at = stack.pop()
        # the loop of the calls may run in the interpreter at first, where each number is an object
        if at["callFrame"]["url"].endswith("/rose.js"):
            found += at["selfSize"]
        stack += at["children"]
    return found
