"""Overlap: where functions of a recording compute much of the same, they become one function.

A page that adds up many terms lets each of them compute what it needs, and much of that others need, too:
the box around a group of shapes, say, from the positions of all. Calls hide that. So before anything is
built, the rows of a function and of all that it calls are numbered by what they compute, as if they stood
in line: rows with the same opcode and operands are one. If few are left (`MOST_LEFT`), the function has
these in place of its calls.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rose_core.language.ir import CALL, GET, INDEX, PARAM, VEC, VJP
from rose_core.language.ops import BINARY_END, OPS, TABLE_END, UNARY_END
from rose_core.language.types import Type
from rose_core.recording.reroll import repeats
from rose_core.recording.share import Entry, Instance, key_of, places

FEWEST = 256
"""Rows that are worth it."""

MOST_TRIED = 8
"""The most functions with which it is tried; several may need the same."""

MOST_LEFT = 0.6
"""The most rows that may be left, of those that would be built with the calls."""

MOST_SEEN = 6
"""How often the rows that would be built are gone through at most, to find out."""

DEEPEST = 100
"""The most calls in each other."""

_COMMUTES = [op.commutes for op in OPS]
_STRUCTURAL = frozenset((PARAM, INDEX, VEC, CALL, GET))


class _StaysError(Exception):
    """A function cannot be put in line, or too many rows are left, or had to be looked at, to be worth it."""


def join(
    root: int,
    rows: Sequence[Mapping[str, Any]],
    entries: dict[int, Entry],
    instances: Mapping[int, Instance],
    alone: Collection[int],
) -> set[int]:
    """Put what overlaps in line, and return the numbers of the functions that have changed in ``entries``.

    This is tried with each function whose derivative is taken; if there are none, with the whole program.

    Args:
        rows: of the header, one for each function.
        entries: the functions with bodies, by number.
        instances: the shapes that they would be built as.
        alone: the functions that stay by themselves.
    """
    joined: set[int] = set()
    tried = _differentiated(rows, entries) or [root]
    if len(tried) > MOST_TRIED:
        return joined
    stay = {*alone, *(k for k, entry in entries.items() if entry.opaque or entry.remat)} - {root}
    effects = {k for k, row in enumerate(rows) if row["kind"] == "opaque" and not row["pure"]}
    for number in tried:
        entry = entries.get(number)
        if entry is None or not entry.calls:
            continue
        called = reached(number, rows, entries)
        own = called - reached(root, rows, entries, without=number)
        shapes = {id(instances[k].shape): entries[k] for k in own if k in entries}
        built = sum(len(each.rows) // 3 for each in shapes.values())
        if built < FEWEST or not effects.isdisjoint(called):
            continue
        try:
            entries[number] = _Rows(entries, stay, built).whole(entry)
            joined.add(number)
        except _StaysError:
            pass
    return joined


def _differentiated(rows: Sequence[Mapping[str, Any]], entries: Mapping[int, Entry]) -> list[int]:
    """The functions of which derivatives, or whatever else, are made, in their order."""
    found = {row["of"] for row in rows if row["kind"] == "named"}
    for entry in entries.values():
        if entry.calls == "v":
            heads = (entry.rows[3 * k + 1] for k in places(entry.ops, VJP))
            found.update(entry.callees[entry.extra[x]] for x in heads)
    return sorted(found)


def reached(
    number: int, rows: Sequence[Mapping[str, Any]], entries: Mapping[int, Entry], without: int = -1
) -> set[int]:
    """A function and all that it needs, but for what it needs because of the one to do ``without``."""
    found: set[int] = set()
    waiting = [number]
    while waiting:
        k = waiting.pop()
        if k in found or k == without:
            continue
        found.add(k)
        row = rows[k]
        if row["jvp"] >= 0:
            waiting.append(row["jvp"])
        if k in entries:
            waiting += entries[k].callees
        elif row["kind"] == "named":
            waiting.append(row["of"])
    return found


_Columns = list[tuple[int, int, int]]
"""Rows as Python has them."""


@dataclass(slots=True)
class _Body:
    """A function that is put in line."""

    rows: _Columns
    literals: list[int]
    """Their values, the last first: they are at the end of the list of all values."""


class _Rows:
    """Rows, each of which computes something else; and values, which are their numbers, or ``~literal``."""

    def __init__(self, entries: Mapping[int, Entry], stay: Collection[int], built: int) -> None:
        self.entries, self.stay = entries, stay
        self.left = MOST_LEFT * built
        """How many rows there may be still."""
        self.unseen = MOST_SEEN * built
        """How many rows may be looked at still."""
        self.depth = 0
        self.rows: list[int] = []
        self.extra: list[int] = []
        self.values: list[float] = []
        self.kinds: list[int] = []
        self.types: dict[Type, int] = {}
        self.callees: dict[int, int] = {}
        self._numbers: dict[tuple[int, ...], int] = {}
        """By opcode and operands."""
        self._literals: dict[tuple[object, int], int] = {}
        self._elements: dict[int, Sequence[int]] = {}
        """Of a vector that is made here."""
        self._plain: dict[int, _Columns | None] = {}
        """By the form of functions."""
        self._bodies: dict[int, _Body | None] = {}
        self._results: dict[tuple[int, ...], list[int]] = {}
        """By function and arguments."""

    def whole(self, entry: Entry) -> Entry:
        """A function with all rows that it needs of its own."""
        results = self.of(entry, [self._row(PARAM, k, 0) for k in range(len(entry.leaves))])
        if self.left < len(self._numbers):
            raise _StaysError
        return replace(
            entry,
            rows=memoryview(array("i", self.rows)),
            ops=bytes(self.rows[0::3]),
            extra=self.extra,
            kinds=self.kinds,
            values=self.values,
            types=list(self.types),
            callees=list(self.callees),
            results=results,
            calls="c" if self.callees else "",
            form=~entry.number,
        )

    def of(self, entry: Entry, args: Sequence[int]) -> list[int]:
        """The values of the results of a function that is called on these values."""
        body = self._body(entry.number)
        numbers, rows = self._numbers, self.rows
        known = numbers.setdefault
        n = len(numbers)
        if body is None or self.unseen < len(body.rows) or n > self.left or self.depth == DEEPEST:
            raise _StaysError
        self.unseen -= len(body.rows)
        self.depth += 1
        given: dict[int, list[int]] = {}
        """The results of calls that are in line."""
        env = [0] * len(body.rows) + body.literals
        for k, (op, x, y) in enumerate(body.rows):
            if op < UNARY_END:
                u = env[x]
                v = env[k] = known((op, u), n)
                if v == n:
                    n += 1
                    rows += op, u, 0
            elif op < BINARY_END:
                u, w = env[x], env[y]
                v = env[k] = known((op, w, u) if w < u and _COMMUTES[op] else (op, u, w), n)
                if v == n:
                    n += 1
                    rows += op, u, w
            elif op == PARAM:
                env[k] = args[x]
            elif op == GET and x in given:
                env[k] = given[x][y]
            elif op == CALL:
                callee = entry.callees[entry.extra[x]]
                operands = [env[v] for v in entry.extra[x + 1 : x + y]]
                if self._body(callee):
                    given[k] = self._call(callee, operands)
                else:
                    at = self.callees.setdefault(callee, len(self.callees))
                    env[k] = self._row_of(CALL, at, *operands)
                n = len(numbers)
            else:
                env[k] = self._structural(entry, op, x, y, env)
                n = len(numbers)
        self.depth -= 1
        return [env[v] for v in entry.results]

    def _call(self, number: int, args: list[int]) -> list[int]:
        """The same of a function that may have been called on these before."""
        key = number, *args
        results = self._results.get(key)
        if results is None:
            results = self._results[key] = self.of(self.entries[number], args)
        return results

    def _structural(self, entry: Entry, op: int, x: int, y: int, env: Sequence[int]) -> int:
        if op == INDEX:
            elements = self._elements.get(env[x], ())
            return elements[int(entry.values[~y])] if elements and y < 0 else self._row(op, env[x], env[y])
        if op == GET:
            return self._row(op, env[x], y)
        operands = entry.extra[x : x + y]
        if op < TABLE_END:
            return self._row_of(op, *[env[v] for v in operands])
        assert op == VEC
        elements = [env[v] for v in operands[1:]]
        v = self._row_of(op, self._type(entry.types[operands[0]]), *elements)
        self._elements[v] = elements
        return v

    def _row(self, op: int, x: int, y: int) -> int:
        v = self._numbers.setdefault((op, x, y), len(self._numbers))
        if 3 * v == len(self.rows):
            self.rows += op, x, y
        return v

    def _row_of(self, op: int, *operands: int) -> int:
        """The value of a row with its operands in the extra list."""
        v = self._numbers.setdefault((op, *operands), len(self._numbers))
        if 3 * v == len(self.rows):
            self.rows += op, len(self.extra), len(operands)
            self.extra += operands
        return v

    def _body(self, number: int) -> _Body | None:
        if number not in self._bodies:
            entry = self.entries.get(number)
            rows = self._rows_of(entry) if entry and number not in self.stay else None
            if entry is None or rows is None or repeats(entry):  # nor loops that are written out
                self._bodies[number] = None
            else:
                self._bodies[number] = _Body(rows, self._literals_of(entry))
        return self._bodies[number]

    def _rows_of(self, entry: Entry) -> _Columns | None:
        """The rows of a function that may be put in line; None if there are loops or derivatives in them."""
        if entry.form not in self._plain:
            rows, ops = entry.rows.tolist(), entry.ops
            is_plain = all(op < TABLE_END or op in _STRUCTURAL for op in {*ops})
            columns = zip(ops, rows[1::3], rows[2::3], strict=True)
            self._plain[entry.form] = list(columns) if is_plain else None
        return self._plain[entry.form]

    def _literals_of(self, entry: Entry) -> list[int]:
        found = []
        literals, types = self._literals, self.types
        for value, kind in zip(entry.values, entry.kinds, strict=True):
            t = types.setdefault(entry.types[kind], len(types))
            v = ~len(self.values)
            number = literals.setdefault((key_of(value), t), v)
            if number == v:
                self.values.append(value)
                self.kinds.append(t)
            found.append(number)
        return found[::-1]

    def _type(self, t: Type) -> int:
        return self.types.setdefault(t, len(self.types))
