"""The code of loops whose turns run two at a time: see `wasm.lanes`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rose_core.encode import (
    BR_IF_0,
    ELSE,
    END,
    F64_ADD,
    F64_CONVERT_S,
    F64X2_ADD,
    F64X2_OF_I32,
    F64X2_SPLAT,
    I32_ADD,
    I32_AND,
    I32_GE_U,
    I32_LT_U,
    I32_MUL,
    I32_NE,
    I32_SHL,
    I32_SHR_U,
    I32_SUB,
    I32X4_SPLAT,
    IF,
    LANE,
    LANES,
    LOOP,
    Access,
    extract_lane,
    f64_const,
    i32_const,
    lanes_const,
    load,
    local_get,
    local_set,
    local_tee,
    pair,
    store,
)
from rose_core.language.ir import INDEX, REF_INDEX, VEC, Block
from rose_core.language.ops import by_name
from rose_core.language.types import BOOL, Fin
from rose_core.wasm.bulk import zeroed
from rose_core.wasm.lane_flow import NOTHING, ZERO, Flow
from rose_core.wasm.lane_sums import Sums
from rose_core.wasm.lanes import COMPARISONS, Beside, Column, Lanes, in_lanes_of, is_number
from rose_core.wasm.layout import BASE, Place, size_of
from rose_core.wasm.pieces import Piece, at
from rose_core.wasm.strides import STEP, read, write
from rose_core.wasm.windows import Window

if TYPE_CHECKING:
    from rose_core.wasm.lower import Body

_SELECT = by_name["select"].code

_MOST_TURNS, _MOST_WRITTEN = 16, 48
"""The most turns of a loop in another one that are written out, and how much there may be then."""


class Writer:
    """Writes a loop in lanes, behind what the block around it has so far."""

    def __init__(self, body: Body, number: int, places: Mapping[int, Place]) -> None:
        """``number``: the loop's block; ``places``: where each used result goes, by its number."""
        self.body = body
        self.func = body.func
        self.number = number
        self.block = self.func.blocks[number]
        self.home = self.func.home[self.block.owner]
        self.inside = {number}
        """The blocks that are written."""
        self.places = places
        turns = self.block.turns
        self.ends = (0, turns)
        """The turns from the first to the second run side by side."""
        self.is_short = False
        """Whether the turns side by side are written out."""
        self.is_alone = False
        """Whether the turn that is being written runs before or after those."""
        self.origin = 0
        """The turn from which on turns are counted in the code that is being written."""
        self.taken = 0
        """How many local variables of lanes are in use."""
        self.answers: dict[int, bool] = {}
        """Bools that are the same in all turns that are being written."""
        self.brought: dict[int, bytes] = {}
        """Value from outside → code that pushes it."""
        self.outside: dict[int, bytes] = {}
        """Value from outside → code that pushes it in both lanes."""
        self.steps: dict[int, int] = {}
        """Bytes from one turn to the next → local variable with the bytes to this one."""

    def turn(self, count: int) -> list[bytes]:
        """The code of ``count`` turns side by side."""
        raise NotImplementedError

    def begin(self) -> list[bytes]:
        """Code before turns run side by side."""
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
        """The local variable with the turn, counted from the origin, times the bytes of an element."""
        self.start = self.taken
        self._alone(range(first))
        self._beside(count)
        self._alone(range(last, self.block.turns))
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
        """Write the turns that run side by side, of which ``count`` pushes how many there are."""
        out, (first, last) = self.body.out[self.home], self.ends
        turns = last - first
        self.is_alone, self.origin = False, first
        whole = turns & -2
        step = [local_get(self.i), i32_const(2 * STEP), I32_ADD, local_tee(self.i)]
        out += [*self.begin(), *self.sums.begin(), BASE, local_set(self.i)]
        if self.is_short:
            for self.origin in range(first, last, 2):
                self.taken = self.start
                out += self.turn(min(2, last - self.origin))
        elif not self.block.is_whole:
            out += self._counted(count)
        else:
            out += [LOOP, *self.turn(2), *step, i32_const(whole * STEP), I32_LT_U, BR_IF_0, END]
            if turns != whole:
                self.taken = self.start
                out += self.turn(1)
        out += [*self.end(), *self.sums.end()]

    def _counted(self, count: bytes) -> list[bytes]:
        """The code of as many turns as ``count`` pushes, or of all from the last one on."""
        body, out, i = self.body, list[bytes](), local_get(self.i)
        end = body.new_local(True)
        both, two = self.turn(2), i32_const(2 * STEP)
        self.taken = self.start
        one = self.turn(1)
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

    def _alone(self, turns: Iterable[int]) -> None:
        """Write these turns, each by itself."""
        out = self.body.out[self.home]
        for turn in turns:
            self.is_alone, self.origin, self.taken = True, turn, self.start
            out += [BASE, local_set(self.i), *self.turn(1)]
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
        out = []
        for x, push in self.brought.items():
            is_mask = self.func.type_of(x) is BOOL
            n = self.new_local()
            out += [*([BASE, push, I32_SUB, I32X4_SPLAT] if is_mask else [push, F64X2_SPLAT]), local_set(n)]
            self.outside[x] = local_get(n)
        return out

    def new_local(self) -> int:
        known = self.body.lane_locals
        if self.taken == len(known):
            known.append(self.body.unused_local("v"))
        self.taken += 1
        return known[self.taken - 1]

    def operation(self, v: int, known: dict[int, bytes], out: list[bytes], got: bytes = b"") -> None:
        """Compute ``v``, of what is ``known``, or by code that reads it."""
        ins = self.func.code[v]
        if v in known:
            return
        if v in self.body.mates:
            mates, _ = self.body.mates[v]
            places = [self.new_local() for _ in mates]
            out += [known[ins[1]], in_lanes_of(self.body, v), *map(local_set, reversed(places))]
            known.update(zip(mates, map(local_get, places), strict=True))
            return
        push = got
        if ins[0] == _SELECT and ins[1] in self.answers:
            push = known[ins[2] if self.answers[ins[1]] else ins[3]]
        elif not got:
            # of three operands the first is on top of the stack
            first, *others = [known[x] for x in ins[1:]]
            push = b"".join([first, *others] if len(others) < 2 else [*others, first])
            push += in_lanes_of(self.body, v)
        if self.body.demand.uses[v] > 1 or self.body.demand.rooted[v]:
            n = self.new_local()
            out += [push, local_set(n)]
            push = local_get(n)
        known[v] = push

    def address(self, place: Place, step: int = STEP) -> bytes:
        """Code that pushes where the turn is that has so many bytes, without the offset."""
        return place.plus(local_get(self.i if step == STEP else self.steps[step]))

    def results(self, known: Mapping[int, bytes], count: int) -> list[bytes]:
        """Code that writes the results of ``count`` turns."""
        out = []
        for k, place in self.places.items():
            r = self.block.results[k]
            if is_number(self.func.type_of(r)):
                out += self.store(place.at(self.origin * STEP), STEP, known[r], count)
            else:
                row = self.func.code[r][1:]
                for j, x in enumerate(row, self.origin * len(row)):
                    out += self.store(place.at(j * STEP), len(row) * STEP, known[x], count)
        return out

    def store(self, place: Place, step: int, value: bytes, count: int) -> list[bytes]:
        """Code that writes a number of ``count`` turns, each ``step`` bytes from the one before."""
        return write(self.address(place, step), place.offset, step, value, count, self.new_local)


