"""Computes what `rose_core.libm` knows of numbers: ``python -m tests.libm.constants`` prints its module."""

from __future__ import annotations

import struct
import textwrap
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from tests.libm.fit import fit, mp, parts

HEAD = '''"""Coefficients and tables of this package, made by `python -m tests.libm.constants`."""

'''

Number = Any
"""An mpf."""

STEPS = 64
"""Entries of a table: steps between powers of 2, and of a mantissa."""


DIGITS = 42
"""How many of 2/π, of 28 bits each, the largest angles need."""


def quotient(
    f: Callable[[Number], Number], subtract: Sequence[object], power: int
) -> Callable[[Number], Number]:
    """(f(x) - Σ subtract[k]·x^k) / x^power: what is left of a function after its first terms."""

    def rest(x: Number) -> Number:
        with mp.workdps(300):  # near 0 the difference loses most of them
            x = x or mp.mpf(2) ** -80
            return (f(x) - mp.fsum(mp.mpf(c) * x**k for k, c in enumerate(subtract))) / x**power

    return rest


def squared(f: Callable[[Number], Number]) -> Callable[[Number], Number]:
    """An even function as one of x²."""
    return lambda z: f(mp.sqrt(z))


def bits(x: float) -> int:
    return int(struct.unpack("<q", struct.pack("<d", x))[0])


def to_places(x: Number, places: int) -> list[float]:
    """A multiple of 2^-places, and what is missing."""
    high = mp.ldexp(mp.nint(mp.ldexp(x, places)), -places)
    return [float(high), float(x - high)]


def exponential() -> dict[str, object]:
    step = mp.ln2 / STEPS
    powers = [mp.mpf(2) ** (mp.mpf(j) / STEPS) for j in range(STEPS)]
    high, low = parts(step, 34)
    return {
        "PER_STEP": float(1 / step),
        "STEP_HIGH": high,
        "STEP_LOW": low,
        "EXP": fit(quotient(mp.exp, (1, 1), 2), -step / 2, step / 2, 4, lambda r: r * r, (0.5,)),
        "EXPM1": fit(quotient(mp.exp, (1, 1), 2), -step / 2, step / 2, 5, lambda r: r * r, (0.5,)),
        "SCALE": [bits(float(t)) - (j << 46) for j, t in enumerate(powers)],
        "TAIL": [float((t - float(t)) / float(t)) for t in powers],
        "TANH": fit(squared(quotient(mp.tanh, (0, 1), 3)), 0, 0.390625, 11, lambda z: z),
    }


def logarithm() -> dict[str, object]:
    inverse = []
    for j in range(STEPS):
        center = Fraction(89 + j, 128) if j < 39 else Fraction(64 + j - 39, 64)
        inverse.append(Fraction(round(64 / center), 64) if center < 1 else Fraction(round(128 / center), 128))
    logarithms = [to_places(-mp.log(mp.mpf(i.numerator) / i.denominator), 42) for i in inverse]
    reach = mp.mpf("0.0135")
    high, low = to_places(mp.ln2, 42)
    return {
        "INVERSE": list(map(float, inverse)),
        "LOG_HIGH": [high for high, _ in logarithms],
        "LOG_LOW": [low for _, low in logarithms],
        "LN2_HIGH": high,
        "LN2_LOW": low,
        "LOG": fit(quotient(mp.log1p, (0, 1), 2), -reach, reach, 7, lambda r: r * r, (-0.5,)),
        "POWER": fit(quotient(mp.log1p, (0, 1, -0.5), 3), -reach, reach, 7, lambda r: abs(r**3)),
        "LOG2_E": parts(1 / mp.ln2, 26),
        "LOG10_E": parts(1 / mp.ln10, 26),
    }


def root() -> dict[str, object]:
    return {
        "CBRT": fit(mp.cbrt, 1, 2, 5, lambda m: 1 / mp.cbrt(m)),
        "ROOTS": [float(mp.cbrt(n)) for n in (1, 2, 4)],
    }


def circular() -> dict[str, object]:
    quadrant = mp.pi / 2
    first, second, third = parts(quadrant, 33, 33)
    end = (quadrant / 2) ** 2 * mp.mpf("1.001")
    nearest = float(quadrant)
    high, low = parts(mp.mpf(nearest), 26)
    with mp.workprec(1400):
        inverse = int(mp.floor(mp.ldexp(2 / mp.pi, 28 * DIGITS)))
    digits = [inverse >> 28 * k & (1 << 28) - 1 for k in reversed(range(DIGITS))]
    return {
        "PER_QUADRANT": float(1 / quadrant),
        "QUADRANT": first,
        "QUADRANT_MIDDLE": second,
        "QUADRANT_LOW": third,
        "QUADRANT_SUM": [nearest, high, low, float(quadrant - nearest)],
        "SIN": fit(squared(quotient(lambda x: -mp.sin(x), (0, -1), 3)), 0, end, 6, lambda z: z),
        "COS": fit(squared(quotient(mp.cos, (1, 0, -0.5), 4)), 0, end, 6, lambda z: z * z),
        "TWO_OVER_PI": [0, 0, *digits],
    }


def arctangent() -> dict[str, object]:
    centers = [0.0, 0.0, *(j / 32 for j in range(2, 33))]
    angles = [mp.atan(c) for c in centers]
    octants = [mp.zero, mp.pi, mp.pi / 2, mp.pi / 2]
    return {
        "CENTERS": centers,
        "ATAN_HIGH": [float(a) for a in angles],
        "ATAN_LOW": [float(a - float(a)) for a in angles],
        "ATAN": fit(squared(quotient(mp.atan, (0, 1), 3)), 0, (mp.mpf(3) / 64) ** 2, 5, lambda z: z),
        "OCTANT": [float(a) for a in octants],
        "OCTANT_LOW": [float(a - float(a)) for a in octants],
    }


def python() -> str:
    """The module."""
    lines = [HEAD]
    for group in (exponential(), logarithm(), root(), circular(), arctangent()):
        for name, value in group.items():
            error = None
            if isinstance(value, tuple):
                value, error = value
            if not isinstance(value, list):
                lines.append(f"{name} = {value!r}\n")
                continue
            text = textwrap.fill(", ".join(map(repr, value)) + ",", 100, break_long_words=False)
            lines.append(f"{name} = (\n{textwrap.indent(text, '    ')}\n)\n")
            if error is not None:
                lines.append(f'"""Error: 2^{float(error):.1f}."""\n')
    return "".join(lines)


if __name__ == "__main__":
    print(python(), end="")
