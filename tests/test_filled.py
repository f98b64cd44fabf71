"""Cotangents of elements that a loop replaces are set, where they would be cleared and then added to."""

from __future__ import annotations

import pytest
from differences import assert_derivatives, gradient
from engines import same
from random_programs import flat
from random_recurrences import Recurrence
from test_carried import V, X, gradient_of

from rose_core import Real, compile, fn, fori, iadd, inspect, min, sin, struct, sum
from rose_core.derivatives import settled

N = 9
"""As many as there are in `X`."""


def rows(x):
    """Dynamic programming: a row of a table after the other, in place."""

    def row(i, before):
        def column(j, s):
            above = s["row"][iadd(N, j, 1)]
            found = min(above + 0.4, s["left"] + 0.3) * 0.9 + sin(s["diagonal"] + x[i] * x[j])
            return {"row": s["row"].set(iadd(N, j, 1), found), "left": found, "diagonal": above}

        t = struct({"row": V, "left": Real, "diagonal": Real})
        return fori(N - 1, t, {"row": before, "left": x[i], "diagonal": before[0]}, column)["row"]

    return sum(fori(N, V, x, row))


def other_elements(x):
    """Something is added to other elements before."""
    y = fori(N - 1, V, x, lambda i, x: x.set(i, x[0] * x[iadd(N, i, 1)] + sin(x[i]) * x[8]))
    return sum(N, lambda k: y[k] * y[k])


def cleared(body) -> int:
    """How many elements are cleared in the gradient of a function."""
    lines = inspect(gradient(fn([V], Real, body))).ir.splitlines()
    return len([line for line in lines if "= set(" in line and line.endswith(", 0.0) in")])


@pytest.mark.parametrize("body", [rows, other_elements])
def test_no_element_is_cleared(body, monkeypatch) -> None:
    assert cleared(body) == 0
    assert_derivatives(fn([V], Real, body), X)
    monkeypatch.setattr(settled, "filled", lambda f: f)
    assert cleared(body) == 1


@pytest.mark.parametrize("seeds", [range(k, k + 10) for k in range(500, 560, 10)], ids=str)
def test_random_recurrences(seeds, monkeypatch) -> None:
    for seed in seeds:
        args = Recurrence(seed).args()
        found = same(gradient_of(Recurrence(seed)), *args)
        with monkeypatch.context() as m:
            m.setattr(settled, "filled", lambda f: f)
            plain = compile(gradient_of(Recurrence(seed)))(*args)
        assert flat(found) == pytest.approx(flat(plain), rel=1e-11, abs=1e-11)
