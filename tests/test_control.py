"""Choices and loops: what they mean, what runs and what does not, and their derivatives."""

from __future__ import annotations

import math
import re

import pytest
from both_ways import both_ways  # noqa: F401 - a fixture for every test
from differences import assert_derivatives
from engines import same

from rose_core import (
    Bool,
    Dual,
    Real,
    RunError,
    Vec,
    compile,
    cond,
    cos,
    floor,
    fn,
    fori,
    grad,
    iadd,
    imod,
    imul,
    index,
    inspect,
    interp,
    isub,
    jvp,
    opaque,
    real,
    scan,
    select,
    sin,
    sqrt,
    struct,
    sum,
    tanh,
    vec,
    vjp,
    while_loop,
    zero,
)
from rose_core.derivatives.expand import Expansion
from rose_core.host import instantiate
from rose_core.language.check import CheckError, check
from rose_core.language.flatten import flatten
from rose_core.language.interp import call
from rose_core.language.parse import ParseError, parse
from rose_core.language.text import show_program
from rose_core.wasm.program import Program

V2 = Vec(2, Real)
V5 = Vec(5, Real)


@pytest.mark.parametrize("options", [{}, {"checkpoint": "revolve"}, {"checkpoint": 1}])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_loop_runs_up_to_an_index_and_with_it(size, options) -> None:
    """So it runs as often as there are indices, once."""
    V = Vec(size, Real)

    def upto(v, i):
        last, kept = scan(i + 1, Real, v[i], lambda s, j: (s * v[j] + sin(v[j]), s))
        return fori(i + 1, Real, last, lambda j, s: s * v[j] + kept[j], **options)

    f = fn([V], Real, lambda v: sum(size, lambda i: upto(v, i)))

    def plain(v):
        total = 0.0
        for i in range(size):
            s, kept = v[i], []
            for j in range(i + 1):
                kept.append(s)
                s = s * v[j] + math.sin(v[j])
            for j in range(i + 1):
                s = s * v[j] + kept[j]
            total += s
        return total

    v = [0.3 + 0.2 * k for k in range(size)]
    assert same(f, v) == pytest.approx(plain(v), rel=1e-14)
    assert_derivatives(f, v)


def gradient(f, n):
    return fn([Vec(n, Real)], Vec(n, Real), lambda x: vjp(f)(x).grad(1))


def slope(f, x):
    """The forward derivative of a function of a number."""
    return same(jvp(f), {"re": x, "du": 1.0}).du


def curvature(f, x):
    """The second derivative, in three orders of modes."""
    forward = same(jvp(jvp(f)), {"re": {"re": x, "du": 1.0}, "du": {"re": 1.0, "du": 0.0}}).du.du
    mixed = same(jvp(grad(f)), {"re": x, "du": 1.0}).du
    reverse = same(grad(grad(f)), x)
    assert mixed == pytest.approx(forward, rel=1e-13)
    assert reverse == pytest.approx(forward, rel=1e-13)
    return forward


# -- choices -------------------------------------------------------------------------------------------


def guarded(body, otherwise=0.0):
    return fn([Real], Real, lambda x: cond(x > 0, Real, lambda: body(x), lambda: otherwise))


@pytest.mark.parametrize("x", [0.0, -0.0, -1.0, -math.inf, math.nan])
def test_nothing_comes_from_the_other_side(x):
    for body in (sqrt, lambda x: 0 / x, lambda x: x * (1 / x), lambda x: sqrt(x) ** x):
        f = guarded(body)
        assert same(f, x) == 0
        assert slope(f, x) == 0
        assert same(grad(f), x) == 0
        assert curvature(f, x) == 0


def test_the_side_that_is_taken():
    f = guarded(sqrt)
    assert same(f, 4.0) == 2
    assert slope(f, 4.0) == same(grad(f), 4.0) == 0.25
    assert curvature(f, 4.0) == -1 / 32


