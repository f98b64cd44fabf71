"""What every operation of the table should do, said without the compiler: the oracle of the op tests.

A `Case` holds an op's exact value and exact partial derivatives, as formulas for mpmath and tables of
special values after IEEE 754 and ECMAScript, and where the op is smooth. Nothing here is taken from
`language.reals` or from the rules of the table. A new op needs a case, or the tests fail by its name.
"""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import copysign, inf, isinf, isnan, nan, nextafter

import mpmath

import rose_core as rose
from rose_core.language.ops import OPS, Op
from rose_core.tracing.operations import operation

mp = mpmath.MPContext()
mp.prec = 200

SUBNORMAL, NORMAL, LARGEST = 5e-324, 2.0**-1022, nextafter(inf, 0)
"""The smallest subnormal, the smallest normal and the largest finite double."""

# -- exact numbers and doubles --------------------------------------------------------------------------


def rounded(x: object) -> float:
    """The double nearest to an mpf or a Fraction: one rounding, to even, of subnormals too."""
    if not isinstance(x, Fraction):
        if mp.isnan(x) or mp.isinf(x) or x == 0:
            return float(x)
        magnitude = int(mp.mag(x))
        if abs(magnitude) > 1200:  # far beyond the doubles
            return copysign(inf if magnitude > 0 else 0.0, mp.sign(x))
        mantissa, exponent = mp.frexp(x)
        shift = mp.prec + 10
        x = Fraction(int(mp.ldexp(mantissa, shift))) * Fraction(2) ** (exponent - shift)
    try:
        return float(x)
    except OverflowError:
        return inf if x > 0 else -inf


def bits(x: object) -> object:
    """What makes two results equal to the bit; NaNs of any sign and payload are one."""
    if isinstance(x, float):
        return "nan" if isnan(x) else struct.pack(">d", x)
    return x


def ulps(got: float, exact: float) -> float:
    """The distance from the exact result, in units of its last place; infinite for a wrong kind of result."""
    if bits(got) == bits(exact):
        return 0.0
    if isnan(got) or isnan(exact) or got == exact == 0:
        return inf
    difference = _as_fraction(got) - _as_fraction(exact)
    return float(abs(difference) / Fraction(math.ulp(min(abs(exact), LARGEST))))


def _as_fraction(x: float) -> Fraction:
    """The number, an infinity being what would come after the largest double."""
    return Fraction(x) if math.isfinite(x) else Fraction(2) ** 1024 * int(copysign(1, x))


def relative(got: float, exact: float) -> float:
    """The error relative to ``exact``, or to `NORMAL` where that is larger; zeros have no sign here."""
    if got == exact or (isnan(got) and isnan(exact)):
        return 0.0
    if not (math.isfinite(got) and math.isfinite(exact)):
        return inf
    return float(abs(Fraction(got) - Fraction(exact)) / Fraction(max(abs(exact), NORMAL)))


# -- points ---------------------------------------------------------------------------------------------


def _both_signs(xs: Iterable[float]) -> list[float]:
    return [y for x in xs for y in (x, -x)]


SPECIAL = [*_both_signs((0.0, SUBNORMAL, NORMAL, 1e-300, 0.5, 1.0, 2.0, 3.0, 1e300, LARGEST, inf)), nan]
"""What every operand of every op meets, in all combinations."""

_AROUND_ONE = [nextafter(1, 0), nextafter(1, 2), 1 - 1e-10, 1 + 1e-10]
_UNARY_POINTS = _both_signs([
    1e-310, 3e-308, 1e-200, 1e-20, 1e-10, 1e-5, 0.1, 0.25, 0.7, *_AROUND_ONE, 1.5, 2.5, 4.0, 10.0, 20.0, 22.5,
    37.0, 40.0, 100.0, 372.0, 700.0, 709.7, 709.8, 745.0, 746.0, 1e5, 1e15, 2.0**51 + 0.5, 2.0**52 - 0.5,
    2.0**52 + 1, 2.0**53, 1e16, 1e22, 1e100, 1e154, 1e155, 1e200, 1e308,
])  # fmt: skip
_BINARY_POINTS = list(product(_both_signs((1e-310, 1e-200, 1e-20, 0.3, 7.0, 1e20, 1e200)), repeat=2))


