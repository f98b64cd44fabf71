"""Loops and their derivatives as one loop, where nothing waits for a whole sum: without a tape.

    for i:  y[i] = exp(x[i]);  s += y[i]
    for i:  dx[i] += y[i]                    →     for i:  y = exp(x[i]);  s += y;  dx[i] += y

What the terms of a sum have as cotangents is often known before the sum is: of a loss over data, it is the
same for each. Then an iteration of the loop backward needs no more of the loop forward than its own iteration
has computed, and may follow that at once; as it may that of another loop backward. What would be kept in
vectors from one loop to the other is at hand, and what both compute, they compute once. Every sum and every
element gets what it got, in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rose_core.language.builder import Builder
from rose_core.language.ir import (
    ACCUM,
    ADD_TO,
    COND,
    FOR,
    GET,
    INDEX,
    PARAM,
    REF_INDEX,
    Block,
    CondSite,
    Func,
    operands,
)
from rose_core.language.ops import EFFORT, FAILS, LIBRARY, TABLE_END, computation
from rose_core.language.queries import containing, contents, param_ids, path_of
from rose_core.language.replay import Replay, copied
from rose_core.language.types import Ref
from rose_core.optimise.fused import PLAIN, is_movable
from rose_core.optimise.movable import only_adds
from rose_core.optimise.peel import only_at_ends

_NEXT = 4
"""How many loops after it are tried with one."""

_MOST_ROWS = 1000
"""The most instructions of an iteration of both."""

_MOST_ROWS_AROUND = 200
"""The same of loops around others, which run two iterations at a time each in its own way."""

_MOST_BETWEEN = 256
"""The most instructions between the two."""

_LEAST_SHARED = 2
"""The least work that both loops do, unless one needs what the other one has computed."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two loops that become one."""

    first: int
    then: int
    early: Sequence[int]
    """What the second one needs that stands between them, in order."""
    inner: _Pair | None
    """The loop in each of them."""


def tapeless(f: Func) -> Func:
    """``f``, about to be lowered, or a copy in which such loops are one."""
    if len(f.blocks) < 3:
        return f
    pairs: list[_Pair] = []
    same: dict[int, int] = {}
    for block in f.blocks:
        for pair, found in _pairs(f, block.order):
            pairs.append(pair)
            same |= found
    return copied(f, _Joining, pairs, same) if pairs else f


def _pairs(f: Func, order: Sequence[int]) -> Iterator[tuple[_Pair, dict[int, int]]]:
    """The loops of a block that become one each, and what `_Search` has found of them."""
    loops = [k for k, v in enumerate(order) if f.code[v][0] == FOR]
    taken: set[int] = set()
    for n, k in enumerate(loops):
        for j in loops[n + 1 : n + 1 + _NEXT] if k not in taken else ():
            if j in taken or j - k > _MOST_BETWEEN:
                continue
            search = _Search(f)
            pair = search.pair(order[k], order[j], order[k + 1 : j])
            if pair and search.is_worth_it(pair):
                taken |= {k, j}
                yield pair, search.same
                break


