"""Loops in which both sides of choices are computed, and then what holds is taken: if-conversion.

    for i:  y[i] = cond(x[i] > 0, f(x[i]), g(x[i]))     →     for i:  y[i] = x[i] > 0 ? f(x[i]) : g(x[i])

A branch that depends on numbers keeps iterations from running two at a time (`wasm.lanes`), and a processor
that foretells it wrongly begins again. So where the sides are short, and the loop does nothing else that
would keep it from that, both are computed. What a side adds to accumulators becomes an addition of what it
adds or of -0.0, with which every number stays what it is. It is done after differentiation, so what a side
would make infinite where it does not hold is not in any derivative.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from operator import add

from rose_core.language.builder import Builder
from rose_core.language.indices import MOST
from rose_core.language.ir import ADD_TO, COND, GET, IDX, INDEX, PARAM, REF_INDEX, VEC, CondSite, Func
from rose_core.language.ops import EFFORT, FAILS, LIBRARY, TABLE_END, by_name
from rose_core.language.queries import among, param_ids, path_of, places
from rose_core.language.replay import Replay, copied
from rose_core.language.simplify import range_of
from rose_core.language.types import BOOL, REAL, TAN, Fin
from rose_core.optimise.copies import stays
from rose_core.optimise.ends import followed
from rose_core.optimise.peel import only_at_ends
from rose_core.optimise.pieces import Piece, Pieces
from rose_core.optimise.ranges import COMPARISONS

_SELECT, _NARROW = by_name["select"].code, by_name["narrow"].code
_ARITHMETIC = frozenset(
    by_name[name].code for name in ("iadd", "isub", "imul", "imin", "imax", "imod", "idiv", "narrow")
)
_CHOICES = among([COND])

_STRUCTURE = frozenset((PARAM, GET, IDX, INDEX, VEC, REF_INDEX, ADD_TO, COND))
"""What else than operations there may be in such a loop."""

_IN_SIDES = frozenset((PARAM, GET, INDEX, REF_INDEX, COND))
"""What else there may be in a side."""

_LEAST_TRIPS = 8
"""The fewest iterations of such a loop."""

_MOST_EFFORT = 40
"""The most work in both sides of a choice."""

_BRANCH = 5
"""What a branch costs, in additions: a third of what it takes to begin again after a wrong one."""

_WAIT = 3
"""What it costs besides, in additions, to add in vain: the next iteration may wait for it."""


def predicated(f: Func) -> Func:
    """``f``, about to be lowered, or a copy with such loops."""
    found = _choices(f) if len(f.blocks) > 1 else set()
    while found:
        unsound: set[int] = set()
        copy = copied(f, _Predicating, found, unsound)
        if not unsound:
            return copy
        found = {v for v in found if f.home[v] not in unsound}
    return f


def straight(body: Func, trips: int) -> Func:
    """The body of a loop with a state, or a copy that computes both sides of all its choices."""
    choices = places(body, _CHOICES)
    if not choices or len(body.blocks) > 1 or stays(body) or not _is_plain(body, 0, trips):
        return body
    if not _is_worth_it(Pieces(body, 0, param_ids(body).get(0, -1), trips), choices):
        return body
    unsound: set[int] = set()
    copy = copied(body, _Predicating, {*choices}, unsound, trips)
    return body if unsound else copy


def _choices(f: Func) -> set[int]:
    """The choices of which both sides are computed: all those of a loop but the ones that `peel` takes."""
    of_loops: dict[int, list[int]] = {}
    for v in places(f, _CHOICES):
        of_loops.setdefault(f.home[v], []).append(v)
    found: set[int] = set()
    for number, choices in of_loops.items():
        if number and _is_plain(f, number, f.blocks[number].trips):
            inside = [v for v in choices if not only_at_ends(f, v)]
            if _is_worth_it(Pieces.of_block(f, number), inside):
                found.update(inside)
    return found


def _is_plain(f: Func, number: int, trips: int) -> bool:
    """Whether a loop is long enough, and does nothing but compute, choose, and add to accumulators."""
    ops = {f.code[v][0] for v in f.blocks[number].order}
    return trips >= _LEAST_TRIPS and all(
        op in _STRUCTURE or (op < TABLE_END and op not in FAILS) for op in ops
    )


def _is_worth_it(pieces: Pieces, choices: Sequence[int]) -> bool:
    """Whether what is computed in vain costs less than it saves: half of what the loop does in any case, as
    two iterations run at a time, and what branches cost that are foretold wrongly.

    Of a choice that depends on indices alone, the long side is what nearly all iterations take; but of
    indices that do not follow the loop, as where two sides take turns, iterations run one by one.
    """
    f, number = pieces.func, pieces.number
    usual: float = sum(_effort_of(f.code[v]) for v in f.blocks[number].order)
    in_vain, in_lanes = 0.0, True
    for v in choices:
        site = CondSite(f, f.code[v])
        efforts = [_effort(side, _MOST_EFFORT) for side in site.functions]
        if sum(efforts) > _MOST_EFFORT:
            return False
        compared = followed(f, v, partial(_indices_compared, f))
        if any(_takes_turns(pieces, x) for c in compared for x in f.code[c][1:]):
            in_vain += min(map(add, efforts, _waits(site)))
            in_lanes = False
        elif compared:
            usual += max(efforts)
        else:
            usual += min(efforts)
            in_vain += max(efforts) - min(efforts)
    return in_vain <= usual / 2 * in_lanes + _BRANCH * len(choices)


def _indices_compared(f: Func, v: int) -> list[Piece] | None:
    return [] if f.code[v][0] in COMPARISONS else None


def _takes_turns(pieces: Pieces, x: int) -> bool:
    """Whether an index changes with the loop, and does not follow it."""
    f = pieces.func
    is_inside = x >= 0 and f.home[x] == pieces.number and f.code[x][0] != PARAM
    return is_inside and pieces.of(x) is None


def _waits(site: CondSite) -> Iterator[int]:
    """What it costs to wait for what either side adds where the other one adds nothing."""
    added = [
        [_place(side, ins[1], args) for ins in side.code if ins[0] == ADD_TO]
        for side, args in zip(site.functions, site.args, strict=True)
    ]
    for own, others in (added, added[::-1]):
        yield _WAIT * sum(place not in others for place in own)


def _place(side: Func, r: int, args: Sequence[int]) -> list[object]:
    """An accumulator in a side, or a part of one: what that and its indices are outside, if there."""
    indices, root = path_of(side, r)
    found: list[object] = []
    for x in (root, *indices):
        if x < 0:
            found.append(side.pool[~x])
        else:
            found.append(args[side.code[x][1]] if side.code[x][0] == PARAM else (side, x))
    return found


def _effort(side: Func, most: float) -> float:
    """The work in a side; infinite if it is more, or may be more than to compute and to add."""
    if stays(side) or len(side.blocks) > 1 or not {REAL, TAN, BOOL}.issuperset(side.result_types):
        return math.inf
    effort = 0.0
    for ins in side.code:
        if effort > most or not _may_be_in_side(side, ins):
            return math.inf
        effort += _effort_of(ins)
        if ins[0] == COND:
            for inner in CondSite(side, ins).functions:
                effort += _effort(inner, most - effort)
    return effort


def _may_be_in_side(side: Func, ins: tuple[int, ...]) -> bool:
    op = ins[0]
    if op == ADD_TO:
        return side.type_of(ins[2]) in (REAL, TAN)
    return op in _IN_SIDES or (op < TABLE_END and op not in FAILS and op not in LIBRARY)


def _effort_of(ins: tuple[int, ...]) -> int:
    return EFFORT[ins[0]] if ins[0] < TABLE_END else ins[0] in (ADD_TO, COND)


class _Predicating(Replay):
    """Copies a function with both sides of choices in their place."""

    def __init__(
        self,
        func: Func,
        b: Builder,
        args: Sequence[int],
        found: Collection[int],
        unsound: set[int],
        trips: int = 0,
    ) -> None:
        """``trips``: how often the function itself runs, if it is the body of a loop."""
        super().__init__(func, b, args)
        self.found = found
        self.unsound = unsound
        """The loops in which a side, where it does not hold, takes what is no index for one."""
        self.trips = trips

    def cond(self, v: int, ins: tuple[int, ...]) -> None:
        if v not in self.found:
            super().cond(v, ins)
            return
        b, site = self.b, CondSite(self.func, ins)
        first = len(b.code)
        self.replaced[v], added = _both(b, self.env[site.p], site, self.env)
        for r, x in added:
            b.add_to(r, x)
        if not self.are_indices(first):
            self.unsound.add(self.func.home[v])

    def are_indices(self, first: int) -> bool:
        """Whether all indices from id ``first`` on are what their types say in each iteration of the loop.

        A condition may have told that they are; without it, they may be elements that are not there.
        """
        b, number = self.b, self.b.open[-1]
        pieces = Pieces.of_block(b.func, number) if number else Pieces(b.func, 0, self.args[0], self.trips)
        made = (v for v in range(first, len(b.code)) if isinstance(b.func.types[v], Fin))
        return all(_is_index(b, pieces, v) for v in made)


Added = list[tuple[int, int]]
"""Places in accumulators, and what is added there, in order."""


def _both(b: Builder, p: int, site: CondSite, env: Sequence[int]) -> tuple[list[int], Added]:
    """Compute both sides of a choice; its results, and what it adds."""
    sides = [_Side(f, b, [env[a] for a in of]) for f, of in zip(site.functions, site.args, strict=True)]
    if p < 0:
        side = sides[0 if b.pool[~p][0] else 1]
        return side.run(), side.added
    ways = [side.run() for side in sides]
    results = [b.ternary(_SELECT, p, x, y) for x, y in zip(*ways, strict=True)]
    return results, _together(b, p, *[side.added for side in sides])


def _together(b: Builder, p: int, one: Added, other: Added) -> Added:
    """What is added to the same place by both sides is added once; the order of each side stays."""

    def chosen(r: int, x: int | None, y: int | None) -> tuple[int, int]:
        t = b.func.type_of(x if y is None else y)  # type: ignore[arg-type]
        none = b.const(-0.0, t)
        return r, b.ternary(_SELECT, p, none if x is None else x, none if y is None else y, t)

    found: Added = []
    rest = other
    for r, x in one:
        at = next((k for k, (s, _) in enumerate(rest) if s == r), -1)
        found += [chosen(s, None, y) for s, y in rest[: max(at, 0)]]
        found.append(chosen(r, x, rest[at][1] if at >= 0 else None))
        rest = rest[at + 1 :]
    return found + [chosen(s, None, y) for s, y in rest]


class _Side(Replay):
    """Emits a side of a choice, but for what it adds."""

    def __init__(self, func: Func, b: Builder, args: Sequence[int]) -> None:
        super().__init__(func, b, args)
        self.added: Added = []

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        if ins[0] == ADD_TO:
            self.added.append((self.env[ins[1]], self.env[ins[2]]))
        else:
            super().structural(v, ins)

    def cond(self, v: int, ins: tuple[int, ...]) -> None:
        site = CondSite(self.func, ins)
        self.replaced[v], added = _both(self.b, self.env[site.p], site, self.env)
        self.added += added


def _is_index(b: Builder, pieces: Pieces, v: int) -> bool:
    op, *given = b.code[v]
    t = b.func.types[v]
    assert isinstance(t, Fin)
    if op not in _ARITHMETIC:
        return False
    if t.size > MOST:
        return True  # an intermediate result
    found = pieces.of(v)
    if found:
        ends = [start for start, _, _ in found[1:]] + [pieces.trips]
        return all(
            0 <= a * i + c < t.size
            for (start, a, c), end in zip(found, ends, strict=True)
            for i in (start, end - 1)
        )
    low, high = range_of(b, given[0]) if op == _NARROW else range_of(b, v)
    return low >= 0 and high < t.size
