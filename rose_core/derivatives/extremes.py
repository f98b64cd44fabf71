"""Loops that find the least or the largest of many, before they are differentiated in reverse.

    loop i, state m:  min(m, f(i))     →     k = the iteration where f(i) is least;  m = f(k)

The derivative of such a loop is that of the one number that is found. So the way forward finds the iteration
that this is from and keeps nothing else, and the way back computes the number once more, of that iteration.
Where the least is found in several iterations, or is no number, each has its share as in `DERIVATIVES.md`:
there the loop as it was is run. In a loop around, the number before may be one of two that are the least. Of
a state that iterations replace as a whole, the iteration is the last that did (`derivatives.replaced`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from rose_core.derivatives.iterations import (
    AsItIs,
    as_it_is,
    gives_first,
    is_of_one,
    leave,
    new_function,
    of_iteration,
    or_before,
    stays_as_it_is,
)
from rose_core.derivatives.remat import may_run_again
from rose_core.derivatives.replaced import last_replaced, replaced
from rose_core.language.builder import Builder
from rose_core.language.ir import LOOP, PARAM, Func, LoopSite, Spec, operands, zero_of
from rose_core.language.ops import code
from rose_core.language.queries import opcodes, remembered, uses_of
from rose_core.language.replay import Replacing, Replay, copied
from rose_core.language.types import BOOL, REAL, Type

FEWEST_TRIPS = 4
"""The fewest iterations for which it is done."""

_MIN, _MAX, _LT, _GT, _LEQ, _GEQ = map(code, ("min", "max", "lt", "gt", "leq", "geq"))
_SELECT, _REAL = map(code, ("select", "real"))


def by_extremes(f: Func) -> Func:
    """``f``, whose loops that find the least or largest say of which iteration it is."""
    return f if not f.specs or stays_as_it_is(f) else _by_extremes(f)


@remembered
def _by_extremes(f: Func) -> Func:
    sites = {v: _site(f, ins) for v, ins in enumerate(f.code) if ins[0] == LOOP}
    ways = {v: way for v, site in sites.items() if (way := _way(site))}
    return copied(f, _ByExtremes, ways) if ways else f


Way = Callable[[Builder, LoopSite, int, list[int], list[int]], list[int]]
"""What writes the loop of a site, of this count, state and further arguments; it gives the last state."""


def is_search(f: Func, ins: tuple[int, ...]) -> bool:
    """Whether a loop finds the least or largest of what it computes."""
    site = _site(f, ins)
    return _way(site) is not None and bool(_candidates(site.body))


def _site(f: Func, ins: tuple[int, ...]) -> LoopSite:
    """The loop, of whose iterations some may be left out: they find an infinite number instead."""
    site = LoopSite(f, ins)
    site.body = _in_every_iteration(site.body)
    return site


@remembered
def _in_every_iteration(body: Func) -> Func:
    uses = uses_of(body) if _SELECT in opcodes(body) else {}
    left_out = {v: x for v in body.results if (x := _left_out(body, v, uses))}
    return copied(body, _InEveryIteration, left_out) if left_out else body


def _left_out(body: Func, v: int, uses: Mapping[int, Sequence[int]]) -> tuple[int, int] | None:
    """The state that a choice leaves in some iterations, and its other side, the least or largest of that."""
    op, *given = body.code[v] if v >= 0 else (-1,)
    if op != _SELECT or body.types[v] is not REAL:
        return None
    for s, side in (given[1:], given[:0:-1]):
        is_extreme = side >= 0 and body.code[side][0] in (_MIN, _MAX) and s in body.code[side][1:]
        if is_extreme and s >= 0 and body.code[s][0] == PARAM:
            return (s, side) if uses[side] == [v] else None
    return None


class _InEveryIteration(Replacing):
    """Copies the body of a loop whose state becomes the least or largest in every iteration."""

    def __init__(
        self, func: Func, b: Builder, args: Sequence[int], left_out: Mapping[int, tuple[int, int]]
    ) -> None:
        super().__init__(func, b, args)
        self.left_out = left_out
        """Choice → the state, and the side of the choice that is the least or largest of that."""
        self.candidates = {side: self._other(side, s) for s, side in left_out.values()}
        """Such a side → what may be less or more than the state."""
        self.others = self.candidates.keys() | left_out.keys()

    def _other(self, side: int, s: int) -> int:
        _, x, y = self.func.code[side]
        return y if x == s else x

    def instead(self, v: int) -> int:
        b, env = self.b, self.env
        if v in self.candidates:
            return env[self.candidates[v]]
        s, side = self.left_out[v]
        _, p, if_true, _ = self.func.code[v]
        op = self.func.code[side][0]
        none = b.real(_neutral(op == _MIN))
        sides = (env[side], none) if if_true == side else (none, env[side])
        return b.binary(op, env[s], b.ternary(_SELECT, env[p], *sides, REAL))


def _way(site: LoopSite) -> Way | None:
    """How to find what is left after the last iteration of a loop, if that is from one of the iterations."""
    spec, body = site.spec, site.body
    if site.test or spec.checkpoint or spec.down or len(body.results) != spec.carries or body.effects:
        return None
    if not may_run_again(body):
        return None
    if spec.trips < FEWEST_TRIPS or not 0 < spec.carries == len({*body.results}):
        return None
    if candidates := _candidates(body):
        return lambda b, site, count, state, args: _searched(b, site, candidates, count, state, args)
    if replacement := replaced(body):
        return lambda b, site, count, state, args: last_replaced(b, site, replacement, count, state, args)
    return None


def _candidates(body: Func) -> list[int]:
    """What each number of the state is the least or largest of, in every iteration; none if one is not."""
    found = []
    for k, v in enumerate(body.results):
        ins = body.code[v] if v >= 0 else (-1,)
        state = 1 + k
        is_extreme = ins[0] in (_MIN, _MAX) and state in ins[1:] and ins[1] != ins[2]
        if not is_extreme or body.types[v] is not REAL or body.code[state] != (PARAM, state):
            return []
        found.append(ins[2] if ins[1] == state else ins[1])
    results = {*body.results}
    ends = results.union(range(1, 1 + len(found)))
    for v, ins in enumerate(body.code):
        if v not in results and not ends.isdisjoint(operands(ins, body.blocks)):
            return []
    return found if ends.isdisjoint(found) else []


class _ByExtremes(Replay):
    def __init__(self, func: Func, b: Builder, args: Sequence[int], ways: Mapping[int, Way]) -> None:
        super().__init__(func, b, args)
        self.ways = ways
        """Loop → how it is written."""

    def control_loop(self, v: int, ins: tuple[int, ...]) -> None:
        if v in self.ways:
            site, env = _site(self.func, ins), self.env
            count, state, args = env[site.count], [env[x] for x in site.state], [env[x] for x in site.args]
            self.replaced[v] = [*self.ways[v](self.b, site, count, state, args), count]
        else:
            super().control_loop(v, ins)


def _searched(
    b: Builder, site: LoopSite, candidates: Sequence[int], count: int, state: list[int], args: list[int]
) -> list[int]:
    body, spec = site.body, site.spec
    least = [body.code[x][0] == _MIN for x in body.results]
    in_lanes = bool(b.open[-1])  # where each may have another number, and more state is cheap
    number = REAL if in_lanes else spec.index
    start = []
    for s, is_least in zip(state, least, strict=True):
        none = b.real(_neutral(is_least))
        start += [s, b.const(zero_of(number), number), none, *([none] if in_lanes else [])]
    iteration = _search(body, candidates, least, in_lanes)
    search = b.loop(Spec(len(start), spec.index), count, iteration, start, args)
    given = [count] if count >= 0 else []
    known = b.pool[~count][0] if count < 0 else 0.0
    results, width = [], len(start) // len(state)
    for k, (s, is_least) in enumerate(zip(state, least, strict=True)):
        found, at, second, *rest = (b.get(search, width * k + j) for j in range(width))
        less, less_or_equal = (_LT, _LEQ) if is_least else (_GT, _GEQ)
        if in_lanes:
            (best,) = rest
            is_alone = is_of_one(b, is_least, found, [s], best, b.binary(less, best, second, BOOL))
            is_found = b.binary(less_or_equal, best, s, BOOL)
        else:
            is_alone, is_found = (b.binary(less, found, x, BOOL) for x in (second, s))
        every = _every_iteration(site, [b.func.type_of(x) for x in given], known, k)
        one = _one_iteration(body, k, candidates[k], number)
        one_args, every_args = [found, is_found, s, at, *args], [found, *given, s, *args]
        results.append(b.get(b.cond(is_alone, one, one_args, every, every_args), 0))
    return results


def _neutral(is_least: bool) -> float:
    return math.inf if is_least else -math.inf


def _search(body: Func, candidates: Sequence[int], least: Sequence[bool], in_lanes: bool) -> Func:
    """An iteration whose state has some for each number: it, the iteration that it is from, the second best.

    ``in_lanes``: the iteration is a number, and the latter two are of the candidates alone, of which the best
    follows.
    """
    number = REAL if in_lanes else body.params[0]
    of_each = [REAL, number, REAL, *([REAL] if in_lanes else [])]
    width, carries = len(of_each), len(of_each) * len(candidates)
    types = [body.params[0], *of_each * len(candidates), *body.params[1 + len(candidates) :]]
    b, (iteration, *params) = new_function("search", types)
    leave(b.func)
    state, args = params[:carries], params[carries:]
    replay = AsItIs(body, b, [iteration, *state[::width], *args])
    ends = replay.run()
    here = b.unary(_REAL, iteration) if in_lanes else iteration
    for k, (candidate, is_least) in enumerate(zip(candidates, least, strict=True)):
        found, at, second, *rest = state[width * k : width * (k + 1)]
        best = rest[0] if in_lanes else found
        x, compare = replay.env[candidate], _LT if is_least else _GT
        better, next_to_it = (b.binary(compare, x, s, BOOL) for s in (best, second))
        b.func.blocks[0].results += [
            ends[k],
            b.ternary(_SELECT, better, here, at, number),
            b.ternary(_SELECT, better, best, b.ternary(_SELECT, next_to_it, x, second, REAL), REAL),
            *([b.ternary(_SELECT, better, x, best, REAL)] if in_lanes else []),
        ]
    return b.func


def _every_iteration(site: LoopSite, counts: Sequence[Type], count: float, k: int) -> Func:
    """Number ``k`` of the state after the loop as it was; of a count that is known, if none is given."""
    body = as_it_is(_alone(site.body, k))
    b, (_, *params) = new_function("every_iteration", [REAL, *counts, *body.params[1:]])
    leave(b.func)
    gives_first(b.func)
    given = params[0] if counts else b.const(count, REAL)
    s, *args = params[len(counts) :]
    b.func.blocks[0].results = [b.get(b.loop(Spec(1, site.spec.index), given, body, [s], args), 0)]
    return b.func


def _alone(body: Func, k: int) -> Func:
    """An iteration with number ``k`` of the state only: the others have no part in it."""
    carries = len(body.results)
    b, (iteration, s, *args) = new_function(body.name, [*body.params[:1], REAL, *body.params[1 + carries :]])
    state = [b.real(0.0)] * carries
    state[k] = s
    b.func.blocks[0].results = Replay(body, b, [iteration, *state, *args]).run()[k : k + 1]
    return b.func


def _one_iteration(body: Func, k: int, candidate: int, number: Type) -> Func:
    """What is found: the candidate of an iteration, if that is as good as the number before the loop."""
    rest = body.params[1 + len(body.results) :]
    types = [REAL, BOOL, REAL, number, *rest]
    b, (_, is_found, before, iteration, *args) = new_function("one_iteration", types)
    gives_first(b.func)
    inner, (s, at, *given) = new_function("candidate", [REAL, number, *rest])
    (x,) = of_iteration(inner, body, [candidate], at, given)
    inner.func.blocks[0].results = [inner.binary(body.code[body.results[k]][0], s, x, REAL)]
    b.func.blocks[0].results = or_before(b, is_found, inner.func, [before, iteration, *args], [before])
    return b.func
