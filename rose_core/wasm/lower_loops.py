"""Loops with a state as WebAssembly: the state between the iterations, and what is kept of them.

The state is in local variables; an array in it has two places in memory, of which the body reads one and
writes the other, unless the next one takes the place of one before. What the body keeps of every iteration
goes to its row of an array, or into a record of tapes (`wasm.runtime`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from rose_core import errors
from rose_core.encode import (
    BLOCK,
    BR_0,
    BR_2,
    BR_IF_0,
    BR_IF_1,
    END,
    I32_ADD,
    I32_EQ,
    I32_EQZ,
    I32_GE_U,
    I32_GT_U,
    I32_LT_U,
    I32_MUL,
    I32_SUB,
    IF,
    LOOP,
    f64_const,
    global_get,
    global_set,
    i32_const,
    load,
    local_tee,
    store,
)
from rose_core.language.ir import ALL, Func, LoopSite
from rose_core.language.types import Type, is_memory, is_tape
from rose_core.wasm.bulk import copied, zeroed
from rose_core.wasm.enclosed import Enclosed
from rose_core.wasm.layout import BASE, Place, aligned, is_i32, kind_of, size_of
from rose_core.wasm.lower_control import ControlFlow, Operand
from rose_core.wasm.runtime import COUNT, DATA, DESCRIPTOR, F64_CONVERT_U, STRIDE, TOP
from rose_core.wasm.values import get_local, set_local

_CHUNK = 1024
"""The bytes, at least, that are taken at once for records."""


class Loops(ControlFlow):
    """The statements of loops with a state."""

    def control_loop(self, v: int, ins: tuple[int, ...]) -> None:
        """``LOOP``: the call of its body, again and again."""
        site = LoopSite(self.func, ins)
        spec, body = site.spec, site.body
        block = self.func.home[v]
        self.done.add(v)
        gets = self.demand.columns.get(v, {})
        types = body.result_types
        operands = [site.count, *site.state, *site.args, *site.test_args]
        count = self.settle(site.count, block)
        starts = [self.operand(x, block) for x in site.state]
        args = [self.operand(x, block) for x in site.args]
        test_args = [self.operand(x, block) for x in site.test_args]
        iteration = self._lasting(block, True)
        rows = _Rows(self, site, gets, count, block, iteration)
        number = self.new_local(True) if spec.down else iteration
        own = self.updates.overwriting.places(body)
        given = {k for k in own if gets.get(k) in self.reused}
        kept_in = {k: self.overwrite(site.state[k]) for k in given}
        moved = {k: at - 1 for k, at in own.items() if at != k + 1}
        state, other, fixed = self._enter(block, types[: spec.carries], starts, own, given)
        current = [
            fixed.get(k, Place(get_local(n), 0) if is_memory(types[k]) else get_local(n))
            for k, n in enumerate(state)
        ]
        written = dict(fixed)
        written |= {k: Place(get_local(n), 0) for k, n in other.items()}
        written |= {k: Place(get_local(state[j]), 0) for k, j in moved.items()}
        places = [*map(written.get, range(spec.carries)), *rows.places()]
        read = self._begin_to_read(block, args, body)
        called = self.invoke(body, [get_local(number), *current, *args], places)
        for tape in read:
            del self.tapes[tape]
        sets = {k: set_local(n) for k, n in enumerate(state) if k not in written}
        sets |= rows.sets()
        swaps = [_rotated(ring) for ring in _rings(state, other, moved)]
        one = [*rows.begin(number), *self._to_locals(called, sets), *swaps, *rows.end(number)]
        holds = None
        if site.test:
            code, _, others = self.invoke(site.test, [*current, *test_args], [None])
            holds = [*code, *others.values()]
        out = self._again(site, count, iteration, number, one, holds)
        self.out[block] += [BASE, set_local(iteration), *out, *rows.finish()]
        for k, n in enumerate(state):
            self._give(None if k in given else gets.get(k), n, is_i32(types[k]))
        for k, place in kept_in.items():
            self.put(gets[k], place)
            self.name(gets[k], site.state[k])
            operands.remove(site.state[k])
        self._give(gets.get(spec.carries), iteration, True)
        self.free[-1][1].extend(other.values())
        if spec.down:
            self.free[-1][1].append(number)
        self.free[-1][1].extend(n for found in read.values() for n in found)
        rows.release()
        for x in operands:
            self.used(x, block)

    def _again(
        self,
        site: LoopSite,
        count: bytes,
        iteration: int,
        number: int,
        one: Sequence[bytes],
        holds: Sequence[bytes] | None,
    ) -> list[bytes]:
        """Code that does ``one`` iteration ``count`` times, as long as ``holds``, the code of a test, says
        so.

        The local ``iteration``, which is 0, counts the iterations; ``number`` has the number of the
        iteration, and is the same local if that counts from 0.
        """
        spec = site.spec
        step = [get_local(iteration), i32_const(1), I32_ADD]
        if holds is not None:
            full: list[bytes] = []
            if spec.must_end:
                end = self.runtime.failure(errors.ENDLESS, count + F64_CONVERT_U)
                if spec.note >= 0:
                    end = self.runtime.failure(errors.NOTED + spec.note, f64_const(0.0))
                full = [*holds, IF, end, END]
            return [
                BLOCK, LOOP,
                get_local(iteration), count, I32_GE_U, IF, *full, BR_2, END, *holds, I32_EQZ, BR_IF_1,
                *one, *step, set_local(iteration), BR_0, END, END,
            ]  # fmt: skip
        if spec.down:
            before = [get_local(number), i32_const(1), I32_SUB, set_local(number)]
            out = [
                count, local_tee(iteration), set_local(number),
                LOOP, *before, *one, get_local(number), BR_IF_0, END,
            ]  # fmt: skip
        else:
            out = [LOOP, *one, *step, local_tee(iteration), count, I32_LT_U, BR_IF_0, END]
        is_certain = site.count < 0 and self.func.pool[~site.count][0]
        return out if is_certain else [count, IF, *out, END]

    def _enter(
        self,
        block: int,
        types: Sequence[Type],
        starts: Sequence[Operand],
        own: Mapping[int, int],
        given: Collection[int],
    ) -> tuple[list[int], dict[int, int], dict[int, Place]]:
        """Local variables for the state, set to what it starts from; for arrays a second one.

        Not so for those that take a place of the state, which are in ``own``. The places of those that stay
        where they are, are told; those in ``given`` already have one.
        """
        out = self.out[block]
        state, other, fixed = [], {}, {}
        for k, (t, start) in enumerate(zip(types, starts, strict=True)):
            n = self._lasting(block, is_i32(t))
            state.append(n)
            if isinstance(start, Place):
                here = start
                if k not in given:
                    here = self.reserve(size_of(t))
                    out += copied(here, start, size_of(t))
                if own.get(k) == k + 1:
                    fixed[k] = here
                elif k not in own:
                    other[k] = self.new_local(True)
                    out += [self.reserve(size_of(t)).push(), set_local(other[k])]
                start = here.push()
            out += [start, set_local(n)]
        return state, other, fixed

    def _begin_to_read(self, block: int, args: Sequence[Operand], body: Func) -> dict[bytes, list[int]]:
        """Look up, ahead of a loop, where the tapes are that its body reads; in local variables."""
        found: dict[bytes, list[int]] = {}
        if not isinstance(self.callees[body][1], Enclosed):
            return found
        for tape, t in zip(args, body.params[len(body.params) - len(args) :], strict=True):
            if is_tape(t) and isinstance(tape, bytes) and tape not in self.tapes:
                data, stride = found[tape] = [self._lasting(block, True) for _ in range(2)]
                self.tapes[tape] = get_local(data), get_local(stride)
                self.out[block] += [tape, load("i", DATA), set_local(data)]
                self.out[block] += [tape, load("i", STRIDE), set_local(stride)]
        return found

    def _lasting(self, block: int, is_int: bool) -> int:
        """A local variable that may keep its value after what is being written of inner blocks."""
        return self.new_local(is_int, self.loops.index(block) if block else 0)

    def _give(self, get: int | None, n: int, is_int: bool) -> None:
        """Let the result ``get`` have the local variable ``n``, or nobody."""
        if get is None:
            self.free[-1][is_int].append(n)
        else:
            self.hold(get, n, is_int)
            self.offset[get] = 0


class _Rows:
    """Where the values that a loop keeps of its iterations go: rows of arrays, and records of tapes."""

    def __init__(
        self,
        body: ControlFlow,
        site: LoopSite,
        gets: dict[int, int],
        count: bytes,
        block: int,
        iteration: int,
    ) -> None:
        self.body = body
        self.iteration = iteration
        first = site.spec.carries
        types = site.body.result_types
        self.types = {k: types[k] for k in range(first, len(types)) if k + 1 in gets}
        """By number of the body's result."""
        self.first, self.end_ = first, len(types)
        self.arrays: dict[int, Place] = {}
        self.pointers: dict[int, int] = {}
        """The local variable with the address of this iteration's row."""
        self.values: dict[int, int] = {}
        """The local variable for a scalar on its way to memory."""
        self.offsets: dict[int, int] = {}
        """Where a value is in the record."""
        self.grows = site.test is not None
        out = body.out[block]
        at = 0
        for k, t in self.types.items():
            get = gets[k + 1]
            if site.spec.is_output(k - first):
                whole = body.func.types[get]
                place = self.arrays[k] = body.room_for(get, whole)
                if not site.is_whole and site.spec.outputs != ALL:  # else nobody looks at the others
                    out += zeroed(place, size_of(whole))
                body.put(get, place)
                if is_memory(t):
                    self.pointers[k] = body.new_local(True)
            else:
                self.offsets[k] = at
                at = aligned(at + size_of(t))
            if not is_memory(t):
                self.values[k] = body.new_local(is_i32(t))
        self.record = at
        self.handles: dict[int, int] = {}
        if self.offsets:
            self._take(out, gets, count)

    def _take(self, out: list[bytes], gets: dict[int, int], count: bytes) -> None:
        """Memory for descriptors, and for records if their number is known."""
        body = self.body
        self.start, self.row = body.new_local(True), body.new_local(True)
        for k in self.offsets:
            out += [i32_const(DESCRIPTOR), body.runtime.take()]
            get = gets[k + 1]
            out.append(body.keep(get, True))
            self.handles[k] = get
        if self.grows:
            self.stop = body.new_local(True)
            out += [global_get(TOP), set_local(self.start), get_local(self.start), set_local(self.stop)]
        else:
            out += [count, i32_const(self.record), body.runtime.take_many(), set_local(self.start)]

    def places(self) -> list[Place | None]:
        """For each value, where the body writes it, if it is an array that is wanted."""
        found: list[Place | None] = []
        for k in range(self.first, self.end_):
            if k not in self.types or not is_memory(self.types[k]):
                found.append(None)
            elif k in self.arrays:
                found.append(Place(get_local(self.pointers[k]), 0))
            else:
                found.append(Place(get_local(self.row), self.offsets[k]))
        return found

    def sets(self) -> dict[int, bytes]:
        return {k: set_local(n) for k, n in self.values.items()}

    def begin(self, number: int) -> list[bytes]:
        """Before an iteration: room for its record, and the addresses of its rows."""
        code = []
        if self.offsets:
            iteration = get_local(self.iteration if self.grows else number)
            code += [*self._record(iteration), set_local(self.row)]
            if self.grows:
                start, stop, row = map(get_local, (self.start, self.stop, self.row))
                more, extend = i32_const(max(self.record, _CHUNK)), self.body.runtime.extend()
                code += [
                    row, i32_const(self.record), I32_ADD, stop, I32_GT_U,
                    IF, start, stop, more, extend, set_local(self.stop), set_local(self.start),
                    *self._record(iteration), set_local(self.row), END,
                ]  # fmt: skip
        for k, n in self.pointers.items():
            code += [*self._of_iteration(k, self.arrays[k].push(), number), set_local(n)]
        return code

    def _record(self, iteration: bytes) -> list[bytes]:
        """The address of an iteration's record."""
        return [get_local(self.start), iteration, i32_const(self.record), I32_MUL, I32_ADD]

    def _of_iteration(self, k: int, whole: bytes, number: int) -> list[bytes]:
        """The address of the iteration's row, or element, of an array."""
        return [whole, get_local(number), i32_const(size_of(self.types[k])), I32_MUL, I32_ADD]

    def end(self, number: int) -> list[bytes]:
        """After an iteration: scalars go to their places."""
        code = []
        for k, n in self.values.items():
            kind = kind_of(self.types[k])
            if k in self.arrays:
                whole = self.arrays[k]
                code += [*self._of_iteration(k, whole.base, number), get_local(n), store(kind, whole.offset)]
            else:
                code += [get_local(self.row), get_local(n), store(kind, self.offsets[k])]
        return code

    def finish(self) -> list[bytes]:
        """After the loop: the descriptors. Room for records that did not come is given back."""
        code = []
        if self.offsets and self.grows:
            end = [*self._record(get_local(self.iteration)), global_set(TOP)]
            code += [get_local(self.stop), global_get(TOP), I32_EQ, IF, *end, END]
        for k, get in self.handles.items():
            handle = self.body.expr[get]
            assert handle is not None
            code += [handle, get_local(self.start), i32_const(self.offsets[k]), I32_ADD, store("i", DATA)]
            code += [handle, i32_const(self.record), store("i", STRIDE)]
            code += [handle, get_local(self.iteration), store("i", COUNT)]
        return code

    def release(self) -> None:
        free = self.body.free[-1]
        for k, n in self.values.items():
            free[is_i32(self.types[k])].append(n)
        free[1].extend(self.pointers.values())
        if self.offsets:
            free[1].extend((self.start, self.row))
            if self.grows:
                free[1].append(self.stop)


def _rings(state: Sequence[int], other: Mapping[int, int], moved: Mapping[int, int]) -> Iterator[list[int]]:
    """The local variables of arrays whose places go around at the end of an iteration, each to the next one.

    Of the ``state``, an array that is new is written to its ``other`` place; one that is ``moved`` stays
    where it was, as another of the state.
    """
    to = {j: k for k, j in moved.items()}

    def ways(k: int) -> Iterator[int]:
        yield state[k]
        while k in to:
            yield state[k := to.pop(k)]

    for k, n in other.items():
        yield [*ways(k), n]
    while to:
        *ring, _ = ways(next(iter(to)))  # back to where it began
        yield ring


def _rotated(ring: Sequence[int]) -> bytes:
    """Code that gives each local variable the value of the one before it, and the first that of the last."""
    return b"".join([*map(get_local, [ring[-1], *ring[:-1]]), *map(set_local, reversed(ring))])
