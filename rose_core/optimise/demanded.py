"""Results of choices and loops that nobody uses, left out of these once all derivatives are made.

    value, tape = cond(p, f, g);  use(tape)     →     tape = cond(p, f', g');  use(tape)

A gradient needs what its forward pass keeps, and seldom the value. What a function does not need of its own
is never computed (`language.demand`); but the side of a choice, or the body of a loop, gives several results,
of which the function around may use few. So here these give less, and get less: of a loop's state there is
left what is used after the loop, and what that is computed of, iteration by iteration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count

from rose_core.language.builder import Builder
from rose_core.language.demand import Demand
from rose_core.language.ir import (
    ALL,
    CALL,
    COND,
    LOOP,
    PARAM,
    CondSite,
    Func,
    LoopSite,
    Spec,
    callees,
    result_count,
)
from rose_core.language.queries import opcodes, remembered
from rose_core.language.replay import Replay
from rose_core.language.types import UNIT

_MOST_ROUNDS = 4
"""How often it is tried whether what is known to be needed of a loop's state is enough for itself."""


@dataclass(frozen=True, slots=True)
class _Site:
    """What choices between the same functions, or loops with the same body, become."""

    functions: list[Func]
    """The sides of the choice; or the body of the loop, and the test if there is one."""
    params: list[list[int]]
    """Which arguments the sides still get; or what is left of the state, and the other arguments."""
    places: dict[int, int]
    """The results that are left: number before → number now."""
    spec: Spec | None = None


def demanded(f: Func) -> Func:
    """``f``, which asks for no derivatives, or a copy whose choices and loops give what is used of them."""
    return _least(f, range(len(f.results)), range(len(f.params)))


def _least(f: Func, results: Sequence[int], params: Sequence[int]) -> Func:
    """``f`` with these of its results and parameters; itself if there is nothing to leave out."""
    is_whole = len(results) == len(f.results) and len(params) == len(f.params)
    if f.host or (is_whole and opcodes(f).isdisjoint((CALL, COND, LOOP))):
        return f
    key = "least", f.extent, tuple(results), tuple(params)
    found = f.memo.get(key)
    if found is None:
        found = _made(f, results, params, is_whole)
        f.memo[key] = found if found is not f else _ITSELF
    return found if isinstance(found, Func) else f


_ITSELF = "itself"
"""In place of a function, which would else be freed late."""


def _made(f: Func, results: Sequence[int], params: Sequence[int], is_whole: bool) -> Func:
    for k in {ins[1] for ins in f.code if ins[0] == CALL}:
        is_whole = demanded(f.callees[k]) is f.callees[k] and is_whole
    if is_whole and opcodes(f).isdisjoint((COND, LOOP)):
        return f
    given = [f.results[k] for k in results]
    demand = Demand(f, given)
    needed = bytearray(map(bool, demand.uses))
    for v in chain.from_iterable(demand.anchors):
        needed[v] = 1
    sites: dict[tuple[int, ...], _Site] = {}
    for key, (first, used) in _used(f, needed, demand.columns).items():
        become = _choice if key[0] == COND else _loop
        site = sites[key] = become(f, first, sorted(used))
        is_whole = is_whole and {f.callees[k] for k in callees(first)}.issuperset(site.functions)
    if is_whole:
        return f
    copy = Func(f.name, f.param_types, f.ret if len(results) == len(f.results) else UNIT)
    copy.param_names = f.param_names
    b = Builder(copy)
    args = [0] * len(f.params)
    for k in params:
        args[k] = b.param(f.params[k])
    replay = _Least(f, b, args, needed, demand.columns, sites)
    replay.block(0)
    copy.blocks[0].results = [replay.env[v] for v in given]
    copy.stand_for(f)
    return copy


def _used(
    f: Func, needed: Sequence[int], columns: Mapping[int, Mapping[int, int]]
) -> dict[tuple[int, ...], tuple[tuple[int, ...], set[int]]]:
    """By what choices and loops have in common: the first such instruction, and what is used of any."""
    found: dict[tuple[int, ...], tuple[tuple[int, ...], set[int]]] = {}
    for v, ins in enumerate(f.code):
        if ins[0] in (COND, LOOP) and needed[v]:
            _, used = found.setdefault(_common(ins), (ins, set()))
            is_host = any(f.callees[k].host for k in callees(ins))
            used.update(range(result_count(f, v)) if is_host else columns.get(v, ()))
    return found


