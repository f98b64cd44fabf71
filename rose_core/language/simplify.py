"""Rewriting of single instructions while they are built: constants and identities.

Every rewrite gives the same bits as what it replaces, for every operand, infinities and signed zeros
included (the sign and payload of a NaN are not kept, as WebAssembly does not keep them either). What
makes two operations equal makes them one, whose cotangent is the sum of theirs: so the last bit of a
derivative, and the sign of a zero in it, may be another. So
``x × 1`` goes, but ``x + 0`` stays: at ``x = -0`` it is ``+0``. Functions of ``Math`` are never
evaluated here, since their last digit is the reader's engine's business; only powers that are products
or a quotient become those: squares and reciprocals, which are rounded at least as well, and cubes and
reciprocals of roots, which are at most one unit in the last place from what is right. The zero tangent is
more than a number: scaled by anything, infinity included, it stays zero.
"""

from __future__ import annotations

import math

from rose_core.errors import RunError
from rose_core.language.indices import MOST
from rose_core.language.ops import OPS, code
from rose_core.language.types import TAN, Fin, Type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rose_core.language.builder import Builder
    from rose_core.language.ir import Func

_NEG, _NOT, _ADD, _SUB, _MUL, _DIV, _SELECT = map(code, ("neg", "not", "add", "sub", "mul", "div", "select"))
_POW, _AND, _OR, _MIN, _MAX = map(code, ("pow", "and", "or", "min", "max"))
_IADD, _ISUB, _IMUL, _IMOD, _IDIV = map(code, ("iadd", "isub", "imul", "imod", "idiv"))
_IMIN, _IMAX = map(code, ("imin", "imax"))
_NARROW, _BOUND = map(code, ("narrow", "bound"))
SAME = {_NARROW, code("real")}
"""Operations on indices that leave the number as it is."""

_MONOTONE = {_IADD, _ISUB, _IMUL, _IDIV, _IMIN, _IMAX}
"""Operations on indices that are least and largest where their operands are."""

_FARTHEST = 8
"""Operations on indices that are looked through to find the range of one."""

_EXACT = [not isinstance(op.wasm, str) for op in OPS]

UNARY: list[int | None] = [op.code if op.code in (_NEG, _NOT) else None for op in OPS]
"""Ops that undo themselves."""


def unary(b: Builder, op: int, a: int, type: Type | None) -> int | None:
    """A simpler value equal to ``op a``, or None."""
    if a < 0:
        return b.const(OPS[op].evaluate(b.pool[~a][0]), _known(type)) if _EXACT[op] else None
    ins = b.code[a]
    return ins[1] if ins[0] == op else None


def binary(b: Builder, op: int, x: int, y: int, type: Type | None) -> int | None:
    """A simpler value equal to ``x op y``, of which one is a constant, or None."""
    p = b.pool[~x][0] if x < 0 else None
    q = b.pool[~y][0] if y < 0 else None
    if p is not None and q is not None:
        return _checked(b, op, (x, y), type) if _EXACT[op] else None
    rewrite = _BINARY.get(op)
    if rewrite is None or (op in _TOLD and (p if q is None else q) not in _TOLD[op]):
        return None
    return rewrite(b, x, y, p, q, _known(type))


def signed(b: Builder, op: int, x: int, y: int, type: Type | None) -> int | None:
    """What equals ``x op y``, of which one is negated, with the sign taken out of it; or None."""
    p, q = b.negated.get(x), b.negated.get(y)
    if op == _ADD:
        return b.binary(_SUB, x, q, type) if q is not None else b.binary(_SUB, y, p, type)  # type: ignore[arg-type]
    if op == _SUB and q is not None:
        return b.binary(_ADD, x, q, type)
    if op in (_MUL, _DIV):
        product = b.binary(op, x if p is None else p, y if q is None else q, type)
        return product if p is not None and q is not None else b.unary(_NEG, product, type)
    return None


def _known(type: Type | None) -> Type:
    assert type is not None, "the type of an operation on indices must be given"
    return type


def _constant(x: int, y: int, p: float | None, q: float | None) -> tuple[float, int]:
    """The constant among two operands, and the other operand."""
    if q is not None:
        return q, x
    assert p is not None
    return p, y


