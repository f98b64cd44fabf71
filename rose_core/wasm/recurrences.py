"""Loops with a state in a loop that runs in lanes: each lane goes on from a state of its own.

    for i:  s = x[i];  for k < 100:  s = a[k] * s + b     →     the same with (x[i], x[i + 1])

Every step of such a recurrence waits for the one before it, so in lanes two of them take the time of one; and
where steps are short, two such pairs take hardly more than one, as they wait together. The state is numbers,
and the body nothing but operations on these, on elements of arrays, and on indices; it may keep numbers of
every step, and add to accumulators.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rose_core.language.demand import Demand
from rose_core.language.ir import ADD_TO, GET, INDEX, PARAM, REF_INDEX, LoopSite
from rose_core.language.ops import EFFORT, LIBRARY, OPS, TABLE_END, by_name
from rose_core.language.queries import is_flat
from rose_core.language.types import BOOL, Array, Fin, Ref, is_memory, is_tape
from rose_core.wasm.enclosed import Enclosed
from rose_core.wasm.expressions import mates_of
from rose_core.wasm.lane_numbers import COMPARISONS, Operations, in_lanes_of, is_number
from rose_core.wasm.layout import size_of

if TYPE_CHECKING:
    from rose_core.wasm.lower import Body

_IADD, _NARROW, _REAL = (by_name[name].code for name in ("iadd", "narrow", "real"))

_ON_INDICES = {op.code for op in OPS if "I" in op.ins and isinstance(op.wasm, int)}
"""Operations on indices that are instructions and never fail."""

USUAL_STEPS = 16
"""How many steps there are taken to be where that is not known."""

_SHORT, _EFFORT_APART = 64, 3
"""The most effort of a step of which two pairs go on together, and the least for a number that is read or
written lane by lane."""

Index = tuple[list[int], list[int], int]
"""As a sum: parameters that follow the iteration, indices that are the same in both lanes, and a constant."""


@dataclass(slots=True)
class Element:
    """A number in an operand of a recurrence, or the place of one."""

    of: int
    """The number of the body's parameter."""
    offset: int = 0
    """Bytes of constant indices."""
    at: list[tuple[int, int]] = field(default_factory=list)
    """Indices that are the same in both lanes, each with the bytes from one to the next."""
    along: list[tuple[int, int]] = field(default_factory=list)
    """Parameters that follow the iteration, likewise."""
    is_own: bool = False
    """Whether it is another one in every iteration, whatever the step."""


