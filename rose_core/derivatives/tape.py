"""Forward and backward functions, and the tape between them: results of one, parameters of the other."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Container, Sequence, Set
from itertools import count

from rose_core.deep import Chained
from rose_core.derivatives.jvp import positions
from rose_core.derivatives.known import Limits, Record, Request
from rose_core.derivatives.linearize import Derivatives, Linearization
from rose_core.derivatives.linearize_control import TakenSide, is_dual
from rose_core.derivatives.settled import settled
from rose_core.derivatives.transpose import Reverse
from rose_core.derivatives.updates import chains
from rose_core.language.builder import Builder
from rose_core.language.ir import (
    CALL,
    CALLEES,
    COND,
    ENDLESS,
    GET,
    LOOP,
    PARAM,
    Func,
    callees,
    is_real,
    zero_of,
)
from rose_core.language.ops import TABLE_END
from rose_core.language.queries import param_ids, takes_accumulators
from rose_core.language.types import (
    TAN,
    UNIT,
    Array,
    Ref,
    Type,
    is_tape,
    real,
    ref,
    scalar_of,
)

_SHORT_TAPE = 128
"""So long may a tape be in any case."""

_LONGEST_TAPE = 1000
"""So long may one be that has what is called in it: as many parameters as engines take."""

_SHORT = 12
"""The most instructions of a forward or backward function of an author's derivative that is inlined."""

_IN_LINE = frozenset((PARAM, CALL, GET))
"""Instructions of such a function, besides operations."""


class Boundary:
    """How values get from a forward function into a backward function: as results, then as parameters."""

    def __init__(self, forward: Transposed, bwd: Builder, limits: Limits) -> None:
        self.forward = forward
        self.bwd = bwd
        self.limits = dict(limits)
        """Parameter of the function → how many numbers may be kept in its place."""
        self.sources: list[tuple[str, int]] = []
        """What each parameter of the backward function is; see `Backward`."""
        self.given: dict[int, int] = {}
        """Accumulator parameter of the body → the cotangent behind it."""

    def param(self, kind: str, k: int, t: Type) -> int:
        """One more parameter of the backward function."""
        self.sources.append((kind, k))
        return self.bwd.param(real(t))

    def carry(self, w: int) -> int:
        """The parameter that holds the forward function's value ``w``."""
        fwd = self.forward.fwd
        ins, t = fwd.code[w], fwd.types[w]
        if ins[0] == PARAM:
            return self.param("arg", self.forward.args[ins[1]], t)
        return self.param("tape", self.forward.keep(w), t)

    def last(self, k: int) -> int:
        """The parameter that holds the result ``k``, an array whose updates are taken back."""
        return self.param("after", k, self.forward.func.result_types[k])

    def forward_limits(self) -> dict[int, int]:
        """As `limits`, of the parameters of the forward function."""
        return {n: self.limits[k] for n, k in enumerate(self.forward.args) if k in self.limits}

    def ref_param(self, body_param: int) -> int:
        """The parameter for the accumulator of the cotangent of the body's array parameter."""
        k = self.forward.leaf_of_param[body_param]
        return self.param("ref", k, ref(self.forward.func.params[k]))


class Backward:
    """A backward function and how to call it.

    ``sources`` says what each parameter is: ``("cotangent", result)``, ``("given", parameter)`` for the
    cotangent behind an accumulator, ``("tape", result of the forward function)``, ``("arg", parameter)``,
    ``("ref", parameter)`` for the accumulator of an array's cotangent, or ``("after", result)`` for an array
    whose updates it takes back. ``outputs`` are the scalar parameters whose cotangents it returns, before
    the arrays as they were before the updates; ``demanded`` says of which of these anything is needed.
    Parameters and results are those of the primal function.
    """

    def __init__(
        self,
        func: Func,
        sources: list[tuple[str, int]],
        outputs: list[int],
        demanded: Set[int] = frozenset(),
    ) -> None:
        self.func = func
        self.sources = sources
        self.outputs = outputs
        self.demanded = demanded
        self.is_short = is_short(func)


Asked = tuple["Transposed", dict[int, int], set[Request]]
"""A derivative, what it keeps, and the backward functions it has."""


