"""The backward pass of control flow (see `derivatives.linearize_control` for the forward pass).

A choice goes back through the side that was taken: a choice on the same condition between the backward
functions of both, of which each gives zero for what only the other one uses. Where many choices are in each
other, what all keep would go through each of them: every so many levels it is computed again in their place.

A loop goes back through its iterations, from the last to the first: a loop, with as many iterations as there
were, whose state is the cotangent of the state and a sum for each scalar argument of the body. Cotangents of
arrays that the body takes as arguments go to accumulators that all iterations add to, but for those of
elements that are the same in all (`promoted`). The tape of an iteration, and the state before it as far as it
is needed, are read from what the forward pass kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rose_core.derivatives.adapt import Ids, adapted, inlined
from rose_core.derivatives.kept import numbers_in
from rose_core.derivatives.linearize_control import Column, Iterations, TakenSide
from rose_core.derivatives.promoted import promoted
from rose_core.derivatives.settled import settled
from rose_core.derivatives.updates import chains, is_worth_it, restorable
from rose_core.language.builder import Builder
from rose_core.language.ir import CondSite, Func, LoopSite, Spec
from rose_core.language.ops import code
from rose_core.language.queries import takes_accumulators
from rose_core.language.types import REAL, RUN, UNIT, Ref, Type, array, real, ref
from rose_core.optimise.outside import has_trips

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rose_core.derivatives.known import Limits
    from rose_core.derivatives.tape import Backward
    from rose_core.derivatives.transpose import Reverse

_ADD, _MUL = code("add"), code("mul")


_MOST_LEVELS, _SHORT_TAPE = 16, 64
"""What so many choices in each other keep may be handed on from each to the next, and in any case so much."""


# -- choices ------------------------------------------------------------------------------------------------


def cond(reverse: Reverse, v: int, site: CondSite, taken: TakenSide) -> None:
    """The transpose of a ``COND``."""
    cotangents = reverse.outputs.pop(v, {})
    given = [reverse.given(args, f.params) for f, args in zip(site.functions, site.args, strict=True)]
    if not cotangents and not any(given):
        return
    f, g = taken.sides
    restored = _restored_in_sides(reverse, v, site, taken)
    backward: list[Backward] = []
    for side, args, behind in zip(taken.sides, site.args, given, strict=True):
        results = tuple(k for k in sorted(cotangents) if side.active_results[k])
        refs = tuple(sorted(behind))
        backward.append(side.backward(results, refs, reverse.limits(args), tuple(restored)))
        f.align(g)
        g.align(f)
    demanded = {k for back in backward for k in back.demanded}
    after = {
        k: reverse.versions.after(_result(reverse, v, taken.position(k)), k in demanded) for k in restored
    }
    targets = [[args[k] for k in back.outputs] for back, args in zip(backward, site.args, strict=True)]
    union = [*targets[0], *targets[1]]
    functions = []
    for back, first in zip(backward, (True, False), strict=True):
        key = back.func, len(targets[0]), len(targets[1]), first
        placed = taken.placed.get(key)
        functions.append(placed or taken.placed.setdefault(key, _placed(*key)))
    again = None if restored else _again(reverse, site, taken, backward)

    def tape(k: int) -> int:
        return reverse.fetch(_result(reverse, v, k)) if again is None else reverse.b.get(again, k)

    passed = [
        reverse.passed(back, args, cotangents, behind, tape, after.__getitem__)
        for back, args, behind in zip(backward, site.args, given, strict=True)
    ]
    result = reverse.b.cond(reverse.value(site.p), functions[0], passed[0], functions[1], passed[1])
    for j, x in enumerate(union):
        reverse.contribute(x, 1, reverse.b.get(result, j))
    for j, x in enumerate(restored.values(), len(union)):
        reverse.versions.give_back(x, reverse.b.get(result, j))


def _again(reverse: Reverse, site: CondSite, taken: TakenSide, backward: list[Backward]) -> int | None:
    """The forward pass of a choice, run in the backward pass, if a tape would be handed on too often."""
    taken.levels = 1 + max(side.levels for side in taken.sides)
    tape = sum(kind == "tape" for back in backward for kind, _ in back.sources)
    if not reverse.boundary or taken.levels < _MOST_LEVELS or tape < _SHORT_TAPE:
        return None
    passed = []
    for side, args in zip(taken.sides, site.args, strict=True):
        if side.fwd.effects or takes_accumulators(side.fwd):
            return None
        passed.append([reverse.value(a) for a, takes in zip(args, side.takes, strict=True) if takes])
    taken.levels = 0
    first, second = taken.sides
    return reverse.b.cond(reverse.value(site.p), first.fwd, passed[0], second.fwd, passed[1])


def _restored_in_sides(reverse: Reverse, v: int, site: CondSite, taken: TakenSide) -> dict[int, int]:
    """The results whose updates both sides are to take back, each with the array that they update."""
    found = {}
    for k in chains(site.functions[0]):
        updated = [side.updated(k) for side in taken.sides]
        if min(updated) < 0 or _result(reverse, v, taken.position(k)) not in reverse.versions.result:
            continue
        given = {args[n] for n, args in zip(updated, site.args, strict=True)}
        if len(given) == 1:
            found[k] = given.pop()
    return found


def _result(reverse: Reverse, v: int, at: int) -> int:
    """A result of a choice or loop of the forward pass."""
    return reverse.fb.get(reverse.lin.env[v], at)


def _placed(f: Func, before: int, after: int, first: bool) -> Func:
    """``f``, whose cotangents stand before, or else behind, zeros in the place of the other side's."""

    def results(b: Builder, ids: Ids) -> Ids:
        own = before if first else after
        zeros = [b.real(0.0)] * (after if first else before)
        ids, arrays = ids[:own], ids[own:]
        return [*ids, *zeros, *arrays] if first else [*zeros, *ids, *arrays]

    return f if not (after if first else before) else adapted(f, f.params, results=results)


