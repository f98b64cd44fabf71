"""Forward derivatives along many directions from one place, as the columns of a Jacobian are.

A derivative is a function of a place and of a direction, and what it calls and the loops it has may be those
of the place alone: a root is found, and a matrix inverted. In a loop over directions such a function is in
line, and so are those in it that have both. What is of the place is computed before the loop.

And a direction that is 0 in what some parameter is about needs no derivative by that, which may not exist.
"""

from __future__ import annotations

from collections.abc import Sequence

from rose_core.derivatives.jvp import positions
from rose_core.language.builder import Builder
from rose_core.language.ir import (
    ACCUM,
    ADD_TO,
    CALL,
    COND,
    FOR,
    GET,
    LOOP,
    PARAM,
    Func,
    callees,
    is_real,
    operands,
)
from rose_core.language.queries import callees_first, contents, remembered_for, users_of_accumulators
from rose_core.language.replay import Replay
from rose_core.language.types import Ref
from rose_core.optimise.inline import LONGEST_IN_LOOP
from rose_core.optimise.movable import Loop
from rose_core.optimise.outside import all_regular

_RUN = frozenset((FOR, CALL, COND, LOOP))

MOST_VARIANTS = 3
"""The most derivatives of a function that another one calls: one more for each direction would be long."""

MOST_IRREGULAR = 4096
"""The most instructions that they may be where the function has infinite derivatives, times 0 no number."""


class Directions:
    """Which parameters vary in the forward derivatives that a function calls: not those with tangent 0."""

    def __init__(self, func: Func) -> None:
        self._func = func
        self._known: dict[Func, set[tuple[bool, ...]]] = {}
        """What varies in the calls of a place-holder."""
        self._needed: dict[Func, bool] = {}
        derived = {k for k, g in enumerate(func.callees) if g.origin and g.origin[0] == "jvp"}
        if derived:
            for ins in func.code:
                if ins[0] == CALL and ins[1] in derived:
                    g = func.callees[ins[1]]
                    self._known.setdefault(g, set()).add(self._of_call(g, ins[2:]))

    def varying(self, placeholder: Func, args: Sequence[int]) -> tuple[bool, ...]:
        """Which parameters vary where a derivative is called so; or in any call, if these differ much."""
        known = self._known[placeholder]
        if len(known) <= MOST_VARIANTS or self._are_needed(placeholder, len(known)):
            return self._of_call(placeholder, args)
        return tuple([any(column) for column in zip(*known, strict=True)])

    def _are_needed(self, placeholder: Func, count: int) -> bool:
        """Whether so many are made: others would meet infinite derivatives, and these are not too long."""
        found = self._needed.get(placeholder)
        if found is None:
            assert placeholder.origin
            f = placeholder.origin[1]
            length = sum(len(g.code) for g in callees_first(f))
            found = self._needed[placeholder] = count * length <= MOST_IRREGULAR and not all_regular(f)
        return found

    def _of_call(self, placeholder: Func, args: Sequence[int]) -> tuple[bool, ...]:
        assert placeholder.origin
        places = positions([is_real(t) for t in placeholder.origin[1].params])
        return tuple([k >= 0 and not _is_zero(self._func, args[k]) for k, _ in places])


def _is_zero(f: Func, v: int) -> bool:
    """Whether a value is always 0, or a vector of zeros as a loop makes it."""
    while v >= 0 and f.code[v][0] == GET:
        _, of, k = f.code[v]
        if f.code[of][0] != FOR:
            return False
        v = f.blocks[f.code[of][1]].results[k]
    return v < 0 and f.pool[~v][0] == 0


class InIteration(Replay):
    """A function inlined in a loop, but for what is the same in all iterations, which is before that."""

    def run(self) -> list[int]:
        b, f = self.b, self.func
        inside = b.open
        homes = [b.home[a] for a in self.args if a >= 0 and b.home[a] < inside[-1]]
        before = inside[: 1 + inside.index(max(homes, default=0))]
        _, same = _in_iteration(f, _given(b, self.args))
        for v in f.blocks[0].order:
            b.open = before if same[v] else inside
            self.instruction(v)
        b.open = inside
        return [self.env[v] for v in f.results]

    def call(self, v: int, callee: Func, args: Sequence[int]) -> None:
        call_in_iteration(self, v, callee, [self.env[a] for a in args])


