"""Accumulators as WebAssembly: where they are, what is added to them, and their values in the end.

A number is in a local variable, unless something else needs its address; an array is in memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from rose_core.encode import F64_ADD, F64_SUB, load, store
from rose_core.language.ir import ACCUM
from rose_core.language.ops import code
from rose_core.language.types import Array, has_tape, is_memory
from rose_core.wasm.bulk import add_arrays, zeroed
from rose_core.wasm.layout import Place, is_i32, kind_of, size_of
from rose_core.wasm.lower_loops import Loops
from rose_core.wasm.values import get_local, set_local
from rose_core.wasm.windows import Window

_NEG = code("neg")


class Accumulators(Loops):
    """The statements of accumulators."""

    addressed: set[int]
    """Scalar accumulators that something else needs the address of."""
    unwritten: set[int]
    """Accumulators whose zeros the first loop that adds to them writes or leaves out."""
    window_of: dict[int, Window]
    """``REF_INDEX`` → the window that it is in, while its loop is being written."""

    def accum(self, v: int, ins: tuple[int, ...]) -> None:
        inner = self.func.inner_type_of(v)
        init, block = ins[1], self.func.home[v]
        out = self.out[block]
        if has_tape(inner):
            self.accum_tapes(v, init, inner)
            return
        if v in self.reused:
            self.put(v, self.overwrite(init))
            self.name(v, init)
            return
        if is_memory(inner):
            place = self.room_for(v, inner)
            if init >= 0:
                self.copy(block, place, init, inner)
            elif v not in self.unwritten:
                out += zeroed(place, size_of(inner))
            self.put(v, place)
            return
        code = self.expression([init], block)
        if v in self.addressed:
            place = self.room_for(v, inner)
            out += [place.base, *code, store(kind_of(inner), place.offset)]
            self.put(v, place)
        else:
            out += code
            out.append(self.keep(v, is_i32(inner)))

    def add_to(self, v: int, ins: tuple[int, ...]) -> None:
        _, r, x = ins
        self.done.add(v)
        block = self.func.home[v]
        t = self.func.type_of(x)
        out = self.out[block]
        self.reach(r)  # which may be elsewhere when what is added has been computed
        if has_tape(t):
            self.add_tapes(block, self.place(r), x, t)
        elif isinstance(t, Array):
            at = self.place(x)
            self._add_arrays(block, self.place(r), at, size_of(t))
            self.used(x, block)
        else:
            out += self.adding(r, self.addend(x, block))
        self.used(r, block)

    def addend(self, x: int, block: int) -> list[bytes]:
        """Code that adds the number ``x`` to what is on the stack; to add a negation is to subtract."""
        ins = self.func.code[x] if x >= 0 else ()
        if ins and ins[0] == _NEG and self.expr[x] is None and not self.demand.rooted[x]:
            return [*self.expression(ins[1:], block), F64_SUB]
        return [*self.expression([x], block), F64_ADD]

    def reach(self, r: int) -> None:
        """See to it that there is an address of the accumulator ``r``, unless it is in a window."""
        if r not in self.window_of:
            self.place(r)

    def adding(self, r: int, code: Sequence[bytes]) -> list[bytes]:
        """Code that adds to the accumulator ``r`` by ``code``, as `addend` gives it."""
        if r in self.window_of:
            n = self.window_of[r].local(r)
            return [get_local(n), *code, set_local(n)]
        place = self.place(r)
        if self.func.code[r][0] == ACCUM and self.local_of[r] >= 0:
            return [place.base, *code, set_local(self.local_of[r] >> 1)]
        at = place.offset
        return [place.base, place.base, load("f", at), *code, store("f", at)]

    def _add_arrays(self, block: int, to: Place, x: Place, size: int) -> None:
        """``to[k] += x[k]`` for every number."""
        if not size:
            return
        n = self.new_local(True)
        self.out[block] += add_arrays(n, to, x, size)
        self.free[-1][1].append(n)

    def resolve(self, v: int, ins: tuple[int, ...]) -> None:
        r, t = ins[1], self.func.types[v]
        if self.local_of[r] >= 0 or is_memory(t):
            self.put(v, self.place(r))
            self.name(v, r)
        else:
            place, block = self.place(r), self.func.home[v]
            self.out[block] += [place.base, load(kind_of(t), place.offset), self.keep(v, is_i32(t))]
            self.used(r, block)
