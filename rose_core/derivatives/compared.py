"""Vectors that are made to find the least or largest of their numbers, in reverse.

    v = [for i: f(i)];  loop i, state m:  min(m, v[i])     →     loop i, state m:  min(m, f(i))

The derivative of the least is that of one number (`derivatives.extremes`, `derivatives.nearest`). Of a
vector, all numbers would be kept, and all would get a cotangent, 0 but for one. So a loop that compares
numbers computes them; where these are few, and the comparisons are unrolled, so are they.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rose_core.derivatives.alike import MAX, MIN
from rose_core.derivatives.extremes import is_search
from rose_core.derivatives.iterations import new_function, stays_as_it_is
from rose_core.language.builder import Builder
from rose_core.language.ir import (
    ACCUM,
    ADD_TO,
    FOR,
    GET,
    IDX,
    INDEX,
    LOOP,
    PARAM,
    REF_INDEX,
    RESOLVE,
    VEC,
    Func,
    LoopSite,
    operands,
)
from rose_core.language.ops import FAILS, LIBRARY, TABLE_END
from rose_core.language.queries import contents, path_of, remembered, uses_of
from rose_core.language.replay import Replay, copied
from rose_core.language.types import Array

_MOST_ROWS = 48
"""The most instructions by which a number is computed."""

_MOST_TRIPS, _MOST_WRITTEN = 16, 256
"""The most numbers that are few, and the most instructions by which all of them are computed."""

_PLAIN = frozenset((IDX, INDEX, VEC, FOR, GET, ACCUM, ADD_TO, REF_INDEX, RESOLVE))


@dataclass(frozen=True, slots=True)
class _Vector:
    """A vector that a loop ``FOR`` makes for another one."""

    id: int
    number: int
    """The block of the loop that makes it."""
    result: int
    """What an iteration of that loop gives: a number of the vector."""
    outside: list[int]
    """What that needs from outside."""
    at: int
    """Which argument it is."""
    read: int
    """Where the body reads a number of it, once in each iteration."""


def compared_in_place(f: Func) -> Func:
    """``f``, whose loops that find the least or largest compute what such vectors have."""
    return f if not f.specs or len(f.blocks) == 1 or stays_as_it_is(f) else _compared_in_place(f)


@remembered
def _compared_in_place(f: Func) -> Func:
    made = [
        (v, at)
        for v, ins in enumerate(f.code)
        if ins[0] == LOOP
        for at, x in enumerate(LoopSite(f, ins).args)
        if x >= 0 and f.code[x][0] == GET and f.code[f.code[x][1]][0] == FOR
    ]
    users = uses_of(f) if made else {}
    found = {v: vector for v, at in made if (vector := _vector(f, v, at, users))}
    return copied(f, _Comparing, found) if found else f


def _vector(f: Func, loop: int, at: int, users: Mapping[int, Sequence[int]]) -> _Vector | None:
    """What a loop ``FOR`` makes for another one, an argument of that, if it is such a vector, of which
    nothing else reads but one number before, with which that may begin."""
    site = LoopSite(f, f.code[loop])
    x = site.args[at]
    _, maker, k = f.code[x]
    number = f.code[maker][1]
    numbers = [v for v in users[x] if v >= 0 and f.code[v][0] == INDEX and f.code[v][2] < 0]
    is_its_own = f.home[maker] == f.home[loop] and users[maker] == [x] and users[x] == [*numbers[:1], loop]
    result = f.blocks[number].results[k]
    read = _read(site.body, 1 + site.spec.carries + at)
    if not is_its_own or read < 0 or isinstance(f.type_of(result), Array) or not is_search(f, f.code[loop]):
        return None
    inside = contents(f, number)
    if len(inside) > _MOST_ROWS or not all(_is_plain(f, v, inside) for v in inside):
        return None
    needed = {y for v in inside for y in operands(f.code[v], f.blocks)} | {result}
    return _Vector(x, number, result, sorted(y for y in needed.difference(inside) if y >= 0), at, read)


def _read(body: Func, k: int) -> int:
    """Where the body of a loop reads an element of parameter ``k``, if it does nothing else with that."""
    p = body.code.index((PARAM, k))
    users = [v for v, ins in enumerate(body.code) if p in operands(ins, body.blocks)]
    is_element = len(users) == 1 and body.code[users[0]][0] == INDEX and not body.home[users[0]]
    return users[0] if is_element and p not in body.results else -1


def _is_plain(f: Func, v: int, inside: Sequence[int]) -> bool:
    """Whether it may be computed elsewhere, and is no function: of two numbers, these take half the time."""
    op, *given = f.code[v]
    if op == ADD_TO:
        return path_of(f, given[0])[1] in inside
    return op in _PLAIN if op >= TABLE_END else op not in LIBRARY and op not in FAILS


def few_compared(f: Func) -> set[int]:
    """The loops in others that make vectors of few numbers for nothing but comparisons, and those in them."""
    short = [
        number
        for number, block in enumerate(f.blocks)
        if block.parent > 0 and block.results and block.trips <= _MOST_TRIPS
    ]
    users, found = uses_of(f) if short else {}, set[int]()
    for number in short:
        block = f.blocks[number]
        vectors = users.get(block.owner, ())
        if all(_is_compared(f, v, users) for x in vectors for v in users.get(x, ())):
            inside = contents(f, number)
            trips = [f.trips_of(f.home[v], block.parent) for v in inside]
            if sum(trips) <= _MOST_WRITTEN and all(_is_plain(f, v, inside) for v in inside):
                found |= {f.home[v] for v in inside}
    return found


def _is_compared(f: Func, v: int, users: Mapping[int, Sequence[int]]) -> bool:
    """Whether ``v`` is a number of a vector, and becomes nothing but the least or largest of some."""
    return (
        v >= 0
        and f.code[v][0] == INDEX
        and f.code[v][2] < 0
        and all(user >= 0 and f.code[user][0] in (MIN, MAX) for user in users.get(v, ()))
    )


class _Comparing(Replay):
    def __init__(self, func: Func, b: Builder, args: Sequence[int], vectors: Mapping[int, _Vector]) -> None:
        super().__init__(func, b, args)
        self.vectors = vectors
        """Loop → the vector that is not made for it."""
        self.numbers = {vector.id: vector for vector in vectors.values()}
        self.makers = {func.code[x][1] for x in self.numbers}

    def loop(self, v: int, number: int) -> None:
        if v not in self.makers:
            super().loop(v, number)

    def get(self, v: int, of: int, k: int) -> None:
        if v not in self.numbers:
            super().get(v, of, k)

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        vector = self.numbers.get(ins[1]) if ins[0] == INDEX else None
        if vector:
            self.env[self.func.blocks[vector.number].index] = self.env[ins[2]]
            self.block(vector.number)
            self.env[v] = self.env[vector.result]
        else:
            super().structural(v, ins)

    def control_loop(self, v: int, ins: tuple[int, ...]) -> None:
        vector, env = self.vectors.get(v), self.env
        if vector is None:
            super().control_loop(v, ins)
            return
        site = LoopSite(self.func, ins)
        state = [env[x] for x in site.state]
        args = [env[x] for at, x in enumerate(site.args) if at != vector.at]
        args += [env[x] for x in vector.outside]
        self.env[v] = self.b.loop(site.spec, env[site.count], _with(self.func, site, vector), state, args)


def _with(f: Func, site: LoopSite, vector: _Vector) -> Func:
    """The body of a loop that computes the numbers of a vector."""
    body = site.body
    k = 1 + site.spec.carries + vector.at
    types = [*body.params[:k], *body.params[k + 1 :]]
    b, params = new_function(body.name, [*types, *map(f.type_of, vector.outside)])
    given = params[: len(types)]
    given.insert(k, 0)  # which nothing reads
    numbers = Replay(f, b, [])
    for x, param in zip(vector.outside, params[len(types) :], strict=True):
        numbers.env[x] = param
    b.func.blocks[0].results = _Computing(body, b, given, numbers, vector).run()
    return b.func


class _Computing(Replay):
    """Copies the body of a loop that computes what it reads."""

    def __init__(self, func: Func, b: Builder, args: Sequence[int], numbers: Replay, vector: _Vector) -> None:
        super().__init__(func, b, args)
        self.numbers = numbers
        """Has what the vector's numbers are computed of."""
        self.vector = vector

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        if v != self.vector.read:
            super().structural(v, ins)
            return
        numbers, number = self.numbers, self.vector.number
        numbers.env[numbers.func.blocks[number].index] = self.env[ins[2]]
        numbers.block(number)
        self.env[v] = numbers.env[self.vector.result]