def test_opaque_functions_run_only_where_they_are():
    calls = []

    def host(x):
        calls.append(x)
        return x * x

    square = opaque([Real], Real, host)
    square.jvp = fn([Dual], Dual, lambda x: {"re": square(x.re), "du": x.du * x.re * 2})
    f = fn([Real, Bool], Real, lambda x, p: cond(p, Real, lambda: square(x) + 1, lambda: x))
    value = fn([Real, Bool], Real, lambda x, p: vjp(f)(x, p).grad(1)[0])
    for taken in (True, False):
        calls.clear()
        for run in (interp(f), compile(f)):
            assert run(3.0, taken) == (10 if taken else 3)
        assert len(calls) == 2 * taken
        assert same(value, 3.0, taken) == (6 if taken else 1)
        assert same(jvp(f), {"re": 3.0, "du": 1.0}, taken).du == (6 if taken else 1)
        assert len(calls) == 8 * taken  # `same` runs what is compiled twice


def test_opaque_functions_keep_their_order():
    log = []
    note = opaque([Real], Real, lambda x: log.append(x) or x)

    def body(x):
        a = note(x)
        b = cond(x > 0, Real, lambda: note(x + 1), lambda: 0.0)
        return fori(3, Real, note(x + 2) + a + b, lambda i, s: note(real(i)) + s)

    f = fn([Real], Real, body)
    for run in (interp(f), compile(f)):
        run(10.0)
        assert log == [10, 11, 12, 0, 1, 2]
        log.clear()


def test_choices_of_anything():
    Pair = struct({"v": Vec(2, Real), "n": 4, "yes": Bool})

    @fn
    def f(p: Bool, a: Pair, b: Pair) -> Pair:
        swapped = {"v": [b.v[1], b.v[0]], "n": b.n, "yes": ~b.yes}
        return cond(p, Pair, lambda: a, lambda: cond(a.yes, Pair, lambda: swapped, lambda: b))

    a = {"v": [1.0, 2.0], "n": 3, "yes": True}
    b = {"v": [3.0, 4.0], "n": 1, "yes": True}
    assert same(f, True, a, b) == a
    assert same(f, False, a, b) == {"v": [4.0, 3.0], "n": 1, "yes": False}
    assert same(f, False, {**a, "yes": False}, b) == b


def test_choices_in_loops_and_sums():
    """A sum over the elements that are positive, and which those are."""

    @fn
    def f(v: V5) -> Real:
        chosen = vec(5, Real, lambda i: cond(v[i] > 0, Real, lambda: sqrt(v[i]), lambda: 0.0))
        return sum(5, lambda i: cond(v[i] > 1, Real, lambda: chosen[i] * v[i], lambda: chosen[i]))

    v = [4.0, -1.0, 0.25, 0.0, 9.0]
    assert same(f, v) == 4 * 2 + 0.5 + 9 * 3
    assert same(gradient(f, 5), v) == [3.0, 0.0, 1.0, 0.0, 4.5]


def test_an_accumulator_in_a_branch():
    """As text can say it: a branch adds to what is around it."""
    source = """
def big(a: &Real, x: Real): () = a += x * x
def small(a: &Real, x: Real): Real = let _ = a += x in x
def skip(x: Real): Real = x
def f(v: [3]Real): (Real, [3]Real) =
  accum a from 0.0 in
    [for i: 3, let x: Real = v[i] in if x < 1.0 then small(a, x) else skip(x)]
"""
    f = parse(source)["f"]
    check(f)
    flat = flatten(f)
    check(flat)
    args = [[0.5, 2.0, -3.0]]
    assert call(flat, args) == [-2.5, [0.5, 2.0, -3.0]] == instantiate(Program(flat))(args)


def test_what_cond_refuses():
    with pytest.raises(TypeError, match="side of cond where the condition holds: expected Real, got"):
        fn([Real], Real, lambda x: cond(x > 0, Real, lambda: True, lambda: x))
    with pytest.raises(TypeError, match="expected a function of nothing for each side, got a symbolic Real"):
        fn([Real], Real, lambda x: cond(x > 0, Real, x, lambda: x))
    with pytest.raises(TypeError, match="cond: expected Bool"):
        fn([Real], Real, lambda x: cond(x, Real, lambda: x, lambda: x))
    with pytest.raises(
        RuntimeError, match="was used outside of the loop or the side of a cond it belongs to"
    ):
        kept = []
        fn([Real], Real, lambda x: cond(x > 0, Real, lambda: kept.append(x * x) or x, lambda: x) + kept[0])