@dataclass(slots=True)
class Recurrence:
    """What a loop with a state consists of that goes on in lanes."""

    site: LoopSite
    body: Operations
    """Its body's."""
    lines: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Parameters that are indices that follow the iteration → factor and constant."""
    rows: dict[int, int] = field(default_factory=dict)
    """Parameters that are elements of an array or accumulator, another one for each lane → the operand."""
    order: list[int] = field(default_factory=list)
    """What a step does, in order: operations, reads, additions."""
    shared: set[int] = field(default_factory=set)
    """Of these, indices, Bools and numbers that are the same in both lanes."""
    indices: dict[int, Index] = field(default_factory=dict)
    """What its indices are."""
    moving: set[int] = field(default_factory=set)
    """Of what it does, comparisons and numbers of indices that follow the iteration."""
    elements: dict[int, Element] = field(default_factory=dict)
    """Those that a step reads, and the places that it adds to."""
    gets: dict[int, int] = field(default_factory=dict)
    """Number of the state → the ``GET`` of its end."""
    kept: dict[int, int] = field(default_factory=dict)
    """Number of a result of the body that is kept of every step → its ``GET``."""

    @property
    def operands(self) -> Sequence[int]:
        """Those of the body's parameters from the second one on."""
        return [*self.site.state, *self.site.args]

    @property
    def steps(self) -> int:
        """How many there are, or are taken to be."""
        return self.site.spec.trips if self.site.is_whole else min(self.site.spec.trips, USUAL_STEPS)

    def index(self, x: int) -> Index:
        """What an index is, or a literal."""
        return self.indices[x] if x >= 0 else ([], [], int(self.body.func.pool[~x][0]))

    def places(self) -> list[int]:
        """What its ``ADD_TO`` add to."""
        code = self.body.func.code
        return [code[v][1] for v in self.order if code[v][0] == ADD_TO]

    def literals(self) -> set[int]:
        """The literals that its operations have in lanes."""
        func, taken = self.body.func, set[int]()
        for v in self.order:
            op, *given = func.code[v]
            if v not in self.shared and v not in self.moving and op != INDEX:
                taken.update(given[op == ADD_TO :])
        taken.update(func.results[k] for k in (*range(self.site.spec.carries), *self.kept))
        return {x for x in taken if x < 0}

    def effort(self) -> int:
        """About how many operations there are in a step, but for those that take lanes apart."""
        code, effort = self.body.func.code, 0
        for v in self.order:
            if v in self.shared:
                continue
            op = code[v][0]
            if op < TABLE_END:
                effort += EFFORT[op]
            else:
                effort -= self._is_apart(v)
        return effort - len(self.kept)

    def _is_apart(self, v: int) -> bool:
        """Whether a read or an addition goes to a row of its own for each lane."""
        op, *given = self.body.func.code[v]
        return self.elements[given[0] if op == ADD_TO else v].of in self.rows

    def waits(self) -> bool:
        """Whether a step is so short that it does little but wait for the one before it."""
        code, effort, taken_apart = self.body.func.code, 0, 0
        for v in self.order:
            op = code[v][0]
            if op in LIBRARY:
                return False
            if op < TABLE_END:
                effort += EFFORT[op]
            elif self._is_apart(v):
                taken_apart += 1 + (op == ADD_TO)
        return _EFFORT_APART * taken_apart <= effort <= _SHORT


def recurrence(body: Body, number: int, v: int, kept: Container[int]) -> Recurrence | None:
    """How the loop ``v`` goes on in lanes of the block ``number``, if it can; ``kept``: other recurrences."""
    func, site = body.func, LoopSite(body.func, body.func.code[v])
    _, convention = body.callees[site.body]
    outside = site.count < 0 or func.home[site.count] != number
    if site.test or not outside or not isinstance(convention, Enclosed) or not is_flat(site.body):
        return None
    gets, carries = body.demand.columns.get(v, {}), site.spec.carries
    types = site.body.result_types
    used = [*range(carries), *(k - 1 for k in gets if k > carries)]
    is_kept = all(site.is_whole and not is_tape(func.types[gets[k + 1]]) for k in used[carries:])
    if carries in gets or not is_kept or not all(is_number(types[k]) for k in used):
        return None
    demand = Demand(site.body, [site.body.results[k] for k in used])
    mates = mates_of(site.body, demand, body.codes)
    found = Recurrence(site, Operations(site.body, demand, body.codes, mates))
    found.gets = {k: gets[k] for k in range(carries) if k in gets}
    found.kept = {k: gets[k + 1] for k in used[carries:]}
    return found if _take_operands(body, number, found, kept) and _Steps(found).take() else None


def _take_operands(body: Body, number: int, found: Recurrence, kept: Container[int]) -> bool:
    """Find what the operands are in each lane; False if that is not known of all."""
    func = body.func
    for p, x in enumerate(found.operands, 1):
        t = found.body.func.params[p]
        if x < 0 or func.home[x] != number:
            if is_memory(t) or is_number(t) or t is BOOL or isinstance(t, Fin):
                continue
            return False
        op, of = func.code[x][:2]
        if isinstance(t, Fin):
            line = body.affine(x)
            if not line or line[0] != func.blocks[number].index or not line[1]:
                return False
            found.lines[p] = line[1:]
        elif op in (INDEX, REF_INDEX) and is_memory(t):
            found.rows[p] = x
        elif not (is_number(t) or t is BOOL or (is_memory(t) and op == GET and of in kept)):
            return False
    return True


