"""What is the same in all turns of a loop, computed before the loop.

The builder puts an operation into the outermost loop ``FOR`` that has its operands. The body of a loop with a
state is a function of its own, in which ``a / b`` of two arguments is computed in every turn, and on the way
back each turn has a share of the cotangents of both. So the body gets the quotient in their place. It never
gets more numbers than before: a loop that varies by one number alone is to stay so
(`derivatives.linearize_control`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from rose_core.language.builder import Builder
from rose_core.language.ir import LOOP, PARAM, Func, LoopSite, opcodes, operands
from rose_core.language.ops import FAILS, TABLE_END, code
from rose_core.language.replay import Replacing, copied
from rose_core.language.types import BOOL, REAL, UNIT
from rose_core.optimise.inline import Verbatim, stays

_NEG = code("neg")


@dataclass(frozen=True, slots=True)
class _Given:
    """The body of a loop with values as its last arguments, and without arguments that it does not need."""

    body: Func
    values: list[int]
    """What these are in the original body."""
    kept: list[int]
    """The arguments that it still has, counted from the first after the state."""


def outside(f: Func) -> Func:
    """``f``, or a copy that computes before its loops what it can; the functions that it calls are left."""
    if LOOP not in opcodes(f) or stays(f):
        return f
    key = "outside", f.extent
    found = f.memo.get(key)
    if found is None:
        sites = {v: LoopSite(f, ins) for v, ins in enumerate(f.code) if ins[0] == LOOP}
        bodies = {v: made for v, site in sites.items() if (made := _given(site.body, site.spec.carries))}
        found = f.memo[key] = copied(f, lambda b, args: _Moving(f, b, args, bodies)) if bodies else f
    assert isinstance(found, Func)
    return found


def _given(body: Func, carries: int) -> _Given | None:
    key = "given values", carries, body.extent
    if key not in body.memo:
        body.memo[key] = None if stays(body) else _made(body, carries)
    found = body.memo[key]
    assert found is None or isinstance(found, _Given)
    return found


def _made(body: Func, carries: int) -> _Given | None:
    """The body of a loop with what it computes of its arguments alone as arguments, if there is anything."""
    fixed: set[int] = set()
    used = {x for x in body.results if x >= 0}
    """By what is not the same in all turns."""
    for v, ins in enumerate(body.code):
        given = [x for x in operands(ins, body.blocks) if x >= 0]
        is_same = ins[1] > carries if ins[0] == PARAM else ins[0] < TABLE_END and ins[0] not in FAILS
        if is_same and fixed.issuperset(given):
            fixed.add(v)
        else:
            used.update(given)
    values = [v for v in sorted(fixed & used) if _is_worth_it(body, v)]
    if not values:
        return None
    needed = _needed(body, (fixed & used).difference(values))
    params = [v for v in fixed if body.code[v][0] == PARAM]
    dropped = {v for v in params if v not in needed}
    if sum(body.types[v] is REAL for v in values) > sum(body.types[v] is REAL for v in dropped):
        return None
    numbers = {body.code[v][1] for v in dropped}
    kept = [k for k in range(len(body.params) - 1 - carries) if k + 1 + carries not in numbers]
    return _Given(given_values(body, values, fixed - needed), values, kept)


def _is_worth_it(body: Func, v: int) -> bool:
    """Whether it is more than an argument, or the sign of one, or an index."""
    return body.code[v][0] not in (PARAM, _NEG) and body.types[v] in (REAL, BOOL)


def _needed(body: Func, ids: Collection[int]) -> set[int]:
    """These values, and all that they are computed of."""
    found: set[int] = set()
    stack = [x for x in ids if x >= 0]
    while stack:
        v = stack.pop()
        if v not in found:
            found.add(v)
            stack += [x for x in operands(body.code[v], body.blocks) if x >= 0]
    return found


def given_values(body: Func, values: Sequence[int], without: Collection[int] = ()) -> Func:
    """A copy of ``body`` with these of its values as arguments after the others, and ``without`` some."""
    copy = Func(body.name, [], UNIT)
    copy.effects = body.effects
    b = Builder(copy)
    dropped = {body.code[v][1] for v in without if body.code[v][0] == PARAM}
    args = [0 if k in dropped else b.param(t) for k, t in enumerate(body.params)]
    env = dict.fromkeys(without, 0) | {v: b.param(body.types[v]) for v in values}
    copy.blocks[0].results = Knowing(body, b, args, env).run()
    return copy


class Knowing(Replacing, Verbatim):
    """Copies a function some of whose values are known."""

    def __init__(self, func: Func, b: Builder, args: Sequence[int], known: Mapping[int, int]) -> None:
        super().__init__(func, b, args)
        self.known = known

    def instead(self, v: int) -> int | None:
        return self.known.get(v)


class _Moving(Verbatim):
    """Copies a function that computes before its loops what is the same in all turns."""

    def __init__(self, func: Func, b: Builder, args: Sequence[int], bodies: Mapping[int, _Given]) -> None:
        super().__init__(func, b, args)
        self.bodies = bodies

    def control_loop(self, v: int, ins: tuple[int, ...]) -> None:
        if v not in self.bodies:
            super().control_loop(v, ins)
            return
        b, site, made = self.b, LoopSite(self.func, ins), self.bodies[v]
        state, args, test_args = ([self.env[a] for a in x] for x in (site.state, site.args, site.test_args))
        values = ahead(b, site.body, site.spec.carries, args, made.values)
        args = [*(args[k] for k in made.kept), *values]
        self.env[v] = b.loop(site.spec, self.env[site.count], made.body, state, args, site.test, test_args)


def ahead(b: Builder, body: Func, carries: int, args: Sequence[int], values: Sequence[int]) -> list[int]:
    """Values of a loop's body that are the same in all turns, computed of the loop's arguments ``args``."""
    env: dict[int, int] = {}

    def value(x: int) -> int:
        return env[x] if x >= 0 else b.const(*body.pool[~x])

    for v in sorted(_needed(body, values)):
        op, *given = body.code[v]
        is_param = op == PARAM
        env[v] = (
            args[given[0] - carries - 1] if is_param else b.op(op, *map(value, given), type=body.types[v])
        )
    return [value(x) for x in values]
