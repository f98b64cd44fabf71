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
from rose_core.language.ir import ACCUM, ADD_TO, INDEX, REF_INDEX, SET, Func
from rose_core.language.queries import among, opcodes, path_of, places, users_of
from rose_core.language.replay import Replay, copied
from rose_core.language.types import Array

_ACCUMULATORS = among([ACCUM])


@dataclass(frozen=True, slots=True)
class _Cleared:
    """An accumulator that starts from an array with a cleared element."""

    sets: list[int]
    """What clears the element: the update of the array, of its row, and so on."""
    early: list[int]
    """What is done with the accumulator before something is added to this element, in order."""
    add: int
    """What adds to it."""


def filled(f: Func) -> Func:
    """``f``, a backward function or what has one in it, or a copy that sets such elements."""
    if not {ACCUM, SET} <= opcodes(f):
        return f
    accumulators = [v for v in places(f, _ACCUMULATORS) if _is_updated(f, v)]
    users = users_of(f) if accumulators else {}
    found = {r: cleared for r in accumulators if (cleared := _cleared(f, r, users))}
    return copied(f, _Filling, found) if found else f


def _is_updated(f: Func, r: int) -> bool:
    """Whether an accumulator in the body itself starts from an update."""
    start = f.code[r][1]
    return not f.home[r] and start >= 0 and f.code[start][0] == SET


def _cleared(f: Func, r: int, users: Mapping[int, Sequence[int]]) -> _Cleared | None:
    sets = _sets(f, r, users)
    if not sets:
        return None
    path = [f.code[v][2] for v in sets]
    early: list[int] = []
    for v in _uses(f, r, users):
        op, part, *_ = f.code[v]
        if f.home[v] or op not in (REF_INDEX, ADD_TO):
            return None
        if op == ADD_TO and path_of(f, part) == (path, r):
            return _Cleared(sets, early, v)
        early.append(v)
    return None


def _sets(f: Func, r: int, users: Mapping[int, Sequence[int]]) -> list[int]:
    """The updates that clear the element from which ``r`` starts, if nothing else needs these arrays."""
    code, found, x, user = f.code, list[int](), f.code[r][1], r
    while x >= 0 and code[x][0] == SET and users[x] == [user] and x not in f.results:
        found.append(x)
        _, a, i, y = code[x]
        if y < 0:
            return [] if f.pool[~y][0] or isinstance(f.pool[~y][1], Array) else found
        is_row = code[y][0] == SET and code[code[y][1]] == (INDEX, a, i)
        x, user = y if is_row else -1, x
    return []


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

    def __init__(self, func: Func, b: Builder, args: Sequence[int], found: Mapping[int, _Cleared]) -> None:
        super().__init__(func, b, args)
        self.by_add = {cleared.add: r for r, cleared in found.items()}
        self.cleared = found
        self.later = set(found)
        """What is done when the element is known, or not at all."""
        for cleared in found.values():
            self.later.update(cleared.sets, cleared.early)

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        if v in self.by_add:
            self._begin(self.by_add[v])
        elif v not in self.later:
            super().structural(v, ins)

    def _begin(self, r: int) -> None:
        cleared, code, env, b = self.cleared[r], self.func.code, self.env, self.b
        x = env[code[cleared.add][2]]
        for v in reversed(cleared.sets):
            _, a, i, _ = code[v]
            x = b.set(env[a], env[i], x)
        env[r] = b.accum(x)
        for v in cleared.early:
            super().structural(v, code[v])
