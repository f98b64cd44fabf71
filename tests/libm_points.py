"""Where functions are tested: at all magnitudes, where they are used, and where algorithms change course."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterable, Iterator
from itertools import product
from math import exp, inf, log, nan, nextafter, pi, sqrt

from op_cases import LARGEST, NORMAL, SPECIAL, SUBNORMAL

USUAL = {
    "sin": (-9.0, 9.0),
    "cos": (-9.0, 9.0),
    "sinh": (-3.0, 3.0),
    "cosh": (-3.0, 3.0),
    "tanh": (-3.0, 3.0),
    "exp": (-5.0, 5.0),
    "expm1": (-2.0, 2.0),
    "log": (0.0, 20.0),
    "log1p": (-1.0, 9.0),
    "log2": (0.0, 20.0),
    "log10": (0.0, 20.0),
    "cbrt": (-9.0, 9.0),
}
"""Arguments of every day."""

_STEPS = [k * log(2) / 128 for k in range(300)]
_CENTERS = [1.0, 177 / 256, 177 / 128, *(1 + k / 128 for k in range(-45, 130))]
_ANGLES = [0.78, 2.0**18, 6381956970095103 * 2.0**797, *(k * pi / 4 for k in range(1, 40))]
_ANGLES += [k * 2.0**j * pi / 2 for k in (1, 3, 5, 7) for j in range(0, 1020, 9)]
TRIPS = {
    "sin": _ANGLES,
    "cos": _ANGLES,
    "sinh": [22.0, 710.4758600739439, *_STEPS],
    "cosh": [22.0, 710.4758600739439, *_STEPS],
    "tanh": [0.625, 22.0, *_STEPS],
    "exp": [708.0, 709.782712893384, -708.3964185322641, -745.1332191019412, *_STEPS],
    "expm1": [40.0, -40.0, 709.782712893384, *_STEPS],
    "log": [*_CENTERS, *(exp(k) for k in range(-700, 700, 9))],
    "log1p": [x - 1 for x in _CENTERS],
    "log2": [*_CENTERS, *(2.0**k for k in range(-1074, 1024, 7))],
    "log10": [*_CENTERS, *(float(10**k) for k in range(23))],
    "cbrt": [float(k**3) for k in range(-30, 30)],
}
"""Where something ends or begins, like a step of a table."""


def doubles(rng: random.Random, count: int) -> Iterator[float]:
    """Any double is as likely as any other."""
    for _ in range(count):
        yield struct.unpack("<d", rng.randbytes(8))[0]


def near(rng: random.Random, xs: Iterable[float]) -> Iterator[float]:
    """Neighbours of numbers: the next ones, and some at every distance."""
    for x in xs:
        yield from (x, nextafter(x, inf), nextafter(x, -inf))
        yield x * (1 + rng.uniform(-1, 1) * 2.0 ** -rng.randrange(4, 53))


def points(name: str, count: int) -> list[float]:
    """About ``count`` arguments of each kind for a function of one number, always the same ones."""
    rng = random.Random(name)
    low, high = USUAL[name]
    xs = [0.0, SUBNORMAL, NORMAL, nextafter(NORMAL, 0), LARGEST, inf, nan]
    xs += doubles(rng, count // 2)
    xs += (rng.choice((-1, 1)) * 2 ** rng.uniform(-60, 11) for _ in range(count))
    xs += (1 + rng.choice((-1, 1)) * 2 ** rng.uniform(-53, -3) for _ in range(count))
    xs += (rng.uniform(low, high) for _ in range(count))
    xs += near(rng, TRIPS[name])
    return xs + [-x for x in xs[::3]]


def powers(count: int) -> list[tuple[float, float]]:
    """Bases and exponents: of every day, whole ones, and powers of all sizes, those of bases near 1, too."""
    rng = random.Random("powers")
    found = list(zip(doubles(rng, count // 4), doubles(rng, count // 4), strict=True))
    for _ in range(count):
        found.append((rng.uniform(0, 5), rng.uniform(-5, 5)))
        found.append((rng.choice((-1, 1)) * rng.uniform(0, 9), float(rng.randrange(-60, 60))))
        base = rng.choice((2.0 ** rng.uniform(-1074, 1023), exp(rng.uniform(-0.04, 0.04))))
        base = rng.choice((base, 1 + rng.choice((-1, 1)) * 2.0 ** -rng.uniform(1, 50)))
        if base != 1:  # and powers up to both ends of the range
            found.append((base, rng.choice((-1, 1)) * rng.uniform(600, 746) / abs(log(base))))
            found.append((base, rng.uniform(-600, 600) / log(base)))
    for c in near(rng, _CENTERS):
        found.append((c * 2.0 ** rng.randrange(-9, 9), rng.uniform(-90, 90)))
    for x in near(rng, [exp(p) for p in (-745.13, -708.4, -707, 707, 709.78)]):
        found += [(x, rng.choice((1.0, nextafter(1, 0), nextafter(1, 2)))), (sqrt(x), 2.0)]
    return [*found, *product(SPECIAL, repeat=2)]


def pairs(count: int) -> list[tuple[float, float]]:
    """Pairs of arguments: of any size, of similar sizes, and the small triangles of whole sides."""
    rng = random.Random("pairs")
    found = list(zip(doubles(rng, count // 4), doubles(rng, count // 4), strict=True))
    for _ in range(count):
        size = 2.0 ** rng.choice((rng.randrange(-1074, 1023), rng.randrange(-5, 5)))
        found.append((size * rng.uniform(-1, 1), size * rng.uniform(-1, 1) * 2.0 ** -rng.randrange(60)))
    for j in range(1, 64):  # where a table of slopes changes its entry
        found += [(y * rng.choice((-1, 1)), rng.choice((-1.0, 1.0))) for y in near(rng, [j / 64])]
    return found + [(float(a), float(b)) for a in range(20) for b in range(20)]
