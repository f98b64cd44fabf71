"""Loops whose turns are independent of each other, two turns at a time: the 128-bit lanes of WebAssembly.

Such a loop reads elements that are a step apart in neighbouring turns, and what it computes of them goes to
elements of its own, of arrays or accumulators. These are neighbours; or they are the same coordinate of
neighbouring points, say, and then each lane is read and written by itself. Each lane does to its numbers what
the turn by itself would do, so the results are the same to the bit. What is added up over all turns is added
lane by lane, in the order of the turns. Of an odd number of turns, the last one runs in a lane alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rose_core.encode import (
    BR_IF_0,
    END,
    F64_ADD,
    F64X2_ADD,
    F64X2_SPLAT,
    I32_ADD,
    I32_LT_U,
    I32_MUL,
    I32_SUB,
    I32X4_SPLAT,
    IN_LANES,
    LANE,
    LANES,
    LOOP,
    SECOND_LANE,
    Access,
    extract_lane,
    f64_const,
    i32_const,
    local_get,
    local_set,
    local_tee,
)
from rose_core.ir import ADD_TO, INDEX, PARAM, REF_INDEX, VEC, Func
from rose_core.layout import BASE, Place, size_of
from rose_core.ops import OPS, TABLE_END, by_name
from rose_core.types import BOOL, REAL, TAN, Array, Fin, Ref, Type, is_tape

if TYPE_CHECKING:
    from rose_core.lower import Body

LEAST_TURNS = 4
"""The fewest turns for which it is done."""

_FEW = 2
"""Up to so many operations take no longer than an addition to a sum."""

_SLOW = {by_name[name].code: 4 for name in ("div", "sqrt")}
"""Operations that take longer than others, by code."""

_CHOICES = {by_name["min"].code: 2, by_name["max"].code: 2, by_name["select"].code: 1}
"""Operations that choose, and how long they take. A turn by itself has branches in their place: the processor
foretells where these go, and goes on."""

_MOST_CHOICES = 5
"""How long choices that need each other may take: in lanes they are waited for."""

_CALL = 20
"""About so many operations are in a function of the library."""

STEP = 8
"""Bytes of an element."""

_INSTRUCTIONS = {op.code: IN_LANES[op.wasm] for op in OPS if isinstance(op.wasm, int) and op.wasm in IN_LANES}


def is_number(t: Type) -> bool:
    return t is REAL or t is TAN


@dataclass(slots=True)
class Element:
    """A number in an array or accumulator from outside of a loop, which moves with its turns."""

    of: int
    """The array, or the accumulator."""
    step: int
    """Bytes from one turn to the next."""
    offset: int
    """Bytes from the first element of all to that of the first turn."""
    ahead: int
    """The constant in the index that moves."""


@dataclass(slots=True)
class Lanes:
    """What a loop consists of that can run in lanes."""

    number: int
    """Its block."""
    values: list[int] = field(default_factory=list)
    """Its operations and reads, in order."""
    elements: dict[int, Element] = field(default_factory=dict)
    """Those that it reads, and the places that it adds to."""
    rows: list[int] = field(default_factory=list)
    """Rows of arrays and accumulators that its elements are of, and those that it makes."""
    sites: list[int] = field(default_factory=list)
    """``ADD_TO`` an element that moves with the turns."""
    sums: list[int] = field(default_factory=list)
    """``ADD_TO`` a number that stays."""


def in_lanes(body: Body, number: int, columns: Mapping[int, int]) -> Lanes | None:
    """How a loop runs in lanes, if it can; ``columns``: its used results, by number."""
    func, needed = body.func, body.demand.uses
    block = func.blocks[number]
    assert isinstance(block.size, Fin)
    lanes = Lanes(number)
    if block.size.size < LEAST_TURNS or any(w.width > 1 for w in body.windows.get(number, ())):
        return None
    results = {block.results[k] for k in columns}
    anchors = body.demand.anchors[number]
    added = set(anchors)
    for v in anchors:
        if func.code[v][0] != ADD_TO or not is_number(func.type_of(func.code[v][2])):
            return None
        is_site = func.code[func.code[v][1]][0] == REF_INDEX and func.home[func.code[v][1]] == number
        (lanes.sites if is_site else lanes.sums).append(v)
    for v in block.order:
        if needed[v] and v not in added:
            t = func.types[v]
            op, inner = func.code[v][0], t.inner if isinstance(t, Ref) else t
            if op in (INDEX, REF_INDEX) and is_number(inner):
                found = element(body, number, func.code[v])
                if found is None:
                    return None
                lanes.elements[v] = found
            elif isinstance(inner, Array):
                if op not in (INDEX, REF_INDEX) and not (v in results and _is_row(func, number, v)):
                    return None
                lanes.rows.append(v)
            elif is_number(t) or t is BOOL:
                if op == INDEX or not in_lanes_of(body, v):
                    return None
            elif isinstance(t, Ref) or body.affine(v) is None:
                return None
            if is_number(t) or t is BOOL:
                lanes.values.append(v)
    made = [r for r in results if not is_number(func.type_of(r))]
    if not all(_is_row(func, number, r) for r in made):
        return None
    operations = sum(_effort(func.code[v][0]) for v in lanes.values)
    apart = sum(found.step != STEP for found in lanes.elements.values())
    if operations < apart + sum(len(func.code[r]) - 1 for r in made):
        return None  # to put lanes together and take them apart takes as long
    if _choices(func, lanes.values) > _MOST_CHOICES:
        return None
    if not (lanes.sites or columns or operations > _FEW * len(lanes.sums)):
        return None  # it waits for the additions anyway
    lanes.sites.sort(key=lambda v: -lanes.elements[func.code[v][1]].offset)
    return lanes if _in_any_order(body, lanes) else None


def _effort(op: int) -> int:
    """About how many operations one takes."""
    if op == INDEX:
        return 0
    return _SLOW.get(op, 1) if op in _INSTRUCTIONS else _CALL


def _choices(func: Func, values: Iterable[int]) -> int:
    """How long those choices take that need each other."""
    time: dict[int, int] = {}
    for v in values:
        op, *given = func.code[v]
        time[v] = max((time.get(x, 0) for x in given), default=0) + _CHOICES.get(op, 0)
    return max(time.values(), default=0)


def _is_row(func: Func, number: int, v: int) -> bool:
    """Whether a turn makes ``v`` of numbers."""
    ins = func.code[v] if v >= 0 else ()
    return (
        bool(ins)
        and ins[0] == VEC
        and func.home[v] == number
        and all(is_number(func.type_of(x)) for x in ins[1:])
    )


def in_lanes_of(body: Body, v: int) -> bytes:
    """The code that computes ``v``, after its operands, in lanes; none if there is none."""
    op = body.func.code[v][0]
    if op in _INSTRUCTIONS or op >= TABLE_END:
        return _INSTRUCTIONS.get(op, b"")
    code = body.mates[v][1] if v in body.mates else body.codes.single[op]
    return body.codes.in_lanes.get(code, b"")


def element(body: Body, number: int, ins: tuple[int, ...]) -> Element | None:
    """The element that an ``INDEX`` or ``REF_INDEX`` is, if it moves with the turns of a loop."""
    func, code = body.func, body.func.code
    turn = func.blocks[number].index
    step = offset = ahead = 0
    while True:
        _, of, index = ins
        t = func.type_of(of)
        inner = t.inner if isinstance(t, Ref) else t
        if not isinstance(inner, Array) or is_tape(inner) or is_tape(inner.elem) or of in body.clobbered:
            return None
        size = size_of(inner.elem)
        if index < 0:
            offset += int(func.pool[~index][0]) * size
        else:
            at = body.affine(index)
            if at is None or at[0] != turn or at[1] < 1 or at[2] < 0 or step:
                return None
            step, ahead = at[1] * size, at[2]
            offset += ahead * size
        if of < 0 or func.home[of] != number:
            break
        ins = code[of]
        if ins[0] not in (INDEX, REF_INDEX):
            return None
    return Element(of, step, offset, ahead) if step else None


def _in_any_order(body: Body, lanes: Lanes) -> bool:
    """Whether each element gets the same additions in the same order if turns run side by side.

    What is added to elements of several turns, lane by lane, comes first where its element is farthest: what
    a turn adds to an element has been done then before a later turn adds to it.
    """
    func, accumulators = body.func, body.demand.accumulators
    offsets: dict[int, set[tuple[int, int]]] = {}
    for v in lanes.sites:
        r = func.code[v][1]
        site = lanes.elements[r]
        for root in accumulators(r):
            offsets.setdefault(root, set()).add((site.step, site.ahead))
    sums = {root for v in lanes.sums for root in accumulators(func.code[v][1])}
    given = [root for root in offsets if func.code[root][0] == PARAM]
    of_given = set().union(*(offsets[root] for root in given))  # which may be parts of one
    return (
        all(len(at) == 1 or _apart(at) for at in offsets.values())
        and len(of_given) <= 1
        and sums.isdisjoint(offsets)
        and not (given and any(func.code[root][0] == PARAM for root in sums))
    )


def _apart(places: Iterable[tuple[int, int]]) -> bool:
    """Whether elements, of which there are the steps, are read and written lane by lane in the same way."""
    (step, *others) = {step for step, _ in places}
    return step != STEP and not others


class Writer:
    """Writes a loop in lanes, behind what the block around it has so far."""

    def __init__(self, body: Body, number: int, places: Mapping[int, Place]) -> None:
        """``number``: the loop's block; ``places``: where each used result goes, by its number."""
        self.body = body
        self.func = body.func
        self.number = number
        self.block = self.func.blocks[number]
        self.home = self.func.home[self.block.owner]
        self.inside = {number}
        """The blocks that are written."""
        self.places = places
        self.taken = 0
        """How many local variables of lanes are in use."""
        self.brought: dict[int, bytes] = {}
        """Value from outside → code that pushes it."""
        self.outside: dict[int, bytes] = {}
        """Value from outside → code that pushes it in both lanes."""
        self.steps: dict[int, int] = {}
        """Bytes from one turn to the next → local variable with the bytes to this one."""

    def turn(self, count: int) -> list[bytes]:
        """The code of ``count`` turns side by side."""
        raise NotImplementedError

    def loop(self, used: Iterable[int]) -> None:
        """Write the loop, which uses these values, unless they are its own."""
        body, out = self.body, self.body.out[self.home]
        assert isinstance(self.block.size, Fin)
        turns = self.block.size.size
        out += self._spread()
        self.i = body.new_local(True)
        """The local variable with the number of the turn, times the bytes of an element."""
        start, whole = self.taken, turns & -2
        step = [local_get(self.i), i32_const(2 * STEP), I32_ADD, local_tee(self.i)]
        out += [BASE, local_set(self.i), LOOP, *self.turn(2), *step]
        out += [i32_const(whole * STEP), I32_LT_U, BR_IF_0, END]
        if turns != whole:
            self.taken = start
            out += self.turn(1)
        body.free[-1][1].append(self.i)
        results = [self.block.results[k] for k in self.places]
        for x in filter(self.is_outside, [*used, *results]):
            if x >= 0:
                body.used(x, self.number)
        delayed, body.delayed[self.number] = body.delayed[self.number], []
        for x in delayed:
            body.used(x, self.home)

    def is_outside(self, x: int) -> bool:
        return x < 0 or self.func.home[x] not in self.inside

    def bring(self, values: Iterable[int]) -> None:
        """See to it that values from outside are there when the loop begins."""
        for x in values:
            if x not in self.brought and self.is_outside(x):
                if x >= 0:
                    push = self.body.settle(x, self.home)
                elif self.func.type_of(x) is BOOL:
                    push = i32_const(int(self.func.pool[~x][0]))
                else:
                    push = f64_const(self.func.pool[~x][0])
                self.brought[x] = push

    def _spread(self) -> list[bytes]:
        """Code that puts what was brought into both lanes of local variables, a Bool as a mask.

        What is brought may need other loops, with the same local variables: so all of it is there before.
        """
        out = []
        for x, push in self.brought.items():
            is_mask = self.func.type_of(x) is BOOL
            n = self.new_local()
            out += [*([BASE, push, I32_SUB, I32X4_SPLAT] if is_mask else [push, F64X2_SPLAT]), local_set(n)]
            self.outside[x] = local_get(n)
        return out

    def new_local(self) -> int:
        known = self.body.lane_locals
        if self.taken == len(known):
            known.append(self.body.unused_local("v"))
        self.taken += 1
        return known[self.taken - 1]

    def operation(self, v: int, known: dict[int, bytes], out: list[bytes], read: bytes = b"") -> None:
        """Compute ``v``, of what is ``known``, or by code that reads it."""
        ins = self.func.code[v]
        if v in known:
            return
        if v in self.body.mates:
            mates, _ = self.body.mates[v]
            places = [self.new_local() for _ in mates]
            out += [known[ins[1]], in_lanes_of(self.body, v), *map(local_set, reversed(places))]
            known.update(zip(mates, map(local_get, places), strict=True))
            return
        push = read
        if not read:
            # of three operands the first is on top of the stack
            first, *others = [known[x] for x in ins[1:]]
            push = b"".join([first, *others] if len(others) < 2 else [*others, first])
            push += in_lanes_of(self.body, v)
        if self.body.demand.uses[v] > 1 or self.body.demand.rooted[v]:
            n = self.new_local()
            out += [push, local_set(n)]
            push = local_get(n)
        known[v] = push

    def address(self, place: Place, step: int = STEP) -> bytes:
        """Code that pushes where the turn is that has so many bytes, without the offset."""
        return place.plus(local_get(self.i if step == STEP else self.steps[step]))

    def results(self, known: Mapping[int, bytes], count: int) -> list[bytes]:
        """Code that writes the results of ``count`` turns."""
        out = []
        for k, place in self.places.items():
            r = self.block.results[k]
            if is_number(self.func.type_of(r)):
                out += self.store(place, STEP, known[r], count)
            else:
                row = self.func.code[r][1:]
                for j, x in enumerate(row):
                    out += self.store(place.at(j * STEP), len(row) * STEP, known[x], count)
        return out

    def store(self, place: Place, step: int, value: bytes, count: int) -> list[bytes]:
        """Code that writes a number of ``count`` turns, each ``step`` bytes from the one before."""
        here = self.address(place, step)
        if step == STEP:
            return [here, value, (LANES if count == 2 else LANE).store(place.offset)]
        if count == 1:
            return [here, value, LANE.store(place.offset)]
        n = self.new_local()
        first = [value, local_set(n), here, local_get(n), LANE.store(place.offset)]
        return [*first, here, local_get(n), SECOND_LANE.store(place.offset + step)]

    def sums(self, added: Sequence[int], count: int, known: Mapping[int, bytes]) -> list[bytes]:
        """Code that does what is ``added`` up over the turns, lane after lane."""
        body, code = self.body, self.func.code
        out: list[bytes] = []
        terms = []
        for v in added:
            n = self.new_local()
            out += [known[code[v][2]], local_set(n)]
            terms.append(n)
        for lane in range(count):
            for v, n in zip(added, terms, strict=True):
                out += body.adding(code[v][1], [local_get(n), extract_lane(lane), F64_ADD])
        return out