class _Steps:
    """Finds what a step of a recurrence consists of."""

    def __init__(self, found: Recurrence) -> None:
        self.found = found
        self.func = found.body.func
        self.indices = found.indices

    def take(self) -> bool:
        """False if some of it cannot be done in lanes."""
        demand = self.found.body.demand
        anchors = set(demand.anchors[0])
        needed = (v for v in range(len(self.func.code)) if demand.uses[v] or v in anchors)
        return all(map(self._take, needed)) and self._keeps_order()

    def _take(self, v: int) -> bool:
        found, ins, t = self.found, self.func.code[v], self.func.types[v]
        op = ins[0]
        if isinstance(t, Fin):
            return self._take_index(v, ins)
        if op in (PARAM, REF_INDEX) or (op == INDEX and not is_number(t)):
            return True
        if op in (INDEX, ADD_TO):
            place = ins[1] if op == ADD_TO else v
            element = self._element(place)
            if element is None or not is_number(self.func.inner_type_of(place) if op == ADD_TO else t):
                return False
            found.elements[place] = element
        elif op in _ON_INDICES:
            are_shared = all(self._is_shared(x) for x in ins[1:])
            if not are_shared and op != _REAL and op not in COMPARISONS:
                return False
            (found.shared if are_shared else found.moving).add(v)
        elif not (is_number(t) or t is BOOL) or not in_lanes_of(found.body, v):
            return False
        found.order.append(v)
        return True

    def _take_index(self, v: int, ins: tuple[int, ...]) -> bool:
        op, *given = ins
        if op == PARAM:
            (p,) = given
            self.indices[v] = ([p], [], 0) if p in self.found.lines else ([], [v], 0)
        elif op == _NARROW:
            self.indices[v] = self.found.index(given[0])
        elif op in _ON_INDICES and all(self._is_shared(x) for x in given):
            self.indices[v] = [], [v], 0
            self.found.shared.add(v)
            self.found.order.append(v)
        elif op == _IADD:
            (along, at, constant), (more, beside, add) = map(self.found.index, given)
            self.indices[v] = along + more, at + beside, constant + add
        else:
            return False
        return True

    def _is_shared(self, x: int) -> bool:
        """Whether an index is the same in both lanes."""
        return x < 0 or (x in self.indices and not self.indices[x][0])

    def _element(self, v: int) -> Element | None:
        """What a read reads, or where an addition adds to."""
        found = Element(-1)
        while self.func.code[v][0] != PARAM:
            _, of, index = self.func.code[v]
            t = self.func.type_of(of)
            inner = t.inner if isinstance(t, Ref) else t
            if of < 0 or not isinstance(inner, Array) or is_tape(inner) or is_tape(inner.elem):
                return None
            size = size_of(inner.elem)
            along, at, constant = self.found.index(index)
            found.along += [(p, size) for p in along]
            found.at += [(x, size) for x in at]
            found.offset += constant * size
            found.is_own |= bool(along) and not at
            v = of
        found.of = self.func.code[v][1]
        found.is_own |= found.of in self.found.rows
        return found if found.offset >= 0 else None

    def _keeps_order(self) -> bool:
        """Whether each element gets what steps add in the order of iterations by themselves.

        That is so where each iteration adds to elements of its own, and where each step does.
        """
        elements = [self.found.elements[place] for place in self.found.places()]
        return all(e.is_own or (not e.along and self._are_of_steps(e.at)) for e in elements)

    def _are_of_steps(self, at: Iterable[tuple[int, int]]) -> bool:
        """Whether an index among these is another one in every step."""
        return any(self._is_step(x) for x, _ in at)

    def _is_step(self, x: int) -> bool:
        op, *given = self.func.code[x] if x >= 0 else (-1,)
        if op == PARAM:
            return given == [0]
        if op == _IADD and min(given) < 0:
            return self._is_step(max(given))
        return op == _NARROW and self._is_step(given[0])
