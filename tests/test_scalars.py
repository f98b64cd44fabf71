"""Short vectors in the state of a loop become numbers: the same values, and nothing of them in memory."""

from __future__ import annotations

import pytest
from differences import assert_derivatives
from engines import outcome, same, same_outcome
from random_programs import flat
from random_vectors import KINDS, STATE, Vectors

from rose_core import (
    Real,
    Vec,
    compile,
    fn,
    fori,
    imod,
    inspect,
    scan,
    select,
    sin,
    sqrt,
    struct,
    sum,
    vec,
    vjp,
    while_loop,
)
from rose_core.derivatives import expand

N = 3
V, M = Vec(N, Real), Vec(2, Vec(2, Real))


def gradient_of(v: Vectors):
    """Of a sum over all that it gives, by all that it takes."""

    def loss(state, z):
        after = v.function(state, z)
        numbers = [x for name in KINDS for x in v.numbers_of(name, after[name])]
        return after["kept"] + sum([sin(k + 1.0) * x for k, x in enumerate(numbers)])

    f = fn([STATE, Real], Real, loss)
    t = struct({"state": STATE, "z": Real})
    return fn([STATE, Real], t, lambda *at: dict(zip(("state", "z"), vjp(f)(*at).grad(1.0), strict=True)))


@pytest.mark.parametrize("seeds", [range(k, k + 10) for k in range(0, 120, 10)], ids=str)
def test_random_vectors(seeds, monkeypatch) -> None:
    for seed in seeds:
        v = Vectors(seed)
        found, slopes = (same_outcome(f, *v.args()) for f in (v.function, gradient_of(v)))
        with monkeypatch.context() as m:
            m.setattr(expand, "in_scalars", lambda f: f)
            v = Vectors(seed)
            plain, plain_slopes = (outcome(compile(f), *v.args()) for f in (v.function, gradient_of(v)))
        assert repr(found) == repr(plain)
        if isinstance(plain_slopes, str):
            assert slopes == plain_slopes
        else:
            assert flat(slopes) == pytest.approx(flat(plain_slopes), rel=1e-10, abs=1e-12)


def turned(x):
    return [0.9 * x[1], 0.9 * x[2], sin(x[0] - x[1] * x[2])]


STEPS = {
    "element by element": lambda i, x: [0.9 * x[1], x[0] * x[2], x[2] - x[0]],
    "elements set": lambda i, x: x.set(0, x[1] * x[2]).at[1].add(0.5 * x[2]),
    "loops over elements": lambda i, x: vec(N, Real, lambda k: x[k] - 0.1 * sum(N, lambda j: x[j] * x[k])),
    "a choice": lambda i, x: select(x[0] < x[1], V, x, turned(x)),
    "another loop": lambda i, x: fori(20, V, x, lambda j, x: turned(x)),
    "a loop with a test": lambda i, x: while_loop(
        V, x, lambda x: x[0] < 0.2, lambda x: [x[0] + 0.3, x[2], x[1]]
    ),
    "vectors of vectors": lambda i, x: (lambda m: [m[0][1], m[1][0], m[0][0] * m[1][1]])(
        fori(
            20,
            M,
            [[x[0], x[1]], [x[2], 1.0]],
            lambda j, m: m.at[1].set([m[0][1], 0.5 * m[1][0]]).at[0][0].add(0.1),
        )
    ),
}

IN_MEMORY = {
    "an index that is not constant": lambda i, x: x.set(imod(N, i), x[0] - 0.5 * x[1]),
    "read where the iteration says": lambda i, x: [x[imod(N, i)], x[0], x[1]],
}


def loop_of(step):
    return fn([V], Real, lambda x: sum(fori(10, V, x, step)))


def states(f) -> list[str]:
    """What is carried by the loops of a program, of whatever type."""
    lines = inspect(f).ir.splitlines()
    return [line for line in lines if line.startswith("def body") and "]Real" in line]


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_numbers(step) -> None:
    f = loop_of(step)
    assert states(f) == []
    assert_derivatives(f, [0.3, -0.4, 0.7])


@pytest.mark.parametrize("step", IN_MEMORY.values(), ids=IN_MEMORY)
def test_vectors_that_stay(step) -> None:
    f = loop_of(step)
    assert states(f) != []
    same(f, [0.3, -0.4, 0.7])


def test_long_vectors_stay() -> None:
    long = Vec(20, Real)
    f = fn([long], Real, lambda x: sum(fori(10, long, x, lambda i, x: [x[0] * x[19], *x[:19]])))
    assert states(f) != []


def test_what_is_given_of_every_iteration_is_whole() -> None:
    f = fn([V], Real, lambda x: sum(20, lambda i: scan(20, V, x, lambda x, i: (turned(x), x))[1][i][0]))
    assert_derivatives(f, [0.3, -0.4, 0.7])


def test_sums_in_a_vector_are_sums() -> None:
    """A loop whose state is nothing but sums runs in lanes."""

    def sums(y):
        z = vec(100, Real, lambda i: 1 + y[i] * y[i])
        return fori(100, V, [0.0] * N, lambda i, s: [s[0] + sqrt(z[i]), s[1] + y[i] / z[i], s[2] + z[i]])

    f = fn([Vec(100, Real)], V, sums)
    assert "f64x2.sqrt" in inspect(f).wat
    same(f, [0.1 * k for k in range(100)])