class _Search:
    """Looks whether two loops can be one, and what the second one has of the first then."""

    def __init__(self, f: Func) -> None:
        self.f = f
        self.same: dict[int, int] = {}
        """Index of a second loop → that of the first; element of a result of the first → what it is."""

    def pair(self, first: int, then: int, between: Sequence[int]) -> _Pair | None:
        """Two loops as one, if they can be; ``between``: what stands between them, in order."""
        f = self.f
        a, b = (f.blocks[f.code[v][1]] for v in (first, then))
        if a.size != b.size:
            return None
        one, other = (contents(f, f.code[v][1]) for v in (first, then))
        is_around = any(f.code[v][0] == FOR for v in one)
        most = _MOST_ROWS_AROUND if is_around else _MOST_ROWS
        if len(one) + len(other) > most or not all(map(self._is_plain, (*one, *other))):
            return None
        if any(f.code[v][0] in FAILS for v in other) or not self._add_apart(a, one, between, b, other):
            return None
        if self._has_choices(one) != self._has_choices(other):
            return None  # iterations of one of them may run two at a time
        early = self._early(first, then, between, other)
        loops = [[v for v in block.order if f.code[v][0] == FOR] for block in (a, b)]
        if early is None or len(loops[0]) != len(loops[1]) or len(loops[0]) > 1:
            return None
        self.same[b.index] = a.index
        if not loops[0]:
            return _Pair(first, then, early, None)
        (v,), (w,) = loops
        inner = self.pair(v, w, [*a.order[a.order.index(v) + 1 :], *b.order[: b.order.index(w)]])
        return _Pair(first, then, early, inner) if inner else None

    def is_worth_it(self, pair: _Pair) -> bool:
        """Whether the second loop needs what the first one computes, or computes it again.

        But not if it needs library functions: several iterations of these overlap in a loop that does little
        else.
        """
        f = self.f
        one, other = (contents(f, f.code[v][1]) for v in (pair.first, pair.then))
        late: set[int] = set()
        for v in (*one, *other):
            op, *given = f.code[v]
            needed = (*operands(f.code[v], f.blocks), *(self.same[x] for x in (v,) if x in self.same))
            if op in LIBRARY or not late.isdisjoint(needed):
                late.add(path_of(f, given[0])[1] if op == ADD_TO else v)
        if not late.isdisjoint(other):
            return False
        if any(f.code[v][0] == INDEX for v in self.same):
            return True
        number: dict[tuple[int, ...], int] = {}
        known: dict[int, int] = {}
        """Value → a number that it has in common with those that are computed of the same in the same way."""
        shared = 0
        for loop in (one, other):
            before = len(f.code) + len(number)
            for v in loop:
                op, *given = f.code[v]
                if op < TABLE_END or op == INDEX:
                    key = computation(op, [known.get(x, x) for x in (self.same.get(x, x) for x in given)])
                    # numbers of values from outside are below these
                    known[v] = number.setdefault(key, len(f.code) + len(number))
                    if loop is other and known[v] < before:
                        shared += EFFORT[op] if op < TABLE_END else 1
        return shared >= _LEAST_SHARED

    def _is_plain(self, v: int) -> bool:
        ins = self.f.code[v]
        if ins[0] == COND:
            one, other = CondSite(self.f, ins).functions
            return only_adds(one) and only_adds(other)
        return ins[0] < TABLE_END or ins[0] in PLAIN

    def _add_apart(
        self, a: Block, one: Sequence[int], between: Sequence[int], b: Block, other: Sequence[int]
    ) -> bool:
        """Whether nothing before the second loop adds to the accumulators that it adds to, unless both loops
        add to a part that each iteration has of its own. Those of callers may all be the same."""
        f, inside = self.f, {*other}
        refs = [x for v in other for x in self._refs(v) if f.code[v][0] in (ADD_TO, COND)]
        added = {r for x in refs for r in containing(f, x)} - inside
        roots = {r for r in added if f.code[r][0] != REF_INDEX}
        if any(f.code[r][0] == PARAM for r in roots):
            roots.update(r for r in param_ids(f).values() if isinstance(f.types[r], Ref))
        loops = [contents(f, f.code[v][1]) for v in between if f.code[v][0] == FOR]
        before = (v for of in (between, *loops) for v in of)
        if any(self._touches(v, roots) for v in before):
            return False
        shared = roots.intersection(r for v in one for x in self._used(v) for r in containing(f, x))
        return all(
            f.code[r][0] == ACCUM and self._by_own_parts(r, a, one) & self._by_own_parts(r, b, other)
            for r in shared
        )

    def _by_own_parts(self, r: int, block: Block, loop: Sequence[int]) -> set[int]:
        """Where, in the paths to all parts of an accumulator that a loop adds to, the loop's index stands."""
        parts = {x for v in loop for x in self._used(v) if r in containing(self.f, x)}
        paths = [path_of(self.f, x) for x in parts]
        own = [{k for k, i in enumerate(path) if i == block.index and root == r} for path, root in paths]
        return set.intersection(*own)

    def _touches(self, v: int, roots: set[int]) -> bool:
        """Whether an instruction adds to one of these accumulators, or reads it."""
        return any(not roots.isdisjoint(containing(self.f, x)) for x in self._used(v))

    def _used(self, v: int) -> list[int]:
        """The accumulators, and parts of these, that an instruction adds to, reads, or passes on."""
        return self._refs(v) if self.f.code[v][0] not in (ACCUM, REF_INDEX) else []

    def _refs(self, v: int) -> list[int]:
        """The accumulators, and parts of these, among the operands of an instruction."""
        f = self.f
        return [x for x in operands(f.code[v], f.blocks) if x >= 0 and isinstance(f.types[x], Ref)]

    def _has_choices(self, loop: Sequence[int]) -> bool:
        """Whether there are any that are not peeled off with the loop's ends."""
        return any(self.f.code[v][0] == COND and not only_at_ends(self.f, v) for v in loop)

    def _early(self, first: int, then: int, between: Sequence[int], other: Sequence[int]) -> list[int] | None:
        """What stands between the loops and is needed by the second one, which is ``other``, in order; None
        if it needs more of the first one than what that has computed in the same iteration."""
        f, inside, after = self.f, {*other}, {*between}
        number = f.code[then][1]
        early: set[int] = set()
        ways = [(v, x) for v in other for x in operands(f.code[v], f.blocks)]
        ways += [(then, x) for x in f.blocks[number].results]
        while ways:
            v, x = ways.pop()
            if x < 0 or x in inside or x in early:
                continue
            meant = self.same.get(x, x)
            if meant >= 0 and f.code[meant][:2] == (GET, first):
                if f.code[v] != (INDEX, x, f.blocks[number].index):
                    return None
                self.same[v] = f.blocks[f.code[first][1]].results[f.code[meant][2]]
            elif x in after:
                if meant == x and not is_movable(f.code[x][0]):
                    return None
                ways += [(x, y) for y in (operands(f.code[x], f.blocks) if meant == x else [meant])]
                early.add(x)
        return sorted(early)


