"""Functions of arrays that are called in one place, in line there, before anything is differentiated.

Such a function reads elements that its caller and others have read, and its derivative adds to them through
memory; what both need is computed twice, or passed on for the way back. In line, all of that is shared, and
the code does not grow. Functions of numbers stay as they are, as their calls cost little; and so do all where
nothing much would be shared, since what stays a function is not compiled anew when another is edited
(`rose_core.known`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from rose_core.builder import Builder
from rose_core.ir import CALL, VJP, Func, callees
from rose_core.layout import is_memory
from rose_core.ops import TABLE_END
from rose_core.replay import Replay, copied
from rose_core.types import leaves

DEEPEST = 20
"""The most functions in line in each other."""

LONGEST_IN_LOOP = 200
"""The most instructions of a function that is put into a loop, which cannot be cut (`rose_core.parts`)."""

FEWEST_SAVED = 0.05
"""The least part of the operations that must be shared then."""


def in_line(root: Func) -> Func:
    """``root`` with such functions in line, in it and in those that it calls, if that saves something."""
    chosen = _chosen(root)
    if not chosen:
        return root
    copies = Copies(chosen.__contains__)
    found = copies.of(root)
    changed = {f: copy for f, copy in copies.done.items() if copy is not f}
    before = _operations(chosen | changed.keys())
    return found if _operations(changed.values()) <= (1 - FEWEST_SAVED) * before else root


def _operations(functions: Iterable[Func]) -> int:
    return sum(ins[0] < TABLE_END for f in functions for ins in f.code)


def _chosen(root: Func) -> set[Func]:
    """The functions to be put in line."""
    references: Counter[Func] = Counter()
    order = [root]
    seen = {root}
    caller: dict[Func, Func] = {}
    in_loop = set()
    for f in order:
        for v, ins in enumerate(f.code):
            for g in {f.callees[k] for k in callees(ins)}:
                references[g] += 1 if ins[0] == CALL else 2
                caller[g] = f
                if f.home[v]:
                    in_loop.add(g)
        derived = [g for g in (f.jvp, f.origin and f.origin[1]) if g]
        references.update(2 * derived)
        for g in (*f.callees, *derived):
            if g not in seen:
                seen.add(g)
                order.append(g)
    depth: dict[Func, int] = {}
    for g in order:
        if (
            references[g] == 1
            and not stays(g)
            and not stays(caller[g])
            and not (g in in_loop and len(g.code) > LONGEST_IN_LOOP)
            and any(is_memory(leaf) for t in g.param_types for leaf in leaves(t))
            and (nested := depth.get(caller[g], 0) + 1) <= DEEPEST
        ):
            depth[g] = nested
    return set(depth)


def stays(f: Func) -> bool:
    """Whether it is the host's, has a derivative of its own or none, is not made yet, or is run again."""
    return bool(f.host or f.jvp or f.fault or f.origin or f.instance or f.remat)


class Copies:
    """Functions with others in line: those that are ``chosen``, none of which `stays`."""

    def __init__(self, chosen: Callable[[Func], bool]) -> None:
        self.chosen = chosen
        self.done: dict[Func, Func] = {}

    def of(self, f: Func) -> Func:
        """``f``, or a copy of it if anything in it changes."""
        found = self.done.get(f)
        if found is None:
            self.done[f] = found = self._copy(f) if self._changes(f) else f
        return found

    def _changes(self, f: Func) -> bool:
        return not stays(f) and any(self.chosen(g) or self.of(g) is not g for g in f.callees)

    def _copy(self, f: Func) -> Func:
        return copied(f, lambda b, args: _InLine(f, b, args, self))


class Verbatim(Replay):
    """Copies a function whose derivatives are still to be made."""

    def derivative(self, v: int, ins: tuple[int, ...]) -> None:
        operands = [self.env[x] for x in ins[2:]]
        if ins[0] == VJP:
            self.env[v] = self.b.vjp(self.function(self.func.callees[ins[1]]), operands)
        else:
            self.env[v] = self.b.pull(self.env[ins[1]], operands)


class _InLine(Verbatim):
    def __init__(self, func: Func, b: Builder, args: Sequence[int], copies: Copies) -> None:
        super().__init__(func, b, args)
        self.copies = copies
        self.results: dict[int, list[int]] = {}
        """What a call that is in line gives."""

    def function(self, f: Func) -> Func:
        return self.copies.of(f)

    def call(self, v: int, callee: Func, args: Sequence[int]) -> None:
        if self.copies.chosen(callee):
            given = [self.env[a] for a in args]
            self.results[v] = _InLine(callee, self.b, given, self.copies).run()
        else:
            super().call(v, self.copies.of(callee), args)

    def get(self, v: int, of: int, k: int) -> None:
        if of in self.results:
            self.env[v] = self.results[of][k]
        else:
            super().get(v, of, k)
