"""Overlap: where functions of a recording compute much of the same, they become one function.

A page that adds up many terms lets each of them compute what it needs, and much of that others need, too:
the box around a group of shapes, say, from the positions of all. Calls hide that. So before anything is
built, the rows of a function and of all that it calls are numbered by what they compute, as if they were
inlined: rows with the same opcode and operands are one. If few are left (`MOST_LEFT`), the function has
these in place of its calls.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
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
_PAIRS = (PARAM, INDEX, GET)
"""Rows that have no extra list."""
_IN_LINE = bytes((*range(TABLE_END), *_PAIRS, VEC, CALL))


class _StaysError(Exception):
    """A function cannot be inlined, or too many rows are left, or had to be looked at, to be worth it."""


def join(
    root: int,
    rows: Sequence[Mapping[str, Any]],
    entries: dict[int, Entry],
    instances: Mapping[int, Instance],
    alone: Collection[int],
) -> set[int]:
    """Inline what overlaps, and return the numbers of the functions that have changed in ``entries``.

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


_Columns = tuple[bytes, list[int], list[int]]
"""Rows as Python has them."""


@dataclass(slots=True)
class _Body:
    """A function that is inlined."""

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
        self.numbers: defaultdict[tuple[int, ...], int] = defaultdict(count().__next__)
        """By opcode and operands, in their order; what is asked for is there from then on."""
        self._exchanged: set[int] = set()
        """Rows whose operands stand there the other way round."""
        self.values: list[float] = []
        self.kinds: list[int] = []
        self.types: dict[Type, int] = {}
        self.callees: dict[int, int] = {}
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
        results = self.of(entry, [self.numbers[PARAM, k, 0] for k in range(len(entry.leaves))])
        if self.left < len(self.numbers) or _has_loops(entry):
            raise _StaysError
        rows, extra = self._written()
        return replace(
            entry,
            rows=memoryview(array("i", rows)),
            ops=bytes(rows[0::3]),
            extra=extra,
            kinds=self.kinds,
            values=self.values,
            types=list(self.types),
            callees=list(self.callees),
            results=results,
            calls="c" if self.callees else "",
            form=~entry.number,
        )

    def _written(self) -> tuple[list[int], list[int]]:
        """All rows, and the extra list with operands of those that have many."""
        rows: list[int] = []
        extra: list[int] = []
        for k, key in enumerate(self.numbers):
            op = key[0]
            if op < UNARY_END:
                rows += op, key[1], 0
            elif k in self._exchanged:
                rows += op, key[2], key[1]
            elif op < BINARY_END or op in _PAIRS:
                rows += key
            else:
                rows += op, len(extra), len(key) - 1
                extra += key[1:]
        return rows, extra

    def of(self, entry: Entry, args: Sequence[int]) -> list[int]:
        """The values of the results of a function that is called on these values."""
        body = self._body(entry.number)
        if body is None or self.unseen < len(body.rows[0]) or self.depth == DEEPEST:
            raise _StaysError
        ops, xs, ys = body.rows
        self.unseen -= len(ops)
        self.depth += 1
        numbers, extra = self.numbers, entry.extra
        given: dict[int, list[int]] = {}
        """The results of calls that are inlined."""
        env = [0] * len(ops) + body.literals
        for k, (op, x, y) in enumerate(zip(ops, xs, ys, strict=True)):
            if op < UNARY_END:
                env[k] = numbers[op, env[x]]
            elif op < BINARY_END:
                u, w = env[x], env[y]
                if w < u and _COMMUTES[op]:
                    n = len(numbers)
                    env[k] = numbers[op, w, u]
                    if env[k] == n:
                        self._exchanged.add(n)
                else:
                    env[k] = numbers[op, u, w]
            elif op < TABLE_END:
                env[k] = numbers[(op, *[env[v] for v in extra[x : x + y]])]
            elif op == INDEX:
                elements = self._elements.get(env[x]) if y < 0 else None
                env[k] = elements[int(entry.values[~y])] if elements else numbers[op, env[x], env[y]]
            elif op == PARAM:
                env[k] = args[x]
            elif op == GET:
                env[k] = given[x][y] if x in given else numbers[op, env[x], y]
            elif op == CALL:
                if len(numbers) > self.left:
                    raise _StaysError
                callee = entry.callees[extra[x]]
                operands = [env[v] for v in extra[x + 1 : x + y]]
                if self._body(callee):
                    given[k] = self._call(callee, operands)
                else:
                    at = self.callees.setdefault(callee, len(self.callees))
                    env[k] = numbers[(op, at, *operands)]
            else:
                assert op == VEC
                elements = [env[v] for v in extra[x + 1 : x + y]]
                env[k] = numbers[(op, self._type(entry.types[extra[x]]), *elements)]
                self._elements[env[k]] = elements
        self.depth -= 1
        return [env[v] for v in entry.results]

    def _call(self, number: int, args: list[int]) -> list[int]:
        """The same of a function that may have been called on these before."""
        key = number, *args
        results = self._results.get(key)
        if results is None:
            results = self._results[key] = self.of(self.entries[number], args)
        return results

    def _body(self, number: int) -> _Body | None:
        if number not in self._bodies:
            entry = self.entries.get(number)
            rows = self._rows_of(entry) if entry and number not in self.stay else None
            # nor loops that are unrolled; whether the whole is one, is asked in the end
            if entry is None or rows is None or (self.depth and _has_loops(entry)):
                self._bodies[number] = None
            else:
                self._bodies[number] = _Body(rows, self._literals_of(entry))
        return self._bodies[number]

    def _rows_of(self, entry: Entry) -> _Columns | None:
        """The rows of a function that may be inlined; None if there are loops or derivatives in them."""
        if entry.form not in self._plain:
            rows, ops = entry.rows.tolist(), entry.ops
            is_plain = not ops.translate(None, _IN_LINE)
            self._plain[entry.form] = (ops, rows[1::3], rows[2::3]) if is_plain else None
        return self._plain[entry.form]

    def _literals_of(self, entry: Entry) -> list[int]:
        found = []
        values, known = self.values, self._literals.setdefault
        types = {kind: self._type(entry.types[kind]) for kind in {*entry.kinds}}
        for value, kind in zip(entry.values, entry.kinds, strict=True):
            t, n = types[kind], len(values)
            number = known((value if value and value == value else key_of(value), t), n)
            if number == n:
                values.append(value)
                self.kinds.append(t)
            found.append(~number)
        return found[::-1]

    def _type(self, t: Type) -> int:
        return self.types.setdefault(t, len(self.types))


def _has_loops(entry: Entry) -> bool:
    """Whether loops are unrolled in a function, and other than such as look for something.

    Those are found inlined, too.
    """
    return not all(loop.chooses() for loop in repeats(entry))
