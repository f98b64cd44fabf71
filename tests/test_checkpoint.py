"""Checkpoints: the same derivatives, from less memory."""

from __future__ import annotations

import math

import pytest
from both_ways import both_ways  # noqa: F401 - a fixture for every test
from engines import same

from rose_core import (
    Dual,
    Real,
    Size,
    Vec,
    checkpoint,
    compile,
    cond,
    cos,
    fn,
    fori,
    grad,
    hessian,
    iadd,
    jacobian,
    jvp,
    real,
    sin,
    struct,
    sum,
    vec,
    vjp,
    while_loop,
)
from rose_core.derivatives.expand import Expansion
from rose_core.host import instantiate
from rose_core.language.check import CheckError, check
from rose_core.language.parse import parse
from rose_core.optimise import inline
from rose_core.wasm.program import Program


def counted(n, distance):
    return fn(
        [Real], Real, lambda x: fori(n, Real, x, lambda i, s: sin(s) * x + real(i) * s, checkpoint=distance)
    )


def with_test(n, distance):
    State = struct({"s": Real, "n": Real})
    body = lambda t, x: {"s": sin(t.s) * x + t.n * t.s, "n": t.n + 1}  # noqa: E731
    return fn(
        [Real],
        Real,
        lambda x: (
            while_loop(
                State,
                {"s": x, "n": 0.0},
                lambda t: t.n < n * (x / x),
                lambda t: body(t, x),
                checkpoint=distance,
            ).s
        ),
    )


@pytest.mark.parametrize("distance", [1, 3, 4, 100, "revolve"])
@pytest.mark.parametrize("n", [0, 1, 4, 7])
def test_every_distance(n, distance):
    for loop in (counted, with_test):
        f, g = loop(n, "none"), loop(n, distance)
        assert same(f, 0.3) == same(g, 0.3)
        for derive in (
            grad,
            jvp,
            lambda f: grad(grad(f)),
            lambda f: jvp(grad(f)),
            lambda f: grad(grad(grad(f))),
        ):
            arg = 0.3 if len(derive(f).func.params) == 1 else {"re": 0.3, "du": 1.0}
            first, second = (same(derive(h), arg) for h in (f, g))
            if isinstance(arg, dict):
                first, second = (first.re, first.du), (second.re, second.du)
            assert second == pytest.approx(first, rel=1e-12)


def memory(f, *args):
    """The value of a function, and the bytes that a program has after it."""
    program = Program(Expansion(f.func).root)
    instance = instantiate(program)
    value = instance(list(args))[0]
    return value, instance._memory.data_len(instance._store)


def test_a_number_of_iterations_that_is_an_index():
    """Of a type of its own, which is that of the number in the loop of loops."""
    f = fn([Real, 9], Real, lambda x, n: fori(n, Real, x, lambda i, s: s * x + real(i), checkpoint=2))
    check(f.func)
    assert same(f, 2, 3) == 20
    assert same(fn([Real], Real, lambda x: vjp(f)(x, 3).grad(1)[0]), 2) == 33


def test_a_million_steps_in_little_memory(way):
    """Four variables, and two that they vary by: 32 MB of tape without checkpoints."""
    State = struct({"a": Real, "b": Real, "c": Real, "d": Real})
    h = 1e-6

    def final(a, k, distance):
        def step(_, s):
            return {
                "a": s.a + h * s.b,
                "b": s.b - h * k * s.a,
                "c": s.c + h * (s.a * s.b - s.c),
                "d": s.d + h * (s.b * s.c - s.d),
            }

        return fori(1_000_000, State, {"a": a, "b": 0.5, "c": 1.0, "d": 0.2}, step, checkpoint=distance).a

    def slopes(distance):
        f = fn([Real, Real], Real, lambda a, k: final(a, k, distance))
        return fn([Real, Real], Vec(2, Real), lambda a, k: list(vjp(f)(a, k).grad(1)))

    f = {d: slopes(d) for d in ("none", "revolve", 10_000)}
    full, most = memory(f["none"], 1.0, 2.0)
    assert most > 16e6
    w = math.sqrt(2)  # a'' = -k a, but for an error of order h
    exact = (-math.sin(w) + 0.5 * math.cos(w) / w - 0.5 * math.sin(w) / w**2) / (2 * w)
    assert full == pytest.approx([math.cos(w), exact], rel=1e-4)
    for distance in ("revolve", 10_000):
        value, size = memory(f[distance], 1.0, 2.0)
        assert value == pytest.approx(full, rel=1e-9)
        assert size < 1e6
    by_k = fn([Real], Real, lambda k: final(1.0, k, "none"))
    value, size = memory(grad(by_k), 2.0)
    assert value == pytest.approx(full[1], rel=1e-9)
    assert (size < 1e6) == (way == "column")


def test_a_function():
    calls = fn([Real], Real, lambda x: sin(x) * cos(x) * x)
    f, g = calls, checkpoint(calls)
    assert same(f, 0.3) == same(g, 0.3)
    for derive in (grad, lambda f: grad(grad(f)), lambda f: grad(grad(grad(f)))):
        assert same(derive(g), 0.3) == pytest.approx(same(derive(f), 0.3), rel=1e-13)


