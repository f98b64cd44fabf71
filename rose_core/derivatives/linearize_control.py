"""The forward pass of control flow: what reverse mode keeps of the side that was taken, and of every
iteration.

A choice calls the forward function of one of its sides. Both give the same results: the primal ones, and
a tape in which each side has its places and leaves the others empty. A loop runs the forward function of
its body; what that would put on its tape becomes a value that is kept of every iteration.

A loop into which one number varies, and out of which come numbers, needs no tape: its Jacobian is a column,
which forward mode gives while the loop runs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rose_core.derivatives.activity import varying_state
from rose_core.derivatives.adapt import Ids, adapted, inlined
from rose_core.derivatives.iterations import is_given
from rose_core.derivatives.jvp import positions
from rose_core.derivatives.kept import numbers_in
from rose_core.language.builder import Builder
from rose_core.language.ir import ALL, LOOP, CondSite, Func, LoopSite, is_real
from rose_core.language.queries import remembered
from rose_core.language.types import REAL, RUN, TAN, UNIT, Array, Ref, Type, scalar_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rose_core.derivatives.linearize import Linearization
    from rose_core.derivatives.tape import Transposed


_MOST_IN_SIDE = 256
"""The most numbers of a kind that a loop in a side of a choice keeps where there is memory for them even if
that is not taken."""

_MOST_UNUSED = 1 << 22
"""The most numbers of a kind that a loop keeps where it may run less often than it has indices, likewise:
more are better close together, on tapes."""


class TakenSide:
    """A choice in the forward pass, or several between the same functions."""

    def __init__(self, sides: tuple[Transposed, Transposed]) -> None:
        self.sides = sides
        self.placed: dict[object, Func] = {}
        """The backward functions with zeros in the place of the other side's cotangents."""
        self.levels = 0
        """How many choices in each other, with this one, hand on what the innermost of them keeps."""

    @property
    def parts(self) -> Sequence[Transposed]:
        return self.sides

    def active(self, k: int) -> bool:
        """Whether result ``k`` carries a tangent."""
        return any(side.active_results[k] for side in self.sides)

    def position(self, k: int) -> int:
        """Where result ``k`` is in the forward pass; -1 for a tangent."""
        return self.sides[0].result_at[k]


class Iterations:
    """A loop in the forward pass."""

    def __init__(self, body: Transposed, carries: int, varying: list[bool], index: Type) -> None:
        self.body = body
        self.index = index
        """Of the arrays of what the iterations keep, or of tapes, where the trip count is not known."""
        self.carries = carries
        """The leaves of the state."""
        self.varying = varying
        """Which of them carry tangents."""
        self.kept_carries = sum(at >= 0 for at in body.result_at[:carries])
        """The leaves of the state in the forward pass, which does not know tangents."""
        self.restored: dict[object, set[int]] = {}
        """By what the body is asked for: the leaves of the state whose updates it takes back."""

    @property
    def parts(self) -> Sequence[Transposed]:
        return (self.body,)

    def active(self, k: int) -> bool:
        if k == self.carries:
            return False
        return self.varying[k] if k < self.carries else self.body.active_results[k - 1]

    def position(self, k: int) -> int:
        if k == self.carries:
            return self.kept_carries
        at = self.body.result_at[k - (k > self.carries)]
        return at + 1 if k > self.carries and at >= 0 else at


class Column:
    """A loop in the forward pass whose Jacobian is one column."""

    def __init__(self, source: int, results: Ids, tangents: list[int | None]) -> None:
        self.source = source
        """The id of what varies."""
        self.results = results
        """The loop's results, as ids of the forward pass."""
        self.tangents = tangents
        """The derivative of each by ``source``; None where that is zero."""

    @property
    def parts(self) -> Sequence[Transposed]:
        return ()


def cond(lin: Linearization, v: int, site: CondSite) -> None:
    """The forward pass of a ``COND`` with something active in it."""
    varying = [lin.varying_args(f, args) for f, args in zip(site.functions, site.args, strict=True)]
    key = *site.functions, *varying
    taken = lin.choices.get(key)
    if taken is None:
        room = min(lin.room, _MOST_IN_SIDE)
        derived: list[Transposed] = []
        for f, varies in zip(site.functions, varying, strict=True):  # no generator: see `deep.py`
            derived.append(lin.derivatives.transposed(f, varies, room, is_part=True))
        taken = lin.choices[key] = TakenSide((derived[0], derived[1]))
    lin.control[v] = taken
    if all(map(is_given, site.functions)):
        lin.given[v] = [lin.env[x] for x in site.args[0][: len(site.functions[0].results)]]
        return
    sides = taken.sides
    passed = [
        [lin.env[a] for a, takes in zip(args, side.takes, strict=True) if takes]
        for side, args in zip(sides, site.args, strict=True)
    ]
    lin.env[v] = lin.b.cond(lin.env[site.p], sides[0].fwd, passed[0], sides[1].fwd, passed[1])


