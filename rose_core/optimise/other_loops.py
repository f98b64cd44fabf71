"""Copies of functions in which loops with a state are replaced, as a pass has found that they can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rose_core.language.builder import Builder
from rose_core.language.ir import Func, LoopSite
from rose_core.language.replay import Verbatim
from rose_core.language.types import REAL, UNIT


def with_sums(body: Func, carries: int, count: int) -> tuple[Builder, list[int], list[int]]:
    """A body without instructions, whose state has ``count`` more numbers after those of another.

    Its builder, what stands for the parameters of that, and the numbers.
    """
    copy = Func(body.name, [], UNIT)
    copy.effects = body.effects
    b = Builder(copy)
    first = 1 + carries
    args = [b.param(t) for t in body.params[:first]]
    sums = [b.param(REAL) for _ in range(count)]
    return b, [*args, *(b.param(t) for t in body.params[first:])], sums


class OtherLoops(Verbatim):
    """Copies a function, but some of its loops in another way.

    ``found`` has what was found out about each of these.
    """

    def __init__(self, func: Func, b: Builder, args: Sequence[int], found: Mapping[int, Any]) -> None:
        super().__init__(func, b, args)
        self.found = found

    def control_loop(self, v: int, ins: tuple[int, ...]) -> None:
        if v in self.found:
            site = LoopSite(self.func, ins)
            state, args = ([self.env[x] for x in ids] for ids in (site.state, site.args))
            self.other_loop(v, site, self.found[v], state, args)
        else:
            super().control_loop(v, ins)

    def other_loop(self, v: int, site: LoopSite, found: Any, state: list[int], args: list[int]) -> None:
        """Write another loop in place of ``v``; ``state`` and ``args`` are the operands in the copy."""
        raise NotImplementedError

    def with_body(self, site: LoopSite, body: Func, state: Sequence[int], args: Sequence[int]) -> int:
        """The loop of a site, but for its body, and what that gets."""
        test_args = [self.env[x] for x in site.test_args]
        return self.b.loop(site.spec, self.env[site.count], body, state, args, site.test, test_args)