# -- loops with a number of iterations ----------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_powers(n):
    """xⁿ by a loop whose number of iterations is known, and by those that learn it as an index or a Real."""
    times = lambda x: lambda i, s: s * x  # noqa: E731
    known = fn([Real], Real, lambda x: fori(n, Real, 1.0, times(x)))
    told = fn([Real, 9], Real, lambda x, n: fori(n, Real, 1.0, times(x)))
    read = fn([Real, Real], Real, lambda x, n: fori(n, Real, 1.0, times(x)))
    learned = fn([Real], Real, lambda x: told(x, index(9, select(x > 0, Real, n, 1.0))))
    counted = fn([Real], Real, lambda x: read(x, select(x > 0, Real, n, 1.0)))
    for f in (known, learned, counted):
        assert same(f, 1.5) == 1.5**n
        assert slope(f, 1.5) == pytest.approx(n * 1.5 ** (n - 1))
        assert same(grad(f), 1.5) == pytest.approx(n * 1.5 ** (n - 1))
        assert curvature(f, 1.5) == pytest.approx(n * (n - 1) * 1.5 ** (n - 2))
        third = n * (n - 1) * (n - 2) * 1.5 ** (n - 3)
        assert same(grad(grad(grad(f))), 1.5) == pytest.approx(third)


def test_a_triangle_of_iterations():
    """The inner number of iterations is the outer index: prefix sums."""

    @fn
    def f(v: V5) -> V5:
        return vec(5, Real, lambda k: fori(k, Real, v[k], lambda i, s: s + v[i] * v[i]))

    assert same(f, [1, 2, 3, 4, 5]) == [1, 3, 8, 18, 35]
    back = fn([V5, V5], V5, lambda v, c: vjp(f)(v).grad(c))
    assert same(back, [1, 2, 3, 4, 5], [1] * 5) == [9, 13, 13, 9, 1]


def heat(n, steps, unroll):
    """An explicit scheme on a rod, its state a vector: by a loop, or written out."""
    V = Vec(n, Real)

    def step(u, source):
        def inside(i):
            left, right = u[imod(n, iadd(2 * n, i, n - 1))], u[imod(n, iadd(2 * n, i, 1))]
            return u[i] + 0.1 * (sin(left) - right * u[i]) + source[i]

        return vec(n, Real, inside)

    def body(u, source):
        if not unroll:
            return fori(steps, V, u, lambda _, u: step(u, source))
        for _ in range(steps):
            u = step(u, source)
        return u

    return fn([V, V], Real, lambda u, source: sum(n, lambda i: body(u, source)[i] * u[i]))


def test_against_the_unrolled_program():
    looped, unrolled = (heat(5, 4, unroll) for unroll in (False, True))
    u, s = [0.3, -0.5, 0.7, 1.1, -0.2], [0.01, 0.02, -0.03, 0.04, 0.05]
    assert same(looped, u, s) == same(unrolled, u, s)
    pulls = [
        fn([V5, V5], Vec(2, V5), lambda u, s, f=f: list(vjp(f)(u, s).grad(1))) for f in (looped, unrolled)
    ]
    first, second = (same(g, u, s) for g in pulls)
    for a, b in zip(first, second, strict=True):
        assert a == pytest.approx(b, rel=1e-14)
    weights = [[0.1 * k - 0.2 for k in range(5)], [0.3 - 0.1 * k for k in range(5)]]
    twice = [fn([V5, V5], Vec(2, V5), lambda u, s, g=g: list(vjp(g)(u, s).grad(weights))) for g in pulls]
    first, second = (same(g, u, s) for g in twice)
    for a, b in zip(first, second, strict=True):
        assert a == pytest.approx(b, rel=1e-12, abs=1e-15)


