"""Loops whose iterations are independent of each other, two iterations at a time: the 128-bit lanes of
WebAssembly.

    for i:  y[i] = a * x[i]     →     for i in steps of 2:  (y[i], y[i + 1]) = a * (x[i], x[i + 1])

Such a loop reads elements that are a step apart in neighbouring iterations, and what it computes of them goes
to elements of its own, of arrays or accumulators. These are neighbours; or they are the same coordinate of
neighbouring points, say, and then each lane is read and written by itself. Each lane does to its numbers what
the iteration by itself would do, so the results are the same to the bit. What is added up over all iterations
is added lane by lane, in the order of the iterations. Of an odd number of iterations, the last one runs in a
lane alone; so do some at the ends, where indices that follow the iterations by pieces are others than in
between.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from rose_core.language.ir import ADD_TO, GET, INDEX, LOOP, REF_INDEX, VEC, Func
from rose_core.language.ops import EFFORT, TABLE_END, by_name
from rose_core.language.types import BOOL, Array, Ref, is_tape
from rose_core.optimise.pieces import Piece, Pieces, at
from rose_core.wasm.apart import beside
from rose_core.wasm.lane_numbers import COMPARISONS, choices, in_lanes_of, is_number
from rose_core.wasm.lane_order import add_in_turn, keeps_order
from rose_core.wasm.layout import size_of
from rose_core.wasm.recurrences import Recurrence, recurrence
from rose_core.wasm.strides import STEP

if TYPE_CHECKING:
    from rose_core.wasm.lower import Body

LEAST_TRIPS = 4
"""The fewest iterations for which it is done."""

MOST_TRIPS = 2**28
"""The most: eight times the iteration is a 32-bit number."""

_FEW = 2
"""Up to so many operations take no longer than an addition to a sum."""

_MOST_CHOICES = 192
"""How long choices that need each other may take. In lanes they are waited for: up to here that takes at most
half as long again as branches that are foretold, and a fifth to four fifths of those that are not."""

_COMPARED = 5
"""How many operations it takes to put the numbers of two iterations into lanes, for a comparison."""

_SPREAD = 4
"""How many operations it takes to put a number into both lanes ahead of a loop in another one."""

_EFFORT_IN_ITERATION = 3
"""How much is to be computed for each addition that is done iteration by iteration."""

_MOST_ALONE, _MOST_WRITTEN = 6, 400
"""The most iterations that run alone at the ends, and about how many operations that may be."""

_MANY, _MOST_WRITTEN_FOR_MANY = 4, 1000
"""So many times as many iterations that run side by side are worth that many operations."""


_REAL = by_name["real"].code


Beside = tuple[tuple[int, int], ...]
"""Indices from outside of a loop that go into an address, each with the bytes between neighbours."""

Column = tuple[int, int, Beside]
"""Numbers of elements that are a step apart: the array or accumulator, the bytes to the first of all, and the
indices from outside."""


@dataclass(slots=True)
class Element:
    """A number in an array or accumulator from outside of a loop, which moves with its iterations."""

    of: int
    """The array, or the accumulator."""
    size: int
    """Bytes from one number that the index that moves may be to the next."""
    start: int
    """Bytes from the first element of all to that where this index is 0."""
    index: list[Piece]
    """How the index moves."""
    beside: Beside = ()
    """What else goes into where it is, from outside of the loop."""
    step: int = 0
    """Bytes from one iteration to the next, while iterations run side by side."""
    ahead: int = 0
    """The constant in the index, meanwhile."""

    @property
    def column(self) -> Column:
        return self.of, self.start, self.beside

    def begin(self, first: int) -> bool:
        """Let iterations run side by side from the first one on; whether the element moves then."""
        _, factor, self.ahead = at(self.index, first)
        self.step = factor * self.size
        return factor > 0

    def offset(self, iteration: int) -> int:
        """Bytes from the first element of all to that of an iteration."""
        _, factor, constant = at(self.index, iteration)
        return self.start + (factor * iteration + constant) * self.size


@dataclass(slots=True)
class Lanes:
    """What a loop consists of that can run in lanes."""

    number: int
    """Its block."""
    values: list[int] = field(default_factory=list)
    """Its operations and reads, in order, and loops with a state."""
    recurrences: dict[int, Recurrence] = field(default_factory=dict)
    """These loops."""
    elements: dict[int, Element] = field(default_factory=dict)
    """Those that it reads, and the places that it adds to; also rows that its recurrences have."""
    rows: list[int] = field(default_factory=list)
    """Rows of arrays and accumulators that its elements are of, and those that it makes."""
    sites: list[int] = field(default_factory=list)
    """``ADD_TO`` an element that moves with the iterations."""
    sums: list[int] = field(default_factory=list)
    """``ADD_TO`` a number that stays."""
    own: set[int] = field(default_factory=set)
    """Those of these numbers that are parts of accumulators, and that nothing else is added to."""
    numbers: dict[int, list[Piece]] = field(default_factory=dict)
    """Its values that are indices as numbers."""
    compared: dict[int, list[list[Piece] | None]] = field(default_factory=dict)
    """Comparisons of indices that depend on the iteration with others from outside, for which there is
    None."""
    shifted: list[int] = field(default_factory=list)
    """Its values that are sums of the iteration and an index from outside."""
    answers: dict[int, list[Piece]] = field(default_factory=dict)
    """Bools that depend on nothing but the iteration."""
    first: int = 0
    """The first of the iterations that run side by side."""
    last: int = 0
    """The first of those after them."""
    shared: set[int] = field(default_factory=set)
    """The sites whose elements others add to in other iterations."""
    repeated: dict[int, int] = field(default_factory=dict)
    """Elements that an iteration adds to several times, and that no other one is: how often."""
    in_turn: list[int] = field(default_factory=list)
    """What is added iteration by iteration, since elements of different ones may be the same."""
    single: set[int] = field(default_factory=set)
    """The sites that share elements with others: a lane is added after the other."""
    flows: dict[Column, list[int]] = field(default_factory=dict)
    """Sites that share the elements of a column with nothing but each other (`wasm.lane_flow`)."""
    unsure: list[tuple[int, int]] = field(default_factory=list)
    """Rows of which all that holds only if they are different ones, which a look at their addresses tells."""


def in_lanes(body: Body, number: int, columns: Mapping[int, int]) -> Lanes | None:
    """How a loop runs in lanes, if it can, and gains by it; ``columns``: its used results, by number."""
    func, block = body.func, body.func.blocks[number]
    if not LEAST_TRIPS <= block.trips <= MOST_TRIPS:
        return None
    lanes = Lanes(number)
    results = {block.results[k] for k in columns}
    can_run = _take_additions(body, lanes) and _take_values(body, lanes, results)
    if not can_run or not _begin(lanes, block.trips):
        return None
    if not block.is_whole and (lanes.first or lanes.last < block.trips):
        return None
    kept = [block.results[k] for k in columns if _is_kept(func, lanes, block.results[k])]
    if len(set(kept)) < len(kept):
        return None  # what is kept is written to one place
    made = [r for r in results if not is_number(func.type_of(r)) and r not in kept]
    if not all(_is_row(func, number, r) for r in made):
        return None
    operations = sum(EFFORT[op] for op in (func.code[v][0] for v in lanes.values) if op < TABLE_END)
    operations -= _COMPARED * len(lanes.compared)
    operations += sum(found.steps * found.effort() for found in lanes.recurrences.values())
    apart = _taken_apart(body, lanes, made)
    if operations < apart:
        return None  # to put lanes together and take them apart takes as long
    if max(choices(func, lanes.values).values(), default=0) > _MOST_CHOICES:
        return None
    if not (lanes.sites or columns or operations > _FEW * len(lanes.sums)):
        return None  # it waits for the additions anyway
    if not keeps_order(body, lanes):
        if lanes.recurrences:
            return None
        add_in_turn(body, lanes)
        if operations < _EFFORT_IN_ITERATION * len(lanes.in_turn) + apart:
            return None
    return lanes


def _take_additions(body: Body, lanes: Lanes) -> bool:
    """Find what the loop adds to; False if it does more than to add numbers."""
    code = body.func.code
    for v in body.demand.anchors[lanes.number]:
        if code[v][0] == LOOP:
            continue
        if code[v][0] != ADD_TO or not is_number(body.func.type_of(code[v][2])):
            return False
        r = code[v][1]
        is_site = code[r][0] == REF_INDEX and body.func.home[r] == lanes.number
        (lanes.sites if is_site else lanes.sums).append(v)
    return True


def _take_values(body: Body, lanes: Lanes, results: Collection[int]) -> bool:
    """Find what the loop computes; False if some of it cannot be computed in lanes."""
    added, pieces = {*lanes.sites, *lanes.sums}, Pieces.of_block(body.func, lanes.number)
    anchors = set(body.demand.anchors[lanes.number])
    for v in body.func.blocks[lanes.number].order:
        if v in added or not (body.demand.uses[v] or v in anchors):
            continue
        if not _take(body, lanes, v, v in results, pieces):
            return False
    return True


def _take(body: Body, lanes: Lanes, v: int, is_result: bool, pieces: Pieces) -> bool:
    """Note what the value ``v`` is in lanes, after all before it; False if it is nothing."""
    func, number = body.func, lanes.number
    ins, t = func.code[v], func.types[v]
    op, inner = ins[0], t.inner if isinstance(t, Ref) else t
    if op == LOOP:
        return _take_recurrence(body, lanes, v, pieces)
    if op == GET:
        return ins[1] in lanes.recurrences
    if op in (INDEX, REF_INDEX) and is_number(inner):
        found = element(body, ins, pieces)
        if found is None:
            return False
        lanes.elements[v] = found
    elif isinstance(inner, Array):
        if op not in (INDEX, REF_INDEX) and not (is_result and _is_row(func, number, v)):
            return False
        lanes.rows.append(v)
    elif t is BOOL and (answer := pieces.of(v)) and _changes_at_ends(answer, func.blocks[number].trips):
        lanes.answers[v] = answer
        return True
    elif op in COMPARISONS:
        operands = [(x, pieces.of(x)) for x in ins[1:]]
        if any(of is None and func.home[x] == number for x, of in operands):
            return False
        lanes.compared[v] = [of for _, of in operands]
    elif op == _REAL:
        index = pieces.of(ins[1])
        if index is None:
            return False
        lanes.numbers[v] = index
    elif is_number(t) or t is BOOL:
        if op == INDEX or not in_lanes_of(body, v):
            return False
    elif isinstance(t, Ref):
        return False
    elif body.affine(v) is None and pieces.of(v) is None:
        if beside(body, number, v) is None:
            return False
        lanes.shifted.append(v)
    if is_number(t) or t is BOOL:
        lanes.values.append(v)
    return True


def _take_recurrence(body: Body, lanes: Lanes, v: int, pieces: Pieces) -> bool:
    """Note that the loop with a state ``v`` goes on in lanes; False if it cannot."""
    found = recurrence(body, lanes.number, v, lanes.recurrences)
    for x in found.rows.values() if found else ():
        row = element(body, body.func.code[x], pieces)
        if row is None:
            return False
        lanes.elements[x] = row
    if found:
        lanes.recurrences[v] = found
        lanes.values.append(v)
    return found is not None


def _is_kept(func: Func, lanes: Lanes, v: int) -> bool:
    """Whether ``v`` is what a recurrence keeps of its steps."""
    is_array = not is_number(func.type_of(v))
    return is_array and v >= 0 and func.code[v][0] == GET and func.code[v][1] in lanes.recurrences


def _changes_at_ends(pieces: Sequence[Piece], trips: int) -> bool:
    """Whether it is only in iterations that may run alone that something is another than in most."""
    return all(min(start, trips - start) <= _MOST_ALONE for start, _, _ in pieces)


def _taken_apart(body: Body, lanes: Lanes, rows: Sequence[int]) -> int:
    """How many operations it takes to put lanes together and take them apart; ``rows``: those it makes."""
    code, block = body.func.code, body.func.blocks[lanes.number]
    apart = sum(found.step != STEP for found in lanes.elements.values())
    apart += sum(len(code[r]) - 1 for r in rows)
    if apart and block.parent:
        given = {x for v in lanes.values for x in code[v][1:] if x < 0 or body.func.home[x] != lanes.number}
        apart = 2 * apart + _SPREAD * len(given) // block.trips
    return apart


def _begin(lanes: Lanes, trips: int) -> bool:
    """Find the iterations that run side by side: those between the two changes of an index farthest apart."""
    elements = lanes.elements.values()
    compared = [of for operands in lanes.compared.values() for of in operands if of]
    found = [*(e.index for e in elements), *lanes.numbers.values(), *lanes.answers.values(), *compared]
    changes = sorted({0, trips}.union(start for index in found for start, _, _ in index))
    lanes.first, lanes.last = max(pairwise(changes), key=lambda ends: ends[1] - ends[0])
    beside = lanes.last - lanes.first
    alone = trips - beside
    steps = sum(len(found.order) for found in lanes.recurrences.values())
    written = _MOST_WRITTEN_FOR_MANY if beside >= _MANY * alone else _MOST_WRITTEN
    return (
        beside >= LEAST_TRIPS
        and alone <= _MOST_ALONE
        and alone * (len(lanes.values) + steps) <= written
        and all(e.begin(lanes.first) and e.offset(lanes.first) >= 0 for e in elements)
    )


def _is_row(func: Func, number: int, v: int) -> bool:
    """Whether an iteration makes ``v`` of numbers."""
    ins = func.code[v] if v >= 0 else ()
    return (
        bool(ins)
        and ins[0] == VEC
        and func.home[v] == number
        and all(is_number(func.type_of(x)) for x in ins[1:])
    )


def element(body: Body, ins: tuple[int, ...], pieces: Pieces) -> Element | None:
    """The element that an ``INDEX`` or ``REF_INDEX`` is, if it moves with the iterations of a loop."""
    func, code, number = body.func, body.func.code, pieces.number
    start, unit = 0, 0
    others: list[tuple[int, int]] = []
    moving: list[Piece] | None = None
    while True:
        _, of, index = ins
        t = func.type_of(of)
        inner = t.inner if isinstance(t, Ref) else t
        if not isinstance(inner, Array) or is_tape(inner) or is_tape(inner.elem):
            return None
        size = size_of(inner.elem)
        if index < 0:
            start += int(func.pool[~index][0]) * size
        elif func.home[index] != number:
            others.append((index, size))
        else:
            if moving:
                return None
            line, unit = body.affine(index), size
            if line:
                moving = [(0, *line[1:])] if line[0] == func.blocks[number].index else None
            else:
                moving = pieces.of(index)
            if not moving and (found := beside(body, number, index)):
                others.append((found[0], size))
                moving = [(0, 1, found[1])]
            if not moving:
                return None
        if of < 0 or func.home[of] != number:
            break
        ins = code[of]
        if ins[0] not in (INDEX, REF_INDEX):
            return None
    return Element(of, unit, start, moving, tuple(others)) if moving else None
