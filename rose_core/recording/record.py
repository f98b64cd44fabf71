"""Recordings: the flat form in which the JavaScript bridge hands over programs.

The bridge writes what a body does as rows of three ints, checks kinds, shapes and scopes while it
does, and sends all functions of a program at once. A row's number is the id of its value; a negative
operand ``~k`` is literal ``k``. Table ops are ``(opcode, x, y)``, with ``y`` unused by unary ones; the
structural opcodes (`language.ir`, and ``END``) and ``select`` have operands in a second list, ``extra``,
from index ``x`` on, ``y`` of them:

===========  ==============================================================
``PARAM``    x: number among the leaves of the parameters and what is captured after them
``INDEX``    x: array, y: index
``VEC``      extra: type, elements…
``FOR``      x: index type; the value is the index; the rows up to ``END`` are the body
``END``      extra: results…; closes the innermost ``FOR`` and stands for it
``GET``      x: loop, call, ``VJP`` or ``PULL``, y: number of the result
``CALL``     extra: function, arguments…
``ACCUM``    x: initial value;  ``ADD_TO`` x: accumulator, y: value;  ``RESOLVE`` x: accumulator
``VJP``      extra: function, arguments…
``PULL``     extra: ``VJP``, cotangents…
``COND``     extra: two functions, number of arguments of the first, condition, arguments of both…
``LOOP``     extra: body, test (-1 for none), number of leaves of the state, type of the number of the
             turn, outputs, 0 or 1 + the note if it must end, checkpoint, number of turns, state…, arguments…
``SET``      extra: array, index, element
===========  ==============================================================

A program is a header (JSON: types, how many notes there are, and per function its name, signature,
results, derivative or what is wrong with it, the types and functions that its rows refer to by number,
how it calls (``"c"``, ``"v"`` if there is a ``VJP``), and the sizes of its lists), the ints of all functions
in a row (rows, extra, types of literals), and their literals' values in a row. A literal is used once, so
that rows are the same whichever literals are equal: `recording.share` makes one function of functions with
the same rows. A function may be named instead, with its options and what it is of: see `recording.named`.
"""

from __future__ import annotations

import functools
import json
import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from operator import add
from types import MappingProxyType
from typing import Any

from rose_core.derivatives.known import Known, Outdated
from rose_core.language.builder import COUNT, Builder
from rose_core.language.indices import MOST
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
    STRUCTURAL_NAMES,
    VEC,
    VJP,
    Func,
    Spec,
    is_real,
)
from rose_core.language.ops import BINARY_END, OPS, TABLE_END, UNARY_END, code
from rose_core.language.types import (
    BOOL,
    REAL,
    TAN,
    UNIT,
    Array,
    Fin,
    Struct,
    Type,
    array,
    fin,
    leaves,
    scalar_of,
)
from rose_core.operators.sparse import Sparse
from rose_core.recording.named import declare, make
from rose_core.recording.overlap import join, reached
from rose_core.recording.reroll import Repeat, order, repeats
from rose_core.recording.roll import Row, operands_of, plan
from rose_core.recording.share import REAL_COLUMN, Entry, Shape, calls, key_of, share
from rose_core.tracing.where import elsewhere

END = TABLE_END + len(STRUCTURAL_NAMES)

_NEG, _SUB, _IADD, _IMUL, _NARROW = map(code, ("neg", "sub", "iadd", "imul", "narrow"))

_PLAIN = [set(op.ins) == {"R"} and op.out == "R" for op in OPS]
"""Ops from reals to a real."""
_SIMPLE = [op.out == "B" or op.out == "R" for op in OPS]
"""Ops whose result has the same type wherever there are no tangents."""
_COMMUTES = [op.commutes for op in OPS]

_SIMPLE_TYPES = {"unit": UNIT, "bool": BOOL, "real": REAL, "tan": TAN}


def types_of(rows: Sequence[Any]) -> list[Type]:
    """The type table of a header: names, sizes, ``["vec", size, elem]``, ``["struct", names, types]``."""
    types: list[Type] = []
    for row in rows:
        if isinstance(row, str):
            types.append(_SIMPLE_TYPES[row])
        elif isinstance(row, int):
            types.append(fin(row))
        elif row[0] == "vec":
            types.append(array(fin(row[1]), types[row[2]]))
        else:
            types.append(Struct({name: types[t] for name, t in zip(row[1], row[2], strict=True)}))
    return types


