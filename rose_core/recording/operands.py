"""What the rows of a recorded function refer to."""

from __future__ import annotations

from collections.abc import Sequence

from rose_core.language.ir import (
    ACCUM,
    ADD_TO,
    CALL,
    COND,
    FOR,
    GET,
    INDEX,
    LOOP,
    PARAM,
    RESOLVE,
    STRUCTURAL_NAMES,
    VEC,
    VJP,
)
from rose_core.language.ops import BINARY_END, TABLE_END, UNARY_END

END = TABLE_END + len(STRUCTURAL_NAMES)
"""The opcode that closes a loop."""

HEADS = {VEC: 1, CALL: 1, VJP: 1, COND: 3, LOOP: 7}
"""How many numbers stand before the operands in the list of a row."""

CALLED = {CALL: 1, COND: 2, LOOP: 2}
"""How many of these are of functions, which stand first; -1 for none."""


def operands_of(op: int, x: int, y: int, extra: Sequence[int]) -> Sequence[int]:
    """The values that a row refers to."""
    if op < UNARY_END or op in (GET, ACCUM, RESOLVE):
        return (x,)
    if op < BINARY_END or op in (INDEX, ADD_TO):
        return (x, y)
    if op in (PARAM, FOR):
        return ()
    return extra[x + HEADS.get(op, 0) : x + y]