def test_scan_gives_every_iteration():
    @fn
    def f(v: V5) -> struct({"last": Real, "all": Vec(5, struct({"sum": Real, "odd": Bool}))}):
        last, rows = scan(5, Real, 0.0, lambda s, i: (s + v[i], {"sum": s * v[i], "odd": imod(2, i) > 0}))
        return {"last": last, "all": rows}

    result = same(f, [1, 2, 3, 4, 5])
    assert result.last == 15
    assert [row.sum for row in result.all] == [0, 2, 9, 24, 50]
    assert [row.odd for row in result.all] == [False, True, False, True, False]
    total = fn([V5], Real, lambda v: sum(5, lambda i: f(v).all[i].sum))
    assert same(gradient(total, 5), [1, 2, 3, 4, 5]) == [14, 13, 12, 11, 10]
    assert same(fn([V5], V5, lambda v: vjp(gradient(total, 5))(v).grad([1, 0, 0, 0, 0])), [1] * 5) == [
        0,
        1,
        1,
        1,
        1,
    ]


def test_scan_of_fewer_iterations():
    @fn
    def f(x: Real, n: 5) -> V5:
        return scan(n, Real, x, lambda s, i: (s * x, s))[1]

    assert same(f, 2.0, 3) == [2, 4, 8, 0, 0]
    assert same(f, 2.0, 0) == [0] * 5
    back = fn([Real, 5], Real, lambda x, n: vjp(f)(x, n).grad([1] * 5)[0])
    assert same(back, 2.0, 3) == 1 + 4 + 12


# -- loops with a test ---------------------------------------------------------------------------------


@fn
def root(a: Real) -> Real:
    """√a by Newton's iteration."""
    state = struct({"x": Real, "before": Real})
    return while_loop(
        state,
        {"x": a, "before": a + 1},
        lambda s: abs(s.x - s.before) > 1e-14 * s.x,
        lambda s: {"x": 0.5 * (s.x + a / s.x), "before": s.x},
    ).x


def test_newton():
    assert same(root, 2.0) == pytest.approx(math.sqrt(2), rel=1e-15)
    assert slope(root, 2.0) == pytest.approx(0.5 / math.sqrt(2), rel=1e-14)
    assert same(grad(root), 2.0) == pytest.approx(0.5 / math.sqrt(2), rel=1e-14)
    assert curvature(root, 2.0) == pytest.approx(-0.25 * 2**-1.5, rel=1e-13)


def test_a_loop_that_does_not_start():
    f = fn([Real], Real, lambda x: while_loop(Real, x, lambda s: s < 0, lambda s: s * s))
    assert same(f, 3.0) == 3
    assert same(grad(f), 3.0) == 1
    assert slope(f, 3.0) == 1


def collatz(n):
    """How many steps it takes to 1, and the product of what x is multiplied with on the way."""
    state = struct({"n": Real, "steps": Real, "x": Real})

    def step(s):
        half = s.n * 0.5
        even = half == floor(half)
        return {
            "n": cond(even, Real, lambda: half, lambda: 3 * s.n + 1),
            "steps": s.steps + 1,
            "x": cond(even, Real, lambda: sin(s.x), lambda: s.x * 1.01),
        }

    start = {"n": n, "steps": 0.0}
    return fn([Real], state, lambda x: while_loop(state, {**start, "x": x}, lambda s: s.n > 1, step))


def test_choices_decide_how_a_loop_goes_on():
    def plainly(x, n):
        d = 1.0
        while n > 1:
            if n % 2 == 0:
                x, d, n = math.sin(x), d * math.cos(x), n // 2
            else:
                x, d, n = x * 1.01, d * 1.01, 3 * n + 1
        return x, d

    f = collatz(27.0)
    assert same(f, 0.7).steps == 111
    value, derivative = plainly(0.7, 27)
    g = fn([Real], Real, lambda x: f(x).x)
    assert same(g, 0.7) == pytest.approx(value, rel=1e-14)
    assert slope(g, 0.7) == pytest.approx(derivative, rel=1e-13)
    assert same(grad(g), 0.7) == pytest.approx(derivative, rel=1e-13)


