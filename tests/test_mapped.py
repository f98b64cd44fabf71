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
from rose_core.language.interp import call
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


VECTOR = "[for _: 12, 0.0]", "[12]Real"
WITH_ROWS = "[for _: 12, [for _: 3, 0.0]]", "[12][3]Real"
WITH_MATRICES = "[for _: 12, [for _: 2, [for _: 3, 0.0]]]", "[12][2][3]Real"

ADDING = {
    "an element": (VECTOR, "let r = &a[i] in r += x[i]", True),
    "an element, twice": (VECTOR, "let r = &a[i] in let _ = r += x[i] in r += x[0]", True),
    "another element as well": (
        VECTOR,
        "let r = &a[i] in let s = &a[3] in let _ = r += x[i] in s += x[i]",
        False,
    ),
    "the element of a loop in it": (VECTOR, "let _ = [for j: 12, let r = &a[j] in r += x[i]] in ()", False),
    "an element in a loop in it": (VECTOR, "let r = &a[i] in let _ = [for j: 3, r += x[i]] in ()", False),
    "an element, passed on": (VECTOR, "let r = &a[i] in add(r, x[i])", False),
    "an element, passed on as well": (VECTOR, "let r = &a[i] in let _ = r += x[i] in add(r, x[i])", False),
    "an element of a loop with a choice": (
        VECTOR,
        "let r = &a[i] in let y: Real = if x[i] < 0.0 then squared(x[i]) else halved(x[i]) in r += y",
        False,
    ),
    "an element, and any": (
        VECTOR,
        "let r = &a[i] in let _ = r += x[i] in let s = &a[k] in s += x[i]",
        False,
    ),
    "an element and all of them": (VECTOR, "let r = &a[i] in let _ = r += x[i] in a += x", False),
    "an element and the first, by its place": (
        VECTOR,
        "let r = &a[i] in let _ = r += x[i] in let s = &a[0] in add(s, x[i])",
        False,
    ),
    "numbers of a row": (
        WITH_ROWS,
        "let p = &a[i] in let s = &p[2] in let q = &p[0] in let r = &p[1] in "
        "let _ = q += x[i] in let _ = r += x[0] in s += x[1]",
        True,
    ),
    "numbers of a row, in a loop": (
        WITH_ROWS,
        "let p = &a[i] in let _ = [for j: 3, let q = &p[j] in q += x[i]] in ()",
        True,
    ),
    "a number of a row, by its place": (
        WITH_ROWS,
        "let p = &a[i] in let q = &p[0] in let r = &p[1] in let s = &p[2] in "
        "let _ = q += x[i] in let _ = r += x[0] in add(s, x[1])",
        False,
    ),
    "a number of a row, in a loop": (
        WITH_ROWS,
        "let p = &a[i] in let q = &p[0] in let r = &p[1] in let s = &p[2] in "
        "let _ = q += x[i] in let _ = r += x[0] in let _ = [for j: 3, s += x[1]] in ()",
        False,
    ),
    "some numbers of a row": (
        WITH_ROWS,
        "let p = &a[i] in let q = &p[0] in let r = &p[2] in let _ = q += x[i] in r += x[1]",
        False,
    ),
    "numbers of a row, one of them any": (
        WITH_ROWS,
        "let p = &a[i] in let q = &p[0] in let r = &p[1] in let s = &p[k] in "
        "let _ = q += x[i] in let _ = r += x[0] in s += x[1]",
        False,
    ),
    "numbers of a row, and the same to all of it": (
        WITH_ROWS,
        "let p = &a[i] in let q = &p[0] in let r = &p[1] in let s = &p[2] in "
        "let _ = q += x[i] in let _ = r += x[0] in let _ = s += x[1] in p += [for _: 3, 1.0]",
        False,
    ),
    "numbers of a row, and all of it": (
        WITH_ROWS,
        "let p = &a[i] in let _ = [for j: 3, let q = &p[j] in q += x[i]] in p += [x[0], x[1], x[2]]",
        False,
    ),
    "nothing of a row": (WITH_ROWS, "let p = &a[i] in ()", False),
    "rows of a matrix": (
        WITH_MATRICES,
        "let p = &a[i] in let q = &p[0] in let r = &p[1] in let y = [x[0], x[1], x[i]] in "
        "let _ = q += y in r += y",
        False,
    ),
}
"""What the iterations of a loop add to, and whether that becomes a result of the loop."""


@pytest.mark.parametrize(("accumulator", "body", "is_result"), ADDING.values(), ids=ADDING)
def test_what_is_added_to(accumulator: tuple[str, str], body: str, is_result: bool) -> None:
    start, t = accumulator
    source = f"""
        def add(r: &Real, x: Real): () = r += x

        def squared(x: Real): Real = x × x

        def halved(x: Real): Real = 0.5 × x

        def f(x: [12]Real, k: {3 if "[3]" in t else 12}): ({t}, [12]()) =
          accum a from {start} in [for i: 12, {body}]"""
    f = flatten(parse(source)["f"])
    made = mapped(f)
    check(made)
    assert (made is not f) == is_result
    assert repr(call(made, [X, 1])) == repr(call(f, [X, 1]))


def test_what_is_added_to_an_accumulator_of_a_caller() -> None:
    source = "def f(x: [12]Real, a: &[12]Real): [12]() = [for i: 12, let r = &a[i] in r += x[i]]"
    f = flatten(parse(source)["f"])
    assert mapped(f) is f


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed: int, monkeypatch) -> None:
    f, x = elementwise(seed)
    found = [same(g, *x) for g in (f, grad(f))]
    for name in ("mapped", "tapeless"):
        monkeypatch.setattr(unroll, name, lambda f: f)
    assert repr(found) == repr([same(g, *x) for g in (f, grad(f))])
