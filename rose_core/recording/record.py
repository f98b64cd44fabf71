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
             iteration, outputs, 0 or 1 + the note if it must end, checkpoint, number of iterations, state…,
             arguments…
``SET``      extra: array, index, element
===========  ==============================================================

A program is a header (of JSON: types, how many notes there are, whether it is to be precise, which
`optimise.powers` is about, and per function its name, signature, results, derivative or what is wrong with
it, the types and functions that its rows refer to by number, how it calls (``"c"``, ``"v"`` if there is a
``VJP``), and the sizes of its lists), the ints of all functions in a row (rows, extra, types of literals),
and their literals' values in a row. A literal is used once, so that rows are the same whichever literals are
equal: `recording.share` makes one function of functions with the same rows. A function may be named instead,
with its options and what it is of: see `recording.named`.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from rose_core.derivatives.known import Known, Outdated
from rose_core.language.builder import Builder
from rose_core.language.ir import Func
from rose_core.language.types import BOOL, REAL, TAN, UNIT, Struct, Type, array, fin, leaves
from rose_core.language.window import window
from rose_core.operators.sparse import Sparse
from rose_core.recording.body import Body
from rose_core.recording.named import declare, make
from rose_core.recording.overlap import join, reached
from rose_core.recording.rows import opcodes_of
from rose_core.recording.share import REAL_COLUMN, Entry, Instance, Shape, calls, key_of, share
from rose_core.tracing.where import elsewhere

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


Literal = Callable[[Sequence[float], Type], int]
"""Gives the value of a literal from those that it is in the iterations of a loop, and its type."""


