"""What is the same in all iterations of a loop around another one is computed once: every value to the
bit.
"""

from __future__ import annotations

import math
import random

import pytest
from engines import same
from random_einsums import Einsums
from random_sums import NestedSums

from rose_core import Real, Vec, exp, fn, grad, igeq, interp, log, select, sqrt, tanh, value_and_grad
from rose_core import sum as total
from rose_core.derivatives.expand import Expansion
from rose_core.language.ir import Func
from rose_core.language.ops import code
from rose_core.optimise import hoist

M, N = 7, 6
V, W, A = Vec(N, Real), Vec(M, Real), Vec(M, Vec(N, Real))


def numbers(*shape: int, phase: float = 1.0):
    if not shape:
        return math.sin(phase * phase) + 1.2
    return [numbers(*shape[1:], phase=phase * 3.7 + k) for k in range(shape[0])]


def often(f: Func, name: str) -> int:
    """How many times an operation is computed."""
    found = [f.home[v] for v, ins in enumerate(f.code) if ins[0] == code(name)]
    return sum(f.trips_of(number) for number in found)


def sums(term):
    return lambda x, y, a: total(M, lambda i: total(N, lambda j: term(x, y, a, i, j)) ** 2)


PROGRAMS = {
    "a function of what the inner loop reads": ("exp", N, sums(lambda x, y, a, i, j: exp(x[j]) * a[i][j])),
    "of several, and constants": (
        "exp",
        N,
        sums(lambda x, y, a, i, j: a[i][j] / exp(2 * x[j] - x[0] * x[j])),
    ),
    "in a third loop": (
        "exp",
        N * N,
        lambda x, y, a: total(
            N,
            lambda k: total(M, lambda i: total(N, lambda j: exp(x[k] * x[j]) * a[i][j])),
        ),
    ),
    "of two loops in each other": (
        "exp",
        N * N,
        lambda x, y, a: total(
            M,
            lambda i: total(N, lambda j: total(N, lambda k: exp(x[j] * x[k]) * a[i][j] * a[i][k])) ** 2,
        ),
    ),
    "both of the iteration and not": (
        "exp",
        N + M * N,
        sums(lambda x, y, a, i, j: exp(x[j]) * exp(x[j] * y[i])),
    ),
    "only of the outer iteration": ("exp", M, sums(lambda x, y, a, i, j: exp(y[i]) * a[i][j])),
    "a loop that moves as a whole": ("exp", N, sums(lambda x, y, a, i, j: exp(x[j]))),
    "of a sum": ("exp", N, sums(lambda x, y, a, i, j: exp(total(M, lambda k: a[k][j] * y[k])) * y[i])),
    "of a sum of sums": (
        "exp",
        N,
        sums(lambda x, y, a, i, j: exp(total(N, lambda k: x[j] * total(M, lambda q: a[q][k] * x[j]))) * y[i]),
    ),
    "of two sums": (
        "exp",
        N,
        sums(lambda x, y, a, i, j: exp(total(M, lambda k: a[k][j]) / total(N, lambda k: x[k] * x[j])) * y[i]),
    ),
    "a sum by itself": (
        "exp",
        M * N,
        sums(lambda x, y, a, i, j: total(M, lambda k: exp(a[k][j])) * y[i]),
    ),
    "a sum of both": ("exp", M * N, sums(lambda x, y, a, i, j: exp(total(M, lambda k: a[k][j] * y[i])))),
    "where indices choose a root": (
        "sqrt",
        M * N,
        sums(lambda x, y, a, i, j: select(igeq(N, j, 1), sqrt(x[j]), a[i][j])),
    ),
}


@pytest.mark.parametrize(("name", "count", "body"), PROGRAMS.values(), ids=PROGRAMS)
def test_how_often(name: str, count: int, body, monkeypatch) -> None:
    def made():
        return fn([V, W, A], Real, body)

    args = numbers(N), numbers(M), numbers(M, N)
    f = made()
    assert often(Expansion(f.func).root, name) == count
    found = same(f, *args)
    gradient = same(value_and_grad(f, [0, 1, 2]), *args)
    with monkeypatch.context() as m:
        m.setattr(hoist, "_hoisted", lambda f: f)
        assert repr(interp(made())(*args)) == repr(found)
        slow = interp(grad(made(), [0, 1, 2]))(*args)
    for k in range(3):
        assert flat(gradient.grad[str(k)]) == pytest.approx(flat(slow[str(k)]), rel=1e-12)


