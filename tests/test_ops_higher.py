"""Second and third derivatives of every op: all mixes of forward and reverse mode against exact ones."""

from __future__ import annotations

from itertools import product

import pytest
from op_cases import REAL_OPS, case, mp
from op_programs import gradient, interpreted, run
from random_programs import duals, flat, like

from rose_core import Real, fn, jvp

TOLERANCE = 1e-12
"""Relative to the sum of the absolute values of a directional derivative's terms."""

NOISE = 1e-50
"""What is left of the exact derivatives' own differences where they are zero."""


class Directional:
    """The derivative of a scalar function along given directions, one after another, in either mode.

    ``result`` is the number ``⟨weights, f(args)⟩``. Forward mode makes of it its tangent; reverse mode
    the inner product of its gradient with the direction. Either is a function of such a form again.
    """

    def __init__(self, f, args, weights=1.0, place=lambda d: d):
        self.f, self.args, self.weights = f, args, weights
        self.place = place
        """From a direction in the first function's arguments to one in this one's."""

    def along(self, mode, d):
        d = self.place(d)
        if mode == "F":
            weights = duals(zeros(self.weights), self.weights)
            return Directional(jvp(self.f), list(map(duals, self.args, d)), weights, self._place_forward)
        weights = {f"x{k}": x for k, x in enumerate(d)}
        return Directional(gradient(self.f), [*self.args, self.weights], weights, self._place_reverse)

    def _place_forward(self, d):
        d = self.place(d)
        return list(map(duals, d, zeros(d)))

    def _place_reverse(self, d):
        return [*self.place(d), zeros(self.weights)]

    def result(self, call):
        return sum(p * q for p, q in zip(flat(call(self.f, *self.args)), flat(self.weights), strict=True))


def zeros(x):
    return like(x, [0.0] * len(flat(x)))


def exact(c, x, directions):
    """The derivative of that order along the directions, and the sum of its terms' absolute values."""
    terms = []
    for ks in product(range(c.arity), repeat=len(directions)):
        orders = tuple(ks.count(k) for k in range(c.arity))
        partial = mp.diff(c.exact, tuple(map(mp.mpf, x)), orders)
        terms.append(partial * mp.fprod(d[k] for k, d in zip(ks, directions, strict=True)))
    return float(mp.fsum(terms)), float(mp.fsum(map(abs, terms)))


def check(c, x, modes):
    directions = [list(d) for d in c.random_points(len(modes), modes)]
    derivative = Directional(fn([Real] * c.arity, Real, c.call), x)
    for mode, d in zip(modes, directions, strict=True):
        derivative = derivative.along(mode, d)
    got = derivative.result(run if len(modes) == 2 else interpreted)
    expected, scale = exact(c, x, directions)
    assert abs(got - expected) <= TOLERANCE * scale + NOISE, f"{got}, expected {expected}"


MODES = ["".join(modes) for order in (2, 3) for modes in product("FR", repeat=order)]
"""The first letter is the mode that is applied first."""

REVERSE_OVER_FORWARD = [modes for modes in MODES if "F" in modes and "R" in modes[modes.find("F") :]]


@pytest.mark.parametrize("modes", [modes for modes in MODES if modes not in REVERSE_OVER_FORWARD])
@pytest.mark.parametrize("name", REAL_OPS)
def test_all_modes_agree(name, modes):
    (x,) = case(name).random_points(1, f"at {modes}")
    check(case(name), list(x), modes)


def test_reverse_over_forward():
    for name, modes in product(REAL_OPS, REVERSE_OVER_FORWARD):
        test_all_modes_agree(name, modes)


POINTS = {
    "mul": [(0, 0)],
    "div": [(0, 2)],
    "tan": [(0,), (1.5,)],
    "asin": [(0,), (1 - 2**-20,)],
    "acos": [(0,), (2**-20 - 1,)],
    "atan": [(0,), (30,)],
    "sinh": [(0,), (20,)],
    "cosh": [(0,), (-20,)],
    "tanh": [(0,), (20,), (-20,)],
    "exp": [(0,), (-40,)],
    "expm1": [(0,), (-40,)],
    "log1p": [(0,), (2**-20 - 1,)],
    "cbrt": [(-8,)],
    "atan2": [(0, 1), (1, 0), (-1, 0), (-1, -2)],
    "hypot": [(0, 1), (-1, 0), (3, -4)],
    "pow": [(2, 2), (2, 3), (0.5, -1), (1, 2), (3, 0.5)],
}
"""Points where a formula may have to choose, or lose digits."""


@pytest.mark.parametrize("modes", ["FF", "RF", "RR", "FFF", "RRR"])
@pytest.mark.parametrize("name", POINTS)
def test_special_points(name, modes):
    for x in POINTS[name]:
        check(case(name), list(map(float, x)), modes)


@pytest.mark.parametrize(("exponent", "modes"), [(0.0, "FF"), (0.0, "RR"), (1.0, "FFF"), (1.0, "RRR")])
def test_power_at_a_small_exponent(exponent, modes):
    check(case("pow"), [2.0, exponent], modes)
