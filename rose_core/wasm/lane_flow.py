"""What turns side by side add to neighbours: each element is read and written once, by all that it gets.

An element gets what the turn farthest before it adds, then what later turns do, each at its own offset. So
two neighbours get two lanes at a time of what turns of now and before have to add: an even number of turns
ago, as they are; an odd number, a lane of each of two pairs. Before the first turn and after the last one,
nothing is to be added: that is -0, which leaves every number as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rose_core.wasm.encode import F64X2_ADD, F64X2_SPLAT, LANE, LANES, f64_const, local_get, local_set, pair
from rose_core.wasm.lanes import STEP
from rose_core.wasm.layout import Place

ZERO, NOTHING = f64_const(0.0) + F64X2_SPLAT, f64_const(-0.0) + F64X2_SPLAT


class Flow:
    """The sites of an accumulator whose elements are neighbours."""

    def __init__(
        self, sites: Sequence[int], offsets: Sequence[int], new_local: Callable[[], int], is_new: bool
    ) -> None:
        """``offsets``: of each site the bytes to its element in the first of the turns side by side.

        ``is_new``: all elements are 0, and nothing has written them yet.
        """
        self.is_new = is_new
        self.low = min(offsets)
        ahead = {v: (at - self.low) // STEP for v, at in zip(sites, offsets, strict=True)}
        self.sites = sorted(sites, key=lambda v: -ahead[v])
        """Those that add to an element first come first."""
        self.ahead = ahead
        """By how many elements each is ahead of the last one."""
        self.most = max(ahead.values())
        self.now = {v: new_local() for v in sites}
        """The local variables with what two turns add;"""
        self.before = {v: [new_local() for _ in range((ahead[v] + 1) // 2)] for v in sites}
        """and with what the turns before did, the last ones first."""

    def begin(self) -> list[bytes]:
        """Code before the first turn."""
        return [NOTHING + local_set(n) for v in self.sites for n in self.before[v]]

    def add(self, address: bytes, place: Place, single: bool = False) -> list[bytes]:
        """Code that adds to two elements, or to one alone, what they get of turns so far, and goes on."""
        access = LANE if single else LANES
        out = [address, *([ZERO] if self.is_new else [address, access.load(place.offset)])]
        for v in self.sites:
            out += [self._due(v), F64X2_ADD]
        out.append(access.store(place.offset))
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

    def end(self, place: Place, turns: int) -> list[bytes]:
        """Code after the last of so many turns: what is still to be added. ``place``: of the accumulator."""
        out = [NOTHING + local_set(n) for n in self.now.values()]
        written = turns + turns % 2
        for k in range(written, turns + self.most, 2):
            here = place.at(self.low + k * STEP)
            out += self.add(here.base, here, single=k + 1 == turns + self.most)
        return out
