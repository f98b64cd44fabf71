"""Functions of functions by roots: the derivative is that of the root, however it was found."""

from __future__ import annotations

import math
import random

import pytest
from differences import assert_derivatives, directional, gradient
from engines import same, same_outcome

from rose_core import (
    Bool,
    Dual,
    Function,
    Real,
    RunError,
    Tan,
    Vec,
    compile,
    cond,
    cos,
    exp,
    fixed_point,
    fn,
    functional,
    hessian,
    imax,
    imod,
    interp,
    isub,
    jet,
    jvp,
    minimize,
    mul,
    root,
    select,
    sin,
    sum,
    tanh,
    vec,
    vjp,
    while_loop,
)
from rose_core.errors import NOTED, failure, note
from rose_core.host import instantiate
from rose_core.language.flatten import flatten
from rose_core.language.interp import call
from rose_core.language.parse import parse
from rose_core.solvers.linear import inverse, matrix, solve
from rose_core.wasm.program import Program

V2, V3 = Vec(2, Real), Vec(3, Real)


# -- functional -----------------------------------------------------------------------------------------


def by_bisection(f, low, high):
    """A root as a user of the package would write it."""
    S = {"low": Real, "high": Real}

    def bisect(f, low, high):
        def halve(s):
            middle = (s.low + s.high) / 2
            below = f(middle) < 0
            return {"low": select(below, middle, s.low), "high": select(below, s.high, middle)}

        return while_loop(
            S, {"low": low, "high": high}, lambda s: s.high - s.low > 1e-15 * s.high, halve, limit=60
        ).low

    def rule(x, f, low, high):
        return -(jvp(f)({"re": x, "du": low.du * 0.0}).du / vjp(f)(x).grad(1))

    return functional([f], [Real, Real], Real, bisect, rule)(low, high)


def test_a_functional_sees_what_a_function_closes_over():
    f = fn([V2], Real, lambda v: by_bisection(fn([Real], Real, lambda x: x**3 * v[0] - exp(v[1])), 0.0, 10.0))
    v = [2.0, 0.3]
    assert same(f, v) == pytest.approx((math.exp(0.3) / 2) ** (1 / 3), rel=1e-14)
    x = same(f, v)
    assert same(gradient(f), v) == pytest.approx([-x / 6, x / 3], rel=1e-12)
    assert_derivatives(f, v)


def test_a_functional_of_several_functions():
    """The value f(x) + g(y), with derivatives that are twice the true ones to tell them apart."""

    def total(f, g, x, y):
        return f(x) + g(y)

    def rule(z, f, g, x, y):
        return 2.0 * (jvp(f)(x).du + jvp(g)(y).du)

    @fn
    def h(v: V3) -> Real:
        f = fn([Real], Real, lambda x: x * v[0] * v[2])
        g = fn([Real], Real, lambda y: sin(y) * v[2])
        return functional([f, g], [Real, Real], Real, total, rule)(v[0], v[1])

    v = [0.5, 0.7, 1.3]
    assert same(h, v) == pytest.approx(0.25 * 1.3 + math.sin(0.7) * 1.3)
    expected = [2 * 2 * 0.5 * 1.3, 2 * math.cos(0.7) * 1.3, 2 * (0.25 + math.sin(0.7))]
    assert same(gradient(h), v) == pytest.approx(expected)
    assert directional(h, v, [1.0, 0.0, 0.0]) == pytest.approx(expected[0])


def test_a_functional_without_functions():
    """A derivative of one's own, of any types; that of the derivative is taken as usual."""
    square = functional(
        [],
        [V2],
        V2,
        lambda v: vec(2, Real, lambda i: v[i] * v[i]),
        lambda y, v: vec(2, Tan, lambda i: v[i].du * (3.0 * v[i].re)),
    )
    f = fn([V2], Real, lambda v: square(v)[0] * square(v)[1])
    assert same(gradient(f), [2.0, 5.0]) == [6 * 25, 15 * 4]
    weighted = fn([V2], Real, lambda v: gradient(f)(v)[0])  # 3 v0 v1², where v1² has the slope 3 v1
    assert same(gradient(weighted), [2.0, 5.0]) == [3 * 25, 3 * 2 * 15]


