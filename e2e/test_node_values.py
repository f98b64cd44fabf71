"""Values in JavaScript: vectors, tuples, structs, indices, records and typed arrays, under Node."""

from __future__ import annotations

from e2e.node import Run, evaluate


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


def test_indices_below_all_that_there_are(node: Run) -> None:
    """Not even where 32 bits would make a large number of it."""
    body = """
        const { Real, compile, fn, iadd, isub, real } = rose;
        const most = 2 ** 31 - 2, minus = (i) => isub(100, 0, i);
        const found = [];
        for (const of of [(i, j) => isub(100, minus(i), j), (i, j) => iadd(100, minus(i), minus(j))]) {
            const f = await compile(fn([most + 1, most + 1], Real, (i, j) => real(of(i, j))));
            found.push(f(0, 0));
            attempt(() => f(most, most));
        }
        return [...found, ...messages.map((text) => text.split(", ")[0])];"""
    assert evaluate(node, body) == [
        0,
        0,
        "RangeError: isub: -2147483648 is out of range",
        "RangeError: iadd: -2147483648 is out of range",
    ]


def test_no_index_has_a_sign(node: Run) -> None:
    body = """
        const { Real, Vec, div, fn, imul, index, real } = rose;
        const f = fn([Real, 3, Vec(1, 3)], Vec(5, Real), (x, i, v) =>
            [index(3, -0), index(3, x), i, v[0], imul(3, i, -1)].map((j) => div(1, real(j))));
        const draft = await rose.compile(f, { draft: true });
        const all = (g) => String(g(-0, -0, [-0]));
        return [all(draft), all(rose.interp(f)), await draft.settled && all(draft)];"""
    assert evaluate(node, body) == [",".join(["Infinity"] * 5)] * 3
