"""Values in a loop that are the same in all iterations of another one around it, though not of all loops.

    for k:  for r:  s += a[r] * b[r] * c[k][r]
        →     p = [for r: a[r] * b[r]];  for k:  for r:  s += p[r] * c[k][r]

The builder leaves the first product in the loop over ``r``, where its operands are. As a vector it is
computed once, before the loop over ``k``, and in a derivative its cotangents are added up before they become
those of ``a`` and ``b``. The same goes for sums: the norms of all ``b[r]``, where each is needed for every
``k``.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from math import prod

from rose_core.language.ir import IDX, INDEX, PARAM, Func
from rose_core.language.ops import FAILS, OPS, TABLE_END, code
from rose_core.language.queries import users_of
from rose_core.language.types import REAL, Fin
from rose_core.optimise.cases import chosen_by_indices
from rose_core.optimise.movable import Loop

_FEWEST_TRIPS = 5
"""The fewest iterations of the loop in which such a value is the same; those of coordinates are unrolled. Of
a sum of so many, the fewest are two."""

MOST = 1 << 17
"""The most elements of all arrays of a function: a megabyte."""

_NEG = code("neg")

Nest = tuple[int, ...]
"""The blocks of loops in each other, from the outermost in."""


@dataclass(slots=True)
class Invariants:
    """What becomes an array, of the iterations of one loop or of several in each other."""

    sums: Mapping[int, Loop]
    """``RESOLVE`` of a sum → the loop that adds it up."""
    left: int
    """How many elements the arrays may have besides."""
    nests: dict[int, Nest] = field(default_factory=dict)
    """Value → these loops."""
    before: dict[int, dict[Nest, list[int]]] = field(default_factory=dict)
    """Block of the outermost one → the values of which there are arrays before it, by the loops."""
    dropped: set[int] = field(default_factory=set)
    """What nothing else needs then."""


def invariants(f: Func, moving: Set[int], sums: Mapping[int, Loop], left: int) -> Invariants:
    """The values that are to be computed ahead, of a function whose derivatives are still to be made.

    ``moving``: the blocks of loops that do the same in all iterations of one around them, as a whole;
    ``sums``: the other loops that add up one number, by what reads that; ``left``: how many elements arrays
    may have.
    """
    found = Invariants(sums, left)
    depth = _depth(f)
    depends = _depends(f, depth, sums)
    nests = {
        v: nest
        for v in range(len(f.code))
        if (nest := _nest(f, v, depends[v], depth, sums.get(v))) and moving.isdisjoint(nest)
    }
    users = users_of(f) if nests else {}
    moved = set[int]()
    """What is in loops that add up such sums."""
    both = set[int]()
    """What is in loops that are needed ahead, and where they are."""
    for v, nest in reversed(list(nests.items())):
        if v in moved or v in both:
            del nests[v]
            continue
        needed_by = users.get(v, ())
        stay = [u for u in needed_by if u not in nests and u not in moved]
        ahead = [u for u in needed_by if u in found.dropped or u in found.nests or u in moved]
        op, size = f.code[v][0], prod(_trips(f, number) for number in nest)
        is_number = v in sums or (f.types[v] is REAL and op not in (INDEX, _NEG) and "R" in OPS[op].ins)
        if is_number and stay and size <= found.left:
            found.left -= size
            found.nests[v] = nest
            found.before.setdefault(nest[0], {}).setdefault(nest, []).append(v)
        elif needed_by and len(ahead) == len(needed_by):
            found.dropped.add(v)
        else:
            if is_number and stay:
                del nests[v]
            if v in sums and ahead:
                both |= sums[v].content
            continue
        if v in sums:
            moved |= sums[v].content
            found.dropped |= {sums[v].id, *sums[v].accumulators}
    return found


def _depth(f: Func) -> list[int]:
    """How many loops each block is in."""
    found = [0]
    for block in f.blocks[1:]:
        found.append(found[block.parent] + 1)
    return found


def _depends(f: Func, depth: list[int], sums: Mapping[int, Loop]) -> list[int]:
    """On which of the loops around it each value depends, as bits, the outermost the lowest; on all of them,
    if it cannot be computed elsewhere."""
    depends: list[int] = []
    chosen = chosen_by_indices(f)
    for v, (op, *given) in enumerate(f.code):
        here = depth[f.home[v]]
        if op == IDX:
            depends.append(1 << here >> 1)
        elif op == PARAM:
            depends.append(0)
        elif v in sums or op == INDEX or (op < TABLE_END and op not in FAILS and v not in chosen):
            bits = 0
            for x in sums[v].needed if v in sums else given:
                bits |= depends[x] if x >= 0 else 0
            depends.append(bits)
        else:
            depends.append((1 << here) - 1)
    return depends


def _nest(f: Func, v: int, depends: int, depth: list[int], of: Loop | None) -> Nest:
    """The loops of which a value is an array if it is computed ahead; or none."""
    op, number = f.code[v][0], f.home[v]
    if not (of or op < TABLE_END or op == INDEX) or not number or not depends >> depth[number] - 1 & 1:
        return ()
    nest = list[int]()
    while number > 0 and depends >> depth[number] - 1 & 1:
        nest.append(number)
        number = f.blocks[number].parent
    fewest = 2 if of and _trips(f, f.code[of.id][1]) >= _FEWEST_TRIPS else _FEWEST_TRIPS
    fits = number > 0 and _trips(f, number) >= fewest and all(_trips(f, inner) for inner in nest)
    return tuple(reversed(nest)) if fits else ()


def _trips(f: Func, number: int) -> int:
    size = f.blocks[number].size
    return size.size if isinstance(size, Fin) else 0
