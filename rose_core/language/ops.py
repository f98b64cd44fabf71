"""The table of primitive operations: one row holds all that any part of the compiler knows of an op.

A row gives the op's typing, its value, its derivative, its WebAssembly and its name in the text form;
the JavaScript bridge's numbering is generated from the table too. A pass never asks for an op by name.

Derivatives are forward rules ``jvp(y, x, d)`` in the algebra of `language.formula`: ``y`` is the
op's result, ``x`` its operands and ``d`` their tangents. Where a function has no derivative (``abs``
at 0, ``max`` of equals) the rule gives a one-sided or subgradient value, never NaN where one exists.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence

from rose_core import libm
from rose_core.encode import SELECT, SIDE, Helper, InPlace, f64_const, local_get
from rose_core.language import defined, indices, reals
from rose_core.language.formula import ZERO, Linear, Primal, choose, function, preferred, select

sin, cos, exp, log, sqrt = map(function, ("sin", "cos", "exp", "log", "sqrt"))
sinh, cosh, pow_, hypot = map(function, ("sinh", "cosh", "pow", "hypot"))
side, abs_, eq, both = map(function, ("side", "abs", "eq", "and"))
maximum, minimum = map(function, ("max", "min"))

LN2, LN10 = math.log(2), math.log(10)


class Op:
    """A row: one primitive operation on scalars."""

    __slots__ = (
        "both",
        "code",
        "commutes",
        "evaluate",
        "ins",
        "jvp",
        "name",
        "out",
        "sized",
        "symbol",
        "tangent",
        "wasm",
    )

    def __init__(
        self,
        name: str,
        symbol: str,
        typing: str,
        evaluate: Callable[..., float],
        wasm: int | bytes | str | Helper | InPlace | Callable[..., float],
        jvp: Callable[..., Linear] | None = None,
        tangent: str = "",
        commutes: bool = False,
        sized: bool = False,
        both: Callable[[float], tuple[float, float]] | None = None,
    ) -> None:
        self.code = -1
        self.name = name
        """The name in the JavaScript and Python interfaces."""
        self.symbol = symbol
        """The paper's notation (Figure 3), or the name of what the paper lacks."""
        self.ins, self.out = typing.split(">")
        """Operand and result types, a letter each: Real, Bool, Index, or ``a`` for any one type."""
        self.evaluate = evaluate
        """The op's meaning, on Python values."""
        self.wasm = wasm
        """An instruction's opcode, several instructions, some of which need operands again, the name of a
        function of ``Math``, a helper, or a function of `rose_core.libm`. Of three operands the first is on
        top of the stack, as WebAssembly's ``select`` has it."""
        self.jvp = jvp
        """The derivative; None for an op whose result has no tangent."""
        self.tangent = tangent
        """The operand types under which the op is linear, T for a tangent: ``TR`` for a product."""
        self.commutes = commutes
        self.sized = sized
        """Whether the second operand is the size of the result's type, a literal."""
        self.both = both
        """What gives the results of this op and of another of one operand, to the bit, in less time."""

    def __repr__(self) -> str:
        return self.name


def _nothing(_y: object, _x: object, _d: object) -> Linear:
    """The derivative of a step function, zero wherever it exists."""
    return ZERO


_X, _COPYSIGN, _F64_EQ = local_get(0), b"\xa6", b"\x61"
SIGN = Helper("sign", "f", "f", "", f64_const(1.0) + _X + _COPYSIGN + _X + _X + _X + _F64_EQ + SELECT)
"""±1 where the operand is a number, and the operand otherwise."""