def loop(lin: Linearization, v: int, site: LoopSite) -> None:
    """The forward pass of a ``LOOP`` with something active in it.

    Which leaves of the state are active is known beforehand, but for those that are tangents themselves.
    """
    source = only_source(lin, site)
    if source is not None:
        lin.control[v] = _column(lin, site, source)
        return
    spec, body, env = site.spec, site.body, lin.env
    varying = [lin.active[x] or lin.is_tangent(x) for x in site.state]
    of_args = lin.varying_args(body, [site.count, *site.state, *site.args])[1 + spec.carries :]
    if not lin.dual:
        varying = varying_state(site, varying, of_args)
    has_arrays = _has_arrays(site, lin.room)
    room = lin.room // max(1, site.spec.trips) if has_arrays else lin.room
    while True:
        transposed = lin.derivatives.transposed(body, (False, *varying, *of_args), room, is_part=True)
        after = [x or y for x, y in zip(varying, transposed.active_results, strict=False)]
        if after == varying:
            break
        varying = after
    transposed.is_iteration = True
    outputs = ALL
    if not has_arrays:
        outputs = sum(at >= 0 for at in transposed.result_at[spec.carries :][: spec.outputs])
    iterations = lin.control[v] = Iterations(
        transposed, spec.carries, varying, spec.index if outputs == ALL else RUN
    )
    takes = transposed.takes[1:]
    new = replace(spec, carries=iterations.kept_carries, outputs=outputs)
    state = [env[x] for x, taken in zip(site.state, takes, strict=False) if taken]
    args = [env[x] for x, taken in zip(site.args, takes[spec.carries :], strict=True) if taken]
    test = _without_tangents(site.test) if site.test else None
    test_args = [env[x] for x in site.test_args if not lin.is_tangent(x)]
    env[v] = lin.b.loop(new, env[site.count], transposed.fwd, state, args, test, test_args)


def _has_arrays(site: LoopSite, room: int) -> bool:
    """Whether what is kept of the iterations goes to arrays, not tapes. Where some does already, all does."""
    return site.spec.outputs == ALL or (_may_have_arrays(site) and _kept_in(site) <= room)


def _may_have_arrays(site: LoopSite) -> bool:
    """Whether arrays for all the iterations that a loop can have are no waste."""
    few = not site.test and not site.spec.outputs and _kept_in(site) <= _MOST_UNUSED
    return not site.spec.checkpoint and (site.is_whole or few)


def _kept_in(site: LoopSite) -> int:
    """How many numbers the iterations of a loop keep, if each keeps the largest part of the state."""
    types = site.body.params[1 : 1 + site.spec.carries]
    return site.spec.trips * max([1, *map(numbers_in, types)])


@remembered
def most_kept(f: Func) -> int:
    """The most that a loop in ``f``, or in what it calls, keeps in all of its iterations."""
    kept = [most_kept(g) for g in f.callees]
    for ins in f.code:
        if ins[0] == LOOP and _may_have_arrays(site := LoopSite(f, ins)):
            kept += _kept_in(site), site.spec.trips * most_kept(site.body)
    return max(kept, default=0)


def only_source(lin: Linearization, site: LoopSite) -> int | None:
    """The id of the only number by which a loop's results vary, if these are numbers."""
    given = [*site.state, *site.args]
    sources = {x for x in given if lin.active[x]}
    if lin.dual or len(sources) != 1 or len(site.body.result_types) > site.spec.carries:
        return None
    if any(isinstance(lin.func.type_of(x), Ref) for x in given):
        return None
    if any(isinstance(t, Array) and is_real(t) for t in site.body.result_types):
        return None
    source = sources.pop()
    return source if lin.func.type_of(source) is REAL else None


def _column(lin: Linearization, site: LoopSite, source: int) -> Column:
    """The forward derivative of a loop by ``source``, in the forward pass."""
    func = Func(f"turns_{site.body.name}", [], UNIT)
    b = Builder(func)
    taken: dict[int, int] = {}
    """Id that the loop takes → parameter of the function around it."""
    for x in (site.count, *site.state, *site.args, *site.test_args):
        if x not in taken:
            taken[x] = b.param(lin.func.type_of(x))
    count, state, args, test_args = (
        [taken[x] for x in ids] for ids in ([site.count], site.state, site.args, site.test_args)
    )
    loop = b.loop(site.spec, count[0], site.body, state, args, site.test, test_args)
    func.blocks[0].results = b.all_of(loop, site.spec, len(site.body.result_types))
    func.effects = site.body.effects
    derivative, varying = lin.derivatives.forward(func, tuple(x == source for x in taken))
    passed: Ids = []
    for x in taken:
        passed += [lin.b.real(1.0), lin.env[x]] if x == source else [lin.env[x]]
    ids = inlined(lin.b, derivative, passed)
    at = positions(varying)
    tangents = [ids[tangent] if tangent >= 0 else None for tangent, _ in at]
    return Column(source, [ids[primal] for _, primal in at], tangents)


def _without_tangents(test: Func) -> Func:
    """The test of a loop for the forward pass; tangents can have no say in it."""
    kept = [t for t in test.params if scalar_of(t) is not TAN]
    if len(kept) == len(test.params):
        return test

    def args(b: Builder, ids: Ids) -> Ids:
        rest = iter(ids)
        return [b.const(0.0, t) if scalar_of(t) is TAN else next(rest) for t in test.params]

    return adapted(test, kept, args)


def is_dual(f: Func) -> bool:
    """Whether tangents are values of ``f`` itself, as in a custom derivative."""
    return any(scalar_of(t) is TAN for t in (*f.params, *f.result_types))
