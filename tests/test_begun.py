"""The first and last iterations of loops with a state are written out where choices go another way."""

from __future__ import annotations

from random import Random

import pytest
from changes import noted
from engines import same, same_outcome

from rose_core import (
    Real,
    Vec,
    compile,
    cond,
    fn,
    fori,
    grad,
    hessian,
    imax,
    imin,
    index,
    opaque,
    or_,
    real,
    scan,
    select,
    sin,
    vec,
)
from rose_core import sum as total
from rose_core.derivatives import expand

N = 12
V = Vec(N, Real)
X = [((7 * k) % 11 - 5) / 4 for k in range(N)]


@pytest.fixture
def loops(monkeypatch):
    """Finds out for each function that is differentiated from then on whether loops in it are changed."""
    return noted(monkeypatch, expand, "begun")


def before(y, i):
    return y[imax(N, i, 1) - 1]


def after_first(y, x, i):
    return cond(i < 1, Real, lambda: x[i], lambda: 0.5 * y[i - 1] + x[i])


STEPS = {
    "first": after_first,
    "two": lambda y, x, i: cond(i < 2, Real, lambda: x[i], lambda: x[i] + y[i - 1] * 0.5 - y[i - 2] * 0.25),
    "as a number": lambda y, x, i: cond(real(i) > 0.5, Real, lambda: sin(y[i - 1]) + x[i], lambda: 1.0),
    "last": lambda y, x, i: cond(
        i == N - 1, Real, lambda: y[i - 1] * y[0], lambda: x[i] * y[imax(N, i, 1) - 1]
    ),
    "clamped": lambda y, x, i: x[i] + 0.5 * y[imax(N, i, 1) - 1],
    "clamped at both ends": lambda y, x, i: y[imin(N, i + 1, N - 1)] * 0.5 + x[i] - y[imax(N, i, 1) - 1],
    "either": lambda y, x, i: cond(
        or_(i < 1, i >= N - 1), Real, lambda: x[i], lambda: y[i - 1] * y[i + 1] + x[i]
    ),
}


def recurrence(step):
    def f(x):
        y = fori(N, V, x, lambda i, y: y.set(i, step(y, x, i)))
        return total(N, lambda i: y[i] * y[i] * x[0])

    return fn([V], Real, f)


@pytest.mark.parametrize("name", STEPS)
def test_recurrences(name: str, loops, monkeypatch) -> None:
    def outcomes():
        f = recurrence(STEPS[name])
        return repr([same(g, X) for g in (f, grad(f), hessian(f))])

    found = outcomes()
    assert any(loops)
    monkeypatch.setattr(expand, "begun", lambda f: f)
    assert found == outcomes()


