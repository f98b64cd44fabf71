"""Puts functions of this package into a module: their code, and the numbers that they read from memory.

There, because V8 makes a constant from two instructions and reads one from memory with one: a function
of as many constants as these is faster by a fifth.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from rose_core.encode import LANE, SECOND_LANE, SPLAT, Function, call, i32_const, load
from rose_core.libm.code import CODE, Piece


def _packed(x: Piece) -> bytes:
    """A number or a table as it stands in memory; nothing for code and names."""
    if isinstance(x, (bytes, str)):
        return b""
    numbers = x if isinstance(x, tuple) else (x,)
    return struct.pack(f"<{len(numbers)}{'d' if isinstance(numbers[0], float) else 'q'}", *numbers)


_IN_LANES = "{}_in_lanes".format

_CALLED = {name: list(dict.fromkeys(x for x in f[3] if isinstance(x, str))) for name, f in CODE.items()}
_CONTENT = {name: [_packed(x) for x in f[3]] for name, f in CODE.items()}
"""For each piece of a function, what it reads."""


class Library:
    """Functions and their data.

    Attributes:
        number: the index of each function in the module; ``end`` is the one after them.
        data: what they read, to be put at address 0: the code is shorter with small addresses.
    """

    def __init__(self, names: Iterable[str], in_lanes: Iterable[str], first: int) -> None:
        """``names``: the functions that are asked for; ``in_lanes``: those of them that are asked for in
        lanes, too; ``first``: the index of the first."""
        order = [*names, *map(_IN_LANES, sorted(in_lanes))]
        for name in order:  # grows
            order += [x for x in _CALLED[name] if x not in order]
        self.number = {name: first + k for k, name in enumerate(order)}
        self.end = first + len(order)
        self._offsets: dict[bytes, int] = {}
        size = 0
        for name in order:
            for content in _CONTENT[name]:
                if content not in self._offsets:
                    self._offsets[content] = size
                    size += len(content)
        self.data = b"".join(self._offsets)

    def call(self, name: str, in_lanes: bool = False) -> bytes:
        """Code that calls a function, for one number or for two in lanes."""
        return call(self.number[_IN_LANES(name) if in_lanes else name])

    def functions(self) -> list[Function]:
        found = []
        for name in self.number:
            params, results, variables, pieces = CODE[name]
            piece = self._piece_in_lanes if params[0] == "v" else self._piece
            code = b"".join(map(piece, pieces, _CONTENT[name], (b"", *_CONTENT[name])))
            found.append(Function(name, params, results, [(1, letter) for letter in variables], code))
        return found

    def _piece(self, x: Piece, content: bytes, _before: bytes) -> bytes:
        if isinstance(x, bytes):
            return x
        if isinstance(x, str):
            return call(self.number[x])
        place = self._offsets[content]
        if isinstance(x, tuple):
            return load("f" if isinstance(x[0], float) else "l", place)
        return i32_const(0) + load("f", place)

    def _piece_in_lanes(self, x: Piece, content: bytes, before: bytes) -> bytes:
        if isinstance(x, (bytes, str)):
            return self._piece(x, content, before)
        place = self._offsets[content]
        if not isinstance(x, tuple):
            return i32_const(0) + SPLAT.load(place)
        return (SECOND_LANE if before == content else LANE).load(place)
