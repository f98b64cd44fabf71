"""Loops whose iterations replace the state as a whole or leave it: the nearest so far, say, and where it is.

What is left is of the last iteration that replaced it. So the way forward only finds that iteration, and
carries of the state what the choice depends on; the rest is computed once, of that iteration. In a loop
around, each of whose lanes may have a state of numbers, it carries all of it, and only the way back computes
it once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rose_core.derivatives.iterations import AsItIs, leave, new_function, of_iteration, or_before
from rose_core.language.builder import Builder
from rose_core.language.ir import PARAM, Func, LoopSite, Spec, is_real, operands, zero_of
from rose_core.language.ops import code
from rose_core.language.queries import accumulators, is_flat
from rose_core.language.types import BOOL, REAL, Ref

_SELECT, _GT, _REAL = map(code, ("select", "gt", "real"))

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
    is_known = bool(b.open[-1]) and is_flat(body) and all(b.func.type_of(s) is REAL for s in state)
    carried = range(len(state)) if is_known else way.needed
    start = [b.real(_NONE), *(state[k] for k in carried)]
    search = b.loop(Spec(len(start), index), count, _search(body, way, carried), start, args)
    at, *last = (b.get(search, k) for k in range(len(start)))
    is_found = b.binary(_GT, at, b.real(_NONE), BOOL)
    found = last if is_known else []
    known = [b.func.type_of(x) for x in found]
    inner, params = new_function("candidate", [*known, REAL, *body.params[1 + len(state) :]])
    iteration, *given = params[len(known) :]
    inner.func.blocks[0].results = of_iteration(inner, body, way.by, iteration, given)
    return or_before(b, is_found, inner.func, [at, *args], state, found)


def _search(body: Func, way: Replacement, carried: Sequence[int]) -> Func:
    """An iteration that says which one was the last that replaced the state, as a number, and carries these
    leaves of the state."""
    carries = len(body.results)
    types = [body.params[0], REAL, *[body.params[1 + k] for k in carried]]
    b, (iteration, at, *rest) = new_function("search", [*types, *body.params[1 + carries :]])
    state = [b.const(zero_of(t), t) for t in body.params[1 : 1 + carries]]
    for k, s in zip(carried, rest, strict=False):
        state[k] = s
    leave(b.func)
    replay = AsItIs(body, b, [iteration, *state, *rest[len(carried) :]])
    ends = replay.run()
    here = b.unary(_REAL, iteration)
    sides = (here, at) if way.if_true else (at, here)
    last = b.ternary(_SELECT, replay.env[way.choice], *sides, REAL)
    b.func.blocks[0].results = [last, *(ends[k] for k in carried)]
    return b.func
