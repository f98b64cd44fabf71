"""From instructions to WebAssembly: the statements of a function, and how it is entered and left.

Demand decides the order (`wasm.expressions`); accumulators and opaque calls keep theirs. Arrays
live in memory, at fixed addresses where possible, and are made where they are wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rose_core.encode import (
    BR_IF_0,
    END,
    I32_ADD,
    I32_LT_U,
    I32_MUL,
    I32_SUB,
    IF,
    SELECT,
    i32_const,
    load,
    local_tee,
    store,
)
from rose_core.encode import LOOP as LOOP_BEGIN
from rose_core.language.demand import Demand
from rose_core.language.ir import (
    ACCUM,
    ADD_TO,
    CALL,
    COND,
    FOR,
    GET,
    INDEX,
    LOOP,
    REF_INDEX,
    RESOLVE,
    SET,
    VEC,
    ZEROS,
    Func,
    is_unwritten,
    operands,
)
from rose_core.language.ops import BINARY_END, OPS, TABLE_END
from rose_core.language.queries import among, opcodes, param_ids, places, takes_accumulators
from rose_core.language.types import Array, Ref, has_tape, is_memory, is_tape
from rose_core.wasm.bulk import copied
from rose_core.wasm.context import Context
from rose_core.wasm.enclosed import Enclosed
from rose_core.wasm.lane_code import FlatWriter
from rose_core.wasm.lanes import in_lanes
from rose_core.wasm.layout import (
    BASE,
    Convention,
    Place,
    kind_of,
    letter,
    passed_kind,
    size_of,
)
from rose_core.wasm.lower_calls import Calls
from rose_core.wasm.lower_control import Operand, takes_memory
from rose_core.wasm.rows import RowsWriter, in_rows
from rose_core.wasm.values import get_local, set_local
from rose_core.wasm.windows import windows

_TAKE_ADDRESSES = among((*range(BINARY_END, TABLE_END), CALL, COND, LOOP))


@dataclass(frozen=True, slots=True)
class Around:
    """Where a function is written that is not called: in which other one, on what, and where results go that
    are arrays."""

    body: Body
    args: Sequence[Operand]
    places: Sequence[Place]


class Body(Calls):
    """The code of one function: its parts, and the end of its frame."""

    def __init__(
        self,
        func: Func,
        context: Context,
        frame: int,
        data: dict[int, int],
        demand: Demand | None = None,
        entry: tuple[list[int], list[int]] | None = None,
        around: Around | None = None,
    ) -> None:
        """As `Expressions`; ``entry``: for the function that the host calls, the addresses of its parameters
        and results, or -1; ``around``: where it is written, if that is in another function."""
        super().__init__(func, context, frame, data, demand)
        self.callees = context.callees
        self.runtime = context.runtime
        self.addressed = self._addressed()
        self.plan_updates(context.overwriting)
        self.given = context.given
        self.windows = windows(func, self.demand, self.affine, self.given) if len(func.blocks) > 1 else {}
        self.unwritten = {w.root for of in self.windows.values() for w in of if w.is_new}
        self.window_of = {}
        self.tapes = around.body.tapes if around else {}
        self.done: set[int] = set()
        """Loops, calls and additions that have been written."""
        self.result_places: list[Place | None]
        if around:
            self._bind_around(around)
        else:
            self.params, self.results = self._bind_entry(*entry) if entry else self._bind_params()
            self.parts.params = len(self.params)
        if around or takes_memory(func):
            self.parts.longest = len(func.code) << 16  # what it takes is given back at its end
        for v, place in zip(func.results, self.result_places, strict=True):
            if place is not None and v >= 0 and is_memory(func.types[v]):
                self.want(v, place, 0)
                if func.code[v][0] == INDEX:
                    self.row_results.setdefault(v, []).append(place)
        self.anchors(0)
        self._return()
        if around:
            return
        out = self.out[0]
        if takes_memory(func) and (entry or not any(map(has_tape, func.result_types))):
            out = []
            self.give_back(self.out[0], out)
        self.functions = self.parts.functions(b"".join(out), self.params, self.results)
        """The function, or the parts of one that is very long."""

    # -- parameters and results -----------------------------------------------------------------------

    def _addressed(self) -> set[int]:
        """Scalar accumulators that something else needs the address of."""
        func = self.func
        found: set[int] = set()
        if ACCUM in opcodes(func) or takes_accumulators(func):
            for v in places(func, _TAKE_ADDRESSES):
                given = operands(func.code[v], func.blocks)
                found.update(x for x in given if x >= 0 and isinstance(func.types[x], Ref))
        return found

    def _bind_params(self) -> tuple[str, str]:
        """Take parameters as the convention says; its WebAssembly signature."""
        _, convention = self.callees[self.func]
        assert isinstance(convention, Convention)
        ids = param_ids(self.func)
        self.local_count = len(convention.params)
        for n, k in enumerate((*convention.scalars, *convention.pointers)):
            self.expr[ids[k]] = get_local(n)
        n = len(self.func.params) - len(convention.blocked)
        self.result_places = [None] * len(self.func.results)
        if convention.in_block:
            for j, k in enumerate(convention.blocked):
                self.expr[ids[k]] = get_local(n) + load(passed_kind(self.func.params[k]), 8 * j)
            for j, k in enumerate(convention.blocked_written, len(convention.blocked)):
                self.result_places[k] = Place(get_local(n) + load("i", 8 * j), 0)
            n += 1
        for k in convention.written:
            self.result_places[k] = Place(get_local(n), 0)
            n += 1
        for j, k in enumerate(convention.blocked_results):
            self.result_places[k] = Place(get_local(n), 8 * j)
        for k, at in self.updates.overwriting.places(self.func).items():
            self.result_places[k] = self.place(ids[at])
        return convention.params, convention.results

    def _bind_around(self, around: Around) -> None:
        """Take parameters from where it is written, whose local variables it goes on with."""
        ids = param_ids(self.func)
        for k, given in enumerate(around.args):
            if isinstance(given, Place):
                self.put(ids[k], given)
            else:
                self.expr[ids[k]] = given
        body = around.body
        self.runs, self.local_count, self.lane_locals = body.runs, body.local_count, body.lane_locals
        places = iter(around.places)
        self.result_places = [next(places) if is_memory(t) else None for t in self.func.result_types]
        for k, at in self.updates.overwriting.places(self.func).items():
            self.result_places[k] = self.place(ids[at])

    def enclose(
        self, f: Func, enclosed: Enclosed, args: Sequence[Operand], places: Sequence[Place]
    ) -> list[bytes]:
        first = self.local_count
        around = Around(self, args, places)
        body = Body(f, self.context, self.frame_end, enclosed.data, enclosed.demand, around=around)
        self.frame_end, self.local_count = body.frame_end, body.local_count
        for n, kind in enumerate(self.kinds_from(first), first):
            if kind in "fi":
                self.free[-1][kind == "i"].append(n)
        return body.out[0]

    def _bind_entry(self, params: list[int], results: list[int]) -> tuple[str, str]:
        """Take parameters from the host, at these addresses; -1 for WebAssembly's own parameters."""
        types = self.func.params
        ids = param_ids(self.func)
        letters = ""
        for k, (t, address) in enumerate(zip(types, params, strict=True)):
            if is_memory(t):
                self.put(ids[k], Place(BASE, address))
            elif address >= 0:
                self.expr[ids[k]] = BASE + load(kind_of(t), address)
            else:
                self.expr[ids[k]] = get_local(len(letters))
                letters += letter(t)
        self.local_count = len(letters)
        self.result_places = [Place(BASE, a) if a >= 0 else None for a in results]
        returned = [letter(t) for t, a in zip(self.func.result_types, results, strict=True) if a < 0]
        return letters, "".join(returned)

    def _return(self) -> None:
        """Write or push the results."""
        returned = []
        out = self.out[0]
        for v, place in zip(self.func.results, self.result_places, strict=True):
            t = self.func.type_of(v)
            if place is None:
                returned.append(v)
            elif is_memory(t):
                if is_unwritten(self.func, v):
                    continue
                is_row = v >= 0 and self.func.code[v][0] == INDEX
                for to in self.row_results.pop(v, ()) if is_row else [place]:
                    self.copy(0, to, v, t)
            else:
                code = self.expression([v], 0)
                out += [place.base, *code, store(kind_of(t), place.offset)]
        out += self.expression(returned, 0)

    # -- statements ---------------------------------------------------------------------------------------

    def anchors(self, number: int) -> None:
        """Write what must happen in a block, in its order."""
        for v in self.demand.anchors[number]:
            self.statement(v)
            if not self.pending and len(self.out[0]) > self.parts.longest:
                self.parts.end([])

    def statement(self, v: int) -> None:
        """Write ``v`` as a statement of its own, unless that has been done."""
        if v not in self.done and self.expr[v] is None:
            ins = self.func.code[v]
            hides_code = ins[0] not in (VEC, ADD_TO)
            self.pending += hides_code
            _STATEMENT[ins[0]](self, v, ins)
            self.pending -= hides_code

    def select(self, v: int, ins: tuple[int, ...]) -> None:
        """A choice between arrays or accumulators: of addresses."""
        block = self.func.home[v]
        sides = [self.place(ins[2]).push(), self.place(ins[3]).push()]
        code = self.expression([ins[1]], block)
        self.out[block] += [*sides, *code, SELECT]
        self.used(ins[2], block)
        self.used(ins[3], block)
        self.out[block].append(self.keep(v, True))

    def part(self, v: int, ins: tuple[int, ...]) -> None:
        """A row of a matrix, or the place of an element in an accumulator."""
        block = self.func.home[v]
        t = self.func.types[v]
        inner = t.inner if isinstance(t, Ref) else t
        of = self.func.type_of(ins[1])
        if is_tape(of):
            self.read(v, ins)
            return
        if isinstance(of, Ref) and (is_tape(of.inner) or is_tape(inner)):
            self.read_place(v, ins)
            return
        step = size_of(inner)
        whole = self.place(ins[1])
        if v in self.updates.apart:
            self.row_apart(v, ins, whole, step)
            return
        if ins[2] < 0:
            self.put(v, whole.at(int(self.func.pool[~ins[2]][0]) * step))
            self.name(v, ins[1])
            return
        i, factor, constant = self.affine(ins[2]) or (ins[2], 1, 0)
        code = self.expression([i], block)
        before = [] if whole.base is BASE else [whole.base]
        self.out[block] += [*before, *code, self._scaled(whole.base, factor * step)]
        self.used(ins[1], block)
        self.out[block].append(self.keep(v, True))
        self.offset[v] = whole.offset + constant * step

    def row_apart(self, v: int, ins: tuple[int, ...], whole: Place, size: int) -> None:
        """A copy of a row."""
        block, place, n = self.func.home[v], self.reserve(size), self.new_local(True)
        out = self.out[block]
        row = [whole.base, self.settle(ins[2], block), i32_const(size), I32_MUL, I32_ADD, set_local(n)]
        out += [*row, *copied(place, Place(get_local(n), whole.offset), size)]
        self.free[-1][1].append(n)
        self.used(ins[1], block)
        self.used(ins[2], block)
        self.put(v, place)

    def vec(self, v: int, ins: tuple[int, ...]) -> None:
        t = self.func.types[v]
        assert isinstance(t, Array)
        block = self.func.home[v]
        if v in self.data:
            self.put(v, Place(BASE, self.data[v]))
            return
        place, step, kind = self.room_for(v, t), size_of(t.elem), kind_of(t)
        for k, x in enumerate(ins[1:]):
            if is_memory(t.elem):
                # neither changes with the other where one of them is overwritten
                if x not in self.clobbered and (v not in self.clobbered or self.left[x] == 1):
                    self.want(x, place.at(k * step), block)
                    if v in self.clobbered:
                        self.clobbered.add(x)
                self.copy(block, place.at(k * step), x, t.elem)
            else:
                code = self.expression([x], block)
                self.out[block] += [place.base, *code, store(kind, place.offset + k * step)]
        self.put(v, place)

    def get(self, v: int, ins: tuple[int, ...]) -> None:
        """A result of a loop or a call, whose statement says where it is."""
        self.statement(ins[1])
        self.used(ins[1], self.func.home[v])

    def loop(self, v: int, ins: tuple[int, ...]) -> None:
        """``[for i: n, …]``: each iteration writes its results into the rows of the arrays."""
        number = ins[1]
        block = self.func.blocks[number]
        self.done.add(v)
        columns = self.demand.columns.get(v, {})
        places = {k: self.room_for(get, self.func.types[get]) for k, get in columns.items()}
        if lanes := in_lanes(self, number, columns):
            FlatWriter(self, lanes, places).write()
        elif sums := in_rows(self, number, columns):
            RowsWriter(self, sums, places).write()
        elif block.trips:
            self._iterations_one_by_one(number, columns, places)
        for k, get in columns.items():
            self.put(get, places[k])

    def _iterations_one_by_one(self, number: int, columns: dict[int, int], places: dict[int, Place]) -> None:
        """The loop as it is written down; neither lanes nor rows are of use."""
        block = self.func.blocks[number]
        home = self.func.home[block.owner]
        n = block.trips
        # which keeps its local variable while iterations run
        count = i32_const(n) if block.count is None else self.settle(block.count, home)
        self.loops.append(number)
        self.free.append(([], []))
        i = self.new_local(True)
        iteration_number = self.expr[block.index] = get_local(i)
        inside = [(w, self.place(w.accumulator)) for w in self.windows.get(number, ())]
        for window, place in inside:
            window.locals = [self.new_local(False) for _ in range(window.width)]
            self.window_of.update(dict.fromkeys(window.sites, window))
            self.out[home] += window.before(place)
            self.out[number] += window.enter(place, iteration_number)
        rows = [self._row(number, i, block.results[k], place) for k, place in places.items()]
        self.anchors(number)
        for k, row in zip(places, rows, strict=True):
            r = block.results[k]
            t = self.func.type_of(r)
            if is_memory(t):
                self.copy(number, row, r, t)
            else:
                code = self.expression([r], number)
                self.out[number] += [row.base, *code, store(kind_of(t), row.offset)]
        for window, place in inside:
            self.out[number] += window.leave(place, iteration_number)
            self.free[-1][0].extend(window.locals)
            for _ in range(window.heads):
                self.used(window.accumulator, number)
        self.loops.pop()
        for inner, outer in zip(self.free.pop(), self.free[-1], strict=True):
            outer += inner
        iteration = self.out[number]
        if self._keeps_no_memory(number, columns):
            iteration = []
            self.give_back(self.out[number], iteration)
        if block.down:
            before = [count, set_local(i), LOOP_BEGIN, get_local(i), i32_const(1), I32_SUB, set_local(i)]
            code = [*before, *iteration, get_local(i), BR_IF_0, END]
        else:
            step = [get_local(i), i32_const(1), I32_ADD, local_tee(i), count, I32_LT_U, BR_IF_0, END]
            code = [BASE, set_local(i), LOOP_BEGIN, *iteration, *step]
        self.out[home] += code if block.count is None else [count, IF, *code, END]
        for window, place in inside:
            self.out[home] += window.after(place)
        self.out[number] = []
        self.free[-1][1].append(i)
        if block.count is not None:
            self.used(block.count, home)
        delayed, self.delayed[number] = self.delayed[number], []
        for x in delayed:
            self.used(x, home)

    def _keeps_no_memory(self, number: int, columns: dict[int, int]) -> bool:
        """Whether an iteration of a loop takes memory that nobody has after it."""
        block = self.func.blocks[number]
        if any(has_tape(self.func.type_of(block.results[k])) for k in columns):
            return False
        return takes_memory(self.func) and any(
            ins[0] in (CALL, COND, LOOP, ZEROS) for ins in map(self.func.code.__getitem__, block.order)
        )

    def _row(self, number: int, i: int, r: int, place: Place) -> Place:
        """Where this iteration's result ``r`` of a loop goes, in an array at ``place``."""
        t = self.func.type_of(r)
        step = size_of(t)
        at = get_local(i) if place.base is BASE else place.base + get_local(i)
        at += self._scaled(place.base, step)
        if is_memory(t):
            n = self.new_local(True)
            self.out[number] += [at, set_local(n)]
            row = Place(get_local(n), place.offset)
            self.want(r, row, number)
            return row
        return Place(at, place.offset)


_STATEMENT: dict[int, Callable[[Body, int, tuple[int, ...]], None]] = {
    INDEX: Body.part,
    REF_INDEX: Body.part,
    VEC: Body.vec,
    GET: Body.get,
    ACCUM: Body.accum,
    ADD_TO: Body.add_to,
    RESOLVE: Body.resolve,
    FOR: Body.loop,
    CALL: Body.call,
    COND: Body.cond,
    LOOP: Body.control_loop,
    SET: Body.set,
    ZEROS: Body.zeros,
    OPS[-1].code: Body.select,
}
