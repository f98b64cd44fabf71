"""Arrays copied, added, and filled with zeros: short ones number by number.

The instructions of WebAssembly that copy and fill any length take as long as some ten loads and stores.
"""

from __future__ import annotations

from collections.abc import Iterator

from rose_core.encode import (
    BR_IF_0,
    END,
    F64X2_ADD,
    I32_ADD,
    I32_LT_U,
    LANE,
    LANES,
    LOOP,
    MEMORY_COPY,
    MEMORY_FILL,
    Access,
    i32_const,
    local_get,
    local_set,
    local_tee,
    simd,
)
from rose_core.wasm.layout import BASE, Place
from rose_core.wasm.strides import STEP

_LONGEST = 128
"""The most bytes that are written out."""

_ZEROS = b"\x42\x00" + simd(0x12)
"""The number 0 as an i64, in both lanes."""


def copied(to: Place, of: Place, size: int) -> list[bytes]:
    """Code that copies so many bytes, which are apart or the same."""
    if not size:
        return []
    if size > _LONGEST or size % 8:
        return [to.push(), of.push(), i32_const(size), MEMORY_COPY]
    out = []
    for at, access in _pieces(size):
        out += [to.base, of.base, access.load(of.offset + at), access.store(to.offset + at)]
    return out


def zeroed(place: Place, size: int) -> list[bytes]:
    """Code that fills so many bytes with zeros."""
    if not size:
        return []
    if size > _LONGEST or size % 8:
        return [place.push(), BASE, i32_const(size), MEMORY_FILL]
    out = []
    for at, access in _pieces(size):
        out += [place.base, _ZEROS, access.store(place.offset + at)]
    return out


def add_arrays(i: int, to: Place, x: Place, size: int) -> list[bytes]:
    """``to[k] += x[k]`` for every number of an array of ``size`` bytes; ``i``: a local variable for that."""
    at = local_get(i)
    to_push, x_push = to.plus(at), x.plus(at)

    def add(access: Access) -> list[bytes]:
        read = [to_push, access.load(to.offset), x_push, access.load(x.offset)]
        return [to_push, *read, F64X2_ADD, access.store(to.offset)]

    whole = size // (2 * STEP) * (2 * STEP)
    out = [BASE, local_set(i)]
    if whole:
        out += [LOOP, *add(LANES), at, i32_const(2 * STEP), I32_ADD, local_tee(i)]
        out += [i32_const(whole), I32_LT_U, BR_IF_0, END]
    return out + (add(LANE) if whole < size else [])


def _pieces(size: int) -> Iterator[tuple[int, Access]]:
    """Two numbers at a time, and perhaps one in the end."""
    for at in range(0, size, 16):
        yield at, LANES if at + 16 <= size else LANE