class FlatWriter(Writer):
    """Writes a loop that no other loop is in."""

    def __init__(self, body: Body, lanes: Lanes, places: Mapping[int, Place]) -> None:
        super().__init__(body, lanes.number, places)
        self.lanes = lanes
        self.ends = lanes.first, lanes.last
        self.is_short = _is_short(lanes, self.home, self.block)
        windows = [w for w in body.windows.get(lanes.number, ()) if w.is_new]
        self.new: dict[Column, Window] = {(w.accumulator, w.column, ()): w for w in windows}
        """Those whose zeros need not be written."""
        self.zeroed: list[Window] = []
        """Those whose zeros turns read that run alone."""
        if self.ends != (0, self.block.turns):
            in_flow = {of for of, *_ in lanes.flows.keys() & self.new.keys()}
            self.zeroed = [w for w in windows if w.accumulator in in_flow]
            for w in self.zeroed:
                del self.new[w.accumulator, w.column, ()]
        if lanes.in_turn:
            self.zeroed, self.new = windows, {}

    def write(self) -> None:
        body, code, lanes = self.body, self.func.code, self.lanes
        values, rows, sites, sums = (
            [code[v] for v in of] for of in (lanes.values, lanes.rows, lanes.sites, lanes.sums)
        )
        elements = [code[r] for r in dict.fromkeys(ins[1] for ins in sites)]
        for of in (*(found.of for found in lanes.elements.values()), *(ins[1] for ins in sums)):
            body.reach(of)
        for ins in (*values, *rows):
            if ins[0] not in (INDEX, REF_INDEX):
                self.bring(ins[1:])
        self.bring(ins[2] for ins in (*sites, *sums))
        self.bring(r for k in self.places if is_number(self.func.type_of(r := self.block.results[k])))
        self.bases = self._bases()
        for window in self.new.values():
            body.out[self.home] += window.before(body.place(window.accumulator))
        for of in dict.fromkeys(w.accumulator for w in self.zeroed):
            inner = self.func.types[of].inner  # type: ignore[attr-defined]
            body.out[self.home] += zeroed(body.place(of), size_of(inner))
        steps = {found.step for found in lanes.elements.values()} | {w.step for w in self.new.values()}
        steps |= {(len(ins) - 1) * STEP for ins in rows if ins[0] == VEC}
        self.steps = {step: body.new_local(True) for step in sorted(steps - {STEP})}
        self.flows = {column: self._flow(column, sites) for column, sites in lanes.flows.items()}
        shifted = [code[v] for v in lanes.shifted]
        used = [x for ins in (*values, *rows, *sites, *sums, *elements, *shifted) for x in ins[1:]]
        self.loop(used, [v for v in lanes.sums if v not in lanes.in_turn], lanes.own)
        body.free[-1][1].extend([*self.steps.values(), *self.bases.values()])

    def _beside(self, count: bytes) -> None:
        """Where rows turn out to be the same, turns run one after the other."""
        unsure = self.lanes.unsure
        if not unsure:
            super()._beside(count)
            return
        body, out, (first, last) = self.body, self.body.out[self.home], self.ends
        for k, rows in enumerate(unsure):
            out += [body.place(r).push() for r in rows]
            out += [I32_NE, I32_AND] if k else [I32_NE]
        out.append(IF)
        super()._beside(count)
        self.is_alone, self.origin, self.taken = True, first, self.start
        out += [ELSE, BASE, local_set(self.i), LOOP, *self.turn(1)]
        out += [local_get(self.i), i32_const(STEP), I32_ADD, local_tee(self.i)]
        out += [i32_const((last - first) * STEP), I32_LT_U, BR_IF_0, END, END]

    def _bases(self) -> dict[tuple[int, Beside], int]:
        """Array and indices from outside → local variable with where the element of these indices is."""
        body = self.body
        found = dict.fromkeys((e.of, e.beside) for e in self.lanes.elements.values() if e.beside)
        pushed = {i: body.settle(i, self.home) for _, beside in found for i, _ in beside}
        bases = {key: body.new_local(True) for key in found}
        for (of, beside), n in bases.items():
            (first, *others) = (pushed[i] + i32_const(size) + I32_MUL for i, size in beside)
            more = b"".join([first, *(push + I32_ADD for push in others)])
            body.out[self.home] += [body.place(of).plus(more), local_set(n)]
        return bases

    def turn(self, count: int) -> list[bytes]:
        body, code, lanes = self.body, self.func.code, self.lanes
        out: list[bytes] = []
        for step, local in self.steps.items():
            out += [local_get(self.i), i32_const(step // STEP), I32_MUL, local_set(local)]
        self.answers = {v: at(answer, self.origin)[2] != 0 for v, answer in lanes.answers.items()}
        known = dict(self.outside)
        known |= {v: i32_const(-answer) + I32X4_SPLAT for v, answer in self.answers.items()}
        for v in lanes.values:
            self.operation(v, known, out, self._read(v, count))
        if lanes.in_turn:
            out += self._add_in_turn(known, count)
            return out + self.results(known, count) + self.sums.add(known, count, self.is_alone)
        sums = {column: self.new_local() for column in self.new if column not in self.flows}
        out += [ZERO + local_set(n) for n in sums.values()]
        is_alone = self.is_alone
        totals: dict[int, int] = {}
        left = dict(lanes.repeated)
        in_flow = {} if is_alone else {v: n for flow in self.flows.values() for v, n in flow.now.items()}
        for v in lanes.sites if is_alone else sorted(lanes.sites, key=self._nearness):
            _, r, x = code[v]
            n = sums.get(lanes.elements[r].column)
            if n is not None:
                out += [local_get(n), known[x], F64X2_ADD, local_set(n)]
            elif v in lanes.single:
                out += self._add_singly(r, known[x], count)
            elif v in in_flow:
                rest = NOTHING + pair(0, 0) if count == 1 else b""
                out += [known[x], rest, local_set(in_flow[v])]
            elif r in left:
                left[r] -= 1
                before = local_get(totals[r]) if r in totals else self._load(r, count)
                n = totals[r] = totals[r] if r in totals else self.new_local()
                out += [before, known[x], F64X2_ADD, local_set(n)]
                if not left[r]:
                    out += self.store(self._place(r), lanes.elements[r].step, local_get(n), count)
            else:
                total = self._load(r, count) + known[x] + F64X2_ADD
                out += self.store(self._place(r), lanes.elements[r].step, total, count)
        for column, n in sums.items():
            window = self.new[column]
            place = window.at(body.place(window.accumulator), self.origin + window.low)
            out += self.store(place, window.step, local_get(n), count)
        for (of, *_), flow in self.flows.items() if not is_alone else ():
            place = body.place(of).at(flow.low)
            out += flow.add(self.address(place, flow.step), place.offset)
        return out + self.results(known, count) + self.sums.add(known, count, is_alone)

    def begin(self) -> list[bytes]:
        return [code for flow in self.flows.values() for code in flow.begin()]

    def end(self) -> list[bytes]:
        turns = self.lanes.last - self.lanes.first
        flows = self.flows.items()
        return [code for (of, *_), flow in flows for code in flow.end(self.body.place(of), turns)]

    def _flow(self, column: Column, sites: Sequence[int]) -> Flow:
        elements = {v: self.lanes.elements[self.func.code[v][1]] for v in sites}
        lowest = min(elements.values(), key=lambda e: e.ahead)
        ahead = {v: e.ahead - lowest.ahead for v, e in elements.items()}
        low, is_new = lowest.offset(self.lanes.first), column in self.new
        return Flow(low, lowest.step, ahead, self.new_local, is_new)

    def _nearness(self, v: int) -> int:
        """Elements that several turns add to come from the farthest to the nearest."""
        if v not in self.lanes.shared:
            return 0
        return -self.lanes.elements[self.func.code[v][1]].offset(self.lanes.first)

    def _read(self, v: int, count: int) -> bytes:
        """Code that reads ``v``, or makes it of the turn's number; none for what is computed of others."""
        lanes, ins = self.lanes, self.func.code[v]
        if v in lanes.elements:
            return self._load(v, count)
        if v in lanes.compared:
            operands = zip(ins[1:], lanes.compared[v], strict=True)
            pushed = [self._number(of, count) if of else self.outside[x] for x, of in operands]
            return b"".join(pushed) + COMPARISONS[ins[0]]
        return self._number(lanes.numbers[v], count) if v in lanes.numbers else b""

    def _number(self, of: Sequence[Piece], count: int) -> bytes:
        """Code that makes a number of an index that follows the turns."""
        _, factor, constant = at(of, self.origin)
        turn = [local_get(self.i), i32_const(3), I32_SHR_U, i32_const(factor), I32_MUL]
        here = [*turn, i32_const(factor * self.origin + constant), I32_ADD, F64X2_OF_I32]
        return b"".join(here if count == 1 else [*here, lanes_const(0.0, factor), F64X2_ADD])

    def _place(self, v: int) -> Place:
        """Where an element is in the turn that turns are counted from."""
        found = self.lanes.elements[v]
        place = self.body.place(found.of)
        if found.beside:
            place = Place(local_get(self.bases[found.of, found.beside]), place.offset)
        return place.at(found.offset(self.origin))

    def _load(self, v: int, count: int) -> bytes:
        """Code that reads an element of ``count`` turns."""
        place, step = self._place(v), self.lanes.elements[v].step
        return read(self.address(place, step), place.offset, step, count)

    def _add_in_turn(self, known: Mapping[int, bytes], count: int) -> list[bytes]:
        """Code that adds what ``count`` turns add, first all of one and then all of the next."""
        lanes, out, terms = self.lanes, list[bytes](), list[tuple[int, bytes]]()
        for v in lanes.in_turn:
            _, r, x = self.func.code[v]
            n = self.new_local()
            out += [known[x], local_set(n)]
            terms.append((r, local_get(n)))
        for lane in reversed(range(count)) if self.block.down else range(count):
            for r, term in terms:
                if r in lanes.elements:
                    out += self._add_lane(r, term, lane)
                else:
                    out += self.body.adding(r, [term, extract_lane(lane), F64_ADD])
        return out

    def _add_lane(self, r: int, term: bytes, lane: int) -> list[bytes]:
        """Code that adds a lane to the element of its turn."""
        place, step = self._place(r), self.lanes.elements[r].step
        here, offset = self.address(place, step), place.offset + lane * step
        return [here, here, load("f", offset), term, extract_lane(lane), F64_ADD, store("f", offset)]

    def _add_singly(self, r: int, x: bytes, count: int) -> list[bytes]:
        """Code that adds to an element of ``count`` turns, one after the other."""
        n = self.new_local()
        out = [x, local_set(n)]
        for lane in range(count):
            out += self._add_lane(r, local_get(n), lane)
        return out


def _is_short(lanes: Lanes, home: int, block: Block) -> bool:
    """Whether a loop in another one is written out."""
    turns = lanes.last - lanes.first
    written = turns * (len(lanes.values) + len(lanes.sites))
    return (
        home > 0
        and block.is_whole
        and turns <= _MOST_TURNS
        and written <= _MOST_WRITTEN
        and not (lanes.flows or lanes.sums)
    )


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