def test_loops_in_loops():
    """Every kind in every other, to the second order, against differences."""

    @fn
    def f(x: Real) -> Real:
        def outer(i, s):
            inner = while_loop(
                struct({"k": 9, "y": Real}),
                {"k": 0, "y": s},
                lambda t: t.k < index(9, i),
                lambda t: {"k": t.k + 1, "y": sin(t.y + x)},
            )
            sums = vec(3, Real, lambda j: fori(2, Real, inner.y, lambda _, z: z * x + real(j)))
            return tanh(sums[0] * sums[2] - cond(inner.y > s, Real, lambda: sums[1], lambda: s * x))

        return fori(4, Real, cos(x), outer)

    h = 1e-6
    for x in (0.4, -0.9, 1.7):
        run = interp(f)
        difference = (run(x + h) - run(x - h)) / (2 * h)
        assert slope(f, x) == pytest.approx(difference, rel=1e-7, abs=1e-9)
        assert same(grad(f), x) == pytest.approx(slope(f, x), rel=1e-12)
        again = interp(grad(f))
        assert curvature(f, x) == pytest.approx((again(x + h) - again(x - h)) / (2 * h), rel=1e-5, abs=1e-6)


def test_rules_with_control_flow():
    """A custom derivative whose tangents go through a choice and a loop, forward and back."""

    @fn
    def f(x: Real) -> Real:
        return x

    @fn
    def rule(x: Dual) -> Dual:
        du = cond(x.re > 0, Dual, lambda: {"re": x.re, "du": x.du * 3}, lambda: {"re": x.re, "du": zero()}).du
        turned = fori(2, Dual, {"re": x.re, "du": du}, lambda i, s: {"re": s.re + 1, "du": s.du * s.re})
        return {"re": x.re, "du": turned.du}

    f.jvp = rule
    assert slope(f, 2.0) == same(grad(f), 2.0) == 3 * 2 * 3
    assert slope(f, -2.0) == same(grad(f), -2.0) == 0
    assert same(grad(grad(f)), 2.0) == same(jvp(grad(f)), {"re": 2.0, "du": 1.0}).du == 3 * (2 * 2 + 1)


# -- cost ----------------------------------------------------------------------------------------------


def test_code_does_not_grow_with_the_number_of_iterations():
    def sizes(n):
        f = fn([Real], Real, lambda x: fori(n, Real, x, lambda i, s: sin(s) * x + real(i)))
        return [len(Program(Expansion(g.func).root).bytes) for g in (f, jvp(f), grad(f), grad(grad(f)))]

    for few, many in zip(sizes(10), sizes(1_000_000), strict=True):
        assert many <= few + 60


def pages(f, *args):
    """How much memory a program has after calls."""
    instance = instantiate(Program(Expansion(f.func).root))
    for _ in range(3):
        instance(list(args))
    return instance._memory.size(instance._store)


def test_the_tape_is_given_back():
    """By every iteration of a loop over gradients, by a function that returns, and by every call."""

    def descend(trips):
        step = lambda i, x: x - 1e-5 * vjp(root)(x).grad(1)  # noqa: E731
        return fn([Real], Real, lambda x: fori(trips, Real, x, step))

    few, many = pages(descend(10), 5.0), pages(descend(20_000), 5.0)
    assert many == few

    def each(n):
        roots = lambda x: vec(n, Real, lambda i: vjp(root)(x + real(i)).grad(1))  # noqa: E731
        return fn([Real], Vec(n, Real), roots)

    assert pages(each(10), 5.0) == pages(each(2000), 5.0)