def ternary(b: Builder, op: int, x: int, y: int, z: int, type: Type | None) -> int | None:
    """A simpler value equal to the operation ``op`` on three operands, or None."""
    if op == _SELECT:
        if x < 0:
            return y if b.pool[~x][0] else z
        return y if y == z else None
    if x < 0 and y < 0 and z < 0:
        return _checked(b, op, (x, y, z), type)
    return _below(b, x, y, None, b.pool[~y][0], _known(type)) if op == _BOUND and y < 0 else None


def _checked(b: Builder, op: int, operands: tuple[int, ...], type: Type | None) -> int | None:
    """The constant that an operation gives; None where that is an error, for whoever runs it."""
    try:
        return b.const(OPS[op].evaluate(*(b.pool[~v][0] for v in operands)), _known(type))
    except RunError:
        return None


def _mul(b: Builder, x: int, y: int, p: float | None, q: float | None, type: Type) -> int | None:
    c, other = _constant(x, y, p, q)
    if c == 1:
        return other
    if c == 0 and type is TAN:
        return b.const(0.0, TAN)
    return b.unary(_NEG, other, type) if c == -1 else None


def _add(b: Builder, x: int, y: int, p: float | None, q: float | None, type: Type) -> int | None:
    c, other = _constant(x, y, p, q)
    return other if c == 0 and math.copysign(1.0, c) < 0 else None


def _sub(b: Builder, x: int, y: int, p: float | None, q: float | None, type: Type) -> int | None:
    if q == 0 and math.copysign(1.0, q) > 0:
        return x
    return b.unary(_NEG, y, type) if p == 0 and math.copysign(1.0, p) < 0 else None


def _div(b: Builder, x: int, y: int, p: float | None, q: float | None, type: Type) -> int | None:
    if p == 0 and type is TAN:
        return b.const(0.0, TAN)
    if q is None or q == 0 or math.isinf(q):
        return None
    if q == 1:
        return x
    # the reciprocal of a power of two is exact, and a product is several times faster
    if abs(math.frexp(q)[0]) == 0.5 and 1e-300 < abs(q) < 1e300:
        return b.binary(_MUL, x, b.const(1 / q, b.pool[~y][1]), type)
    return None


def _pow(b: Builder, x: int, y: int, p: float | None, q: float | None, type: Type) -> int | None:
    if q == 0:
        return b.const(1.0, type)
    if q == 1:
        return x
    if q == 2:
        return b.binary(_MUL, x, x, type)
    if q == 3:
        return b.binary(_MUL, b.binary(_MUL, x, x, type), x, type)
    if q == -0.5:  # the root is there already where it was differentiated
        x = b.binary(_POW, x, b.real(0.5), type)
    return b.binary(_DIV, b.const(1.0, type), x, type) if q in (-1, -0.5) else None


def _and(b: Builder, x: int, y: int, p: float | None, q: float | None, type: Type) -> int | None:
    c, other = _constant(x, y, p, q)
    return other if c else b.const(False, type)


def _or(b: Builder, x: int, y: int, p: float | None, q: float | None, type: Type) -> int | None:
    c, other = _constant(x, y, p, q)
    return b.const(True, type) if c else other


def _min(b: Builder, x: int, y: int, p: float | None, q: float | None, type: Type) -> int | None:
    c, other = _constant(x, y, p, q)
    return other if c == math.inf else None


def _max(b: Builder, x: int, y: int, p: float | None, q: float | None, type: Type) -> int | None:
    c, other = _constant(x, y, p, q)
    return other if c == -math.inf else None


def _iadd(b: Builder, x: int, y: int, p: float | None, q: float | None, type: Type) -> int | None:
    c, other = _constant(x, y, p, q)
    return _moved(b, other, int(c), type) if c else other


def _isub(b: Builder, x: int, y: int, p: float | None, q: float | None, type: Type) -> int | None:
    if q is None:
        return None
    return _moved(b, x, -int(q), type) if q else x