UNARY = [
    Op("neg", "-", "R>R", operator.neg, 0x9A, lambda y, x, d: -d[0], tangent="T"),
    Op("abs", "abs", "R>R", operator.abs, 0x99, lambda y, x, d: d[0] * side(x[0])),
    Op("sign", "sgn", "R>R", reals.sign, SIGN, _nothing),
    # the slope of abs: that of NaN is a number, as of max, so that NaN which is not chosen harms nothing
    Op("side", "side", "R>R", reals.side, SIDE, _nothing),
    Op("ceil", "ceil", "R>R", reals.ceil, 0x9B, _nothing),
    Op("floor", "floor", "R>R", reals.floor, 0x9C, _nothing),
    Op("trunc", "trunc", "R>R", reals.trunc, 0x9D, _nothing),
    Op("sqrt", "sqrt", "R>R", reals.sqrt, 0x9F, lambda y, x, d: d[0] / (y + y)),
    Op("sin", "sin", "R>R", libm.sin, libm.sin, lambda y, x, d: d[0] * cos(x[0]), both=libm.sincos),
    Op("cos", "cos", "R>R", libm.cos, libm.cos, lambda y, x, d: -(d[0] * sin(x[0])), both=libm.sincos),
    Op("tan", "tan", "R>R", reals.tan, "tan", lambda y, x, d: d[0] * (1 + y * y)),
    Op("asin", "asin", "R>R", reals.asin, "asin", lambda y, x, d: d[0] / sqrt((1 - x[0]) * (1 + x[0]))),
    Op("acos", "acos", "R>R", reals.acos, "acos", lambda y, x, d: -(d[0] / sqrt((1 - x[0]) * (1 + x[0])))),
    Op("atan", "atan", "R>R", math.atan, "atan", lambda y, x, d: d[0] / (1 + x[0] * x[0])),
    Op("sinh", "sinh", "R>R", libm.sinh, libm.sinh, lambda y, x, d: d[0] * cosh(x[0]), both=libm.sinhcosh),
    Op("cosh", "cosh", "R>R", libm.cosh, libm.cosh, lambda y, x, d: d[0] * sinh(x[0]), both=libm.sinhcosh),
    # sech² by way of exp(-2|x|): 1 - y² would lose every digit where tanh saturates
    Op("tanh", "tanh", "R>R", libm.tanh, libm.tanh, lambda y, x, d: d[0] * sech2(exp(-2 * abs_(x[0])))),
    Op("exp", "exp", "R>R", libm.exp, libm.exp, lambda y, x, d: d[0] * y),
    Op("expm1", "expm1", "R>R", libm.expm1, libm.expm1, lambda y, x, d: d[0] * exp(x[0])),
    Op("log", "log", "R>R", libm.log, libm.log, lambda y, x, d: d[0] / x[0]),
    Op("log1p", "log1p", "R>R", libm.log1p, libm.log1p, lambda y, x, d: d[0] / (1 + x[0])),
    Op("log2", "log2", "R>R", libm.log2, libm.log2, lambda y, x, d: d[0] / x[0] / LN2),
    Op("log10", "log10", "R>R", libm.log10, libm.log10, lambda y, x, d: d[0] / x[0] / LN10),
    Op("cbrt", "cbrt", "R>R", libm.cbrt, libm.cbrt, lambda y, x, d: d[0] / (3 * (y * y))),
    Op("not", "¬", "B>B", operator.not_, 0x45),
    Op("real", "real", "I>R", float, 0xB7),
]

BINARY = [
    Op("add", "+", "RR>R", operator.add, 0xA0, lambda y, x, d: d[0] + d[1], tangent="TT", commutes=True),
    Op("sub", "-", "RR>R", operator.sub, 0xA1, lambda y, x, d: d[0] - d[1], tangent="TT"),
    Op(
        "mul",
        "×",
        "RR>R",
        operator.mul,
        0xA2,
        lambda y, x, d: d[0] * x[1] + d[1] * x[0],
        tangent="TR",
        commutes=True,
    ),
    Op("div", "÷", "RR>R", reals.div, 0xA3, lambda y, x, d: (d[0] - d[1] * y) / x[1], tangent="TR"),
    Op("min", "min", "RR>R", reals.minimum, 0xA4, lambda y, x, d: larger(x[1], x[0], d[0], d[1])),
    Op("max", "max", "RR>R", reals.maximum, 0xA5, lambda y, x, d: larger(x[0], x[1], d[0], d[1])),
    Op("pow", "pow", "RR>R", libm.pow, libm.pow, lambda y, x, d: d[0] * power(x) + d[1] * logarithm(y, x)),
    # x[0] is the ordinate: atan2(y, x) in the usual letters
    Op("atan2", "atan2", "RR>R", libm.atan2, libm.atan2, lambda y, x, d: turn(x, d, hypot(x[0], x[1]))),
    Op("hypot", "hypot", "RR>R", libm.hypot, libm.hypot, lambda y, x, d: along(y, x, d)),
    Op("neq", "≠", "RR>B", operator.ne, 0x62, commutes=True),
    Op("lt", "<", "RR>B", operator.lt, 0x63),
    Op("leq", "≤", "RR>B", operator.le, 0x65),
    Op("eq", "=", "RR>B", operator.eq, 0x61, commutes=True),
    Op("gt", ">", "RR>B", operator.gt, 0x64),
    Op("geq", "≥", "RR>B", operator.ge, 0x66),
    Op("and", "∧", "BB>B", operator.and_, 0x71, commutes=True),
    Op("or", "∨", "BB>B", operator.or_, 0x72, commutes=True),
    Op("iff", "iff", "BB>B", operator.eq, 0x46, commutes=True),
    Op("xor", "xor", "BB>B", operator.ne, 0x73, commutes=True),
    # a sum, difference, … of indices is any whole number until `narrow` makes it an index of a type, which
    # it is known to be, or `bound` does, which fails where it is not
    Op("iadd", "+", "II>I", operator.add, 0x6A, commutes=True),
    Op("isub", "-", "II>I", operator.sub, 0x6B),
    Op("imul", "×", "II>I", indices.product, indices.PRODUCT, commutes=True),
    Op("imin", "min", "II>I", min, indices.SMALLER, commutes=True),
    Op("imax", "max", "II>I", max, indices.LARGER, commutes=True),
    # of what is not negative, by a literal that is not 0
    Op("imod", "mod", "II>I", operator.mod, 0x70, sized=True),
    Op("idiv", "÷", "II>I", operator.floordiv, 0x6E),
    Op("narrow", "narrow", "II>I", lambda i, size: i, b"", sized=True),
    # a number that must be one, or else the note with this number is the error
    Op("defined", "defined", "RI>R", defined.defined, defined.DEFINED, lambda y, x, d: d[0]),
    Op("ineq", "≠", "II>B", operator.ne, 0x47, commutes=True),
    Op("ilt", "<", "II>B", operator.lt, 0x48),
    Op("ileq", "≤", "II>B", operator.le, 0x4C),
    Op("ieq", "=", "II>B", operator.eq, 0x46, commutes=True),
    Op("igt", ">", "II>B", operator.gt, 0x4A),
    Op("igeq", "≥", "II>B", operator.ge, 0x4E),
]

