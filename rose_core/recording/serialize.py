"""Functions that Python has traced, as recordings: the inverse of `recording.record`.

So the bridge gets them in the form in which it keeps its own, and sends them back as parts of programs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rose_core import errors
from rose_core.language.ir import (
    CALL,
    COND,
    FOR,
    GET,
    IDX,
    LOOP,
    PARAM,
    PULL,
    SET,
    VEC,
    VJP,
    CondSite,
    Func,
    LoopSite,
)
from rose_core.language.ops import BINARY_END, FAILS, OPS, UNARY_END
from rose_core.language.tables import nested, table_of
from rose_core.language.types import BOOL, REAL, TAN, UNIT, Array, Fin, Scalar, Struct, Type, leaves
from rose_core.recording.operands import END

_TABLE_END = len(OPS)
_SIMPLE = {UNIT: "unit", BOOL: "bool", REAL: "real", TAN: "tan"}


@dataclass
class Serialized:
    """Functions in the form that `recording.record` describes: the parts of a header, and the numbers.

    There is no root, and every function says the types of its results, too (``resultTypes``).
    """

    types: list[Any] = field(default_factory=list)
    functions: list[dict[str, Any]] = field(default_factory=list)
    ints: list[int] = field(default_factory=list)
    reals: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What is said of values that are not defined, by number."""
    note_at: list[int] = field(default_factory=list)
    """Which of ``reals`` are numbers of notes."""
    int_note_at: list[int] = field(default_factory=list)
    """Which of ``ints`` are numbers of notes, plus 1."""
    numbers: dict[Func, int] = field(default_factory=dict)
    """By function, its place in ``functions``."""
    opaque: list[Func] = field(default_factory=list)
    """Those that run Python, in their order."""
    _type_numbers: dict[Type, int] = field(default_factory=dict)
    _note_numbers: dict[int, int] = field(default_factory=dict)

    def type(self, t: Type) -> int:
        """The number of a type."""
        number = self._type_numbers.get(t)
        if number is None:
            row = self._type_row(t)
            number = self._type_numbers[t] = len(self.types)
            self.types.append(row)
        return number

    def _type_row(self, t: Type) -> object:
        if isinstance(t, Fin):
            return t.size
        if isinstance(t, Array):
            return ["vec", t.size, self.type(t.elem)]
        if isinstance(t, Struct):
            return ["struct", list(t.fields), [self.type(u) for u in t.fields.values()]]
        assert isinstance(t, Scalar)
        return _SIMPLE[t]

    def note(self, number: int) -> int:
        """The number here of a note."""
        found = self._note_numbers.setdefault(number, len(self.notes))
        if found == len(self.notes):
            self.notes.append(errors.notes[number])
        return found


def serialize(roots: Sequence[Func]) -> Serialized:
    """The functions that ``roots`` need, callees first, and derivatives after what they are of."""
    program = Serialized()
    for f in _needed(roots):
        program.numbers[f] = len(program.numbers)
    for f in program.numbers:
        program.functions.append(_entry(program, f))
    return program


def _needed(roots: Sequence[Func]) -> Iterator[Func]:
    """What ``roots`` need, in order; without recursion, as call chains can be long."""
    seen: set[Func] = set()
    todo = list(roots)[::-1]
    while todo:
        stack: list[tuple[Func, Iterator[Func]]] = []

        def enter(f: Func, stack: list[tuple[Func, Iterator[Func]]] = stack) -> None:
            if f not in seen:
                seen.add(f)
                stack.append((f, iter([f.origin[1]] if f.origin else f.callees)))

        enter(todo.pop())
        while stack:
            f, needs = stack[-1]
            callee = next(needs, None)
            if callee is not None:
                enter(callee)
                continue
            stack.pop()
            yield f
            if f.jvp:
                todo.append(f.jvp)


def _entry(program: Serialized, f: Func) -> dict[str, Any]:
    """What a header says of a function; its numbers are appended to those of the program."""
    common: dict[str, Any] = {
        "name": f.name,
        "params": [program.type(t) for t in f.param_types],
        "ret": program.type(f.ret),
        "remat": f.remat,
        "jvp": program.numbers[f.jvp] if f.jvp else -1,
    }
    if f.host:
        program.opaque.append(f)
        return {**common, "kind": "opaque", "pure": not f.effects}
    if f.origin:
        by, of = f.origin
        options = {"order": f.order} if by == "jet" else {}
        return {**common, "kind": "named", "by": by, "of": program.numbers[of], "options": options}
    declared = sum(len(leaves(t)) for t in f.param_types)
    body = _Body(program, f)
    return {
        **common,
        "kind": "fn",
        "opaque": f.opaque,
        "sizes": body.write(),
        "types": body.types,
        "captures": [program.type(t) for t in f.params[declared:]],
        "callees": [program.numbers[g] for g in f.callees],
        "calls": "v" if body.has_control else "c" if f.callees else "",
        "results": body.results,
        "resultTypes": [program.type(t) for t in f.result_types],
    }


