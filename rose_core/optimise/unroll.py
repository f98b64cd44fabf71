"""Small loops inside others, unrolled: the last step before a function is lowered.

    for i:  for k < 2:  s += x[i][k]     →     for i:  s += x[i][0];  s += x[i][1]

A loop of a few iterations spends as much on counting them as on its work, and what it adds to the elements of
a vector goes through memory. Unrolled, its indices are constants, and a short accumulator that is only added
to at such indices becomes one local variable for each element. Loops that are not inside of another are left:
they would not run faster for it; nor those that gain more by running two iterations at a time (`wasm.lanes`).

`unrolled` also runs the other passes that come at this point; `rose_core.optimise` lists them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from rose_core.language.builder import Builder
from rose_core.language.ir import (
    ACCUM,
    ADD_TO,
    COND,
    IDX,
    INDEX,
    LOOP,
    REF_INDEX,
    RESOLVE,
    CondSite,
    Func,
    callees,
    operands,
)
from rose_core.language.ops import BINARY_END, EFFORT, OPS, by_name
from rose_core.language.queries import among, inner_first, opcodes, path_of, places
from rose_core.language.replay import copied
from rose_core.language.types import REAL, TAN, Array, Ref, Type, is_memory, is_tape
from rose_core.optimise import jam
from rose_core.optimise.elements import added_by_elements
from rose_core.optimise.gather import gathered
from rose_core.optimise.interchange import interchanged
from rose_core.optimise.mapped import mapped
from rose_core.optimise.once import computed_once
from rose_core.optimise.peel import only_at_ends, peeled
from rose_core.optimise.predicated import predicated
from rose_core.optimise.single import relinked
from rose_core.optimise.sunk import sunk
from rose_core.optimise.tapeless import tapeless
from rose_core.optimise.written import WrittenOut, sums_of

_ADD, _IADD, _NARROW = (by_name[name].code for name in ("add", "iadd", "narrow"))

_ON_NUMBERS = {op.code for op in OPS if isinstance(op.wasm, int) and "I" not in op.ins}
"""Operations that are one instruction, as they are in lanes."""

_LOOPS, _WITH_PARTS, _PLACES = among([LOOP]), among((LOOP, COND)), among([REF_INDEX])

MOST_TRIPS = 16
"""The most iterations of a loop that is unrolled."""

MOST_TRIPS_IN_STATE = 4
"""The same for the outermost loops in the body of a loop with a state."""

USUAL_TRIPS = 16
"""How often such a body is taken to run, as that is not known."""

MOST_ROWS = 128
"""The most instructions that a loop may be unrolled to."""

MOST_ROWS_IN_LOCALS = 256
"""The same if it is outermost in the body of a loop with a state; or if it adds to local variables, and in
memory to what each iteration around has of its own: these may then run two at a time."""

ROWS_PER_ITERATION = 8
"""A function is left as it is if it has more instructions than this for each iteration that it would save."""

MOST_VARIABLES = 16
"""The most elements of an accumulator that become local variables."""

_MOST_ROUNDS = 4
"""How often loops that have become one are looked at again."""

_COORDINATES = 3
"""The most iterations of a loop that never runs two iterations at a time itself."""

_TO_NEIGHBOURS, _TO_A_SUM, _TO_A_ROW = (8, 1), (4, 6), (10, 4)
"""The fewest iterations, and what each is worth in additions, with which a loop that adds to these, or makes
one, runs two iterations at a time instead. What goes into a sum waits for that in any case."""

_LITTLE = 4
"""The most work on an element with which a short accumulator is left in memory, where two of its elements are
added to at a time. With more, the loop around runs two iterations at a time."""


def unrolled(f: Func, in_loop: bool = False) -> Func:
    """``f``, which may run in a loop, with the small loops in it and in what it calls unrolled."""
    key = "unrolled", in_loop
    found = f.memo.get(key)
    if found is None:
        taking = interchanged(added_by_elements(sunk(f)), MOST_ROWS)
        parts = _parts_of_loops(taking, in_loop)
        linked = relinked(taking, [unrolled(g, g in parts) for g in taking.callees])
        has_some = len(f.blocks) > (1 if in_loop else 2) and f.host is None
        short, joint = _short_loops(linked, in_loop) if has_some else (set(), {})
        if short:
            written = copied(linked, _Unrolling, short, joint)
            found = added_by_elements(written)  # variables are there now that make vectors
        found = mapped(predicated(found or linked))
        for _ in range(_MOST_ROUNDS):
            joined = tapeless(found)
            if joined is found:
                break
            found = mapped(joined)
        found = f.memo[key] = computed_once(gathered(peeled(found)))
    assert isinstance(found, Func)
    return found


def _parts_of_loops(f: Func, in_loop: bool) -> set[Func]:
    """The bodies of loops with a state, and where ``f`` runs in a loop, the sides of choices."""
    found: set[Func] = set()
    for v in places(f, _WITH_PARTS if in_loop else _LOOPS):
        found.update(f.callees[k] for k in callees(f.code[v]))
    return found


def _short_loops(f: Func, in_loop: bool) -> tuple[set[int], dict[int, list[int]]]:
    """The loops to unroll, by block; those of them to jam: block → what is in it."""
    short: set[int] = set()
    joint: dict[int, list[int]] = {}
    inside = [[k] for k in range(len(f.blocks))]
    """Block → itself and those in it, where these are few."""
    rows = [len(block.order) for block in f.blocks]
    parts = Counter(f.code[v][1] for v in places(f, _PLACES))
    often = USUAL_TRIPS if in_loop else 1
    saved = 0
    for number, block in inner_first(f):
        trips = block.trips
        written = trips * rows[number]
        stay = [k for k in inside[number][1:] if k not in short]
        is_short = written <= (MOST_ROWS_IN_LOCALS if in_loop and not block.parent else MOST_ROWS)
        few = (
            1 < trips <= jam.MOST_TRIPS
            and written <= jam.MOST_ROWS
            and joint.keys().isdisjoint(inside[number])
        )
        if few and _add_up(f, stay) and jam.can_jam(f, number, inside[number]):
            joint[number] = inside[number]
            saved += sum(f.trips_of(k) for k in stay)
        elif (
            0 < trips <= _most_trips(block.parent, in_loop)
            and (
                is_short
                or (written <= MOST_ROWS_IN_LOCALS and not stay and _in_locals(f, inside[number], often))
            )
            and not _is_peeled(f, number)
            and (trips <= _COORDINATES or not _has_states(f, inside[number]))
            and not _stays_for_lanes(f, number, trips, parts, is_short)
        ):
            saved += trips * (f.trips_of(block.parent) if block.parent else USUAL_TRIPS)
        else:
            rows[block.parent] += rows[number]
            inside[block.parent] += inside[number] if rows[number] <= jam.MOST_ROWS else []
            continue
        short.add(number)
        rows[block.parent] += written
        inside[block.parent] += inside[number]
    return (short, joint) if len(f.code) <= ROWS_PER_ITERATION * saved else (set(), {})


def _most_trips(parent: int, in_loop: bool) -> int:
    """The most iterations of a loop in this block that is unrolled."""
    if parent:
        return MOST_TRIPS
    return MOST_TRIPS_IN_STATE if in_loop else 0


def _stays_for_lanes(f: Func, number: int, trips: int, parts: Mapping[int, int], is_short: bool) -> bool:
    """Whether a loop computes enough of neighbours in memory, and adds it to others there, or to a sum, or
    makes a row of it.

    ``parts``: of how many places an accumulator is made up; ``is_short``: whether it is short if unrolled.
    """
    code, home = f.code, f.home
    iteration = f.blocks[number].index
    # to load two neighbours takes long if others have just been stored, of which each is one
    moving = {INDEX: {iteration}, REF_INDEX: {iteration}}
    around = f.blocks[number].parent
    across = {f.blocks[around].index} if around else set()
    """What moves with the iterations of the loop around, too."""
    apart = False
    """Whether anything is neither invariant in the loop around, nor neighbours for its iterations, too."""
    effort = 0
    least: tuple[int, int] | None = None
    for v in f.blocks[number].order:
        op, *given = code[v]
        if op in (_IADD, _NARROW):
            moving[INDEX].add(v)
            if not across.isdisjoint(given):
                across.add(v)
        elif op in _ON_NUMBERS:
            effort += EFFORT[op]
        elif op == ADD_TO:
            root = path_of(f, given[0])[1]
            are_variables = _becomes_variables(f, root)
            if home[given[0]] != number:
                least = _TO_A_SUM
            elif is_short and (parts[root] > 1 or effort > _LITTLE) and are_variables:
                return False
            apart |= not are_variables
            least = least or _TO_NEIGHBOURS
        elif op != IDX and not (op in moving and given[1] in moving[op] and home[given[0]] != number):
            return False
        elif op == INDEX:
            apart |= given[1] not in across or home[given[0]] == around
    if least is None and f.blocks[number].results:
        least = _TO_A_ROW
    return (apart or not is_short) and least is not None and trips >= least[0] and effort >= least[1]


def _is_peeled(f: Func, number: int) -> bool:
    """Whether a loop computes enough, and has choices that `peel` takes all: then it may run in lanes."""
    work = [f.code[v] for v in f.blocks[number].order]
    choices = [v for v in f.blocks[number].order if f.code[v][0] == COND]
    for v in choices:
        work += max(CondSite(f, f.code[v]).functions, key=lambda side: len(side.code)).code
    effort = sum(EFFORT[ins[0]] for ins in work if ins[0] in _ON_NUMBERS)
    return bool(choices) and effort > _LITTLE and all(only_at_ends(f, v) for v in choices)


def _has_states(f: Func, numbers: Sequence[int]) -> bool:
    """Whether a loop with a state is in one of these blocks: to count such loops takes no time beside them,
    and they may run in lanes."""
    return LOOP in opcodes(f) and any(f.code[v][0] == LOOP for k in numbers for v in f.blocks[k].order)


def _add_up(f: Func, numbers: Sequence[int]) -> bool:
    """Whether something is added up in one of these blocks."""
    return any(f.code[v][0] == ADD_TO for k in numbers for v in f.blocks[k].order)


def _in_locals(f: Func, numbers: Sequence[int], often: int) -> bool:
    """Whether a loop, in one of many iterations, adds to local variables, once all of it is unrolled, and in
    memory to nothing but elements of which each iteration around has its own, and such as are the same in
    all.

    ``numbers``: its block, and theirs; ``often``: how often ``f`` runs.
    """
    around, index = f.blocks[numbers[0]].parent, f.blocks[numbers[0]].index
    are_few = f.blocks[numbers[0]].trips <= _COORDINATES
    written = {f.blocks[k].index for k in numbers} if are_few else {index}
    added = [path_of(f, f.code[v][1]) for k in numbers for v in f.blocks[k].order if f.code[v][0] == ADD_TO]
    return often * f.trips_of(around) >= USUAL_TRIPS and all(
        path[-1:] == [f.blocks[around].index]
        or (are_few and f.blocks[around].index in path)
        or not is_memory(f.inner_type_of(root))
        or _becomes_variables(f, root)
        or all(i < 0 or i in written or f.home[i] < around for i in path)
        for path, root in added
    )


def _becomes_variables(f: Func, r: int) -> bool:
    return f.code[r][0] == ACCUM and _is_short(f.inner_type_of(r))


def _is_short(t: Type) -> bool:
    if not isinstance(t, Array) or is_tape(t) or t.elem not in (REAL, TAN):
        return False
    return t.size <= MOST_VARIABLES


def _split(f: Func, short: Collection[int], together: Collection[int]) -> set[int]:
    """The accumulators that become one for each of their elements, where these loops are unrolled.

    ``together``: the blocks of those that run side by side, which keep theirs.
    """
    constant = {f.blocks[number].index for number in short}
    split = set()
    for v, ins in enumerate(f.code):
        if ins[0] < BINARY_END:
            if all(x < 0 or x in constant for x in ins[1:]):
                constant.add(v)
        elif ins[0] == ACCUM:
            if f.home[v] not in together and _is_short(f.inner_type_of(v)):
                split.add(v)
        elif not (ins[0] == REF_INDEX and (ins[2] < 0 or ins[2] in constant)) and ins[0] != RESOLVE:
            split.difference_update(x for x in operands(ins, f.blocks) if isinstance(f.type_of(x), Ref))
    return split


class _Unrolling(WrittenOut, jam.SideBySide):
    """What is added to its sums, or to their elements, is an addition."""

    def __init__(
        self,
        func: Func,
        b: Builder,
        args: Sequence[int],
        short: Collection[int],
        joint: Mapping[int, list[int]],
    ) -> None:
        together = {number for numbers in joint.values() for number in numbers}
        self.split = _split(func, short, together)
        sums = sums_of(func, {*short} - together, self.split)
        super().__init__(func, b, args, short, {v for v in sums if func.home[v] not in together})
        self.joint = joint
        self.variables: dict[int, list[int]] = {}
        """Accumulator → those of its elements, or what these come to so far."""

    def loop(self, v: int, number: int) -> None:
        if number in self.joint:
            self.give(v, self.side_by_side(number))
        else:
            super().loop(v, number)

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        b, op, env = self.b, ins[0], self.env
        if op == ACCUM and v in self.split:
            t = self.func.inner_type_of(v)
            assert isinstance(t, Array)
            starts = [b.index(env[ins[1]], b.const(k, t.index)) for k in range(t.size)]
            self.variables[v] = starts if v in self.sums else [*map(b.accum, starts)]
        elif op == REF_INDEX and ins[1] in self.split:
            k = int(b.pool[~env[ins[2]]][0])
            env[v] = k if ins[1] in self.sums else self.variables[ins[1]][k]
        elif op == RESOLVE and ins[1] in self.split:
            found = self.variables[ins[1]]
            env[v] = b.vec(found if ins[1] in self.sums else [*map(b.resolve, found)], self.func.types[v])
        elif op == ADD_TO and (of := self._element_of(ins[1])) in self.sums:
            elements = self.variables[of]
            elements[env[ins[1]]] = b.binary(_ADD, elements[env[ins[1]]], env[ins[2]])
        else:
            super().structural(v, ins)

    def _element_of(self, r: int) -> int:
        """The accumulator of which ``r`` is an element, if it is one."""
        return self.func.code[r][1] if self.func.code[r][0] == REF_INDEX else -1