def _random_points(name: str, box: tuple[tuple[float, float], ...], count: int) -> list[tuple[float, ...]]:
    """Points in a box, always the same ones for an op."""
    rng = random.Random(name)
    return [tuple(rng.uniform(lo, hi) for lo, hi in box) for _ in range(count)]


# -- cases ----------------------------------------------------------------------------------------------

Number = object
"""An mpf."""


@dataclass(frozen=True)
class Case:
    """One op: its exact meaning, as far as tests need it."""

    name: str
    value: Callable[..., object]
    """The result on operands as they are, rounded to nearest."""
    ulps: float = 0
    """How far a function may be from that; 0 for what IEEE 754 defines exactly."""
    partials: tuple[Callable[..., Number], ...] = ()
    """The exact partial derivatives, of mpfs (or None); empty for an op without tangents."""
    smooth: Callable[..., bool] = lambda *x: True
    """The finite doubles where those formulas hold, and no intermediate result of a rule overflows."""
    box: tuple[tuple[float, float], ...] = ((-2, 2),)
    """Where the op is smooth and tame, so that differences mean something."""
    points: list[tuple[float, ...]] = field(default_factory=list)
    exact: Callable[..., Number] = mp.mpf
    """The op as a formula of mpfs, in its box."""
    derivative_error: Callable[..., float] = lambda *x: 0.0
    """What a derivative's relative error may be at a point, on top of the usual; see where it is given."""

    @property
    def op(self) -> Op:
        return next(op for op in OPS if op.name == self.name)

    @property
    def arity(self) -> int:
        return len(self.op.ins)

    @property
    def call(self) -> Callable[..., object]:
        """The op in the Python interface, on Reals (or Bools, or indices of type ``SIZE``)."""
        if self.name == "select":
            return lambda p, x, y: rose.select(p > 0.0, rose.Real, x, y)
        name = self.name + "_" * (self.name in ("and", "or", "not"))
        f = getattr(rose, name) if name in rose.__all__ else operation(name)
        if self.name == "imod":
            return lambda i, j: f(SIZE, i)
        if self.name == "idiv":
            return lambda i, j: f(SIZE, i, DIVISOR)
        return (lambda i, j: f(SIZE, i, j)) if "I" in self.op.ins else f

    def random_points(self, count: int, salt: str = "") -> list[tuple[float, ...]]:
        return _random_points(self.name + salt, self.box, count)


SIZE = 7
"""The index type in the tests of index operations."""

DIVISOR = 3
"""What indices are divided by in them; the operation takes a literal."""

CASES: dict[str, Case] = {}


def _add(case: Case) -> None:
    assert case.name not in CASES
    CASES[case.name] = case


# -- functions of one number ----------------------------------------------------------------------------

_ENDS = """
          0     -0    inf   -inf
sqrt      0     -0    inf    nan
sin       0     -0    nan    nan
cos       1      1    nan    nan
tan       0     -0    nan    nan
asin      0     -0    nan    nan
acos      *      *    nan    nan
atan      0     -0      *      *
sinh      0     -0    inf   -inf
cosh      1      1    inf    inf
tanh      0     -0      1     -1
exp       1      1    inf      0
expm1     0     -0    inf     -1
log    -inf   -inf    inf    nan
log1p     0     -0    inf    nan
log2   -inf   -inf    inf    nan
log10  -inf   -inf    inf    nan
cbrt      0     -0    inf   -inf
"""
"""ECMAScript's results at the ends of the line; a star where the formula gives it. NaN gives NaN."""


def table(text: str) -> dict[str, dict[object, float | None]]:
    """Rows of results under a row of operands, which are keyed by their bits; None for a star."""
    head, *rows = (line.split() for line in text.strip().splitlines())
    return {
        name: {bits(float(x)): None if y == "*" else float(y) for x, y in zip(head, row, strict=True)}
        for name, *row in rows
    }


def _cbrt(x):
    return mp.sign(x) * mp.cbrt(abs(x))


def _always(*x):
    return True


def _inside(x):
    return abs(x) < 1


def _positive(x):
    return x > 0


