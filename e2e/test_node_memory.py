"""What programs take of memory, and give back, under Node."""

from __future__ import annotations

import pytest

from e2e.node import Run, evaluate


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