def test_the_tape_grows_as_it_must():
    """Of a loop whose number of iterations is known when it starts, and of one that finds out."""
    shrink = lambda s: s - 0.001 * s * s * s  # noqa: E731
    State = struct({"s": Real, "n": Real})

    @fn
    def counted(x: Real, n: Real) -> Real:
        return fori(n, Real, x, lambda i, s: shrink(s))

    @fn
    def tested(x: Real, n: Real) -> Real:
        body = lambda t: {"s": shrink(t.s), "n": t.n - 1}  # noqa: E731
        return while_loop(State, {"s": x, "n": n}, lambda t: t.n > 0, body).s

    x, d = 1.0, 1.0
    for _ in range(200_000):
        x, d = x - 0.001 * x * x * x, d * (1 - 0.003 * x * x)
    for f in (counted, tested):
        compiled = compile(fn([Real, Real], Real, lambda x, n, f=f: vjp(f)(x, n).grad(1)[0]))
        assert compiled(1.0, 200_000.0) == pytest.approx(d, rel=1e-9)
        assert compiled(1.0, 1.0) == pytest.approx(0.997)


def test_short_records_of_a_tape_have_room_for_many_at_once():
    """And what is left of it is given back: many loops of an iteration or two have their records side by
    side.
    """

    def halved(s):
        return while_loop(V2, s, lambda s: s[0] > 1.0, lambda s: [s[0] * s[1], sin(s[0]) * s[1]])

    @fn
    def once(x: Real, y: Real) -> Real:
        a, b = halved([x, y])
        return a * b

    @fn
    def often(x: Real, y: Real) -> Real:
        a, b = fori(5000, V2, [x, y], lambda i, s: [0.5 + (t := halved(s))[0] * 0.6, 0.3 + t[1]])
        return a * b

    slopes = [fn([Real, Real], V2, lambda x, y, f=f: vjp(f)(x, y).grad(1)) for f in (once, often)]
    assert re.search(r"i32.const 1024 .*\n *call \$extend", inspect(slopes[0]).wat)
    assert pages(slopes[1], 1.5, 0.7) < 20


# -- what is refused, and what goes wrong --------------------------------------------------------------


def test_what_loops_refuse():
    cases = [
        (
            lambda x: fori(3, Real, x, lambda i, s: s > 0),
            "the state that the body of fori gives: expected Real",
        ),
        (lambda x: fori(3, V5, x, lambda i, s: s), r"the initial state of fori: expected \[5\]Real"),
        (lambda x: while_loop(Real, x, lambda s: s, lambda s: s), "the test of while_loop: expected Bool"),
        (
            lambda x: while_loop(Real, x, lambda s: s > 0, lambda s: [s]),
            "the body of while_loop: expected Real",
        ),
        (lambda x: scan(3, Real, x, lambda s, i: s), "the body of scan: expected a state and a value"),
        (
            lambda x: scan(x, Real, x, lambda s, i: (s, s)),
            "expected a size or an index as the number of iterations",
        ),
        (lambda x: fori("3", Real, x, lambda i, s: s), "expected a size, an index or a Real"),
        (lambda x: fori(x > 0, Real, x, lambda i, s: s), "expected a size, an index or a Real"),
        (lambda x: fori(2.5, Real, x, lambda i, s: s), "fori: it cannot run 2.5 times"),
        (lambda x: fori(-1, Real, x, lambda i, s: s), "fori: it cannot run -1 times"),
        (lambda x: fori(math.nan, Real, x, lambda i, s: s), "fori: it cannot run nan times"),
        (lambda x: fori(True, Real, x, lambda i, s: s), "expected a size, an index or a Real"),
        (lambda x: fori(3, x, Real, lambda i, s: s), "fori: expected a type .*, got a symbolic Real"),
        (lambda x: fori(3, Real, lambda i, s: s, x), "fori: the body: expected a function, got a symbolic"),
        (lambda x: scan(3, Real, x, x), "scan: the body: expected a function, got a symbolic Real"),
        (lambda x: while_loop(Real, x, x, lambda s: s), "while_loop: the test: expected a function"),
        (lambda x: while_loop(Real, x, lambda s: s > 0, x), "while_loop: the body: expected a function"),
        (lambda x: while_loop(Real, x, lambda s: s > 0, lambda s: s, limit=2.5), "whole number as the limit"),
        (lambda x: while_loop(Real, x, lambda s: s > 0, lambda s: s, limit=-1), "whole number as the limit"),
        (lambda x: cond(x > 0, lambda: x, lambda: -x, x), "cond: expected a type .*, got function"),
        (lambda x: real(imul(3, x, 1)), "imul: expected an index, got a symbolic Real"),
        (lambda x: scan(-1.0, Real, x, lambda s, i: (s, s)), "scan: it cannot run -1 times"),
    ]
    for body, message in cases:
        with pytest.raises((TypeError, ValueError), match=message):
            fn([Real], Real, body)
    with pytest.raises(ValueError, match="checkpoint: expected"):
        fn([Real], Real, lambda x: fori(3, Real, x, lambda i, s: s, checkpoint="some"))
    assert same(fn([Real], Real, lambda x: fori(3, Real, x, lambda i, s: s * 2)), 1.0) == 8
    assert same(fn([Real], Real, lambda x: fori(floor(3.5), Real, x, lambda i, s: s * 2)), 1.0) == 8