def _common(ins: tuple[int, ...]) -> tuple[int, ...]:
    """What choices have in common that are between the same functions, and loops with the same body."""
    return ins[:4]


@remembered
def _needed(f: Func) -> set[int]:
    """The parameters that ``f`` needs."""
    if f.host:
        return {*range(len(f.params))}
    uses = Demand(f).uses
    return {ins[1] for v, ins in enumerate(f.code) if ins[0] == PARAM and uses[v]}


def _choice(f: Func, ins: tuple[int, ...], used: list[int]) -> _Site:
    sides = [_least(side, used, range(len(side.params))) for side in CondSite(f, ins).functions]
    params = [sorted(_needed(side)) for side in sides]
    functions = [_least(side, range(len(used)), left) for side, left in zip(sides, params, strict=True)]
    return _Site(functions, params, {k: n for n, k in enumerate(used)})


def _loop(f: Func, ins: tuple[int, ...], used: list[int]) -> _Site:
    loop = LoopSite(f, ins)
    n, spec, body, test = loop.spec.carries, loop.spec, loop.body, loop.test
    kept = [k - 1 for k in used if k > n]
    state = {k for k in used if k < n}
    if test:
        state |= {k for k in _needed(test) if k < n}
    for rounds in count(1):
        live = sorted(state)
        least = _least(body, [*live, *kept], range(len(body.params)))
        needed = _needed(least)
        if state.issuperset(more := {k - 1 for k in needed if 0 < k <= n}):
            break
        state = state | more if rounds < _MOST_ROUNDS else {*range(n)}
    others = [k for k in range(n + 1, len(body.params)) if k in needed]
    functions = [_least(least, range(len(live) + len(kept)), [0, *(k + 1 for k in live), *others])]
    if test:
        functions.append(_least(test, [0], [*live, *range(n, len(test.params))]))
    outputs = ALL if spec.outputs == ALL else sum(k - n < spec.outputs for k in kept)
    places = {k: at for at, k in enumerate([*live, n, *(k + 1 for k in kept)])}
    params = [live, [k - n - 1 for k in others]]
    return _Site(functions, params, places, replace(spec, carries=len(live), outputs=outputs))


class _Least(Replay):
    """Copies what is needed of a function."""

    def __init__(
        self,
        func: Func,
        b: Builder,
        args: Sequence[int],
        needed: Sequence[int],
        columns: Mapping[int, Mapping[int, int]],
        sites: Mapping[tuple[int, ...], _Site],
    ) -> None:
        super().__init__(func, b, args)
        self.needed = needed
        self.columns = columns
        self.sites = sites

    def block(self, number: int) -> None:
        self.sequence([v for v in self.func.blocks[number].order if self.needed[v]])

    def call(self, v: int, callee: Func, args: Sequence[int]) -> None:
        super().call(v, demanded(callee), args)

    def loop(self, v: int, number: int) -> None:
        block = self.iteration(number)
        used = sorted(self.columns.get(v, ()))
        made = self.b.close_for([self.env[block.results[k]] for k in used])
        self._gives(v, made, {k: at for at, k in enumerate(used)})

    def cond(self, v: int, ins: tuple[int, ...]) -> None:
        choice, site = CondSite(self.func, ins), self.sites[_common(ins)]
        (f, g), (f_args, g_args) = site.functions, self._left(site, *choice.args)
        self._gives(v, self.b.cond(self.env[choice.p], f, f_args, g, g_args), site.places)

    def control_loop(self, v: int, ins: tuple[int, ...]) -> None:
        loop, site = LoopSite(self.func, ins), self.sites[_common(ins)]
        state, args = self._left(site, loop.state, loop.args)
        test_args = [self.env[x] for x in loop.test_args]
        assert site.spec
        (body, *test), times = site.functions, self.env[loop.count]
        made = self.b.loop(site.spec, times, body, state, args, test[0] if test else None, test_args)
        self._gives(v, made, site.places)

    def _left(self, site: _Site, *args: Sequence[int]) -> list[list[int]]:
        """What is left of the arguments, in the copy."""
        return [[self.env[x[k]] for k in left] for x, left in zip(args, site.params, strict=True)]

    def _gives(self, v: int, made: int, places: Mapping[int, int]) -> None:
        """Have ``made`` give the results of ``v`` that are used."""
        self.env[v] = made
        found = self.replaced[v] = [0] * (1 + max(places, default=-1))
        for k in self.columns.get(v, ()):
            found[k] = self.b.get(made, places[k])
