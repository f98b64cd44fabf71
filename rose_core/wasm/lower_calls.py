"""Calls as WebAssembly: arguments and results as the conventions say (`wasm.layout`)."""

from __future__ import annotations

from rose_core.encode import DROP, call, load
from rose_core.language.ir import Func
from rose_core.language.types import is_memory
from rose_core.wasm.bulk import copied
from rose_core.wasm.layout import Convention, HostConvention, Place, is_i32, kind_of, size_of
from rose_core.wasm.lower_sums import Accumulators


class Calls(Accumulators):
    """The statements of calls."""

    def call(self, v: int, ins: tuple[int, ...]) -> None:
        callee, block = self.func.callees[ins[1]], self.func.home[v]
        self.done.add(v)
        args, gets = ins[2:], self.demand.columns.get(v, {})
        index, convention = self.callees[callee]
        out = self.out[block]
        types = callee.result_types
        if isinstance(convention, HostConvention):
            self._call_host(v, callee, convention)
            return
        assert isinstance(convention, Convention)
        taken = self.updates.overwriting.places(callee)
        given = {k for k in taken if gets.get(k) in self.reused}
        places = {k: self.overwrite(args[taken[k]]) for k in given}
        for k in convention.made:
            if k not in given:
                places[k] = self.room_for(gets[k], types[k]) if k in gets else self.reserve(size_of(types[k]))
        passed = {k: self.place(args[k]) for k in convention.arrays}
        copies: list[bytes] = []
        for k in taken.keys() - given:  # it gets a copy to overwrite
            copies += copied(places[k], passed[taken[k]], size_of(types[k]))
            passed[taken[k]] = places[k]
        pointers = [passed[k].push() for k in convention.pointers]
        further, others = self.pass_more(
            callee,
            convention,
            lambda k: [passed[k].push()] if k in passed else self.expression([args[k]], block),
            lambda k: places[k].push(),
            out,
        )
        for k in convention.made:
            if k in gets:
                self.put(gets[k], places[k])
            if k in given:
                self.name(gets[k], args[taken[k]])
        for k in others.keys() & gets.keys():
            self.expr[gets[k]] = others[k]
        code = self.expression([args[k] for k in convention.scalars], block)
        out += [*copies, *code, *pointers, *further, call(index)]
        for k in passed.keys() - {taken[k] for k in given}:
            self.used(args[k], block)
        for k in reversed(convention.returned):
            self._take(gets.get(k), out)

    def _call_host(self, v: int, callee: Func, convention: HostConvention) -> None:
        block, types = self.func.home[v], callee.result_types
        args, gets, out = self.func.code[v][2:], self.demand.columns.get(v, {}), self.out[block]
        pointers = [self.place(args[k]).push() for k in convention.pointers]
        places: list[Place] = []
        if not convention.returns:
            for k, t in enumerate(types):
                wanted = k in gets and is_memory(t)
                places.append(self.room_for(gets[k], t) if wanted else self.reserve(size_of(t)))
        code = self.expression([args[k] for k in convention.scalars], block)
        out += [*code, *pointers, *[place.push() for place in places], call(self.callees[callee][0])]
        for k in convention.pointers:
            self.used(args[k], block)
        if convention.returns:
            self._take(gets.get(0), out)
        for k, place in enumerate(places):
            if k in gets and is_memory(types[k]):
                self.put(gets[k], place)
            elif k in gets:  # into a local variable, since the next call writes to the same place
                out += [
                    place.base,
                    load(kind_of(types[k]), place.offset),
                    self.keep(gets[k], is_i32(types[k])),
                ]

    def _take(self, get: int | None, out: list[bytes]) -> None:
        """Store or drop the value on top of the stack."""
        out.append(DROP if get is None else self.keep(get, is_i32(self.func.types[get])))
