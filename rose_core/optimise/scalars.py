"""Short vectors in the state of a loop, as the numbers they consist of: scalar replacement of aggregates.

    loop i, state x:  [x[0] + h * x[1], x[1]]     →     loop i, state a, b:  a + h * b, b

An iteration would write the vector to memory, where the next one would wait for it, as it would for the
cotangents on the way back. Numbers are in local variables, and reverse mode keeps only those that it needs.
So this is done where an iteration reads and makes a vector element by element, by constant indices or in
loops of few iterations, which are unrolled for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from rose_core.language.builder import Builder
from rose_core.language.ir import INDEX, LOOP, PARAM, SET, VEC, Func, LoopSite, operands
from rose_core.language.ops import code
from rose_core.language.queries import (
    BEYOND_BINARY,
    among,
    inner_first,
    opcodes,
    param_ids,
    places,
    remembered,
)
from rose_core.language.replay import Replacing, Verbatim, copied
from rose_core.language.tables import table_of
from rose_core.language.types import UNIT, Array, Fin, Type, scalar_of, shape_of
from rose_core.optimise.copies import stays
from rose_core.optimise.other_loops import OtherLoops
from rose_core.optimise.written import written_out

_SELECT = code("select")
_LOOPS = among([LOOP])

_MOST = 16
"""The most numbers that a vector becomes."""

_MOST_SET = 4
"""The most numbers of a vector of which an iteration may set single elements: of a longer one, those that it
sets are state beside it (`optimise.carried`)."""

_MOST_TRIPS = 4
"""The most iterations of a loop that is unrolled."""

_MOST_ROWS = 128
"""The most instructions that such a loop becomes."""


@dataclass(frozen=True, slots=True)
class _Split:
    """What a loop becomes."""

    body: Func
    test: Func | None
    leaves: Collection[int]
    """The leaves of the state in place of which these take numbers."""


def in_scalars(f: Func) -> Func:
    """``f``, or a copy whose loops, and those in their bodies, have numbers as state; others are left."""
    return f if LOOP not in opcodes(f) or stays(f) else _in_scalars(f)


@remembered
def _in_scalars(f: Func) -> Func:
    found = {}
    for v in places(f, _LOOPS):
        site = LoopSite(f, f.code[v])
        made = _split(site)
        if made.body is not site.body:
            found[v] = made
    return copied(f, _Splitting, found) if found else f


def _split(site: LoopSite) -> _Split:
    body, test = in_scalars(site.body), site.test
    leaves = {k for k in range(site.spec.carries) if 0 < _count(body.params[1 + k]) <= _MOST}
    if not leaves or stays(body) or (test and stays(test)):
        return _Split(body, test, ())
    written = written_out(body, _short_loops(body, leaves))
    while leaves:
        of_body = _Apart(written, 1, leaves)
        of_test = _Apart(test, 0, leaves) if test else None
        apart = {k for k in leaves if of_body.has_result(k)} - of_body.whole_leaves
        if of_test:
            apart -= of_test.whole_leaves
        if apart == leaves:
            return _Split(of_body.taken(leaves), of_test.taken(()) if of_test else None, leaves)
        leaves = apart
    return _Split(body, test, ())


def _count(t: Type) -> int:
    """How many numbers an array consists of; 0 for all other types, and arrays of which that is not known."""
    found = int(isinstance(t, Array))
    while isinstance(t, Array):
        found *= t.index.size if isinstance(t.index, Fin) else 0
        t = t.elem
    return found


def _short_loops(body: Func, leaves: Collection[int]) -> set[int]:
    """The loops without a state that may be unrolled; none if none is over the elements of these leaves."""
    short: set[int] = set()
    rows = [len(block.order) for block in body.blocks]
    for number, block in inner_first(body):
        is_short = isinstance(block.size, Fin) and block.trips <= _MOST_TRIPS
        written = block.trips * rows[number] if is_short else _MOST_ROWS + 1
        if written <= _MOST_ROWS:
            short.add(number)
        rows[block.parent] += written
    sizes = {n for k in leaves for n in shape_of(body.params[1 + k])}
    return short if any(body.blocks[number].trips in sizes for number in short) else set()


class _Apart:
    """The vectors of a body or a test that are in numbers, if these leaves of the state are."""

    def __init__(self, f: Func, first: int, leaves: Collection[int]) -> None:
        """``first``: the number of the parameter that is the first leaf."""
        self.func = f
        ids = param_ids(f)
        self.given = {ids[first + k]: k for k in leaves}
        """The parameters → which leaves they are."""
        self.vectors: set[int] = set(self.given)
        self.elements: set[int] = set()
        """The numbers that are read of them."""
        self.whole: set[int] = set()
        """The vectors that something takes as they are, and may take from memory."""
        for v in places(f, BEYOND_BINARY):
            self._look_at(v, f.code[v])

    def _look_at(self, v: int, ins: tuple[int, ...]) -> None:
        f, op = self.func, ins[0]
        if 0 < _count(f.types[v]) <= _MOST:
            if op == VEC:
                is_one = table_of(f, v) is None and all(map(self._has, ins[1:]))
            elif op == SET:
                is_short = _count(f.types[v]) <= _MOST_SET
                is_one = is_short and ins[2] < 0 and self._has(ins[1]) and self._has(ins[3])
            elif op == _SELECT:
                is_one = self._has(ins[2]) and self._has(ins[3])
            else:
                is_one = op == INDEX and ins[2] < 0 and ins[1] in self.vectors
            if is_one:
                self.vectors.add(v)
                return
        elif op == INDEX and ins[2] < 0 and ins[1] in self.vectors:
            self.elements.add(v)
            return
        self.whole.update(self.vectors.intersection(operands(ins, f.blocks)))

    def _has(self, x: int) -> bool:
        """Whether the numbers of ``x`` are known without a look at memory."""
        return x < 0 or x in self.vectors or not isinstance(self.func.types[x], Array)

    def has_result(self, k: int) -> bool:
        """Whether result ``k`` is in numbers, and nothing else takes it from memory."""
        x = self.func.results[k]
        return self._has(x) and x not in self.whole

    @property
    def whole_leaves(self) -> set[int]:
        """The leaves that something takes as they are."""
        return {k for v, k in self.given.items() if v in self.whole}

    def taken(self, results: Collection[int]) -> Func:
        """The function that takes numbers, and gives numbers in place of these results."""
        f = self.func
        copy = Func(f.name, [], UNIT)
        copy.effects = f.effects
        b = Builder(copy)
        args, numbers = [], {}
        for _, v in sorted(param_ids(f).items()):
            t = f.types[v]
            if v in self.given:
                numbers[v] = [b.param(scalar_of(t)) for _ in range(_count(t))]
            args.append(0 if v in self.given else b.param(t))
        replay = _InNumbers(self, b, args, numbers, [x for k, x in enumerate(f.results) if k not in results])
        found = replay.run()
        copy.blocks[0].results = [
            y for k, x in enumerate(f.results) for y in (replay.parts(x) if k in results else [found[k]])
        ]
        return copy


class _InNumbers(Replacing, Verbatim):
    """Copies a function some of whose vectors are in numbers."""

    def __init__(
        self,
        apart: _Apart,
        b: Builder,
        args: Sequence[int],
        given: dict[int, list[int]],
        results: Sequence[int],
    ) -> None:
        super().__init__(apart.func, b, args)
        self.apart = apart
        self.others = apart.vectors | apart.elements
        self.numbers = given
        """Vector → its numbers, those of rows one after another."""
        self.whole = apart.whole.union(results)

    def instead(self, v: int) -> int:
        ins, t = self.func.code[v], self.func.types[v]
        if v in self.apart.elements:
            return self._element(ins)[0]
        if ins[0] != PARAM:
            self.numbers[v] = self._made(ins)
        return _vector(self.b, iter(self.numbers[v]), t) if v in self.whole else 0

    def _made(self, ins: tuple[int, ...]) -> list[int]:
        """The numbers of the vector that an instruction makes."""
        op = ins[0]
        if op == INDEX:
            return self._element(ins)
        if op == VEC:
            return [y for x in ins[1:] for y in self.parts(x)]
        if op == SET:
            found, new = self.parts(ins[1]).copy(), self.parts(ins[3])
            first = len(new) * int(self.func.pool[~ins[2]][0])
            found[first : first + len(new)] = new
            return found
        p = self.env[ins[1]]
        sides = zip(self.parts(ins[2]), self.parts(ins[3]), strict=True)
        return [self.b.ternary(_SELECT, p, x, y) for x, y in sides]

    def _element(self, ins: tuple[int, ...]) -> list[int]:
        """The numbers of an element of a vector."""
        found = self.numbers[ins[1]]
        t = self.func.types[ins[1]]
        assert isinstance(t, Array)
        step = len(found) // t.size
        first = step * int(self.func.pool[~ins[2]][0])
        return found[first : first + step]

    def parts(self, x: int) -> list[int]:
        """The numbers of a vector that is in numbers, or is a constant; a number alone."""
        return self.numbers[x] if x in self.numbers else _numbers(self.b, self.env[x])


def _numbers(b: Builder, x: int) -> list[int]:
    """The numbers of a vector, those of rows one after another; a number alone."""
    t = b.func.type_of(x)
    if not isinstance(t, Array):
        return [x]
    return [y for i in range(t.size) for y in _numbers(b, b.index(x, b.const(i, t.index)))]


def _vector(b: Builder, numbers: Iterator[int], t: Type) -> int:
    """A vector of this type that has the next numbers."""
    if not isinstance(t, Array):
        return next(numbers)
    return b.vec([_vector(b, numbers, t.elem) for _ in range(t.size)], t)


class _Splitting(OtherLoops):
    """Copies a function whose loops have numbers as state."""

    def other_loop(self, v: int, site: LoopSite, made: _Split, state: list[int], args: list[int]) -> None:
        b, carries = self.b, site.spec.carries
        given = [_numbers(b, x) if k in made.leaves else [x] for k, x in enumerate(state)]
        spec = replace(site.spec, carries=sum(map(len, given)))
        test_args = [self.env[x] for x in site.test_args]
        flat = [x for numbers in given for x in numbers]
        loop = b.loop(spec, self.env[site.count], made.body, flat, args, made.test, test_args)
        results = (b.get(loop, k) for k in range(spec.carries + 1 + len(site.body.results) - carries))
        after = [
            _vector(b, results, b.func.type_of(x)) if k in made.leaves else next(results)
            for k, x in enumerate(state)
        ]
        self.replaced[v] = [*after, *results]
