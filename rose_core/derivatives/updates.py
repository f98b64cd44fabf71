"""Arrays that functions update: which results are a parameter but for some elements, and what they read.

Such an update can be taken back: with the old elements, what was before it is known from what is after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rose_core.derivatives.kept import numbers_in, numbers_of
from rose_core.language.ir import (
    CALL,
    COND,
    ENDLESS,
    GET,
    INDEX,
    LOOP,
    PARAM,
    SET,
    CondSite,
    Func,
    LoopSite,
    callees,
    is_real,
)
from rose_core.language.queries import remembered, users_of
from rose_core.language.types import Array, Fin, has_tape

_FEW = 16
"""So many numbers are kept of every iteration rather than an array taken along."""


@dataclass(slots=True)
class Chain:
    """What becomes of an array that a function takes, update by update, up to a result."""

    param: int
    versions: Sequence[int]
    """Its ids, from the parameter to the result."""


@remembered
def chains(f: Func) -> Mapping[int, Chain]:
    """By the number of the result: what is nothing but a parameter with some elements replaced."""
    return {k: made for k, v in enumerate(f.results) if (made := _chain(f, v))}


def _chain(f: Func, v: int) -> Chain | None:
    t = f.type_of(v)
    if not isinstance(t, Array) or not is_real(t) or has_tape(t) or numbers_in(t) <= _FEW:
        return None
    versions = []
    while v >= 0 and not f.home[v]:
        versions.append(v)
        ins = f.code[v]
        if ins[0] == PARAM:
            return Chain(ins[1], versions[::-1])
        v = ins[1] if ins[0] == SET else _given(f, ins)
    return None


def _given(f: Func, ins: tuple[int, ...]) -> int:
    """The array that a loop, choice or call updates, for a ``GET`` of a result; -1 where there is none."""
    if ins[0] != GET:
        return -1
    _, of, k = ins
    if f.code[of][0] == LOOP:
        site = LoopSite(f, f.code[of])
        return site.state[k] if k in restorable(site) else -1
    if f.code[of][0] == COND:
        choice = CondSite(f, f.code[of])
        sides = [chains(side).get(k) for side in choice.functions]
        given = {args[side.param] if side else -1 for side, args in zip(sides, choice.args, strict=True)}
        return given.pop() if len(given) == 1 else -1
    if f.code[of][0] == CALL:
        _, callee, *args = f.code[of]
        called = chains(f.callees[callee]).get(k)
        return args[called.param] if called else -1
    return -1


def restorable(site: LoopSite) -> Mapping[int, Chain]:
    """The leaves of a loop's state that an iteration updates in some elements."""
    if site.spec.checkpoint:
        return {}
    found = chains(site.body)
    return {k: chain for k, chain in found.items() if k < site.spec.carries and chain.param == 1 + k}


def updates_of_element(f: Func, v: int) -> list[int]:
    """The updates that make the new element of the update ``v`` from the old one, last to first.

    There are none if the new element replaces the old one as a whole.
    """
    _, whole, at, x = f.code[v]
    found = []
    while x >= 0 and f.code[x][0] == SET:
        found.append(x)
        x = f.code[x][1]
    return found if x >= 0 and f.code[x] == (INDEX, whole, at) else []


@remembered
def overwriting(f: Func) -> set[int]:
    """The updates of a function whose old element is needed to take back what becomes of its parameters."""
    versions = (v for chain in chains(f).values() for v in chain.versions)
    return {u for v in versions if f.code[v][0] == SET for u in _innermost(f, v)}


def _innermost(f: Func, v: int) -> Iterator[int]:
    """The updates that the update ``v`` consists of: itself, or those in its element."""
    stack = [v]
    while stack:
        inner = updates_of_element(f, u := stack.pop())
        stack += inner
        if not inner:
            yield u


# -- whether it is worth it ----------------------------------------------------------------------------------


def is_worth_it(site: LoopSite, k: int) -> bool:
    """Whether to take an array of the state along: if iterations read much of it, and write over less."""
    read, written = _counts(site.body)[k]
    size = numbers_in(site.body.params[1 + k])
    return read > max(_FEW, written) and read * _most_trips(site) > 2 * size


def _most_trips(site: LoopSite) -> int:
    size = site.spec.index
    return size.size if isinstance(size, Fin) else ENDLESS


@remembered
def _counts(f: Func) -> Mapping[int, tuple[int, int]]:
    """By the number of the result that an array becomes: how many numbers at most are read of its versions,
    other than for the next; and written."""
    users = {x: [*dict.fromkeys(by)] for x, by in users_of(f).items()}
    return {k: _Counts(f, chain, users).all() for k, chain in chains(f).items()}


class _Counts:
    """What instructions read and write of the versions of an array."""

    def __init__(self, f: Func, chain: Chain, users: Mapping[int, Sequence[int]]) -> None:
        """``users``: the instructions that use a value, each once."""
        self.func = f
        self.chain = chain
        self.users = users
        self.next = dict(zip(chain.versions, chain.versions[1:], strict=False))

    def all(self) -> tuple[int, int]:
        read = written = 0
        for x in self.chain.versions:
            after = self.next.get(x)
            for v in self.users.get(x, ()):
                if v == after:
                    written += sum(map(self._written, _innermost(self.func, v)))
                elif after is not None and self.func.code[after][:2] == (GET, v):
                    inside = self._inside(v, self.func.code[after][2])  # no generator: see `deep.py`
                    read += inside[0]
                    written += inside[1]
                else:
                    read += self._read(v, x)
            if self.func.results.count(x) > (after is None):
                read += numbers_in(self.func.types[x])
        return read, written

    def _written(self, v: int) -> int:
        """How many numbers the update ``v`` writes over."""
        t = self.func.types[v]
        assert isinstance(t, Array)
        return numbers_in(t.elem)

    def _inside(self, v: int, k: int) -> tuple[int, int]:
        """The counts of a loop, choice or call that makes the next version, its result ``k``."""
        f, ins = self.func, self.func.code[v]
        if ins[0] == LOOP:
            site = LoopSite(f, ins)
            read, written = _counts(site.body)[k]
            return read * _most_trips(site), written * _most_trips(site)
        counts = [_counts(f.callees[c])[k] for c in callees(ins)]
        read, written = map(max, zip(*counts, strict=True))
        return read, written

    def _read(self, v: int, x: int) -> int:
        """How many numbers the instruction ``v`` reads of the array ``x``."""
        f = self.func
        ins = f.code[v]
        if ins[:2] == (SET, x):
            return 0
        if ins[:2] != (INDEX, x):
            return numbers_in(f.types[x]) * f.trips_of(f.home[v])
        if not isinstance(f.types[v], Array):
            return numbers_of(f, v)
        return min(sum(self._read(u, v) for u in self.users.get(v, ())), numbers_of(f, v))
