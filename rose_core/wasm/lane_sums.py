"""What iterations side by side add to numbers that stay, lane after lane, in the order of the iterations.

Two such numbers are added to at once: the first lane of what is added to each, and then the second. So the
sums are those of the iterations one by one, to the bit, at half the additions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from rose_core.encode import (
    F64_ADD,
    F64_SUB,
    F64X2_ADD,
    F64X2_SPLAT,
    F64X2_SUB,
    extract_lane,
    load,
    local_get,
    local_set,
    pair,
    store,
)
from rose_core.language.ir import ACCUM
from rose_core.language.ops import by_name

if TYPE_CHECKING:
    from rose_core.wasm.lower import Body

_NEG = by_name["neg"].code

_IN_LANES = {F64_ADD: F64X2_ADD, F64_SUB: F64X2_SUB}


class Sums:
    """The sites of a loop that add to numbers that stay."""

    def __init__(
        self,
        body: Body,
        sites: Sequence[int],
        new_local: Callable[[], int],
        down: bool,
        own: Collection[int],
    ) -> None:
        """``down``: whether the last iteration comes first; ``own``: as `Lanes` has it."""
        self.down = down
        self.body = body
        self.code = body.func.code
        self.new_local = new_local
        self.locals = {v: self._local(self.code[v][1]) for v in sites}
        """Of each, the local variable that it adds to, or -1 for a place in memory."""
        often = Counter(self.locals.values())
        single: dict[bytes, list[int]] = {F64_ADD: [], F64_SUB: []}
        for v, n in self.locals.items():
            if often[n] == 1 if n >= 0 else self.code[v][1] in own:
                single[self._signed(v)[1]].append(v)
        self.pairs: dict[tuple[int, int], int] = {}
        """Two sites → the local variable with both sums, while iterations run side by side."""
        for some in single.values():
            if len(some) % 2 and self.locals[some[-1]] < 0:
                some.append(some[-1])  # it is in both lanes, which spares it the way through memory
            for both in zip(some[::2], some[1::2], strict=False):
                self.pairs[both] = new_local()
        in_pairs = {v for both in self.pairs for v in both}
        self.others = [v for v in sites if v not in in_pairs]
        self.sites = sites

    def begin(self) -> list[bytes]:
        """Code before iterations run side by side."""
        out = []
        for both, n in self.pairs.items():
            for v in both:
                out += [*self._get(v), F64X2_SPLAT]
            out += [pair(0, 0), local_set(n)]
        return out

    def end(self) -> list[bytes]:
        """Code after that."""
        return [
            code
            for both, n in self.pairs.items()
            for lane, v in enumerate(both)
            for code in self._set(v, local_get(n) + extract_lane(lane))
        ]

    def add(self, known: Mapping[int, bytes], count: int, is_alone: bool) -> list[bytes]:
        """Code that adds what ``count`` iterations do; ``is_alone``: before or after those side by side."""
        body, out = self.body, list[bytes]()
        terms = {}
        for v in self.sites:
            x, add = self._signed(v)
            n = self.new_local()
            out += [known[x], local_set(n)]
            terms[v] = local_get(n), add
        for lane in reversed(range(count)) if self.down else range(count):
            for (v, w), local in self.pairs.items() if not is_alone else ():
                (first, add), (second, _) = terms[v], terms[w]
                out += [local_get(local), first, second, pair(lane, lane), _IN_LANES[add], local_set(local)]
            for v in self.sites if is_alone else self.others:
                term, add = terms[v]
                out += body.adding(self.code[v][1], [term, extract_lane(lane), add])
        return out

    def _local(self, r: int) -> int:
        if r in self.body.window_of:
            return self.body.window_of[r].local(r)
        return self.body.local_of[r] >> 1 if self.code[r][0] == ACCUM else -1

    def _get(self, v: int) -> list[bytes]:
        """Code that pushes what a site adds to."""
        if self.locals[v] >= 0:
            return [local_get(self.locals[v])]
        place = self.body.place(self.code[v][1])
        return [place.base, load("f", place.offset)]

    def _set(self, v: int, value: bytes) -> list[bytes]:
        """Code that has it be another number."""
        if self.locals[v] >= 0:
            return [value, local_set(self.locals[v])]
        place = self.body.place(self.code[v][1])
        return [place.base, value, store("f", place.offset)]

    def _signed(self, v: int) -> tuple[int, bytes]:
        """A value, and what adds it to another one: of a negation, what takes away that of which it is."""
        x, demand = self.code[v][2], self.body.demand
        ins = self.code[x] if x >= 0 else (-1,)
        if ins[0] == _NEG and demand.uses[x] == 1 and not demand.rooted[x]:
            return ins[1], F64_SUB
        return x, F64_ADD