class Recording:
    """A program as it arrived: ``root`` is its entry, ``opaque`` are its opaque functions in their order."""

    def __init__(
        self,
        header: str,
        ints: memoryview,
        reals: Sequence[float],
        host: Callable[[Func], Callable[..., list[Any]]] | None = None,
        note: Callable[[str, int], int] | None = None,
        known: Known | None = None,
        whole: bool = True,
    ) -> None:
        """``host`` gives what an opaque function runs, asked in their order, if they are to be run here.

        ``note`` gives the number of a note that the core itself has: what it says, before the note of that
        number. Otherwise they follow upon the program's, in ``notes``. ``known`` has the functions of
        earlier programs. ``whole``: where functions compute much of the same, make them one
        (`recording.overlap`).
        """
        self.known = known
        program = json.loads(header)
        rows = program["functions"]
        self.notes: list[tuple[str, int]] = []
        self._note = note or functools.partial(self._add_note, program.get("notes", 0))
        self.sparse: dict[Func, Sparse] = {}
        """What there is to say of matrices whose elements functions give."""
        self.types = types_of(program["types"])
        self.opaque: list[Func] = []
        self._entries = self._read(rows, ints, reals)
        derived = {k for k, row in enumerate(rows) if row["jvp"] >= 0}
        faulty = {k for k, row in enumerate(rows) if "fault" in row}
        alone = {program["root"], *derived, *faulty}
        self._instances = share(list(self._entries.values()), alone)
        needed: Collection[int] = range(len(rows))
        self.joined: Collection[int] = ()
        """The functions in which others are in line already."""
        if whole:
            self.joined = join(program["root"], rows, self._entries, self._instances, alone)
        if self.joined:
            needed = reached(program["root"], rows, self._entries)
            left = [entry for k, entry in self._entries.items() if k in needed]
            self._instances = share(left, alone.union(self.joined))
        self._alone = {program["root"], *faulty}
        self._with_rule = derived
        self._rules: dict[object, int] = {}
        """By what functions with a derivative of their own are made from: how many there are."""
        self._functions: dict[int, Func] = {}
        """By number, those that stand alone."""
        self._built: dict[Shape, Func] = {}
        for k, row in enumerate(rows):
            if row["kind"] == "opaque" or (k in needed and k not in self._entries):
                self._functions[k] = self._without_body(row, host)
            elif k in needed and self._instances[k].shape not in self._built:
                self._build(self._instances[k].shape)
        for k in derived.intersection(needed):
            f, rule = self.function(k), self.function(rows[k]["jvp"])
            if f.jvp not in (None, rule):
                raise Outdated
            f.jvp = rule
        for k in faulty.intersection(needed):
            self.function(k).fault = rows[k]["fault"]
        for k, row in enumerate(rows):
            if k in needed and row["kind"] == "named" and row["by"] != "jvp":
                self._make(self.function(k), row)
        self.root = self.function(program["root"])

    def _read(self, rows: list[dict[str, Any]], ints: memoryview, reals: Sequence[float]) -> dict[int, Entry]:
        """The functions that have a body, by number."""
        entries: dict[int, Entry] = {}
        types = self.types
        leaves_of = functools.cache(lambda t: leaves(types[t]))
        at = literals_at = 0
        for number, row in enumerate(rows):
            if row["kind"] != "fn":
                continue
            count, extra, literals = row["sizes"]
            end = at + 3 * count
            stop = end + extra + literals
            params = [types[t] for t in row["params"]]
            entries[number] = Entry(
                number,
                row["name"],
                params,
                types[row["ret"]],
                [leaf for t in (*row["params"], *row["captures"]) for leaf in leaves_of(t)],
                ints[at:end],
                ints[end : end + extra].tolist(),
                ints[end + extra : stop].tolist(),
                reals[literals_at : literals_at + literals],
                [types[t] for t in row["types"]],
                row["callees"],
                row["results"],
                row["calls"],
                row["opaque"],
                row["remat"],
                (
                    row["opaque"],
                    row["remat"],
                    *row["params"],
                    -1,
                    row["ret"],
                    *row["captures"],
                    -1,
                    *row["types"],
                ),
            )
            at = stop
            literals_at += literals
        return entries

    def _without_body(
        self, row: dict[str, Any], host: Callable[[Func], Callable[..., list[Any]]] | None
    ) -> Func:
        """An opaque function, or one that is named, whose body is yet to be made."""
        params = [self.types[t] for t in row["params"]]
        f = Func(row["name"], params, self.types[row["ret"]])
        if row["kind"] == "named":
            declare(f, row["by"], self.function(row["of"]))
        else:
            f.params = [leaf for t in params for leaf in leaves(t)]
            f.host = host(f) if host else _elsewhere
            f.effects = not row["pure"]
            self.opaque.append(f)
        return f

    def _make(self, f: Func, row: dict[str, Any]) -> None:
        """Make a function that is named, once all derivatives are known that authors set."""
        place = row.get("place", 0)
        with elsewhere(lambda complaint: self._note(f"{row['by']}: {complaint}", place)):
            sparse = make(f, row["by"], self.function(row["of"]), row["options"])
        if sparse:
            self.sparse[f] = sparse

    def _add_note(self, first: int, text: str, place: int) -> int:
        if (text, place) not in self.notes:
            self.notes.append((text, place))
        return first + self.notes.index((text, place))

    def function(self, number: int) -> Func:
        """A function with the parameters that its author gave it."""
        found = self._functions.get(number)
        if found is None:
            instance = self._instances[number]
            shared = self._built[instance.shape]
            found = self._functions[number] = (
                self._fixed(self._entries[number], shared) if instance.shape.columns else shared
            )
        return found

    def _fixed(self, entry: Entry, shared: Func) -> Func:
        """A function that calls a shared one with its own literals."""
        f = Func(entry.name, entry.params, entry.ret)
        b = Builder(f)
        args = [b.param(t) for t in entry.leaves]
        call = b.call(shared, [*args, *self.literals(entry.number, b, args)])
        f.blocks[0].results = [b.get(call, k) for k in range(len(shared.result_types))]
        return f

    def callee(self, number: int) -> Func:
        """The function to call, on the arguments and `literals`."""
        return (
            self._built[self._instances[number].shape] if number in self._instances else self.function(number)
        )

    def literals(
        self, number: int, b: Builder, args: Sequence[int], known: Mapping[int, int] = MappingProxyType({})
    ) -> list[int]:
        """The values of a function's columns when it is called on ``args``, but for those ``known``."""
        instance = self._instances.get(number)
        if instance is None:
            return []
        found = []
        for j, (column, value) in enumerate(zip(instance.shape.columns, instance.values, strict=True)):
            if j in known:
                found.append(known[j])
            elif column.param == REAL_COLUMN:
                found.append(b.real(value))
            else:
                array = args[column.param]  # type: ignore[index]
                index = b.func.type_of(array).index  # type: ignore[attr-defined]
                found.append(b.index(array, b.const(int(value), index)))
        return found

    def _build(self, shape: Shape) -> None:
        key = self._key(shape) if self.known else None
        if self.known and key is not None:
            self._built[shape] = self.known.function(key, lambda: self._body(shape))
        else:
            self._built[shape] = self._body(shape)

    def _body(self, shape: Shape) -> Func:
        body = _Body(self, shape)
        body.build()
        body.func.blocks[0].results = [body.env[r] for r in shape.members[0].results]
        return body.func

    def _key(self, shape: Shape) -> object:
        """Equal for shapes that are built as the same function, in any program; None if it is not known."""
        entry = shape.members[0]
        if entry.number in self._alone or entry.calls == "v":
            return None
        literals = list(entry.values)
        for column in shape.columns:
            if column.callee_column < 0:  # the function's own, which becomes a parameter
                literals[column.source] = 0.0
        passed = {(column.source, column.callee_column) for column in shape.columns}
        called = []
        for k, which, _ in calls(entry):
            number = entry.callees[which]
            instance = self._instances.get(number)
            values = instance.values if instance else ()
            fixed = [(j, key_of(x)) for j, x in enumerate(values) if (k, j) not in passed]
            called.append((self.callee(number), tuple(fixed)))
        key = (
            entry.name,
            entry.rows.tobytes(),
            tuple(entry.extra),
            struct.pack(f"{len(literals)}d", *literals),
            tuple(entry.kinds),
            tuple((c.source, c.callee_column, c.param, c.row) for c in shape.columns),
            tuple(shape.element_types),
            tuple(entry.params),
            entry.ret,
            tuple(entry.leaves),
            tuple(entry.types),
            tuple(called),
            tuple(entry.results),
            entry.opaque,
            entry.remat,
        )
        if entry.number not in self._with_rule:
            return key
        # what the rule is, is known in the end only, as it may call the function
        number = self._rules[key] = self._rules.get(key, -1) + 1
        return key, number