class Transposed(Chained):
    """A function in reverse: its forward function, and backward functions as they are needed.

    ``body`` is what is transposed: ``func`` itself, or its custom derivative, in which every real leaf
    of ``func`` is a tangent and a primal. ``varying`` says which parameters of ``func`` carry tangents.
    """

    record: Record | None = None
    """What was asked of it, if several functions share it."""
    is_iteration = False
    """Whether it is the body of a loop, whose iterations are all over when the first backward one begins."""
    in_line = False
    """Whether the forward function is so short that its instructions stand in place of calls."""

    def __init__(
        self,
        func: Func,
        body: Func,
        varying: Sequence[bool],
        derivatives: Derivatives,
        room: int = ENDLESS,
    ) -> None:
        self.func = func
        self.body = body
        self.varying = varying
        self._params = _leaf_positions(func, body, func.params)
        self._results = _leaf_positions(func, body, func.result_types)
        self.takes = [primal >= 0 for _, primal in self._params]
        """Which of the parameters the forward function takes; it does not know tangents."""
        self.leaf_of_param = {tangent: k for k, (tangent, _) in enumerate(self._params)}
        self.fwd = Func(f"fwd_{func.name}", [], UNIT)
        b = self._builder = Builder(self.fwd)
        args = [0] * len(body.params)
        carries = [False] * len(body.params)
        self.args: list[int] = []
        """The parameter of ``func`` that each parameter of the forward function is."""
        for k, (tangent, primal) in enumerate(self._params):
            if primal >= 0:
                args[primal] = b.param(body.params[primal])
                self.args.append(k)
            if tangent >= 0:
                carries[tangent] = varying[k] or body is not func
        self._lin = Linearization(body, b, args, carries, derivatives, room)
        self._extent = body.extent
        self._kept: dict[int, int] = {}
        """Value of the forward function → the number of the result that is for the tape."""
        self._empty: defaultdict[Type, deque[int]] = defaultdict(deque)
        """By type, the results of the forward function that are there for the tape of another (`align`)."""
        self.done: dict[Request, Backward] = {}
        """The backward functions so far."""

    def give_up(self) -> object:
        return self.__dict__.pop("_lin", None)

    def run(self) -> None:
        """Make the forward function: not inside of the making of the object, see `deep.py`."""
        results = self._lin.run()
        self.fwd.blocks[0].results = [results[primal] for _, primal in self._results if primal >= 0]
        grows = self._lin.calls or self._lin.control  # it gives on what others put on the tape
        self.in_line = self.body is not self.func and not grows and is_short(self.fwd)
        self.primal_count = len(self.fwd.results)
        """The forward function's results before the tape."""
        self.result_at: list[int] = []
        """Where a result of ``func`` stands among the forward function's; -1 for a tangent."""
        known = count()
        for _, primal in self._results:
            self.result_at.append(next(known) if primal >= 0 else -1)
        body = self.body
        self.active_results = [
            # what has no derivative may depend on what varies, too
            is_real(t)
            and tangent >= 0
            and body.results[tangent] >= 0
            and self._lin.active[body.results[tangent]]
            for (tangent, _), t in zip(self._results, self.func.result_types, strict=True)
        ]

    @property
    def is_outgrown(self) -> bool:
        """Whether the function, itself a forward one, has got results that are not known here.

        Who called it before does not know them, either.
        """
        return self._extent != self._lin.func.extent

    @property
    def levels(self) -> int:
        """How many choices in each other hand on in it what the innermost of them keeps."""
        return max([s.levels for s in self._lin.control.values() if isinstance(s, TakenSide)], default=0)

    def keep(self, w: int) -> int:
        """The number of the result by which the forward function gives its value ``w`` for the tape."""
        found = self._kept.get(w)
        if found is None:
            results, empty = self.fwd.results, self._empty[self.fwd.types[w]]
            if empty:
                found = empty.popleft()
                results[found] = w
            else:
                found = len(results)
                results.append(w)
            self._kept[w] = found
        return found

    def keep_arg(self, k: int) -> int:
        """As `keep`, of the parameter ``k`` of the function."""
        return self.keep(self.args.index(k))

    def align(self, other: Transposed) -> None:
        """Give as many results as ``other``, of the same types: with a tape that either may use."""
        results = self.fwd.results
        for w in other.fwd.results[len(results) :]:
            t = other.fwd.type_of(w)
            self._empty[t].append(len(results))
            results.append(self._nothing(t))

    def _nothing(self, t: Type) -> int:
        """What an empty place of the tape holds."""
        is_array = isinstance(t, Array) and not is_tape(t)
        return self._builder.unwritten(t) if is_array else self._builder.const(zero_of(t), t)

    def asked(self) -> list[Asked]:
        """What has been asked of this and of the parts of it, for `forget`."""
        found: list[Asked] = [(self, dict(self._kept), set(self.done))]
        for site in self._lin.control.values():
            for part in site.parts:
                found += part.asked()
        return found

    @staticmethod
    def forget(before: list[Asked]) -> None:
        """Forget what has been asked since then, whose tape nobody needs."""
        for part, kept, done in before:
            for w in part._kept.keys() - kept:
                at, t = part._kept.pop(w), part.fwd.types[w]
                part._empty[t].append(at)
                part.fwd.results[at] = part._nothing(t)
            for request in part.done.keys() - done:
                del part.done[request]

    def updated(self, k: int) -> int:
        """The parameter that result ``k`` is but for some elements, which can be put back; -1 for none."""
        if self.body is not self.func or self._lin.dual:
            return -1
        chain = chains(self.func).get(k)
        return chain.param if chain else -1

    def backward(
        self,
        results: tuple[int, ...],
        refs: tuple[int, ...],
        limits: Limits = (),
        restored: tuple[int, ...] = (),
    ) -> Backward:
        """The backward function for cotangents of these results and behind these accumulators.

        ``restored`` are the results, arrays, whose updates it is to take back.
        """
        request = results, refs, limits, restored
        if self.record:
            return self.record.known.backward(self.record, request, self._make)
        found = self.done.get(request)
        if found is None:
            found = self.done[request] = self._make(request)
        return found

    def is_run_again(self, back: Backward) -> bool:
        """Whether the backward pass is to run the forward function once more, and not to get a tape.

        A tape grows with the work that is done, and where functions call others twice, twice over, that
        is exponential in the size of the program. None is passed on that is longer than the program. One
        that grows by each call in a chain would take the square of the chain's length: none is much longer
        than the function itself, with its loops and choices.
        """
        tape = sum(kind == "tape" for kind, _ in back.sources)
        if tape < _SHORT_TAPE or self.fwd.effects or takes_accumulators(self.fwd):
            return False
        return not self._is_covered(tape, (COND, LOOP) if tape > _LONGEST_TAPE else CALLEES)

    def _is_covered(self, count: int, through: Container[int]) -> bool:
        """Whether there are so many instructions in the function and what these instructions of it call."""
        seen = {self._lin.func}
        stack = [self._lin.func]
        while stack:
            f = stack.pop()
            count -= len(f.code)
            if count <= 0:
                return True
            called = {k for ins in f.code if ins[0] in through for k in callees(ins)}
            fresh = {f.callees[k] for k in called} - seen
            stack += fresh
            seen |= fresh
        return False

    def _make(self, request: Request) -> Backward:
        results, refs, limits, restored = request
        body = self._lin.func
        bwd = Func(f"bwd_{self.func.name}", [], UNIT)
        b = Builder(bwd)
        boundary = Boundary(self, b, limits)
        cotangents: list[int | None] = [None] * len(body.results)
        for k in results:
            at = self._results[k][0]
            cotangents[at] = boundary.param("cotangent", k, body.type_of(body.results[at]))
        for k in refs:
            boundary.given[k] = boundary.param("given", k, body.params[k].inner)  # type: ignore[attr-defined]
        reverse = Reverse(self._lin, b, boundary, restored)
        reverse.run(cotangents)
        outputs = []
        ids = param_ids(body)
        for k, (tangent, _) in enumerate(self._params):
            v = ids[tangent] if tangent >= 0 else -1
            if v >= 0 and self.varying[k] and not isinstance(body.types[v], Ref):
                c = reverse.total_of_param(v)
                if c is not None:
                    outputs.append(k)
                    bwd.results.append(c)
        bwd.results.extend([reverse.versions.get(w) for w in reverse.versions.first])
        bwd.effects = any(f.effects for f in bwd.callees)
        return Backward(settled(bwd), boundary.sources, outputs, reverse.versions.demanded)


def is_short(f: Func) -> bool:
    """Whether ``f`` consists of a few operations on numbers, and calls: about as much as a call of it."""
    return (
        len(f.code) <= _SHORT
        and not f.effects
        and all(ins[0] < TABLE_END or ins[0] in _IN_LINE for ins in f.code)
        and not any(isinstance(t, (Array, Ref)) for t in f.types)
    )


def _leaf_positions(func: Func, body: Func, types: Sequence[Type]) -> list[tuple[int, int]]:
    """For each leaf, the numbers of its tangent and primal among the leaves of ``body``; -1 for none."""
    if body is func:
        dual = is_dual(func)
        return [(k, -1 if dual and scalar_of(t) is TAN else k) for k, t in enumerate(types)]
    return positions([is_real(t) for t in types])
