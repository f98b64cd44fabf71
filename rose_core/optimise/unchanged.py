"""Numbers in a loop's state that no iteration changes, read before the loop.

    loop k > j, state x:  x.set(k, x[j] * f(k))     →     y = x[j];  loop k > j, state x:  x.set(k, y * f(k))

What an iteration reads of the state, reverse mode adds to the state's cotangent, iteration by iteration
through memory. A number that is the same in all iterations is an argument, whose cotangent is added up in a
local variable.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from rose_core.language.ir import INDEX, PARAM, SET, Func
from rose_core.language.types import is_memory
from rose_core.optimise.outside import given_values

_MOST = 4
"""The most numbers that become arguments."""

Path = tuple[int, ...]
"""Indices that lead from an array to an element, from the outermost in."""


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The body of a loop that gets numbers of its state as its last arguments."""

    body: Func
    elements: list[tuple[int, list[int]]]
    """For each, the leaf of the state, and the indices: parameters of the body, or ``~i`` for the index i."""


def unchanged(body: Func, carries: int, iteration: int, apart: Collection[int]) -> Unchanged:
    """``body``, with numbers that it does not change as arguments.

    ``iteration`` is the value there that is the number of the iteration, which is never any of ``apart``.
    """
    code = body.code
    arrays = {v for v, ins in enumerate(code) if ins[0] == PARAM and 0 < ins[1] <= carries}
    found: dict[int, tuple[int, list[int]]] = {}
    written: dict[int, list[Path]] = {}
    for v, ins in enumerate(code):
        if ins[0] != INDEX or is_memory(body.types[v]) or len(found) == _MOST:
            continue
        array, path = element_path(body, v)
        if array not in arrays or not all(_is_known(body, i, carries) for i in path):
            continue
        k = code[array][1]
        if k not in written:
            written[k] = _written(body, body.results[k - 1], array)
        if all(_differ(path, other, iteration, apart) for other in written[k]):
            found[v] = k - 1, [_named(body, i) for i in path]
    return Unchanged(given_values(body, list(found)) if found else body, list(found.values()))


def element_path(body: Func, v: int) -> tuple[int, Path]:
    """The array that ``v`` is an element of, and the way there."""
    indices = []
    while v >= 0 and body.code[v][0] == INDEX:
        _, v, i = body.code[v]
        indices.append(i)
    return v, tuple(reversed(indices))


def _is_known(body: Func, i: int, carries: int) -> bool:
    """Whether an index is a constant, or a parameter that is the same in all iterations."""
    return i < 0 or (body.code[i][0] == PARAM and body.code[i][1] > carries)


def _named(body: Func, i: int) -> int:
    return ~int(body.pool[~i][0]) if i < 0 else body.code[i][1]


def _written(body: Func, result: int, array: int) -> list[Path]:
    """Where ``result`` may differ from ``array``: elements, or whole parts."""
    chain = list(updates(body, result))
    versions = {array, *chain}
    if (body.code[chain[-1]][1] if chain else result) != array:
        return [()]

    def changes(x: int, path: Path) -> Iterator[Path]:
        """Where ``x`` differs, which is put where ``path`` leads."""
        later = list(updates(body, x))
        base = body.code[later[-1]][1] if later else x
        if element_path(body, base) not in {(v, path) for v in versions}:
            yield path
            return
        for v in later:
            _, _, i, y = body.code[v]
            yield from changes(y, (*path, i))

    return list(changes(result, ()))


def updates(body: Func, x: int) -> Iterator[int]:
    """The updates that ``x`` is the last of, from that back."""
    while x >= 0 and body.code[x][0] == SET:
        yield x
        x = body.code[x][1]


def _differ(path: Path, other: Path, iteration: int, apart: Collection[int]) -> bool:
    """Whether two elements are different ones, in every iteration."""
    return any(x in apart and y == iteration for x, y in zip(path, other, strict=False))