class _Body:
    """Writes the body of one function."""

    def __init__(self, program: Serialized, f: Func) -> None:
        self.program = program
        self.f = f
        self.rows: list[int] = []
        self.extra: list[int] = []
        self.extra_notes: list[int] = []
        """Which items of ``extra`` are numbers of notes, plus 1."""
        self.literals: list[tuple[float, int]] = []
        """The value of each literal, and the number of its type."""
        self.types: list[int] = []
        """The program's numbers of the types that rows and literals refer to."""
        self.ids: dict[int, int] = {}
        """By id in the function, the number of the row."""
        self.has_control = False
        """Whether there are choices, loops with a state, or reverse derivatives."""
        self._type_numbers: dict[Type, int] = {}
        self._block(0)
        self.results = [self._id(v) for v in f.results]

    def write(self) -> tuple[int, int, int]:
        """Append it to the program; how many rows, further operands and literals there are."""
        program = self.program
        extra = len(program.ints) + len(self.rows)
        program.int_note_at += [extra + k for k in self.extra_notes]
        program.ints += [*self.rows, *self.extra, *(t for _, t in self.literals)]
        program.reals += [x for x, _ in self.literals]
        return len(self.rows) // 3, len(self.extra), len(self.literals)

    def _type(self, t: Type) -> int:
        number = self._type_numbers.get(t)
        if number is None:
            number = self._type_numbers[t] = len(self.types)
            self.types.append(self.program.type(t))
        return number

    def _row(self, op: int, x: int, y: int = 0) -> int:
        self.rows += [op, x, y]
        return len(self.rows) // 3 - 1

    def _row_of(self, op: int, operands: Sequence[int]) -> int:
        at = len(self.extra)
        self.extra += operands
        return self._row(op, at, len(operands))

    def _id(self, v: int) -> int:
        """The id of a value; constants are written anew for every use."""
        return self.ids[v] if v >= 0 else self._constant(*self.f.pool[~v])

    def _constant(self, value: Any, t: Type) -> int:
        if isinstance(value, bytes):
            return self._table(nested(value, t), t)
        if not isinstance(t, Array):
            self.literals.append((float(value), self._type(t)))
            return ~(len(self.literals) - 1)
        self._row(FOR, self._type(t.index))
        loop = self._row_of(END, [self._constant(value, t.elem)])
        return self._row(GET, loop, 0)

    def _table(self, value: Any, t: Type) -> int:
        if not isinstance(t, Array):
            return self._constant(value, t)
        return self._row_of(VEC, [self._type(t), *(self._table(x, t.elem) for x in value)])

    def _all(self, ids: Sequence[int]) -> list[int]:
        return [self._id(v) for v in ids]

    def _block(self, number: int) -> None:
        f = self.f
        for v in f.blocks[number].order:
            self.ids[v] = self._instruction(v, f.code[v])

    def _instruction(self, v: int, ins: tuple[int, ...]) -> int:
        op, *operands = ins
        if op < _TABLE_END:
            return self._operation(op, operands)
        if op == PARAM:
            return self._row(PARAM, operands[0])
        if op == GET:
            return self._row(GET, self.ids[operands[0]], operands[1])
        if op == IDX:
            return self._row(FOR, self._type(self.f.blocks[operands[0]].size))
        if op == FOR:
            (block,) = operands
            self._block(block)
            return self._row_of(END, self._all(self.f.blocks[block].results))
        if op == VEC and table_of(self.f, v) is not None:
            return self._id(operands[0])
        if op == VEC:
            return self._row_of(VEC, [self._type(self.f.types[v]), *self._all(operands)])
        if op in (CALL, VJP):
            self.has_control |= op == VJP
            callee, *args = operands
            return self._row_of(op, [callee, *self._all(args)])
        if op == PULL:
            return self._row_of(PULL, self._all(operands))
        if op == SET:
            return self._row_of(SET, self._all(operands))
        if op == COND:
            self.has_control = True
            site = CondSite(self.f, ins)
            yes, no = site.args
            return self._row_of(
                COND, [*operands[:2], len(yes), self._id(site.p), *self._all(yes), *self._all(no)]
            )
        if op == LOOP:
            self.has_control = True
            return self._loop(ins)
        x, *rest = self._all(operands)
        return self._row(op, x, *rest)

    def _operation(self, op: int, operands: Sequence[int]) -> int:
        args = self._all(operands)
        if op in FAILS:
            literal = ~args[-1]
            value, t = self.literals[literal]
            self.literals[literal] = float(self.program.note(int(value))), t
            self.program.note_at.append(len(self.program.reals) + literal)
        if op < UNARY_END:
            return self._row(op, args[0])
        if op < BINARY_END:
            return self._row(op, *args)
        return self._row_of(op, args)

    def _loop(self, ins: tuple[int, ...]) -> int:
        _, _, body, test, *_ = ins
        site = LoopSite(self.f, ins)
        spec = site.spec
        operands = self._all([site.count, *site.state, *site.args, *site.test_args])
        at = len(self.extra)
        if spec.note >= 0:
            self.extra_notes.append(at + 5)
        must_end = 1 + self.program.note(spec.note) if spec.note >= 0 else int(spec.must_end)
        head = [body, test, spec.carries, self._type(spec.index), spec.outputs, must_end, spec.checkpoint]
        return self._row_of(LOOP, [*head, *operands])
