"""What iterations add to elements of their own are results of the loop: the same numbers to the bit."""

from __future__ import annotations

import pytest
from changes import noted
from engines import same
from random_elementwise import elementwise

from rose_core import Real, Vec, cond, fn, fori, grad, iadd, imod, sin, struct, vec
from rose_core import sum as total
from rose_core.language.check import check
from rose_core.language.flatten import flatten
from rose_core.language.ir import ACCUM, FOR, Func
from rose_core.language.parse import parse
from rose_core.language.types import Array
from rose_core.optimise import unroll
from rose_core.optimise.mapped import mapped

N = 12
V = Vec(N, Real)
ROWS = Vec(N, Vec(3, Real))
MATRIX = Vec(N, V)
X = [((7 * k) % 11 - 5) / 4 for k in range(N)]


@pytest.fixture
def changes(monkeypatch):
    """Finds out for each function that is compiled from then on whether accumulators become results."""
    return noted(monkeypatch, unroll, "mapped", check)


@pytest.fixture
def lowered(monkeypatch) -> list[Func]:
    """The functions that are compiled from then on, as they are after the pass."""
    found: list[Func] = []
    noted(monkeypatch, unroll, "peeled", found.append)
    return found


def accumulators(functions: list[Func]) -> int:
    """How many accumulators of arrays there are."""
    return sum(
        ins[0] == ACCUM and isinstance(f.inner_type_of(v), Array)
        for f in functions
        for v, ins in enumerate(f.code)
    )


def loops(f: Func) -> int:
    return sum(ins[0] == FOR for ins in f.code)


def rows(x):
    return vec(N, Vec(3, Real), lambda i: [x[i], 2 * x[i], x[i] * x[i]])


def steps(velocity):
    """Semi-implicit steps: the second array takes what has become of the first."""

    def body(x):
        def step(_, s):
            v = vec(N, Real, lambda i: velocity(x, s, i))
            return {"v": v, "x": vec(N, Real, lambda i: s["x"][i] + 0.1 * v[i])}

        end = fori(4, struct({"x": V, "v": V}), {"x": x, "v": x}, step)
        return total(N, lambda i: end["x"][i] * end["v"][i])

    return body


def swing(x, s, i):
    return s["v"][i] - 0.1 * s["x"][i] * x[3]


def bounce(x, s, i):
    """A choice, one side of which adds to what the function has from its caller."""
    return cond(s["x"][i] < 0.0, Real, lambda: s["v"][i] * x[3], lambda: s["v"][i])


def swing_in_space(x):
    state = struct({"x": ROWS, "v": ROWS})

    def step(_, s):
        v = vec(N, ROWS.elem, lambda i: vec(3, Real, lambda k: s["v"][i][k] - 0.1 * s["x"][i][k] * x[3]))
        return {
            "v": v,
            "x": vec(N, ROWS.elem, lambda i: vec(3, Real, lambda k: s["x"][i][k] + 0.1 * v[i][k])),
        }

    end = fori(4, state, {"x": rows(x), "v": rows(x)}, step)
    return total(N, lambda i: total(3, lambda k: end["x"][i][k] * end["v"][i][k]))


def diffuse(x):
    """A matrix, in loops in each other."""

    def step(_, a):
        b = vec(N, V, lambda i: vec(N, Real, lambda j: a[i][j] * a[i][j]))
        return vec(N, V, lambda i: vec(N, Real, lambda j: a[i][j] + 0.1 * b[i][j] * x[j]))

    end = fori(3, MATRIX, vec(N, V, lambda i: vec(N, Real, lambda j: x[i] * x[j])), step)
    return total(N, lambda i: total(N, lambda j: end[i][j]))


VECTORS = {"swing": steps(swing), "bounce": steps(bounce), "swing in space": swing_in_space}
MADE = {**VECTORS, "diffuse": diffuse}


@pytest.mark.parametrize("name", VECTORS)
def test_a_step_backward_is_one_loop_without_accumulators(name: str, lowered) -> None:
    same(grad(fn([V], Real, VECTORS[name])), X)
    backward = [f for f in lowered if f.name == "bwd_body"]
    assert backward
    assert all(loops(f) == 1 for f in backward)
    assert not accumulators(backward)


@pytest.mark.parametrize("name", MADE)
def test_all_numbers_are_the_same(name: str, changes, monkeypatch) -> None:
    f = grad(fn([V], Real, MADE[name]))
    found = same(f, X)
    assert any(changes)
    monkeypatch.setattr(unroll, "mapped", lambda f: f)
    assert repr(found) == repr(same(f, X))


LEFT = {
    "a neighbour's element": lambda x, y: total(N, lambda i: sin(x[imod(N, iadd(N + 1, i, 1))])),
    "an element in all iterations": lambda x, y: total(N, lambda i: sin(x[3] * y[i])),
    "in a choice": lambda x, y: total(N, lambda i: cond(x[i] > 0, Real, lambda: sin(x[i]), lambda: 0.0)),
    "in two loops": lambda x, y: sin(total(N, lambda i: x[i])) * total(N, lambda i: y[i] * x[N - 1 - i]),
}


@pytest.mark.parametrize("name", LEFT)
def test_others_are_left(name: str, changes) -> None:
    same(grad(fn([V, V], Real, LEFT[name]), [0]), X, X)
    assert not any(changes)


def test_a_row_that_nothing_is_added_to() -> None:
    source = f"""
        def f(x: [{N}]Real): ([{N}][3]Real, [{N}]()) =
          accum a from [for _: {N}, [for _: 3, 0.0]] in
            [for i: {N}, let p = &a[i] in ()]"""
    f = flatten(parse(source)["f"])
    assert mapped(f) is f


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed: int, monkeypatch) -> None:
    f, x = elementwise(seed)
    found = [same(g, *x) for g in (f, grad(f))]
    for name in ("mapped", "tapeless"):
        monkeypatch.setattr(unroll, name, lambda f: f)
    assert repr(found) == repr([same(g, *x) for g in (f, grad(f))])