_LISTED = frozenset((VEC, END, CALL, VJP, COND, LOOP, SET, PULL))
"""Structural rows with a list of operands."""


def _constant(value: float, t: Type) -> float:
    """A literal as its type has it; one of an array type fills the array."""
    return value if is_real(t) else value != 0 if t is BOOL else int(value)


def _elsewhere(*_: object) -> list[Any]:
    raise RuntimeError("this function runs on the page only")


class _Body:
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
        self.has_tangents = any(scalar_of(t) is TAN for t in entry.leaves) or TAN in entry.types
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

    def _make_literals(self, numbers: Iterable[int]) -> None:
        """Give literals their values, as far as no parameter is in their place."""
        entry, b, env = self.entry, self.b, self.env
        ids: dict[tuple[float, int], int] = {}
        for number in numbers:
            if number in self.literal_params:
                continue
            literal = entry.values[number], entry.kinds[number]
            v = ids.get(literal)
            if v is None or literal[0] == 0:  # which of the zeros?
                t = self.types[literal[1]]
                v = ids[literal] = b.const(_constant(literal[0], t), t)
            env[~number] = v

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
            else:
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
                    env[position] = b.binary(op, u, w)
                    continue
                pad()
                env[position] = b.unary(op, u)
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
            calls = plan(self.entry, self._same)
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
        """What calls in one loop have in common: the function, and the vectors that it gets."""
        f = self.recording.callee(callee)
        if f.effects:
            return None
        return f, *(a for a, t in zip(args, f.params, strict=False) if isinstance(t, Array))

    def _row_of_calls(self, rows: memoryview, row: Row) -> None:
        """One loop for these calls."""
        env, b, extra = self.env, self.b, self.extra
        numbers, args, literals = [], [], []
        for at in row.calls:
            x, y = rows[3 * at + 1 : 3 * at + 3]
            numbers.append(self.callees[extra[x]])
            args.append([env[k] for k in extra[x + 1 : x + y]])
            literals.append(self.recording.literals(numbers[-1], b, args[-1], self.passed.get(at, {})))
        size = fin(len(row.calls))
        i = b.open_for(size)
        passed = [self._pick(i, size, list(ids)) for ids in zip(*map(add, args, literals), strict=True)]
        call = b.call(self.recording.callee(numbers[0]), passed)
        results = range(len(self.recording.callee(numbers[0]).result_types))
        loop = b.close_for([b.get(call, k) for k in results])
        for turn, at in enumerate(row.calls):
            self.rolled[at] = loop, b.const(turn, size)

    def _repeat(self, repeat: Repeat) -> None:
        """One loop for these copies of the same rows."""
        env, b, size = self.env, self.b, fin(repeat.count)
        self._make_literals(~first for first in repeat.sums.values() if first < 0)
        sums = {row: b.accum(env[first]) for row, first in repeat.sums.items()}
        i = b.open_for(size)
        values: list[int] = []
        for row, (op, operands) in enumerate(repeat.rows):
            args = [values[row - x.back] if x.back else self._pick_literal(i, size, x.ids) for x in operands]
            if row in sums:
                (term,) = args
                values.append(b.add_to(sums[row], b.unary(_NEG, term) if op == _SUB else term))
            else:
                values.append(b.index(*args) if op == INDEX else self._operation(op, args))
        kept = [row for row in repeat.used if row not in sums]
        loop = b.close_for([values[row] for row in kept])
        for number, row in enumerate(kept):
            column = b.get(loop, number)
            for copy in repeat.used[row]:
                at = repeat.start + copy * repeat.length + row
                env[at] = b.index(column, b.const(copy, size))
        for row, total in sums.items():
            if row in repeat.used:
                env[repeat.start + (repeat.count - 1) * repeat.length + row] = b.resolve(total)

    def _pick(self, i: int, size: Type, ids: list[int]) -> int:
        """The one of these values whose turn it is."""
        b = self.b
        if len(set(ids)) == 1:
            return ids[0]
        t = self.func.type_of(ids[0])
        if isinstance(t, Fin) and max(ids) < 0:
            affine = self._affine(i, [int(b.pool[~v][0]) for v in ids], t)
            if affine is not None:
                return affine
        reads = [b.code[v] if v >= 0 else () for v in ids]
        vectors = {read[1] if read and read[0] == INDEX and read[2] < 0 else -1 for read in reads}
        if len(vectors) == 1 and (vector := vectors.pop()) >= 0:
            return b.index(vector, self._pick(i, size, [read[2] for read in reads]))
        return b.index(b.vec(ids, array(size, t)), i)

    def _pick_literal(self, i: int, size: Type, ids: Sequence[int]) -> int:
        """As `_pick`, of rows and of literals, which have no values yet."""
        kinds, values = self._column(self.entry.kinds, ids), self._column(self.entry.values, ids)
        if kinds and kinds.count(kinds[0]) == len(kinds):
            t = self.types[kinds[0]]
            if len(values) == 1 or (values[0] and values.count(values[0]) == len(values)):
                ids = ids[:1]
            elif isinstance(t, Fin):
                affine = self._affine(i, values, t)
                if affine is not None:
                    return affine
        self._make_literals(~v for v in ids if v < 0)
        return self._pick(i, size, [self.env[v] for v in ids])

    def _column(self, of: Sequence[Any], ids: Sequence[int]) -> Sequence[Any]:
        """What a list has of literals; nothing if not all are literals."""
        if max(ids[0], ids[-1]) < 0 and isinstance(ids, range):
            return of[~ids[0] : ~ids[-1] + 1 : -ids.step] if ids.step < 0 else ()
        return [of[~v] for v in ids] if max(ids) < 0 else ()

    def _affine(self, i: int, numbers: Sequence[float], t: Fin) -> int | None:
        """Of indices that go up in equal steps, the one whose turn it is."""
        b = self.b
        first, second, last = int(numbers[0]), int(numbers[1]), int(numbers[-1])
        step = second - first
        if step <= 0 or list(numbers) != list(range(first, last + 1, step)):
            return None
        turns = b.binary(_IMUL, i, b.const(step, COUNT), COUNT)
        at = b.binary(_IADD, turns, b.const(first, COUNT), COUNT)
        return b.binary(_NARROW, at, b.const(t.size, COUNT), t)

    def _table_op(self, op: int, x: int, y: int) -> int:
        env = self.env
        if op >= BINARY_END:
            return self._operation(op, [env[k] for k in self.extra[x : x + y]])
        if _SIMPLE[op] and not self.has_tangents:
            return self.b.unary(op, env[x]) if op < UNARY_END else self.b.binary(op, env[x], env[y])
        return self._operation(op, [env[x]] if op < UNARY_END else [env[x], env[y]])

    def _operation(self, op: int, args: Sequence[int]) -> int:
        """An operation of the table; its type follows from the operands."""
        b = self.b
        row = OPS[op]
        type_of = self.func.type_of
        if row.out == "a":
            return b.op(op, *args)
        if row.out == "R":
            t: Type = TAN if any(type_of(a) is TAN for a in args) else REAL
        else:
            t = BOOL if row.out == "B" else fin(int(b.pool[~args[1]][0]) if row.sized else MOST + 1)
        return b.op(op, *args, type=t)

    def _structural(self, position: int, op: int, x: int, y: int) -> int:
        env, b = self.env, self.b
        operands = self.extra[x : x + y] if op in _LISTED else []
        if op == PARAM:
            return self.params[x]
        if op == INDEX:
            return b.index(env[x], env[y])
        if op == VEC:
            return b.vec([env[k] for k in operands[1:]], self.types[operands[0]])
        if op == FOR:
            return b.open_for(self.types[x])
        if op == END:
            return b.close_for([env[k] for k in operands])
        if op == GET:
            if x in self.rolled:
                loop, turn = self.rolled[x]
                return b.index(b.get(loop, y), turn)
            return b.get(env[x], y)
        if op == CALL:
            number = self.callees[operands[0]]
            args = [env[k] for k in operands[1:]]
            literals = self.recording.literals(number, b, args, self.passed.get(position, {}))
            return b.call(self.recording.callee(number), [*args, *literals])
        if op == ACCUM:
            return b.accum(env[x])
        if op == ADD_TO:
            return b.add_to(env[x], env[y])
        if op == RESOLVE:
            return b.resolve(env[x])
        if op == VJP:
            f = self.recording.function(self.callees[operands[0]])
            return b.vjp(f, [env[k] for k in operands[1:]])
        if op == COND:
            args = [env[k] for k in operands[4:]]
            yes, no = (self.recording.function(self.callees[k]) for k in operands[:2])
            return b.cond(env[operands[3]], yes, args[: operands[2]], no, args[operands[2] :])
        if op == LOOP:
            return self._loop(operands)
        if op == SET:
            return b.set(*[env[k] for k in operands])
        if op == PULL:
            return b.pull(env[operands[0]], [env[k] for k in operands[1:]])
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
        ids = [self.env[k] for k in rest]
        end = len(body.params) - 1
        return self.b.loop(spec, self.env[count], body, ids[:carries], ids[carries:end], test, ids[end:])
