"""Loops with a state that is nothing but sums, as loops ``FOR`` of as many iterations: the last step of all.

    loop j < i, state s:  s + f(x[j])     →     for j < i:  s += f(x[j])

A triangle, such as the pairs of points, is a loop with a state, as the number of its iterations is not known
in advance. If all that an iteration does to it is to add to numbers, two iterations can run at a time
(`wasm.lanes`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rose_core.language.ir import ADD_TO, ALL, INDEX, LOOP, PARAM, REF_INDEX, Func, LoopSite
from rose_core.language.ops import EFFORT, FAILS, OPS, TABLE_END, by_name
from rose_core.language.queries import RESULT, among, param_ids, places, uses_of
from rose_core.language.replay import Replay, copied
from rose_core.language.types import REAL, is_memory
from rose_core.optimise.other_loops import OtherLoops
from rose_core.optimise.predicated import straight
from rose_core.optimise.proven import unproven
from rose_core.optimise.single import calling

_ADD, _SUB, _NEG = (by_name[name].code for name in ("add", "sub", "neg"))
_LOOPS = among([LOOP])
_PLAIN = frozenset((PARAM, INDEX, REF_INDEX, ADD_TO))

_LEAST_EFFORT = 8
"""The least work of an iteration for which it is done."""

_Terms = list[tuple[int, int]]
"""What an iteration adds to a number of the state, and takes away, in order: the operation and the value."""


def summed(f: Func) -> Func:
    """``f``, or a copy with such loops in it, and in what it calls, as loops ``FOR``.

    No other pass follows: these take a loop ``FOR`` to have as many iterations as its size says.
    """
    found = f.memo.get("summed")
    if found is None:
        found = f.memo["summed"] = _summed(calling(f, [summed(g) for g in f.callees]))
    assert isinstance(found, Func)
    return found


def _summed(f: Func) -> Func:
    """The same of a function that calls what has become of others."""
    found = {}
    for v in places(f, _LOOPS):
        site = LoopSite(f, f.code[v])
        if not site.test:
            body = straight(site.body, site.spec.trips)
            terms = _terms(site, body)
            if terms is not None:
                found[v] = body, terms
    return copied(f, _Summing, found) if found else f


def _terms(site: LoopSite, body: Func) -> list[_Terms] | None:
    """What a loop with this body adds to each number of its state, if that is all that it does."""
    spec = site.spec
    kept = body.results[spec.carries :]
    if len(body.blocks) > 1 or (kept and spec.outputs != ALL):
        return None
    effort = 0
    for op, *_ in body.code:
        if (op >= TABLE_END and op not in _PLAIN) or op in FAILS:
            return None
        if op < TABLE_END and isinstance(OPS[op].wasm, int):
            effort += EFFORT[op]
    if effort < _LEAST_EFFORT or not all(body.type_of(r) is REAL for r in body.results):
        return None
    if not (site.is_whole and spec.trips) and _reads_in_vain(body, spec.carries):
        return None
    ids, users = param_ids(body), uses_of(body)
    found = []
    for k, r in enumerate(body.results[: spec.carries]):
        terms = _added(body, ids[k + 1], r, users)
        if terms is None:
            return None
        found.append(terms)
    return found


def _reads_in_vain(body: Func, carries: int) -> bool:
    """Whether an element that is the same in all iterations may be one that is not there, if there are none:
    it would be read before the loop, also if all add to it."""
    varying: set[int] = set()
    doubtful = {*unproven(body)}
    for v, (op, *given) in enumerate(body.code):
        if op == PARAM:
            if given[0] <= carries:
                varying.add(v)
        elif not varying.isdisjoint(given):
            varying.add(v)
        elif not doubtful.isdisjoint(given):
            doubtful.add(v)
            inner = body.inner_type_of(v) if op == REF_INDEX else body.types[v]
            if op in (INDEX, REF_INDEX) and not is_memory(inner):
                return True
    return False


def _added(body: Func, x: int, result: int, users: Mapping[int, Sequence[int]]) -> _Terms | None:
    """What is added to a parameter to get a result, if nothing else is done with it."""
    terms: _Terms = []
    while x != result:
        (v, *others) = users.get(x, [RESULT])
        if others or v == RESULT:
            return None
        op, first, *rest = body.code[v]
        if op == _ADD:
            terms.append((op, rest[0] if first == x else first))
        elif op == _SUB and first == x:
            terms.append((op, rest[0]))
        else:
            return None
        x = v
    return terms if not terms or users[result] == [RESULT] else None


class _Summing(OtherLoops):
    def other_loop(
        self,
        v: int,
        site: LoopSite,
        found: tuple[Func, list[_Terms]],
        state: list[int],
        args: list[int],
    ) -> None:
        b, env, spec = self.b, self.env, site.spec
        body, sums = found
        totals = [b.accum(x) if terms else x for x, terms in zip(state, sums, strict=True)]
        iteration = b.open_for(spec.index)
        number = b.open[-1]
        inner = Replay(body, b, [iteration, *state, *args])
        results = inner.run()
        for total, terms in zip(totals, sums, strict=True):
            for op, x in terms:
                b.add_to(total, inner.env[x] if op == _ADD else b.unary(_NEG, inner.env[x]))
        loop = b.close_for(results[spec.carries :])
        block = b.blocks[number]
        block.count, block.down = None if site.is_whole else env[site.count], spec.down
        ends = [b.resolve(x) if terms else x for x, terms in zip(totals, sums, strict=True)]
        kept = [b.get(loop, k) for k in range(len(results) - spec.carries)]
        self.replaced[v] = [*ends, env[site.count], *kept]