class Recording:
    """A program as it arrived: ``root`` is its entry, ``opaque`` are its opaque functions in their order."""

    def __init__(
        self,
        program: Mapping[str, Any],
        ints: memoryview,
        reals: Sequence[float],
        host: Callable[[Func], Callable[..., list[Any]]] | None = None,
        note: Callable[[str, int], int] | None = None,
        known: Known | None = None,
        whole: bool = True,
    ) -> None:
        """``program`` is the header. ``host`` gives what an opaque function runs, asked in their order, if
        they are to be run here. ``note`` gives the number of a note that the core itself has: what it says,
        before the note of that number. Otherwise they follow upon the program's, in ``notes``. ``known`` has
        the functions of earlier programs. ``whole``: where functions compute much of the same, make them
        one (`recording.overlap`).
        """
        self.known = known
        self.precise: bool = program.get("precise", False)
        rows = program["functions"]
        self.notes: dict[tuple[str, int], int] = {}
        """The core's own: what it says, and the program's note that follows that → the number among these."""
        self._given_note = note
        self._first_note: int = program.get("notes", 0)
        self.sparse: dict[Func, Sparse] = {}
        """What there is to say of matrices whose elements functions give."""
        self.types = types_of(program["types"])
        self.opaque: list[Func] = []
        self._root: int = program["root"]
        self._with_rule = {k for k, row in enumerate(rows) if row["jvp"] >= 0}
        """The functions with a derivative that their author gave them."""
        self._faulty = {k for k, row in enumerate(rows) if "fault" in row}
        """Those of which what their author gave them is none."""
        self._entries = self._read(rows, ints, reals)
        self._instances: Mapping[int, Instance]
        self.joined: Collection[int] = ()
        """The functions in which others are inlined already."""
        needed = self._share(rows, whole)
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
        self._set_derivatives(rows, needed)
        for k, row in enumerate(rows):
            if k in needed and row["kind"] == "named" and row["by"] != "jvp":
                self._make(self.function(k), row)
        self.root = self.function(self._root)

    def _read(self, rows: list[dict[str, Any]], ints: memoryview, reals: Sequence[float]) -> dict[int, Entry]:
        """The functions that have a body, by number."""
        entries: dict[int, Entry] = {}
        forms: dict[object, Entry] = {}
        """The first function of each form."""
        types = self.types
        leaves_of = functools.cache(lambda *ts: [leaf for t in ts for leaf in leaves(types[t])])
        at = literals_at = 0
        for number, row in enumerate(rows):
            if row["kind"] != "fn":
                continue
            count, extra, literals = row["sizes"]
            end = at + 3 * count
            stop = end + extra + literals
            params, ret, captures = row["params"], row["ret"], row["captures"]
            key = count, extra, ints[at:stop].tobytes()
            first = forms.get(key)
            entries[number] = Entry(
                number=number,
                name=row["name"],
                params=[types[t] for t in params],
                ret=types[ret],
                leaves=leaves_of(*params, *captures),
                rows=first.rows if first else ints[at:end],
                ops=first.ops if first else opcodes_of(ints[at:end]),
                extra=first.extra if first else ints[end : end + extra].tolist(),
                kinds=first.kinds if first else ints[end + extra : stop].tolist(),
                values=reals[literals_at : literals_at + literals],
                types=[types[t] for t in row["types"]],
                callees=row["callees"],
                results=row["results"],
                calls=row["calls"],
                opaque=row["opaque"],
                remat=row["remat"],
                signature=(row["opaque"], row["remat"], *params, -1, ret, *captures, -1, *row["types"]),
                form=first.number if first else number,
            )
            forms.setdefault(key, entries[number])
            at = stop
            literals_at += literals
        return entries

    def _share(self, rows: list[dict[str, Any]], whole: bool) -> Collection[int]:
        """Say which functions are built as one; the numbers of those that are needed then."""
        alone = {self._root, *self._with_rule, *self._faulty}
        self._instances = share(list(self._entries.values()), alone)
        if whole:
            self.joined = join(self._root, rows, self._entries, self._instances, alone)
        if not self.joined:
            return range(len(rows))
        needed = reached(self._root, rows, self._entries)
        left = [entry for k, entry in self._entries.items() if k in needed]
        self._instances = share(left, alone.union(self.joined))
        return needed

    def _set_derivatives(self, rows: list[dict[str, Any]], needed: Collection[int]) -> None:
        """Give functions the derivatives that their authors gave them, or say what is wrong with these."""
        for k in self._with_rule.intersection(needed):
            f, rule = self.function(k), self.function(rows[k]["jvp"])
            if f.jvp not in (None, rule):
                raise Outdated
            f.jvp = rule
        for k in self._faulty.intersection(needed):
            self.function(k).fault = rows[k]["fault"]

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

    def _note(self, text: str, place: int) -> int:
        if self._given_note:
            return self._given_note(text, place)
        return self._first_note + self.notes.setdefault((text, place), len(self.notes))

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
        call = b.call(shared, [*args, *self.literals([entry.number], b, args)])
        f.blocks[0].results = [b.get(call, k) for k in range(len(shared.result_types))]
        return f

    def callee(self, number: int, inner: int = 0) -> Func:
        """The function to call, on the arguments and `literals`.

        The first ``inner`` arguments are not known where the literals are: none is an element of these.
        """
        instance = self._instances.get(number)
        if instance is None or (inner and _picks(instance.shape, inner)):
            return self.function(number)
        return self._built[instance.shape]

    def arity(self, number: int) -> int:
        """How many arguments a function gets, without `literals`."""
        entry = self._entries.get(number)
        return len(entry.leaves) if entry else len(self.function(number).params)

    def literals(
        self,
        numbers: Sequence[int],
        b: Builder,
        args: Sequence[int],
        known: Mapping[int, int] = MappingProxyType({}),
        inner: int = 0,
        literal: Literal | None = None,
    ) -> list[int]:
        """The values of a function's columns when it is called on ``args``, but for those ``known``.

        It may be several of one shape, of which each is called in an iteration of a loop: ``literal`` gives
        the value of a column then.
        """
        first = self._instances.get(numbers[0])
        if first is None or not first.shape.columns or (inner and _picks(first.shape, inner)):
            return []
        found = []
        for j, (column, value) in enumerate(zip(first.shape.columns, first.values, strict=True)):
            of = [self._instances[number].values[j] for number in numbers] if literal else ()
            if j in known:
                found.append(known[j])
            elif column.param == REAL_COLUMN:
                found.append(literal(of, REAL) if literal else b.const(value, REAL))
            else:
                array = args[column.param]  # type: ignore[index]
                index = b.func.array_type_of(array).index
                at = literal(of, index) if literal else b.const(int(value), index)
                found.append(window(b, array, at, column.window) if column.window else b.index(array, at))
        return found

    def _build(self, shape: Shape) -> None:
        key = self._key(shape) if self.known else None
        if self.known and key is not None:
            self._built[shape] = self.known.function(key, lambda: self._body(shape))
        else:
            self._built[shape] = self._body(shape)

    def _body(self, shape: Shape) -> Func:
        body = Body(self, shape)
        body.build()
        body.func.blocks[0].results = [body.value(r) for r in shape.members[0].results]
        return body.func

    def _key(self, shape: Shape) -> object:
        """Equal for shapes that are built as the same function, in any program; None if it is not known."""
        entry = shape.members[0]
        if entry.number == self._root or entry.number in self._faulty or entry.calls == "v":
            return None
        literals = list(entry.values)
        for column in shape.columns:
            # the function's own becomes a parameter; an index of a window is the same in all members
            if column.callee_column < 0 and not column.window:
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
            tuple((c.source, c.callee_column, c.param, c.row, c.window) for c in shape.columns),
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


def _picks(shape: Shape, inner: int) -> bool:
    """Whether a column is an element of one of the first so many parameters."""
    return any(column.param is not None and 0 <= column.param < inner for column in shape.columns)


def _elsewhere(*_: object) -> list[Any]:
    raise RuntimeError("this function runs on the page only")
