"""Arithmetic of truncated power series, in instructions.

A series has its coefficients computed one after the other, each from those before. For sums, products,
quotients and choices there is a formula; any other operation ``y = f(x)`` has the coefficients of its
derivative, by its forward rule, which gives those of ``y``: the rule of ``exp``, ``d · y``, is the
recurrence ``j y[j] = Σ (i + 1) x[i + 1] y[j - 1 - i]``. What rules use is shared, so that ``sin``, whose rule
has ``cos``, whose rule has ``sin``, ends.
"""

from __future__ import annotations

from collections.abc import Sequence

from rose_core.derivatives.rules import rule
from rose_core.language.builder import Builder
from rose_core.language.ops import OPS, code

_NEG, _ADD, _SUB, _MUL, _DIV, _SELECT = map(code, ("neg", "add", "sub", "mul", "div", "select"))


class Series:
    """A power series: the ids of its coefficients, None for zero."""

    def __init__(self, b: Builder, coefficients: Sequence[int | None]) -> None:
        self.b = b
        self._known = list(coefficients)

    def __getitem__(self, j: int) -> int | None:
        while len(self._known) <= j:
            self._known.append(self.next(len(self._known)))
        return self._known[j]

    def next(self, j: int) -> int | None:
        """Coefficient ``j``, those before being known. A polynomial has no more."""
        return None

    def varies(self, order: int) -> bool:
        """Whether there is anything but the first coefficient, up to this order."""
        return any(self[j] is not None for j in range(1, order + 1))


class _Derivative(Series):
    def __init__(self, x: Series) -> None:
        super().__init__(x.b, [])
        self._x = x

    def next(self, j: int) -> int | None:
        return _scaled(self.b, self._x[j + 1], _MUL, j + 1)


class _Operation(Series):
    def __init__(self, arithmetic: Arithmetic, op: int, args: Sequence[Series]) -> None:
        super().__init__(arithmetic.b, [])
        self.arithmetic = arithmetic
        self.op = op
        self.args = args


class _Linear(_Operation):
    """A sum, difference or negative."""

    def next(self, j: int) -> int | None:
        terms = [x[j] for x in self.args]
        return _minus(self.b, terms[0]) if self.op == _NEG else _sum(self.b, self.op, *terms)


class _Product(_Operation):
    def next(self, j: int) -> int | None:
        x, y = self.args
        return _convolution(self.b, [(x[i], y[j - i]) for i in range(j + 1)])


class _Quotient(_Operation):
    def next(self, j: int) -> int | None:
        x, y = self.args
        known = _convolution(self.b, [(self[i], y[j - i]) for i in range(j)])
        rest = _sum(self.b, _SUB, x[j], known)
        divisor = y[0]
        assert divisor is not None
        return None if rest is None else self.b.op(_DIV, rest, divisor)


class _Choice(_Operation):
    def next(self, j: int) -> int | None:
        p, x, y = self.args
        if x[j] is None and y[j] is None:
            return None
        condition = p[0]
        assert condition is not None
        either = [self.b.real(0.0) if z is None else z for z in (x[j], y[j])]
        return self.b.op(_SELECT, condition, *either)


class _Elementary(_Operation):
    """Any other operation: its derivative is by its rule."""

    _rate: Series | None = None

    def next(self, j: int) -> int | None:
        if j == 0:
            return self.b.op(self.op, *[_number(x) for x in self.args])
        if self._rate is None:
            self._rate = self._derivative()
        return _scaled(self.b, self._rate[j - 1], _DIV, j)

    def _derivative(self) -> Series:
        b, args = self.b, self.args
        varying = [not isinstance(x, _Fixed) for x in args]
        template = rule(self.op, sum(varies << k for k, varies in enumerate(varying))).forward
        if template is None:
            return _Fixed(b, [])
        values: list[Series] = [*args, self]
        values += [_Derivative(x) if varies else x for x, varies in zip(args, varying, strict=True)]
        values += [self.arithmetic.constant(c) for c in template.consts]
        for op, _, *slots in template.instrs:
            values.append(self.arithmetic.op(op, [values[s] for s in slots]))
        return values[template.outputs[0][2]]


class _Fixed(Series):
    """A series that does not vary."""


_FORMULAS: dict[int, type[_Operation]] = {
    _NEG: _Linear,
    _ADD: _Linear,
    _SUB: _Linear,
    _MUL: _Product,
    _DIV: _Quotient,
    _SELECT: _Choice,
}


class Arithmetic:
    """Operations on series in one builder, each on the same series once."""

    def __init__(self, b: Builder) -> None:
        self.b = b
        self._made: dict[tuple[object, ...], _Operation] = {}
        self._constants: dict[float | None, Series] = {}

    def fixed(self, v: int) -> Series:
        """The series of a value that does not vary."""
        return _Fixed(self.b, [v])

    def constant(self, value: float | None) -> Series:
        """The series of a number; None is the zero tangent."""
        if value not in self._constants:
            self._constants[value] = _Fixed(self.b, [] if value is None else [self.b.real(value)])
        return self._constants[value]

    def op(self, op: int, args: Sequence[Series]) -> Series:
        """An operation of the table on scalars."""
        if OPS[op].jvp is None:
            return self.fixed(self.b.op(op, *map(_number, args)))
        key = (op, *args)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = _FORMULAS.get(op, _Elementary)(self, op, args)
        return found


def _number(x: Series) -> int:
    """The first coefficient, written out even if it is zero."""
    v = x[0]
    return x.b.real(0.0) if v is None else v


def _scaled(b: Builder, v: int | None, op: int, factor: int) -> int | None:
    return v if v is None or factor == 1 else b.op(op, v, b.real(float(factor)))


def _minus(b: Builder, v: int | None) -> int | None:
    return None if v is None else b.op(_NEG, v)


def _sum(b: Builder, op: int, x: int | None, y: int | None) -> int | None:
    if y is None:
        return x
    if x is None:
        return y if op == _ADD else b.op(_NEG, y)
    return b.op(op, x, y)


def _convolution(b: Builder, pairs: Sequence[tuple[int | None, int | None]]) -> int | None:
    total = None
    for x, y in pairs:
        if x is not None and y is not None:
            total = _sum(b, _ADD, total, b.op(_MUL, x, y))
    return total
