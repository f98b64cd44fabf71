"""What passes ask about functions again and again, and how the answers are remembered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from itertools import compress
from operator import itemgetter
from typing import TypeVar

from rose_core.language.ir import (
    ACCUM,
    CALL,
    COND,
    FOR,
    GET,
    INDEX,
    LOOP,
    PARAM,
    REF_INDEX,
    SET,
    VEC,
    Block,
    Func,
    operands,
)
from rose_core.language.ops import BINARY_END, TABLE_END
from rose_core.language.types import Ref

Found = TypeVar("Found")
Given = TypeVar("Given")


def remembered(find: Callable[[Func], Found]) -> Callable[[Func], Found]:
    """``find``, but looking at a function only once, unless that has grown since."""

    @wraps(find)
    def found(f: Func) -> Found:
        key = find, f.extent
        known = f.memo.get(key)
        if known is None:
            known = f.memo[key] = find(f)
        return known  # type: ignore[return-value]

    return found


def remembered_for(find: Callable[[Func, Given], Found]) -> Callable[[Func, Given], Found]:
    """As `remembered`, but looking at a function once for each thing that it is looked at for."""

    @wraps(find)
    def found(f: Func, given: Given) -> Found:
        key = find, f.extent, given
        if key not in f.memo:
            f.memo[key] = find(f, given)
        return f.memo[key]  # type: ignore[return-value]

    return found


def among(ops: Iterable[int]) -> bytes:
    """For `places`: by opcode, whether it is one of these."""
    chosen = {*ops}
    return bytes(op in chosen for op in range(256))


BEYOND_BINARY = among(range(BINARY_END, 256))
"""All but operations on one or two numbers: what takes arrays or accumulators is among these."""

OF_ACCUMULATORS = among({*range(BINARY_END, 256)} - {INDEX, GET, VEC, SET, FOR})
"""What may take accumulators."""


def places(f: Func, chosen: bytes) -> list[int]:
    """The instructions whose opcodes are `among` some, in order: what most passes look at are few of all."""
    found = _codes(f).translate(chosen)
    first = found.find(1)
    return [*compress(range(first, len(found)), found[first:])] if first >= 0 else []


def opcodes(f: Func) -> set[int]:
    """The opcodes in a function that is finished."""
    found = f.memo.get("opcodes")
    if found is None:
        found = f.memo["opcodes"] = set(_codes(f))
    assert isinstance(found, set)
    return found


def _codes(f: Func) -> bytes:
    """The opcodes of a function, in order; more may have been added to it."""
    found = f.memo.get("codes")
    if not isinstance(found, bytes) or len(found) != len(f.code):
        found = f.memo["codes"] = bytes(map(itemgetter(0), f.code))
    return found


def users_of(f: Func, chosen: bytes = among(range(256))) -> dict[int, list[int]]:
    """Value → the instructions that use it, of those that are chosen."""
    found: dict[int, list[int]] = {}
    for v in places(f, chosen):
        for x in operands(f.code[v], f.blocks):
            found.setdefault(x, []).append(v)
    return found


RESULT = -1
"""In place of an instruction: the function itself, which uses what it gives."""


def uses_of(f: Func) -> dict[int, list[int]]:
    """Value → all its uses: the instructions, each as often as it is one of their operands, and `RESULT`."""
    found = users_of(f)
    for x in f.results:
        found.setdefault(x, []).append(RESULT)
    return found


@remembered
def only_users(f: Func) -> Mapping[int, int]:
    """The instructions that use a value, by values that are used once, and are no results."""
    return {x: by[0] for x, by in uses_of(f).items() if len(by) == 1 and by[0] != RESULT}


def users_of_accumulators(f: Func) -> dict[int, list[int]]:
    """By accumulator, the instructions that add to it or read it."""
    users = users_of(f, OF_ACCUMULATORS) if ACCUM in opcodes(f) else {}
    return {r: by for r, by in users.items() if r >= 0 and f.code[r][0] == ACCUM}


def param_ids(f: Func) -> dict[int, int]:
    """The number of a parameter → its id."""
    found: dict[int, int] = {}
    missing = len(f.params)
    for v, ins in enumerate(f.code):
        if not missing:
            break
        if ins[0] == PARAM:
            found[ins[1]] = v
            missing -= 1
    return found


def contents(f: Func, number: int) -> list[int]:
    """The instructions of a block and of those in it, in order."""
    found: list[int] = []
    blocks = [number]
    while blocks:
        order = f.blocks[blocks.pop()].order
        found += order
        blocks += [f.code[v][1] for v in order if f.code[v][0] == FOR]
    return sorted(found)


def inner_first(f: Func) -> Iterator[tuple[int, Block]]:
    """The blocks of loops, each before the one that it is in, which has a lower number."""
    for number in range(len(f.blocks) - 1, 0, -1):
        yield number, f.blocks[number]


def path_of(f: Func, r: int) -> tuple[list[int], int]:
    """The indices by which ``r`` is a part of an accumulator, from the outermost in, and that accumulator."""
    indices = []
    while f.code[r][0] == REF_INDEX:
        _, r, i = f.code[r]
        indices.append(i)
    return indices[::-1], r


def containing(f: Func, r: int) -> list[int]:
    """``r`` and every accumulator that it may be a part of, each once: of a choice both sides."""
    found, seen = [r], {r}
    for x in found:
        ins = f.code[x]
        for y in ins[1:2] if ins[0] == REF_INDEX else ins[2:] if ins[0] < TABLE_END else ():
            if y not in seen:
                seen.add(y)
                found.append(y)
    return found


def accumulators(f: Func, r: int) -> list[int]:
    """The whole accumulators that ``r`` may be a part of."""
    return [x for x in containing(f, r) if f.code[x][0] in (ACCUM, PARAM)]


def takes_accumulators(f: Func) -> bool:
    """Whether it adds to accumulators of its callers."""
    return Ref in map(type, f.params)


def is_flat(f: Func) -> bool:
    """Whether there are no calls, choices and loops in a function."""
    return len(f.blocks) == 1 and opcodes(f).isdisjoint((CALL, COND, LOOP))


def derived(f: Func) -> list[Func]:
    """The derivative that its author gave a function, and what it is the derivative of."""
    return [g for g in (f.jvp, f.origin and f.origin[1]) if g]


def callees_first(
    root: Func, needs: Callable[[Func], Iterable[Func]] = lambda f: [*f.callees, *derived(f)]
) -> list[Func]:
    """``root`` and all that it needs, each after what it needs itself, but for derivatives that call it."""
    order: list[Func] = []
    seen: set[Func] = set()
    stack = [(root, False)]
    while stack:
        f, finished = stack.pop()
        if finished:
            order.append(f)
        elif f not in seen:
            seen.add(f)
            stack.append((f, True))
            stack += [(g, False) for g in needs(f)]
    return order
