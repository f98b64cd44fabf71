"""The code of loops with a state that go on in lanes: see `wasm.recurrences`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rose_core.encode import (
    BR_IF_0,
    END,
    F64_ADD,
    F64X2_ADD,
    F64X2_OF_I32,
    F64X2_SPLAT,
    I32_ADD,
    I32_LT_U,
    I32_MUL,
    I32_SUB,
    I32X4_SPLAT,
    IF,
    LOOP,
    SPLAT,
    extract_lane,
    f64_const,
    i32_const,
    load,
    local_get,
    local_set,
    local_tee,
    store,
)
from rose_core.language.ir import ADD_TO, INDEX, Func
from rose_core.language.ops import by_name
from rose_core.language.queries import param_ids
from rose_core.language.types import BOOL, Fin, is_memory
from rose_core.wasm.lane_numbers import COMPARISONS, Numbers, is_number
from rose_core.wasm.layout import BASE, Place
from rose_core.wasm.recurrences import Element, Recurrence
from rose_core.wasm.strides import STEP, read, write

if TYPE_CHECKING:
    from rose_core.wasm.lane_code import FlatWriter

_NARROW = by_name["narrow"].code


class Row:
    """An array of which each lane has one, or both the same.

    Attributes:
        place: where that of the first lane is.
        apart: the bytes from there to the second one's; 0 if it is the same.
        step: those from an element of one to the next.
    """

    __slots__ = ("apart", "place", "step")

    def __init__(self, place: Place, apart: int, step: int = STEP) -> None:
        self.place = place
        self.apart = apart
        self.step = step


class RecurrenceWriter(Numbers):
    """Writes a recurrence in an iteration of the loop around, or in two side by side."""

    def __init__(
        self, around: FlatWriter, found: Recurrence, number: int, count: int, known: Mapping[int, bytes]
    ) -> None:
        """``number``: the local variable with the number of the step; ``count``: of iterations; ``known``:
        what they have computed."""
        super().__init__(found.body)
        self.around = around
        self.origin = around.origin
        self.found = found
        self.count = count
        self.known = {x: around.literals[literal(self.func, x)] for x in found.literals()}
        """Value → code that pushes it in lanes."""
        self.indices: dict[int, bytes] = {}
        """Index that is the same in both lanes → code that pushes it."""
        self.scaled: dict[tuple[int, int], bytes] = {}
        """The same, and bytes → code that pushes their product."""
        self.rows: dict[int, Row] = {}
        """Parameter → that array."""
        self.state: list[int] = []
        """The local variables of the state."""
        self.before: list[bytes] = []
        """Code before the first step."""
        self.out: list[bytes] = []
        """That of a step."""
        self.number = number
        self.ids = ids = param_ids(self.func)
        if 0 in ids:
            self.indices[ids[0]] = local_get(self.number)
        for p, x in enumerate(found.operands, 1):
            is_state = p <= found.site.spec.carries
            if is_state or p in ids:
                self._bind(p, x, known, is_state)
        self.kept = {k: around.row(get, self.before) for k, get in found.kept.items()}
        """Number of a result of the body → where it is kept."""

    def new_local(self) -> int:
        return self.around.new_local()

    def _bind(self, p: int, x: int, known: Mapping[int, bytes], is_state: bool) -> None:
        """Let the parameter ``p`` be the operand ``x``."""
        t, around = self.func.params[p], self.around
        if is_number(t) or t is BOOL:
            push = known[x]
            if is_state or x not in around.outside:
                n = self.new_local()
                self.before += [push, local_set(n)]
                push = local_get(n)
                self.state += [n] if is_state else []
            if p in self.ids:
                self.known[self.ids[p]] = push
        elif is_memory(t):
            self.rows[p] = around.row(x, self.before)
        elif p not in self.found.lines:
            self.indices[self.ids[p]] = around.scalars[x]

    def step(self) -> list[bytes]:
        """The code of a step."""
        func, out = self.func, self.out
        for v in self.found.order:
            self._do(v)
        for k, row in self.kept.items():
            self._keep(row, self.known[func.results[k]])
        out += [self.known[func.results[k]] for k in range(self.found.site.spec.carries)]
        return [*out, *map(local_set, reversed(self.state))]

    def ends(self) -> dict[int, bytes]:
        """The ``GET`` of each used number that the state ends with → code that pushes it."""
        return {get: local_get(self.state[k]) for k, get in self.found.gets.items()}

    def _do(self, v: int) -> None:
        """Write an operation, a read, or an addition."""
        ins, t = self.func.code[v], self.func.types[v]
        if ins[0] == ADD_TO:
            self._add(self.found.elements[ins[1]], self.known[ins[2]])
        elif v in self.found.moving:
            push = b"".join([*map(self._number, ins[1:]), COMPARISONS.get(ins[0], b"")])
            self.operation(v, self.known, self.out, push)
        elif v not in self.found.shared:
            self.operation(v, self.known, self.out, self._read(v) if ins[0] == INDEX else b"")
        else:
            push = b"".join([*map(self._index, ins[1:]), self.body.codes.single[ins[0]]])
            if isinstance(t, Fin):
                n = self.around.int_local()
                self.indices[v] = local_get(n)
            else:
                n = self.new_local()
                push = BASE + push + I32_SUB + I32X4_SPLAT if t is BOOL else push + F64X2_SPLAT
                self.known[v] = local_get(n)
            self.out += [push, local_set(n)]

    def _index(self, x: int) -> bytes:
        """Code that pushes an index that is the same in both lanes."""
        while x >= 0 and self.func.code[x][0] == _NARROW:
            x = self.func.code[x][1]
        return self.indices[x] if x >= 0 else literal(self.func, x)

    def _number(self, x: int) -> bytes:
        """Code that makes a number of an index in lanes."""
        along, at, constant = self.found.index(x)
        lines = [self.found.lines[p] for p in along]
        pushed = [self._index(v) for v in at]
        if not lines:
            return b"".join([i32_const(constant), *(push + I32_ADD for push in pushed), F64X2_OF_I32])
        factor = sum(factor for factor, _ in lines)
        constant += factor * self.origin + sum(more for _, more in lines)
        return self.around.as_number(factor, constant, self.count, pushed)

    def _scaled(self, x: int, size: int) -> bytes:
        """Code that pushes how many bytes it is to what has this index."""
        push = self.scaled.get((x, size))
        if push is None:
            n = self.around.int_local()
            self.out += [self._index(x), i32_const(size), I32_MUL, local_set(n)]
            push = self.scaled[x, size] = local_get(n)
        return push

    def _here(self, element: Element) -> tuple[bytes, int, int]:
        """Code that pushes where an element of the first lane is, without an offset; that; and the bytes
        to the second lane's."""
        row = self.rows[element.of]
        wide, offset, apart = row.step // STEP, element.offset, row.apart
        terms = [self._scaled(x, size * wide) for x, size in element.at]
        for p, size in element.along:
            factor, constant = self.found.lines[p]
            terms.append(self.around.times(factor * size * wide))
            offset += (factor * self.origin + constant) * size
            apart += factor * size * wide
        place = row.place.at(offset * wide)
        if not terms:
            return place.base, place.offset, apart
        return place.plus(b"".join([terms[0], *(term + I32_ADD for term in terms[1:])])), place.offset, apart

    def _read(self, v: int) -> bytes:
        here, offset, apart = self._here(self.found.elements[v])
        return read(here, offset, apart, self.count) if apart else here + SPLAT.load(offset)

    def _add(self, element: Element, x: bytes) -> None:
        here, offset, apart = self._here(element)
        if apart:
            total = read(here, offset, apart, self.count) + x + F64X2_ADD
            self.out += write(here, offset, apart, total, self.count, self.new_local)
            return
        n = self.new_local()
        self.out += [x, local_set(n), here, here, load("f", offset)]
        for lane in range(self.count):
            self.out += [local_get(n), extract_lane(lane), F64_ADD]
        self.out.append(store("f", offset))

    def _keep(self, row: Row, x: bytes) -> None:
        """Write what is kept of a step."""
        n = self.around.int_local()
        self.out += [local_get(self.number), i32_const(row.step), I32_MUL, local_set(n)]
        here = row.place.plus(local_get(n))
        self.out += write(here, row.place.offset, row.apart, x, self.count, self.new_local)


def steps(writers: Sequence[RecurrenceWriter]) -> list[bytes]:
    """The code of all steps of a recurrence in pairs of iterations, each step of all of them before the next.

    After it, the states are what they end with.
    """
    first = writers[0]
    site, j = first.found.site, first.number
    before = [code for writer in writers for code in writer.before]
    out = [code for writer in writers for code in writer.step()]
    count = i32_const(site.spec.trips) if site.is_whole else first.around.scalars[site.count]
    if site.spec.down:
        down = [local_get(j), i32_const(1), I32_SUB, local_set(j)]
        code = [count, local_set(j), LOOP, *down, *out, local_get(j), BR_IF_0, END]
    else:
        up = [local_get(j), i32_const(1), I32_ADD, local_tee(j), count, I32_LT_U, BR_IF_0, END]
        code = [BASE, local_set(j), LOOP, *out, *up]
    return [*before, *(code if site.is_whole else [count, IF, *code, END])]


def literal(func: Func, x: int) -> bytes:
    """Code that pushes a literal of a function."""
    value, t = func.pool[~x]
    return f64_const(value) if is_number(t) else i32_const(int(value))