@pytest.mark.parametrize("n", [-1.0, 0.5, math.nan, math.inf, -math.inf, 1e300])
def test_numbers_of_iterations_that_are_none(n):
    f = fn([Real], Real, lambda n: fori(n, Real, 0.0, lambda i, s: s + 1))
    compiled = compile(f)
    messages = set()
    for run in (interp(f), compiled):
        with pytest.raises(RunError, match=r"fori: it cannot run .* times, .*test_control.py") as caught:
            run(n)
        messages.add(str(caught.value))
    assert len(messages) == 1
    assert compiled(3.0) == 3


def test_a_loop_without_end():
    """It is an error that names the loop's line, in the derivative too, however much that keeps."""
    for checkpoint in ("none", 7):

        def body(x, checkpoint=checkpoint):
            return while_loop(Real, x, lambda s: s > 0, lambda s: s - 1, limit=50, checkpoint=checkpoint)

        f = fn([Real], Real, lambda x, body=body: body(x))
        line = body.__code__.co_firstlineno + 1
        text = f"while_loop: it did not end within its limit of 50 iterations (test_control.py, line {line})"
        for g, value in ((f, 0), (grad(f), 1)):
            for run in (interp(g), compile(g)):
                with pytest.raises(RunError, match=re.escape(text)):
                    run(51.0)
                assert run(50.0) == value


def test_the_checker():
    text = "def f(x: Real): Real = x\ndef g(x: Real): Bool = true\n"
    for call_, message in (
        ("if true then f(x) else g(x)", "f gives"),
        ("loop 3 to 3 from (x) do f()", "takes"),
        ("loop 3 to 3 from (x) do 1.0", "expected a call"),
        ("if true then f(x, x) else f(x)", "takes"),
    ):
        with pytest.raises(ParseError, match=message):
            parse(f"{text}def h(x: Real): Real = {call_}")
    body = "def b(i: 3, s: Real): Bool = true\n"
    with pytest.raises((ParseError, CheckError), match=r"expected|becomes"):
        check(parse(f"{body}def h(x: Real): (Bool, 2147483648) = loop 3 to 3 from (x) do b()")["h"])


@pytest.mark.parametrize("derive", [lambda f: f, grad, lambda f: grad(grad(f))], ids=["f", "grad", "grad²"])
def test_round_trip(derive):
    for f in (
        root,
        collatz_of_x(),
        guarded(sqrt),
        fn([Real], Real, lambda x: fori(3, V5, [x] * 5, iteration)[2]),
    ):
        whole = Expansion(derive(f).func).root
        again = list(parse(show_program(whole)).values())[-1]
        check(again)
        flat = flatten(again)
        check(flat)
        assert call(flat, [0.7]) == call(again, [0.7]) == call(whole, [0.7])


def collatz_of_x():
    f = collatz(6.0)
    return fn([Real], Real, lambda x: f(x).x)


def iteration(i, v):
    return v.set(index(5, i), sin(v[isub(5, 4, i)]) * real(i))


