"""Which arrays may be overwritten: an update takes the place of an array that nobody reads after it.

An *update* is a ``SET``; what is read of an accumulator that starts from an array; a result of a choice
both of whose sides update the same argument, or give it back as it is; one of a call that updates an
argument; or the state of a loop whose body updates it. Of a row that is updated and put back, the elements
are updated where they are.

An array may be overwritten by an update in its own block when all its other users can come before that:
users that stand before an instruction cannot depend on it, and some behind it do not (`Updates.can_precede`).
The compiled program keeps to that order.

Functions may overwrite their own parameters; whoever calls them passes a copy where that must not be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from rose_core.language.ir import (
    ACCUM,
    CALL,
    COND,
    FOR,
    GET,
    IDX,
    INDEX,
    LOOP,
    PARAM,
    RESOLVE,
    SET,
    VEC,
    CondSite,
    Func,
    LoopSite,
    callees,
    operands,
)
from rose_core.language.ops import BINARY_END, FAILS, TABLE_END
from rose_core.language.queries import among, contents, opcodes, places
from rose_core.language.types import is_memory

_ACCUMULATORS = among([ACCUM])
_NEVER = 1 << 60

_FREE = frozenset((INDEX, VEC, GET, IDX, PARAM))
"""What may run earlier than it stands, besides operations that cannot fail, and loops of all these."""

_FAR = 64
"""The most instructions that may have to be run earlier with one."""

_MADE = frozenset((SET, GET, VEC, RESOLVE))
"""Instructions that make an array of their own."""


class Updates:
    """The updates of a function."""

    def __init__(self, func: Func, overwriting: Overwriting) -> None:
        self.func = func
        self.overwriting = overwriting
        self.put_back: dict[int, tuple[int, int]] = {}
        """``SET`` of a row that is updated in its place → the row before, and its first update.

        It is filled by `planned`.
        """
        self.apart: set[int] = set()
        """Rows that are copied when they are read: what they are rows of is overwritten before their end."""
        self._readers: dict[int, list[int]] | None = None
        """Array → what reads it under this name, as `users`."""
        self._parts: dict[int, list[int]] = {}
        """Array → its rows and other names, in one step; filled with `_readers`."""
        self._users: dict[int, list[int]] = {}
        self._takes: dict[int, tuple[list[Counter[int]], set[int]]] = {}
        """As `_taken`."""

    def users(self, v: int) -> list[int]:
        """What reads ``v``, under any name, as instructions of its block; `_NEVER` for what comes last."""
        found = self._users.get(v)
        if found is None:
            known = dict.fromkeys(self._direct().get(v, ()))
            for u in self._names_of(v):  # who reads a part reads the whole
                known |= dict.fromkeys(self._outside(w, u, v) for w in self.users(u))
            found = self._users[v] = [*known]
        return found

    def _names_of(self, v: int) -> list[int]:
        """The rows and other names of ``v``, in one step, that lie where it does."""
        self._direct()
        return [u for u in self._parts.get(v, ()) if u not in self.apart]

    def _direct(self) -> dict[int, list[int]]:
        if self._readers is None:
            self._readers = self._find_readers()
        return self._readers

    def _find_readers(self) -> dict[int, list[int]]:
        func = self.func
        found: dict[int, list[int]] = {}
        for u, ins in enumerate(func.code):
            for x in operands(ins, func.blocks) if ins[0] != FOR else ():
                if x >= 0 and is_memory(func.types[x]):
                    found.setdefault(x, []).append(self._at(u, func.home[x]))
                    if (ins[0] == INDEX or BINARY_END <= ins[0] < TABLE_END) and is_memory(func.types[u]):
                        self._parts.setdefault(x, []).append(u)
        for number, block in enumerate(func.blocks):
            for x in block.results:
                if x >= 0 and is_memory(func.types[x]):
                    at = _NEVER if func.home[x] == number else self._at(block.owner, func.home[x])
                    found.setdefault(x, []).append(x if self._is_early(number, x) else at)
        return found

    def _is_early(self, number: int, x: int) -> bool:
        """Whether ``x`` is a row and a result: what is given of it is copied before it is overwritten."""
        return not number and self.func.code[x][0] == INDEX

    def _outside(self, w: int, u: int, x: int) -> int:
        """Where ``x`` is read by a reader of ``u``, a name of it."""
        func = self.func
        if func.home[u] == func.home[x]:
            return w
        return self._at(func.blocks[func.home[u]].owner if w == _NEVER else w, func.home[x])

    def _at(self, u: int, block: int) -> int:
        """The instruction of ``block`` in which ``u`` happens: itself, or a loop that it is in."""
        func = self.func
        while func.home[u] != block:
            u = func.blocks[func.home[u]].owner
        return u

    def update(self, v: int) -> tuple[int, int] | None:
        """Of an array that an update makes: the array that it changes, and the instruction."""
        func = self.func
        ins = func.code[v]
        if ins[0] == SET:
            return ins[1], v
        if ins[0] == RESOLVE:
            r = ins[1]
            is_own = func.code[r][0] == ACCUM and func.home[r] == func.home[v]
            return (func.code[r][1], r) if is_own else None
        if ins[0] != GET:
            return None
        of, k = ins[1], ins[2]
        if func.code[of][0] == COND:
            site = CondSite(func, func.code[of])
            changed = {
                args[at] if (at := self.overwriting.places(f).get(k, -1)) >= 0 else -1
                for f, args in zip(site.functions, site.args, strict=True)
            }
            if len(changed) == 1 and (old := changed.pop()) >= 0:
                return old, of
        elif func.code[of][0] == CALL:
            _, callee, *args = func.code[of]
            at = self.overwriting.places(func.callees[callee]).get(k, -1)
            return (args[at], of) if at >= 0 else None
        elif func.code[of][0] == LOOP:
            loop = LoopSite(func, func.code[of])
            if k < loop.spec.carries and self.overwriting.places(loop.body).get(k) == k + 1:
                return loop.state[k], of
        return None

    def may_overwrite(self, old: int, at: int) -> bool:
        """Whether ``at`` is the last that needs ``old``, and needs it once: rows may be copied for that."""
        func = self.func
        if old < 0 or func.home[old] != func.home[at]:
            return False
        given, called = self._taken(at)
        if any(args[old] != 1 for args in given):
            return False
        late = {u for u in self.users(old) if u != at and not self.can_precede(u, at)}
        if not late and (not called or (self.names(old) - {old}).isdisjoint(called)):
            return True
        kept = {
            row
            for row in self._names_of(old)
            if not late.isdisjoint(self.users(row)) or not self.names(row).isdisjoint(called)
        }
        kept_back = {row for row, _ in self.put_back.values()}
        alone = kept_back.isdisjoint(kept) and all(
            func.code[r][0] == INDEX and self.can_precede(r, at) for r in kept
        )
        if not alone or not late.isdisjoint(self._users_but(old, kept)):
            return False
        self.apart |= kept
        self._users.clear()
        return True

    def _taken(self, at: int) -> tuple[list[Counter[int]], set[int]]:
        """How often an instruction takes each value, on each side of a choice; and the arrays that what it
        calls takes, of none of which a part is to be overwritten."""
        found = self._takes.get(at)
        if found is None:
            func = self.func
            ins = func.code[at]
            given = CondSite(func, ins).args if ins[0] == COND else [operands(ins, func.blocks)]
            called = given if ins[0] in (CALL, COND, LOOP) else []
            arrays = {x for args in called for x in args if is_memory(func.type_of(x))}
            found = self._takes[at] = [Counter(args) for args in given], arrays
        return found

    def _users_but(self, v: int, rows: Collection[int]) -> set[int]:
        """What reads ``v`` otherwise than by these rows."""
        others = [u for u in self._names_of(v) if u not in rows]
        return {*self._direct().get(v, ()), *(self._outside(w, u, v) for u in others for w in self.users(u))}

    def can_precede(self, u: int, at: int) -> bool:
        """Whether the reader ``u`` of an array can read it before the update ``at``, at least."""
        if u < at or u == _NEVER or self.func.home[u] != self.func.home[at]:
            return u < at
        seen, ways = {u}, [u]
        while ways:
            ins = self.func.code[ways.pop()]
            if ins[0] == FOR:  # which may give what is from outside of it
                block = self.func.blocks[ins[1]]
                needed: Sequence[int] = [*block.order, *block.results]
            elif ins[0] in _FREE or (ins[0] < TABLE_END and ins[0] not in FAILS):
                needed = operands(ins, self.func.blocks)
            else:
                return False
            new = {x for x in needed if x >= at}.difference(seen)
            seen |= new
            if at in new or len(seen) > _FAR:
                return False
            ways += new
        return True

    def planned(self, needed: Sequence[int], data: Collection[int]) -> dict[int, int]:
        """The updates in place among the values that are ``needed``, and the arrays that they overwrite.

        Arrays in ``data`` are constants.
        """
        func = self.func
        found: dict[int, int] = {}
        if not self._has_any():
            return found
        own = set(self.overwriting.places(func).values())
        for v, t in enumerate(func.types):
            if needed[v] and is_memory(t) and (update := self.update(v)) and update[0] >= 0:
                old, at = update
                ins = func.code[old]
                made = ins[0] in _MADE and old not in data
                if (made or (ins[0] == PARAM and ins[1] in own)) and self.may_overwrite(old, at):
                    found[at if func.code[v][0] == RESOLVE else v] = old
        updates = [(v, [v]) for v in found if func.code[v][0] == SET]
        for v, around in updates:  # which grows by rows of rows
            inside = self._inside(v, around)
            found.update(inside)
            updates += [(w, [*around, *inside]) for w in inside if func.code[w][0] == SET]
        return found

    def _has_any(self) -> bool:
        """Whether there may be updates."""
        func, codes = self.func, opcodes(self.func)
        return (
            not codes.isdisjoint((SET, COND, LOOP))
            or (CALL in codes and any(map(self.overwriting.places, func.callees)))
            or any(map(self._starts, places(func, _ACCUMULATORS)))
        )

    def _starts(self, r: int) -> bool:
        """Whether an accumulator starts from an array."""
        x = self.func.code[r][1]
        return x >= 0 and is_memory(self.func.types[x])

    def _inside(self, v: int, around: Sequence[int]) -> dict[int, int]:
        """The updates of a row that the update ``v`` of a matrix puts back, if that may be done in it.

        Nobody reads the matrix between them, nor what it is a row of: ``around`` are the updates of these.
        """
        func = self.func
        _, whole, i, row = func.code[v]
        if row < 0 or not is_memory(func.types[row]) or self.users(row) != [v]:
            return {}
        found: dict[int, int] = {}
        while row >= 0 and (update := self.update(row)) and self.may_overwrite(*update):
            old, at = update
            found[at if func.code[row][0] == RESOLVE else row] = old
            row = old
        if not found or func.code[row] != (INDEX, whole, i) or func.home[row] != func.home[v]:
            return {}
        if row in self.apart:
            return {}
        readers = {u for w in around if func.code[w][0] == SET for u in self.users(func.code[w][1])}
        if not all(u == at or self.can_precede(u, at) for u in readers.difference(around)):
            return {}
        self.put_back[v] = row, at
        return found

    def names(self, v: int) -> set[int]:
        """``v`` and what is a part, or another name, of it."""
        found, ways = {v}, [v]
        while ways:
            new = [u for u in self._names_of(ways.pop()) if u not in found]
            found.update(new)
            ways += new
        return found

    def are_along(self, number: int, whole: int) -> bool:
        """Whether a loop reads nothing of a matrix but elements of rows at the index of its iteration.

        It can make a row in the place of any of these then.
        """
        func, names = self.func, self.names(whole)
        iteration, row = func.blocks[number].index, func.array_type_of(whole).elem
        if not names.isdisjoint(func.blocks[number].results):  # a part, which may be of any iteration
            return False
        for v in contents(func, number):
            op, *given = func.code[v]
            is_part = op == INDEX and is_memory(func.types[v])
            if (
                not is_part
                and not names.isdisjoint(operands(func.code[v], func.blocks))
                and (op != INDEX or given[1] != iteration or func.types[given[0]] != row)
            ):
                return False
        return True

    def chain(self, v: int) -> Iterator[int]:
        """The arrays that ``v`` may stand in the place of, the oldest last."""
        while v >= 0 and (found := self.update(v)) and self.may_overwrite(*found):
            v = found[0]
            yield v


ANY = -1
"""Of what is called, or a side of a choice: any result may take the place of any parameter."""


class Overwriting:
    """Which functions of a program overwrite their parameters, and with which results.

    Whoever calls these knows. What is called, and a side of a choice, may do so for any result (`ANY`), the
    body of a loop for the next state, of which an array may be in another's place then; what is several of
    these at once, for none.
    """

    def __init__(self, functions: Sequence[Func]) -> None:
        """``functions``: those that call others before these."""
        kinds: dict[Func, int] = {}
        others = {f for f in functions if f.host is not None}
        for f in functions:
            for g, kind in _called(f):
                if kinds.setdefault(g, kind) != kind:
                    others.add(g)
        self._places: dict[Func, dict[int, int]] = {}
        for f in reversed(functions):
            if f in kinds and f not in others:
                self._places[f] = self._find(f, kinds[f])

    def places(self, f: Func) -> dict[int, int]:
        """The results of ``f`` that take the place of parameters, and the numbers of these."""
        return self._places.get(f, {})

    def _find(self, f: Func, kind: int) -> dict[int, int]:
        """The same, of a function of this kind: `ANY`, or for the body of a loop the leaves of the state."""
        places: dict[int, int] = {}
        updates = Updates(f, self)
        for k, v in enumerate(f.results if kind == ANY else f.results[:kind]):
            if v < 0 or not is_memory(f.types[v]) or f.results.count(v) > 1:
                continue
            *_, oldest = v, *updates.chain(v)
            at = f.code[oldest][1] if f.code[oldest][0] == PARAM else -1
            if at >= 0 and at not in places.values() and (kind == ANY or 1 <= at <= kind):
                places[k] = at
        return places


_NONE = 0
"""Of the test of a loop: no result may take the place of a parameter."""


def _called(f: Func) -> Iterator[tuple[Func, int]]:
    """The functions that ``f`` calls, each with how: see `Overwriting`."""
    if opcodes(f).isdisjoint((COND, LOOP)):
        yield from ((g, ANY) for g in f.callees)
        return
    for ins in f.code:
        if ins[0] < TABLE_END:
            continue
        if ins[0] == COND:
            yield from ((side, ANY) for side in CondSite(f, ins).functions)
        elif ins[0] == LOOP:
            site = LoopSite(f, ins)
            yield site.body, site.spec.carries
            if site.test:
                yield site.test, _NONE
        else:
            yield from ((f.callees[k], ANY) for k in callees(ins))