def test_what_functional_refuses():
    f = fn([Real], Real, lambda x: x)
    with pytest.raises(TypeError, match="functional: expected a function made with fn or opaque"):
        functional([abs], [Real], Real, lambda f, x: x, lambda y, f, x: x.du)
    with pytest.raises(TypeError, match="functional: expected a result of Reals, got the type Bool"):
        functional([f], [Real], Bool, lambda f, x: x > 0, lambda y, f, x: None)
    with pytest.raises(TypeError, match="the tangent of twice: expected Tan, got a symbolic Real"):

        def twice(f, x):
            return 2 * f(x)

        functional([f], [Real], Real, twice, lambda y, f, x: x.re)
    with pytest.raises(RuntimeError, match="was used outside of it; pass it as an argument"):
        fn([Real], Real, lambda a: functional([f], [Real], Real, lambda f, x: a, lambda y, f, x: x.du)(a))
    with pytest.raises(TypeError, match="or use functional"):

        def body(a):
            g = fn([Real], Real, lambda x: x * a)
            g.jvp = fn([Dual], Dual, lambda x: x)
            return g(a)

        fn([Real], Real, body)


# -- linear systems ---------------------------------------------------------------------------------------


def inversion(n: int):
    itself = fn([matrix(n, n)], matrix(n, n), lambda a: a)
    return fn([matrix(n, n)], matrix(n, n), lambda a: inverse(itself, a))


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_linear_systems(n):
    rng = random.Random(n)
    a = [[rng.gauss(0, 1) for _ in range(n)] for _ in range(n)]
    x = [[rng.gauss(0, 1) for _ in range(2)] for _ in range(n)]
    b = [[math.fsum(a[i][k] * x[k][j] for k in range(n)) for j in range(2)] for i in range(n)]
    f = fn([matrix(n, n), matrix(n, 2)], matrix(n, 2), lambda a, b: solve(n, 2, a, b))
    for row, expected in zip(same(f, a, b), x, strict=True):
        assert row == pytest.approx(expected, rel=1e-10)
    inv = inversion(n)
    back = fn([matrix(n, n)], matrix(n, n), lambda a: inv(inv(a)))
    for row, expected in zip(same(back, a), a, strict=True):
        assert row == pytest.approx(expected, rel=1e-10)


def test_pivots():
    """Zeros on the diagonal, rows and columns of very different sizes, and matrices without an inverse."""
    inv = inversion(3)
    assert same(inv, [[0, 0, 2], [4, 0, 0], [0, 5, 0]]) == [[0, 0.25, 0], [0, 0, 0.2], [0.5, 0, 0]]
    assert same(inv, [[1e-200, 0, 0], [0, 1e200, 0], [0, 0, 1]]) == [[1e200, 0, 0], [0, 1e-200, 0], [0, 0, 1]]
    inverted = [[0.5, 0.5e20, 0], [0.5, -0.5e20, 0], [0, 0, 1]]
    for row, expected in zip(same(inv, [[1, 1, 0], [1e-20, -1e-20, 0], [0, 0, 1]]), inverted, strict=True):
        assert row == pytest.approx(expected, rel=1e-15)
    for a in ([[1, 2, 3], [2, 4, 6], [1, 0, 1]], [[0.1, 0.7, 0.3], [0.2, 0.5, 0.1], [0.3, 1.2, 0.4]]):
        assert all(math.isnan(x) for row in same(inv, a) for x in row)


