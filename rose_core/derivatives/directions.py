"""Forward derivatives along many directions from one place, as the columns of a Jacobian are.

A derivative is a function of a place and of a direction, and what it calls and the loops it has may be those
of the place alone: a root is found, and a matrix inverted. In a loop over directions such a function is in
line, and so are those in it that have both. What is of the place is computed before the loop.
"""

from __future__ import annotations

from collections.abc import Sequence

from rose_core.language.builder import Builder
from rose_core.language.ir import ACCUM, ADD_TO, CALL, COND, FOR, LOOP, PARAM, Func, callees, operands
from rose_core.language.replay import Replay
from rose_core.language.types import Ref
from rose_core.optimise.hoist import Loop, users_of_accumulators
from rose_core.optimise.inline import LONGEST_IN_LOOP

_RUN = frozenset((FOR, CALL, COND, LOOP))


class InTurn(Replay):
    """A function in line in a loop, but for what is the same in all turns, which is before that."""

    def run(self) -> list[int]:
        b, f = self.b, self.func
        same = _same(f, _given(b, self.args))
        homes = [b.home[a] for a in self.args if a >= 0 and b.home[a] < b.open[-1]]
        inside = b.open
        b.open = inside[: 1 + inside.index(max(homes, default=0))]
        self.sequence(v for v in f.blocks[0].order if same[v])
        b.open = inside
        self.sequence(v for v in f.blocks[0].order if not same[v])
        return [self.env[v] for v in f.results]

    def call(self, v: int, callee: Func, args: Sequence[int]) -> None:
        given = [self.env[a] for a in args]
        if has_same(self.b, callee, given):
            self.replaced[v] = InTurn(callee, self.b, given).run()
        else:
            self.env[v] = self.b.call(callee, given)


def has_same(b: Builder, f: Func, args: Sequence[int]) -> bool:
    """Whether a call of ``f`` here, in a loop, runs loops or functions that are the same in all turns."""
    return len(b.open) > 1 and not b.never_turns() and _runs_same(f, _given(b, args))


def _given(b: Builder, args: Sequence[int]) -> tuple[bool, ...]:
    """Which arguments are the same in all turns of the innermost loop."""
    return tuple([a < 0 or b.home[a] < b.open[-1] for a in args])


def _runs_same(f: Func, given: tuple[bool, ...]) -> bool:
    """Whether ``f`` runs a loop or a function of those of its arguments alone that are given."""
    key = "runs the same", given, f.extent
    found = f.memo.get(key)
    if found is None:
        may = any(given) and not all(given) and len(f.code) <= LONGEST_IN_LOOP and not f.host
        found = f.memo[key] = may and _finds_same(f, _same(f, given))
    return bool(found)


def _finds_same(f: Func, same: Sequence[bool]) -> bool:
    for v in f.blocks[0].order:
        ins = f.code[v]
        found = ins[0] in _RUN and same[v]
        if ins[0] == CALL and not found and _is_pure(f, ins):
            found = _runs_same(f.callees[ins[1]], tuple([same[x] for x in ins[2:]]))
        if found:
            return True
    return False


def _same(f: Func, given: Sequence[bool]) -> list[bool]:
    """Which values of ``f`` are those of the arguments that are given alone; constants are at the end."""
    same = [False] * len(f.code) + [True] * len(f.pool)
    users = users_of_accumulators(f)
    for v in f.blocks[0].order:
        ins = f.code[v]
        if ins[0] == PARAM:
            same[v] = given[ins[1]]
        elif ins[0] == FOR:
            loop = Loop(f, v, f.home)
            if _may_move(loop) and loop.is_alone(users) and all(same[x] for x in loop.needed):
                same[v] = True
                for r in loop.accumulators:
                    same[r] = True
        elif ins[0] not in (ACCUM, ADD_TO):
            same[v] = all(same[x] for x in operands(ins, f.blocks)) and _is_pure(f, ins)
    return same


def _may_move(loop: Loop) -> bool:
    """Whether a loop does nothing but give values, and add to accumulators beside it; it may fail."""
    f = loop.f
    beside = [f.code[r][0] == ACCUM and f.home[r] == loop.here for r in loop.accumulators]
    return loop.is_finished and all(beside) and not any(_has_effects(f, f.code[w]) for w in loop.content)


def _has_effects(f: Func, ins: tuple[int, ...]) -> bool:
    return any(f.callees[k].effects for k in callees(ins))


def _is_pure(f: Func, ins: tuple[int, ...]) -> bool:
    """Whether it does nothing but give values."""
    refs = [t for k in callees(ins) for t in f.callees[k].params if isinstance(t, Ref)]
    return not refs and not _has_effects(f, ins)
