"""What is the same in all iterations of a loop with a state, computed before the loop.

    loop i, state s:  s + x[i] * (a / b)     →     q = a / b;  loop i, state s:  s + x[i] * q

The builder puts an operation into the outermost loop ``FOR`` that has its operands. But the body of a loop
with a state is a function of its own, in which ``a / b`` of two arguments is computed in every iteration, and
on the way back each iteration has a share of the cotangents of both. So the body gets the quotient in their
place. It never gets more numbers than before: a loop that varies by one number alone is to stay so
(`derivatives.linearize_control`). What may have an infinite derivative stays, too, if there may be no
iteration or indices choose it (`optimise.cases`): times the cotangent 0 that would be no number. And so does
what is read by an index that may be none where there is no iteration (`optimise.proven`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rose_core.language.builder import Builder
from rose_core.language.ir import (
    ACCUM,
    CALL,
    COND,
    FOR,
    GET,
    INDEX,
    LOOP,
    PARAM,
    RESOLVE,
    SET,
    VEC,
    ZEROS,
    Func,
    LoopSite,
    callees,
    is_real,
    operands,
)
from rose_core.language.ops import REGULAR, TABLE_END, code
from rose_core.language.queries import opcodes, remembered, remembered_for, users_of_accumulators
from rose_core.language.replay import Verbatim, copied
from rose_core.language.types import BOOL, REAL, TAN, UNIT, Array, Type, scalar_of
from rose_core.optimise.cases import chosen_by_indices, of_indices
from rose_core.optimise.copies import stays
from rose_core.optimise.hoist import hoisted
from rose_core.optimise.movable import Loop, cannot_fail
from rose_core.optimise.other_loops import OtherLoops
from rose_core.optimise.proven import is_proven, unproven

_NEG = code("neg")
_RUN = frozenset((FOR, LOOP, COND, CALL))
"""Instructions that are more than one operation; their results are those of ``GET``."""
_STRUCTURAL = frozenset((INDEX, VEC, SET, ZEROS, GET, RESOLVE, LOOP, COND, CALL))


@dataclass(frozen=True, slots=True)
class _Given:
    """The body of a loop with values as its last arguments, and without arguments that it does not need."""

    body: Func
    same: Same
    """What is the same in all iterations of the original body."""
    values: list[int]
    """What these are there."""
    kept: list[int]
    """The arguments that it still has, counted from the first after the state."""


def outside(f: Func) -> Func:
    """``f``, or a copy that computes before its loops what it can; the functions that it calls are left."""
    return f if LOOP not in opcodes(f) or stays(f) else _outside(f)


@remembered
def _outside(f: Func) -> Func:
    sites = {v: LoopSite(f, ins) for v, ins in enumerate(f.code) if ins[0] == LOOP}
    known = {v: (site.spec.carries, has_trips(f, site)) for v, site in sites.items()}
    bodies = {v: made for v, site in sites.items() if (made := _given(site.body, known[v]))}
    # a loop that comes out of one with a state may be the same in all iterations of those around that, too
    return hoisted(copied(f, _Moving, bodies)) if bodies else f


def has_trips(f: Func, site: LoopSite) -> bool:
    """Whether a loop is known to run at least once."""
    return not site.test and site.count < 0 and f.pool[~site.count][0] > 0


@remembered_for
def _given(body: Func, known: tuple[int, bool]) -> _Given | None:
    """The body of a loop with so many leaves of state, which is known to run, or not."""
    # what comes out of the loops in the body may leave that as well
    return None if stays(body) else _made(outside(hoisted(body)), *known)


def _made(body: Func, carries: int, has_trips: bool) -> _Given | None:
    """The body of a loop with what it computes of its arguments alone as arguments, if there is anything."""
    same = Same(body, carries, has_trips)
    used = {x for x in body.results if x >= 0}
    """By what stays in the body."""
    stay: set[int] = set()
    """Of what is the same, vectors, elements and so on, which cost nothing to make again."""
    for v in reversed(range(len(body.code))):
        if v in same.values:
            if same.may_be_given(v) or v not in used:
                continue
            stay.add(v)
        if v not in same.inside:
            used.update(x for x in operands(body.code[v], body.blocks) if x >= 0)
    wanted = [v for v in sorted(same.values & used) if same.may_be_given(v)]
    of_loops = [v for v in wanted if v in same.of_loops]
    for values in ([v for v in wanted if v in same.of_loops or same.is_worth_it(v)], of_loops):
        found = _with(same, values, stay | same.needed(set(wanted).difference(values)))
        if found:
            return found
    return None


def _with(same: Same, values: list[int], needed: Collection[int]) -> _Given | None:
    """The body with these values as arguments, and with what it still needs; None if it gets too much."""
    body, carries = same.body, same.carries
    without = same.values.difference(needed)
    dropped = [v for v in without if body.code[v][0] == PARAM]
    counted = values
    if any(map(_is_vector, (*body.result_types, *(body.types[v] for v in dropped)))):
        counted = [v for v in values if v not in same.of_loops]
    is_more = sum(body.types[v] is REAL for v in counted) > sum(body.types[v] is REAL for v in dropped)
    if not values or is_more or any(_is_vector(body.types[v]) for v in counted):
        return None
    numbers = {body.code[v][1] for v in dropped}
    kept = [k for k in range(len(body.params) - 1 - carries) if k + 1 + carries not in numbers]
    return _Given(given_values(body, values, without), same, values, kept)


def _is_vector(t: Type) -> bool:
    return isinstance(t, Array) and is_real(t)


class Same:
    """What is the same in all iterations of a loop, in the outermost block of its body."""

    def __init__(self, body: Func, carries: int, has_trips: bool = True) -> None:
        self.body = body
        self.carries = carries
        self.has_trips = has_trips
        self.of_indices = of_indices(body)
        """By these derivatives tell what is chosen."""
        self.chosen = chosen_by_indices(body)
        self.values: set[int] = set()
        self.of_loops: set[int] = set()
        """For which a loop or a function is run: they are always better computed once."""
        self.inside: set[int] = set()
        """What is inside of these loops."""
        self._needs: dict[int, Collection[int]] = {}
        """What each value is computed of; an accumulator, the loop that adds to it."""
        users = users_of_accumulators(body)
        has_tangents = any(scalar_of(t) is TAN for t in body.params)
        for v in body.blocks[0].order:
            ins = body.code[v]
            if ins[0] == PARAM:
                if ins[1] > carries:
                    self._add(v, ())
            elif ins[0] < TABLE_END or not has_tangents:
                if ins[0] == FOR:
                    self._add_loop(Loop(body, v, body.home), users)
                elif v not in self.chosen and self._is_same(v):
                    self._add(v, [x for x in operands(ins, body.blocks) if x >= 0])

    def may_be_given(self, v: int) -> bool:
        """Whether it can be an argument: a number that is computed, or what comes of a loop or a call."""
        op = self.body.code[v][0]
        return op == PARAM or op < TABLE_END or (v in self.of_loops and op not in _RUN and op != ACCUM)

    def is_worth_it(self, v: int) -> bool:
        """Whether it is more than an argument, or the sign of one, or what indices alone make."""
        is_more = self.body.code[v][0] not in (PARAM, _NEG) and v not in self.of_indices
        return is_more and self.body.types[v] in (REAL, BOOL)

    def needed(self, ids: Iterable[int]) -> set[int]:
        """These values, and all that they are computed of."""
        found: set[int] = set()
        stack = list(ids)
        while stack:
            v = stack.pop()
            if v not in found:
                found.add(v)
                stack += self._needs[v]
        return found

    def ahead(self, b: Builder, args: Sequence[int], values: Sequence[int]) -> list[int]:
        """These of its values, computed of the loop's arguments ``args``."""
        needed = self.needed(v for v in values if v >= 0)
        replay = Verbatim(self.body, b, [0] * (1 + self.carries) + [*args])
        for v in self.body.blocks[0].order:
            if v in needed:
                replay.instruction(v)
        return [replay.env[x] for x in values]

    def _is_same(self, v: int) -> bool:
        op, *_ = ins = self.body.code[v]
        for x in operands(ins, self.body.blocks):
            if x >= 0 and x not in self.values:
                return False
        if op == INDEX and ins[1] in self.of_loops:
            return False  # the body gets the array
        may_move = cannot_fail(self.body, ins) and (self.has_trips or _may_be_in_vain(self.body, v))
        return may_move and (op < TABLE_END or op in _STRUCTURAL)

    def _add(self, v: int, needs: Collection[int]) -> None:
        self.values.add(v)
        self._needs[v] = needs
        if self.body.code[v][0] in _RUN or not self.of_loops.isdisjoint(needs):
            self.of_loops.add(v)

    def _add_loop(self, loop: Loop, users: Mapping[int, Sequence[int]]) -> None:
        may_run = self.has_trips or all(_may_be_in_vain(self.body, w) for w in loop.content)
        if may_run and loop.may_move() and loop.is_alone(users) and self.values.issuperset(loop.needed):
            self._add(loop.id, [*loop.needed, *loop.accumulators])
            self.inside |= loop.content
            for r in loop.accumulators:
                self._add(r, [loop.id])


