"""Sharing: functions of a recording that differ only in literals are one function.

    f1(v) = 2 * v[0];  f2(v) = 7 * v[3]     →     f(c, x) = c * x, called as f(2, v[0]) and f(7, v[3])

Programs are full of repetition: a page calls a helper that defines a function, over and over, each
time with other numbers or other elements of the same vector. The bridge keeps literals apart from
rows, so functions of the same structure are found by comparing bytes. What differs among them becomes
parameters of the one function that is built: a Real literal as itself, a literal index of a vector
that is a parameter as the element that it picks, read by the caller. Where these are many, and the same ones
of a window into the vector that starts elsewhere, as the points of a curve are, the parameter is the window
(`language.window`), so that what is repeated in the function can still be a loop. Short exponents stay
literals.

Two functions called with different literals are different literals of their callers, so sharing goes
all the way up a call graph. Where something else differs (an index into a vector made inside, the size
of a table), the functions stay apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from rose_core.language.ir import CALL, INDEX, PARAM
from rose_core.language.ops import code
from rose_core.language.types import REAL, TAN, Array, Type, array, fin, scalar_of
from rose_core.optimise.powers import is_short
from rose_core.recording.operands import operands_of

_POW = code("pow")

MOST_COLUMNS = 48
"""How many parameters a shared function may have in place of literals, however short it is."""

ROWS_PER_COLUMN = 8
"""How many rows make up for one more: it is passed in each call, and its cotangent comes back."""

FEWEST_PICKED = 16
"""The fewest elements that functions pick from a window: fewer are passed as numbers."""

MOST_READ = 2
"""How many elements a window may have for each that is picked."""

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
    window: int = 0
    """How many elements it picks, from that literal on; 0 if it is one."""


@dataclass(eq=False, slots=True)
class Shape:
    """Functions that are built as one: ``members`` differ only in the values of ``columns``."""

    members: list[Entry]
    """The first one picks from windows, if there are any."""
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
    first = members[0]
    varying = [k for k, column in enumerate(zip(*values, strict=True)) if not _are_same(column)]
    windows = _windows(first, [columns[k] for k in varying], values)
    in_windows = {k for of in windows for k in of}
    kept = [k for k in varying if k not in in_windows]
    if len(kept) + len(windows) > max(MOST_COLUMNS, len(first.rows) // (3 * ROWS_PER_COLUMN)):
        for entry in members:
            instances[entry.number] = Instance(Shape([entry]))
        return
    passed = [columns[k] for k in kept]
    for of in windows:
        first = _within(first, of)
        size = first.types[-1].size  # type: ignore[attr-defined]
        passed.append(replace(columns[of[0]], window=size))
    shape = Shape([first, *members[1:]], passed, [_type_of(column, first, instances) for column in passed])
    for entry, row in zip(members, values, strict=True):
        starts = [min(row[k] for k in of) for of in windows]
        instances[entry.number] = Instance(shape, (*(row[k] for k in kept), *starts))


def _windows(entry: Entry, varying: Sequence[Column], values: Sequence[Sequence[float]]) -> list[list[int]]:
    """For each parameter of which nothing is used but elements in a window, the literals that pick these."""
    picks: dict[int, list[int]] = {}
    for column in varying:
        if column.row >= 0:
            picks.setdefault(entry.rows[3 * column.row + 1], []).append(column.source)
    many = {vector: of for vector, of in picks.items() if len(of) >= FEWEST_PICKED and _is_one(values, of)}
    if not many:
        return []
    rows = zip(entry.ops, entry.rows[1::3], entry.rows[2::3], strict=True)
    used = Counter(chain(entry.results, *(operands_of(op, x, y, entry.extra) for op, x, y in rows)))
    leaves = Counter(entry.rows[3 * k + 1] for k in places(entry.ops, PARAM))
    return [
        of
        for vector, of in many.items()
        if used[vector] == len(of) and leaves[entry.rows[3 * vector + 1]] == 1
    ]


def _is_one(values: Sequence[Sequence[float]], window: Sequence[int]) -> bool:
    """Whether these are the same elements of a window everywhere, which has not many more."""
    first = [values[0][k] for k in window]
    if max(first) - min(first) >= MOST_READ * len(first):
        return False
    return all(len({row[k] - x for k, x in zip(window, first, strict=True)}) == 1 for row in values)


def _within(entry: Entry, window: Sequence[int]) -> Entry:
    """A function with these literals as indices of a window."""
    values, kinds = [*entry.values], [*entry.kinds]
    start = min(values[k] for k in window)
    for k in window:
        values[k] -= start
        kinds[k] = len(entry.types)
    size = int(max(values[k] for k in window)) + 1
    return replace(entry, values=values, kinds=kinds, types=[*entry.types, fin(size)])


def _type_of(column: Column, entry: Entry, instances: Mapping[int, Instance]) -> Type:
    """The type of the parameter in place of a column."""
    if column.param == REAL_COLUMN:
        return REAL
    if column.callee_column >= 0:
        which = entry.extra[entry.rows[3 * column.source + 1]]
        return instances[entry.callees[which]].shape.element_types[column.callee_column]
    vector = entry.rows[3 * column.row + 1]
    t = entry.leaves[entry.rows[3 * vector + 1]]
    assert isinstance(t, Array)
    return array(fin(column.window), t.elem) if column.window else t.elem


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
                yield Column(k, j, param, -1, column.window)


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