_FUNCTIONS = [
    ("sqrt", mp.sqrt, 0, _positive, lambda x: 1 / (2 * mp.sqrt(x)), (0.2, 4)),
    ("sin", mp.sin, 1, _always, mp.cos, (-3, 3)),
    ("cos", mp.cos, 1, _always, lambda x: -mp.sin(x), (-3, 3)),
    ("tan", mp.tan, 4, _always, lambda x: mp.sec(x) ** 2, (-1.2, 1.2)),
    ("asin", mp.asin, 4, _inside, lambda x: 1 / mp.sqrt((1 - x) * (1 + x)), (-0.8, 0.8)),
    ("acos", mp.acos, 4, _inside, lambda x: -1 / mp.sqrt((1 - x) * (1 + x)), (-0.8, 0.8)),
    ("atan", mp.atan, 4, _always, lambda x: 1 / (1 + x**2), (-3, 3)),
    ("sinh", mp.sinh, 1, _always, mp.cosh, (-2, 2)),
    ("cosh", mp.cosh, 1, _always, mp.sinh, (-2, 2)),
    ("tanh", mp.tanh, 1, _always, lambda x: mp.sech(x) ** 2, (-2, 2)),
    ("exp", mp.exp, 1, _always, mp.exp, (-2, 2)),
    ("expm1", mp.expm1, 1, _always, mp.exp, (-2, 2)),
    ("log", mp.log, 4, _positive, lambda x: 1 / x, (0.2, 4)),
    ("log1p", mp.log1p, 1, lambda x: x > -1, lambda x: 1 / (1 + x), (-0.7, 3)),
    ("log2", lambda x: mp.log(x) / mp.ln2, 1, _positive, lambda x: 1 / (x * mp.ln2), (0.2, 4)),
    ("log10", lambda x: mp.log(x) / mp.ln10, 1, _positive, lambda x: 1 / (x * mp.ln10), (0.2, 4)),
    ("cbrt", _cbrt, 1, lambda x: x != 0, lambda x: 1 / (3 * _cbrt(x) ** 2), (0.2, 4)),
]


def _function(
    name: str, exact: Callable[..., Number], inside: Callable[..., bool]
) -> Callable[[float], float]:
    """The value of a function of ``Math`` on any double."""
    ends = table(_ENDS)[name]
    borders = {("asin", 1.0), ("asin", -1.0), ("acos", 1.0), ("acos", -1.0)}

    def value(x: float) -> float:
        if isnan(x):
            return x
        if (name, x) == ("log1p", -1):
            return -inf
        end = ends.get(bits(x))
        if end is not None:
            return end
        return rounded(exact(mp.mpf(x))) if inside(x) or x == 0 or isinf(x) or (name, x) in borders else nan

    return value


for _name, _exact, _ulps, _smooth, _partial, _range in _FUNCTIONS:
    _points = [(x,) for x in [*SPECIAL, *_UNARY_POINTS]] + _random_points(_name, (_range,), 40)
    _value = _function(_name, _exact, _always if _name == "cbrt" else _smooth)
    _add(Case(_name, _value, _ulps, (_partial,), _smooth, (_range,), _points, _exact))


def _whole(to_int: Callable[[Fraction], int]) -> Callable[[float], float]:
    """Rounding to a whole number, which keeps the sign of what becomes zero."""
    return lambda x: copysign(rounded(Fraction(to_int(Fraction(x)))), x) if math.isfinite(x) else x


def _flip(x: float) -> float:
    """The number with its other sign bit."""
    return struct.unpack(">d", bytes([(b := struct.pack(">d", x))[0] ^ 0x80, *b[1:]]))[0]


def _sign_bit(x: float) -> int:
    return struct.pack(">d", x)[0] >> 7


def _zero(*x):
    return mp.zero


