"""Loops that do the same in every iteration of a loop around them stand before that; the numbers are the
same.
"""

from __future__ import annotations

import math

import pytest

from rose_core import Real, Vec, compile, cond, exp, fn, fori, grad, index, interp, jvp, opaque, sin, vec, vjp
from rose_core import sum as total
from rose_core.derivatives import expand
from rose_core.derivatives.expand import DerivativeError, Expansion
from rose_core.language import interp as engine
from rose_core.language.check import check
from rose_core.language.flatten import flatten
from rose_core.language.ir import Func
from rose_core.language.parse import parse
from rose_core.language.types import Struct
from rose_core.optimise import hoist
from tests.test_unroll import wave

N = 7
V = Vec(N, Real)
PAIR = Struct({"re": Real, "du": Real})


def parents(f: Func) -> list[int]:
    """Which block each loop is in."""
    return [block.parent for block in f.blocks[1:]]


def moved(f, *args, monkeypatch) -> list[int]:
    """The blocks of the loops of ``f``, whose results are those that it has where nothing is moved."""
    found = repr(compile(f)(*args))
    assert found == repr(interp(f)(*args))
    with monkeypatch.context() as m:
        m.setattr(expand, "hoisted", lambda f: f)
        assert found == repr(compile(f)(*args))
    return parents(Expansion(f.func).root)


def test_a_sum_of_all(monkeypatch) -> None:
    softmax = fn([V], V, lambda x: vec(N, Real, lambda i: exp(x[i]) / total(N, lambda j: exp(x[j]))))
    assert moved(softmax, wave(N), monkeypatch=monkeypatch) == [0, 0]


def along(f, x, c):
    return jvp(f)(vec(N, PAIR, lambda k: {"re": x[k], "du": c[k]}))


@pytest.mark.parametrize(
    "derivative",
    [
        lambda f: fn([V, V], V, lambda x, c: vjp(f)(x).grad(c)),
        lambda f: fn([V, V], V, lambda x, c: vec(N, Real, lambda i: along(f, x, c)[i].du)),
    ],
    ids=["reverse", "forward"],
)
def test_its_derivatives_have_no_loops_in_loops(derivative) -> None:
    softmax = fn([V], V, lambda x: vec(N, Real, lambda i: exp(x[i]) / total(N, lambda j: exp(x[j]))))
    f = derivative(softmax)
    root = Expansion(f.func).root
    assert all(set(parents(g)) <= {0} for g in (root, *root.callees))
    x, c = wave(N), wave(N, phase=1)
    weights = [math.exp(t) for t in x]
    y = [w / sum(weights) for w in weights]
    mean = sum(a * b for a, b in zip(y, c, strict=True))
    # the Jacobian of softmax is symmetric
    expected = [a * (b - mean) for a, b in zip(y, c, strict=True)]
    assert compile(f)(x, c) == pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_as_far_as_it_goes(monkeypatch) -> None:
    """Of three loops in each other, the innermost one depends on the iteration of the outermost."""

    def body(x, y):
        def inner(i, j):
            return total(N, lambda k: sin(x[k] + y[i])) * x[j]

        return vec(N, Real, lambda i: total(N, lambda j: inner(i, j)))

    f = fn([V, V], V, body)
    assert moved(f, wave(N), wave(N, phase=1), monkeypatch=monkeypatch) == [0, 1, 1]


def test_vectors_and_what_depends_on_them(monkeypatch) -> None:
    """A vector, a sum over it, and a loop with a loop in it."""

    def body(x):
        def share(i):
            squares = vec(N, Real, lambda k: x[k] * x[k])
            rest = total(N, lambda k: total(N, lambda j: squares[j] * x[k]))
            return x[i] / (total(N, lambda k: squares[k]) + rest)

        return vec(N, Real, share)

    f = fn([V], V, body)
    assert moved(f, wave(N), monkeypatch=monkeypatch) == [0, 0, 0, 3, 0]


