"""Choices, updates and tapes as WebAssembly, and calls of the parts of an author's function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rose_core.encode import (
    DROP,
    ELSE,
    END,
    I32_ADD,
    I32_MUL,
    IF,
    call,
    i32_const,
    load,
    store,
)
from rose_core.language.ir import FOR, GET, INDEX, LOOP, ZEROS, CondSite, Func, LoopSite
from rose_core.language.queries import opcodes, remembered
from rose_core.language.types import Array, Type, has_tape, is_memory, is_tape
from rose_core.wasm.bulk import copied, zeroed
from rose_core.wasm.context import Callees
from rose_core.wasm.expressions import Expressions
from rose_core.wasm.layout import Convention, HostConvention, Place, is_i32, kind_of, passed_kind, size_of
from rose_core.wasm.reuse import Overwriting, Updates
from rose_core.wasm.runtime import DATA, STRIDE, Runtime
from rose_core.wasm.values import get_local, set_local

if TYPE_CHECKING:
    from rose_core.wasm.enclosed import Enclosed

Operand = bytes | Place
"""Code that pushes a scalar, or the place of an array."""


@remembered
def takes_memory(f: Func) -> bool:
    """Whether a call of ``f`` takes memory for tapes."""
    codes = opcodes(f)
    return (
        ZEROS in codes
        or any(leaves_memory(g) for g in f.callees)
        or (LOOP in codes and any(_keeps_tapes(LoopSite(f, ins)) for ins in f.code if ins[0] == LOOP))
    )


def leaves_memory(f: Func) -> bool:
    """Whether memory for tapes is still taken after a call of ``f``: it gives some of them."""
    return f.host is None and any(has_tape(t) for t in f.result_types) and takes_memory(f)


def _keeps_tapes(site: LoopSite) -> bool:
    kept = len(site.body.result_types) - site.spec.carries
    return kept > 0 and not site.spec.is_output(kept - 1)


class ControlFlow(Expressions):
    """The statements of choices, updates and tapes."""

    callees: Callees
    runtime: Runtime
    done: set[int]
    tapes: dict[bytes, tuple[bytes, bytes]]
    """Code that pushes a tape → code that pushes where its records are, and how far from each other."""

    def plan_updates(self, overwriting: Overwriting) -> None:
        """Find out which updates overwrite an array; all that is read from that before is kept."""
        self.updates = Updates(self.func, overwriting)
        needed = self.demand.uses
        self.reused = self.updates.planned(needed, self.data)
        """Updates in place → the array whose place they take."""
        self.readers: dict[int, list[int]] = {}
        """Arrays that are overwritten → what has to happen before."""
        self.row_results: dict[int, list[Place]] = {}
        """Rows that are results → where these go, until they are there."""
        for v, old in self.reused.items():
            update = self.func.code[v][1] if self.func.code[v][0] == GET else v
            anchors = self.demand.anchors[self.func.home[old]]
            readers = {u for u in self.updates.users(old) if needed[u] or u in anchors}
            self.readers[old] = sorted(readers - {update})
            self.clobbered.update(self.updates.names(old))
        for v, (row, first) in self.updates.put_back.items():  # whoever reads the matrix may read the row
            before = {*self.readers[row], *self.readers[self.func.code[v][1]]}
            self.readers[row] = sorted(u for u in before if self.updates.can_precede(u, first))
        for rooted in self.readers.values():
            for u in rooted:
                self.demand.rooted[u] = 1

    def overwrite(self, old: int, by: int = -1) -> Place:
        """The place of an array that is about to be overwritten, after all that reads it but ``by``."""
        place = self.place(old)
        for u in self.readers[old]:
            if u not in self.done and u != by and self.expr[u] is None:
                op, t = self.func.code[u][0], self.func.types[u]
                if op == INDEX and not is_memory(t):
                    self.settle(u, self.func.home[u])
                else:
                    self.statement(u)
            for result in self.row_results.pop(u, ()):
                self.copy(0, result, u, self.func.types[u])
        return place

    # -- calls of branches and bodies ----------------------------------------------------------------

    def settle(self, x: int, block: int) -> bytes:
        """Code that pushes the scalar ``x`` or the address of ``x``, good until `used` is called for it."""
        t = self.func.type_of(x)
        if is_memory(t):
            return self.place(x).push()
        if x >= 0 and self.expr[x] is None:
            self.left[x] += 1
            self.demand.rooted[x] = 1
            self.expression([x], block)
        code = self.expr[x]
        assert code is not None
        return code

    def operand(self, x: int, block: int) -> Operand:
        """The place of the array ``x``, or as `settle`."""
        return self.place(x) if is_memory(self.func.type_of(x)) else self.settle(x, block)

    def enclose(
        self, f: Func, enclosed: Enclosed, args: Sequence[Operand], places: Sequence[Place]
    ) -> list[bytes]:
        """The code of ``f`` itself, on these arguments: its array results go to ``places``, others stay on
        the stack."""
        raise NotImplementedError

    def invoke(
        self, f: Func, given: Sequence[Operand], places: Sequence[Place | None]
    ) -> tuple[list[bytes], list[int], dict[int, bytes]]:
        """The call of ``f`` on these arguments, its array results going to ``places``.

        Returned are code, the numbers of the results that it leaves on the stack, the last on top, and code
        that pushes each of the other scalar results.
        """
        index, convention = self.callees[f]
        types = f.result_types
        if not isinstance(convention, Convention | HostConvention):
            arrays = [k for k, t in enumerate(types) if is_memory(t)]
            written = [places[k] or self.reserve(size_of(types[k])) for k in arrays]
            code = self.enclose(f, convention, given, written)
            return code, [k for k in range(len(types)) if k not in arrays], {}
        args = [x.push() if isinstance(x, Place) else x for x in given]
        if isinstance(convention, HostConvention):
            return self._invoke_host(f, index, convention, args, places)
        code = [args[k] for k in (*convention.scalars, *convention.pointers)]
        before: list[bytes] = []
        pointers, others = self.pass_more(
            f, convention, lambda k: [args[k]], lambda k: self._target(places[k], types[k]), before
        )
        return [*before, *code, *pointers, call(index)], convention.returned, others

    def pass_more(
        self,
        f: Func,
        convention: Convention,
        arg: Callable[[int], list[bytes]],
        target: Callable[[int], bytes],
        out: list[bytes],
    ) -> tuple[list[bytes], dict[int, bytes]]:
        """What a call of ``f`` passes after the arrays among its arguments.

        ``arg``: code that pushes an argument, by its number; ``target``: where an array result goes;
        ``out``: where the block of arguments is written. Returned are pointers, and code that pushes each of
        the scalar results that are not left on the stack.
        """
        pointers: list[bytes] = []
        if convention.in_block:
            extra = self.reserve(8 * convention.in_block)
            for j, k in enumerate(convention.blocked):
                code = arg(k)  # which may write to `out` itself
                out += [extra.base, *code, store(passed_kind(f.params[k]), extra.offset + 8 * j)]
            for j, k in enumerate(convention.blocked_written, len(convention.blocked)):
                out += [extra.base, target(k), store("i", extra.offset + 8 * j)]
            pointers.append(extra.push())
        pointers += [target(k) for k in convention.written]
        others: dict[int, bytes] = {}
        if convention.blocked_results:
            extra = self.reserve(8 * len(convention.blocked_results))
            for j, k in enumerate(convention.blocked_results):
                others[k] = extra.base + load(kind_of(f.result_type(k)), extra.offset + 8 * j)
            pointers.append(extra.push())
        return pointers, others

    def _target(self, place: Place | None, t: Type) -> bytes:
        """Where an array result goes: somewhere, if nobody wants it."""
        return (place or self.reserve(size_of(t))).push()

    def _invoke_host(
        self,
        f: Func,
        index: int,
        convention: HostConvention,
        args: Sequence[bytes],
        places: Sequence[Place | None],
    ) -> tuple[list[bytes], list[int], dict[int, bytes]]:
        code = [args[k] for k in convention.scalars] + [args[k] for k in convention.pointers]
        if convention.returns:
            return [*code, call(index)], [0], {}
        others: dict[int, bytes] = {}
        for k, t in enumerate(f.result_types):
            place = places[k] or self.reserve(size_of(t))
            code.append(place.push())
            if not is_memory(t):
                others[k] = place.base + load(kind_of(t), place.offset)
        return [*code, call(index)], [], others

    def _to_locals(
        self, called: tuple[list[bytes], list[int], dict[int, bytes]], sets: dict[int, bytes]
    ) -> list[bytes]:
        """A call whose scalar results go into local variables, by code that sets each; others are dropped."""
        code, on_stack, others = called
        return [
            *code,
            *[sets.get(k, DROP) for k in reversed(on_stack)],
            *[push + sets[k] for k, push in others.items() if k in sets],
        ]

    # -- choices -------------------------------------------------------------------------------------

    def cond(self, v: int, ins: tuple[int, ...]) -> None:
        """``COND``: the call of one of two functions."""
        site = CondSite(self.func, ins)
        block = self.func.home[v]
        self.done.add(v)
        gets = self.demand.columns.get(v, {})
        operands = [site.p, *site.args[0], *site.args[1]]
        p = self.settle(site.p, block)
        given = [self.operand(x, block) for x in operands[1:]]
        types = site.functions[0].result_types
        taken = len(site.args[0])
        passed = given[:taken], given[taken:]
        places: list[Place | None] = [None] * len(types)
        for k, get in gets.items():
            if get in self.reused:
                places[k] = self.overwrite(self.reused[get])
            elif is_memory(types[k]):
                places[k] = self.room_for(get, types[k])
        calls = []
        before: list[list[bytes]] = []
        for f, args in zip(site.functions, passed, strict=True):
            before.append([])
            for k, at in self.updates.overwriting.places(f).items():
                if gets.get(k) not in self.reused:  # it gets a copy to overwrite
                    copy = places[k] = places[k] or self.reserve(size_of(types[k]))
                    array = args[at]
                    assert isinstance(array, Place)
                    before[-1] += copied(copy, array, size_of(types[k]))
                    args[at] = copy
            calls.append(self.invoke(f, args, places))
        sets: dict[int, bytes] = {}
        for k, get in gets.items():
            place = places[k]
            if place:
                self.put(get, place)
                if get in self.reused:
                    self.name(get, self.reused[get])
                    operands.remove(self.reused[get])
            else:
                sets[k] = self.keep(get, is_i32(types[k]))
        sides = [[*copy, *self._to_locals(called, sets)] for copy, called in zip(before, calls, strict=True)]
        self.out[block] += [p, IF, *sides[0], ELSE, *sides[1], END]
        for x in operands:
            self.used(x, block)

    # -- updates -------------------------------------------------------------------------------------

    def set(self, v: int, ins: tuple[int, ...]) -> None:
        """``SET``: the array, or a copy of it, with one element replaced."""
        _, whole, i, x = ins
        block = self.func.home[v]
        t = self.func.types[v]
        assert isinstance(t, Array)
        step, is_row, loop, value = size_of(t.elem), is_memory(t.elem), -1, b""
        at = self.settle(i, block)
        if not is_row:
            value = self.settle(x, block)
        elif v not in self.reused or (loop := self._along(x, whole)) < 0:
            self.place(x)
        if v in self.reused:
            place = self.overwrite(whole, loop)
            self.name(v, whole)
        else:
            place = self.room_for(v, t)
            self.copy(block, place, whole, t)
        out = self.out[block]
        row = [place.base, at, i32_const(step), I32_MUL, I32_ADD]
        if not is_row:
            out += [*row, value, store(kind_of(t), place.offset)]
            self.used(x, block)
        elif v in self.updates.put_back:
            self.used(x, block)
        else:
            n = self.new_local(True)
            out += [*row, set_local(n)]
            to = Place(get_local(n), place.offset)
            self.want(x, to, block)
            self.copy(block, to, x, t.elem)
            self.free[-1][1].append(n)
        self.used(i, block)
        self.put(v, place)

    def _along(self, x: int, whole: int) -> int:
        """The loop that makes the row ``x`` alone, if it can do so in the place of one of a matrix; or -1."""
        op, *given = self.func.code[x] if x >= 0 else (-1,)
        if op != GET or self.left[x] != 1 or self.func.code[given[0]][0] != FOR:
            return -1
        number = self.func.code[given[0]][1]
        is_alone = [*self.demand.columns[given[0]].values()] == [x] and not self.demand.anchors[number]
        return given[0] if is_alone and self.updates.are_along(number, whole) else -1

    # -- tapes ---------------------------------------------------------------------------------------

    def read(self, v: int, ins: tuple[int, ...]) -> None:
        """An element of a tape."""
        block = self.func.home[v]
        t = self.func.types[v]
        tape, i = self.settle(ins[1], block), self.settle(ins[2], block)
        data, stride = self.tapes.get(tape) or (tape + load("i", DATA), tape + load("i", STRIDE))
        self.out[block] += [data, i, stride, I32_MUL, I32_ADD]
        if not is_memory(t):
            self.out[block].append(load(kind_of(t), 0))
        self.used(ins[1], block)
        self.used(ins[2], block)
        self.out[block].append(self.keep(v, is_i32(t)))
        self.offset[v] = 0

    def read_place(self, v: int, ins: tuple[int, ...]) -> None:
        """The place of an element in an accumulator of a tape, or of an array of tapes.

        That of a tape is where its descriptor is.
        """
        block = self.func.home[v]
        whole, inner = self.func.inner_type_of(ins[1]), self.func.inner_type_of(v)
        at, i = self.place(ins[1]).push(), self.settle(ins[2], block)
        if is_tape(whole):
            self.out[block] += [at, load("i", DATA), i, at, load("i", STRIDE), I32_MUL, I32_ADD]
        else:
            self.out[block] += [at, i, i32_const(size_of(inner)), I32_MUL, I32_ADD]
        if is_tape(inner):
            self.out[block].append(load("i", 0))
        self.used(ins[1], block)
        self.used(ins[2], block)
        self.out[block].append(self.keep(v, True))
        self.offset[v] = 0

    def zeros(self, v: int, ins: tuple[int, ...]) -> None:
        """``ZEROS``: a new tape, or an array of new ones."""
        block = self.func.home[v]
        t = self.func.types[v]
        source = self.settle(ins[1], block)
        if is_tape(t):
            self.out[block] += [source, self.runtime.zeros(t), self.keep(v, True)]
        else:
            self.put(v, self._zeros_in_memory(v, t, source))
        self.used(ins[1], block)

    def accum_tapes(self, v: int, init: int, t: Type) -> None:
        """An accumulator of tapes, which are its own: equal zeros of several accumulators are one value."""
        block = self.func.home[v]
        is_zero = init < 0 or self.func.code[init][0] == ZEROS
        like = self.func.code[init][1] if is_zero and init >= 0 else init
        source = self.settle(like, block)
        if is_tape(t):
            self.out[block] += [source, self.runtime.zeros(t), self.keep(v, True)]
            self.offset[v] = 0
        else:
            self.put(v, self._zeros_in_memory(v, t, source))
        if not is_zero:  # else what the zeros are like is still used by them, for others to come
            self.add_tapes(block, self.place(v), init, t)

    def _zeros_in_memory(self, v: int, t: Type, source: bytes) -> Place:
        place = self.room_for(v, t)
        fill = zeroed(place, size_of(t))
        inside = [place.push(), source, self.runtime.zeros_in_memory(t)] if has_tape(t) else []
        self.out[self.func.home[v]] += [*fill, *inside]
        return place

    def add_tapes(self, block: int, to: Place, x: int, t: Type) -> None:
        """``+=`` of tapes, or of arrays with tapes in them."""
        value = self.settle(x, block)
        add = self.runtime.add(t) if is_tape(t) else self.runtime.add_in_memory(t)
        self.out[block] += [to.push(), value, add]
        self.used(x, block)

    def give_back(self, code: list[bytes], out: list[bytes]) -> None:
        """Append ``code`` to ``out``, the memory that it takes being given back after it."""
        n = self.unused_local("i")
        out += self.runtime.giving_back(code, n)
        self.free[-1][1].append(n)
