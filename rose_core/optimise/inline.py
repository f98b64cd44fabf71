"""Calls inlined before anything is differentiated: the code of what is called in place of the call.

A call costs what its arguments and results cost, on the way forward and on the way back, and hides from
each side what the other has computed. So these are inlined:

- short functions, unless they are called often (`SHORT`, `MOST_ADDED`), and the shortest always;
- functions that are called in one place by another such one, and so on (`LONGEST_CHAIN`);
- functions of arrays that are called in one place, where that makes something shared (`FEWEST_SAVED`): they
  read elements that their callers and others have read;
- functions that are called in one place, in a loop (`in_loops`);
- the bodies of small loops with a state that are inside of other loops, once for each iteration
  (`MOST_TRIPS`): what the iterations keep for the way back are local variables then. Not those with choices
  or other loops in them: the sides and bodies of these would be functions that are called in each of the
  iterations.

All others stay as they are, as what stays a function is not compiled anew when another is edited
(`derivatives.known`). In these, too, calls are inlined, in derivatives that are to be made, in what is run
again, and in rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from rose_core.language.builder import Builder
from rose_core.language.ir import CALL, CALLEES, COND, INDEX, LOOP, Func, LoopSite, callees
from rose_core.language.ops import TABLE_END
from rose_core.language.queries import among, callees_first, derived, places
from rose_core.language.replay import Replay
from rose_core.language.types import array, is_memory, leaves
from rose_core.language.window import Window, element, window_of
from rose_core.optimise.copies import Copies, Copying, stays

SHORTEST = 8
"""The most instructions of a function that is inlined wherever it is called: as many as a call takes."""

SHORT = 25
"""The most instructions of one that is inlined if it is not called often."""

MOST_ADDED = 100
"""The most instructions that a program may gain by inlining such a function."""

LONGEST_CHAIN = 8
"""The most calls in each other, of functions that are called in one place."""

LONGEST_IN_LOOP = 200
"""The most instructions of a function that is put into a loop, which cannot be cut (`wasm.parts`)."""

MOST_TRIPS = 16
"""The most iterations of a loop with a state that is unrolled."""

MOST_ROWS = 128
"""The most instructions that such a loop may become."""

MOST_INSIDE = 64
"""The most instructions of a function that is inlined in several places, with those of the sides of choices
and the iterations of loops in it: the reverse derivative has these anew for every place."""

FEWEST_SAVED = 0.05
"""The least part of the operations that must be shared where functions are inlined that are not short."""

_CALLING, _OPERATIONS = among(CALLEES), among(range(TABLE_END))


def in_line(root: Func) -> Func:
    """``root`` with functions inlined, in it and in those that it calls."""
    calls = _Measured(root)
    calls.put_chains_in_line()
    more = calls.called_once()
    if more:
        found = InLine((calls.short | more).__contains__, "more in line", calls.small).of(root)
        after = set(callees_first(found))
        copies = sum(map(_operations, after.difference(calls.order)))
        if copies <= (1 - FEWEST_SAVED) * calls.operations_besides(after):
            return found
    return InLine(calls.short.__contains__, small=calls.small).of(root)


def in_loops(root: Func) -> Func:
    """``root`` with those functions inlined that are called in one place, in a loop.

    There a call hides what is the same in all iterations, in derivatives, too, and keeps iterations from
    running side by side. What calls in a loop have in common is found before (`optimise.common`), while they
    are calls.
    """
    chosen = _Calls(root).called_in_loops()
    return InLine(chosen.__contains__, "in loops").of(root) if chosen else root


def _operations(f: Func) -> int:
    return len(places(f, _OPERATIONS))


class _Calls:
    """The calls of a program."""

    def __init__(self, root: Func) -> None:
        self.order = callees_first(root)
        self.calls: dict[Func, list[Func]] = {f: [] for f in self.order}
        """What each function calls, once for each call."""
        self.parts: dict[Func, list[Func]] = {f: [] for f in self.order}
        """The sides of its choices and the bodies of its loops, once for each of these."""
        self.kept = {root}
        """What is not only called."""
        self.in_loop: set[Func] = set()
        """What is called in the iterations of a loop."""
        self.idle: set[Func] = set()
        """What is called in a loop that never runs: there it computes nothing."""
        self.loops: dict[Func, dict[int, int]] = {}
        """The loops of each function that may be unrolled, and their iterations."""
        for f in self.order:
            self._look_at(f)
        self.number = Counter(g for called in self.calls.values() for g in called)
        """How often each function is called."""

    def _look_at(self, f: Func) -> None:
        self.kept.update(derived(f))
        if stays(f):
            self.kept.add(f)
        if not f.callees:
            return
        for v in places(f, _CALLING):
            ins = f.code[v]
            if ins[0] == CALL:
                g = f.callees[ins[1]]
                self.calls[f].append(g)
                if f.home[v]:
                    self.in_loop.add(g)
                    if not f.trips_of(f.home[v]):
                        self.idle.add(g)
            else:
                called = [f.callees[k] for k in callees(ins)]
                self.kept.update(called)
                if ins[0] in (COND, LOOP):
                    self.parts[f] += called
                if ins[0] == LOOP and (trips := _few_trips(f, ins)):
                    self.loops.setdefault(f, {})[v] = trips

    def is_called_once(self, f: Func) -> bool:
        """Whether ``f`` is called in one place, and nothing else is done with it."""
        return self.number[f] == 1 and f not in self.kept

    def called_in_loops(self) -> set[Func]:
        """The functions that are called in one place, in a loop, and may be inlined there."""
        alone = {f for f in self.order if self.is_called_once(f) and f not in self.idle}
        length: dict[Func, int] = {}
        """Of a function in which those are inlined that it alone calls."""
        for f in self.order:
            length[f] = len(f.code) + sum(length[g] for g in self.calls[f] if g in alone)
        chosen: set[Func] = set()
        inside = set(self.in_loop)
        for f in reversed(self.order):
            if f in alone and f in inside and length[f] <= LONGEST_IN_LOOP:
                chosen.add(f)
                inside.update(self.calls[f])
        return chosen


class _Measured(_Calls):
    """The calls of a program, and how long functions are with others inlined."""

    def __init__(self, root: Func) -> None:
        super().__init__(root)
        self.short: set[Func] = set()
        """What is inlined wherever it is called."""
        self.small: set[Func] = set()
        """The bodies of loops that are unrolled."""
        self.length: dict[Func, int] = {}
        """Of a function in which the short ones are inlined."""
        self.whole: dict[Func, int] = {}
        """The same, with the parts of the function."""
        candidates = self._loops_in_loops()
        for f in self.order:
            n = self._measure(f)
            trips = candidates.get(f, 0)
            if trips and trips * n <= MOST_ROWS and self.whole[f] == n:
                self.small.add(f)
            again = self.number[f] - 1
            few = n <= SHORT and (n <= SHORTEST or again * n <= MOST_ADDED)
            if few and (again <= 0 or self.whole[f] <= MOST_INSIDE) and not stays(f):
                self.short.add(f)

    def _measure(self, f: Func) -> int:
        """The length of ``f``, that of what it calls being known."""
        copies = Counter(g for g in self.calls[f] if g in self.short)
        for v, trips in self.loops.get(f, {}).items():
            body = f.callees[f.code[v][2]]
            if body in self.small:
                copies[body] += trips
        n = len(f.code)
        parts = sum(self.whole[g] for g in self.parts[f] if g not in self.small)
        self.whole[f] = n + parts + sum(k * self.whole[g] for g, k in copies.items())
        self.length[f] = n + sum(k * self.length[g] for g, k in copies.items())
        return self.length[f]

    def _loops_in_loops(self) -> dict[Func, int]:
        """The bodies of loops of few iterations that are in other loops, and the most of these iterations."""
        found: dict[Func, int] = {}
        if not self.loops:
            return found
        inside: set[Func] = set()
        """What runs in the iterations of a loop."""
        many: set[Func] = set()
        """The bodies of loops that may run more often."""
        for f in reversed(self.order):
            few = self.loops.get(f, {})
            for v in places(f, _CALLING):
                ins = f.code[v]
                called = [f.callees[k] for k in callees(ins)]
                in_loop = f in inside or f.home[v] > 0
                if in_loop or ins[0] == LOOP:
                    inside.update(called)
                if ins[0] == LOOP:
                    body = called[0]
                    if v not in few:
                        many.add(body)
                    elif in_loop:
                        found[body] = max(found.get(body, 0), few[v])
        return {f: trips for f, trips in found.items() if f not in many}

    def put_chains_in_line(self) -> None:
        """What is called in one place counts as short where such calls are in each other in long chains.

        What a forward function keeps for the backward pass goes through all of its callers, which takes the
        square of a chain's length.
        """
        alone = [
            f for f in self.order if self.is_called_once(f) and f not in self.short and f not in self.in_loop
        ]
        links = set(alone)
        above = dict.fromkeys(self.order, 0)
        below = dict.fromkeys(self.order, 0)
        for f in self.order:
            for g in self.calls[f]:
                below[f] = max(below[f], below[g] + (g in links))
        for f in reversed(self.order):
            for g in self.calls[f]:
                above[g] = max(above[g], above[f] + (f in links))
        chained = [f for f in alone if above[f] + 1 + below[f] > LONGEST_CHAIN]
        if chained:
            self.short.update(chained)
            for f in self.order:
                self._measure(f)

    def called_once(self) -> set[Func]:
        """The functions of arrays that are called in one place, and may be inlined there."""
        return {
            f
            for f in self.order
            if self.is_called_once(f)
            and f not in self.short
            and not (f in self.in_loop and self.length[f] > LONGEST_IN_LOOP)
            and _takes_arrays(f)
        }

    def operations_besides(self, others: set[Func]) -> int:
        """The operations of all functions but ``others``, with only short ones inlined."""
        number: dict[Func, int] = {}
        for f in self.order:
            number[f] = _operations(f) + sum(number[g] for g in self.calls[f] if g in self.short)
        in_line = self.short - self.kept
        return sum(number[f] for f in self.order if f not in others and f not in in_line)


def _few_trips(f: Func, ins: tuple[int, ...]) -> int:
    """How often a loop runs, if that is always the same and not often; 0 otherwise."""
    site = LoopSite(f, ins)
    spec = site.spec
    if not site.is_whole or spec.checkpoint or spec.down or stays(site.body):
        return 0
    return spec.trips if spec.trips <= MOST_TRIPS else 0


def _takes_arrays(f: Func) -> bool:
    return any(is_memory(leaf) for t in f.param_types for leaf in leaves(t))


class InLine(Copies):
    """Functions with others inlined."""

    def replay(self, f: Func, b: Builder, args: Sequence[int]) -> Replay:
        return _InLine(f, b, args, self)


class _InLine(Copying):
    def call(self, v: int, callee: Func, args: Sequence[int]) -> None:
        if self.copies.chosen(callee):
            given = [self.env[a] for a in args]
            if windows := {x: of for x in given if (of := window_of(self.b, x))}:
                self.replaced[v] = _OfWindows(callee, self.b, given, self.copies, windows).run()
            else:
                self.replaced[v] = _InLine(callee, self.b, given, self.copies).run()
        else:
            super().call(v, self.copies.of(callee), args)

    def control_loop(self, v: int, ins: tuple[int, ...]) -> None:
        site = LoopSite(self.func, ins)
        if site.body not in self.copies.small:
            super().control_loop(v, ins)
            return
        spec = site.spec
        state, args = ([self.env[a] for a in ids] for ids in (site.state, site.args))
        kept: list[list[int]] = []
        for iteration in range(spec.trips):
            given = [self.b.const(iteration, spec.index), *state, *args]
            results = _InLine(site.body, self.b, given, self.copies).run()
            state = results[: spec.carries]
            kept.append(results[spec.carries :])
        arrays = [
            self.b.vec(list(column), array(spec.index, site.body.result_type(spec.carries + k)))
            for k, column in enumerate(zip(*kept, strict=True))
        ]
        self.replaced[v] = [*state, self.env[site.count], *arrays]


class _OfWindows(_InLine):
    """What gets windows into vectors, and reads their elements there."""

    def __init__(
        self, func: Func, b: Builder, args: Sequence[int], copies: Copies, windows: Mapping[int, Window]
    ) -> None:
        super().__init__(func, b, args, copies)
        self.windows = windows
        """Argument → what it is a window of."""

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        found = self.windows.get(self.env[ins[1]]) if ins[0] == INDEX else None
        if found:
            self.env[v] = element(self.b, found, self.env[ins[2]])
        else:
            super().structural(v, ins)
