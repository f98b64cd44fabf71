"""Accumulators that functions are given: which may be one, and programs that add to them in any order."""

from __future__ import annotations

import random

import pytest
from engines import same
from random_points import numbers

from rose_core import Real, Vec, fn, fori, grad, iadd, sin, vec
from rose_core import sum as total
from rose_core.language.flatten import flatten
from rose_core.language.parse import parse
from rose_core.optimise import inline
from rose_core.wasm import rows
from rose_core.wasm.given import Given
from rose_core.wasm.rows import Site

N = 12
V = Vec(N, Real)


def groups(source: str) -> dict[str, dict[int, int]]:
    """The parameters that may be one, of the functions that ``f`` calls, and that these call."""
    f = flatten(parse(source)["f"])
    order = [f]
    for g in order:
        order += [h for h in g.callees if h not in order]
    given = Given(order)
    return {g.name: given.groups(g) for g in order[1:]}


ADD = """
def add(a: &[2]Real, b: &[2]Real, x: Real): () =
  let _ = (&a[0]) += x in
  (&b[1]) += x
"""
CASES = {
    "different ones": ("let _ = add(p, q, x) in add(q, p, x)", {}),
    "the same in one of two calls": ("let _ = add(p, q, x) in add(q, q, x)", {1: 0}),
}


@pytest.mark.parametrize(("calls", "expected"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("deep", [False, True])
def test_what_may_be_one(calls, expected, deep) -> None:
    """Also where a function passes on what it is given."""
    found = groups(
        f"""{ADD}
def pass(a: &[2]Real, b: &[2]Real, x: Real): () = add(b, a, x)
def f(x: Real): [2]Real =
  fst (accum p from [1.0, 2.0] in (fst (accum q from [3.0, 4.0] in
    ({calls.replace("add", "pass") if deep else calls}))))
"""
    )
    assert found["add"] == expected
    assert not deep or found["pass"] == expected


def test_what_a_loop_adds_to_is_made_two_columns_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The derivatives of a matrix and of a vector, in the body of a loop with a state."""
    n = 18
    M, R = Vec(n, Vec(n, Real)), Vec(n, Real)
    found = []
    write = rows.RowsWriter.write

    def noted(self):
        found.append(sorted(site.name for site in self.rows.sites.values()))
        write(self)

    monkeypatch.setattr(rows.RowsWriter, "write", noted)

    def steps(m, z):
        def step(k, p):
            return vec(n, Real, lambda j: total(n, lambda i: p[i] * m[i][j] / z[i]))

        return total(n, lambda i: sin(fori(5, R, z, step)[i]))

    draw = random.Random(1)
    same(grad(fn([M, R], Real, steps), (0, 1)), numbers(draw, [n, n]), [2 + x for x in numbers(draw, [n])])
    assert [Site.COLUMN.name, Site.SAME.name, Site.SAME.name] in found


@pytest.mark.parametrize("seed", range(40))
def test_random_calls(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions that add to what they are given, in loops, called with rows of a matrix and vectors."""
    monkeypatch.setattr(inline, "SHORT", 0)
    draw = random.Random(seed)

    def body(x, y, z):
        def element(i):
            of = draw.choice([x, y, z])
            j = draw.choice([i, i, iadd(N, i, 1)])
            return of[draw.choice([j, j, 3])]

        def term(i):
            t = element(i)
            for _ in range(draw.randrange(1, 4)):
                t = draw.choice([lambda a, b: a * b, lambda a, b: a + sin(b), lambda a, b: sin(a) - b])(
                    t, element(i)
                )
            return t

        if draw.random() < 0.5:
            return total(N - 1, lambda i: term(i))
        return total(N - 1, lambda i: total(N - 1, lambda j: term(j) * element(i)))

    functions = [fn([V, V, V], Real, body) for _ in range(2)]

    def inner(x, y, z):
        args = [draw.choice([x, y, z]) for _ in range(3)]
        return functions[0](x, y, z) + sin(functions[draw.randrange(2)](*args))

    functions.append(fn([V, V, V], Real, inner))

    def outer(m, x):
        known = [m[0], m[1], x, vec(N, Real, lambda i: 0.3 * m[2][i])]
        result = 0.0
        for _ in range(3):
            result = result + sin(draw.choice(functions)(*(draw.choice(known) for _ in range(3))))
        return result * fori(
            2, Real, 0.5, lambda k, s: sin(s * functions[2](m[k], draw.choice(known), m[k])) + x[k]
        )

    f = fn([Vec(3, V), V], Real, outer)
    same(grad(f, (0, 1)), numbers(draw, [3, N]), numbers(draw, [N]))
