"""Elements of cotangents that were cleared, and that something is added to next: they are set to that.

    r = accum(a.set(i, 0.0));  r[i] += x     →     r = accum(a.set(i, x))

Where a loop replaces an element that it has read, as dynamic programming does row by row, the backward loop
clears the element's cotangent and adds to it in the same iteration. A processor would wait for the zero to
arrive in memory, to read it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rose_core.language.builder import Builder
from rose_core.language.ir import ACCUM, ADD_TO, REF_INDEX, SET, Func
from rose_core.language.queries import among, opcodes, path_of, places, uses_of
from rose_core.language.replay import Replay, copied
from rose_core.language.types import Array

_ACCUMULATORS = among([ACCUM])


@dataclass(frozen=True, slots=True)
class _Filled:
    """What is added to an element that was cleared."""

    add: int
    early: list[int]
    """What is done with the accumulator before, in order."""


def filled(f: Func) -> Func:
    """``f``, a backward function or what has one in it, or a copy that sets such elements."""
    if not {ACCUM, SET} <= opcodes(f):
        return f
    accumulators = [v for v in places(f, _ACCUMULATORS) if _is_cleared(f, v)]
    users = uses_of(f) if accumulators else {}
    found = {r: made for r in accumulators if (made := _filled(f, r, users))}
    return copied(f, _Filling, found) if found else f


def _is_cleared(f: Func, r: int) -> bool:
    """Whether an accumulator in the body itself starts from an array of which an element was cleared."""
    start = f.code[r][1]
    if f.home[r] or start < 0 or f.code[start][0] != SET:
        return False
    x = f.code[start][3]
    return x < 0 and not f.pool[~x][0] and not isinstance(f.pool[~x][1], Array)


def _filled(f: Func, r: int, users: Mapping[int, Sequence[int]]) -> _Filled | None:
    start = f.code[r][1]
    if users[start] != [r]:
        return None
    element = [f.code[start][2]], r
    early: list[int] = []
    for v in _uses(f, r, users):
        op, part, *_ = f.code[v]
        if f.home[v] or op not in (REF_INDEX, ADD_TO):
            return None
        if op == ADD_TO and path_of(f, part) == element:
            return _Filled(v, early)
        early.append(v)
    return None


def _uses(f: Func, r: int, users: Mapping[int, Sequence[int]]) -> list[int]:
    """The instructions that have to do with an accumulator or places in it, in order."""
    found: set[int] = set()
    parts = [r]
    for part in parts:
        for v in users.get(part, ()):
            found.add(v)
            if f.code[v][0] == REF_INDEX:
                parts.append(v)
    return sorted(found)


class _Filling(Replay):
    """Copies a function whose accumulators start from arrays with elements that are set to what is added."""

    def __init__(self, func: Func, b: Builder, args: Sequence[int], found: Mapping[int, _Filled]) -> None:
        super().__init__(func, b, args)
        self.found = found
        self.by_add = {made.add: r for r, made in found.items()}
        self.later = {func.code[r][1] for r in found}.union(found, *[made.early for made in found.values()])
        """What is done when the element is known."""

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        if v in self.by_add:
            self._begin(self.by_add[v], self.env[ins[2]])
        elif v not in self.later:
            super().structural(v, ins)

    def _begin(self, r: int, x: int) -> None:
        _, a, i, _ = self.func.code[self.func.code[r][1]]
        self.env[r] = self.b.accum(self.b.set(self.env[a], self.env[i], x))
        for v in self.found[r].early:
            super().structural(v, self.func.code[v])
