"""Sums and vectors that a function has twice are computed once: every value to the bit."""

from __future__ import annotations

import math

import pytest
from engines import same

from rose_core import Real, Vec, exp, fn, interp, real, sqrt, value_and_grad, vec
from rose_core import sum as total
from rose_core.derivatives.expand import Expansion
from rose_core.language.demand import Demand
from rose_core.language.flatten import flatten
from rose_core.language.ir import GET, RESOLVE
from rose_core.language.parse import parse
from rose_core.optimise import hoist
from rose_core.optimise.numbering import numbered

M, N = 6, 5
V, A = Vec(N, Real), Vec(M, Vec(N, Real))


def mean(a):
    return lambda j: total(M, lambda i: a[i][j]) / M


def variances(x, a):
    """Of columns, with the mean of a column wherever one of its elements is."""
    m = mean(a)
    return total(M, lambda i: total(N, lambda j: (a[i][j] - m(j)) * (a[i][j] - m(j)) * x[j]))


def covariances(x, a):
    m = mean(a)
    s = vec(N, V, lambda j: vec(N, Real, lambda k: total(M, lambda i: (a[i][j] - m(j)) * (a[i][k] - m(k)))))
    return total(N, lambda j: s[j][j] * x[j])


def norm(x):
    return sqrt(total(N, lambda i: x[i] * x[i]))


def of_shares(x, a):
    """Of vectors that are made twice."""
    shares = lambda: vec(N, Real, lambda i: exp(x[i]))  # noqa: E731
    u, v = shares(), shares()
    return total(N, lambda i: u[i] * v[N - 1]) * u[0]


def of_sums_of_sums(x, a):
    """The second is the same as the first once what it is of is the same."""
    s = lambda: total(N, lambda i: x[i] * norm(x))  # noqa: E731
    t = lambda: total(N, lambda i: x[i] / (1 + s()))  # noqa: E731
    return t() - t() * t()


def of_others(x, a):
    """Sums of other numbers of iterations, other elements, and other functions of them."""
    parts = [total(N, lambda i: x[i]), total(N - 1, lambda i: x[i + 0]), total(M, lambda i: a[i][0])]
    parts += [total(N, lambda i: a[0][i]), *(total(k, lambda i: real(i) * 0.1) for k in (M, N))]
    return sum((p * (k + 1) for k, p in enumerate(parts)), 0.0) * x[0]


def of_all_or_one(x, a):
    """Of each number of a vector, and of one number so many times."""
    y = lambda i: 2 * x[i]  # noqa: E731
    z = vec(N, Real, y)
    s = total(N, y)

    def of_one(i):
        one, several = vec(N, Real, lambda _: y(i)), total(N, lambda _: y(i))
        parts = (lambda k: z[k], lambda k: one[k], lambda k: s, lambda k: several)
        sums = [total(N, lambda k, part=part: part(k) * x[i] * a[0][k]) for part in parts]
        return sums[0] + 3 * sums[1] + 5 * sums[2] + 7 * sums[3]

    return total(N, of_one)


PROGRAMS = {
    variances: (3, 1),
    covariances: (4, 5),
    lambda x, a: x[0] / norm(x) + x[1] / norm(x) * norm(a[0]): (2, 0),
    of_shares: (1, 1),
    of_sums_of_sums: (3, 0),
    of_others: (6, 0),
    of_all_or_one: (7, 2),
}
"""Programs, how many sums are in what they become, and how many vectors."""


@pytest.mark.parametrize("body", PROGRAMS)
def test_sums_and_vectors(body, monkeypatch) -> None:
    def made():
        return value_and_grad(fn([V, A], Real, body), [0, 1])

    args = [math.sin(k + 0.5) for k in range(N)], [[math.cos(i * k) for k in range(N)] for i in range(M)]
    root = Expansion(fn([V, A], Real, body).func).root
    uses = Demand(root).uses
    needed = [ins[0] for v, ins in enumerate(root.code) if uses[v]]
    assert (needed.count(RESOLVE), needed.count(GET)) == PROGRAMS[body]
    found = same(made(), *args)
    monkeypatch.setattr(hoist, "numbered", lambda f: f)
    monkeypatch.setattr(hoist, "_hoisted", lambda f: f)
    plain = interp(made())(*args)
    assert repr(plain.value) == repr(found.value)
    for k in "01":
        assert flat(found.grad[k]) == pytest.approx(flat(plain.grad[k]), rel=1e-12)


VECTOR, ZEROS = f"[{N}]Real", f"[for _: {N}, 0.0]"
OTHERS = {
    "sums of two values each": (
        "Real",
        "0.0",
        "let _ = a += x[i] in a += y[i]",
        "let _ = a += y[i] in a += y[i]",
    ),
    "elements": (VECTOR, ZEROS, "let r = &a[i] in r += x[i]", "let r = &a[i] in r += y[i]"),
    "what functions add": ("Real", "0.0", "once(a, x[i])", "twice(a, x[i])"),
}


@pytest.mark.parametrize(("t", "start", "one", "other"), OTHERS.values(), ids=OTHERS)
def test_accumulators_that_get_others_are_left(t: str, start: str, one: str, other: str) -> None:
    source = f"""
        def once(r: &Real, x: Real): () = r += x

        def twice(r: &Real, x: Real): () = let _ = r += x in r += x

        def f(x: [{N}]Real, y: [{N}]Real): (({t}, [{N}]()), ({t}, [{N}]())) =
          let p: ({t}, [{N}]()) = accum a from {start} in [for i: {N}, {one}] in
          let q: ({t}, [{N}]()) = accum a from {start} in [for i: {N}, {other}] in
          (p, q)"""
    f = flatten(parse(source)["f"])
    assert len({*numbered(f).results}) == 2


def flat(x):
    return [y for row in x for y in flat(row)] if isinstance(x, list) else [x]