def test_the_derivative_of_an_inverse():
    """∂(a⁻¹)ᵢⱼ/∂aₖₗ = -(a⁻¹)ᵢₖ (a⁻¹)ₗⱼ, through a pivot that is none at first."""
    inv = inversion(2)
    a = [[0.0, 2.0], [3.0, 5.0]]
    x = same(inv, a)
    g = fn([matrix(2, 2), matrix(2, 2)], matrix(2, 2), lambda a, c: vjp(inv)(a).grad(c))
    for i in range(2):
        for j in range(2):
            c = [[float((i, j) == (p, q)) for q in range(2)] for p in range(2)]
            for k, row in enumerate(same(g, a, c)):
                assert row == pytest.approx([-x[i][k] * x[m][j] for m in range(2)], rel=1e-13)


# -- roots ------------------------------------------------------------------------------------------------


def test_a_root():
    f = fn([Real], Real, lambda a: root(lambda x: x * x - a, 1.0))
    for a in (2.0, 9.0, 1e-6, 1e6):
        assert same(f, a) == pytest.approx(math.sqrt(a), rel=1e-15)
        assert same(gradient(f), a) == pytest.approx(0.5 / math.sqrt(a), rel=1e-14)
        assert same(jvp(f), {"re": a, "du": 1.0}).du == pytest.approx(0.5 / math.sqrt(a), rel=1e-14)
        third = same(gradient(gradient(gradient(f))), a)
        assert third == pytest.approx(0.375 * a**-2.5, rel=1e-12)


def test_not_the_derivative_of_the_way_there():
    """From the root itself there is no step to differentiate, and yet there is a derivative."""
    f = fn([Real], Real, lambda a: root(lambda x: x * x - a, 3.0))
    assert same(f, 9.0) == 3
    assert same(gradient(f), 9.0) == pytest.approx(1 / 6)
    moving = fn([Real], Real, lambda a: root(lambda x: x * x - 9.0, a))
    assert same(gradient(moving), 2.5) == 0


def test_against_the_unrolled_method():
    def unrolled(a):
        x = 1.0
        for _ in range(8):
            x = x - (x * x * x + a * x - 5.0) / (3 * x * x + a)
        return x

    f = fn([Real], Real, lambda a: root(lambda x: x * x * x + a * x - 5.0, 1.0))
    g = fn([Real], Real, unrolled)
    for a in (0.5, 2.0, 7.0):
        assert same(f, a) == pytest.approx(same(g, a), rel=1e-15)
        assert same(gradient(f), a) == pytest.approx(same(gradient(g), a), rel=1e-13)
        second = same(gradient(gradient(g)), a)
        assert same(gradient(gradient(f)), a) == pytest.approx(second, rel=1e-12)


def test_a_system():
    """The corners of a rectangle of area v₁ and diagonal √v₀."""

    @fn
    def f(v: V2) -> V2:
        return root(lambda x: [x[0] * x[0] + x[1] * x[1] - v[0], x[0] * x[1] - v[1]], [2.0, 0.5])

    assert same(f, [5.0, 2.0]) == pytest.approx([2, 1], rel=1e-15)
    for k, row in enumerate([[1 / 3, -1 / 3], [-1 / 6, 2 / 3]]):
        part = fn([V2], Real, lambda v, k=k: f(v)[k])
        assert assert_derivatives(part, [5.0, 2.0]) == pytest.approx(row, rel=1e-14)


@pytest.mark.parametrize("seed", range(4))
def test_random_systems(seed):
    """x + a tanh(b x) = v for random matrices, as functions of v and of a parameter in the matrices."""
    n = 3 + seed % 2
    rng = random.Random(seed)
    a, b = ([[rng.uniform(-0.6, 0.6) for _ in range(n)] for _ in range(n)] for _ in "ab")

    @fn
    def f(v: Vec(n, Real)) -> Real:
        def residual(x):
            inner = vec(n, Real, lambda i: tanh(sum(n, lambda j: vec_of(b)[i][j] * x[j] * v[0])))
            return vec(n, Real, lambda i: x[i] + sum(n, lambda j: vec_of(a)[i][j] * inner[j]) - v[i])

        def vec_of(rows):
            return fn([], matrix(n, n), lambda: rows)()

        x = root(residual, [0.0] * n)
        return sum(n, lambda i: x[i] * x[i] * v[i])

    assert_derivatives(f, [rng.uniform(-2, 2) for _ in range(n)], rel=1e-6, abs=1e-8)


