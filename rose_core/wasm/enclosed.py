"""Bodies of loops and sides of choices that are written where they are run, in place of a call.

To call a function takes as long as a few operations, which small ones would notice at every iteration. So
those that only one loop or choice has, and no other call, become part of the function around it. Short ones
are written wherever they are run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from rose_core.language.demand import Demand
from rose_core.language.ir import CALL, COND, INDEX, LOOP, PARAM, Func, callees
from rose_core.language.ops import TABLE_END
from rose_core.language.queries import is_flat, opcodes
from rose_core.language.types import has_tape, is_memory
from rose_core.wasm.layout import has_tapes
from rose_core.wasm.lower_control import takes_memory

_SHORTEST = 6
"""The most instructions of what may be written any number of times."""
_SHORT, _FEW = 40, 4
"""The most instructions of what may be written a few times, and how often."""
_LARGEST = 200
"""The most instructions: what does more does not notice that it is called."""

_MOST, _DEEPEST = 2000, 8
"""The most instructions that are added to a function, and how deep in each other."""


@dataclass(frozen=True, slots=True)
class Enclosed:
    """In place of the calling convention of a function that is not called: what `Body` needs to write it."""

    data: dict[int, int]
    demand: Demand | None
    """None for what may be written several times, as to write uses it up."""


def enclosed(order: Sequence[Func]) -> dict[Func, bool]:
    """Function that is written in others of these → whether it may be written several times.

    Each stands before those that it calls."""
    owners = Counter(g for f in order for g in f.callees)
    run = {f: _run(f) for f in order if not opcodes(f).isdisjoint((LOOP, COND))}
    often = Counter[Func]()
    for used in run.values():
        often.update(used)
    called = {f.callees[ins[1]] for f in order if CALL in opcodes(f) for ins in f.code if ins[0] == CALL}
    found: dict[Func, bool] = {}
    depth: dict[Func, int] = {}
    outermost: dict[Func, Func] = {}
    added: Counter[Func] = Counter()
    for f, used in run.items():
        whole = outermost.get(f, f)
        for g, uses in used.items():
            size = len(g.code)
            if g not in called and (_is_shortest(g) or _may_be_repeated(g, often[g])):
                found[g] = True
            elif (
                owners[g] == uses == 1
                and depth.get(f, 0) < _DEEPEST
                and size <= _LARGEST
                and added[whole] + size <= _MOST
                and _is_plain(g)
            ):
                found[g], outermost[g] = False, whole
                depth[g] = depth.get(f, 0) + 1
                added[whole] += size
    return found


def _run(f: Func) -> dict[Func, int]:
    """What the loops and choices of ``f`` run, and how often it stands in ``f``."""
    uses: Counter[int] = Counter()
    inside: dict[int, None] = {}
    for ins in f.code:
        numbers = callees(ins)
        uses.update(numbers)
        if ins[0] in (LOOP, COND):
            inside |= dict.fromkeys(numbers)
    return {f.callees[k]: uses[k] for k in inside}


def _is_shortest(f: Func) -> bool:
    """Whether it is hardly longer than a call of it, and is operations on numbers only."""
    plain = len(f.code) <= _SHORTEST and all(ins[0] == PARAM or ins[0] < TABLE_END for ins in f.code)
    return plain and f.host is None and not any(map(is_memory, (*f.params, *f.result_types)))


def _may_be_repeated(f: Func, times: int) -> bool:
    """Whether it is worth to write it so many times."""
    return 1 < times <= _FEW and len(f.code) <= _SHORT and is_flat(f) and _is_plain(f)


def _is_plain(f: Func) -> bool:
    """Whether a function has nothing to do with the host, and with tapes no more than to read them."""
    return f.host is None and not takes_memory(f) and (not has_tapes(f) or _only_reads(f))


def _only_reads(f: Func) -> bool:
    """Whether the tapes in a function are its parameters, and what is in these."""
    own = (has_tape(t) for t, ins in zip(f.types, f.code, strict=True) if ins[0] not in (PARAM, INDEX))
    return not any(own) and not any(map(has_tape, f.result_types))


def calls(f: Func, inside: Collection[Func]) -> Iterator[Func]:
    """What ``f`` calls, with all that is written in it."""
    for g in f.callees:
        if g in inside:
            yield from calls(g, inside)
        else:
            yield g