_STEPS = [
    ("neg", _flip, lambda x: -mp.one, _always, lambda x: -x),
    ("abs", lambda x: _flip(x) if _sign_bit(x) else x, mp.sign, lambda x: x != 0, abs),
    ("sign", lambda x: nan if isnan(x) else -1.0 if _sign_bit(x) else 1.0, _zero, _always, mp.sign),
    ("side", lambda x: -1.0 if _sign_bit(x) and not isnan(x) else 1.0, _zero, _always, mp.sign),
    ("ceil", _whole(math.ceil), _zero, _always, mp.ceil),
    ("floor", _whole(math.floor), _zero, _always, mp.floor),
    ("trunc", _whole(math.trunc), _zero, _always, mp.floor),
]
for _name, _value, _partial, _smooth, _exact in _STEPS:
    _range = (0.1, 0.9)
    _points = [(x,) for x in [*SPECIAL, *_UNARY_POINTS]] + _random_points(_name, ((-9, 9),), 20)
    _add(Case(_name, _value, 0, (_partial,), _smooth, (_range,), _points, _exact))

# -- functions of two numbers ---------------------------------------------------------------------------


def _ieee(name: str) -> Callable[[float, float], float]:
    """IEEE 754's four operations: the exact rational result, rounded once, and what is not a number."""

    def add(x: float, y: float) -> float:
        if isinf(x) or isinf(y):
            return nan if x == -y else x if isinf(x) else y
        if x == y == 0:
            return x if _sign_bit(x) == _sign_bit(y) else 0.0
        return rounded(Fraction(x) + Fraction(y))

    def mul(x: float, y: float) -> float:
        sign = -1.0 if _sign_bit(x) ^ _sign_bit(y) else 1.0
        if isinf(x) or isinf(y):
            return nan if x == 0 or y == 0 else copysign(inf, sign)
        return copysign(rounded(Fraction(x) * Fraction(y)), sign)

    def div(x: float, y: float) -> float:
        sign = -1.0 if _sign_bit(x) ^ _sign_bit(y) else 1.0
        if isinf(y):
            return nan if isinf(x) else copysign(0.0, sign)
        if isinf(x) or y == 0:
            return nan if x == 0 else copysign(inf, sign)
        return copysign(rounded(Fraction(x) / Fraction(y)), sign)

    def of_numbers(x: float, y: float) -> float:
        return nan if isnan(x) or isnan(y) else f(x, y)

    f = {"add": add, "sub": lambda x, y: add(x, _flip(y)), "mul": mul, "div": div}[name]
    return of_numbers


def _extreme(largest: bool) -> Callable[[float, float], float]:
    """Math.max, Math.min: NaN if either is; -0 comes before +0."""

    def value(x: float, y: float) -> float:
        if isnan(x) or isnan(y):
            return nan
        below, above = sorted((x, y), key=lambda z: (z, -_sign_bit(z)))
        return above if largest else below

    return value


def _is_odd(y: float) -> bool:
    return abs(y) < 2.0**53 and y == int(y) and int(y) % 2 == 1


def _pow(x: float, y: float) -> float:
    """Number::exponentiate of ECMAScript, case by case."""
    if isnan(y):
        return nan
    if y == 0:
        return 1.0
    if isnan(x):
        return nan
    if x == inf:
        return inf if y > 0 else 0.0
    if x == -inf:
        odd = not isinf(y) and _is_odd(y)
        return (-inf if odd else inf) if y > 0 else (-0.0 if odd else 0.0)
    if x == 0:
        odd = _sign_bit(x) and not isinf(y) and _is_odd(y)
        return (-0.0 if odd else 0.0) if y > 0 else (-inf if odd else inf)
    if isinf(y):
        if abs(x) == 1:
            return nan
        return inf if (abs(x) > 1) == (y > 0) else 0.0
    if x < 0 and y != int(y):
        return nan
    magnitude = rounded(mp.power(abs(mp.mpf(x)), mp.mpf(y)))
    return -magnitude if x < 0 and _is_odd(y) else magnitude


def _atan2(y: float, x: float) -> float:
    """Math.atan2 of ECMAScript: a zero and an infinity are directions too."""
    if isnan(x) or isnan(y):
        return nan
    if isinf(y) and isinf(x):
        return copysign(rounded(mp.pi / 4 if x > 0 else 3 * mp.pi / 4), y)
    if y == 0 or (isinf(x) and not isinf(y)):
        return copysign(rounded(mp.pi) if _sign_bit(x) else 0.0, y)
    if x == 0 or isinf(y):
        return copysign(rounded(mp.pi / 2), y)
    return rounded(mp.atan2(mp.mpf(y), mp.mpf(x)))