LEFT = {
    "in the middle": lambda y, x, i: cond(i < N // 2, Real, lambda: x[i], lambda: y[i - 1]),
    "of numbers": lambda y, x, i: cond(x[i] < 0.0, Real, lambda: x[i], lambda: y[0]),
    "of a number, too": lambda y, x, i: cond(or_(i < 1, x[i] < 0.0), Real, lambda: x[i], lambda: y[0]),
    "nothing": lambda y, x, i: y[i] + x[i],
    "of another vector": lambda y, x, i: y[i] + x[imax(N, i, 1) - 1],
}


@pytest.mark.parametrize("name", LEFT)
def test_others_are_left(name: str, loops) -> None:
    same(grad(recurrence(LEFT[name])), X)
    assert not any(loops)


def test_loops_that_keep_more_or_may_end_are_left(loops) -> None:
    def step(s, i):
        y = cond(i < 1, Real, lambda: 0.5, lambda: s * 0.5)
        return [y + 1.0, y]

    f = fn([V], Real, lambda x: total(N, lambda k: scan(N, Real, x[0], step)[1][k] * x[k]))
    same(grad(f), X)
    g = fn(
        [V, N],
        Real,
        lambda x, n: fori(n, Real, x[0], lambda i, s: cond(i < 1, Real, lambda: x[1], lambda: s * s)),
    )
    for n in (0, 1, N - 1):
        same(g, X, n)
    assert not any(loops)


def test_a_loop_that_keeps_every_third_state_is_left(loops) -> None:
    """It would keep others, or all."""

    def step(x, i, s):
        return cond(i < 1, Real, lambda: x[1] * x[1], lambda: s * s * 0.5 + x[i])

    f = fn([V], Real, lambda x: fori(N, Real, x[0], lambda i, s: step(x, i, s), checkpoint=3))
    slopes = same(grad(f), X)
    assert not any(loops)
    g = fn([V], Real, lambda x: fori(N, Real, x[0], lambda i, s: step(x, i, s)))
    assert slopes == pytest.approx(same(grad(g), X), rel=1e-12)


def test_a_host_s_function_is_called_in_every_iteration(loops) -> None:
    """Also where nobody needs what it gives."""
    told = []
    tell = opaque([Real], Real, lambda x: told.append(x) or x)

    def step(x):
        return lambda i, s: cond(i < 1, Real, lambda: x[0], lambda: tell(x[i]) + s)

    f = fn([V], Real, lambda x: x[1] + 0.0 * fori(N, Real, x[0], step(x)))
    unused = fn([V], Real, lambda x: [fori(N, Real, x[0], step(x)), x[1]][1])
    for g in f, unused:
        told.clear()
        compile(g)(X)
        assert told == X[1:]
    assert any(loops)


@pytest.mark.parametrize("at", [0, 3, N - 1])
def test_errors_come_in_their_order(at: int, loops) -> None:
    def step(y, x, i):
        first = lambda: x[index(N, x[i])]  # noqa: E731
        return cond(i < 1, Real, first, lambda: x[index(N, 2.0 * x[i])] + y[i - 1])

    x = [1.0] * N
    x[at] = 0.3
    told = same_outcome(recurrence(step), x)
    assert ("0.3" if at == 0 else "0.6") in str(told)
    assert any(loops)


class Step:
    """A random step of a recurrence in two vectors and a number."""

    def __init__(self, seed: int) -> None:
        self.draw = Random(seed)
        self.n = self.draw.choice([6, 9, 17])

    def number(self, y, z, x, s, i, depth: int = 2):
        draw, n = self.draw, self.n
        of = draw.choice([y, z, x])
        by = draw.randrange(1, 3)
        kind = draw.randrange(8 if depth else 5)
        if kind == 0:
            return of[i]
        if kind == 1:
            return of[imax(n, i, by) - by]
        if kind == 2:
            return of[imin(n, i + by, n - 1)]
        if kind == 3:
            return 0.5 * s
        if kind == 4:
            return of[draw.randrange(n)]
        more = [self.number(y, z, x, s, i, depth - 1) for _ in range(2)]
        if kind == 5:
            return 0.5 * more[0] - more[1] * draw.choice([0.25, 0.5])
        if kind == 6:
            return select(i < by, more[0], sin(more[1]))
        before, after = draw.choice([i < by, real(i) < by]), draw.choice([i >= n - by, i > n - 1 - by])
        inner = lambda: of[i - by] * more[0] - more[1]  # noqa: E731
        if draw.random() < 0.3:
            return cond(after, Real, lambda: more[0], lambda: of[i + by] + more[1])
        if draw.random() < 0.5:
            return cond(before, Real, lambda: more[1], inner)
        return cond(or_(before, after), Real, lambda: more[1], lambda: of[i + by] + inner())

    def __call__(self, i, state, x):
        y, z, s = state.y, state.z, state.s
        made = self.number(y, z, x, s, i)
        y = y.set(i, made)
        if self.draw.random() < 0.5:
            z = z.set(i, self.number(y, z, x, s, i))
        return {"y": y, "z": z, "s": 0.5 * s + self.number(y, z, x, s, i)}


def random_recurrence(seed: int):
    step = Step(seed)
    n = step.n
    W = Vec(n, Real)

    def f(x):
        start = {"y": x, "z": vec(n, Real, lambda i: x[i] * 0.5), "s": x[0]}
        end = fori(n, {"y": W, "z": W, "s": Real}, start, lambda i, state: step(i, state, x))
        return total(n, lambda i: end.y[i] * x[i] + sin(end.z[i])) + end.s

    return fn([W], Real, f), n


@pytest.mark.parametrize("seed", range(40))
def test_random_recurrences(seed: int, loops, monkeypatch) -> None:
    """The same bits as without, of gradients nearly."""
    draw = Random(seed)
    x = [draw.uniform(-1, 1) for _ in range(random_recurrence(seed)[1])]

    def outcomes():
        f, _ = random_recurrence(seed)
        return same(f, x), same(grad(f), x)

    value, gradient = outcomes()
    monkeypatch.setattr(expand, "begun", lambda f: f)
    plain_value, plain_gradient = outcomes()
    assert value == plain_value
    assert gradient == pytest.approx(plain_gradient, rel=1e-12, abs=1e-13)
