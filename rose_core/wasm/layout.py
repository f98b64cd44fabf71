"""Where values live: places in memory and the calling convention, computed here once.

A scalar takes 8 bytes (Real), 4 (index, address of a tape) or 1 (Bool); an array its elements in a row,
a matrix its rows in a row. Memory of a module, from its base address up: what the functions of
`rose_core.libm` read, zeros for constants, data, the entry's arguments and results, then one frame per
function, then tapes (`wasm.runtime`). No function calls itself, so a frame can stand at a fixed
address, above the frames of all its callers.
"""

from __future__ import annotations

from functools import cache

from rose_core.encode import I32_ADD, i32_const
from rose_core.language.ir import Func
from rose_core.language.types import BOOL, REAL, TAN, Array, Ref, Type, cell_of, has_tape, is_memory, is_tape

MOST_SCALARS = 100
"""Scalars that a call passes as parameters or results; further ones go through memory."""

MOST_POINTERS = 400
"""Arrays of which a call passes where they are, of its arguments as of its results; likewise."""


def has_tapes(f: Func) -> bool:
    """Whether a function takes such values, or has any in its body."""
    return any(map(has_tape, {*f.params, *f.types}))


def scalar_size(t: Type) -> int:
    """Bytes of a scalar in memory."""
    return 8 if t is REAL or t is TAN else 1 if t is BOOL else 4


@cache
def size_of(leaf: Type) -> int:
    """Bytes of a value of a leaf type in memory."""
    if isinstance(leaf, Ref):
        leaf = leaf.inner
    count = 1
    while isinstance(leaf, Array) and not is_tape(leaf):
        count *= leaf.size
        leaf = leaf.elem
    return count * scalar_size(leaf)


def aligned(address: int) -> int:
    """The next multiple of 8."""
    return (address + 7) & -8


_LINE = 64
"""Bytes of a line of a cache."""

_LONG = 2048
"""From so many bytes on, an array begins with a line, some lines after what is before it."""


def placed(free: int, size: int) -> tuple[int, int]:
    """Where a value of ``size`` bytes goes, if memory is free from ``free`` on, and from where it is then.

    Caches tell lines apart by the last 12 bits or so of their addresses. A loop goes through several arrays
    at once: as long as a power of two, and with nothing between them, each would drive out the others.
    """
    at = free if size < _LONG else (free + 4 * _LINE - 1) & -_LINE
    return at, aligned(at + size)


def kind_of(leaf: Type) -> str:
    """A leaf's scalar, in a letter: ``f`` for a Real, ``b`` for a Bool, ``i`` for an index."""
    t = cell_of(leaf)
    return "f" if t is REAL or t is TAN else "b" if t is BOOL else "i"


def letter(t: Type) -> str:
    """The WebAssembly type of a value: ``f`` for f64, ``i`` for i32."""
    return "f" if t is REAL or t is TAN else "i"


def is_i32(t: Type) -> bool:
    """Whether WebAssembly sees a value as an i32: a Bool, an index, an address."""
    return not (t is REAL or t is TAN)


BASE = i32_const(0)
"""The base of an address that is known: all of it is in the offset."""


class Place:
    """An address: code that pushes its base, and an offset to that."""

    __slots__ = ("base", "offset")

    def __init__(self, base: bytes, offset: int) -> None:
        self.base = base
        self.offset = offset

    def at(self, offset: int) -> Place:
        return Place(self.base, self.offset + offset)

    def plus(self, more: bytes) -> bytes:
        """Code that pushes the base and what ``more`` pushes, added up."""
        return more if self.base is BASE else self.base + more + I32_ADD

    def push(self) -> bytes:
        """Code that pushes the address."""
        if self.base is BASE:
            return i32_const(self.offset)
        return self.base + i32_const(self.offset) + I32_ADD if self.offset else self.base


class Slot:
    """Where the host puts a leaf of the entry's arguments, or finds one of its results."""

    __slots__ = ("address", "leaf", "passed")

    def __init__(self, leaf: Type, address: int, passed: bool = False) -> None:
        self.leaf = leaf
        self.address = address
        """In bytes."""
        self.passed = passed
        """Whether ``f`` itself takes or returns it, a scalar, and only ``r`` looks at the address."""


class HostConvention:
    """How a function of the host is called: the scalars, a pointer for every array, and, unless the only
    result is a scalar that it returns, a pointer to where each result goes.
    """

    def __init__(self, func: Func) -> None:
        types, results = func.params, func.result_types
        self.scalars = [k for k, t in enumerate(types) if not is_memory(t)]
        self.pointers = [k for k, t in enumerate(types) if is_memory(t)]
        self.returns = len(results) == 1 and not is_memory(results[0])
        self.params = "".join(letter(types[k]) for k in self.scalars) + "i" * len(self.pointers)
        self.params += "" if self.returns else "i" * len(results)
        self.results = letter(results[0]) if self.returns else ""


class Convention:
    """How a function is called: what its WebAssembly parameters and results are.

    In order: the first scalars, a pointer for each of the first arrays and accumulators, a pointer to a block
    with what else it takes, then for each of the first array results a pointer to where it goes, and a
    pointer to a block for the scalar results that are too many to return. Pointers for further array results
    stand at the end of the first block.
    """

    def __init__(self, func: Func) -> None:
        types, results = func.params, func.result_types
        scalars = [k for k, t in enumerate(types) if not is_memory(t)]
        self.arrays = [k for k, t in enumerate(types) if is_memory(t)]
        """All that it takes, and all that it gives."""
        self.made = [k for k, t in enumerate(results) if is_memory(t)]
        self.scalars, self.pointers = scalars[:MOST_SCALARS], self.arrays[:MOST_POINTERS]
        self.blocked = scalars[MOST_SCALARS:] + self.arrays[MOST_POINTERS:]
        scalar_results = [k for k, t in enumerate(results) if not is_memory(t)]
        self.returned, self.blocked_results = scalar_results[:MOST_SCALARS], scalar_results[MOST_SCALARS:]
        self.written, self.blocked_written = self.made[:MOST_POINTERS], self.made[MOST_POINTERS:]
        self.in_block = len(self.blocked) + len(self.blocked_written)
        """How many values are in the first block."""
        pointers = len(self.pointers) + bool(self.in_block) + len(self.written) + bool(self.blocked_results)
        self.params = "".join(letter(types[k]) for k in self.scalars) + "i" * pointers
        self.results = "".join(letter(results[k]) for k in self.returned)


def passed_kind(t: Type) -> str:
    """What a call passes for a value: as `kind_of`, but for an array where it is."""
    return "i" if is_memory(t) else kind_of(t)