TERNARY = [
    # of these and of "defined" the last operand is the number of the note that is the error
    Op("bound", "bound", "III>I", indices.bound, indices.BOUND, sized=True),
    Op("index", "index", "RII>I", indices.index, indices.INDEX, sized=True),
    Op(
        "select", "?:", "Baa>a", lambda p, x, y: x if p else y, 0x1B,
        lambda y, x, d: select(x[0], d[1], d[2]), tangent="BTT",
    ),
]  # fmt: skip


def sech2(e: Primal) -> Primal:
    """sech² x, of e = exp(-2 |x|)."""
    return 4 * e / ((1 + e) * (1 + e))


def larger(a: Primal, b: Primal, da: Linear, db: Linear) -> Linear:
    """The tangent that goes with the larger of ``a`` and ``b``, or of equals their mean."""
    return preferred(a > b, da, a < b, db)


def power(x: Sequence[Primal]) -> Primal:
    """∂/∂x x^n; 0 for x = n = 0. Not for every n = 0: this has a derivative by n."""
    return choose(both(eq(x[0], 0.0), eq(x[1], 0.0)), 0.0, x[1] * pow_(x[0], x[1] - 1))


def logarithm(y: Primal, x: Sequence[Primal]) -> Primal:
    """∂/∂n x^n; where x^n is 0 the power decides: 0 and not 0 · -∞.

    There the logarithm is of 1, as what is not chosen would have an infinite derivative.
    """
    vanishes = eq(y, 0.0)
    return choose(vanishes, 0.0, y * log(choose(vanishes, 1.0, x[0])))


def turn(x: Sequence[Primal], d: Sequence[Linear], r: Primal) -> Linear:
    """The tangent of an angle, divided twice by the radius so that r² cannot overflow."""
    return (d[0] * (x[1] / r) - d[1] * (x[0] / r)) / r


def along(y: Primal, x: Sequence[Primal], d: Sequence[Linear]) -> Linear:
    """The tangent of a length: the projection on the unit vector; 0 at the origin, a subgradient there.

    A divisor that is never 0 does that. The term with the root adds nothing, but has no derivative at the
    origin: so the second derivative is not a number there, as it is none.
    """
    r, nothing = maximum(y, 5e-324), 0.0 * sqrt(minimum(y, 1.0))
    return d[0] * (x[0] / r + nothing) + d[1] * (x[1] / r + nothing)


OPS: list[Op] = UNARY + BINARY + TERNARY
"""All rows; a row's index is its opcode. Unary ops come first, then binary ones; ``select`` is the last."""

UNARY_END = len(UNARY)
BINARY_END = UNARY_END + len(BINARY)
TABLE_END = len(OPS)

by_name: dict[str, Op] = {}
for _code, _op in enumerate(OPS):
    _op.code = _code
    by_name[_op.name] = _op

TOGETHER: dict[Callable[..., tuple[float, float]], list[int]] = {}
"""The opcodes of what one function gives together, in the order of its results."""
for _op in OPS:
    if _op.both:
        TOGETHER.setdefault(_op.both, []).append(_op.code)


FAILS = frozenset(op.code for op in OPS if isinstance(op.wasm, Helper) and op.wasm.after)
"""The opcodes of what may fail; the last operand is the number of the note that says so."""

LIBRARY = frozenset(op.code for op in OPS if callable(op.wasm) or isinstance(op.wasm, str))
"""The opcodes of what a function of a library computes, and not an instruction of the machine, or a few."""

_COMMUTES = frozenset(op.code for op in OPS if op.commutes)

EFFORT = [20 if op.code in LIBRARY else 4 if op.name in ("div", "sqrt") else 1 for op in OPS]
"""About how many additions take as long as one of each op."""

REGULAR = {
    by_name[_name].code: (k, x)
    for k, x, names in (
        (0, 0.0, "asin acos sinh cosh exp expm1 log1p"),
        (0, 1.0, "sqrt log log2 log10 cbrt pow"),
        (1, 1.0, "div atan2"),
    )
    for _name in names.split()
}
"""The opcodes of what may have an infinite derivative → an operand, and where that is so that it has none."""


def code(name: str) -> int:
    """The opcode of the op called ``name``."""
    return by_name[name].code


def computation(op: int, given: Sequence[int]) -> tuple[int, ...]:
    """What an op computes of such operands, as a key: the same in either order where these commute."""
    return (op, *(sorted(given) if op in _COMMUTES else given))