def call_in_iteration(replay: Replay, v: int, f: Func, given: Sequence[int]) -> None:
    """What the call ``v`` is in a copy: one of ``f``, or that function inlined in a loop."""
    if _has_same(replay.b, f, given):
        replay.replaced[v] = InIteration(f, replay.b, given).run()
    else:
        replay.env[v] = replay.b.call(f, given)


def _has_same(b: Builder, f: Func, args: Sequence[int]) -> bool:
    """Whether a call of ``f`` here, in a loop, runs loops or functions that are the same in all iterations.

    But not if there is so much else that the loop would be too long.
    """
    return len(b.open) > 1 and not b.never_runs() and _in_iteration(f, _given(b, args))[0] > 0


def _given(b: Builder, args: Sequence[int]) -> tuple[bool, ...]:
    """Which arguments are the same in all iterations of the innermost loop."""
    return tuple([a < 0 or b.home[a] < b.open[-1] for a in args])


@remembered_for
def _in_iteration(f: Func, given: tuple[bool, ...]) -> tuple[int, list[bool]]:
    """How many instructions of ``f`` come into a loop where these arguments are the same, 0 if it is called;
    and which of its values are the same in all iterations, if it is inlined.
    """
    may = any(given) and not all(given) and not f.host
    return _Same(f, given).in_iteration() if may else (0, [])


class _Same:
    """What of a function in a loop is the same in all iterations, where these arguments are."""

    def __init__(self, f: Func, given: Sequence[bool]) -> None:
        self.f = f
        self.values = values = [False] * len(f.code) + [True] * len(f.pool)
        """Which values are, by id; constants are at the end."""
        self.left = 0
        """How many instructions stay in the loop."""
        self.is_worth_it = False
        """Whether loops or calls leave it."""
        self._told: dict[int, list[bool]] = {}
        """Call that is inlined → which of its results are the same."""
        users = users_of_accumulators(f)
        for v in f.blocks[0].order:
            ins = f.code[v]
            if ins[0] == PARAM:
                values[v] = given[ins[1]]
            elif ins[0] == FOR:
                loop = Loop(f, v, f.home)
                if _may_move(loop) and loop.is_alone(users) and all(values[x] for x in loop.needed):
                    for r in (v, *loop.accumulators):
                        values[r] = True
            elif ins[0] == GET and ins[1] in self._told:
                values[v] = self._told[ins[1]][ins[2]]
            elif ins[0] not in (ACCUM, ADD_TO):
                values[v] = all(values[x] for x in operands(ins, f.blocks)) and _is_pure(f, ins)
            if values[v]:
                self.is_worth_it |= ins[0] in _RUN
            else:
                self._leave(v, ins)

    def _leave(self, v: int, ins: tuple[int, ...]) -> None:
        f = self.f
        self.left += 1 + (len(contents(f, ins[1])) if ins[0] == FOR else 0)
        if ins[0] == CALL and _is_pure(f, ins):
            g = f.callees[ins[1]]
            inside, same = _in_iteration(g, tuple([self.values[x] for x in ins[2:]]))
            if inside:
                self._told[v] = [same[x] for x in g.results]
                self.left += inside
                self.is_worth_it = True

    def in_iteration(self) -> tuple[int, list[bool]]:
        is_in_line = self.is_worth_it and self.left <= LONGEST_IN_LOOP
        return (self.left, self.values) if is_in_line else (0, [])


def _may_move(loop: Loop) -> bool:
    """Whether a loop does nothing but give values, and add to accumulators beside it; it may fail."""
    return loop.adds_beside() and not any(_has_effects(loop.f, loop.f.code[w]) for w in loop.content)


def _has_effects(f: Func, ins: tuple[int, ...]) -> bool:
    return any(f.callees[k].effects for k in callees(ins))


def _is_pure(f: Func, ins: tuple[int, ...]) -> bool:
    """Whether it does nothing but give values."""
    refs = [t for k in callees(ins) for t in f.callees[k].params if isinstance(t, Ref)]
    return not refs and not _has_effects(f, ins)
