"""Small loops with a state inside of others are written out before anything is differentiated."""

from __future__ import annotations

import math

import pytest
from test_growth import functions

from rose_core import (
    Dual,
    Real,
    Vec,
    checkpoint,
    compile,
    cond,
    fn,
    fori,
    grad,
    hvp,
    imod,
    interp,
    jet,
    jvp,
    linearize,
    max,
    real,
    root,
    scan,
    sin,
    sum,
    vec,
    vjp,
    while_loop,
)
from rose_core.derivatives.expand import Expansion
from rose_core.language.ir import LOOP
from rose_core.language.queries import opcodes
from rose_core.optimise.inline import MOST_ROWS, MOST_TRIPS
from rose_core.recording.rebuild import expanded

N = 5
V = Vec(N, Real)
X = [math.sin(k + 0.5) for k in range(N)]


def loops(f) -> int:
    """How many loops with a state are left in ``f`` once its derivatives are made."""
    return len([ins for g in functions(Expansion(f.func).root) for ins in g.code if ins[0] == LOOP])


def check(body, expected) -> int:
    """Value and gradient of ``sum(N, body(x))``; the number of loops that are left in the value."""
    f = fn([V], Real, lambda x: sum(N, lambda i: body(x, i)))
    gradient = fn([V], V, lambda x: vjp(f)(x).grad(1))
    value = 0.0
    for i in range(N):
        value += expected(X, i)
    assert compile(f)(X) == interp(f)(X) == value
    slopes = compile(gradient)(X)
    assert slopes == interp(gradient)(X)
    forward = fn([V, V], Real, lambda x, dx: jvp(f)([{"re": x[k], "du": dx[k]} for k in range(N)]).du)
    for k in range(N):
        assert slopes[k] == pytest.approx(compile(forward)(X, [float(j == k) for j in range(N)]), rel=1e-12)
        up, down = ([x + h * (j == k) for j, x in enumerate(X)] for h in (1e-5, -1e-5))
        difference = (interp(f)(up) - interp(f)(down)) / 2e-5
        assert slopes[k] == pytest.approx(difference, rel=1e-6, abs=1e-7)
    return loops(f)


def folded(n: int, start, step):
    for k in range(n):
        start = step(k, start)
    return start


@pytest.mark.parametrize(("trips", "left"), [(1, 0), (4, 0), (MOST_TRIPS, 0), (MOST_TRIPS + 1, 1)])
def test_few_iterations(trips, left) -> None:
    def step(x):
        return lambda k, s: x * s + (real(k) if not isinstance(k, int) else k)

    assert left == check(
        lambda x, i: fori(trips, Real, 1.0, lambda k, s: step(x[i])(k, s)),
        lambda x, i: folded(trips, 1.0, step(x[i])),
    )