# -- loops --------------------------------------------------------------------------------------------------


def loop(reverse: Reverse, v: int, site: LoopSite, iterations: Iterations) -> None:
    """The transpose of a ``LOOP``."""
    cotangents = reverse.outputs.pop(v, {})
    spec, body = site.spec, iterations.body
    args = [0, *site.state, *site.args]
    given = reverse.given(args[1:], site.body.params[1:])
    if not cotangents and not given:
        return
    b = reverse.b
    active = [k for k in range(spec.carries) if iterations.varying[k]]
    kept = [k - 1 for k in cotangents if k > spec.carries and body.active_results[k - 1]]
    results = [k for k in active if body.active_results[k]] + sorted(kept)
    back, restored = _back(reverse, v, site, iterations, tuple(results), tuple(k + 1 for k in sorted(given)))
    made = _BackwardBody(iterations, back, spec, active, restored)
    start = []
    for k in active:
        t = real(site.body.params[1 + k])
        start.append(cotangents.get(k, b.const(0.0, t)))
    start += [b.real(0.0)] * len(made.sums)
    for k in restored:
        start.append(reverse.versions.after(_result(reverse, v, iterations.position(k)), k in back.demanded))
    passed = []
    for kind, k in made.sources:
        if kind == "kept cotangent":
            passed.append(cotangents[k + 1])
        elif kind == "tape":
            passed.append(reverse.fetch(_result(reverse, v, k + 1)))
        elif kind == "arg":
            passed.append(reverse.value(args[k]))
        elif kind == "given":
            passed.append(given[k - 1])
        else:
            passed.append(reverse.ref(args[k]))
    count = reverse.value(site.count)
    if site.test:
        count = reverse.fetch(_result(reverse, v, iterations.kept_carries))
    more = promoted(made.func, len(start), has_trips(reverse.func, site))
    state = start if more is None else [*start, *(b.real(0.0) for _ in more.elements)]
    new = Spec(len(state), spec.index, down=not spec.down)
    result = b.loop(new, count, more.body if more else made.func, state, passed)
    for j, place in enumerate(more.places(b, [0, *start, *passed]) if more else (), len(start)):
        b.add_to(place, b.get(result, j))
    for j, k in enumerate(active):
        reverse.contribute_any(site.state[k], b.get(result, j))
    for j, k in enumerate(made.sums, len(active)):
        reverse.contribute(args[k], 1, b.get(result, j))
    for j, k in enumerate(restored, len(active) + len(made.sums)):
        reverse.versions.give_back(site.state[k], b.get(result, j))


def _back(
    reverse: Reverse,
    v: int,
    site: LoopSite,
    iterations: Iterations,
    results: tuple[int, ...],
    refs: tuple[int, ...],
) -> tuple[Backward, tuple[int, ...]]:
    """The backward function of an iteration, and the leaves of the state whose updates it takes back.

    These are the ones of which somebody needs an earlier version; whether the body does, it tells itself.
    """
    asked = {k for k in restorable(site) if iterations.body.updated(k) == 1 + k}
    needed = {k for k in asked if _result(reverse, v, iterations.position(k)) in reverse.versions.result}
    limits = _limits(reverse, site)
    key = results, refs, limits, *sorted(needed)
    # loops around this one ask again for the same, and those around them again: it is found out once
    restored = iterations.restored.get(key)
    if restored is None:
        restored = {k for k in asked if k in needed or is_worth_it(site, k)}
    while True:
        before = iterations.body.asked() if restored - needed else []
        back = iterations.body.backward(results, refs, limits, tuple(sorted(restored)))
        if restored <= needed | back.demanded:
            iterations.restored[key] = restored
            return back, tuple(sorted(restored))
        restored = restored & (needed | back.demanded)
        iterations.body.forget(before)