class _Joining(Replay):
    def __init__(
        self,
        func: Func,
        b: Builder,
        args: Sequence[int],
        pairs: Sequence[_Pair],
        same: Mapping[int, int],
    ) -> None:
        super().__init__(func, b, args)
        self.pairs = {pair.first: pair for pair in pairs}
        self.same = same
        """What `_Search` has found."""
        self.done = {pair.then for pair in pairs}
        """What has been made before its place."""

    def block(self, number: int) -> None:
        self.rest(self.func.blocks[number].order)

    def rest(self, ids: Sequence[int]) -> None:
        """Emit those of these instructions that have not been emitted."""
        for v in ids:
            if v in self.same:
                self.env[v] = self.env[self.same[v]]
            elif v not in self.done:
                self.instruction(v)

    def loop(self, v: int, number: int) -> None:
        if v in self.pairs:
            self.join(self.pairs[v])
        else:
            super().loop(v, number)

    def join(self, pair: _Pair) -> None:
        self.rest(pair.early)
        self.done.update(pair.early)
        a, b = (self.func.blocks[self.func.code[v][1]] for v in (pair.first, pair.then))
        self.env[a.index] = self.env[b.index] = self.b.open_for(a.size)
        if pair.inner:
            at = a.order.index(pair.inner.first)
            self.rest(a.order[:at])
            self.join(pair.inner)
            self.done.add(pair.inner.then)
            self.rest(a.order[at + 1 :])
        else:
            self.rest(a.order)
        self.rest(b.order)
        made = self.b.close_for([self.env[r] for r in (*a.results, *b.results)])
        got = [self.b.get(made, k) for k in range(len(a.results) + len(b.results))]
        self.replaced[pair.first], self.replaced[pair.then] = got[: len(a.results)], got[len(a.results) :]