@pytest.mark.parametrize(("length", "left"), [(MOST_ROWS // 8 - 10, 0), (MOST_ROWS // 8 + 1, 1)])
def test_short_bodies(length, left) -> None:
    def step(x, sine):
        return lambda _, s: folded(length, s, lambda _, s: sine(s)) * x

    assert left == check(
        lambda x, i: fori(8, Real, 1.0, step(x[i], sin)),
        lambda x, i: folded(8, 1.0, step(x[i], math.sin)),
    )


def test_loops_that_are_not_in_others_stay() -> None:
    f = fn([V], Real, lambda x: fori(4, Real, 0.0, lambda k, s: s * s + x[imod(N, k)]))
    assert loops(f) == 1


def test_loops_that_are_in_others_too() -> None:
    """The greatest of all numbers in each iteration of a loop, and at last: as recorded, these are of one
    body.
    """
    f = fn([V], Real, lambda x: max(fori(9, V, x, lambda _, v: vec(N, Real, lambda i: max(v) - v[i] * x[i]))))
    left = [ins for g in functions(expanded(f.func)) for ins in g.code if ins[0] == LOOP]
    assert len(left) == 1
    assert compile(f)(X) == interp(f)(X)


def test_loops_in_called_functions() -> None:
    """A function that is called in a loop, and one of a loop of as many iterations that is not."""
    inner = fn([Real], Real, lambda x: fori(3, Real, x, lambda _, s: sin(s) * x + s))
    outer = fn([V], Real, lambda x: sum(N, lambda i: inner(x[i])))
    assert loops(outer) == 0
    assert loops(fn([V], Real, lambda x: inner(x[0]))) == 1
    assert compile(outer)(X) == interp(outer)(X)


def test_a_loop_in_the_body_of_a_loop() -> None:
    def body(x, i):
        return fori(30, Real, 1.0, lambda _, s: fori(4, Real, s, lambda k, t: t * 0.5 + x[imod(N, k)] * x[i]))

    def expected(x, i):
        return folded(30, 1.0, lambda _, s: folded(4, s, lambda k, t: t * 0.5 + x[k] * x[i]))

    assert check(body, expected) == 1


def test_loops_in_loops_are_counted_together() -> None:
    """The innermost is written out, the one around it would become too long."""

    def body(x, i):
        return fori(8, Real, 1.0, lambda _, s: fori(8, Real, s, lambda _, t: t * 0.5 + sin(x[i] + t)))

    def expected(x, i):
        return folded(8, 1.0, lambda _, s: folded(8, s, lambda _, t: t * 0.5 + math.sin(x[i] + t)))

    assert check(body, expected) == 1


def test_vectors_as_state() -> None:
    def body(x, i):
        s = fori(4, Vec(2, Real), [x[i], 1.0], lambda _, s: [s[0] * s[1], s[0] + s[1] * 0.5])
        return s[0] + s[1]

    def expected(x, i):
        a, b = folded(4, (x[i], 1.0), lambda _, s: (s[0] * s[1], s[0] + s[1] * 0.5))
        return a + b

    assert check(body, expected) == 0


def test_vectors_that_change() -> None:
    def body(x, i):
        s = fori(4, V, x, lambda k, v: v.set(imod(N, k), v[imod(N, k)] * v[i]))
        return s[0] * s[3] + s[4]

    def expected(x, i):
        v = list(x)
        for k in range(4):
            v[k] = v[k] * v[i]
        return v[0] * v[3] + v[4]

    assert check(body, expected) == 0


def test_what_iterations_give() -> None:
    def body(x, i):
        s, ys = scan(4, Real, x[i], lambda s, k: (s * 0.5 + x[imod(N, k)], [s * s, real(k) * s]))
        return s + sum(4, lambda k: ys[k][0] * ys[k][1])

    def expected(x, i):
        s, terms = x[i], []
        for k in range(4):
            terms.append((s * s) * (k * s))
            s = s * 0.5 + x[k]
        total = 0.0
        for term in terms:
            total += term
        return s + total

    assert check(body, expected) == 0


def test_the_largest() -> None:
    assert (
        check(
            lambda x, i: fori(N, Real, -math.inf, lambda k, s: max(s, x[i] * x[k])),
            lambda x, i: folded(N, -math.inf, lambda k, s: s if s >= x[i] * x[k] else x[i] * x[k]),
        )
        == 0
    )


def test_around_a_loop_that_is_not_small() -> None:
    """Its body would be a function that is called in each of the iterations."""

    def body(x, i):
        return fori(4, Real, 1.0, lambda k, s: fori(30, Real, s, lambda _, t: t * 0.5 + x[imod(N, k)] * x[i]))

    def expected(x, i):
        return folded(4, 1.0, lambda k, s: folded(30, s, lambda _, t: t * 0.5 + x[k] * x[i]))

    assert check(body, expected) == 2


@pytest.mark.parametrize("called", [False, True])
def test_choices_in_iterations(called) -> None:
    """So would their sides be."""

    def next_of(s, x):
        return cond(s > x, Real, lambda: s * 0.5, lambda: sin(s) + 1.0)

    function = fn([Real, Real], Real, next_of) if called else next_of

    def expected(x, i):
        return folded(4, 0.25, lambda _, s: s * 0.5 if s > x[i] else math.sin(s) + 1.0)

    assert check(lambda x, i: fori(4, Real, 0.25, lambda _, s: function(s, x[i])), expected) == 1


def test_loops_whose_iterations_are_not_known_stay() -> None:
    def body(x, i):
        return fori(i, Real, x[i], lambda _, s: s * 0.5 + 1.0)

    assert check(body, lambda x, i: folded(i, x[i], lambda _, s: s * 0.5 + 1.0)) == 1

    def again(x, i):
        return while_loop(Real, x[i], lambda s: s < 3.0, lambda s: s + 1.0, limit=8)

    f = fn([V], Real, lambda x: sum(N, lambda i: again(x, i)))
    assert loops(f) == 1


def test_loops_that_keep_little_stay() -> None:
    def body(x, i):
        return fori(4, Real, x[i], lambda _, s: sin(s), checkpoint=2)

    f = fn([V], Real, lambda x: sum(N, lambda i: body(x, i)))
    assert LOOP in set().union(*(opcodes(g) for g in functions(Expansion(f.func).root)))


def test_one_body_of_several_loops() -> None:
    """The same function turned 3 times in a loop and 40 times outside of it."""
    step = fn([Real], Real, lambda s: s * 0.5 + 1.0)

    def f(x):
        far = fori(40, Real, x[0], lambda _, s: step(s))
        return far + sum(N, lambda i: fori(3, Real, x[i], lambda _, s: step(s)))

    g = fn([V], Real, f)
    assert compile(g)(X) == interp(g)(X)
    assert loops(g) == 1


def test_rows_of_a_matrix() -> None:
    """A vector made in each iteration of the loop around."""
    f = fn(
        [V], V, lambda x: vec(N, Real, lambda i: fori(3, Real, x[i], lambda k, s: s * x[imod(N, k)] + 1.0))
    )
    expected = [folded(3, X[i], lambda k, s: s * X[k] + 1.0) for i in range(N)]
    assert compile(f)(X) == interp(f)(X) == expected
    assert loops(f) == 0


def test_a_function_in_a_loop_and_without() -> None:
    """What is remembered of a function for one program is not taken for another."""
    inner = fn([Real], Real, lambda x: fori(3, Real, x, lambda _, s: s * s + x))
    alone = fn([Real], Real, lambda x: inner(x) + inner(x * 0.5))
    repeated = fn([V], Real, lambda x: sum(N, lambda i: inner(x[i])))
    for _ in range(2):
        assert (loops(alone), loops(repeated)) == (2, 0)


DERIVED = {
    "hvp": lambda f: fn([V, V], V, lambda x, dx: hvp(f)(x, dx)),
    "hvp of hvp": lambda f: hvp(fn([V], Real, lambda x: sum(N, lambda k: hvp(f)(x, x)[k]))),
    "jet": lambda f: jet(f, 2),
    "linearize": lambda f: grad(fn([V], Real, lambda x: linearize(f)(x).push(x))),
    "checkpoint": lambda f: grad(fn([V], Real, lambda x: 2.0 * checkpoint(f)(x))),
    "root": lambda f: grad(fn([V], Real, lambda x: root(lambda z: z * z * z + z * f(x) - 1.0, 0.5))),
    "a rule that calls what it is of": lambda f: grad(with_rule(f)),
}


def with_rule(f):
    g = fn([V], Real, lambda x: f(x) * f(x))

    def rule(x):
        value = f(vec(N, Real, lambda k: x[k].re))
        return {"re": g(vec(N, Real, lambda k: x[k].re)), "du": jvp(f)(x).du * (2.0 * value)}

    g.jvp = fn([Vec(N, Dual)], Dual, rule)
    return fn([V], Real, lambda x: g(x) + 1.0)


@pytest.mark.parametrize("name", DERIVED)
def test_in_what_is_derived_or_run_again(name) -> None:
    """They are written out wherever a derivative finds them, and where a function stays one."""

    def body(x, i):
        return fori(4, Real, 1.0, lambda k, s: sin(x[i]) * s + x[imod(N, k)])

    derived = DERIVED[name](fn([V], Real, lambda x: sum(N, lambda i: body(x, i))))
    assert loops(derived) == (2 if name == "root" else 0)  # which looks for it, and back
    args = [X] * len(derived.func.param_types)
    if name == "jet":
        args = [[X, [1.0] * N, [0.0] * N]]
    assert repr(compile(derived)(*args)) == repr(interp(derived)(*args))
