"""Numbers that are computed alike, of which an iteration of a loop takes the least or largest.

They are found by going back from all of them at once, as long as all do the same operation: to what they
share, to elements whose index is the number of the member, and to what is known before the loop.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from rose_core.language.ir import IDX, INDEX, Func
from rose_core.language.ops import EFFORT, FAILS, LIBRARY, OPS, TABLE_END, code
from rose_core.language.queries import only_users
from rose_core.language.types import REAL

LEAST_WORK = 22
"""The fewest operations that must be saved by going back into one number only. All can be in lanes, one can
not: so a library function of that one counts besides, as two by itself."""

_OF_ELEMENT = 2
"""How many operations an element of its own takes, in each iteration: its cotangent is added up in memory."""

_MOST = 64
"""The most numbers, and the most operations that each takes."""

_FEWEST_TRIPS = 4
"""The fewest iterations of the loop."""

MIN, MAX = map(code, ("min", "max"))


@dataclass(slots=True)
class Alike:
    """Numbers that are computed by the same steps, of different operands."""

    root: int
    """The least or largest of them."""
    is_least: bool
    inner: list[int]
    """What that is computed by: the least or largest of some."""
    members: list[int]
    """The numbers, in their order."""
    number: int
    """The block of the loop."""
    beside: Sequence[int]
    """A number besides them, computed in another way, or none."""
    given: dict[int, None] = field(default_factory=dict)
    """What all of them share."""
    columns: dict[tuple[int, ...], None] = field(default_factory=dict)
    """What each has of its own, from outside of the loop."""
    steps: dict[tuple[int, ...], list[tuple[int, ...]]] = field(default_factory=dict)
    """What each computes, in order: the values of all members → those of which they are computed."""


def all_alike(f: Func) -> dict[int, list[Alike]]:
    """Block → the numbers in it of which one is the least or largest."""
    found = {k: list(_alike_in(f, k)) for k in range(1, len(f.blocks))}
    return {k: alike for k, alike in found.items() if alike}


def _alike_in(f: Func, number: int) -> Iterator[Alike]:
    block = f.blocks[number]
    if block.trips < _FEWEST_TRIPS:
        return
    repeatable = _repeatable(f, number)
    seen: set[int] = set()
    for v in reversed(block.order):
        if f.code[v][0] not in (MIN, MAX) or v in seen:
            continue
        inner, found = _members(f, v)
        seen.update(inner)
        for members, beside in _parted(f, number, found, repeatable):
            alike = Alike(v, f.code[v][0] == MIN, inner, members, number, beside)
            matching = _Matching(f, alike, repeatable)
            if matching.match(tuple(members)):
                if (len(members) - 1) * (2 + matching.operations) >= LEAST_WORK + _again(f, alike):
                    seen.update(x for values in alike.steps for x in values)
                    yield alike
                break


def _parted(
    f: Func, number: int, found: Sequence[int], repeatable: Container[int]
) -> Iterator[tuple[list[int], list[int]]]:
    """Numbers that may be alike, in the iterations of a loop, and one that is not, if there is one."""
    inside = [x for x in found if f.home_of(x) == number]
    outside = [x for x in found if f.home_of(x) != number]
    if len({*found}) < len(found) or len(outside) > 1 or not 1 < len(inside) <= _MOST:
        return
    yield inside, outside
    if not outside and len(inside) > 2 and inside[0] in repeatable:
        yield inside[1:], inside[:1]


def _again(f: Func, alike: Alike) -> int:
    """How many operations are computed again, for the search or of one member."""
    work = [f.code[x][0] for x in needed_for(f, alike.number, [*alike.given, *alike.beside])]
    work += 2 * [op for values in alike.steps if (op := f.code[values[0]][0]) in LIBRARY]
    return sum(EFFORT[op] for op in work if op < TABLE_END)


def _repeatable(f: Func, number: int) -> set[int]:
    """What an iteration computes that another loop can compute, too."""
    found: set[int] = set()
    for v in f.blocks[number].order:
        op, *given = f.code[v]
        is_simple = op == INDEX or (op < TABLE_END and op not in FAILS)
        if op == IDX or (is_simple and all(f.home_of(x) != number or x in found for x in given)):
            found.add(v)
    return found


def _members(f: Func, root: int) -> tuple[list[int], list[int]]:
    """Of the least of numbers: the ones on the way to it, that nobody else uses, and the numbers."""
    inner, members, ways = [], [], [root]
    while ways:
        v = ways.pop()
        is_inner = v >= 0 and f.code[v][0] == f.code[root][0] and f.home[v] == f.home[root]
        if v == root or (is_inner and v in only_users(f)):
            inner.append(v)
            ways += f.code[v][:0:-1]
        else:
            members.append(v)
    return inner, sorted(members)


class _Matching:
    """Finds out how numbers are computed by the same steps."""

    def __init__(self, f: Func, alike: Alike, repeatable: Container[int]) -> None:
        self.f = f
        self.alike = alike
        self.repeatable = repeatable
        self.tried = 0
        """How many steps were looked at."""
        self.operations = 0
        """How many operations on numbers each takes."""

    def match(self, values: tuple[int, ...]) -> bool:
        """Whether values, one of each member, are the same, computed alike, or known before the loop."""
        f, alike = self.f, self.alike
        first = values[0]
        if values in alike.steps or values in alike.columns:
            return True
        if values.count(first) == len(values):
            if first >= 0:
                alike.given[first] = None
            return f.home_of(first) != alike.number or first in self.repeatable
        outside = all(f.home_of(v) != alike.number for v in values)
        if self._is_step(values, outside):
            return True
        if outside and {f.type_of(v) for v in values} == {REAL}:
            alike.columns[values] = None
            return True
        return False

    def _is_step(self, values: tuple[int, ...], outside: bool) -> bool:
        f, alike = self.f, self.alike
        if min(values) < 0 or self.tried == _MOST:
            return False
        self.tried += 1
        all_ins = [f.code[v] for v in values]
        op, types = all_ins[0][0], {f.types[v] for v in values}
        if any(ins[0] != op for ins in all_ins) or len(types) > 1:
            return False
        if op != INDEX and (outside or op >= TABLE_END or op in FAILS):
            return False
        given = _operands(f, alike.number, all_ins)
        if op == INDEX:
            before = dict(alike.given), dict(alike.columns), dict(alike.steps)
            if not (self.match(given[0]) and (self._is_number(given[1]) or self.match(given[1]))):
                alike.given, alike.columns, alike.steps = before
                return False
        elif not all(map(self.match, given)):
            return False
        if op != INDEX:
            self.operations += 1
        elif types == {REAL} and not outside:
            self.operations += _OF_ELEMENT
        alike.steps[values] = given
        return True

    def _is_number(self, at: Sequence[int]) -> bool:
        """Whether indices are the numbers of the members."""
        return all(i < 0 and self.f.pool[~i][0] == k for k, i in enumerate(at))


def _operands(f: Func, number: int, all_ins: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """What instructions of one operation take, for each operand what all of them have.

    Those of a sum or a product stand in any order: what all share comes first, and then what is of one kind.
    """
    op, *given = zip(*all_ins, strict=True)
    if op[0] < TABLE_END and OPS[op[0]].commutes:
        shared = set(all_ins[0][1:]).intersection(*(ins[1:] for ins in all_ins))

        def kind(x: int) -> tuple[bool, bool, int]:
            return x not in shared, f.home_of(x) == number, f.code[x][0] if x >= 0 else -1

        given = list(zip(*(sorted(ins[1:], key=kind) for ins in all_ins), strict=True))
    return given


def needed_for(f: Func, number: int, values: Iterable[int], without: Container[int] = ()) -> list[int]:
    """What is computed in an iteration for these values, in order, besides what is there without it."""
    needed: set[int] = set()
    ways = [*values]
    while ways:
        v = ways.pop()
        is_new = v not in needed and v not in without
        if is_new and f.home_of(v) == number and f.code[v][0] != IDX:
            needed.add(v)
            ways += f.code[v][1:]
    return sorted(needed)
