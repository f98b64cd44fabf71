"""What is the same in all turns of a loop, computed before the loop.

The builder puts an operation into the outermost loop ``FOR`` that has its operands. The body of a loop with a
state is a function of its own, in which ``h / 6`` of two arguments is computed in every turn, and on the way
back each turn has a share of the cotangents of both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rose_core.language.builder import Builder
from rose_core.language.ir import LOOP, PARAM, Func, LoopSite, opcodes, operands
from rose_core.language.ops import FAILS, TABLE_END, code
from rose_core.language.replay import copied
from rose_core.language.types import UNIT, Fin
from rose_core.optimise.inline import Verbatim, stays

_MOST = 6
"""The most values that a loop gets besides what its author gives it."""

_NEG = code("neg")


@dataclass(frozen=True, slots=True)
class _Given:
    """The body of a loop that gets values as its last arguments, and what these are in the original one."""

    body: Func
    values: list[int]


def outside(f: Func) -> Func:
    """``f``, or a copy that computes before its loops what it can; the functions that it calls are left."""
    if LOOP not in opcodes(f) or stays(f):
        return f
    key = "outside", f.extent
    found = f.memo.get(key)
    if found is None:
        bodies: dict[int, _Given] = {}
        for v, ins in enumerate(f.code):
            if ins[0] == LOOP:
                site = LoopSite(f, ins)
                values = _values(site.body, site.spec.carries)
                if values:
                    bodies[v] = _given(site.body, values)
        found = f.memo[key] = copied(f, lambda b, args: _Moving(f, b, args, bodies)) if bodies else f
    assert isinstance(found, Func)
    return found


def _values(body: Func, carries: int) -> list[int]:
    """The numbers that the body of a loop computes of what is the same in all turns, and then uses."""
    fixed: set[int] = set()
    used: set[int] = set()
    for v, ins in enumerate(body.code):
        op = ins[0]
        if op == PARAM:
            is_fixed = ins[1] > carries
        else:
            given = [x for x in operands(ins, body.blocks) if x >= 0]
            is_fixed = op < TABLE_END and op not in FAILS and all(x in fixed for x in given)
            if not is_fixed:
                used.update(given)
        if is_fixed:
            fixed.add(v)
    used.update(body.results)
    found = [v for v in sorted(fixed & used) if _is_worth_it(body, v)]
    return found if len(found) <= _MOST and not stays(body) else []


def _is_worth_it(body: Func, v: int) -> bool:
    """Whether it is more than to name an argument, or to take its sign or an index into account."""
    return body.code[v][0] not in (PARAM, _NEG) and not isinstance(body.types[v], Fin)


def _given(body: Func, values: list[int]) -> _Given:
    key = "given before", tuple(values)
    found = body.memo.get(key)
    if found is None:
        found = body.memo[key] = _Given(given(body, values), values)
    assert isinstance(found, _Given)
    return found


def given(body: Func, values: Sequence[int]) -> Func:
    """A copy of ``body`` that has these of its values for arguments, after the others."""
    copy = Func(body.name, [], UNIT)
    copy.effects = body.effects
    b = Builder(copy)
    args = [b.param(t) for t in body.params]
    replay = _WithGiven(body, b, args, {v: b.param(body.types[v]) for v in values})
    copy.blocks[0].results = replay.run()
    return copy


class _WithGiven(Verbatim):
    """Copies a function some of whose values are arguments."""

    def __init__(self, func: Func, b: Builder, args: Sequence[int], given: Mapping[int, int]) -> None:
        super().__init__(func, b, args)
        self.given = given

    def block(self, number: int) -> None:
        func, b, env = self.func, self.b, self.env
        for v in func.blocks[number].order:
            ins = func.code[v]
            if v in self.given:
                env[v] = self.given[v]
            elif ins[0] < TABLE_END:
                env[v] = b.op(ins[0], *[env[x] for x in ins[1:]], type=func.types[v])
            else:
                self.structural(v, ins)


class _Moving(Verbatim):
    """Copies a function that computes before its loops what is the same in all turns."""

    def __init__(self, func: Func, b: Builder, args: Sequence[int], bodies: Mapping[int, _Given]) -> None:
        super().__init__(func, b, args)
        self.bodies = bodies

    def control_loop(self, v: int, ins: tuple[int, ...]) -> None:
        if v not in self.bodies:
            super().control_loop(v, ins)
            return
        site, found = LoopSite(self.func, ins), self.bodies[v]
        state, args, test_args = ([self.env[a] for a in x] for x in (site.state, site.args, site.test_args))
        args += ahead(self.b, site.body, site.spec.carries, args, found.values)
        self.env[v] = self.b.loop(
            site.spec, self.env[site.count], found.body, state, args, site.test, test_args
        )


def ahead(b: Builder, body: Func, carries: int, args: Sequence[int], values: Sequence[int]) -> list[int]:
    """Values of a loop's body that are the same in all turns, computed of the loop's arguments ``args``."""
    first = 1 + carries
    needed: set[int] = set()
    stack = [x for x in values if x >= 0]
    while stack:
        v = stack.pop()
        if v not in needed:
            needed.add(v)
            stack += [x for x in operands(body.code[v], body.blocks) if x >= 0]
    env: dict[int, int] = {}

    def value(x: int) -> int:
        return env[x] if x >= 0 else b.const(*body.pool[~x])

    for v in sorted(needed):
        op, *given = body.code[v]
        is_param = op == PARAM
        env[v] = args[given[0] - first] if is_param else b.op(op, *map(value, given), type=body.types[v])
    return [value(x) for x in values]
