"""Expressions of scalars as WebAssembly, with local variables and places in memory for their parts.

Each value's code is written where it is first needed: an expression tree runs on the operand stack,
and a value with several users is computed in a statement of its own ahead of the first, and kept in a
local variable until the last. In a gradient this puts the backward part of every term next to its
forward part, so few variables are alive at a time.

A statement's code goes to the end of what has been written for its block. Code that is still being
put together (an expression, the body of a loop) runs after that, so a variable is given back only
when the statements of all its users are complete, and for users inside a loop when the loop is.
"""

from __future__ import annotations

from collections.abc import Sequence

from rose_core.encode import (
    END,
    I32_ADD,
    I32_MUL,
    IF,
    UNREACHABLE,
    Helper,
    InPlace,
    f64_const,
    i32_const,
    load,
    local_get,
    local_set,
)
from rose_core.language.demand import Demand
from rose_core.language.indices import MOST
from rose_core.language.ir import ACCUM, GET, IDX, INDEX, RESOLVE, VEC, Func
from rose_core.language.ops import BINARY_END, OPS, TABLE_END, UNARY_END, code
from rose_core.language.types import REAL, Fin, Type, is_memory, is_tape
from rose_core.wasm.bulk import copied
from rose_core.wasm.context import Context
from rose_core.wasm.layout import BASE, Place, is_i32, kind_of, letter, placed, size_of
from rose_core.wasm.needs import together
from rose_core.wasm.parts import Parts

_WRITE, _FINISH = 1 << 28, 1 << 29
"""Added to an id on the work list: write its operation now; and finish its statement with that. Integers are
fastest with up to 30 bits."""

_IADD, _IMUL, _NARROW = map(code, ("iadd", "imul", "narrow"))

_IS_INT = [op.out in "BI" for op in OPS]
"""Whether an op of the table gives an i32; ``select`` is not among those that are asked for."""

_GETS = [local_get(n) for n in range(4096)]
_SETS = [local_set(n) for n in range(4096)]


def get_local(n: int) -> bytes:
    return _GETS[n] if n < 4096 else local_get(n)


def set_local(n: int) -> bytes:
    return _SETS[n] if n < 4096 else local_set(n)


_IN_PLACE = {op.code: op.wasm for op in OPS if isinstance(op.wasm, InPlace)}
_CHECKS = {op.code: op.wasm for op in OPS if isinstance(op.wasm, Helper) and op.wasm.fails}


def _stands_here(ins: tuple[int, ...]) -> bool:
    """Whether an operation on three operands is a check whose other operands are known."""
    return ins[0] in _CHECKS and ins[2] < 0 and ins[3] < 0


