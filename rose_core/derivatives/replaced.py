"""Loops whose iterations replace the state as a whole or leave it: the nearest so far, say, and where it is.

What is left is of the last iteration that replaced it. So the way forward only finds that iteration, and
carries of the state what the choice depends on; the rest is computed once, of that iteration.
"""

from __future__ import annotations

from dataclasses import dataclass

from rose_core.derivatives.iterations import AsItIs, leave, new_function, of_iteration
from rose_core.language.builder import Builder
from rose_core.language.ir import PARAM, Func, LoopSite, Spec, is_real, operands, zero_of
from rose_core.language.ops import code
from rose_core.language.queries import accumulators, is_flat
from rose_core.language.types import BOOL, REAL, Ref

_OR, _NOT, _SELECT, _GT, _REAL = map(code, ("or", "not", "select", "gt", "real"))

_NONE = -1.0
"""In place of an iteration's number, before any has replaced the state."""


@dataclass(frozen=True)
class Replacement:
    """What the body of such a loop does."""

    choice: int
    """The Bool that says whether the state is replaced."""
    if_true: bool
    """What that Bool is where the state is replaced."""
    by: list[int]
    """What takes the place of the state."""
    needed: list[int]
    """The leaves of the state that the choice depends on, by number."""


def replaced(body: Func) -> Replacement | None:
    """What the body does, if it replaces its state as a whole or leaves it."""
    state = range(1, 1 + len(body.results))
    ends = [body.code[v] if v >= 0 else (-1,) for v in body.results]
    if any(ins[0] != _SELECT or ins[1] != ends[0][1] for ins in ends) or ends[0][1] < 0:
        return None
    if any(body.code[s] != (PARAM, s) for s in state) or not any(is_real(body.params[s]) for s in state):
        return None
    if_true = ends[0][3] == 1
    by, left = (2, 3) if if_true else (3, 2)
    if any(ins[left] != s for ins, s in zip(ends, state, strict=True)):
        return None
    found = [ins[by] for ins in ends]
    choice = ends[0][1]
    results = {*body.results}
    depends = results.union(state)
    used = {choice}  # which may be a part of the state itself
    for v, ins in enumerate(body.code):
        if v in results:
            continue
        taken = operands(ins, body.blocks)
        given = depends.intersection(taken)
        if given:
            depends.add(v)
            used |= given
            for r in taken:  # what it may add to
                if r >= 0 and isinstance(body.types[r], Ref):
                    depends.update(accumulators(body, r))
    if not depends.isdisjoint(found) or not used.isdisjoint(results):
        return None
    return Replacement(choice, if_true, found, [k for k, s in enumerate(state) if s in used])


def last_replaced(
    b: Builder, site: LoopSite, way: Replacement, count: int, state: list[int], args: list[int]
) -> list[int]:
    """The last state of such a loop, of this count, first state and further arguments."""
    body, index = site.body, site.spec.index
    if b.open[-1] and is_flat(body) and all(t is REAL for t in body.params[1 : 1 + len(state)]):
        start = [b.real(_NONE), *state]
        search = b.loop(Spec(len(start), index), count, _search_in_lanes(body, way), start, args)
        at, *found = (b.get(search, k) for k in range(len(start)))
        is_found = b.binary(_GT, at, b.real(_NONE), BOOL)
        return of_iteration(b, body, way.by, is_found, state, at, args, found)
    carried = [state[k] for k in way.needed]
    start = [b.const(0, index), b.const(False, BOOL), *carried]
    search = b.loop(Spec(len(start), index), count, _search(body, way), start, args)
    iteration, is_found = b.get(search, 0), b.get(search, 1)
    return of_iteration(b, body, way.by, is_found, state, iteration, args)


def _search_in_lanes(body: Func, way: Replacement) -> Func:
    """An iteration of a loop in another one, each of whose lanes may have a state of its own, of numbers: the
    iteration as it was, which also says which one was the last that replaced the state."""
    b, (iteration, last, *rest) = new_function("search", [body.params[0], REAL, *body.params[1:]])
    leave(b.func)
    replay = AsItIs(body, b, [iteration, *rest])
    ends = replay.run()
    sides = (b.unary(_REAL, iteration), last)
    at = b.ternary(_SELECT, replay.env[way.choice], *(sides if way.if_true else sides[::-1]), REAL)
    b.func.blocks[0].results = [at, *ends]
    return b.func


def _search(body: Func, way: Replacement) -> Func:
    """An iteration that says which was the last one that replaced the state, and if there was one."""
    carries = len(body.results)
    types = [body.params[0], body.params[0], BOOL, *[body.params[1 + k] for k in way.needed]]
    b, (iteration, last, is_found, *rest) = new_function("search", [*types, *body.params[1 + carries :]])
    state = [b.const(zero_of(t), t) for t in body.params[1 : 1 + carries]]
    for k, s in zip(way.needed, rest, strict=False):
        state[k] = s
    leave(b.func)
    replay = AsItIs(body, b, [iteration, *state, *rest[len(way.needed) :]])
    ends = replay.run()
    choice = replay.env[way.choice]
    if not way.if_true:
        choice = b.unary(_NOT, choice, BOOL)
    b.func.blocks[0].results = [
        b.ternary(_SELECT, choice, iteration, last, body.params[0]),
        b.binary(_OR, is_found, choice, BOOL),
        *(ends[k] for k in way.needed),
    ]
    return b.func