def test_custom_derivatives_in_a_branch():
    """What pads the tape of the side without one is a constant of the forward function like any other."""
    h = fn([Real], Real, lambda x: x * x * x + sin(x) + 5.0)
    cube = opaque([Real], Real, lambda x: x**3)
    cube.jvp = fn([Dual], Dual, lambda d: {"re": cube(d.re), "du": jvp(h)(d).du})
    f = fn([Real], Real, lambda x: cond(x > 0, Real, lambda: cube(x), lambda: 0.0))
    assert same(grad(f), 2.0) == 12 + math.cos(2)
    assert same(grad(grad(f)), 2.0) == pytest.approx(12 - math.sin(2), rel=1e-15)
    assert same(grad(grad(f)), -2.0) == 0


@pytest.mark.parametrize(
    "use",
    [
        lambda f, v, x: f(v, x),
        lambda f, v, x: cond(x > 0, Real, lambda: f(v, x), lambda: x),
        lambda f, v, x: fori(2, Real, x, lambda i, s: f(v, s) * x),
        lambda f, v, x: fn([Vec(3, Real), Real], Real, lambda v, x: f(v, x))(v, x),
    ],
    ids=["a call", "a choice", "a loop", "a call in a call"],
)
def test_rules_of_vectors_that_are_known_to_be_zero(use):
    """Such as gradients of what does not vary: rules add to the cotangents of these, too."""
    V, D = Vec(3, Real), Vec(3, Dual)
    f = fn([V, Real], Real, lambda v, x: (sum(3, lambda i: v[i]) + 1) * x * x)

    def rule(v, x):
        scale = sum(3, lambda i: v[i].re) + 1
        du = sum(3, lambda i: v[i].du * (x.re * x.re)) + x.du * (2.0 * x.re * scale)
        return {"re": f([e.re for e in v], x.re), "du": du}

    f.jvp = fn([D, Dual], Dual, rule)
    still = fn([V], Real, lambda v: 1.0)
    g = fn([Real], Real, lambda x: use(f, vjp(still)([x, x, x]).grad(1.0), x))
    plain = fn([Real], Real, lambda x: use(lambda v, x: x * x, [0.0] * 3, x))
    for derive in (grad, lambda f: grad(grad(f))):
        assert same(derive(g), 0.7) == pytest.approx(same(derive(plain), 0.7), rel=1e-12)


def test_rows_of_one_argument_before_another_argument():
    """A row of a matrix is read before the parameter that comes after the matrix."""
    m, v = [[0.1, 0.2, 0.3]], [0.4]
    body = fn([Vec(1, Vec(3, Real)), Vec(1, Real)], Real, lambda m, v: sin(m[0][2]) * v[0])

    def trips(m, v):
        return fori(4, Real, m[0][1], lambda i, s: sin(m[0][2]) * v[0])

    for f in (body, fn([Vec(1, Vec(3, Real)), Vec(1, Real)], Real, trips)):
        g = fn(
            [Vec(1, Vec(3, Real)), Vec(1, Real)],
            Vec(1, Vec(3, Real)),
            lambda m, v, f=f: vjp(f)(m, v).grad(1)[0],
        )
        assert same(g, m, v) == [[0, 0, pytest.approx(math.cos(0.3) * 0.4)]]


@pytest.mark.parametrize("flag", [Bool, 3, Vec(2, Bool)], ids=str)
def test_a_function_that_gives_more_than_numbers_in_a_loop(flag) -> None:
    """What has no derivative has no cotangent either, though it depends on what varies."""
    state = struct({"x": Real, "flag": flag})

    @fn
    def step(x: Real, a: Real) -> state:
        for _ in range(10):  # too long to be written where it is called
            x = sin(x * a) + cos(x)
        is_above = x > a
        if flag is Bool:
            return {"x": x, "flag": is_above}
        return {"x": x, "flag": select(is_above, 3, 2, 1) if flag == 3 else [is_above, x < a]}

    def body(v):
        start = False if flag is Bool else 0 if flag == 3 else [False, False]
        return fori(5, state, {"x": v[0], "flag": start}, lambda _, s: step(s.x, v[1])).x

    f = fn([Vec(2, Real)], Real, body)
    check(Expansion(gradient(f, 2).func).root)
    assert_derivatives(f, [0.3, 0.7])