def _may_be_in_vain(f: Func, v: int) -> bool:
    """Whether an instruction does no harm where nobody needs it."""
    found = v not in unproven(f) and _is_regular(f, f.code[v])
    for k in callees(f.code[v]):  # no generator: see `deep.py`
        found = found and is_proven(f.callees[k])
    return found


def _is_regular(f: Func, ins: tuple[int, ...]) -> bool:
    """Whether an instruction has no infinite derivative anywhere."""
    found = ins[0] not in REGULAR or ins[1 + REGULAR[ins[0]][0]] < 0
    for k in callees(ins):  # no generator: see `deep.py`
        found = found and all_regular(f.callees[k])
    return found


@remembered
def all_regular(f: Func) -> bool:
    """Whether no instruction of ``f``, or of what it calls, has an infinite derivative anywhere."""
    found = not f.jvp
    for ins in f.code:
        found = found and _is_regular(f, ins)
    return found


def given_values(
    body: Func, values: Sequence[int], without: Collection[int] = (), results: Sequence[int] | None = None
) -> Func:
    """A copy of ``body`` with these of its values as arguments after the others, and ``without`` some.

    ``results``: the values that it gives, if not the same ones.
    """
    copy = Func(body.name, [], UNIT)
    copy.effects = body.effects
    b = Builder(copy)
    dropped = {body.code[v][1] for v in without if body.code[v][0] == PARAM}
    args = [0 if k in dropped else b.param(t) for k, t in enumerate(body.params)]
    env = dict.fromkeys(without, 0) | {v: b.param(body.types[v]) for v in values}
    replay = Knowing(body, b, args, env)
    replay.run()
    copy.blocks[0].results = [replay.env[x] for x in (body.results if results is None else results)]
    return copy


class Knowing(Verbatim):
    """Copies a function some of whose values are known."""

    def __init__(self, func: Func, b: Builder, args: Sequence[int], known: Mapping[int, int]) -> None:
        super().__init__(func, b, args)
        self.known = known

    def block(self, number: int) -> None:
        left = []
        for v in self.func.blocks[number].order:
            if v in self.known:
                self.env[v] = self.known[v]
            else:
                left.append(v)
        self.sequence(left)


class _Moving(OtherLoops):
    """Copies a function that computes before its loops what is the same in all iterations."""

    def other_loop(self, v: int, site: LoopSite, made: _Given, state: list[int], args: list[int]) -> None:
        values = made.same.ahead(self.b, args, made.values)
        self.env[v] = self.with_body(site, made.body, state, [*(args[k] for k in made.kept), *values])
