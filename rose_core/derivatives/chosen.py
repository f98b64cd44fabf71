"""Choices that indices make, before they are differentiated in reverse.

    select(i == j, 0, 1 / x)     →     select(i == j, 0, 1 / select(i == j, 1, x))

Reverse mode multiplies by the derivative of what is not chosen, too, with a cotangent of 0: where that
derivative is infinite, the product is no number. In a sum over pairs, ``select(i == j, 0, 1 / distance)``,
this would be so for every ``i``. Which side is chosen is known here without a look at any number, so what
only that side needs is computed of something harmless wherever it is not chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rose_core.derivatives.iterations import stays_as_it_is
from rose_core.language.builder import Builder
from rose_core.language.ir import IDX, PARAM, Func
from rose_core.language.ops import REGULAR, code
from rose_core.language.queries import remembered
from rose_core.language.replay import Replacing, copied
from rose_core.language.types import BOOL
from rose_core.optimise.cases import Cases, chosen_by_indices

_SELECT, _AND, _OR, _NOT = map(code, ("select", "and", "or", "not"))


def by_choices(f: Func) -> Func:
    """``f``, in which what indices do not choose has no infinite derivative."""
    return f if stays_as_it_is(f) else _by_choices(f)


@remembered
def _by_choices(f: Func) -> Func:
    chosen = chosen_by_indices(f)
    return copied(f, _Harmless, chosen) if chosen else f


class _Harmless(Replacing):
    def __init__(self, func: Func, b: Builder, args: Sequence[int], chosen: Mapping[int, Cases]) -> None:
        super().__init__(func, b, args)
        self.others = self.chosen = chosen
        """What may have an infinite derivative → where its value matters."""
        self.choice = {ins[1]: v for v, ins in enumerate(func.code) if ins[0] == _SELECT}
        """Condition → the last choice by it."""
        self.told: dict[int, int] = {}
        """Conditions and indices that are computed ahead."""

    def instead(self, v: int) -> int:
        op, *given = self.func.code[v]
        args = [self.env[x] for x in given]
        k, x = REGULAR[op]
        args[k] = self.b.ternary(_SELECT, self._is_in(self.chosen[v]), args[k], self.b.real(x))
        return self.b.op(op, *args, type=self.func.types[v])

    def _is_in(self, cases: Cases) -> int:
        """Whether it is one of these cases."""
        found = self.b.const(False, BOOL)
        # the outermost choices first: what is inside of them has these in common
        for case in sorted(sorted(case, key=self._depth) for case in cases):
            holds = self.b.const(True, BOOL)
            for condition in case:
                holds = self.b.binary(_AND, holds, self._holds(condition), BOOL)
            found = self.b.binary(_OR, found, holds, BOOL)
        return found

    def _depth(self, condition: tuple[int, bool]) -> tuple[int, bool]:
        p, side = condition
        return -self.choice[p], side

    def _holds(self, condition: tuple[int, bool]) -> int:
        p, side = condition
        found = self._told(p)
        return found if side else self.b.unary(_NOT, found, BOOL)

    def _told(self, v: int) -> int:
        """A condition on indices, or an index, which may be further on."""
        op, *given = self.func.code[v] if v >= 0 else (IDX,)
        if op == PARAM:
            return self.args[given[0]]
        if op == IDX:
            return self.env[v]
        if v not in self.told:
            args = [self._told(x) for x in given]  # `map` would use the machine's stack
            self.told[v] = self.b.op(op, *args, type=self.func.types[v])
        return self.told[v]
