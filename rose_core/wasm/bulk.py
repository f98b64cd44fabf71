"""Arrays copied, and filled with zeros: short ones number by number.

The instructions of WebAssembly that do it for any length take as long as some ten loads and stores.
"""

from __future__ import annotations

from collections.abc import Iterator

from rose_core.encode import LANE, LANES, MEMORY_COPY, MEMORY_FILL, Access, i32_const, simd
from rose_core.wasm.layout import BASE, Place

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


def _pieces(size: int) -> Iterator[tuple[int, Access]]:
    """Two numbers at a time, and perhaps one in the end."""
    for at in range(0, size, 16):
        yield at, LANES if at + 16 <= size else LANE