def _hypot(x: float, y: float) -> float:
    """Math.hypot of ECMAScript: an infinity wins over NaN."""
    if isinf(x) or isinf(y):
        return inf
    return nan if isnan(x) or isnan(y) else rounded(mp.hypot(mp.mpf(x), mp.mpf(y)))


def _pow_smooth(x: float, y: float) -> bool:
    """Not at subnormal bases, where x^(y-1) overflows; nor, for x < 0, where y - 1 may round to an even y."""
    return abs(x) >= NORMAL and (x > 0 or (y == int(y) and abs(y) <= 2.0**53))


def _pow_d0(x, y):
    return mp.zero if y == 0 else y * mp.power(x, y - 1)


def _pow_d1(x, y):
    """None for x < 0, where no power near ``y`` is real."""
    return mp.power(x, y) * mp.log(x) if x > 0 else None


def _pow_error(x: float, y: float) -> float:
    """The rounding of the exponent ``y - 1`` counts log x times; so it does in any pow(x, y - 1)."""
    return abs(math.log(abs(x))) * math.ulp(y - 1) if x and y != 1 else 0.0


def _differ(x: float, y: float) -> bool:
    return x != y


def _divides(x: float, y: float) -> bool:
    """Not at subnormal divisors, whose reciprocal overflows."""
    return abs(y) >= NORMAL


def _away(x: float, y: float) -> bool:
    """Not at the origin, nor where the radius is subnormal (and has few digits) or overflows."""
    return NORMAL <= _hypot(x, y) <= LARGEST


def _r2(x, y):
    return x**2 + y**2


_BINARY = [
    ("add", _ieee("add"), 0, (lambda x, y: mp.one, lambda x, y: mp.one), None, lambda x, y: x + y),
    ("sub", _ieee("sub"), 0, (lambda x, y: mp.one, lambda x, y: -mp.one), None, lambda x, y: x - y),
    ("mul", _ieee("mul"), 0, (lambda x, y: y, lambda x, y: x), None, lambda x, y: x * y),
    ("div", _ieee("div"), 0, (lambda x, y: 1 / y, lambda x, y: -x / y**2), _divides, lambda x, y: x / y),
    ("min", _extreme(False), 0, (lambda x, y: mp.mpf(x < y), lambda x, y: mp.mpf(y < x)), _differ, min),
    ("max", _extreme(True), 0, (lambda x, y: mp.mpf(x > y), lambda x, y: mp.mpf(y > x)), _differ, max),
    ("pow", _pow, 1, (_pow_d0, _pow_d1), _pow_smooth, mp.power),
    ("atan2", _atan2, 1, (lambda y, x: x / _r2(x, y), lambda y, x: -y / _r2(x, y)), _away, mp.atan2),
    ("hypot", _hypot, 1, (lambda x, y: x / mp.hypot(x, y), lambda x, y: y / mp.hypot(x, y)), _away, mp.hypot),
]  # fmt: skip
_BOXES = {"min": ((0.3, 1.0), (1.2, 2.0)), "max": ((0.3, 1.0), (1.2, 2.0))}
_POW_POINTS = [
    *product((-2, -1.5, -1, -0.1, 0.1, 0.9, 1.1, 30), (-7, -3, -2, -1, 0, 1, 2, 3, 4, 53)),
    (1 + 1e-10, 1e12), (1 - 1e-10, -1e12), (1.0000001, 1e9), (0.999999, 2.0**30 + 1),
    (-1 - 1e-10, 2.0**40 + 1), (1e-5, -60.5), (1e300, 0.1), (1e-300, 0.7), (-1, 2.0**53), (-1, 2.0**53 - 1),
    (-2, 1023), (-2, -1073), (2, 1e-20), (3, 1e-300), (10, 308), (10, -308), (-0.5, 1e300),
]  # fmt: skip
for _name, _value, _ulps, _partials, _smooth2, _exact in _BINARY:
    _points = [*product(SPECIAL, repeat=2), *_BINARY_POINTS, *_random_points(_name, ((-9, 9), (-9, 9)), 30)]
    _box = _BOXES.get(_name, ((0.3, 2.5), (0.4, 2.0)))
    _more = {}
    if _name == "pow":
        _points += [(float(x), float(y)) for x, y in _POW_POINTS] + _random_points(
            "pow", ((0, 20), (-9, 9)), 60
        )
        _more = {"derivative_error": _pow_error}
    _add(Case(_name, _value, _ulps, _partials, _smooth2 or _always, _box, _points, _exact, **_more))

