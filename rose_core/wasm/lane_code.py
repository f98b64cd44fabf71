"""The code of loops that run in lanes and have no other loop without a state in them: see `wasm.lanes`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rose_core.encode import (
    BR_IF_0,
    ELSE,
    END,
    F64_ADD,
    F64X2_ADD,
    F64X2_OF_I32,
    I32_ADD,
    I32_AND,
    I32_LT_U,
    I32_MUL,
    I32_NE,
    I32_SHR_U,
    I32X4_SPLAT,
    IF,
    LOOP,
    extract_lane,
    i32_const,
    lanes_const,
    load,
    local_get,
    local_set,
    local_tee,
    pair,
    store,
)
from rose_core.language.ir import INDEX, REF_INDEX, VEC, Block, operands
from rose_core.language.types import BOOL, is_memory
from rose_core.optimise.pieces import Piece, at
from rose_core.wasm.bulk import zeroed
from rose_core.wasm.lane_flow import NOTHING, ZERO, Flow
from rose_core.wasm.lane_numbers import COMPARISONS, is_number
from rose_core.wasm.lane_writer import Writer
from rose_core.wasm.lanes import Beside, Column, Lanes
from rose_core.wasm.layout import BASE, Place, size_of
from rose_core.wasm.recurrence_code import RecurrenceWriter, Row, literal, steps
from rose_core.wasm.recurrences import Recurrence
from rose_core.wasm.strides import STEP, read
from rose_core.wasm.windows import Window

if TYPE_CHECKING:
    from rose_core.wasm.lower import Body

_MOST_TRIPS, _MOST_WRITTEN = 16, 48
"""The most iterations of a loop in another one that are unrolled, and how much there may be then."""


class FlatWriter(Writer):
    """Writes a loop that no other loop without a state is in."""

    def __init__(self, body: Body, lanes: Lanes, places: Mapping[int, Place]) -> None:
        super().__init__(body, lanes.number, places)
        self.lanes = lanes
        self.ends = lanes.first, lanes.last
        self.is_short = _is_short(lanes, self.home, self.block)
        self.scalars: dict[int, bytes] = {}
        """Indices from outside that recurrences have → code that pushes them."""
        self.frames: dict[int, Place] = {}
        """What recurrences keep for others in the same iteration → where both lanes of it are."""
        self.rows: dict[tuple[int, int], Row] = {}
        """Arrays that recurrences have in the iterations that are being written, and from which origin on."""
        self.ints: list[int] = []
        """The local variables of recurrences for indices and addresses."""
        self.ints_taken = 0
        windows = [w for w in body.windows.get(lanes.number, ()) if w.is_new]
        self.new: dict[Column, Window] = {(w.accumulator, w.column, ()): w for w in windows}
        """Those whose zeros need not be written."""
        self.zeroed: list[Window] = []
        """Those whose zeros iterations read that run alone."""
        if self.ends != (0, self.block.trips):
            in_flow = {of for of, *_ in lanes.flows.keys() & self.new.keys()}
            self.zeroed = [w for w in windows if w.accumulator in in_flow]
            for w in self.zeroed:
                del self.new[w.accumulator, w.column, ()]
        if lanes.in_turn:
            self.zeroed, self.new = windows, {}
        self.pairs = 2 if _gains_by_pairs(lanes) and not self.new else 1

    def write(self) -> None:
        body, code, lanes = self.body, self.func.code, self.lanes
        operations = [v for v in lanes.values if v not in lanes.recurrences]
        values, rows, sites, sums = (
            [code[v] for v in of] for of in (operations, lanes.rows, lanes.sites, lanes.sums)
        )
        elements = [code[r] for r in dict.fromkeys(ins[1] for ins in sites)]
        for of in (*(found.of for found in lanes.elements.values()), *(ins[1] for ins in sums)):
            body.reach(of)
        for ins in (*values, *rows):
            if ins[0] not in (INDEX, REF_INDEX):
                self.bring(ins[1:])
        self.bring(ins[2] for ins in (*sites, *sums))
        self.bring(r for k in self.places if is_number(self.func.type_of(r := self.block.results[k])))
        for recurrence in lanes.recurrences.values():
            self._bring_for(recurrence)
        self.bases = self._bases()
        for window in self.new.values():
            body.out[self.home] += window.before(body.place(window.accumulator))
        for of in dict.fromkeys(w.accumulator for w in self.zeroed):
            inner = self.func.inner_type_of(of)
            body.out[self.home] += zeroed(body.place(of), size_of(inner))
        steps = {found.step for found in lanes.elements.values()} | {w.step for w in self.new.values()}
        steps |= {(len(ins) - 1) * STEP for ins in rows if ins[0] == VEC}
        kept = {get for found in lanes.recurrences.values() for get in found.kept.values()}
        steps |= {size_of(self.func.types[get]) for get in kept - self.frames.keys()}
        self.steps = {step: body.new_local(True) for step in sorted(steps - {STEP})}
        self.flows = {column: self._flow(column, sites) for column, sites in lanes.flows.items()}
        shifted = [code[v] for v in lanes.shifted]
        used = [x for ins in (*values, *rows, *sites, *sums, *elements, *shifted) for x in ins[1:]]
        used += [x for v in lanes.recurrences for x in operands(code[v], self.func.blocks)]
        self.loop(used, [v for v in lanes.sums if v not in lanes.in_turn], lanes.own)
        body.free[-1][1].extend([*self.steps.values(), *self.bases.values(), *self.ints])

    def _bring_for(self, recurrence: Recurrence) -> None:
        """See to it that what a recurrence has from outside is there when the loop begins."""
        body = self.body
        for x in recurrence.operands:
            t = self.func.type_of(x)
            if is_number(t) or t is BOOL:
                self.bring([x])
            elif not self.is_outside(x):
                continue
            elif is_memory(t):
                body.place(x)
            else:
                self.scalars[x] = body.settle(x, self.home)
        if not recurrence.site.is_whole:
            count = recurrence.site.count
            self.scalars[count] = body.settle(count, self.home)
        func = recurrence.body.func
        for x in recurrence.literals():
            self.literals.setdefault(literal(func, x), b"")
        results = {self.block.results[k] for k in self.places}
        for get in recurrence.kept.values():
            if get not in results:
                self.frames[get] = body.reserve(2 * self.pairs * size_of(self.func.types[get]))

    def int_local(self) -> int:
        """A local variable for an index or an address, while the iterations run that are being written."""
        if self.ints_taken == len(self.ints):
            self.ints.append(self.body.new_local(True))
        self.ints_taken += 1
        return self.ints[self.ints_taken - 1]

    def row(self, x: int, out: list[bytes]) -> Row:
        """The array that a recurrence has as an operand or keeps; ``out``: for code that finds it."""
        if self.is_outside(x):
            return Row(self.body.place(x), 0)
        if x in self.frames:
            pair_number = (self.origin - self.lanes.first) // 2 % self.pairs
            place = self.frames[x].at(pair_number * 2 * size_of(self.func.types[x]))
            return Row(place, STEP, 2 * STEP)
        key = x, self.origin
        if key not in self.rows:
            if x in self.lanes.elements:
                place, apart = self._place(x), self.lanes.elements[x].step
            else:
                (k,) = (k for k in self.places if self.block.results[k] == x)
                apart = size_of(self.func.types[x])
                place = self.places[k].at(self.origin * apart)
            n = self.int_local()
            out += [self.address(place, apart), local_set(n)]
            self.rows[key] = Row(Place(local_get(n), place.offset), apart)
        return self.rows[key]

    def _beside(self, count: bytes) -> None:
        """Where rows turn out to be the same, iterations run one after the other."""
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
        out += [ELSE, BASE, local_set(self.i), LOOP, *self.iteration(1)]
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

    def iteration(self, count: int) -> list[bytes]:
        return self._iterations(count, [self.origin])

    def together(self) -> list[bytes]:
        return self._iterations(2, [self.origin + 2 * k for k in range(self.pairs)])

    def _iterations(self, count: int, origins: Sequence[int]) -> list[bytes]:
        """The code of ``count`` iterations side by side, from each of these origins on."""
        lanes = self.lanes
        out: list[bytes] = []
        for step, local in self.steps.items():
            out += [local_get(self.i), i32_const(step // STEP), I32_MUL, local_set(local)]
        self.answers = {v: at(answer, self.origin)[2] != 0 for v, answer in lanes.answers.items()}
        known = dict(self.outside)
        known |= {v: i32_const(-answer) + I32X4_SPLAT for v, answer in self.answers.items()}
        pairs = [(origin, dict(known)) for origin in origins]
        self.rows, self.ints_taken = {}, 0
        for v in lanes.values:
            number = self.int_local() if v in lanes.recurrences else -1
            writers: list[RecurrenceWriter] = []
            for self.origin, known in pairs:
                if number < 0:
                    self.operation(v, known, out, self._read(v, count))
                else:
                    writers.append(RecurrenceWriter(self, lanes.recurrences[v], number, count, known))
            out += steps(writers) if writers else []
            for writer, (_, known) in zip(writers, pairs, strict=False):
                known |= writer.ends()
        for self.origin, known in pairs:
            out += self._give(known, count)
        self.origin = origins[0]
        return out

    def _give(self, known: Mapping[int, bytes], count: int) -> list[bytes]:
        """The code that adds what is ``known`` of ``count`` iterations, and writes their results."""
        body, code, lanes, out = self.body, self.func.code, self.lanes, list[bytes]()
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
        trips = self.lanes.last - self.lanes.first
        flows = self.flows.items()
        return [code for (of, *_), flow in flows for code in flow.end(self.body.place(of), trips)]

    def _flow(self, column: Column, sites: Sequence[int]) -> Flow:
        elements = {v: self.lanes.elements[self.func.code[v][1]] for v in sites}
        lowest = min(elements.values(), key=lambda e: e.ahead)
        ahead = {v: e.ahead - lowest.ahead for v, e in elements.items()}
        low, is_new = lowest.offset(self.lanes.first), column in self.new
        return Flow(low, lowest.step, ahead, self.new_local, is_new)

    def _nearness(self, v: int) -> int:
        """Elements that several iterations add to come from the farthest to the nearest."""
        if v not in self.lanes.shared:
            return 0
        return -self.lanes.elements[self.func.code[v][1]].offset(self.lanes.first)

    def _read(self, v: int, count: int) -> bytes:
        """Code that reads ``v``, or makes it of the iteration's number; none if it is computed of others."""
        lanes, ins = self.lanes, self.func.code[v]
        if v in lanes.elements:
            return self._load(v, count)
        if v in lanes.compared:
            operands = zip(ins[1:], lanes.compared[v], strict=True)
            pushed = [self._number(of, count) if of else self.outside[x] for x, of in operands]
            return b"".join(pushed) + COMPARISONS[ins[0]]
        return self._number(lanes.numbers[v], count) if v in lanes.numbers else b""

    def _number(self, of: Sequence[Piece], count: int) -> bytes:
        """Code that makes a number of an index that follows the iterations."""
        _, factor, constant = at(of, self.origin)
        return self.as_number(factor, factor * self.origin + constant, count)

    def as_number(self, factor: int, constant: int, count: int, more: Sequence[bytes] = ()) -> bytes:
        """Code that makes a number of ``factor`` iterations, a constant, and more indices, added up."""
        here = [self.times(factor), i32_const(constant), I32_ADD, *(x + I32_ADD for x in more), F64X2_OF_I32]
        return b"".join(here if count == 1 else [*here, lanes_const(0.0, factor), F64X2_ADD])

    def times(self, factor: int) -> bytes:
        """Code that pushes the iteration, counted from the origin, so many times."""
        return local_get(self.i) + i32_const(3) + I32_SHR_U + i32_const(factor) + I32_MUL

    def _place(self, v: int) -> Place:
        """Where an element is in the iteration that iterations are counted from."""
        found = self.lanes.elements[v]
        place = self.body.place(found.of)
        if found.beside:
            place = Place(local_get(self.bases[found.of, found.beside]), place.offset)
        return place.at(found.offset(self.origin))

    def _load(self, v: int, count: int) -> bytes:
        """Code that reads an element of ``count`` iterations."""
        place, step = self._place(v), self.lanes.elements[v].step
        return read(self.address(place, step), place.offset, step, count)

    def _add_in_turn(self, known: Mapping[int, bytes], count: int) -> list[bytes]:
        """Code that adds what ``count`` iterations add, first all of one and then all of the next."""
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
        """Code that adds a lane to the element of its iteration."""
        place, step = self._place(r), self.lanes.elements[r].step
        here, offset = self.address(place, step), place.offset + lane * step
        return [here, here, load("f", offset), term, extract_lane(lane), F64_ADD, store("f", offset)]

    def _add_singly(self, r: int, x: bytes, count: int) -> list[bytes]:
        """Code that adds to an element of ``count`` iterations, one after the other."""
        n = self.new_local()
        out = [x, local_set(n)]
        for lane in range(count):
            out += self._add_lane(r, local_get(n), lane)
        return out


def _gains_by_pairs(lanes: Lanes) -> bool:
    """Whether it is worth to have two pairs of iterations go on together."""
    apart = lanes.flows or lanes.unsure or lanes.in_turn
    return bool(lanes.recurrences) and not apart and all(r.waits() for r in lanes.recurrences.values())


def _is_short(lanes: Lanes, home: int, block: Block) -> bool:
    """Whether a loop in another one is unrolled."""
    trips = lanes.last - lanes.first
    written = trips * (len(lanes.values) + len(lanes.sites))
    return (
        home > 0
        and block.is_whole
        and trips <= _MOST_TRIPS
        and written <= _MOST_WRITTEN
        and not (lanes.flows or lanes.sums or lanes.recurrences)
    )
