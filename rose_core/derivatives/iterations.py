"""The parts of a loop of which one iteration is found and differentiated, and the others only run."""

from __future__ import annotations

from collections.abc import Sequence

from rose_core.language.builder import COUNT, Builder
from rose_core.language.ir import Func, zero_of
from rose_core.language.ops import code
from rose_core.language.queries import remembered
from rose_core.language.replay import Replay, copied
from rose_core.language.types import REAL, UNIT, Fin, Type

_INDEX = code("index")

_LEFT = "left as it is"
"""In the memo of a function in whose loops no iteration is looked for."""

_GIVEN = "gives its first arguments"
"""In the memo of such a function."""


def gives_first(f: Func) -> None:
    """Say that the results of ``f`` are its first arguments, to the bit, of which it has the derivatives.

    Then the way forward has no need of ``f``, and keeps nothing of it: the way back runs it, if need be.
    """
    f.memo[_GIVEN] = True
    f.remat = True


def is_given(f: Func) -> bool:
    """Whether somebody has said so."""
    return _GIVEN in f.memo


def new_function(name: str, types: Sequence[Type]) -> tuple[Builder, list[int]]:
    """What builds a function, which has no body yet, and its parameters."""
    b = Builder(Func(name, types, UNIT))
    return b, [b.param(t) for t in types]


def of_iteration(
    b: Builder, body: Func, values: Sequence[int], iteration: int, args: Sequence[int]
) -> list[int]:
    """The ``values`` that a body computes, none of the state; the iteration is an index or its number."""
    index = body.params[0]
    if b.func.type_of(iteration) is REAL and isinstance(index, Fin):
        iteration = b.ternary(_INDEX, iteration, b.const(index.size, COUNT), b.const(0, COUNT), index)
    unknown = [b.const(zero_of(t), t) for t in body.params[1 : 1 + len(body.results)]]
    replay = Replay(body, b, [iteration, *unknown, *args])
    replay.run()
    return [replay.env[v] for v in values]


def of_iteration_or_before(
    b: Builder,
    body: Func,
    values: Sequence[int],
    is_found: int,
    before: Sequence[int],
    iteration: int,
    args: Sequence[int],
    found: Sequence[int] = (),
) -> list[int]:
    """The ``values`` that a body computes, none of the state, if an iteration is found; else ``before``.

    ``found``: what comes of it, if that is known.
    """
    known = [b.func.type_of(x) for x in found]
    types = [b.func.type_of(iteration), *body.params[1 + len(body.results) :]]
    inner, params = new_function("candidate", [*known, *types])
    at, *given = params[len(known) :]
    inner.func.blocks[0].results = of_iteration(inner, body, values, at, given)
    same, params = new_function("before", [*known, *(b.func.type_of(x) for x in before)])
    same.func.blocks[0].results = params[len(known) :]
    if found:
        gives_first(inner.func)
        gives_first(same.func)
    choice = b.cond(is_found, inner.func, [*found, iteration, *args], same.func, [*found, *before])
    return [b.get(choice, k) for k in range(len(values))]


def leave(f: Func) -> None:
    """Have the loops of ``f`` as they are."""
    f.memo[_LEFT] = True


def stays_as_it_is(f: Func) -> bool:
    """Whether somebody has said so."""
    return _LEFT in f.memo


@remembered
def as_it_is(f: Func) -> Func:
    """``f``, whose loops stay as they are, and those in what it calls.

    Were iterations looked for in the loops of the search, too, and where all iterations are run, programs
    would double with every loop in another.
    """
    changes = bool(f.specs)
    for g in f.callees:
        changes |= as_it_is(g) is not g
    if not changes or f.jvp or f.host or stays_as_it_is(f):
        return f
    found = copied(f, AsItIs)
    leave(found)
    return found


class AsItIs(Replay):
    """Copies a function with the loops in what it calls left as they are."""

    def call(self, v: int, callee: Func, args: Sequence[int]) -> None:
        super().call(v, as_it_is(callee), args)

    def function(self, f: Func) -> Func:
        return as_it_is(f)
