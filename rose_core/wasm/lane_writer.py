"""Loops whose iterations run two at a time, around the code of the iterations: pairs of iterations, and those
left over.

Iterations that run side by side are a loop, or unrolled where they are few; those before and after them, and
the last of an odd number, run in a lane alone. What the loop needs from outside is there when it begins.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rose_core.encode import (
    BR_IF_0,
    END,
    F64_CONVERT_S,
    F64X2_SPLAT,
    I32_ADD,
    I32_GE_U,
    I32_LT_U,
    I32_SHL,
    I32_SUB,
    I32X4_SPLAT,
    IF,
    LOOP,
    f64_const,
    i32_const,
    local_get,
    local_set,
    local_tee,
)
from rose_core.language.ir import VEC
from rose_core.language.types import BOOL, Fin
from rose_core.wasm.lane_numbers import Numbers, is_number
from rose_core.wasm.lane_sums import Sums
from rose_core.wasm.layout import BASE, Place
from rose_core.wasm.strides import STEP, write

if TYPE_CHECKING:
    from rose_core.wasm.lower import Body


class Writer(Numbers):
    """Writes a loop in lanes, behind what the block around it has so far."""

    def __init__(self, body: Body, number: int, places: Mapping[int, Place]) -> None:
        """``number``: the loop's block; ``places``: where each used result goes, by its number."""
        super().__init__(body)
        self.body: Body = body
        self.number = number
        self.block = self.func.blocks[number]
        self.home = self.func.home[self.block.owner]
        self.inside = {number}
        """The blocks that are written."""
        self.places = places
        trips = self.block.trips
        self.ends = (0, trips)
        """The iterations from the first to the second run side by side."""
        self.is_short = False
        """Whether the iterations side by side are unrolled."""
        self.pairs = 1
        """How many pairs of them run together."""
        self.is_alone = False
        """Whether the iteration that is being written runs before or after those."""
        self.origin = 0
        """The iteration from which on iterations are counted in the code that is being written."""
        self.taken = 0
        """How many local variables of lanes are in use."""
        self.brought: dict[int, bytes] = {}
        """Value from outside → code that pushes it."""
        self.outside: dict[int, bytes] = {}
        """Value from outside → code that pushes it in both lanes."""
        self.literals: dict[bytes, bytes] = {}
        """Code that pushes a literal of a recurrence → code that pushes it in both lanes."""
        self.steps: dict[int, int] = {}
        """Bytes from one iteration to the next → local variable with the bytes to this one."""

    def iteration(self, count: int) -> list[bytes]:
        """The code of ``count`` iterations side by side."""
        raise NotImplementedError

    def together(self) -> list[bytes]:
        """The code of those that run together."""
        return self.iteration(2)

    def begin(self) -> list[bytes]:
        """Code before iterations run side by side."""
        return []

    def end(self) -> list[bytes]:
        """Code after that."""
        return []

    def loop(self, used: Iterable[int], sums: Sequence[int], own: Collection[int] = ()) -> None:
        """Write the loop, which uses these values, unless they are its own; the sums are those of `Sums`."""
        body, out = self.body, self.body.out[self.home]
        first, last = self.ends
        counted = self.block.count
        count = i32_const(last - first) if counted is None else body.settle(counted, self.home)
        out += self._spread()
        self.sums = Sums(body, sums, self.new_local, self.block.down, own)
        self.i = body.new_local(True)
        """The local variable with the iteration, counted from the origin, times the bytes of an element."""
        self.start = self.taken
        self._alone(range(first))
        self._beside(count)
        self._alone(range(last, self.block.trips))
        body.free[-1][1].append(self.i)
        results = [self.block.results[k] for k in self.places]
        if counted is not None:
            results.append(counted)
        for x in filter(self.is_outside, [*used, *results]):
            if x >= 0:
                body.used(x, self.number)
        delayed, body.delayed[self.number] = body.delayed[self.number], []
        for x in delayed:
            body.used(x, self.home)

    def _beside(self, count: bytes) -> None:
        """Write the iterations that run side by side, of which ``count`` pushes how many there are."""
        out, (first, last) = self.body.out[self.home], self.ends
        trips = last - first
        self.is_alone, self.origin = False, first
        whole = trips - trips % (2 * self.pairs)
        step = [local_get(self.i), i32_const(2 * self.pairs * STEP), I32_ADD, local_tee(self.i)]
        out += [*self.begin(), *self.sums.begin(), BASE, local_set(self.i)]
        if self.is_short:
            for self.origin in range(first, last, 2):
                self.taken = self.start
                out += self.iteration(min(2, last - self.origin))
        elif not self.block.is_whole:
            out += self._counted(count)
        else:
            out += [LOOP, *self.together(), *step, i32_const(whole * STEP), I32_LT_U, BR_IF_0, END]
            for done in range(whole, trips, 2):
                self.taken = self.start
                out += [i32_const(done * STEP), local_set(self.i)] if done > whole else []
                out += self.iteration(min(2, trips - done))
        out += [*self.end(), *self.sums.end()]

    def _counted(self, count: bytes) -> list[bytes]:
        """The code of as many iterations as ``count`` pushes, or of all from the last one on."""
        body, out, i = self.body, list[bytes](), local_get(self.i)
        end = body.new_local(True)
        both, two = self.iteration(2), i32_const(2 * STEP)
        self.taken = self.start
        one = self.iteration(1)
        size = [count, i32_const(3), I32_SHL]
        body.free[-1][1].append(end)
        if self.block.down:
            out += [*size, local_set(self.i), i, two, I32_GE_U, IF, LOOP]
            out += [i, two, I32_SUB, local_set(self.i), *both, i, two, I32_GE_U, BR_IF_0, END, END]
            return [*out, i, IF, BASE, local_set(self.i), *one, END]
        out += [*size, local_set(end), local_get(end), two, I32_GE_U, IF, LOOP, *both]
        step = [local_get(end), i, two, I32_ADD, local_tee(self.i), two, I32_ADD]
        out += [*step, I32_GE_U, BR_IF_0, END, END]
        return [*out, i, local_get(end), I32_LT_U, IF, *one, END]

    def _alone(self, iterations: Iterable[int]) -> None:
        """Write these iterations, each by itself."""
        out = self.body.out[self.home]
        for iteration in iterations:
            self.is_alone, self.origin, self.taken = True, iteration, self.start
            out += [BASE, local_set(self.i), *self.iteration(1)]
        self.taken = self.start

    def is_outside(self, x: int) -> bool:
        return x < 0 or self.func.home[x] not in self.inside

    def bring(self, values: Iterable[int]) -> None:
        """See to it that values from outside are there when the loop begins."""
        for x in values:
            if x not in self.brought and self.is_outside(x):
                if x >= 0:
                    push = self.body.settle(x, self.home)
                    if isinstance(self.func.types[x], Fin):
                        push += F64_CONVERT_S
                elif self.func.type_of(x) is BOOL:
                    push = i32_const(int(self.func.pool[~x][0]))
                else:
                    push = f64_const(self.func.pool[~x][0])
                self.brought[x] = push

    def _spread(self) -> list[bytes]:
        """Code that puts what was brought into both lanes of local variables, a Bool as a mask.

        What is brought may need other loops, with the same local variables: so all of it is there before.
        """
        out: list[bytes] = []
        for x, push in self.brought.items():
            self.outside[x] = self._in_both(push, self.func.type_of(x) is BOOL, out)
        for push in self.literals:
            self.literals[push] = self._in_both(push, push[:1] == BASE[:1], out)
        return out

    def _in_both(self, push: bytes, is_bool: bool, out: list[bytes]) -> bytes:
        """Put what ``push`` pushes into both lanes of a local variable: code that pushes that."""
        n = self.new_local()
        out += [*([BASE, push, I32_SUB, I32X4_SPLAT] if is_bool else [push, F64X2_SPLAT]), local_set(n)]
        return local_get(n)

    def new_local(self) -> int:
        known = self.body.lane_locals
        if self.taken == len(known):
            known.append(self.body.unused_local("v"))
        self.taken += 1
        return known[self.taken - 1]

    def address(self, place: Place, step: int = STEP) -> bytes:
        """Code that pushes where the iteration is that has so many bytes, without the offset."""
        return place.plus(local_get(self.i if step == STEP else self.steps[step]))

    def results(self, known: Mapping[int, bytes], count: int) -> list[bytes]:
        """Code that writes the results of ``count`` iterations."""
        out = []
        for k, place in self.places.items():
            r = self.block.results[k]
            if is_number(self.func.type_of(r)):
                out += self.store(place.at(self.origin * STEP), STEP, known[r], count)
            elif self.func.code[r][0] == VEC:
                row = self.func.code[r][1:]
                for j, x in enumerate(row, self.origin * len(row)):
                    out += self.store(place.at(j * STEP), len(row) * STEP, known[x], count)
        return out

    def store(self, place: Place, step: int, value: bytes, count: int) -> list[bytes]:
        """Code that writes a number of ``count`` iterations, each ``step`` bytes from the one before."""
        return write(self.address(place, step), place.offset, step, value, count, self.new_local)
