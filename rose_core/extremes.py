"""Loops that find the least or the largest of many, before they are differentiated in reverse.

The derivative of such a loop is that of the one number that is found. So the way forward also finds the turn
that it is from, keeps nothing else, and the number is computed once more, of that turn. Where it is found in
several turns, or is no number, each has its share as in `DERIVATIVES.md`: there the loop as it was is run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rose_core.builder import Builder
from rose_core.ir import LOOP, PARAM, Func, LoopSite, Spec, operands
from rose_core.ops import code
from rose_core.replay import Replay, copied
from rose_core.types import BOOL, REAL, UNIT, Fin, Type

FEWEST_TURNS = 4
"""The fewest turns for which it is done."""

_MIN, _MAX, _LT, _GT, _SELECT = map(code, ("min", "max", "lt", "gt", "select"))
_MARK = "every turn"
"""In the memo of a function whose loops stay as they are."""


def by_extremes(f: Func) -> Func:
    """``f``, whose loops that find the least or largest say of which turn it is."""
    if not f.specs or _MARK in f.memo:
        return f
    key = "extremes", f.extent
    found = f.memo.get(key)
    if found is None:
        sites = {v: LoopSite(f, ins) for v, ins in enumerate(f.code) if ins[0] == LOOP}
        chosen = {v: candidates for v, site in sites.items() if (candidates := _candidates(site))}
        found = copied(f, lambda b, args: _ByExtremes(f, b, args, chosen)) if chosen else f
        f.memo[key] = found
    assert isinstance(found, Func)
    return found


def _candidates(site: LoopSite) -> list[int]:
    """What each number of the state is the least or largest of, in every turn; none if one is not."""
    spec, body = site.spec, site.body
    if site.test or spec.checkpoint or spec.down or len(body.results) != spec.carries or body.effects:
        return []
    assert isinstance(spec.index, Fin)
    if spec.index.size < FEWEST_TURNS or len({*body.results}) < spec.carries:
        return []
    found = []
    for k, v in enumerate(body.results):
        ins = body.code[v] if v >= 0 else (-1,)
        state = 1 + k
        is_extreme = ins[0] in (_MIN, _MAX) and state in ins[1:] and ins[1] != ins[2]
        if not is_extreme or body.types[v] is not REAL or body.code[state] != (PARAM, state):
            return []
        found.append(ins[2] if ins[1] == state else ins[1])
    ends = {*body.results, *range(1, 1 + spec.carries)}
    for v, ins in enumerate(body.code):
        if v not in body.results and not ends.isdisjoint(operands(ins, body.blocks)):
            return []
    return found if ends.isdisjoint(found) else []


class _ByExtremes(Replay):
    def __init__(self, func: Func, b: Builder, args: Sequence[int], chosen: dict[int, list[int]]) -> None:
        super().__init__(func, b, args)
        self.chosen = chosen
        """Loop → what its state is the least or largest of."""
        self.results: dict[int, list[int]] = {}

    def control_loop(self, v: int, ins: tuple[int, ...]) -> None:
        if v not in self.chosen:
            super().control_loop(v, ins)
            return
        b, env, site = self.b, self.env, LoopSite(self.func, ins)
        count = env[site.count]
        state, args = [env[x] for x in site.state], [env[x] for x in site.args]
        body, candidates, index = site.body, self.chosen[v], site.spec.index
        least = [body.code[x][0] == _MIN for x in body.results]
        start = []
        for s, is_least in zip(state, least, strict=True):
            start += [s, b.const(0, index), b.const(math.inf if is_least else -math.inf, REAL)]
        search = b.loop(Spec(len(start), index), count, _search(body, candidates, least), start, args)
        given = [count] if count >= 0 else []
        self.results[v] = []
        for k, s in enumerate(state):
            found, turn, second = (b.get(search, 3 * k + j) for j in range(3))
            compare = _LT if least[k] else _GT
            is_alone, is_found = (b.binary(compare, found, x, BOOL) for x in (second, s))
            every = _every_turn(site, [b.func.type_of(x) for x in given], b.pool[~count][0], k)
            one = _one_turn(body, candidates[k], index)
            choice = b.cond(is_alone, one, [is_found, s, turn, *args], every, [*given, *state, *args])
            self.results[v].append(b.get(choice, 0))
        self.results[v].append(count)

    def get(self, v: int, of: int, k: int) -> None:
        if of in self.results:
            self.env[v] = self.results[of][k]
        else:
            super().get(v, of, k)


def _part(name: str, types: Sequence[Type]) -> tuple[Builder, list[int]]:
    """A function without a body, and its parameters."""
    b = Builder(Func(name, types, UNIT))
    return b, [b.param(t) for t in types]


def _search(body: Func, candidates: Sequence[int], least: Sequence[bool]) -> Func:
    """A turn with a state of three for each number: it, the turn that it is from, and the next to it."""
    types = [body.params[0], *[t for _ in candidates for t in (REAL, body.params[0], REAL)]]
    rest = body.params[1 + len(candidates) :]
    b, (turn, *params) = _part("search", [*types, *rest])
    state, args = params[: 3 * len(candidates)], params[3 * len(candidates) :]
    replay = Replay(body, b, [turn, *state[::3], *args])
    ends = replay.run()
    for k, (candidate, is_least) in enumerate(zip(candidates, least, strict=True)):
        s, at, second = state[3 * k : 3 * k + 3]
        x = replay.env[candidate]
        better = b.binary(_LT if is_least else _GT, x, s, BOOL)
        next_to_it = b.binary(_MIN if is_least else _MAX, second, x, REAL)
        b.func.blocks[0].results += [
            ends[k],
            b.ternary(_SELECT, better, turn, at, body.params[0]),
            b.ternary(_SELECT, better, s, next_to_it, REAL),
        ]
    return b.func


def _every_turn(site: LoopSite, counts: Sequence[Type], count: float, k: int) -> Func:
    """Number ``k`` of the state after the loop as it was; of a count that is known, if none is given."""
    body, carries = site.body, site.spec.carries
    b, params = _part("every_turn", [*counts, *body.params[1:]])
    b.func.memo[_MARK] = True
    given = params[0] if counts else b.const(count, REAL)
    state, args = params[len(counts) :][:carries], params[len(counts) + carries :]
    b.func.blocks[0].results = [b.get(b.loop(site.spec, given, body, state, args), k)]
    return b.func


def _one_turn(body: Func, candidate: int, index: Type) -> Func:
    """What is found: the candidate of a turn, or the number that there was before, if none is better."""
    carries = len(body.results)
    rest = body.params[1 + carries :]
    b, (is_found, before, turn, *args) = _part("one_turn", [BOOL, REAL, index, *rest])
    inner, (at, *given) = _part("candidate", [index, *rest])
    replay = Replay(body, inner, [at, *[inner.const(0.0, REAL)] * carries, *given])
    replay.run()
    inner.func.blocks[0].results = [replay.env[candidate]]
    same, kept = _part("before", [REAL])
    same.func.blocks[0].results = kept
    choice = b.cond(is_found, inner.func, [turn, *args], same.func, [before])
    b.func.blocks[0].results = [b.get(choice, 0)]
    return b.func
