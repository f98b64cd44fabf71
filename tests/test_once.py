"""Library functions that several loops compute of the same: once, and the same bits."""

from __future__ import annotations

import pytest

from rose_core import Real, Vec, compile, cos, exp, fn, grad, iadd, imod, interp, log, sin, tanh, vec
from rose_core import sum as total
from rose_core.derivatives.expand import Expansion
from rose_core.language.ir import Func
from rose_core.language.ops import code
from rose_core.wasm.program import Program
from tests.test_unroll import root, same, wave

N = 30
V = Vec(N, Real)


def lowered(f) -> Func:
    """What is made WebAssembly of, after the check that it gives what the interpreter does."""
    args = [wave(t.index.size, phase=k) for k, t in enumerate(f.func.param_types)]
    assert repr(compile(f)(*args)) == repr(interp(f)(*args))
    return root(f)


def calls(f: Func, name: str) -> list[int]:
    """The blocks in which an op is."""
    return [f.home[v] for v, ins in enumerate(f.code) if ins[0] == code(name)]


def test_a_function_of_the_same_elements() -> None:
    def shares(x):
        whole = total(N, lambda j: exp(x[j]))
        return vec(N, Real, lambda i: exp(x[i]) / whole)

    assert calls(lowered(fn([V], V, shares)), "exp") == [1]


def test_what_is_computed_together() -> None:
    """The gradient of a function of a sum of cosines has sin and cos of the same."""
    f = fn([V], Real, lambda x: exp(total(N, lambda i: cos(3 * x[i])) / N))
    found = lowered(grad(f))
    assert calls(found, "cos") == calls(found, "sin") == [1]
    assert b"sincos" in Program(Expansion(grad(f).func).root).bytes


def test_only_what_is_needed() -> None:
    """The gradient of a sum of cosines needs no cosine, and has one loop to compute."""
    f = fn([V], Real, lambda x: total(N, lambda i: cos(3 * x[i])))
    module = Program(Expansion(grad(f).func).root).bytes
    lowered(grad(f))
    assert b"sin_in_lanes" in module
    assert b"cos" not in module


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda x, i: exp(x[i]), lambda x, i: exp(-x[i])),
        (lambda x, i: exp(x[i]), lambda x, i: exp(x[imod(N, iadd(N + 1, i, 1))])),
        (lambda x, i: sin(x[i]), lambda x, i: tanh(x[i])),
        (lambda x, i: x[i] ** 2.2, lambda x, i: x[i] ** 3.3),
        (lambda x, i: exp(x[i] + 1), lambda x, i: exp(x[i] + 2)),
    ],
    ids=["another operand", "another element", "another function", "another power", "another constant"],
)
def test_what_is_not_the_same(one, other) -> None:
    f = fn([V], Real, lambda x: total(N, lambda i: one(x, i)) * total(N, lambda i: other(x, i)))
    found = lowered(f)
    assert sum(len(calls(found, name)) for name in ("exp", "sin", "tanh", "pow")) == 2


def test_loops_of_other_sizes_compute_their_own() -> None:
    W = Vec(N // 2, Real)
    f = fn([V, W], Real, lambda x, y: total(N, lambda i: exp(x[i])) * total(N // 2, lambda i: exp(y[i])))
    assert len(calls(lowered(f), "exp")) == 2


def test_in_a_loop_around_both() -> None:
    rows = Vec(20, V)

    def share(row):
        return total(N, lambda i: exp(row[i])) / total(N, lambda i: 1 + exp(row[i]))

    f = fn([rows], Vec(20, Real), lambda x: vec(20, Real, lambda k: share(x[k])))
    assert len(calls(same(f, wave(20, N)), "exp")) == 1


def test_three_loops_take_turns() -> None:
    """The later loops read what the first one has, whatever they do with it."""
    f = fn(
        [V, V],
        Real,
        lambda x, y: (
            log(total(N, lambda i: exp(x[i] * y[i])))
            + total(N, lambda i: exp(x[i] * y[i]) * x[i])
            + total(N, lambda i: y[i] * exp(x[i] * y[i]))
        ),
    )
    assert len(calls(lowered(f), "exp")) == 1
    assert compile(f)(wave(N), wave(N, phase=1.0)) == interp(f)(wave(N), wave(N, phase=1.0))


def test_a_result_may_be_what_is_given() -> None:
    """A loop whose own result is what another one repeats."""

    def again(x):
        e = vec(N, Real, lambda i: exp(x[i]))
        whole = total(N, lambda j: e[j])
        return vec(N, Real, lambda i: e[i] + exp(x[i]) * whole)

    assert calls(lowered(fn([V], V, again)), "exp") == [1]