def flat(x):
    return [y for row in x for y in flat(row)] if isinstance(x, list) else [x]


def test_derivatives_where_a_root_is_not_chosen() -> None:
    """No infinite derivative of what no iteration needs comes in."""
    f = fn(
        [V, A],
        Real,
        lambda x, a: sums(lambda x, y, a, i, j: select(igeq(N, j, 1), sqrt(x[j]), a[i][j]))(x, x, a),
    )
    found = same(grad(f), [0.0, *numbers(N)[1:]], numbers(M, N))
    assert found[0] == 0 and all(map(math.isfinite, found))


def test_few_iterations_are_written_out_instead() -> None:
    P = Vec(3, V)
    f = fn([V, P], Real, lambda x, p: total(3, lambda i: total(N, lambda j: exp(x[j]) * p[i][j] ** 2)))
    same(value_and_grad(f, [0, 1]), numbers(N), numbers(3, N))


def test_mixtures() -> None:
    """The widths of few components, in a loop over data."""
    D = Vec(20, Real)
    C = Vec(3, Real)

    def term(mu, s, x, i):
        return log(total(3, lambda k: tanh(s[k]) * exp(-(((x[i] - mu[k]) * exp(-s[k])) ** 2))))

    f = fn([C, C, D], Real, lambda mu, s, x: total(20, lambda i: term(mu, s, x, i)))
    same(value_and_grad(f, [0, 1, 2]), numbers(3), numbers(3, phase=2.0), numbers(20))
    assert often(Expansion(f.func).root, "exp") == 3 + 3 * 20


@pytest.mark.parametrize("seed", range(200, 280))
def test_random_sums_of_products(seed: int, monkeypatch) -> None:
    program = Einsums(seed)
    program.sizes = {letter: random.Random(seed).choice([4, 5, 6]) for letter in program.sizes}
    program.function = fn([program.type(letters) for letters in program.params], Real, program.body)
    args = program.arguments()
    found = same(value_and_grad(program.function, range(len(program.params))), *args)
    monkeypatch.setattr(hoist, "_hoisted", lambda f: f)
    plain = fn([program.type(letters) for letters in program.params], Real, program.body)
    assert repr(interp(plain)(*args)) == repr(found.value)


@pytest.mark.parametrize("seed", range(100))
def test_random_sums_in_sums(seed: int, monkeypatch) -> None:
    def made():
        return value_and_grad(NestedSums(seed).function, range(9))

    args = NestedSums(seed).arguments()
    found = same(made(), *args)
    monkeypatch.setattr(hoist, "_hoisted", lambda f: f)
    slow = interp(made())(*args)
    assert repr(slow.value) == repr(found.value)
    for k in range(9):
        assert flat(found.grad[str(k)]) == pytest.approx(flat(slow.grad[str(k)]), rel=1e-10, abs=1e-12)


def chain(n: int, k: int, length: int):
    """In each of ``k`` times ``n`` iterations the sum of a chain of values that are the same for all
    ``k``.
    """

    def term(x, y, i, j):
        value, found = x[j], 0.0
        for step in range(length):
            value = tanh(value) * (1 + 0.1 * step) + x[j]
            found = found + value * y[i]
        return found

    body = lambda x, y: total(k, lambda i: total(n, lambda j: term(x, y, i, j)))  # noqa: E731
    return fn([Vec(n, Real), Vec(k, Real)], Real, body)


def test_many_values_of_an_iteration_are_computed_in_one_loop() -> None:
    """The code grows as the program does, though each of them needs those before it."""
    f = chain(N, M, 12)
    same(value_and_grad(f, [0, 1]), numbers(N), numbers(M))
    short, long = (len(Expansion(chain(N, M, length).func).root.code) for length in (10, 20))
    assert long < 2.2 * short


def test_the_arrays_of_a_function_take_a_megabyte_at_most(monkeypatch) -> None:
    monkeypatch.setattr(hoist, "MOST", 3 * N)
    f = chain(N, M, 12)
    same(value_and_grad(f, [0, 1]), numbers(N), numbers(M))
    root = Expansion(f.func).root
    assert sum(len(block.results) for block in root.blocks[1:]) == 3
    assert often(root, "tanh") == 12 * N + 9 * N * M