def test_roots_in_loops_and_in_roots():
    @fn
    def f(v: V3) -> Real:
        return sum(3, lambda i: root(lambda x: x * x * x - v[i], 1.0) * v[0])

    assert same(f, [8.0, 27.0, 1.0]) == pytest.approx(8 * 6)
    assert_derivatives(f, [8.0, 27.0, 1.0])

    @fn
    def nested(v: V2) -> Real:
        """y³ = v₀ + y where x² = v₁ y of an inner root x."""
        return root(lambda y: root(lambda x: x * x - v[1] * y, 1.0) * y - v[0], 1.0)

    v = [3.0, 2.0]
    assert same(nested, v) == pytest.approx((9 / 2) ** (1 / 3))
    assert_derivatives(nested, v)


def test_only_where_the_choice_is_taken():
    f = fn([Real], Real, lambda a: cond(a > 0, Real, lambda: root(lambda x: x * x - a, 1.0), lambda: a))
    assert same(f, -4.0) == -4
    assert same(gradient(f), -4.0) == 1
    assert same(gradient(f), 4.0) == pytest.approx(0.25)


def test_hard_roots():
    """Where Newton's method alone runs away; a double root; a root at 0; a start far off."""
    flat = fn([Real], Real, lambda a: root(lambda x: tanh(x - a), 5.0))
    assert same(flat, 2.0) == pytest.approx(2)
    assert same(gradient(flat), 2.0) == pytest.approx(1)
    double = fn([Real], Real, lambda a: root(lambda x: (x - a) * (x - a), 3.0, tolerance=1e-7))
    assert same(double, 1.0) == pytest.approx(1, abs=1e-6)
    zero = fn([Real], Real, lambda a: root(lambda x: sin(x) * a, 0.5))
    assert same(zero, 2.0) == pytest.approx(0, abs=1e-15)
    far = fn([Real], Real, lambda a: root(lambda x: exp(x) - a, 40.0))
    assert same(far, 2.0) == pytest.approx(math.log(2))


# -- fixed points -----------------------------------------------------------------------------------------


def test_a_fixed_point():
    f = fn([Real], Real, lambda a: fixed_point(lambda x: cos(a * x), 0.5))
    assert same(f, 1.0) == pytest.approx(0.7390851332151607, rel=1e-12)
    x = same(f, 1.0)
    slope = -math.sin(x) * x / (1 + math.sin(x))
    assert same(gradient(f), 1.0) == pytest.approx(slope, rel=1e-11)
    as_root = fn([Real], Real, lambda a: root(lambda x: cos(a * x) - x, 0.5))
    second = same(gradient(gradient(as_root)), 0.9)
    assert same(gradient(gradient(f)), 0.9) == pytest.approx(second, rel=1e-10)


def test_a_fixed_point_of_vectors():
    @fn
    def f(v: V2) -> Real:
        x = fixed_point(lambda x: [0.5 * sin(x[1]) + v[0], 0.4 * cos(x[0] * v[1])], [0.0, 0.0])
        return x[0] + mul(2, x[1])

    assert_derivatives(f, [0.3, 1.7])


def ring(n, limit=10_000):
    """The sum of ``x``, of which each is 1 more than ``p`` times the next one: ``n / (1 - p)``."""

    @fn
    def f(p: Real) -> Real:
        def again(x):
            return vec(n, Real, lambda i: 1 + p * x[imod(n, i + 1)])

        x = fixed_point(again, vec(n, Real, lambda i: 0.4), limit=limit)
        return sum(n, lambda i: x[i])

    return f


