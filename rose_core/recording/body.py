"""The body of a function, built from the rows of its recording, in which what is repeated becomes loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from operator import add
from types import MappingProxyType
from typing import Any

from rose_core.language.builder import COUNT, Builder
from rose_core.language.ir import CALL, INDEX, PARAM, Func, Spec
from rose_core.language.ops import TABLE_END, code
from rose_core.language.types import UNIT, Array, Fin, Type, array, fin
from rose_core.recording.iteration import Iteration, Step, affine, operation, structure
from rose_core.recording.operands import operands_of
from rose_core.recording.repeat import Carry, Operand, Repeat
from rose_core.recording.reroll import order, repeats
from rose_core.recording.roll import FEWEST as FEWEST_CALLS
from rose_core.recording.roll import Row, plan
from rose_core.recording.straight import PENDING, Straight
from rose_core.recording.totals import Total

_NEG, _ADD, _SUB = map(code, ("neg", "add", "sub"))

MOST_NUMBERS = 24
"""The most elements that a loop with a state gets as numbers: on the way back its state has as many sums."""


class Body(Straight):
    """Builds the body of one function from its rows."""

    repeats: Sequence[Repeat] = ()
    """The loops that were found again."""

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

    def _plan(self) -> Iterator[int | Row | Repeat] | None:
        """In what order to build the rows, where some of them are to be loops."""
        entry = self.entry
        found = []
        calls = cache(self._rows_of_calls)
        if not (self.has_tangents or self.elements or self.passed):
            found = repeats(entry, self._callee, lambda: calls() is not None)
        if not (found and self._are_calls_in(found)) and (planned := calls()) is not None:
            return planned
        self.repeats = found
        return order(found, len(entry.rows) // 3) if found else None

    def _rows_of_calls(self) -> Iterator[int | Row] | None:
        """In what order to build the rows, where calls are to be loops."""
        entry, callee = self.entry, self.recording.callee
        # calls from all over what was joined are no row
        if not entry.calls or entry.number in self.recording.joined:
            return None
        return plan(entry, self._same, {k for k, number in enumerate(self.callees) if callee(number).effects})

    def _are_calls_in(self, found: Sequence[Repeat]) -> bool:
        """Whether there are few calls but those in these loops."""
        ops = self.entry.ops
        outside = ops.count(CALL) - sum(ops[loop.start : loop.end].count(CALL) for loop in found)
        return outside < FEWEST_CALLS

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

    def _callee(self, k: int, inner: int = 0) -> Func:
        return self.recording.callee(self.callees[k], inner)

    def _row_of_calls(self, rows: memoryview, row: Row) -> None:
        """One loop for these calls."""
        b, extra = self.b, self.extra
        numbers, args, literals = [], [], []
        for at in row.calls:
            x, y = rows[3 * at + 1 : 3 * at + 3]
            numbers.append(self.callees[extra[x]])
            args.append([self.value(k) for k in extra[x + 1 : x + y]])
            literals.append(self.recording.literals(numbers[-1:], b, args[-1], self.passed.get(at, {})))
        size = fin(len(row.calls))
        totals = [b.accum(self._start(total)) for _, total in row.totals]
        iteration = Iteration(b, b.open_for(size), size)
        passed = [self._pick(iteration, list(ids)) for ids in zip(*map(add, args, literals), strict=True)]
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
        iteration = Iteration(b, b.open_for(size), size)
        values = self._iteration(repeat, iteration, sums, {})
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
        iteration = Step(Builder(body), size, self.func, [self.func.type_of(x) for x in state])
        carried = dict(zip(repeat.carries, iteration.state, strict=False))
        values = self._iteration(repeat, iteration, {}, carried, self._read_ahead(repeat))
        after = [carried.get(Carry(row, first[1:]), values[row]) for row, first in repeat.carries]
        sums = zip(iteration.state[len(carried) :], added, strict=True)
        after += [operation(iteration.b, _ADD, [so_far, values[row]]) for so_far, (row, _) in sums]
        kept = [*repeat.used]
        body.blocks[0].results = [*after, *(values[row] for row in kept)]
        spec = Spec(len(state), size, len(kept))
        loop = b.loop(spec, b.const(size.size, COUNT), body, state, iteration.args)
        self._give(repeat, kept, loop, len(state) + 1)
        for at, carry in repeat.last:
            self.env[at] = b.get(loop, repeat.carries.index(carry))
        for number, (_, total) in enumerate(added, len(carried)):
            self.env[total.at] = b.get(loop, number)

    def _read_ahead(self, repeat: Repeat) -> dict[int, int]:
        """Row → the element that it reads in all steps, if these are few."""
        found: dict[int, tuple[int, float]] = {}
        for row, vector, numbers in repeat.elements(self.entry.values):
            if (
                vector >= 0
                and len(repeat.rows[row][1][0].ids) == 1
                and numbers.count(numbers[0]) == len(numbers)
            ):
                found[row] = vector, numbers[0]
        if len({*found.values()}) > MOST_NUMBERS:
            return {}
        elements = {}
        for row, (x, number) in found.items():
            vector = self.value(x)
            index = self.func.array_type_of(vector).index
            elements[row] = self.b.index(vector, self.b.const(int(number), index))
        return elements

    def _iteration(
        self,
        repeat: Repeat,
        iteration: Iteration,
        sums: Mapping[int, int],
        carried: Mapping[Carry, int],
        known: Mapping[int, int] = MappingProxyType({}),
    ) -> list[int]:
        """The values of all rows of a copy, of which some are added to accumulators, and some ``known``."""
        b = iteration.b
        values: list[int] = []

        def operand(row: int, x: Operand) -> int:
            if x.back:
                return values[row - x.back]
            if x.carry:
                return carried[x.carry]
            found = self._pick_literal(iteration, x.ids)
            return found if x.of < 0 else b.index(iteration.outer(self.value(x.of)), found)

        for row, (op, operands) in enumerate(repeat.rows):
            if row in known:
                values.append(iteration.outer(known[row]))
                continue
            args = [operand(row, x) for x in operands]
            if row in repeat.adds:
                (term,) = args
                term = operation(b, _NEG, [term]) if op == _SUB else term
                values.append(b.add_to(sums[repeat.adds[row]], term))
            elif op < TABLE_END or op == INDEX:
                values.append(operation(b, op, args))
            else:
                head, functions = repeat.heads[row]
                called = [*self._called(b, op, head, args, functions, partial(self._pick_number, iteration))]
                values.append(structure(b, op, head, self.types, args, called))
        return values

    def _give(self, repeat: Repeat, kept: Sequence[int], loop: int, first: int) -> None:
        """Say what a loop has of rows that are used, in columns from result ``first`` on."""
        iteration_of = {copy: iteration for iteration, copy in enumerate(repeat.live)}
        for number, row in enumerate(kept, first):
            column = self.b.get(loop, number)
            for copy in repeat.used[row]:
                at = repeat.start + copy * repeat.length + row
                self.env[at], self.iterations[at] = PENDING, (column, iteration_of[copy])
        rows = self.entry.rows
        self._make_literals(~rows[3 * at + 2] for at in repeat.reads)
        for at in repeat.reads:
            self._rows(rows, at, at + 1)

    def _start(self, total: Total) -> int:
        """What a sum starts from: to start from -0 and add the first is to start from that, to the bit."""
        return self.b.real(-0.0) if total.first is None else self.value(total.first)

    def _iterations(self, ids: Sequence[int]) -> tuple[int, list[int]] | None:
        """The column of which all these rows are elements, and of which iterations."""
        if ids[0] not in self.iterations or ids[-1] not in self.iterations:
            return None
        columns, iterations = zip(*[self.iterations.get(x, (-1, 0)) for x in ids], strict=True)
        return (columns[0], [*iterations]) if columns.count(columns[0]) == len(columns) else None

    def _pick(self, iteration: Iteration, ids: list[int]) -> int:
        """The one of these values whose iteration it is."""
        b = self.b
        if len(set(ids)) == 1:
            return iteration.outer(ids[0])
        t = self.func.type_of(ids[0])
        if isinstance(t, Fin) and max(ids) < 0:
            at = affine(iteration, [int(b.pool[~v][0]) for v in ids], t)
            if at is not None:
                return at
        reads = [b.code[v] if v >= 0 else () for v in ids]
        vectors = {read[1] if read and read[0] == INDEX and read[2] < 0 else -1 for read in reads}
        if len(vectors) == 1 and (vector := vectors.pop()) >= 0:
            return iteration.b.index(
                iteration.outer(vector), self._pick(iteration, [read[2] for read in reads])
            )
        return self._element(iteration, ids, t)

    def _element(self, iteration: Iteration, ids: list[int], t: Type) -> int:
        """As `_pick`, by a vector of the values."""
        if min(ids) == max(ids):
            return iteration.outer(ids[0])
        return iteration.b.index(iteration.outer(self.b.vec(ids, array(iteration.size, t))), iteration.i)

    def _pick_literal(self, iteration: Iteration, ids: Sequence[int]) -> int:
        """As `_pick`, of rows and of literals, which have no values yet."""
        if len(ids) == 1 and ids[0] >= 0:
            return iteration.outer(self.value(ids[0]))
        if (found := self._iterations(ids)) is not None:
            column, numbers = found
            index = self.func.array_type_of(column).index
            at = self._pick(iteration, [self.b.const(k, index) for k in numbers])
            return iteration.b.index(iteration.outer(column), at)
        kinds, values = self._column(self.entry.kinds, ids), self._column(self.entry.values, ids)
        if kinds and kinds.count(kinds[0]) == len(kinds):
            return self._pick_number(iteration, values, self.types[kinds[0]])
        self._make_literals(~v for v in ids if v < 0)
        return self._pick(iteration, [self.value(v) for v in ids])

    def _pick_number(self, iteration: Iteration, values: Sequence[float], t: Type) -> int:
        """As `_pick`, of literals of a type."""
        if len(values) == 1 or (values[0] and values.count(values[0]) == len(values)):
            return iteration.outer(self._literal(values[0], t))
        if isinstance(t, Fin) and (number := affine(iteration, values, t)) is not None:
            return number
        known = self.b.consts.get
        return self._element(iteration, [known((x, t)) or self._literal(x, t) for x in values], t)

    def _column(self, of: Sequence[Any], ids: Sequence[int]) -> Sequence[Any]:
        """What a list has of literals; nothing if not all are literals, or if parameters stand for some."""
        if self.literal_params and any(~v in self.literal_params for v in ids):
            return ()
        if max(ids[0], ids[-1]) < 0 and isinstance(ids, range):
            return of[~ids[0] : ~ids[-1] + 1 : -ids.step] if ids.step < 0 else ()
        return [of[~v] for v in ids] if max(ids) < 0 else ()
