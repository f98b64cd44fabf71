"""The parts of a loop of which one iteration is found and differentiated, and the others only run."""

from __future__ import annotations

from collections.abc import Sequence

from rose_core.language.builder import COUNT, Builder
from rose_core.language.ir import Func, zero_of
from rose_core.language.ops import code
from rose_core.language.queries import remembered
from rose_core.language.replay import Replay, copied
from rose_core.language.types import BOOL, REAL, UNIT, Fin, Type

_INDEX, _EQ, _LT, _GT, _AND, _OR = map(code, ("index", "eq", "lt", "gt", "and", "or"))

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


def numbered(b: Builder, number: int, index: Type) -> int:
    """The index of a number, which has been made of one."""
    assert isinstance(index, Fin)
    return b.ternary(_INDEX, number, b.const(index.size, COUNT), b.const(0, COUNT), index)


def of_iteration(
    b: Builder, body: Func, values: Sequence[int], iteration: int, args: Sequence[int]
) -> list[int]:
    """The ``values`` that a body computes, none of the state; the iteration is an index or its number."""
    if b.func.type_of(iteration) is REAL:
        iteration = numbered(b, iteration, body.params[0])
    unknown = [b.const(zero_of(t), t) for t in body.params[1 : 1 + len(body.results)]]
    replay = Replay(body, b, [iteration, *unknown, *args])
    replay.run()
    return [replay.env[v] for v in values]


def or_before(
    b: Builder,
    is_found: int,
    candidate: Func,
    args: Sequence[int],
    before: Sequence[int],
    found: Sequence[int] = (),
) -> list[int]:
    """What a ``candidate`` gives of ``args``, if an iteration is found; else what was ``before``.

    ``found``: what comes of it, if that is known; the candidate takes it first then.
    """
    same, params = new_function("before", [b.func.type_of(x) for x in (*found, *before)])
    same.func.blocks[0].results = params[len(found) :]
    if found:
        gives_first(candidate)
        gives_first(same.func)
    choice = b.cond(is_found, candidate, [*found, *args], same.func, [*found, *before])
    return [b.get(choice, k) for k in range(len(before))]


def is_of_one(b: Builder, is_least: bool, found: int, beside: Sequence[int], best: int, is_alone: int) -> int:
    """Whether no more than one of several has a part in the least (or largest) of them, and a number beside.

    ``found``: that least; ``best``: of the several, where these are numbers; ``is_alone``: whether no
    other one of them is as small.
    """
    for x in beside:
        is_alone = b.binary(_OR, is_alone, b.binary(_LT if is_least else _GT, x, best, BOOL), BOOL)
    return b.binary(_AND, is_alone, b.binary(_EQ, found, found, BOOL), BOOL)


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