@pytest.mark.parametrize("p", [0.0, 0.3, 0.9, -1.5])
def test_a_fixed_point_of_many_numbers(p):
    """Tangents that come to rest in an iteration, in fewer than there are numbers, in more, and not at
    all.
    """
    n = 100
    f = ring(n)
    slope, second = gradient(f), gradient(gradient(f))
    if 0 <= p < 0.9:  # where the interpreter needs no seconds
        same(slope, p)
        same(second, p)
    assert compile(slope)(p) == pytest.approx(n / (1 - p) ** 2)
    assert compile(second)(p) == pytest.approx(2 * n / (1 - p) ** 3)
    dual = compile(jvp(slope))({"re": p, "du": 1.0})
    assert dual.du == pytest.approx(2 * n / (1 - p) ** 3)


def test_tangents_that_die_away_but_for_what_varies():
    """Ten numbers, each 1 more than the one before, and the first 1 more than ``p`` times the last."""
    n = 100

    @fn
    def f(p: Real) -> Real:
        def again(x):
            def at(i):
                return select(i < 1, p * x[9], select(i < 10, x[isub(n, imax(n, i, 1), 1)], 0))

            return vec(n, Real, lambda i: 1 + at(i))

        return fixed_point(again, vec(n, Real, lambda i: 1.0))[9]

    g = gradient(f)
    assert [compile(h)(0.0) for h in (f, g, gradient(g), gradient(gradient(g)))] == [10, 10, 20, 60]


def test_a_fixed_point_of_so_many_numbers_that_no_matrix_has_room():
    n = 20_000
    slope = compile(gradient(ring(n, limit=100)))
    assert slope(0.5) == pytest.approx(n / 0.25)
    with pytest.raises(RunError, match=r"fixed_point: its derivative did not converge in 200 iterations"):
        slope(-1.5)


def test_what_every_second_number_has_no_part_in():
    """Tangents of a sum die away at once, those of a difference do not."""
    n = 100

    @fn
    def f(a: Vec(n, Real)) -> Real:
        def again(x):
            return vec(n, Real, lambda i: a[i] + 0.25 * (x[i] - x[n - 1 - i]))

        x = fixed_point(again, vec(n, Real, lambda i: 0.0))
        return x[0]

    assert compile(gradient(f))([1.0] * n)[:2] == pytest.approx([1.5, 0.0])


# -- what goes wrong --------------------------------------------------------------------------------------


def line_of(f):
    return f.__code__.co_firstlineno


def test_unknowns_in_other_units():
    """A step that is short for one of them is long for another."""
    f = fn([Real], V2, lambda a: root(lambda x: [x[0] - 1e10 * a, x[1] * x[1] - 1e-10 * a], [1e10, 1.0]))
    assert same(f, 1.0) == pytest.approx([1e10, 1e-5], rel=1e-12, abs=0.0)
    f = fn([Real], V2, lambda a: root(lambda x: [x[0] - a, sin(x[1]) * a], [0.0, 1.0]))
    assert same(f, 1e10) == pytest.approx([1e10, 0.0], rel=1e-12, abs=1e-12)


def test_singular_systems():
    body = lambda a: root(lambda x: x * x + a, 0.0)  # noqa: E731
    f = fn([Real], Real, body)
    message = "root: the derivative is singular, so there is no step towards a root (test_roots.py, line {})"
    assert same_outcome(f, 1.0) == message.format(line_of(body))
    body = lambda v: root(lambda x: [x[0] + x[1] - v[0], 2 * x[0] + 2 * x[1] - v[1]], [0.0, 0.0])  # noqa: E731
    assert same_outcome(fn([V2], V2, body), [1.0, 3.0]) == message.format(line_of(body))
    body = lambda a: root(lambda x: x * x - a, 0.0)  # noqa: E731
    g = gradient(fn([Real], Real, body))
    text = f"root: the derivative is singular, so the result has none (test_roots.py, line {line_of(body)})"
    assert same_outcome(fn([Real], Real, body), 0.0) == 0
    assert same_outcome(g, 0.0) == text