# -- comparisons, choices, Bools and indices ------------------------------------------------------------


def _order(holds: str, on_nan: bool = False) -> Callable[[float, float], bool]:
    """A comparison that holds for the signs of x - y in ``holds``: some of ``<=>``."""

    def value(x: float, y: float) -> bool:
        if isnan(x) or isnan(y):
            return on_nan
        a, b = map(_as_fraction, (x, y))
        return ("<" if a < b else "=" if a == b else ">") in holds

    return value


_pairs = [*product(SPECIAL, repeat=2), *((x, y) for x in _UNARY_POINTS for y in (x, nextafter(x, inf)))]
for _name, _holds in {"neq": "<>", "lt": "<", "leq": "<=", "eq": "=", "gt": ">", "geq": ">="}.items():
    _add(Case(_name, _order(_holds, _name == "neq"), points=_pairs))

_add(Case(
    "select", lambda p, x, y: x if p > 0 else y, 0,
    (_zero, lambda p, x, y: mp.mpf(p > 0), lambda p, x, y: mp.mpf(p <= 0)), lambda p, x, y: p != 0,
    ((0.5, 1), (-2, 2), (-2, 2)), [(p, x, y) for p in (1.0, -1.0) for x, y in product(SPECIAL, repeat=2)],
    lambda p, x, y: x if p > 0 else y,
))  # fmt: skip

_TRUTH = {"not": "10", "and": "0001", "or": "0111", "iff": "1001", "xor": "0110"}
"""Results for all operands in the order of counting, False first."""
for _name, _results in _TRUTH.items():
    _all = list(product((False, True), repeat=1 if _name == "not" else 2))
    _truth = {x: r == "1" for x, r in zip(_all, _results, strict=True)}
    _add(Case(_name, lambda *x, _truth=_truth: _truth[x], points=_all))

_INDICES = {
    "iadd": lambda i, j: len([*range(i), *range(j)]),
    "isub": lambda i, j: len(range(j, i)),
    "imul": lambda i, j: len([*product(range(i), range(j))]),
    "imin": lambda i, j: sorted((i, j))[0],
    "imax": lambda i, j: sorted((i, j))[1],
    "imod": lambda i, j: next(r for r in range(SIZE) if any(q * SIZE + r == i for q in range(i + 1))),
    "idiv": lambda i, j: len(range(DIVISOR, i + 1, DIVISOR)),
    "ineq": lambda i, j: i not in (j,),
    "ilt": lambda i, j: i in range(j),
    "ileq": lambda i, j: i in range(j + 1),
    "ieq": lambda i, j: i in (j,),
    "igt": lambda i, j: j in range(i),
    "igeq": lambda i, j: j in range(i + 1),
}
for _name, _value in _INDICES.items():
    _points = list(product(range(SIZE), repeat=2))
    if _name in ("iadd", "isub", "imul"):  # tests/test_indices.py has what is out of range
        _points = [
            (i, j) for i, j in _points if {"iadd": i + j, "isub": i - j, "imul": i * j}[_name] in range(SIZE)
        ]
    _add(Case(_name, _value, points=_points))

CONVERSIONS = {"real", "bound", "narrow", "index", "defined"}
"""What is between indices and numbers, or fails: tests/test_indices.py, tests/test_roots.py."""

OP_NAMES = [op.name for op in OPS if op.name not in CONVERSIONS]
REAL_OPS = [op.name for op in OPS if op.jvp is not None and op.name not in CONVERSIONS]
"""The ops with a tangent, be it zero everywhere."""


def case(name: str) -> Case:
    """The case of an op; an op without one fails the test that asks."""
    assert name in CASES, f"tests/op_cases.py has no case for the op {name!r}"
    return CASES[name]
