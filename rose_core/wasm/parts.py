"""A long function as several of WebAssembly, which run one after the other.

Engines translate a function at its first call, in time that grows with the square of its local variables,
and leave it unoptimised if it is very long. So a function that has grown long enough ends, where it can,
and the rest of it is another one, with local variables of its own. What lives on is in memory from there.
All parts take the parameters of the whole; the last one gives its results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rose_core.encode import Function, call, load, local_get, store
from rose_core.language.ir import ACCUM
from rose_core.wasm.layout import BASE, Place

if TYPE_CHECKING:
    from rose_core.wasm.expressions import Expressions

LONGEST = 6000
"""The pieces of code, of some two bytes each, from which on a part may end."""


class Parts:
    """The parts of a function, while it is being written."""

    def __init__(self, body: Expressions) -> None:
        self.body = body
        self.longest = LONGEST
        self.params = 0
        """How many local variables are parameters."""
        self.finished: list[tuple[list[tuple[int, str]], bytes]] = []
        """The parts before this one: their local variables, and their code."""
        self.owner: dict[int, int] = {}
        """Local variable → the value that was last in it."""
        self.aliases: list[int] = []
        """Values that were found in the local variable of another, in this part."""
        self.free: list[int] = []
        """Places in memory that nothing is in any more."""
        self.place_of: dict[int, int] = {}
        """Value → the address where it lives on."""
        self._seen: list[tuple[list[bytes], int]] = []
        """The unfinished code at the last end of a part, and its length."""

    def end(self, unfinished: Sequence[list[bytes]]) -> None:
        """End the part that is being written. ``unfinished`` code, innermost last, goes into a later one."""
        body = self.body
        out, expr = body.out[0], body.expr
        moved: dict[bytes, bytes] = {}
        for n, v in self.owner.items():
            is_int = body.local_of[v] & 1
            if body.local_of[v] != 2 * n + is_int or body.left[v] <= 0:
                continue
            at = self.free.pop() if self.free else body.reserve(8).offset
            self.place_of[v] = at
            kind = "i" if is_int else "f"
            here = local_get(n)
            out += [BASE, here, store(kind, at)]
            moved[here] = BASE + load(kind, at)
            body.local_of[v] = -1
            if body.func.code[v][0] == ACCUM:
                body.put(v, Place(BASE, at))
            else:
                expr[v] = moved[here]
        self.finished.append((body.runs, b"".join(out)))
        out.clear()
        body.runs, body.local_count, body.free = [], self.params, [([], [])]
        body.lane_locals = []
        moved |= body.put_apart_anew()
        for v in self.aliases:
            expr[v] = moved.get(expr[v], expr[v])  # type: ignore[arg-type]
        for code in unfinished[self._unchanged(unfinished) :]:
            code[:] = [moved.get(piece, piece) for piece in code]
        self._seen = [(code, len(code)) for code in unfinished]
        self.owner, self.aliases = {}, []

    def _unchanged(self, unfinished: Sequence[list[bytes]]) -> int:
        """How many from the outermost on are as they were when the last part ended: of one that is, so
        are those around it."""
        low, high = 0, min(len(unfinished), len(self._seen))
        while low < high:
            middle = (low + high) // 2
            code, length = self._seen[middle]
            if unfinished[middle] is code and len(code) == length:
                low = middle + 1
            else:
                high = middle
        return low

    def release(self, v: int) -> None:
        """Give back the place of a value, if it has one."""
        at = self.place_of.pop(v, None)
        if at is not None:
            self.free.append(at)

    def functions(self, code: bytes, params: str, results: str) -> list[Function]:
        """All parts, of which ``code`` is the last."""
        body, name = self.body, self.body.func.name
        parts = [Function(f"{name} {k}", params, "", *part) for k, part in enumerate(self.finished, 1)]
        last = f"{name} {len(parts) + 1}" if parts else name
        return [*parts, Function(last, params, results, body.runs, code)]


def in_turn(parts: Sequence[Function], number: int) -> Function:
    """The function that runs its parts, of which the first has that ``number``."""
    last = parts[-1]
    given = b"".join(local_get(n) for n in range(len(last.params)))
    code = b"".join(given + call(number + k) for k in range(len(parts)))
    return Function(last.name.rpartition(" ")[0], last.params, last.results, [], code)