def _limits(reverse: Reverse, site: LoopSite) -> Limits:
    """Parameter of the body of a loop → how many numbers an iteration may keep in its place."""
    found = {k: numbers_in(t) for k, t in enumerate(site.body.params[: 1 + site.spec.carries])}
    iterations = reverse.func.pool[~site.count][0] if site.count < 0 else 0
    if iterations:
        for k, a in enumerate(site.args, 1 + site.spec.carries):
            found[k] = reverse.limit(a) // int(iterations)
    return tuple((k, limit) for k, limit in found.items() if limit > 1)


def column(reverse: Reverse, v: int, made: Column) -> None:
    """The transpose of a ``LOOP`` whose Jacobian is known."""
    for k, c in reverse.outputs.pop(v, {}).items():
        tangent = made.tangents[k]
        if tangent is not None:
            reverse.contribute(made.source, 1, reverse.b.op(_MUL, c, reverse.fetch(tangent)))


class _BackwardBody:
    """The body of a backward loop: from the cotangent after an iteration to that before it.

    Its parameters are the number of the iteration, the cotangents of the active leaves of the state, the
    sums, the leaves of the state whose updates it takes back, and then what ``sources`` says: the array of
    cotangents of a kept value, the tape of a result of the forward function, an argument of the body, the
    cotangent behind an accumulator among these, or the accumulator of an argument's cotangent.
    """

    def __init__(
        self, iterations: Iterations, back: Backward, spec: Spec, active: list[int], restored: Sequence[int]
    ) -> None:
        self.body = body = iterations.body
        self.index = iterations.index
        self.spec = spec
        self.func = Func(back.func.name, [], UNIT)
        self.b = b = Builder(self.func)
        self.sources: list[tuple[str, int]] = []
        self._params: dict[tuple[str, int], int] = {}
        self.sums = [k for k in back.outputs if k > spec.carries]
        """The scalar arguments of the body that the loop sums up cotangents for."""
        types = body.func.params
        self.iteration = b.param(spec.index)
        cotangents = {k: b.param(real(types[1 + k])) for k in active}
        sums = [b.param(REAL) for _ in self.sums]
        arrays = {k: b.param(types[1 + k]) for k in restored}
        refs: dict[int, int] = {}
        plan = [self._plan(kind, k) for kind, k in back.sources]
        for source in plan:  # all parameters before anything else
            if source and source not in self._params:
                self._params[source] = b.param(self._type(*source))
                self.sources.append(source)
        passed = []
        for (kind, k), source in zip(back.sources, plan, strict=True):
            if source is None:
                if kind == "cotangent":
                    passed.append(cotangents[k])
                elif kind == "after":
                    passed.append(arrays[k])
                elif kind == "arg":
                    passed.append(self.iteration)
                else:
                    refs[k] = b.accum(b.const(0.0, real(types[k])))
                    passed.append(refs[k])
            elif source[0] in ("kept cotangent", "tape"):
                passed.append(b.index(self._params[source], self.iteration))
            else:
                passed.append(self._params[source])
        found = inlined(b, back.func, passed)
        results = dict(zip(back.outputs, found, strict=False))
        after = []
        for k in active:
            if k + 1 in refs:
                after.append(b.resolve(refs[k + 1]))
            else:
                after.append(results.get(k + 1, b.const(0.0, real(types[1 + k]))))
        after += [b.op(_ADD, s, results[k]) for s, k in zip(sums, self.sums, strict=True)]
        after += found[len(back.outputs) :]
        self.func.blocks[0].results = after
        self.func.effects = back.func.effects
        self.func = settled(self.func)

    def _plan(self, kind: str, k: int) -> tuple[str, int] | None:
        """Where from outside a parameter of the backward function comes; None: it is made in the loop."""
        carries = self.spec.carries
        if kind == "cotangent":
            return None if k < carries else ("kept cotangent", k)
        if kind == "arg" and 0 < k <= carries:
            return "tape", self.body.keep_arg(k)
        if kind == "after" or (kind == "arg" and k == 0) or (kind == "ref" and k <= carries):
            return None
        return kind, k

    def _type(self, kind: str, k: int) -> Type:
        body = self.body
        if kind == "tape":
            return array(self.index, body.fwd.type_of(body.fwd.results[k]))
        if kind == "kept cotangent":
            t = real(body.func.result_types[k])
            return array(self.spec.index if self.spec.is_output(k - self.spec.carries) else RUN, t)
        t = real(body.func.params[k])
        if kind == "given":
            assert isinstance(t, Ref)
            return t.inner
        return ref(t) if kind == "ref" else t
