"""The constants of a program, which are in its memory from the start: zeros, and vectors of numbers."""

from __future__ import annotations

from collections.abc import Sequence

from rose_core.encode import MEMORY_FILL, i32_const, memory_init
from rose_core.language.ir import ACCUM, VEC, Func, is_unwritten, operands
from rose_core.language.queries import BEYOND_BINARY, among, places
from rose_core.language.tables import numbers_of
from rose_core.language.types import Array, Type, has_tape, is_memory
from rose_core.wasm.layout import aligned, placed, size_of

_VECTORS = among([VEC])


class Constants:
    """What a program has in memory from its start: zeros for all, and vectors, each once."""

    def __init__(self, order: Sequence[Func], zeros_at: int) -> None:
        self.zeros_at = zeros_at
        self.zeros = max((size_of(t) for f in order for t in _read_zeros(f)), default=0)
        """How many bytes of zeros there are."""
        self.start = self.end = aligned(zeros_at + self.zeros)
        """Where the vectors begin, and where memory is free after them."""
        self.content = bytearray()
        """The vectors, from the start on."""
        self.places: dict[Func, dict[int, int]] = {}
        """By function and value, the address of each vector."""
        known: dict[bytes, int] = {}
        for f in order:
            self.places[f] = {}
            for v, content in _constant_vectors(f).items():
                if content not in known:
                    known[content], self.end = placed(self.end, len(content))
                    self.content += bytes(known[content] - self.start - len(self.content)) + content
                self.places[f][v] = known[content]

    def in_place(self, segments: Sequence[tuple[int, bytes]]) -> bytes:
        """Code that makes all constants what they are, where others may have written over them.

        ``segments``: the address and the content of those that are not zeros.
        """
        zeros = [i32_const(self.zeros_at), i32_const(0), i32_const(self.zeros), MEMORY_FILL]
        code = zeros if self.zeros else []
        for k, (address, content) in enumerate(segments):
            code += [i32_const(address), i32_const(0), i32_const(len(content)), memory_init(k)]
        return b"".join(code)


def _read_zeros(f: Func) -> list[Type]:
    """The types of the zeros that ``f`` reads: where an accumulator begins with them, they are written."""
    arrays = [
        (~k, t)
        for k, (x, t) in enumerate(f.pool)
        if is_memory(t) and not (is_unwritten(f, ~k) or isinstance(x, bytes))
    ]
    if not arrays:
        return []
    read = {x for ins in f.code if ins[0] != ACCUM for x in operands(ins, f.blocks)}.union(f.results)
    return [t for v, t in arrays if v in read or has_tape(t)]


def _constant_vectors(f: Func) -> dict[int, bytes]:
    """The vectors of constants in ``f``, as bytes in memory, but for those that are parts of others only."""
    found: dict[int, bytes] = {}
    for v in places(f, _VECTORS):
        ins = f.code[v]
        if all(x < 0 or x in found for x in ins[1:]):
            t = f.types[v]
            assert isinstance(t, Array)
            content = numbers_of(f, v)
            if content is None:
                content = b"".join(bytes(size_of(t.elem)) if x < 0 else found[x] for x in ins[1:])
            found[v] = content
    if not found:
        return found
    needed = set(f.results)
    for v in places(f, BEYOND_BINARY):
        if v not in found:
            needed.update(operands(f.code[v], f.blocks))
    return {v: content for v, content in found.items() if v in needed}
