"""The body of a function, from the rows of its recording."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import add
from typing import TYPE_CHECKING, Any

from rose_core.language.builder import COUNT, Builder
from rose_core.language.ir import (
    ACCUM,
    ADD_TO,
    CALL,
    COND,
    FOR,
    GET,
    INDEX,
    LOOP,
    PARAM,
    PULL,
    RESOLVE,
    SET,
    VEC,
    VJP,
    Func,
    Spec,
    is_real,
)
from rose_core.language.ops import BINARY_END, OPS, TABLE_END, UNARY_END, code
from rose_core.language.types import BOOL, UNIT, Array, Fin, Type, array, fin
from rose_core.recording.copies import Carry, Operand, Repeat
from rose_core.recording.reroll import order, repeats
from rose_core.recording.roll import Row, plan
from rose_core.recording.rows import END, operands_of
from rose_core.recording.totals import Total
from rose_core.recording.turn import Step, Turn, affine, operation

if TYPE_CHECKING:
    from rose_core.recording.record import Recording
    from rose_core.recording.share import Shape

_NEG, _ADD, _SUB = map(code, ("neg", "add", "sub"))

_PLAIN = [set(op.ins) == {"R"} and op.out == "R" for op in OPS]
"""Ops from reals to a real."""
_SIMPLE = [op.out == "B" or op.out == "R" for op in OPS]
"""Ops whose result has the same type wherever there are no tangents."""
_COMMUTES = [op.commutes for op in OPS]

_LISTED = frozenset((VEC, END, CALL, VJP, COND, LOOP, SET, PULL))
"""Structural rows with a list of operands."""


PENDING = -(1 << 62)
"""In place of the value of a row: the element of a loop's column that it is has not been asked for yet."""


