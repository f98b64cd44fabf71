"""Puts functions of this package into a module: their code, and the numbers that they read from memory.

There, because V8 makes a constant from two instructions and reads one from memory with one: a function
of as many constants as these is faster by a fifth.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from rose_core.encode import Function, call, i32_const, load
from rose_core.libm.code import CODE


def _packed(x: bytes | float | str | tuple[float, ...]) -> bytes:
    """A number or a table as it stands in memory; nothing for code and names."""
    if isinstance(x, (bytes, str)):
        return b""
    numbers = x if isinstance(x, tuple) else (x,)
    return struct.pack(f"<{len(numbers)}{'d' if isinstance(numbers[0], float) else 'q'}", *numbers)


_CALLED = {name: list(dict.fromkeys(x for x in f[3] if isinstance(x, str))) for name, f in CODE.items()}
_CONTENT = {name: [_packed(x) for x in f[3]] for name, f in CODE.items()}
"""For each piece of a function, what it reads."""


class Library:
    """Functions and their data.

    Attributes:
        number: the index of each function in the module; ``end`` is the one after them.
        data: what they read, to be put at address 0: the code is shorter with small addresses.
    """

    def __init__(self, names: Iterable[str], first: int) -> None:
        """``names``: the functions that are asked for; ``first``: the index of the first."""
        order = list(names)
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

    def functions(self) -> list[Function]:
        found = []
        for name in self.number:
            params, results, variables, pieces = CODE[name]
            code = b"".join(map(self._piece, pieces, _CONTENT[name]))
            found.append(Function(name, params, results, [(1, letter) for letter in variables], code))
        return found

    def _piece(self, x: bytes | float | str | tuple[float, ...], content: bytes) -> bytes:
        if isinstance(x, bytes):
            return x
        if isinstance(x, str):
            return call(self.number[x])
        place = self._offsets[content]
        if isinstance(x, float):
            return i32_const(0) + load("f", place)
        return load("f" if isinstance(x[0], float) else "l", place)
