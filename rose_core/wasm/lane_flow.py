"""What iterations side by side add to neighbours: each element is read and written once, by all that it gets.

An element gets what the iteration farthest before it adds, then what later iterations do, each at its own
offset. So two neighbours get two lanes at a time of what iterations of now and before have to add: an even
number of iterations ago, as they are; an odd number, a lane of each of two pairs. Before the first iteration
and after the last one, nothing is to be added: that is -0, which leaves every number as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rose_core.encode import F64X2_ADD, F64X2_SPLAT, f64_const, local_get, local_set, pair
from rose_core.wasm.layout import Place
from rose_core.wasm.strides import read, write

ZERO, NOTHING = f64_const(0.0) + F64X2_SPLAT, f64_const(-0.0) + F64X2_SPLAT


class Flow:
    """The sites of a column whose elements are neighbours."""

    def __init__(
        self, low: int, step: int, ahead: Mapping[int, int], new_local: Callable[[], int], is_new: bool
    ) -> None:
        """``low``: bytes to the lowest element in the first of the iterations side by side; ``step``: from an
        element to the next; ``ahead``: by how many elements each site is ahead of that.

        ``is_new``: all elements are 0, and nothing has written them yet.
        """
        self.is_new = is_new
        self.low = low
        self.step = step
        self.ahead = ahead
        self.sites = sorted(ahead, key=lambda v: -ahead[v])
        """Those that add to an element first come first."""
        self.most = max(ahead.values())
        self.new_local = new_local
        self.now = {v: new_local() for v in ahead}
        """Site → the local variable with what the two iterations of now add."""
        self.before = {v: [new_local() for _ in range((ahead[v] + 1) // 2)] for v in ahead}
        """Site → those with what the iterations before did, the last ones first."""

    def begin(self) -> list[bytes]:
        """Code before the first iteration."""
        return [NOTHING + local_set(n) for v in self.sites for n in self.before[v]]

    def add(self, here: bytes, offset: int, count: int = 2) -> list[bytes]:
        """Code that adds to two elements, or to one alone, what they get of iterations so far, and goes on.

        ``here`` pushes the address of the first, without the offset."""
        total = ZERO if self.is_new else read(here, offset, self.step, count)
        due = b"".join(self._due(v) + F64X2_ADD for v in self.sites)
        out = write(here, offset, self.step, total + due, count, self.new_local)
        for v in self.sites:
            row = [self.now[v], *self.before[v]]
            for to, of in reversed(list(zip(row[1:], row, strict=False))):
                out += [local_get(of), local_set(to)]
        return out

    def _due(self, v: int) -> bytes:
        """Code that pushes what a site adds to the elements."""
        row = [self.now[v], *self.before[v]]
        ago, odd = divmod(self.ahead[v], 2)
        if not odd:
            return local_get(row[ago])
        return local_get(row[ago + 1]) + local_get(row[ago]) + pair(1, 0)

    def end(self, place: Place, trips: int) -> list[bytes]:
        """Code after the last iteration: what is still to be added to the accumulator's ``place``."""
        out = [NOTHING + local_set(n) for n in self.now.values()]
        written = trips + trips % 2
        for k in range(written, trips + self.most, 2):
            here = place.at(self.low + k * self.step)
            out += self.add(here.base, here.offset, min(2, trips + self.most - k))
        return out
