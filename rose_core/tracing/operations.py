"""Operations on symbolic values, which are those of the table (`language.ops`)."""

from __future__ import annotations

from collections.abc import Callable

from rose_core.errors import counted
from rose_core.language import ops
from rose_core.language.ops import Op
from rose_core.language.types import BOOL, REAL, TAN, Fin
from rose_core.tracing.declare import mismatch, number, truth
from rose_core.tracing.indices import index_operation
from rose_core.tracing.lifting import lift, use
from rose_core.tracing.symbols import ZERO, Value, Var, Zero
from rose_core.tracing.trace import current

_TYPE_OF_LETTER = {"R": REAL, "B": BOOL}


def apply(op: Op, *args: object) -> Var:
    """An operation on Reals, Bools or (where it is linear) tangents; on plain numbers its plain value."""
    if not any(isinstance(x, (Value, Zero)) for x in args):
        return op.evaluate(*map(_plain, args, op.ins, [op.name] * len(args)))  # type: ignore[return-value]
    trace = current()
    letters = ["T" if x is ZERO or (isinstance(x, Var) and x._type is TAN) else "" for x in args]
    tangent = "T" in letters
    if op.commutes and letters == ["", "T"]:  # a tangent is written first in a product
        args, letters = args[::-1], letters[::-1]
    if tangent and (
        len(letters) != len(op.tangent)
        or any((a == "T") != (b == "T") for a, b in zip(letters, op.tangent, strict=True))
    ):
        raise TypeError(
            f"{op.name} is not linear in {'this tangent' if letters.count('T') == 1 else 'these tangents'}"
        )
    ids = []
    for k, (x, letter) in enumerate(zip(args, op.ins, strict=True)):
        t = TAN if letters[k] else _TYPE_OF_LETTER[letter]
        if isinstance(x, Var) and x._type is t:
            ids += use(x)
        else:
            ids += lift(trace, x, t, op.name)
    out = TAN if tangent else _TYPE_OF_LETTER[op.out]
    return Var(trace, trace.builder.op(op.code, *ids, type=out), out)


def _plain(x: object, letter: str, what: str) -> object:
    """An operand that is no symbol, as its type."""
    value = truth(x) if letter == "B" else number(x) if letter == "R" else None
    if value is None:
        raise TypeError(f"{what}: {mismatch(_TYPE_OF_LETTER[letter], x)}")
    return value


def operation(name: str) -> Callable[..., Var]:
    """The Python function for the op ``name`` of the table."""
    op = ops.by_name[name]

    def function(*args: object) -> Var:
        if len(args) != len(op.ins):
            raise TypeError(f"{name} takes {counted(len(op.ins), 'argument')}, got {len(args)}")
        return apply(op, *args)

    function.__name__ = function.__qualname__ = name
    takes = ", ".join(str(_TYPE_OF_LETTER[letter]) for letter in op.ins)
    function.__doc__ = f"``{name}({takes})``, a {_TYPE_OF_LETTER[op.out]}: of symbolic values, or of numbers."
    return function


add, sub, mul, div, neg = map(operation, ("add", "sub", "mul", "div", "neg"))
power, absolute = operation("pow"), operation("abs")


def compare(x: Value, y: object, name: str) -> Var:
    """What an operator of Python, with the name that it has for Reals, says of Reals, Bools or indices."""
    if isinstance(x._type, Fin):
        return index_operation("i" + name)(x._type, x, y)
    if x._type is BOOL:
        return apply(ops.by_name[{"eq": "iff", "neq": "xor"}.get(name, name)], x, y)
    return apply(ops.by_name[name], x, y)
