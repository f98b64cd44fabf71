"""Checkpoints: less memory for reverse mode, at the price of computing again.

Of a function that is marked, the forward pass keeps nothing but the arguments; the backward pass runs
its forward function again and then its backward function. So what `checkpoint` says of a loop, to keep
the state of every so many iterations only, is a loop of marked functions, of which each runs a loop.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import replace

from rose_core.derivatives.adapt import Ids, adapted
from rose_core.derivatives.known import Request
from rose_core.derivatives.linearize_control import is_dual
from rose_core.derivatives.tape import Asked, Backward, Transposed
from rose_core.language import ops
from rose_core.language.builder import COUNT, Builder
from rose_core.language.ir import Func, LoopSite, Spec
from rose_core.language.queries import takes_accumulators
from rose_core.language.types import UNIT, Fin, Type

_REAL, _CEIL, _DIV, _INDEX = map(ops.code, "real ceil div index".split())
_MUL, _ADD, _SUB, _MIN = map(ops.code, "imul iadd isub imin".split())


def may_run_again(f: Func) -> bool:
    """Whether running ``f`` twice is the same as running it once: it adds to nothing around it."""
    return not takes_accumulators(f)


class Recomputed(Transposed):
    """A function in reverse that keeps nothing; ``inner`` is the same without that."""

    levels = 0

    def __init__(self, inner: Transposed) -> None:
        self.inner = inner
        self.func, self.varying, self.takes, self.args = inner.func, inner.varying, inner.takes, inner.args
        self.result_at, self.active_results = inner.result_at, inner.active_results
        self.primal_count = count = inner.primal_count
        func = self.func
        if inner.body is func and not is_dual(func):
            self.fwd = adapted(func, func.params)
        else:
            self.fwd = adapted(inner.fwd, inner.fwd.params, results=lambda _, ids: ids[:count])
        self._builder = Builder(self.fwd)
        self._kept, self._empty, self.done = {}, defaultdict(deque), {}

    @property
    def is_outgrown(self) -> bool:
        return self.inner.is_outgrown

    def updated(self, k: int) -> int:
        return -1

    def asked(self) -> list[Asked]:
        return []  # whatever it is asked, it keeps its arguments

    def _make(self, request: Request) -> Backward:
        results, refs, *_ = request
        inner = self.inner
        back = inner.backward(results, refs)
        if all(kind != "tape" for kind, _ in back.sources):
            return back  # it needs nothing of the forward function, which need not run again
        func = Func(f"again_{self.func.name}", [], UNIT)
        b = Builder(func)
        sources = [("arg", k) for k in inner.args]
        args = [b.param(t) for t in inner.fwd.params]
        given: dict[tuple[str, int], int] = dict(zip(sources, args, strict=True))
        for source, t in zip(back.sources, back.func.params, strict=True):
            if source[0] != "tape" and source not in given:
                given[source] = b.param(t)
                sources.append(source)
        call = b.call(inner.fwd, args)
        passed = [given[kind, k] if kind != "tape" else b.get(call, k) for kind, k in back.sources]
        done = b.call(back.func, passed)
        func.blocks[0].results = [b.get(done, j) for j in range(len(back.outputs))]
        return Backward(func, sources, back.outputs)


# -- loops ----------------------------------------------------------------------------------------------


def segmented(
    b: Builder,
    site: LoopSite,
    count: int,
    state: Ids,
    args: Ids,
    test_args: Ids,
    expand: Callable[[Func], Func],
) -> int:
    """A ``LOOP`` with checkpoints as a loop of loops, in ``b``; its state is the same."""
    spec, distance = site.spec, site.spec.checkpoint
    body, test = expand(site.body), expand(site.test) if site.test else None
    segments = b.unary(_REAL, count)
    segments = b.unary(_CEIL, b.binary(_DIV, segments, b.real(float(distance))))
    # a whole number of iterations, so that no note is ever needed
    number = b.ternary(_INDEX, segments, b.const(COUNT.size, COUNT), b.const(0, COUNT), COUNT)
    iteration = _segment(spec, body, test, [b.func.type_of(x) for x in (*state, *args, *test_args, count)])
    outer = Spec(spec.carries, COUNT, must_end=spec.must_end, note=spec.note)
    return b.loop(outer, number, iteration, state, [*args, *test_args, count], test, test_args)


def _segment(spec: Spec, body: Func, test: Func | None, types: list[Type]) -> Func:
    """A segment: a function of its number, the state, what body and test get, and the trip count of all."""
    func = Func(f"turns_{body.name}", [], UNIT)
    b = Builder(func)
    number = b.param(COUNT)
    *given, count = [b.param(t) for t in types]
    end = len(body.params) - 1
    state, args, test_args = given[: spec.carries], given[spec.carries : end], given[end:]
    distance = b.const(spec.checkpoint, COUNT)
    first = b.binary(_MUL, number, distance, COUNT)
    trips = b.binary(_MIN, distance, b.binary(_SUB, count, first, COUNT), COUNT)

    def numbered(inner: Builder, ids: Ids) -> Ids:
        assert isinstance(spec.index, Fin)
        i = inner.binary(_ADD, ids[0], ids[-1], COUNT)
        return [inner.narrow(i, spec.index), *ids[1:-1]]

    iteration = adapted(body, [COUNT, *body.params[1:], COUNT], numbered)
    inner = replace(spec, index=COUNT, must_end=False, checkpoint=0)
    loop = b.loop(inner, trips, iteration, state, [*args, first], test, test_args)
    func.blocks[0].results = [b.get(loop, k) for k in range(spec.carries)]
    func.remat = True
    return func