def test_a_fixed_point_that_is_none_of_its_own():
    body = lambda a: fixed_point(lambda x: cond(a > 0, Real, lambda: x, lambda: a), 2.0)  # noqa: E731
    f = fn([Real], Real, body)
    text = "fixed_point: the derivative of f(x) - x is singular, so the result has none"
    assert same_outcome(f, 1.0) == 2
    slope = fn([Real], Real, lambda a: jvp(f)({"re": a, "du": 1}).du)
    assert same_outcome(slope, 1.0) == f"{text} (test_roots.py, line {line_of(body)})"


@pytest.mark.parametrize("solver", [root, fixed_point, minimize])
def test_where_a_search_starts_has_no_part_even_where_there_is_no_derivative(solver):
    """In either mode, and in series: each point is as good as any other."""
    itself = fn([Real], Real, lambda x: x - x if solver is root else x if solver is fixed_point else 1.0)
    f = fn([Real], Real, lambda a: solver(itself, a) * a)
    assert same(f, 3.0) == 9
    assert same(gradient(f), 3.0) == 3
    assert same(fn([Real], Real, lambda a: jvp(f)({"re": a, "du": 1}).du), 3.0) == 3
    assert same(hessian(f), 3.0) == 0
    assert same(jet(f, 3), [3.0, 1.0, 0.0, 0.0]) == [9, 3, 0, 0]


def test_no_root_and_no_rest():
    body = lambda a: root(lambda x: x * x + a, 3.0)  # noqa: E731
    text = f"root: no root was found in 100 steps (test_roots.py, line {line_of(body)})"
    assert same_outcome(fn([Real], Real, body), 1.0) == text
    body = lambda a: root(lambda x: x * x - a, 1.0, limit=2)  # noqa: E731
    f = fn([Real], Real, body)
    text = f"root: no root was found in 2 steps (test_roots.py, line {line_of(body)})"
    assert same_outcome(f, 100.0) == text
    assert same_outcome(f, 1.0) == 1
    body = lambda a: fixed_point(lambda x: 2 * x + a, 1.0, limit=7)  # noqa: E731
    text = f"fixed_point: it did not converge in 7 iterations (test_roots.py, line {line_of(body)})"
    assert same_outcome(fn([Real], Real, body), 1.0) == text
    assert same_outcome(fn([Real], Real, body), -1.0) == 1


def test_what_root_refuses():
    with pytest.raises(TypeError, match="expected a Real or a vector of Reals to start from, got bool True"):
        fn([Real], Real, lambda a: root(lambda x: x, True))
    with pytest.raises(TypeError, match=r"root: expected a function \(Real\) -> Real, got <fn f"):
        fn([Real], Real, lambda a: root(fn([V2], V2, lambda x: x), a))
    with pytest.raises(ValueError, match="expected 2 elements, got 1"):
        fn([Real], Real, lambda a: root(lambda x: [x[0]], [a, a])[0])


# -- the operation below ----------------------------------------------------------------------------------


def test_defined():
    """In text as anywhere: a number goes through with its derivatives, NaN is the note."""
    number = note("it has no value")
    f = parse(f"def f(x: Real): Real = let n: {number + 1} = {number} in defined(x, n)")["f"]
    assert interp(Function(f))(2.5) == 2.5
    assert str(failure(NOTED + number, 0, 0)) == "it has no value"
    with pytest.raises(RunError, match="it has no value"):
        interp(Function(f))(math.nan)


def test_accumulators_of_a_whole_and_of_its_parts():
    """What is added to a whole does not cut off those who hold a part of it."""
    source = """
def f(x: Real, v: [2]Real): ([2]Real, ()) =
  accum a from v in
    let b: &Real = &a[0] in
    let _ = a += v in
    let _ = b += x in
    ()
"""
    f = flatten(parse(source)["f"])
    args = [1.0, [2.0, 3.0]]
    assert call(f, args) == [[5.0, 6.0]] == instantiate(Program(f))(args)
