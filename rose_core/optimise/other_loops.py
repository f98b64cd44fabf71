"""Copies of functions whose loops with a state become others, as passes have found that they can."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rose_core.language.builder import Builder
from rose_core.language.ir import Func, LoopSite
from rose_core.optimise.inline import Verbatim


class OtherLoops(Verbatim):
    """Copies a function, but some of its loops in another way.

    ``found`` has what was found out about each of these.
    """

    def __init__(self, func: Func, b: Builder, args: Sequence[int], found: Mapping[int, Any]) -> None:
        super().__init__(func, b, args)
        self.found = found

    def control_loop(self, v: int, ins: tuple[int, ...]) -> None:
        if v in self.found:
            self.other_loop(v, LoopSite(self.func, ins), self.found[v])
        else:
            super().control_loop(v, ins)

    def other_loop(self, v: int, site: LoopSite, found: Any) -> None:
        raise NotImplementedError
