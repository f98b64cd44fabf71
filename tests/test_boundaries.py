"""The table of `DERIVATIVES.md`: what is given where there is no derivative."""

from __future__ import annotations

import builtins
import math
from itertools import product
from pathlib import Path

import pytest
from engines import same

from rose_core import Real, Vec, abs, cond, eq, expr, fn, grad, hessian, jacobian, select, sqrt, sum

TABLE = Path(__file__).parent.parent / "DERIVATIVES.md"

NUMBERS = {
    "NaN": math.nan,
    "∞": math.inf,
    "-∞": -math.inf,
    "π": math.pi,
    "π/2": math.pi / 2,
    "log 2": math.log(2),
    "log² 2": math.log(2) ** 2,
}


def number(text: str) -> float:
    return NUMBERS[text] if text in NUMBERS else float(text)


def numbers(text: str) -> list[float]:
    return [number(part.strip()) for part in text.split(",")]


def rows() -> list[tuple[str, str, str, str, str]]:
    found = []
    for line in TABLE.read_text("utf-8").splitlines():
        if line.startswith("| `"):
            text, at, value, gradient, second, _ = (cell.strip() for cell in line[1:-1].split("|"))
            found.append((text.strip("`"), at, value, gradient, second))
    return found


def test_the_table_is_read() -> None:
    assert len(rows()) > 30


def equal(a: float, b: float) -> bool:
    return a == pytest.approx(b, rel=1e-15, nan_ok=True)


@pytest.mark.parametrize(("text", "at", "value", "gradient", "second"), rows())
def test_row(text: str, at: str, value: str, gradient: str, second: str) -> None:
    x = numbers(at)
    written = expr(text, ["x", "y"][: len(x)])
    f = fn([Vec(len(x), Real)], Real, lambda v: written(*v))
    assert equal(same(f, x), number(value))
    assert all(map(equal, same(grad(f), x), numbers(gradient)))
    forward = same(jacobian(f, mode="forward"), x)
    for a, b in zip(forward, numbers(gradient), strict=True):
        assert equal(a, b) or math.isnan(a)
    expected = [numbers(row) for row in second.split(";")]
    assert all(all(map(equal, a, b)) for a, b in zip(same(hessian(f), x), expected, strict=True))
    for inner, outer in product(["forward", "reverse"], repeat=2):
        found = same(jacobian(jacobian(f, mode=inner), mode=outer), x)
        for a, b in zip(flat(found), flat(expected), strict=True):
            assert equal(a, b) or math.isnan(a) or math.isnan(b), (inner, outer, found)


def flat(rows: list[list[float]]) -> list[float]:
    return [x for row in rows for x in row]


def test_what_is_not_chosen() -> None:
    """Choosing between values is no protection; choosing between sides is, and choosing an argument."""
    for f, expected in (
        (lambda x: select(x > 0, sqrt(x), 0.0), math.nan),
        (lambda x: cond(x > 0, Real, lambda: sqrt(x), lambda: 0.0), 0.0),
        (lambda x: select(x > 0, sqrt(select(x > 0, x, 1.0)), 0.0), 0.0),
    ):
        found = same(grad(fn([Real], Real, f)), 0.0)
        assert found == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("n", [3, 9])
def test_data_that_are_missing(n: int) -> None:
    """Of a fit by absolute differences, in iterations one by one and side by side."""
    data = [math.nan, -math.nan, -math.inf, math.inf, -0.0, 5.0, math.nan, -5e-324, 0.0][:n]

    def distance(x: object, d: object) -> object:
        return sum(n, lambda i: select(eq(d[i], d[i]), abs(d[i] - x), 0.0))

    f = fn([Real, Vec(n, Real)], Real, distance)
    slopes = [0, 0, -1, 1, -1, 1, 0, -1, 1][:n]
    assert same(grad(f, 1), 0.0, data) == slopes
    assert same(grad(f), 0.0, data) == -builtins.sum(slopes)
    assert same(jacobian(f, mode="forward"), 0.0, data) == -builtins.sum(slopes)
