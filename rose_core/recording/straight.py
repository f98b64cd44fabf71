"""The body of a function, built from the rows of its recording one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rose_core.language import tables
from rose_core.language.builder import Builder
from rose_core.language.ir import CALL, FOR, GET, INDEX, PARAM, PULL, VEC, VJP, Func, is_real
from rose_core.language.ops import BINARY_END, OPS, TABLE_END, UNARY_END
from rose_core.language.types import BOOL, REAL, Array, Fin, Type
from rose_core.recording.iteration import Called, given, operation, structure
from rose_core.recording.operands import CALLED, END, HEADS, operands_of
from rose_core.recording.share import places

if TYPE_CHECKING:
    from rose_core.recording.record import Literal, Recording
    from rose_core.recording.share import Shape

_PLAIN = [set(op.ins) == {"R"} and op.out == "R" for op in OPS]
"""Ops from reals to a real."""
_SIMPLE = [op.out == "B" or op.out == "R" for op in OPS]
"""Ops whose result has the same type wherever there are no tangents."""
_COMMUTES = [op.commutes for op in OPS]

PENDING = -(1 << 62)
"""In place of the value of a row that has not been asked for yet: an element of a loop's column, or a vector
of literals; and in place of these."""


class Straight:
    """A function of which rows are built as they are."""

    def __init__(self, recording: Recording, shape: Shape) -> None:
        entry = shape.members[0]
        self.recording = recording
        self.entry = entry
        self.func = Func(entry.name, entry.params, entry.ret)
        self.func.opaque = entry.opaque
        self.func.remat = entry.remat
        self.b = b = Builder(self.func)
        self.types, self.callees, self.extra = entry.types, entry.callees, entry.extra
        self.params = [b.param(t) for t in entry.leaves]
        """The ids of the parameters, and of what is captured from enclosing functions."""
        self.has_tangents = entry.has_tangents
        self.elements: dict[int, int] = {}
        """``INDEX`` row → the parameter that is its value."""
        self.passed: dict[int, dict[int, int]] = {}
        """``CALL`` row → column of the callee → the parameter that is its value."""
        self.rolled: dict[int, tuple[int, int]] = {}
        """``CALL`` row that became an iteration of a loop → the loop, and which iteration."""
        literals: dict[int, int] = {}
        for column, t in zip(shape.columns, shape.element_types, strict=True):
            param = b.param(t)
            if column.callee_column >= 0:
                self.passed.setdefault(column.source, {})[column.callee_column] = param
            elif column.window:
                self.params[column.param] = param  # type: ignore[index]
            elif column.row >= 0:
                self.elements[column.row] = param
            else:
                literals[column.source] = param
        self.env = [0] * (len(entry.rows) // 3 + len(entry.values))
        """The value of each row, and from the end on of the literals."""
        for number, param in literals.items():
            self.env[~number] = param
        self.literal_params = literals
        self.iterations: dict[int, tuple[int, int]] = {}
        """Row that became an iteration of a loop → the loop's column, and which one; it may be `PENDING`."""
        self.data = self._data()
        """Rows that are vectors of literals → these, in ``extra``, and the type of the vector."""
        self.only_data = {~k for at, _ in self.data.values() for k in self.extra[at]}
        """The numbers of these literals, which nothing else uses."""

    def _data(self) -> dict[int, tuple[slice, Array]]:
        rows, extra, params, found = self.entry.rows, self.extra, self.literal_params, {}
        for position in places(self.entry.ops, VEC):
            x, y = rows[3 * position + 1 : 3 * position + 3]
            t, at = self.types[extra[x]], slice(x + 1, x + y)
            assert isinstance(t, Array)
            is_data = y > 1 and max(extra[at]) < 0 and tables.is_number(t.elem)
            if is_data and not (params and any(~k in params for k in extra[at])):
                found[position] = at, t
        return found

    def value(self, x: int) -> int:
        """The value of a row or literal."""
        v = self.env[x]
        if v == PENDING:
            v = self.env[x] = self._asked(x)
        return v

    def _asked(self, x: int) -> int:
        """A value that is `PENDING`."""
        if x in self.iterations:
            column, iteration = self.iterations[x]
            size = self.func.array_type_of(column).index
            return self.b.index(column, self.b.const(iteration, size))
        if x in self.data:
            at, t = self.data[x]
            if t.size < tables.FEWEST:
                return self.b.vec([self.value(k) for k in self.extra[at]], t)
            return self.b.data(self._numbers(x), t)
        return self._literal(self.entry.values[~x], self.types[self.entry.kinds[~x]])

    def _numbers(self, row: int) -> bytes:
        """The numbers of a vector of literals."""
        at, t = self.data[row]
        numbers = [self.entry.values[~k] for k in self.extra[at]]
        return tables.packed([int(x) for x in numbers] if isinstance(t.elem, Fin) else numbers, t.elem)

    def _is_table(self, rows: Sequence[int]) -> bool:
        """Whether a vector of these rows is one of vectors of literals, and not short."""
        return len(rows) >= tables.FEWEST and self.data.keys() >= {*rows}

    def _make_literals(self, numbers: Iterable[int]) -> None:
        """Give literals their values, as far as no parameter is in their place."""
        values, kinds, types, env = self.entry.values, self.entry.kinds, self.types, self.env
        const = self.b.const
        for number in numbers:
            if number in self.only_data:
                env[~number] = PENDING
            elif number not in self.literal_params:
                value, t = values[number], types[kinds[number]]
                env[~number] = const(value, REAL) if t is REAL else self._literal(value, t)

    def _literal(self, value: float, t: Type) -> int:
        """A literal as its type has it; one of an array type fills the array."""
        return self.b.const(value if is_real(t) else value != 0 if t is BOOL else int(value), t)

    def _rows(self, rows: memoryview, start: int, end: int) -> None:
        """Those from one position to another, in their order."""
        env, b, params, elements = self.env, self.b, self.params, self.elements
        code, types, known, append, pad = b.code, b.types, b.table.setdefault, b.code.append, b.pad
        straight = not self.has_tangents and len(b.open) == 1
        positions = range(start, end)
        start, end = 3 * start, 3 * end
        columns = [rows[k:end:3].tolist() for k in range(start, start + 3)]
        for position, op, x, y in zip(positions, *columns, strict=True):
            if op < BINARY_END and straight and _PLAIN[op]:
                u = env[x]
                if op >= UNARY_END:
                    w = env[y]
                    if u >= 0 and w >= 0:
                        n = len(code)
                        key = (op, w, u) if w < u and _COMMUTES[op] else (op, u, w)
                        v = env[position] = known(key, n)
                        if v == n:
                            append(key)
                        continue
                    if len(types) < len(code):
                        pad()
                    u = self.value(x) if u == PENDING else u
                    env[position] = b.binary(op, u, self.value(y) if w == PENDING else w)
                    continue
                if len(types) < len(code):
                    pad()
                env[position] = b.unary(op, self.value(x) if u == PENDING else u)
                continue
            if op == PARAM:
                env[position] = params[x]
                continue
            if len(types) < len(code):
                pad()
            if op == INDEX:
                found = elements.get(position)
                env[position] = b.index(self.value(x), self.value(y)) if found is None else found
            elif op < TABLE_END:
                env[position] = self._table_op(op, x, y)
            else:
                env[position] = self._structural(position, op, x, y)
                if op in (FOR, END):
                    straight = not self.has_tangents and len(b.open) == 1
        pad()

    def _table_op(self, op: int, x: int, y: int) -> int:
        value = self.value
        if op >= BINARY_END:
            return operation(self.b, op, [value(k) for k in self.extra[x : x + y]])
        if _SIMPLE[op] and not self.has_tangents:
            return self.b.unary(op, value(x)) if op < UNARY_END else self.b.binary(op, value(x), value(y))
        return operation(self.b, op, [value(x)] if op < UNARY_END else [value(x), value(y)])

    def _structural(self, position: int, op: int, x: int, y: int) -> int:
        value, b = self.value, self.b
        if position in self.data:
            return PENDING
        if op == VEC and self._is_table(rows := self.extra[x + 1 : x + y]):
            return b.data(b"".join(map(self._numbers, rows)), self.types[self.extra[x]])
        if op == GET:
            if x not in self.rolled:
                return b.get(value(x), y)
            loop, iteration = self.rolled[x]
            return b.index(b.get(loop, y), iteration)
        args = [value(k) for k in operands_of(op, x, y, self.extra)]
        if op == CALL:
            number = self.callees[self.extra[x]]
            literals = self.recording.literals([number], b, args, self.passed.get(position, {}))
            return b.call(self.recording.callee(number), [*args, *literals])
        if op == VJP:
            return b.vjp(self.recording.function(self.callees[self.extra[x]]), args)
        if op == PULL:
            return b.pull(args[0], args[1:])
        if op == FOR:
            return structure(b, op, (x,), self.types, args)
        listed = self.extra[x : x + HEADS.get(op, 0)]
        functions, head = [[k] for k in listed[: CALLED.get(op, 0)]], listed[CALLED.get(op, 0) :]
        called = [*self._called(b, op, head, args, functions)]
        return structure(b, op, head, self.types, args, called)

    def _called(
        self,
        b: Builder,
        op: int,
        head: Sequence[int],
        args: Sequence[int],
        functions: Sequence[Sequence[int]],
        literal: Literal | None = None,
    ) -> Iterator[Called]:
        """The functions that a row calls, in its copies if there are any.

        ``literal``: as `Recording.literals` has it.
        """
        recording = self.recording
        numbers = [[self.callees[k] for k in of] for of in functions if of[0] >= 0]
        arity = recording.arity(numbers[0][0]) if numbers else 0
        for of, (passed, inner) in zip(numbers, given(op, head, args, arity), strict=False):
            literals = recording.literals(of, b, passed, inner=inner, literal=literal)
            yield Called(recording.callee(of[0], inner), literals)
