"""Which accumulators that a function is given may be parts of one.

Iterations that run side by side add to several accumulators, each in its own order. What a function itself
makes is another one each time; what it is given depends on all who call it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from rose_core.language.ir import CALL, COND, LOOP, PARAM, CondSite, Func, LoopSite
from rose_core.language.queries import accumulators, takes_accumulators
from rose_core.language.types import Ref


class Given:
    """The parameters of each function of a program in groups: only those of one may be parts of one
    accumulator."""

    def __init__(self, functions: Sequence[Func]) -> None:
        """``functions``: those that call others before these."""
        self._groups: dict[Func, dict[int, int]] = {}
        for f in functions:
            for g, args in _calls(f) if any(map(takes_accumulators, f.callees)) else ():
                groups = self._groups.setdefault(g, {})
                first: dict[int, int] = {}
                for k, x in enumerate(args):
                    if isinstance(g.params[k], Ref):
                        for r in accumulators(f, x):
                            _join(groups, first.setdefault(self._whole(f, r), k), k)

    def groups(self, f: Func) -> dict[int, int]:
        """Parameter → one that stands for its group; but for those that are one by themselves."""
        groups = self._groups.get(f, {})
        return {k: _find(groups, k) for k in groups}

    def may_meet(self, f: Func, some: Collection[int], others: Collection[int]) -> bool:
        """Whether one of these accumulators of ``f`` may be a part of what another one is a part of."""
        return not {self._whole(f, r) for r in some}.isdisjoint(self._whole(f, r) for r in others)

    def _whole(self, f: Func, r: int) -> int:
        """A number that an accumulator of ``f`` has in common with those that may be parts of the same."""
        groups, (op, *given) = self._groups.get(f), f.code[r]
        return ~_find(groups, given[0]) if groups and op == PARAM else r


def _find(groups: Mapping[int, int], k: int) -> int:
    while k in groups:
        k = groups[k]
    return k


def _join(groups: dict[int, int], k: int, j: int) -> None:
    k, j = _find(groups, k), _find(groups, j)
    if k != j:
        groups[max(k, j)] = min(k, j)


def _calls(f: Func) -> Iterator[tuple[Func, Sequence[int]]]:
    """What ``f`` calls, and with what."""
    for ins in f.code:
        if ins[0] == CALL:
            yield f.callees[ins[1]], ins[2:]
        elif ins[0] == COND:
            site = CondSite(f, ins)
            yield from zip(site.functions, site.args, strict=True)
        elif ins[0] == LOOP:
            loop = LoopSite(f, ins)
            yield loop.body, (loop.count, *loop.state, *loop.args)
            if loop.test:
                yield loop.test, (*loop.state, *loop.test_args)