class Body:
    """Builds the body of one function from its rows."""

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
        """``CALL`` row that became a turn of a loop → the loop, and which turn."""
        literals: dict[int, int] = {}
        for column, t in zip(shape.columns, shape.element_types, strict=True):
            param = b.param(t)
            if column.callee_column >= 0:
                self.passed.setdefault(column.source, {})[column.callee_column] = param
            elif column.row >= 0:
                self.elements[column.row] = param
            else:
                literals[column.source] = param
        self.env = [0] * (len(entry.rows) // 3 + len(entry.values))
        """The value of each row, and from the end on of the literals."""
        for number, param in literals.items():
            self.env[~number] = param
        self.literal_params = literals
        self.repeats: list[Repeat] = []
        self.turns: dict[int, tuple[int, int]] = {}
        """Row that became a turn of a loop → the loop's column, and which turn; it may be `PENDING`."""

    def value(self, x: int) -> int:
        """The value of a row or literal."""
        v = self.env[x]
        if v == PENDING:
            column, turn = self.turns[x]
            size = self.func.type_of(column).index  # type: ignore[attr-defined]
            v = self.env[x] = self.b.index(column, self.b.const(turn, size))
        return v

    def _make_literals(self, numbers: Iterable[int]) -> None:
        """Give literals their values, as far as no parameter is in their place."""
        values, kinds, types, env = self.entry.values, self.entry.kinds, self.types, self.env
        for number in numbers:
            if number not in self.literal_params:
                env[~number] = self._literal(values[number], types[kinds[number]])

    def _literal(self, value: float, t: Type) -> int:
        """A literal as its type has it; one of an array type fills the array."""
        return self.b.const(value if is_real(t) else value != 0 if t is BOOL else int(value), t)

    def build(self) -> None:
        """Build the body: row by row, or as there are rows of calls, in an order that groups them."""
        rows = self.entry.rows
        planned = self._plan()
        self._make_literals(self._literals_outside(rows))
        if planned is None:
            self._rows(rows, 0, len(rows) // 3)
            return
        start = end = 0
        for item in planned:
            if item != end:
                self._rows(rows, start, end)
                start = end = item if isinstance(item, int) else end
            if isinstance(item, int):
                end += 1
            elif isinstance(item, Row):
                self._row_of_calls(rows, item)
            elif item.carries:
                self._steps(item)
            elif not item.is_total:
                self._repeat(item)
        self._rows(rows, start, end)

    def _rows(self, rows: memoryview, start: int, end: int) -> None:
        """Those from one position to another, in their order."""
        env, b = self.env, self.b
        code, known, append, pad = b.code, b.table.setdefault, b.code.append, b.pad
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
                    pad()
                    env[position] = b.binary(op, self.value(x), self.value(y))
                    continue
                pad()
                env[position] = b.unary(op, self.value(x))
                continue
            pad()
            self._row(position, op, x, y)
            if op in (FOR, END):
                straight = not self.has_tangents and len(b.open) == 1
        pad()

    def _plan(self) -> Iterator[int | Row | Repeat] | None:
        """In what order to build the rows, where some of them are to be loops."""
        # calls from all over what was joined are no row
        if self.entry.calls and self.entry.number not in self.recording.joined:
            callee = self.recording.callee
            effects = {k for k, number in enumerate(self.callees) if callee(number).effects}
            calls = plan(self.entry, self._same, effects)
            if calls is not None:
                return calls
        if self.has_tangents or self.elements or self.passed:
            return None
        self.repeats = repeats(self.entry)
        return order(self.repeats, len(self.entry.rows) // 3) if self.repeats else None

    def _literals_outside(self, rows: memoryview) -> Iterable[int]:
        """The numbers of the literals that are used outside of repeated rows; loops want few of them."""
        if not self.repeats:
            return range(len(self.entry.values))
        used = set(self.entry.results)
        for k in order(self.repeats, len(rows) // 3):
            if not isinstance(k, Repeat):
                op, x, y = rows[3 * k : 3 * k + 3]
                used.update(operands_of(op, x, y, self.extra))
        return [~v for v in used if v < 0]

    def _row(self, position: int, op: int, x: int, y: int) -> None:
        if op < TABLE_END:
            self.env[position] = self._table_op(op, x, y)
        elif position in self.elements:
            self.env[position] = self.elements[position]
        else:
            self.env[position] = self._structural(position, op, x, y)

    def _same(self, callee: int, args: Sequence[int]) -> object:
        """What calls in one loop have in common: the function, and its vectors, or their matrices."""
        f = self.recording.callee(callee)
        if f.effects:
            return None
        return f, *(self._matrix(a) for a, t in zip(args, f.params, strict=False) if isinstance(t, Array))

    def _matrix(self, vector: int) -> tuple[int, bool]:
        """Of which matrix a vector is the row that a literal says, if it is; and whether it is."""
        op, x, y = self.entry.rows[3 * vector : 3 * vector + 3] if vector >= 0 else (PARAM, 0, 0)
        return (x, True) if op == INDEX and y < 0 else (vector, False)

    def _row_of_calls(self, rows: memoryview, row: Row) -> None:
        """One loop for these calls."""
        b, extra = self.b, self.extra
        numbers, args, literals = [], [], []
        for at in row.calls:
            x, y = rows[3 * at + 1 : 3 * at + 3]
            numbers.append(self.callees[extra[x]])
            args.append([self.value(k) for k in extra[x + 1 : x + y]])
            literals.append(self.recording.literals(numbers[-1], b, args[-1], self.passed.get(at, {})))
        size = fin(len(row.calls))
        totals = [b.accum(self._start(total)) for _, total in row.totals]
        turn = Turn(b, b.open_for(size), size)
        passed = [self._pick(turn, list(ids)) for ids in zip(*map(add, args, literals), strict=True)]
        call = b.call(self.recording.callee(numbers[0]), passed)
        for accumulator, (number, _) in zip(totals, row.totals, strict=True):
            b.add_to(accumulator, b.get(call, number))
        results = range(len(self.recording.callee(numbers[0]).result_types))
        loop = b.close_for([b.get(call, k) for k in results])
        for number, at in enumerate(row.calls):
            self.rolled[at] = loop, b.const(number, size)
        for accumulator, (_, total) in zip(totals, row.totals, strict=True):
            self.env[total.at] = b.resolve(accumulator)

    def _repeat(self, repeat: Repeat) -> None:
        """One loop for these copies of the same rows."""
        b, size = self.b, fin(len(repeat.live))
        added = repeat.totals
        starts = (*repeat.sums.values(), *(total.first or 0 for _, total in added))
        self._make_literals(~x for x in starts if x < 0)
        sums = {row: b.accum(self.value(first)) for row, first in repeat.sums.items()}
        totals = [b.accum(self._start(total)) for _, total in added]
        turn = Turn(b, b.open_for(size), size)
        values: list[int] = []
        for row, (op, operands) in enumerate(repeat.rows):
            args = [values[row - x.back] if x.back else self._pick_literal(turn, x.ids) for x in operands]
            if row in sums:
                (term,) = args
                values.append(b.add_to(sums[row], operation(b, _NEG, [term]) if op == _SUB else term))
            else:
                values.append(operation(b, op, args))
        for accumulator, (row, _) in zip(totals, added, strict=True):
            b.add_to(accumulator, values[row])
        kept = [row for row in repeat.used if row not in sums]
        loop = b.close_for([values[row] for row in kept])
        self._give(repeat, kept, loop, 0)
        for row, accumulator in sums.items():
            if row in repeat.used:
                self.env[repeat.end - repeat.length + row] = b.resolve(accumulator)
        for accumulator, (_, total) in zip(totals, added, strict=True):
            self.env[total.at] = b.resolve(accumulator)

    def _steps(self, repeat: Repeat) -> None:
        """A loop with a state for these copies, each of which needs some before."""
        b, size = self.b, fin(repeat.count)
        added = repeat.totals
        starts = [carry.first[0] for carry in repeat.carries]
        self._make_literals(~x for x in (*starts, *(total.first or 0 for _, total in added)) if x < 0)
        state = [self.value(x) for x in starts]
        state += [self._start(total) for _, total in added]
        body = Func("step", [], UNIT)
        turn = Step(Builder(body), size, self.func, [self.func.type_of(x) for x in state])
        inner = turn.b
        carried = dict(zip(repeat.carries, turn.state, strict=False))
        values: list[int] = []

        def operand(row: int, x: Operand) -> int:
            if x.back:
                return values[row - x.back]
            return carried[x.carry] if x.carry else self._pick_literal(turn, x.ids)

        for row, (op, operands) in enumerate(repeat.rows):
            values.append(operation(inner, op, [operand(row, x) for x in operands]))
        after = [carried.get(Carry(row, first[1:]), values[row]) for row, first in repeat.carries]
        sums = zip(turn.state[len(carried) :], added, strict=True)
        after += [operation(inner, _ADD, [so_far, values[row]]) for so_far, (row, _) in sums]
        kept = [*repeat.used]
        body.blocks[0].results = [*after, *(values[row] for row in kept)]
        spec = Spec(len(state), size, len(kept))
        loop = b.loop(spec, b.const(size.size, COUNT), body, state, turn.args)
        self._give(repeat, kept, loop, len(state) + 1)
        for at, carry in repeat.last:
            self.env[at] = b.get(loop, repeat.carries.index(carry))
        for number, (_, total) in enumerate(added, len(carried)):
            self.env[total.at] = b.get(loop, number)

    def _give(self, repeat: Repeat, kept: Sequence[int], loop: int, first: int) -> None:
        """Say what a loop has of rows that are used, in columns from result ``first`` on."""
        turn_of = {copy: turn for turn, copy in enumerate(repeat.live)}
        for number, row in enumerate(kept, first):
            column = self.b.get(loop, number)
            for copy in repeat.used[row]:
                at = repeat.start + copy * repeat.length + row
                self.env[at], self.turns[at] = PENDING, (column, turn_of[copy])

    def _start(self, total: Total) -> int:
        """What a sum starts from: to start from -0 and add the first is to start from that, to the bit."""
        return self.b.real(-0.0) if total.first is None else self.value(total.first)

    def _turns(self, ids: Sequence[int]) -> tuple[int, list[int]] | None:
        """The column of which all these rows are elements, and of which turns."""
        if ids[0] not in self.turns or ids[-1] not in self.turns:
            return None
        columns, turns = zip(*[self.turns.get(x, (-1, 0)) for x in ids], strict=True)
        return (columns[0], [*turns]) if columns.count(columns[0]) == len(columns) else None

    def _pick(self, turn: Turn, ids: list[int]) -> int:
        """The one of these values whose turn it is."""
        b = self.b
        if len(set(ids)) == 1:
            return turn.outer(ids[0])
        t = self.func.type_of(ids[0])
        if isinstance(t, Fin) and max(ids) < 0:
            at = affine(turn, [int(b.pool[~v][0]) for v in ids], t)
            if at is not None:
                return at
        reads = [b.code[v] if v >= 0 else () for v in ids]
        vectors = {read[1] if read and read[0] == INDEX and read[2] < 0 else -1 for read in reads}
        if len(vectors) == 1 and (vector := vectors.pop()) >= 0:
            return turn.b.index(turn.outer(vector), self._pick(turn, [read[2] for read in reads]))
        return self._element(turn, ids, t)

    def _element(self, turn: Turn, ids: list[int], t: Type) -> int:
        """As `_pick`, by a vector of the values."""
        if min(ids) == max(ids):
            return turn.outer(ids[0])
        return turn.b.index(turn.outer(self.b.vec(ids, array(turn.size, t))), turn.i)

    def _pick_literal(self, turn: Turn, ids: Sequence[int]) -> int:
        """As `_pick`, of rows and of literals, which have no values yet."""
        if len(ids) == 1 and ids[0] >= 0:
            return turn.outer(self.value(ids[0]))
        if (turns := self._turns(ids)) is not None:
            column, numbers = turns
            index = self.func.type_of(column).index  # type: ignore[attr-defined]
            at = self._pick(turn, [self.b.const(k, index) for k in numbers])
            return turn.b.index(turn.outer(column), at)
        kinds, values = self._column(self.entry.kinds, ids), self._column(self.entry.values, ids)
        if kinds and kinds.count(kinds[0]) == len(kinds):
            t = self.types[kinds[0]]
            if len(values) == 1 or (values[0] and values.count(values[0]) == len(values)):
                return turn.outer(self._literal(values[0], t))
            if isinstance(t, Fin) and (number := affine(turn, values, t)) is not None:
                return number
            known = self.b.consts.get
            return self._element(turn, [known((x, t)) or self._literal(x, t) for x in values], t)
        self._make_literals(~v for v in ids if v < 0)
        return self._pick(turn, [self.value(v) for v in ids])

    def _column(self, of: Sequence[Any], ids: Sequence[int]) -> Sequence[Any]:
        """What a list has of literals; nothing if not all are literals, or if parameters stand for some."""
        if self.literal_params and any(~v in self.literal_params for v in ids):
            return ()
        if max(ids[0], ids[-1]) < 0 and isinstance(ids, range):
            return of[~ids[0] : ~ids[-1] + 1 : -ids.step] if ids.step < 0 else ()
        return [of[~v] for v in ids] if max(ids) < 0 else ()

    def _table_op(self, op: int, x: int, y: int) -> int:
        value = self.value
        if op >= BINARY_END:
            return operation(self.b, op, [value(k) for k in self.extra[x : x + y]])
        if _SIMPLE[op] and not self.has_tangents:
            return self.b.unary(op, value(x)) if op < UNARY_END else self.b.binary(op, value(x), value(y))
        return operation(self.b, op, [value(x)] if op < UNARY_END else [value(x), value(y)])

    def _structural(self, position: int, op: int, x: int, y: int) -> int:
        value, b = self.value, self.b
        operands = self.extra[x : x + y] if op in _LISTED else []
        if op == PARAM:
            return self.params[x]
        if op == INDEX:
            return b.index(value(x), value(y))
        if op == VEC:
            return b.vec([value(k) for k in operands[1:]], self.types[operands[0]])
        if op == FOR:
            return b.open_for(self.types[x])
        if op == END:
            return b.close_for([value(k) for k in operands])
        if op == GET:
            if x in self.rolled:
                loop, turn = self.rolled[x]
                return b.index(b.get(loop, y), turn)
            return b.get(value(x), y)
        if op == CALL:
            number = self.callees[operands[0]]
            args = [value(k) for k in operands[1:]]
            literals = self.recording.literals(number, b, args, self.passed.get(position, {}))
            return b.call(self.recording.callee(number), [*args, *literals])
        if op == ACCUM:
            return b.accum(value(x))
        if op == ADD_TO:
            return b.add_to(value(x), value(y))
        if op == RESOLVE:
            return b.resolve(value(x))
        if op == VJP:
            f = self.recording.function(self.callees[operands[0]])
            return b.vjp(f, [value(k) for k in operands[1:]])
        if op == COND:
            args = [value(k) for k in operands[4:]]
            yes, no = (self.recording.function(self.callees[k]) for k in operands[:2])
            return b.cond(value(operands[3]), yes, args[: operands[2]], no, args[operands[2] :])
        if op == LOOP:
            return self._loop(operands)
        if op == SET:
            return b.set(*[value(k) for k in operands])
        if op == PULL:
            return b.pull(value(operands[0]), [value(k) for k in operands[1:]])
        raise ValueError(f"not an opcode of a recording: {op}")

    def _loop(self, operands: Sequence[int]) -> int:
        f, g, carries, index, outputs, must_end, checkpoint, count, *rest = operands
        functions = self.recording.function
        body, test = functions(self.callees[f]), functions(self.callees[g]) if g >= 0 else None
        spec = Spec(
            carries,
            self.types[index],
            outputs,
            must_end=bool(must_end),
            note=must_end - 1,
            checkpoint=checkpoint,
        )
        ids = [self.value(k) for k in rest]
        end = len(body.params) - 1
        return self.b.loop(spec, self.value(count), body, ids[:carries], ids[carries:end], test, ids[end:])