def _moved(b: Builder, x: int, by: int, type: Type) -> int | None:
    """The index ``x`` and so many more, if it is itself some constant more or less than another one."""
    of, more = base_of(b.func, x)
    by += more
    if not more or not -MOST <= by <= MOST:
        return None
    if not by:
        return of if b.func.type_of(of) == type else b.binary(_NARROW, of, b.const(MOST + 1, type), type)
    return b.binary(_IADD if by > 0 else _ISUB, of, b.const(abs(by), type), type)


def base_of(f: Func, x: int) -> tuple[int, int]:
    """The index that ``x``, perhaps as a Real, is some constant more than, and that constant."""
    more = 0
    while (v := source_of(f, x)) >= 0:
        op, *given = f.code[v]
        if op not in (_IADD, _ISUB) or min(given) >= 0 or (op == _ISUB and given[0] < 0):
            break
        x, constant = max(given), int(f.pool[~min(given)][0])
        more += constant if op == _IADD else -constant
    return x, more


def source_of(f: Func, x: int) -> int:
    """The value that ``x`` is as an index of another type, or as a Real."""
    while x >= 0 and f.code[x][0] in SAME:
        x = f.code[x][1]
    return x


def _imul(b: Builder, x: int, y: int, p: float | None, q: float | None, type: Type) -> int | None:
    c, other = _constant(x, y, p, q)
    return other if c == 1 else None


def _imin(b: Builder, x: int, y: int, p: float | None, q: float | None, type: Type) -> int | None:
    c, other = _constant(x, y, p, q)
    low, high = range_of(b, other)
    if high <= c:
        return other
    return b.const(c, type) if low >= c else None


def _imax(b: Builder, x: int, y: int, p: float | None, q: float | None, type: Type) -> int | None:
    c, other = _constant(x, y, p, q)
    low, high = range_of(b, other)
    if low >= c:
        return other
    return b.const(c, type) if high <= c else None


def range_of(b: Builder, v: int, farthest: int = _FARTHEST) -> tuple[int, int]:
    """The least and the largest number that the index ``v`` can be."""
    if v < 0:
        value = int(b.pool[~v][0])
        return value, value
    known = b.ranges.get(v)
    if known:
        return known
    ins, t = b.code[v], b.func.types[v]
    assert isinstance(t, Fin)
    # what arithmetic gives need be no index
    low, high = (-MOST - 1, MOST) if ins[0] in _MONOTONE and t.size > MOST else (0, t.size - 1)
    if not farthest:
        return low, high
    if ins[0] == _NARROW:
        least, most = range_of(b, ins[1], farthest - 1)
        return max(low, least), min(high, most)
    if ins[0] == _IMOD and ins[2] < 0:
        return 0, min(t.size, int(b.pool[~ins[2]][0])) - 1
    if ins[0] in _MONOTONE:
        xs, ys = range_of(b, ins[1], farthest - 1), range_of(b, ins[2], farthest - 1)
        if ins[0] != _IDIV or ys[0] > 0:
            values = [int(OPS[ins[0]].evaluate(x, y)) for x in xs for y in ys]
            return min(values), max(values)
    return low, high


def _idiv(b: Builder, x: int, y: int, p: float | None, q: float | None, type: Type) -> int | None:
    return x if q == 1 else None


def _below(b: Builder, x: int, y: int, p: float | None, q: float | None, type: Type) -> int | None:
    """Of an index that is known to be below ``y``, the remainder, or the check that it is."""
    low, high = range_of(b, x)
    return b.binary(_NARROW, x, y, type) if q is not None and low >= 0 and high < q else None


def _narrow(b: Builder, x: int, y: int, p: float | None, q: float | None, type: Type) -> int | None:
    return x if b.func.type_of(x) == type else None


_BINARY = {_IADD: _iadd, _ISUB: _isub, _IMUL: _imul, _IDIV: _idiv, _NARROW: _narrow, _IMOD: _below}
_BINARY |= {_IMIN: _imin, _IMAX: _imax}
_BINARY |= {
    _MIN: _min,
    _MAX: _max,
    _MUL: _mul,
    _ADD: _add,
    _SUB: _sub,
    _DIV: _div,
    _POW: _pow,
    _AND: _and,
    _OR: _or,
}

_TOLD = {_ADD: (0,), _SUB: (0,), _MUL: (0, 1, -1), _IMUL: (1,), _IDIV: (1,)}
"""The only constants by which some of these say anything."""
