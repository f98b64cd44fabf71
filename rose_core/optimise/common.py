"""What the calls of a function have in common, computed before them, before anything is differentiated.

    gap(a, b) + gap(a, c)     →     s = size(a);  rest(s, size(b)) + rest(s, size(c))

A function of two shapes measures both in every call, forward and in reverse. Called for all pairs of some
shapes, it measures each of them again and again, as there are more pairs than shapes. So what a function
computes of arguments that are the same in several calls is computed by the caller, once for each of these
arguments, and given to what is left of the function (`_Rest`). It is worth that if it is much, and little has
to be given (`LEAST`, `FOR_EACH`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from rose_core.language.builder import Builder
from rose_core.language.ir import CALL, GET, INDEX, PARAM, VEC, Func, operands
from rose_core.language.ops import EFFORT, FAILS, TABLE_END, code
from rose_core.language.queries import among, callees_first, places
from rose_core.language.replay import Replay
from rose_core.language.types import BOOL, REAL, TAN, Fin, fin, scalar_of
from rose_core.optimise.cases import chosen_by_indices, of_indices
from rose_core.optimise.copies import Copies, Copying, stays
from rose_core.optimise.movable import cannot_fail
from rose_core.optimise.outside import given_values
from rose_core.optimise.reads import SAME, Reads, indices

LEAST = 10
"""The least effort that is saved in a call, in additions."""

FOR_EACH = 3
"""The least effort that is saved for each number more that is given."""

MOST_ROUNDS = 3
"""How often calls are looked at: those that are computed before others may have something in common, too."""

_OF_A_CALL = 20
"""About the effort of a call."""

_CALLS = among([CALL])
_NEG = code("neg")
_VARIES = -1
"""In place of the bits of the arguments that a value is computed of: it has to be computed in the call."""


def common(root: Func) -> Func:
    """``root`` and what it calls, with what calls of one function have in common before these calls."""
    for _ in range(MOST_ROUNDS):
        rests = {f: rest for f, calls in _all_calls(root).items() if (rest := _rest(f, calls))}
        if not rests:
            break
        root = _Copies(rests).of(root)
    return root


class _Calls:
    """The calls of one function, each as often as the loops run that it is in."""

    def __init__(self, params: int) -> None:
        self.columns: list[list[object]] = [[] for _ in range(1 + params)]
        """The callers, and each of the arguments."""
        self.trips: dict[int, list[int]] = {}
        """A call in a loop → how often each of these is computed."""
        self.reads: dict[int, tuple[Reads, Sequence[int]]] = {}
        """A call in a loop over tables → what the iterations of that read, and the arguments there."""
        self.number = 0
        self._computed: dict[int, int] = {}
        self._shared: dict[int, bool] = {_VARIES: False}

    def add(self, caller: Func, args: Sequence[int], home: int, reads: Reads | None) -> None:
        """A call of ``args`` in this block of its caller, whose iterations read that."""
        trips = caller.trips_of(home)
        if trips:
            if home:
                call = len(self.columns[0])
                self.trips[call] = [1, *[caller.trips_of(caller.home_of(x)) for x in args]]
                if reads:
                    self.reads[call] = reads, args
            given = [caller, *[x if x >= 0 else caller.pool[~x] for x in args]]
            for column, x in zip(self.columns, given, strict=True):
                column.append(x)
            self.number += trips

    def computed(self, args: int) -> int:
        """How often the callers compute what depends on some arguments: bit ``k + 1`` is argument ``k``."""
        found = self._computed.get(args)
        if found is None:
            which = [0, *[k for k in range(1, args.bit_length()) if args >> k & 1]]
            given = [*zip(*[self.columns[k] for k in which], strict=True)]
            trips = dict.fromkeys(given, 1)
            for call, of_args in self.trips.items():
                trips[given[call]] = self._read(call, which) or max([of_args[k] for k in which])
            found = self._computed[args] = sum(trips.values())
        return found

    def _read(self, call: int, which: Sequence[int]) -> int:
        """How many of these arguments the iterations of a loop over tables read; 0 if that is not known."""
        if call not in self.reads:
            return 0
        reads, args = self.reads[call]
        found = reads.of_all([args[k - 1] for k in which if k])
        return 0 if found is None else len({*found}) or 1

    def have_in_common(self, args: int) -> bool:
        """Whether what depends on these is computed half as often by the callers, at most."""
        found = self._shared.get(args)
        if found is None:
            found = self._shared[args] = 2 * self.computed(args) <= self.number
        return found


def _all_calls(root: Func) -> dict[Func, _Calls]:
    """The calls of each function that is long enough and is called more than once."""
    found: dict[Func, _Calls] = {}
    for f in callees_first(root):
        long = [len(g.code) > LEAST and not stays(g) for g in f.callees]
        if any(long):
            reads: dict[int, Reads | None] = {}
            for v in places(f, _CALLS):
                ins = f.code[v]
                if long[ins[1]]:
                    g = f.callees[ins[1]]
                    if g not in found:
                        found[g] = _Calls(len(g.params))
                    home = f.home[v]
                    if home not in reads:
                        reads[home] = _reads(f, home)
                    found[g].add(f, ins[2:], home, reads[home])
    return {f: calls for f, calls in found.items() if calls.number > 1}


def _reads(f: Func, number: int) -> Reads | None:
    """What the iterations of a block read, if it is a loop with iterations in the outermost block."""
    block = f.blocks[number]
    is_loop = number and block.parent == 0 and isinstance(block.size, Fin) and block.size.size
    return Reads(f, number) if is_loop else None


@dataclass(frozen=True, slots=True)
class _Rest:
    """What is left of a function whose calls have something in common."""

    func: Func
    """With values as its last parameters, and without parameters that it does not need."""
    kept: list[int]
    """The parameters that it still has."""
    values: list[int]
    """What it gets besides."""
    before: list[tuple[tuple[int, ...], list[int]]]
    """The instructions that compute these, by the parameters of which they do."""


def _rest(f: Func, calls: _Calls) -> _Rest | None:
    """What is left of ``f``, if these calls have enough in common."""
    if not any(calls.have_in_common(2 << k) for k in range(len(f.params))):
        return None
    args = _args_of_values(f, calls)
    given, stay = _parts(f, args)
    before = [v for v in f.blocks[0].order if args[v] != _VARIES and v not in stay]
    dropped = [v for v in before if f.code[v][0] == PARAM]
    more = sum(f.types[v] is REAL for v in given) - sum(f.types[v] is REAL for v in dropped)
    effort: Counter[int] = Counter()
    for v in before:
        effort[args[v]] += _effort(f, v)
    saved = sum([each * (calls.number - calls.computed(of)) for of, each in effort.items()])
    if saved < max(LEAST, FOR_EACH * more) * calls.number:
        return None
    key = "rest", tuple(given), f.extent
    found = f.memo.get(key)
    if found is None:
        without = {f.code[v][1] for v in dropped}
        kept = [k for k in range(len(f.params)) if k not in without]
        found = f.memo[key] = _Rest(
            given_values(f, given, before), kept, given, _by_params(f, _needed(f, given))
        )
    assert isinstance(found, _Rest)
    return found


def _args_of_values(f: Func, calls: _Calls) -> list[int]:
    """Of which arguments that calls have in common each value is computed, as bits, or `_VARIES`.

    Constants are at the end, where their ids are indices.
    """
    found = [_VARIES] * len(f.code) + [0] * len(f.pool)
    by_tangents = any(scalar_of(t) is TAN for t in f.params)
    chosen = chosen_by_indices(f) if _has_indices(f) else {}
    for v in f.blocks[0].order:
        ins = f.code[v]
        op = ins[0]
        if op < TABLE_END:
            args = found[ins[1]]
            for x in ins[2:]:
                args |= found[x]
            if args == _VARIES or op in FAILS or v in chosen:
                continue
        elif op == PARAM:
            args = 2 << ins[1]
        elif op in (INDEX, VEC, CALL, GET) and not by_tangents and _may_move(f, ins):
            args = 0
            for x in operands(ins, f.blocks):
                args |= found[x]
        else:
            continue
        if op == PARAM or calls.have_in_common(args):
            found[v] = args
    return found


def _has_indices(f: Func) -> bool:
    return len(f.blocks) > 1 or any(isinstance(t, Fin) for t in f.params)


def _may_move(f: Func, ins: tuple[int, ...]) -> bool:
    if ins[0] == CALL and f.callees[ins[1]].host:
        return not f.callees[ins[1]].effects
    return cannot_fail(f, ins)


def _parts(f: Func, args: Sequence[int]) -> tuple[list[int], set[int]]:
    """What the rest gets, and what it computes although it need not.

    That is what is one operation away from what it has anyway, and all that is no number, and the conditions
    that tell what indices choose.
    """
    used = {x for x in f.results if x >= 0}
    conditions = of_indices(f) if _has_indices(f) else ()
    given: set[int] = set()
    stay: set[int] = set()
    for v in reversed(range(len(f.code))):
        ins = f.code[v]
        if args[v] != _VARIES:
            if v not in used:
                continue
            if _may_be_given(f, v) and v not in conditions:
                given.add(v)
                continue
            stay.add(v)
        used.update(operands(ins, f.blocks))
    for v in sorted(given):
        if f.code[v][0] < TABLE_END and all(x < 0 or x in given or x in stay for x in f.code[v][1:]):
            given.remove(v)
            stay.add(v)
    return sorted(given), stay


def _may_be_given(f: Func, v: int) -> bool:
    op = f.code[v][0]
    is_computed = (op < TABLE_END and op != _NEG) or (op == GET and f.code[f.code[v][1]][0] == CALL)
    return is_computed and f.types[v] in (REAL, BOOL)


def _effort(f: Func, v: int) -> int:
    op = f.code[v][0]
    return EFFORT[op] if op < TABLE_END else _OF_A_CALL if op == CALL else 0


def _needed(f: Func, values: Iterable[int]) -> list[int]:
    """These values, and all that they are computed of, in order."""
    found = set(values)
    for v in reversed(f.blocks[0].order):
        if v in found:
            found.update(operands(f.code[v], f.blocks))
    return [v for v in f.blocks[0].order if v in found]


def _by_params(f: Func, values: Iterable[int]) -> list[tuple[tuple[int, ...], list[int]]]:
    """These values, in order and with all that they need, by the parameters of which they are computed."""
    params = [0] * len(f.code)
    found: dict[int, list[int]] = {}
    for v in values:
        ins = f.code[v]
        if ins[0] == PARAM:
            params[v] = 1 << ins[1]
        for x in operands(ins, f.blocks):
            params[v] |= params[x] if x >= 0 else 0
        found.setdefault(params[v], []).append(v)
    return [(tuple(k for k in range(bits.bit_length()) if bits >> k & 1), of) for bits, of in found.items()]


class _Copies(Copies):
    """Functions that compute before their calls what these have in common."""

    def __init__(self, rests: Mapping[Func, _Rest]) -> None:
        super().__init__(rests.get, "common")

    def replay(self, f: Func, b: Builder, args: Sequence[int]) -> Replay:
        return _Caller(f, b, args, self)


class _Caller(Copying):
    def __init__(self, func: Func, b: Builder, args: Sequence[int], copies: Copies) -> None:
        super().__init__(func, b, args, copies)
        self.before: dict[int, dict[int, tuple[int, int]]] = {}
        """Call in a loop over tables → value of the callee → the vector of these, and the table of places."""
        self.there: dict[object, list[int]] = {}
        """By function, parameters and arguments, what calls so far have of these."""

    def loop(self, v: int, number: int) -> None:
        if reads := _reads(self.func, number):
            for w in self.func.blocks[number].order:
                ins = self.func.code[w]
                if ins[0] == CALL:
                    callee = self.func.callees[ins[1]]
                    rest = self.copies.chosen(callee)
                    if isinstance(rest, _Rest):
                        self.before[w] = self._ahead(reads, callee, rest, ins[2:])
        super().loop(v, number)

    def _ahead(
        self, reads: Reads, callee: Func, rest: _Rest, args: Sequence[int]
    ) -> dict[int, tuple[int, int]]:
        """What iterations have in common, computed once ahead: value of the callee → as in `before`."""
        b = self.b
        found: dict[int, tuple[int, int]] = {}
        alike: dict[tuple[int, ...], list[int]] = {}
        for w in rest.values:
            needed = [callee.code[x][1] for x in _needed(callee, [w]) if callee.code[x][0] == PARAM]
            alike.setdefault(tuple(needed), []).append(w)
        for params, values in alike.items():
            numbers = reads.of_all([args[k] for k in params])
            if numbers is None or numbers is SAME or 2 * len({*numbers}) > len(numbers):
                continue
            first = {number: iteration for iteration, number in reversed([*enumerate(numbers)])}
            iterations = [first[number] for number in range(len(first))]
            index = b.open_for(fin(len(iterations)))
            value = reads.again(b, self.env, iterations, index)
            given = [value(x) if k in params else 0 for k, x in enumerate(args)]
            before = _Caller(callee, b, given, self.copies)
            before.sequence(_needed(callee, values))
            loop = b.close_for([before.env[w] for w in values])
            table = indices(b, numbers, len(iterations))
            found.update({w: (b.get(loop, k), table) for k, w in enumerate(values)})
        return found

    def _compute(self, before: _Caller, rest: _Rest) -> None:
        """Have ``before`` what a call gives, of which another call may have had a part."""
        env, missing = before.env, []
        for params, values in rest.before:
            key = before.func, params, *[before.args[k] for k in params]
            if key in self.there:
                for v, found in zip(values, self.there[key], strict=True):
                    env[v] = found
            else:
                missing.append((key, values))
        before.sequence(sorted(chain.from_iterable(values for _, values in missing)))
        self.there.update((key, [env[v] for v in values]) for key, values in missing)

    def call(self, v: int, callee: Func, args: Sequence[int]) -> None:
        given = [self.env[a] for a in args]
        rest = self.copies.chosen(callee)
        if isinstance(rest, _Rest) and not self.b.never_runs():
            ahead = self.before.get(v, {})
            before = _Caller(callee, self.b, given, self.copies)
            if ahead:
                before.sequence(_needed(callee, [w for w in rest.values if w not in ahead]))
            else:
                self._compute(before, rest)
            index = self.env[self.func.blocks[self.func.home[v]].index] if ahead else 0
            read = {w: self.b.index(of, self.b.index(table, index)) for w, (of, table) in ahead.items()}
            values = [read[w] if w in read else before.env[w] for w in rest.values]
            given = [*[given[k] for k in rest.kept], *values]
            callee = rest.func
        self.env[v] = self.b.call(self.copies.of(callee), given)
