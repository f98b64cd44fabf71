"""Sharing: functions of a recording that differ only in literals are one function.

Programs are full of repetition: a page calls a helper that defines a function, over and over, each
time with other numbers or other elements of the same vector. The bridge keeps literals apart from
rows, so functions of the same structure are found by comparing bytes. What differs among them becomes
parameters of the one function that is built: a Real literal as itself, a literal index of a vector
that is a parameter as the element that it picks, read by the caller. Short exponents stay literals.

Two functions called with different literals are different literals of their callers, so sharing goes
all the way up a call graph. Where something else differs (an index into a vector made inside, the size
of a table), the functions stay apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rose_core.language.ir import CALL, INDEX, PARAM
from rose_core.language.ops import code
from rose_core.language.types import REAL, TAN, Array, Type, scalar_of
from rose_core.optimise.powers import is_short

_POW = code("pow")

MOST_COLUMNS = 48
"""How many parameters a shared function may have in place of literals, however short it is."""

ROWS_PER_COLUMN = 8
"""How many rows make up for one more: it is passed in each call, and its cotangent comes back."""

REAL_COLUMN = -1


@dataclass(eq=False, slots=True)
class Entry:
    """A function as it arrived: see `recording.record` for what its lists mean."""

    number: int
    name: str
    params: list[Type]
    ret: Type
    leaves: list[Type]
    """The types of its ``PARAM`` rows: the parameters' leaves, then what is captured."""
    rows: memoryview
    ops: bytes
    """The opcodes of the rows, which are less than 256."""
    extra: list[int]
    kinds: list[int]
    """The type of each literal, an index into ``types``."""
    values: Sequence[float]
    """The value of each literal."""
    types: list[Type]
    callees: list[int]
    results: list[int]
    calls: str
    """How it calls functions: ``""`` for not at all, ``"c"``, or ``"v"`` if a `vjp` is among that."""
    opaque: bool
    """Whether its derivative is only what its author sets."""
    remat: bool
    """Whether reverse mode computes what it needs of it again."""
    signature: object
    """Equal for functions with the same types, of parameters, results and literals."""
    form: int
    """The number of the first function with these rows, this extra list, and literals of these kinds."""

    @property
    def has_tangents(self) -> bool:
        """Whether it may compute with tangents, as a derivative that an author sets does."""
        return any(scalar_of(t) is TAN for t in self.leaves) or TAN in self.types


@dataclass(slots=True)
class Column:
    """A literal of a structure: of its own, or of a function that it calls."""

    source: int
    """The literal's number; or the position of the call's row."""
    callee_column: int
    """Which of the callee's columns; -1 for an own literal."""
    param: int | None
    """The parameter of which it picks an element; `REAL_COLUMN` for a number; None if it is a literal
    for which a parameter cannot stand."""
    row: int
    """The ``INDEX`` row of an own literal that picks an element."""


@dataclass(eq=False, slots=True)
class Shape:
    """Functions that are built as one: ``members`` differ only in the values of ``columns``."""

    members: list[Entry]
    columns: list[Column] = field(default_factory=list)
    element_types: list[Type] = field(default_factory=list)
    """The type of the parameter in place of each column."""


@dataclass(eq=False, slots=True)
class Instance:
    """A function of a recording as a member of a shape."""

    shape: Shape
    values: tuple[float, ...] = ()
    """The values of the shape's columns."""


def share(entries: Sequence[Entry], alone: set[int]) -> dict[int, Instance]:
    """Sort functions, callees first, into shapes; by function number.

    ``alone`` are the numbers of those that stay by themselves. Callees that are not among ``entries``
    are what they are.
    """
    candidates: dict[object, list[Entry]] = {}
    structure: dict[int, int] = {}
    for entry in entries:
        key = entry.number if entry.number in alone else _structure(entry, structure)
        members = candidates.setdefault(key, [])
        members.append(entry)
        structure[entry.number] = members[0].number
    instances: dict[int, Instance] = {}
    for members in candidates.values():
        if len(members) == 1:
            instances[members[0].number] = Instance(Shape(members))
        else:
            _sort(members, instances)
    return instances


def _structure(entry: Entry, structure: dict[int, int]) -> object:
    """What functions must have in common to be shared; ``structure`` has that of the callees."""
    # a derivative is taken of a function with its literals
    callees = entry.callees if entry.calls == "v" else [structure.get(g, g) for g in entry.callees]
    return (
        entry.form,
        entry.signature,
        tuple(callees),
        tuple(entry.results),
    )


