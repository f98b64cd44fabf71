"""Random loops over ranges, told from comparisons: the same as loops over all indices."""

from __future__ import annotations

from itertools import product

import pytest
from engines import same
from random_programs import flat
from random_ranges import N, Ranges, V

from rose_core import (
    Real,
    compile,
    cond,
    fn,
    fori,
    iadd,
    igeq,
    igt,
    ileq,
    ilt,
    imin,
    interp,
    isub,
    real,
    sin,
    struct,
    sum,
    vjp,
)
from rose_core.derivatives import expand
from rose_core.optimise import inline


def gradient(f):
    """That of a sum of all that ``f`` gives, by all that are numbers."""
    types = f.func.param_types

    def total(*args):
        last = f(*args)
        rows = sum(N, lambda i: sum(N, lambda j: last.m[i][j] * sin(real(i) + 2.0 * real(j))))
        return rows + sum(N, lambda i: last.x[i] * (1.0 + real(i))) + 1.3 * last.s

    g = fn(types, Real, total)
    fields = dict(zip("xyms", types, strict=False))
    return fn(types, struct(fields), lambda *args: dict(zip(fields, vjp(g)(*args).grad(1.0), strict=False)))


@pytest.mark.parametrize("seeds", [range(k, k + 40) for k in range(0, 160, 40)], ids=str)
def test_ranges(monkeypatch, seeds) -> None:
    monkeypatch.setattr(inline, "MOST_TRIPS", 0)  # loops stay
    found = {}
    for seed in seeds:
        ranges = Ranges(seed)
        all_args = [ranges.args(k) for k in range(3)]
        values = [same(ranges.function, *args) for args in all_args]
        slopes = [compile(gradient(ranges.function))(*args) for args in all_args] if seed % 4 == 0 else []
        found[seed] = all_args, values, slopes
    for name in ("bounded", "guarded"):
        monkeypatch.setattr(expand, name, lambda f: f)
    for seed, (all_args, values, slopes) in found.items():
        f = Ranges(seed).function
        plain = interp(f)
        assert repr([plain(*args) for args in all_args]) == repr(values)
        if slopes:
            plain = interp(gradient(f))
            expected = [flat(plain(*args)) for args in all_args]
            assert [*map(flat, slopes)] == [pytest.approx(x, rel=1e-11, abs=1e-12) for x in expected]


BOUNDS = {
    "after": lambda i, k, j: igt(99, i, k),
    "from": lambda i, k, j: igeq(99, i, k),
    "before": lambda i, k, j: ilt(99, i, k),
    "up to": lambda i, k, j: ileq(99, i, k),
    "after what moves with another one": lambda i, k, j: igt(99, iadd(99, i, j), k),
    "before what moves with another one": lambda i, k, j: ilt(99, i, iadd(99, k, j)),
    "up to where they meet": lambda i, k, j: igeq(99, isub(99, iadd(99, k, j), imin(99, i, j)), i),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_an_element_by_which_the_range_is_bounded(monkeypatch, name) -> None:
    """It is read ahead of the loop only if no iteration changes it."""
    monkeypatch.setattr(inline, "MOST_TRIPS", 0)

    def iteration(x, i, k, j):
        return cond(BOUNDS[name](i, k, j), V, lambda: x.set(i, x[k] * 0.5 + 1.0), lambda: x)

    f = fn([V, N, N], V, lambda x, k, j: fori(N, V, x, lambda i, x: iteration(x, i, k, j)))
    compiled = compile(f)
    monkeypatch.setattr(expand, "bounded", lambda f: f)
    plain = compile(f)
    x = [1.0 + 0.1 * k for k in range(N)]
    for k, j in product(range(N), repeat=2):
        assert compiled(x, k, j) == plain(x, k, j)