class Expressions:
    """What is known of the values of a function while it is lowered."""

    def __init__(
        self,
        func: Func,
        context: Context,
        frame: int,
        data: dict[int, int],
        demand: Demand | None = None,
    ) -> None:
        """``frame``: where the function's frame starts; ``data``: address of each constant vector;
        ``demand``: on the function's values, if it is known."""
        self.func = func
        self.context = context
        self.demand = demand or Demand(func)
        self.frame_end = frame
        self.data = data
        self.codes = context.codes
        self.mates = self._mates() if context.codes.together else {}
        """Value → values that are computed together, which are rooted, and the code that does it."""
        self.out: list[list[bytes]] = [[] for _ in func.blocks]
        """For each block, the code of its finished statements."""
        self.runs: list[tuple[int, str]] = []
        """The local variables after the parameters, in runs of one type."""
        self.local_count = 0
        self.free: list[tuple[list[int], list[int]]] = [([], [])]
        """Free local variables, f64 and i32: of the function's body, then of each loop being written."""
        self.lane_locals: list[int] = []
        """Local variables of two lanes, none of which is in use outside of a loop."""
        self.apart: tuple[int, int] | tuple[()] = ()
        """Two local variables for operands, of no use to anything else."""
        self.number_apart = -1
        """Another one, for a number."""
        self.checks: dict[bytes, tuple[int, int, int]] = {}
        """The code of a check → its opcode, and its known operands."""
        self.loops = [0]
        """The blocks being written, outermost first."""
        self.expr: list[bytes | None] = [None] * len(func.code)
        """Code that pushes a value, once there is one; for what lives in memory, the base of its address."""
        self.expr += [self._constant(value, t) for value, t in reversed(func.pool)]
        arrays = [~k for k, (_, t) in enumerate(func.pool) if t is not REAL and is_memory(t)]
        self.offset = dict.fromkeys(arrays, context.zeros)
        """What to add to the base; nothing where there is nothing. Constant arrays are zeros."""
        self.left = self.demand.uses
        """The uses of each value whose statements are not complete."""
        self.local_of = [-1] * len(func.code)
        """The local variable that holds a value, times two, plus one for an i32; -1 for none."""
        self.name_of: dict[int, int] = {}
        """Value → the value that it is a part, or another name, of."""
        self.delayed: list[list[int]] = [[] for _ in func.blocks]
        """Uses, inside each loop being written, of values from outside of it."""
        self.clobbered: set[int] = set()
        """Arrays that will be overwritten; what is read from them must be kept."""
        self.wanted: dict[int, Place] = {}
        """Array or accumulator → where it is to be made."""
        self.parts = Parts(self)
        self.pending = 0
        """How many statements and expressions are being written whose code so far nothing else knows."""

    def _mates(self) -> dict[int, tuple[list[int], bytes]]:
        mates = {}
        for values in together(self.func, self.demand.uses):
            code = self.codes.together[self.func.code[values[0]][0]]
            for v in values:
                mates[v] = (values, code)
                self.demand.rooted[v] = 1
        return mates

    def statement(self, v: int) -> None:
        """Write ``v``, no scalar operation, as a statement of its own, unless that has been done."""
        raise NotImplementedError

    # -- places ------------------------------------------------------------------------------------------

    @staticmethod
    def _constant(value: float, t: Type) -> bytes:
        if t is REAL:
            return f64_const(value)
        if is_memory(t):
            return BASE
        return f64_const(value) if letter(t) == "f" else i32_const(int(value))

    def reserve(self, size: int) -> Place:
        """Room in the frame."""
        address, self.frame_end = placed(self.frame_end, size)
        return Place(BASE, address)

    def put(self, v: int, place: Place) -> None:
        """Say where the array or accumulator ``v`` is."""
        self.expr[v] = place.base
        self.offset[v] = place.offset

    def place(self, x: int) -> Place:
        """The address of the array or accumulator ``x``, which is made now if it was not."""
        if self.expr[x] is None:
            self.statement(x)
        return Place(self.expr[x], self.offset.get(x, 0))  # type: ignore[arg-type]

    def want(self, v: int, place: Place, block: int) -> None:
        """Ask for the array ``v`` to be made at ``place``, if ``block`` makes it and has not done so yet."""
        if v < 0 or self.expr[v] is not None or self.func.home[v] != block or v in self.data:
            return
        ins = self.func.code[v]
        if ins[0] == RESOLVE:
            r = ins[1]
            if self.func.code[r][0] == ACCUM and self.func.home[r] == block and self.expr[r] is None:
                self.wanted.setdefault(r, place)
        elif ins[0] in (VEC, GET):
            self.wanted.setdefault(v, place)

    def room_for(self, v: int, t: Type) -> Place:
        """Where to make ``v``."""
        place = self.wanted.get(v)
        if place is None:
            place = self.wanted[v] = self.reserve(size_of(t))
        return place

    def copy(self, block: int, to: Place, v: int, t: Type) -> None:
        """Copy the whole array ``v``, unless it was made there."""
        at = self.place(v)
        size = size_of(t)
        if at.base != to.base or at.offset != to.offset:
            self.out[block] += copied(to, at, size)
        self.used(v, block)

    # -- local variables ----------------------------------------------------------------------------------

    def new_local(self, is_int: bool, depth: int = -1) -> int:
        """A local variable, for the block being written or for the enclosing one at ``depth``."""
        for free in self.free[depth % len(self.free) :: -1]:
            if free[is_int]:
                return free[is_int].pop()
        return self.unused_local("fi"[is_int])

    def unused_local(self, kind: str) -> int:
        """A local variable that no code uses that has been written so far, of a type in a letter."""
        if self.runs and self.runs[-1][1] == kind:
            self.runs[-1] = (self.runs[-1][0] + 1, kind)
        else:
            self.runs.append((1, kind))
        self.local_count += 1
        return self.local_count - 1

    def kinds_from(self, first: int) -> str:
        """The types of the local variables from number ``first`` on."""
        kinds, missing = "", self.local_count - first
        for count, kind in reversed(self.runs):
            if not missing:
                break
            kinds = kind * min(count, missing) + kinds
            missing -= min(count, missing)
        return kinds

    def keep(self, v: int, is_int: bool) -> bytes:
        """Code that stores ``v`` in a local variable, which is its own until its last use."""
        home = self.func.home[v]
        n = self.new_local(is_int, self.loops.index(home) if home else 0)
        self.hold(v, n, is_int)
        return set_local(n)

    def hold(self, v: int, n: int, is_int: bool) -> None:
        """Say that ``v`` is in that local variable."""
        self.expr[v] = get_local(n)
        self.local_of[v] = 2 * n + is_int
        self.parts.owner[n] = v

    def name(self, v: int, of: int) -> None:
        """Say that ``v`` is a part, or another name, of a value."""
        self.name_of[v] = of
        self.parts.aliases.append(v)

    def used(self, x: int, block: int) -> None:
        """Note that a use of ``x`` by a statement of ``block`` is complete."""
        if x < 0:
            return
        if block != self.func.home[x]:
            self.delayed[block].append(x)
            return
        self.left[x] -= 1
        if not self.left[x]:
            self.release(x, block)

    def all_used(self, values: Sequence[int], block: int) -> None:
        """As `used`, of what are no constants."""
        home, left, local_of = self.func.home, self.left, self.local_of
        free = self.free[self.loops.index(block) if block else 0]
        for x in values:
            if home[x] != block:
                self.delayed[block].append(x)
                continue
            left[x] -= 1
            if not left[x]:
                local = local_of[x]
                if local >= 0:
                    free[local & 1].append(local >> 1)
                else:
                    self.release(x, block)

    def release(self, x: int, block: int) -> None:
        """Give back the local variable of ``x``, or its share in what it is a name of."""
        local = self.local_of[x]
        if local >= 0:
            self.free[self.loops.index(block) if block else 0][local & 1].append(local >> 1)
        elif x in self.name_of:
            self.used(self.name_of[x], block)
        else:
            self.parts.release(x)

    # -- expressions --------------------------------------------------------------------------------------

    def expression(self, values: Sequence[int], block: int) -> list[bytes]:
        """Code that pushes these scalars, to be put at the end of ``block``.

        What they need computed ahead has been written when this returns.

        A work list stands in place of recursion. An id on it asks for a value; with `_WRITE` added, its
        operands have been written, and its operation is next; with `_FINISH`, that also ends a statement of
        its own, for which the code around it has been ``suspended``.
        """
        func, expr, rooted, suffixes = self.func, self.expr, self.demand.rooted, self.codes.single
        code, home, types, local_of = func.code, func.home, func.types, self.local_of
        is_int, mates = _IS_INT, self.mates
        work = list(reversed(values))
        pop, push = work.pop, work.append
        cur: list[bytes] = []
        used: list[int] = []
        write, use = cur.append, used.append
        suspended: list[tuple[list[bytes], list[int], int]] = []
        self.pending += 1
        longest = self.parts.longest
        while work:
            v = pop()
            if v < _WRITE:
                known = expr[v]
                if known is not None:
                    write(known)
                    if v >= 0:
                        use(v)
                    continue
                ins = code[v]
                op = ins[0]
                if op >= TABLE_END and (op != INDEX or is_tape(func.type_of(ins[1]))):
                    self.statement(v)
                    push(v)
                    continue
                finish = rooted[v]
                if finish:
                    suspended.append((cur, used, block))
                    cur, used, block = [], [], home[v]
                    write, use = cur.append, used.append
                if op < BINARY_END:
                    # operands that are there already need no turn on the work list
                    x = ins[1]
                    known = expr[x]
                    if op >= UNARY_END:
                        y = ins[2]
                        if known is None:
                            push(v + (_FINISH if finish else _WRITE))
                            push(y)
                            push(x)
                            continue
                        write(known)
                        if x >= 0:
                            use(x)
                        x, known = y, expr[y]
                    if known is None:
                        push(v + (_FINISH if finish else _WRITE))
                        push(x)
                        continue
                    write(known)
                    if x >= 0:
                        use(x)
                elif op < TABLE_END:
                    push(v + (_FINISH if finish else _WRITE))
                    push(ins[1])
                    if not _stands_here(ins):
                        push(ins[3])
                        push(ins[2])
                    continue
                else:
                    x = ins[1]
                    if expr[x] is None:
                        self.statement(x)
                    base = expr[x]
                    if (
                        finish and base is BASE and ins[2] < 0 and x not in self.clobbered
                    ):  # as cheap to read again as to keep
                        cur, used, block = suspended.pop()
                        write, use = cur.append, used.append
                        expr[v] = known = BASE + self._load(v, ins)
                        write(known)
                        use(v)
                        continue
                    if x >= 0:
                        use(x)
                    if ins[2] < 0 or base is not BASE:
                        write(base)  # type: ignore[arg-type]
                    if ins[2] >= 0:
                        turn = self.affine(ins[2])
                        if turn is None:
                            push(v + (_FINISH if finish else _WRITE))
                            push(ins[2])
                            continue
                        write(expr[turn[0]])  # type: ignore[arg-type]
                        use(ins[2])
            else:
                finish = v >= _FINISH
                v -= _FINISH if finish else _WRITE
                ins = code[v]
                op = ins[0]
            both = mates.get(v) if mates else None
            if both:
                write(both[1])
                used *= len(both[0])  # the operand is used by each
            elif op >= TABLE_END:
                write(self._load(v, ins))
            elif op >= BINARY_END and _stands_here(ins):
                write(self._check(op, ins[2], ins[3]))
            else:
                write(suffixes[op] or self._in_place(ins))
            if finish:
                out = self.out[block]
                out += cur
                self.all_used(used, block)
                if both:
                    out += [self.keep(w, False) for w in reversed(both[0])]
                else:  # as `keep` does it
                    kind = is_int[op] if op < BINARY_END else is_i32(types[v])
                    depth = self.loops.index(block) if block else 0
                    free = self.free[depth][kind]
                    n = free.pop() if free else self.new_local(kind, depth)
                    expr[v] = _GETS[n] if n < 4096 else local_get(n)
                    local_of[v] = 2 * n + kind
                    self.parts.owner[n] = v
                    out.append(_SETS[n] if n < 4096 else local_set(n))
                cur, used, block = suspended.pop()
                write, use = cur.append, used.append
                if len(out) > longest and self.pending == 1 and out is self.out[0]:
                    self.parts.end([*(code for code, _, _ in suspended), cur])
                write(expr[v])  # type: ignore[arg-type]
                use(v)  # by who asked for it
        self.pending -= 1
        self.all_used(used, block)
        return cur

    def _in_place(self, ins: tuple[int, ...]) -> bytes:
        """The end of an operation that needs its two operands, indices, more than once."""
        form = _IN_PLACE.get(ins[0])
        if form is None:
            return b""
        if ins[0] == _IMUL and self._is_small(ins):
            return I32_MUL
        return form.code(*self._put_apart())

    def _put_apart(self) -> tuple[int, int]:
        """The local variables for operands."""
        self.apart = self.apart or (self.unused_local("i"), self.unused_local("i"))
        return self.apart

    def _is_small(self, ins: tuple[int, ...]) -> bool:
        """Whether the product of two indices is one for certain."""
        most = 1
        for x in ins[1:]:
            t = self.func.type_of(x)
            assert isinstance(t, Fin)
            most *= t.size - 1 if x >= 0 else int(self.func.pool[~x][0])
        return most <= MOST

    def _check(self, op: int, size: int, note: int) -> bytes:
        """The end of a check of an operand, whose function is called only where it fails."""
        helper = _CHECKS[op]
        bound, told = self.expr[size], self.expr[note]
        assert helper.fails and bound and told
        i = x = self._put_apart()[0]
        if helper.params[-1] == "f":
            if self.number_apart < 0:
                self.number_apart = self.unused_local("f")
            x = self.number_apart
        report = bound + told + local_get(x) + self.codes.single[op] + UNREACHABLE
        code = helper.fails(bound, i, x) + IF + report + END + local_get(i)
        self.checks[code] = op, size, note
        return code

    def put_apart_anew(self) -> dict[bytes, bytes]:
        """Have other local variables for such operands; which code takes the place of which.

        Part by part, the first ones after the parameters: so code becomes another one once at most.
        """
        if not self.apart:
            return {}
        old, self.apart = self.apart, ()
        checks, self.checks, self.number_apart = self.checks, {}, -1
        anew = {form.code(*old): form.code(*self._put_apart()) for form in _IN_PLACE.values()}
        return anew | {code: self._check(*check) for code, check in checks.items()}

    def _load(self, v: int, ins: tuple[int, ...]) -> bytes:
        """The end of an element read, after the array's base and a symbolic index."""
        t = self.func.types[v]
        kind, step, offset = kind_of(t), size_of(t), self.offset.get(ins[1], 0)
        if ins[2] < 0:
            return load(kind, offset + int(self.func.pool[~ins[2]][0]) * step)
        _, factor, constant = self.affine(ins[2]) or (-1, 1, 0)
        return self._scaled(self.expr[ins[1]], factor * step) + load(kind, offset + constant * step)

    def affine(self, v: int) -> tuple[int, int, int] | None:
        """The index ``v`` as index of a loop × factor + constant, if it is that: id, factor, constant.

        Neither is negative: both are in addresses, of which the parts are added up without a sign.
        """
        ins = self.func.code[v]
        if ins[0] == IDX:
            return v, 1, 0
        if ins[0] == _NARROW:
            return self.affine(ins[1]) if ins[1] >= 0 else None
        if ins[0] not in (_IADD, _IMUL):
            return None
        _, x, y = ins
        if x < 0:
            x, y = y, x
        of = self.affine(x) if y < 0 <= x else None
        if of is None:
            return None
        value = int(self.func.pool[~y][0])
        if value < 0:
            return None
        i, factor, constant = of
        return (i, factor, constant + value) if ins[0] == _IADD else (i, factor * value, constant * value)

    @staticmethod
    def _scaled(base: bytes | None, step: int) -> bytes:
        """From an array's base, if that is not 0, and an index to the address of the element."""
        scaled = b"" if step == 1 else i32_const(step) + I32_MUL
        return scaled if base is BASE else scaled + I32_ADD