def test_a_state_and_a_choice(monkeypatch) -> None:
    def body(x):
        def trips(i):
            s = total(
                N, lambda j: fori(3, Real, x[j], lambda k, y: cond(y > 0, Real, lambda: y / 2, lambda: y * 3))
            )
            return x[i] * s

        return vec(N, Real, trips)

    assert moved(fn([V], V, body), wave(N), monkeypatch=monkeypatch) == [0, 0]


told = opaque([Real], Real, lambda x: x + 1.0)


@pytest.mark.parametrize(
    "term",
    [
        lambda x, i, j: x[j] * x[i],
        lambda x, i, j: told(x[j]),
    ],
    ids=["it depends on the iteration", "the host would see"],
)
def test_what_stays(term, monkeypatch) -> None:
    f = fn([V], V, lambda x: vec(N, Real, lambda i: sin(x[i]) + total(N, lambda j: term(x, i, j))))
    assert moved(f, wave(N), monkeypatch=monkeypatch) == [0, 1]


def test_what_may_fail_stays(monkeypatch) -> None:
    """But not what it is computed of, which is a vector."""

    def body(x):
        return vec(N, Real, lambda i: sin(x[i]) + total(N, lambda j: x[index(N, x[j] * 0 + 1)]))

    assert moved(fn([V], V, body), wave(N), monkeypatch=monkeypatch) == [0, 0, 1]


def test_not_out_of_a_loop_that_never_runs(monkeypatch) -> None:
    f = fn([V], Vec(0, Real), lambda x: vec(0, Real, lambda i: total(N, lambda j: exp(x[j]))))
    assert moved(f, wave(N), monkeypatch=monkeypatch) == [0, 1]


def test_not_what_is_added_to_from_outside(monkeypatch) -> None:
    """The gradient's inner loop adds in every iteration to cotangents that are there around both loops."""
    f = grad(fn([V], Real, lambda x: total(N, lambda i: total(N, lambda j: x[j] * x[i]))))
    assert moved(f, wave(N), monkeypatch=monkeypatch)[-1] != 0


def test_not_what_adds_to_a_sum_to_which_the_iteration_adds() -> None:
    source = """
        def f(x: [7]Real): [7]Real =
          [for i: 7, fst (accum a from 0.0 in ([for j: 7, a += x[j] * x[j]]; a += x[i]; ()))]"""
    f = flatten(parse(source)["f"])
    found = hoist.hoisted(f)
    check(found)
    assert engine.call(found, [wave(N)]) == engine.call(f, [wave(N)])


def test_what_the_host_does_it_does_in_every_iteration(monkeypatch) -> None:
    """A call of a function that calls the host stays, though what it takes is the same in every iteration."""
    seen = []
    shown = opaque([Real], Real, lambda x: seen.append(x) or x)
    twice = fn([Real], Real, lambda x: shown(x) * 2)
    f = fn([V], V, lambda x: vec(N, Real, lambda i: x[i] + twice(total(N, lambda j: exp(x[j])))))
    expected = interp(f)(wave(N))
    calls = len(seen)
    with monkeypatch.context() as m:
        m.setattr(expand, "hoisted", lambda f: f)
        seen.clear()
        assert interp(f)(wave(N)) == expected
    assert len(seen) == calls


@pytest.mark.parametrize("shares", [False, True])
def test_what_has_no_derivative_has_none_when_its_loops_could_move(shares) -> None:
    """Nor when it could be in line, as it computes what is computed around it."""

    def body(x):
        return total(N, lambda i: x[i] / total(N, lambda j: exp(x[j])))

    faulty = fn([V], Real, body)
    faulty.func.fault = "the derivative of this one would be wrong"
    f = fn([V], Real, lambda x: faulty(x) * (body(x) if shares else x[0]))
    with pytest.raises(DerivativeError, match="would be wrong"):
        Expansion(grad(f).func)


def test_the_same_function_becomes_the_same() -> None:
    """So what is made of it is found again."""
    f = fn([V], V, lambda x: vec(N, Real, lambda i: x[i] / total(N, lambda j: exp(x[j]))))
    assert hoist.hoisted(f.func) is not f.func
    assert hoist.hoisted(f.func) is hoist.hoisted(f.func)