def _sort(members: list[Entry], instances: dict[int, Instance]) -> None:
    """Make shapes of functions of the same structure, whose callees have theirs."""
    groups: dict[object, list[Entry]] = {}
    for entry in members:
        shapes = tuple(id(instances[g].shape) if g in instances else g for g in entry.callees)
        groups.setdefault(shapes, []).append(entry)
    for group in groups.values():
        columns = list(_columns(group[0], instances))
        called = [which for _, which, _ in calls(group[0])]
        values = [_values(entry, called, instances) for entry in group]
        fixed = [k for k, column in enumerate(columns) if column.param is None]
        exponents = _exponents(group[0])
        apart: dict[object, list[int]] = {}
        for n, row in enumerate(values):
            short = tuple(row[k] if is_short(row[k]) else 0 for k in exponents)
            apart.setdefault((*(key_of(row[k]) for k in fixed), short), []).append(n)
        for numbers in apart.values():
            _make([group[n] for n in numbers], columns, [values[n] for n in numbers], instances)


def _make(
    members: list[Entry], columns: list[Column], values: list[list[float]], instances: dict[int, Instance]
) -> None:
    """Make one shape, of what may be shared, or one for each function if too much differs."""
    varying = [k for k, column in enumerate(zip(*values, strict=True)) if not _are_same(column)]
    if len(varying) > max(MOST_COLUMNS, len(members[0].rows) // (3 * ROWS_PER_COLUMN)):
        for entry in members:
            instances[entry.number] = Instance(Shape([entry]))
        return
    shape = Shape(members, [columns[k] for k in varying])
    first = members[0]
    for column in shape.columns:
        if column.param == REAL_COLUMN:
            shape.element_types.append(REAL)
        else:
            t = first.leaves[column.param]  # type: ignore[index]
            assert isinstance(t, Array)
            shape.element_types.append(t.elem)
    for entry, row in zip(members, values, strict=True):
        instances[entry.number] = Instance(shape, tuple(row[k] for k in varying))


def _are_same(numbers: Sequence[float]) -> bool:
    """Whether these are one number, to the last bit."""
    first = numbers[0]
    if first and first == first:
        return numbers.count(first) == len(numbers)
    return len(set(map(key_of, numbers))) == 1


def key_of(x: float) -> object:
    """Equal for what is the same number to the last bit, sign of zero and all."""
    return x if x and x == x else repr(x)


def _columns(entry: Entry, instances: dict[int, Instance]) -> Iterator[Column]:
    """All literals of a structure, and of the functions it calls."""
    rows, ops = entry.rows, entry.ops
    picks: dict[int, tuple[int, int]] = {}
    for k in places(ops, INDEX):
        x, y = rows[3 * k + 1], rows[3 * k + 2]
        if y < 0 <= x and ops[x] == PARAM:
            picks[~y] = (k, rows[3 * x + 1])
    if picks:  # what else a literal is used for, no element stands for
        uses = Counter(x for of in (rows[1::3], rows[2::3], entry.extra, entry.results) for x in of if x < 0)
        picks = {number: pick for number, pick in picks.items() if uses[~number] == 1}
    for number, kind in enumerate(entry.kinds):
        if entry.types[kind] is REAL:
            yield Column(number, -1, REAL_COLUMN, -1)
        else:
            row, param = picks.get(number, (-1, None))
            yield Column(number, -1, param, row)
    for k, which, args in calls(entry):
        callee = entry.callees[which]
        if callee in instances:
            for j, column in enumerate(instances[callee].shape.columns):
                param = column.param
                if param is not None and param != REAL_COLUMN:
                    x = args[param]
                    param = rows[3 * x + 1] if x >= 0 and ops[x] == PARAM else None
                yield Column(k, j, param, -1)


def _exponents(entry: Entry) -> list[int]:
    """The literals that are exponents: a power with a short one is made of products, a parameter's is not."""
    rows = entry.rows
    return sorted({~rows[3 * k + 2] for k in places(entry.ops, _POW) if rows[3 * k + 2] < 0})


def _values(entry: Entry, called: list[int], instances: dict[int, Instance]) -> list[float]:
    """The values of all columns in one function, in their order; ``called``: its callees, call by call."""
    found = [*entry.values]
    callees = entry.callees
    for k in called:
        if callees[k] in instances:
            found += instances[callees[k]].values
    return found


def calls(entry: Entry) -> Iterator[tuple[int, int, list[int]]]:
    """The calls of a function: row, which of its callees, arguments; the same in all of one structure."""
    rows, extra = entry.rows, entry.extra
    if entry.calls:
        for k in places(entry.ops, CALL):
            x, y = rows[3 * k + 1], rows[3 * k + 2]
            yield k, extra[x], extra[x + 1 : x + y]


def places(ops: bytes, op: int) -> Iterator[int]:
    """Where an opcode is."""
    at = ops.find(op)
    while at >= 0:
        yield at
        at = ops.find(op, at + 1)