def test_it_keeps_only_the_arguments(monkeypatch):
    """The forward function of a marked function has no tape."""
    monkeypatch.setattr(inline, "SHORT", 0)
    inner = fn([Real], Real, lambda x: sin(cos(sin(x))))

    def kept(f):
        root = Expansion(fn([Real, Real], Real, lambda x, y: vjp(chain(f))(x, y).grad(1)[0]).func).root
        return max(len(g.results) for g in functions(root) if g.name.startswith("fwd_chain"))

    def chain(f):
        @fn
        def chain(x: Real, y: Real) -> Real:
            return f(x) * f(y)

        return fn([Real, Real], Real, lambda x, y: chain(x, y) + chain(y, x))

    assert kept(checkpoint(inner)) < kept(inner)


def functions(f, found=None):
    found = [] if found is None else found
    if f not in found:
        found.append(f)
        for g in f.callees:
            functions(g, found)
    return found


def test_in_a_branch_and_with_a_rule():
    @fn
    def square(x: Real) -> Real:
        return x * x

    square.jvp = fn([Dual], Dual, lambda x: {"re": x.re * x.re, "du": x.du * x.re * 2})
    marked = checkpoint(square)

    @fn
    def f(x: Real) -> Real:
        return cond(x > 1, Real, lambda: marked(x) * x, lambda: checkpoint(f3)(x))

    assert same(grad(f), 2.0) == 12
    assert same(grad(grad(f)), 2.0) == 12
    assert same(grad(f), 0.5) == pytest.approx(math.cos(0.5))


f3 = fn([Real], Real, sin)


def test_sizes_and_values_around_it():
    n = Size("n")
    dot = checkpoint(fn([Vec(n, Real)], Real, lambda v: fori(n, Real, 0.0, lambda i, s: s + v[i] * v[i])))

    @fn
    def f(v: Vec(3, Real)) -> Real:
        inside = checkpoint(fn([Real], Real, lambda x: x * v[1]))
        return dot(v) * inside(v[0])

    g = fn([Vec(3, Real)], Vec(3, Real), lambda v: vjp(f)(v).grad(1))
    assert same(f, [1, 2, 3]) == 28
    assert same(g, [1, 2, 3]) == pytest.approx([2 * 2 + 28, 4 * 2 + 14, 6 * 2])


@pytest.mark.parametrize(
    "body", [lambda s, x: s + x, lambda s, x: s * 1.0, lambda s, x: x], ids=["linear", "the same", "another"]
)
@pytest.mark.parametrize("how", ["revolve", 1, 2])
def test_a_tape_that_nothing_needs(body, how):
    """The second derivative of what is linear: memory would be given back of which none is taken."""
    f = fn([Real, Real], Real, lambda x, y: sin(fori(2, Real, x, lambda i, s: body(s, y), checkpoint=how)))
    h = jacobian(jacobian(f, (0, 1), mode="reverse"), (0, 1), mode="reverse")
    plain = hessian(fn([Real, Real], Real, lambda x, y: sin(body(body(x, y), y))), (0, 1))
    assert same(h, 0.3, 0.2) == compile(plain)(0.3, 0.2)


def test_what_it_refuses():
    with pytest.raises(TypeError, match="checkpoint: expected a function made with fn"):
        checkpoint(math.sin)
    text = "def b(i: 4, s: Real): (Real, Real) = (s, s)\n"
    loop = "loop 4 to 4 from (x) do b() give 1 checkpoint 2"
    program = parse(f"{text}def f(x: Real): (Real, (2147483648, [4]Real)) = {loop}")
    with pytest.raises(CheckError, match="keeps nothing else"):
        check(program["f"])


@pytest.mark.parametrize("n", [0, 1])
@pytest.mark.parametrize("trips", [0, 1])
def test_a_state_with_no_elements(n, trips):
    """What is kept of a loop is of its own size, be it of nothing."""
    V = Vec(n, Real)
    Counted = struct(n=9, v=V)

    def count(v):
        end = while_loop(
            Counted,
            {"n": 0, "v": v},
            lambda s: s.n < 1,
            lambda s: {"n": iadd(9, s.n, 1), "v": vec(n, Real, lambda i: sin(s.v[i]))},
            limit=8,
            checkpoint=2,
        )
        return end.v

    def f(x):
        v = fori(trips, V, vec(n, Real, lambda i: x), lambda _, v: vec(n, Real, lambda i: count(v)[i]))
        return x * x + sum(n, lambda i: v[i] * x)

    g = fn([Real], Real, f)
    second = jacobian(fn([Real], Real, lambda x: vjp(g)(x).grad(1)), 0, mode="reverse")
    inner = {(1, 0): 2.0, (1, 1): 2 * math.cos(0.4) - 0.4 * math.sin(0.4)}.get((n, trips), 0.0)
    assert same(second, 0.4) == pytest.approx(2 + inner)