class FlatWriter(Writer):
    """Writes a loop that no other loop is in."""

    def __init__(self, body: Body, lanes: Lanes, places: Mapping[int, Place]) -> None:
        super().__init__(body, lanes.number, places)
        self.lanes = lanes
        self.new = {w.accumulator: w for w in body.windows.get(lanes.number, ()) if w.is_new}

    def write(self) -> None:
        body, code, lanes = self.body, self.func.code, self.lanes
        values, rows, sites, sums = (
            [code[v] for v in of] for of in (lanes.values, lanes.rows, lanes.sites, lanes.sums)
        )
        elements = [code[r] for r in dict.fromkeys(ins[1] for ins in sites)]
        for of in (*(found.of for found in lanes.elements.values()), *(ins[1] for ins in sums)):
            body.place(of)
        for ins in (*values, *rows):
            if ins[0] not in (INDEX, REF_INDEX):
                self.bring(ins[1:])
        self.bring(ins[2] for ins in (*sites, *sums))
        self.bring(r for k in self.places if is_number(self.func.type_of(r := self.block.results[k])))
        for window in self.new.values():
            body.out[self.home] += window.before(body.place(window.accumulator))
        steps = {found.step for found in lanes.elements.values()}
        steps |= {(len(ins) - 1) * STEP for ins in rows if ins[0] == VEC}
        self.steps = {step: body.new_local(True) for step in sorted(steps - {STEP})}
        self.loop([x for ins in (*values, *rows, *sites, *sums, *elements) for x in ins[1:]])
        body.free[-1][1].extend(self.steps.values())

    def turn(self, count: int) -> list[bytes]:
        body, code, access = self.body, self.func.code, LANES if count == 2 else LANE
        out: list[bytes] = []
        for step, local in self.steps.items():
            out += [local_get(self.i), i32_const(step // STEP), I32_MUL, local_set(local)]
        known = dict(self.outside)
        for v in self.lanes.values:
            self.operation(v, known, out, self._load(v, count) if v in self.lanes.elements else b"")
        sums = {r: self.new_local() for r in self.new}
        out += [f64_const(0.0) + F64X2_SPLAT + local_set(n) for n in sums.values()]
        for v in self.lanes.sites:
            _, r, x = code[v]
            n = sums.get(code[r][1])
            if n is None:
                total = self._load(r, count) + known[x] + F64X2_ADD
                out += self.store(self._place(r), self.lanes.elements[r].step, total, count)
            else:
                out += [local_get(n), known[x], F64X2_ADD, local_set(n)]
        for r, n in sums.items():
            place = body.place(r).at(self.new[r].low * STEP)
            out += [self.address(place), local_get(n), access.store(place.offset)]
        return out + self.results(known, count) + self.sums(self.lanes.sums, count, known)

    def _place(self, v: int) -> Place:
        """Where an element is in the first turn."""
        found = self.lanes.elements[v]
        return self.body.place(found.of).at(found.offset)

    def _load(self, v: int, count: int) -> bytes:
        """Code that reads an element of ``count`` turns."""
        place, step = self._place(v), self.lanes.elements[v].step
        here = self.address(place, step)
        if step == STEP:
            return here + (LANES if count == 2 else LANE).load(place.offset)
        first = here + LANE.load(place.offset)
        return first if count == 1 else here + first + SECOND_LANE.load(place.offset + step)


def add_arrays(i: int, to: Place, x: Place, size: int) -> list[bytes]:
    """``to[k] += x[k]`` for every number of an array of ``size`` bytes; ``i``: a local variable for that."""
    at = local_get(i)
    to_push, x_push = to.plus(at), x.plus(at)

    def add(access: Access) -> list[bytes]:
        read = [to_push, access.load(to.offset), x_push, access.load(x.offset)]
        return [to_push, *read, F64X2_ADD, access.store(to.offset)]

    whole = size // (2 * STEP) * (2 * STEP)
    out = [BASE, local_set(i)]
    if whole:
        out += [LOOP, *add(LANES), at, i32_const(2 * STEP), I32_ADD, local_tee(i)]
        out += [i32_const(whole), I32_LT_U, BR_IF_0, END]
    return out + (add(LANE) if whole < size else [])
