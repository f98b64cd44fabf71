"""Building functions: instructions are folded, shared and hoisted as they come."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rose_core.language import simplify, tables
from rose_core.language.indices import MOST
from rose_core.language.ir import (
    ACCUM,
    ADD_TO,
    CALL,
    COND,
    FOR,
    GET,
    IDX,
    INDEX,
    LOOP,
    MEMBER,
    PARAM,
    PULL,
    REF_INDEX,
    REF_MEMBER,
    RESOLVE,
    SET,
    TUPLE,
    VEC,
    VJP,
    ZEROS,
    Block,
    Func,
    Spec,
    fields_of,
    result_type,
)
from rose_core.language.ops import BINARY_END, OPS, UNARY_END, code
from rose_core.language.queries import takes_accumulators
from rose_core.language.types import BOOL, REAL, TAN, UNIT, Array, Fin, Ref, Type, fin, has_tape, ref

_OUT: list[Type | None] = [{"R": REAL, "B": BOOL}.get(op.out) for op in OPS]
_SMALL = 17
"""An update makes a new vector of the elements of one that has fewer than this."""

COUNT = fin(MOST + 1)
"""The type of a number of iterations that is known."""

_NEVER = fin(0)
"""The type of the index of a loop without iterations: what would fail in it must not come before it."""

_ADD, _MUL, _NEG, _SELECT, _DEFINED, _NARROW = map(code, ("add", "mul", "neg", "select", "defined", "narrow"))

_COMMUTES = [op.commutes for op in OPS]


def _key(value: float, type: Type) -> tuple[object, ...]:
    """What tells a zero or a NaN from other constants."""
    return ("nan", type) if value else (value, type, math.copysign(1.0, value))


class Builder:
    """Appends instructions to a function, folding, sharing and hoisting them as they come.

    Operands must be in scope: belong to an open block. The tracers see to that with proper messages,
    the other passes by construction, and `language.check` verifies it.
    """

    def __init__(self, func: Func) -> None:
        self.func = func
        self.code, self.types, self.home = func.code, func.types, func.home
        self.blocks, self.pool = func.blocks, func.pool
        self.table: dict[tuple[int, ...], int] = {}
        self.consts: dict[object, int] = {}
        self.negated: dict[int, int] = {}
        """``neg`` → its operand."""
        self.callees: dict[Func, int] = {}
        self.specs = {spec: k for k, spec in enumerate(func.specs)}
        """How loops run → its place in ``Func.specs``."""
        self.written: dict[int, tuple[int, dict[int, int]]] = {}
        """The last of several ``SET`` at constants so far → the array before these, and the elements."""
        self.ranges: Mapping[int, tuple[int, int]] = {}
        """Index → the least and the largest number that it can be, where more is known than its type says."""
        self.open = [0]
        """The open blocks, outermost first."""

    # -- constants ---------------------------------------------------------------------------------

    def const(self, value: Any, type: Type) -> int:
        """The id of a constant; ``-0.0`` and ``0.0`` are two, all NaNs are one."""
        key = (value, type) if value and value == value else _key(value, type)
        v = self.consts.get(key)
        if v is None:
            self.pool.append((value, type))
            v = self.consts[key] = ~(len(self.pool) - 1)
        return v

    def take(self, pool: Sequence[tuple[Any, Type]]) -> list[int]:
        """The ids of another function's constants here, in their order."""
        if self.pool:
            known, const = self.consts.get, self.const
            return [(value and known((value, type))) or const(value, type) for value, type in pool]
        self.pool += pool
        ids = [*range(-1, -len(pool) - 1, -1)]
        for constant, v in zip(pool, ids, strict=True):
            value = constant[0]
            self.consts[constant if value and value == value else _key(*constant)] = v
        return ids

    def real(self, value: float) -> int:
        return self.const(value, REAL)

    def unwritten(self, type: Type) -> int:
        """The id of an array that nobody reads, and that nothing is written for: see `is_unwritten`."""
        return self.const(math.nan, type)

    # -- operations of the table -------------------------------------------------------------------

    def unary(self, op: int, a: int, type: Type | None = None) -> int:
        if a < 0 or simplify.UNARY[op] is not None:
            v = simplify.unary(self, op, a, type or _OUT[op])
            if v is not None:
                return v
        key = (op, a)
        v = self.table.get(key)
        if v is None:
            v = self._append(key, type or _OUT[op], self.home[a] if a >= 0 else 0)
            if op == _NEG:
                self.negated[v] = a
        return v

    def binary(self, op: int, a: int, b: int, type: Type | None = None) -> int:
        if a < 0 or b < 0:
            v = simplify.binary(self, op, a, b, type or _OUT[op])
            if v is not None:
                return v
        if self.negated and (a in self.negated or b in self.negated):
            v = simplify.signed(self, op, a, b, type)
            if v is not None:
                return v
        # equal operations get equal keys; but in a product with a tangent, that stands first
        key = (op, b, a) if b < a and _COMMUTES[op] and type is not TAN else (op, a, b)
        if op == _DEFINED and key not in self.table:
            return self.failing(key, REAL)
        code, home = self.code, self.home
        n = len(code)
        v = self.table.setdefault(key, n)
        if v == n:  # as `_append`
            ha = home[a] if a >= 0 else 0
            hb = home[b] if b >= 0 else 0
            if hb > ha:
                ha = hb
            code.append(key)
            self.types.append(type or _OUT[op])  # type: ignore[arg-type]
            home.append(ha)
            self.blocks[ha].order.append(v)
        return v

    def doubled(self, v: int) -> int:
        """``v + v``; of a product with a number, the product with twice that.

        Powers of two are exact, so these differ below 2⁻¹⁰²¹ only.
        """
        if v >= 0 and self.code[v][0] == _MUL:
            _, a, b = self.code[v]
            factor, other = (a, b) if a < 0 else (b, a)
            if factor < 0 <= other and math.isfinite(2 * self.pool[~factor][0]):
                return self.binary(_MUL, self.const(2 * self.pool[~factor][0], REAL), other)
        return self.binary(_ADD, v, v)

    def ternary(self, op: int, a: int, b: int, c: int, type: Type | None = None) -> int:
        v = simplify.ternary(self, op, a, b, c, type)
        if v is not None:
            return v
        key = (op, a, b, c)
        if op == _SELECT:
            return self.pure(key, type or self.func.type_of(b))
        if self.never_runs():
            return self.effect(key, type)  # type: ignore[arg-type]
        # what is checked already is not checked again on behalf of another line
        v = self.table.get(key[:3])
        if v is None:
            v = self.table[key[:3]] = self.pure(key, type)  # type: ignore[arg-type]
        return v

    def op(self, op: int, *args: int, type: Type | None = None) -> int:
        """Any operation of the table."""
        if op < UNARY_END:
            return self.unary(op, args[0], type)
        if op < BINARY_END:
            return self.binary(op, args[0], args[1], type)
        return self.ternary(op, args[0], args[1], args[2], type)

    def narrow(self, i: int, t: Fin) -> int:
        """The index ``i`` as one of type ``t``, as which it is known."""
        return self.binary(_NARROW, i, self.const(t.size, COUNT), t)

    def pad(self) -> None:
        """Bring the per-id lists up to ``code``, to which real operations of the body were appended."""
        missing = len(self.code) - len(self.types)
        if missing:
            start = len(self.types)
            self.types += [REAL] * missing
            self.home += [0] * missing
            self.blocks[0].order += range(start, start + missing)

    def adopt(self, func: Func) -> bool:
        """Take over the instructions of a straight function, if all there is so far are its parameters."""
        params = len(func.params)
        if not func.straight or self.pool or func.code[:params] != self.code:
            return False
        self.take(func.pool)
        self.code += func.code[params:]
        self.types += func.types[params:]
        self.home += func.home[params:]
        self.blocks[0].order += func.blocks[0].order[params:]
        self.table = dict(zip(self.code, range(len(self.code)), strict=True))
        return True

    # -- structure -----------------------------------------------------------------------------------

    def _append(self, key: tuple[int, ...], type: Type | None, home: int) -> int:
        v = len(self.code)
        self.code.append(key)
        self.types.append(type)  # type: ignore[arg-type]
        self.home.append(home)
        self.blocks[home].order.append(v)
        self.table[key] = v
        return v

    def pure(self, key: tuple[int, ...], type: Type, operands_from: int = 1) -> int:
        """An instruction without effect, whose operands start at ``key[operands_from]``."""
        n = len(self.code)
        v = self.table.setdefault(key, n)
        if v == n:  # as `_append`
            block, home = 0, self.home
            for a in key[operands_from:]:
                if a >= 0 and home[a] > block:
                    block = home[a]
            self.code.append(key)
            self.types.append(type)
            home.append(block)
            self.blocks[block].order.append(v)
        return v

    def effect(self, key: tuple[int, ...], type: Type, block: int | None = None) -> int:
        """An instruction that stays in its place, in the innermost open block unless told otherwise."""
        self.func.straight = False
        v = len(self.code)
        home = self.open[-1] if block is None else block
        self.code.append(key)
        self.types.append(type)
        self.home.append(home)
        self.blocks[home].order.append(v)
        return v

    def failing(self, key: tuple[int, ...], type: Type, operands_from: int = 1) -> int:
        """As `pure`, for what may fail: in a loop without iterations, that stays there."""
        return self.effect(key, type) if self.never_runs() else self.pure(key, type, operands_from)

    def never_runs(self) -> bool:
        """Whether an open loop has no iterations."""
        return len(self.open) > 1 and any(self.blocks[k].size == _NEVER for k in self.open)

    def param(self, type: Type) -> int:
        """One more parameter of the function."""
        self.func.params.append(type)
        return self._append((PARAM, len(self.func.params) - 1), type, 0)

    def vec(self, elems: Sequence[int], type: Type) -> int:
        """``[x, …]``; all elements of a vector in their order are that vector."""
        if not elems:  # of which type, its operands do not tell
            return self._append((VEC,), type, 0)
        if len(elems) >= tables.FEWEST and (content := self._numbers(elems, type)):
            return self.data(content, type)
        whole = self._whole(elems, type)
        return self.pure((VEC, *elems), type) if whole is None else whole

    def data(self, content: bytes, type: Type) -> int:
        """A vector of these numbers, which are as in memory."""
        return self.pure((VEC, self.const(content, type)), type)

    def _numbers(self, elems: Sequence[int], type: Type) -> bytes:
        """The numbers of a vector of constants, or of vectors of constants; none of another."""
        assert isinstance(type, Array)
        if tables.is_number(type.elem):
            return tables.packed([self.pool[~x][0] for x in elems], type.elem) if max(elems) < 0 else b""
        found = []
        for x in elems:
            content = tables.numbers_of(self.func, x) if x >= 0 else None
            if content is None:
                return b""
            found.append(content)
        return b"".join(found)

    def _whole(self, elems: Sequence[int], type: Type) -> int | None:
        """The vector that has just these elements, if there is one."""
        if elems[0] < 0:
            return None
        first = self.code[elems[0]]
        if first[0] != INDEX or first[2] >= 0 or self.types[first[1]] != type:
            return None
        for k, x in enumerate(elems):
            ins = self.code[x] if x >= 0 else first
            if ins[0] != INDEX or ins[1] != first[1] or ins[2] >= 0 or self.pool[~ins[2]][0] != k or x < 0:
                return None
        return first[1]

    def index(self, v: int, i: int) -> int:
        """``v[i]``; a row that was updated is read where it was put back, so that it may stay there."""
        while True:
            if v < 0:
                value, type = self.pool[~v]
                assert isinstance(type, Array)
                return self.const(value, type.elem)
            ins, made = self.code[v], v
            if ins[0] == INDEX:
                made = self._updated(v)
                ins = self.code[made]
            if i < 0 and ins[0] == VEC:
                return self._element(made, int(self.pool[~i][0]))
            if ins[0] != SET or not (ins[2] == i or (ins[2] < 0 and i < 0)):
                break
            if ins[2] == i:
                row = ins[3]
                if row >= 0 and self.code[row][0] == SET:
                    break
                return row
            v, elements = self.written.get(made) or (ins[1], {})
            if i in elements:
                return elements[i]
        key, n = (INDEX, v, i), len(self.code)
        found = self.table.setdefault(key, n)
        if found == n:  # as `_append`
            type, home = self.types[v], self.home
            assert isinstance(type, Array)
            block = home[v] if i < 0 else max(home[v], home[i])
            self.code.append(key)
            self.types.append(type.elem)
            home.append(block)
            self.blocks[block].order.append(n)
        return found

    def _element(self, v: int, k: int) -> int:
        content, t = tables.table_of(self.func, v), self.types[v]
        if content is None:
            return self.code[v][1 + k]
        assert isinstance(t, Array)
        found = tables.part(content, k, t.size)
        if isinstance(t.elem, Array):
            return self.data(found, t.elem)
        return self.const(tables.nested(found, t.elem), t.elem)

    def _updated(self, row: int) -> int:
        """The update that made a row, if it was put back; else the row."""
        _, whole, at = self.code[row]
        if whole >= 0 and self.code[whole][0] == SET:
            _, _, i, x = self.code[whole]
            if i == at and x >= 0:
                return x
        return row

    def open_for(self, size: Type) -> int:
        """Start a loop over the index type ``size``; the id of its index."""
        self.func.straight = False
        block = len(self.blocks)
        self.blocks.append(Block(self.open[-1], -1, size))
        self.open.append(block)
        index = self._append((IDX, block), size, block)
        self.blocks[block].index = index
        return index

    def close_for(self, results: Sequence[int]) -> int:
        """End the innermost loop; the id of the ``FOR``, whose results are got with `get`."""
        number = self.open.pop()
        block = self.blocks[number]
        block.results = list(results)
        block.owner = self.effect((FOR, number), UNIT)
        return block.owner

    def get(self, v: int, k: int) -> int:
        """Result ``k`` of a loop or a call."""
        found = self.table.get((GET, v, k))
        if found is not None:
            return found
        return self._append((GET, v, k), result_type(self.func, v, k), self.home[v])

    def callee(self, f: Func) -> int:
        k = self.callees.get(f)
        if k is None:
            k = self.callees[f] = len(self.func.callees)
            self.func.callees.append(f)
        return k

    def call(self, f: Func, args: Sequence[int]) -> int:
        """Call ``f`` on leaves; the id of the call, whose results are got with `get`."""
        self.func.straight = False
        key = (CALL, self.callee(f), *args)
        if f.effects or takes_accumulators(f):
            self.func.effects |= f.effects
            return self.effect(key, UNIT)
        return self.failing(key, UNIT, operands_from=2)

    def vjp(self, f: Func, args: Sequence[int]) -> int:
        """Call ``f``, keeping what `pull` needs; its results are got with `get`."""
        self.func.straight = False
        key = (VJP, self.callee(f), *args)
        if f.effects:
            self.func.effects = True
            return self.effect(key, UNIT)
        return self.failing(key, UNIT, operands_from=2)

    def pull(self, vjp: int, cotangents: Sequence[int]) -> int:
        """The transpose at ``vjp``, on cotangents of its real results; gives those of the real arguments."""
        return self.pure((PULL, vjp, *cotangents), UNIT)

    def all_of(self, loop: int, spec: Spec, count: int) -> list[int]:
        """All results of a loop whose body has so many; 0 for the number of iterations where that is not
        kept.

        Without a test it is how many were asked for: of these, passes may leave some out.
        """
        _, _, _, test, trips, *_ = self.code[loop]
        if test >= 0:
            t = self.func.type_of(trips)
            trips = self.const(0, t) if spec.checkpoint else self.get(loop, spec.carries)
        state = [self.get(loop, k) for k in range(spec.carries)]
        return [*state, trips, *(self.get(loop, k) for k in range(spec.carries + 1, count + 1))]

    def cond(self, p: int, f: Func, f_args: Sequence[int], g: Func, g_args: Sequence[int]) -> int:
        """Call ``f`` where ``p`` holds, else ``g``, on arguments of its own; results are got with `get`."""
        key = (COND, self.callee(f), self.callee(g), len(f_args), p, *f_args, *g_args)
        return self._calling(key, (f, g), 4)

    def loop(
        self,
        spec: Spec,
        count: int,
        body: Func,
        state: Sequence[int],
        args: Sequence[int],
        test: Func | None = None,
        test_args: Sequence[int] = (),
    ) -> int:
        """Run ``body`` at most ``count`` times, as long as ``test`` holds; results are got with `get`."""
        if count < 0:  # one type for all that are known
            count = self.const(self.pool[~count][0], COUNT)
        number = self.specs.setdefault(spec, len(self.func.specs))
        if number == len(self.func.specs):
            self.func.specs.append(spec)
        functions = (body, test) if test else (body,)
        numbers = self.callee(body), self.callee(test) if test else -1
        key = (LOOP, number, *numbers, count, *state, *args, *test_args)
        return self._calling(key, functions, 4)

    def _calling(self, key: tuple[int, ...], functions: Sequence[Func], operands_from: int) -> int:
        """An instruction that calls functions, which stays in its place where one of them has effects."""
        self.func.straight = False
        effects = any(f.effects for f in functions)
        if effects or any(isinstance(t, Ref) for f in functions for t in f.params):
            self.func.effects |= effects
            return self.effect(key, UNIT)
        return self.failing(key, UNIT, operands_from)

    def set(self, v: int, i: int, x: int) -> int:
        """The array ``v`` with ``x`` at ``i``."""
        type = self.func.type_of(v)
        if x >= 0 and self.code[x] == (INDEX, v, i):
            return v
        small = v >= 0 and i < 0 and self.code[v][0] == VEC and len(self.code[v]) <= _SMALL
        if small and tables.table_of(self.func, v) is None:
            elems = list(self.code[v][1:])
            elems[int(self.pool[~i][0])] = x
            return self.vec(elems, type)
        self.func.straight = False
        found = self.pure((SET, v, i, x), type)
        if i < 0 and found not in self.written:
            before, elements = self.written.pop(v) if v in self.written else (v, {})
            elements[i] = x
            self.written[found] = before, elements
        return found

    def zeros(self, v: int, type: Type) -> int:
        """Zeros of the shape of ``v``, which is known at run time only."""
        self.func.straight = False
        return self.pure((ZEROS, v), type)

    def zero_like(self, v: int, type: Type | None = None) -> int:
        """The zero of a type, by default that of ``v``, with as many numbers as ``v`` has."""
        type = type or self.func.type_of(v)
        return self.zeros(v, type) if v >= 0 and has_tape(type) else self.const(0.0, type)

    def accum(self, init: int, block: int | None = None) -> int:
        """A new accumulator that starts from ``init``."""
        return self.effect((ACCUM, init), ref(self.func.type_of(init)), block)

    def add_to(self, r: int, x: int) -> int:
        return self.effect((ADD_TO, r, x), UNIT)

    def ref_index(self, r: int, i: int) -> int:
        """``&r[i]``."""
        inner = self.func.inner_type_of(r)
        assert isinstance(inner, Array)
        return self.pure((REF_INDEX, r, i), ref(inner.elem))

    def bundle(self, parts: Sequence[int], type: Type) -> int:
        """A pair or struct, its parts in the order of `fields_of`."""
        self.func.structured = True
        return self.pure((TUPLE, *parts), type)

    def member(self, x: int, k: int) -> int:
        """Part ``k`` of a pair or struct, or of an accumulator of one."""
        self.func.structured = True
        t = self.func.type_of(x)
        if isinstance(t, Ref):
            return self._part((REF_MEMBER, x, k), ref(fields_of(t.inner)[k][1]), x)
        return self._part((MEMBER, x, k), fields_of(t)[k][1], x)

    def _part(self, key: tuple[int, ...], type: Type, x: int) -> int:
        found = self.table.get(key)
        return self._append(key, type, self.func.home_of(x)) if found is None else found

    def resolve(self, r: int) -> int:
        """The value of ``r``, at the end of its scope."""
        return self.effect((RESOLVE, r), self.func.inner_type_of(r))
