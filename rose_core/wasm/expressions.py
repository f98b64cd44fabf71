"""Expressions of scalars as WebAssembly, in which values with several users are in local variables.

Each value's code is written where it is first needed: an expression tree runs on the operand stack,
and a value with several users is computed in a statement of its own ahead of the first, and kept in a
local variable until the last. In a gradient this puts the backward part of every term next to its
forward part, so few variables are alive at a time.
"""

from __future__ import annotations

from collections.abc import Sequence

from rose_core.encode import (
    ELSE,
    END,
    I32_ADD,
    I32_MUL,
    IF,
    UNREACHABLE,
    Helper,
    InPlace,
    i32_const,
    load,
    local_get,
)
from rose_core.language.demand import Demand
from rose_core.language.indices import MOST
from rose_core.language.ir import IDX, INDEX, Func
from rose_core.language.ops import BINARY_END, OPS, TABLE_END, UNARY_END, code
from rose_core.language.types import Fin, is_tape
from rose_core.wasm.branches import Branch, branches_of
from rose_core.wasm.context import Codes, Context
from rose_core.wasm.layout import BASE, is_i32, kind_of, size_of
from rose_core.wasm.needs import together
from rose_core.wasm.parts import Parts
from rose_core.wasm.values import Values

_WRITE, _FINISH = 1 << 28, 1 << 29
"""Added to an id on the work list: write its operation now; and finish its statement with that. Integers are
fastest with up to 30 bits."""

_MUL, _SELECT, _IADD, _IMUL, _NARROW = map(code, ("mul", "select", "iadd", "imul", "narrow"))

_IS_INT = [op.out in "BI" for op in OPS]
"""Whether an op of the table gives an i32; ``select`` is not among those that are asked for."""

_IN_PLACE = {op.code: op.wasm for op in OPS if isinstance(op.wasm, InPlace)}
_CHECKS = {op.code: op.wasm for op in OPS if isinstance(op.wasm, Helper) and op.wasm.fails}


def _stands_here(ins: tuple[int, ...]) -> bool:
    """Whether an operation on three operands is a check whose other operands are known."""
    return ins[0] in _CHECKS and ins[2] < 0 and ins[3] < 0


Mates = dict[int, tuple[list[int], bytes]]
"""Value → values that are computed together, and the code that does it."""


def mates_of(func: Func, demand: Demand, codes: Codes) -> Mates:
    """The values of a function that are computed together, which become rooted."""
    mates: Mates = {}
    for values in together(func, demand.uses) if codes.together else ():
        code = codes.together[func.code[values[0]][0]]
        for v in values:
            mates[v] = (values, code)
            demand.rooted[v] = 1
    return mates


class Expressions(Values):
    """The code of scalar expressions."""

    def __init__(
        self,
        func: Func,
        context: Context,
        frame: int,
        data: dict[int, int],
        demand: Demand | None = None,
    ) -> None:
        """As `Values`."""
        super().__init__(func, context, frame, data, demand)
        self.codes = context.codes
        self.mates = mates_of(func, self.demand, context.codes)
        self.branches = branches_of(func, self.demand)
        """Value → the branch that sets it, which is rooted."""
        self.apart: tuple[int, int] | tuple[()] = ()
        """Two local variables for operands, of no use to anything else."""
        self.number_apart = -1
        """Another one, for a number."""
        self.checks: dict[bytes, tuple[int, int, int]] = {}
        """The code of a check → its opcode, and its known operands."""
        self.parts = Parts(self)
        self.pending = 0
        """How many statements and expressions are being written whose code so far nothing else knows."""

    def expression(self, values: Sequence[int], block: int) -> list[bytes]:
        """Code that pushes these scalars, to be put at the end of ``block``.

        What they need computed ahead has been written when this returns.

        A work list stands in place of recursion. An id on it asks for a value; with `_WRITE` added, its
        operands have been written, and its operation is next; with `_FINISH`, that also ends a statement of
        its own, for which the code around it has been ``suspended``.
        """
        func, expr, rooted, suffixes = self.func, self.expr, self.demand.rooted, self.codes.single
        code, home, types = func.code, func.home, func.types
        is_int, mates, branches = _IS_INT, self.mates, self.branches
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
                if op == INDEX:
                    if expr[ins[1]] is None:
                        self.statement(ins[1])
                    if finish and self._is_cheap(ins):
                        expr[v] = known = BASE + self._load(v, ins)
                        write(known)
                        use(v)
                        continue
                if finish:
                    suspended.append((cur, used, block))
                    cur, used, block = [], [], home[v]
                    write, use = cur.append, used.append
                if op < BINARY_END:
                    # operands that are there already need no place on the work list
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
                    if v in branches:
                        work += branches[v].operands(func)
                        continue
                    push(ins[1])
                    if not _stands_here(ins):
                        push(ins[3])
                        push(ins[2])
                    continue
                else:
                    _, x, i = ins
                    base = expr[x]
                    if x >= 0:
                        use(x)
                    if i < 0 or base is not BASE:
                        write(base)  # type: ignore[arg-type]
                    if i >= 0:
                        affine = self.affine(i)
                        if affine is None:
                            push(v + (_FINISH if finish else _WRITE))
                            push(i)
                            continue
                        write(expr[affine[0]])  # type: ignore[arg-type]
                        use(i)
            else:
                finish = v >= _FINISH
                v -= _FINISH if finish else _WRITE
                ins = code[v]
                op = ins[0]
            both = mates.get(v) if mates else None
            branch = branches.get(v) if op == _SELECT else None
            if branch:
                cur = self._branch(branch)
            elif both:
                write(both[1])
                used *= len(both[0])  # the operand is used by each
            elif op >= TABLE_END:
                write(self._load(v, ins))
            elif op >= BINARY_END and _stands_here(ins):
                write(self._check(op, ins[2], ins[3]))
            else:
                write(suffixes[op] or self._in_place(ins, cur))
            if finish:
                out = self.out[block]
                out += cur
                self.all_used(used, block)
                if both:
                    out += [self.keep(w, False) for w in reversed(both[0])]
                elif not branch:
                    out.append(self.keep(v, is_int[op] if op < BINARY_END else is_i32(types[v])))
                cur, used, block = suspended.pop()
                write, use = cur.append, used.append
                if len(out) > longest and self.pending == 1 and out is self.out[0]:
                    self.parts.end([*(code for code, _, _ in suspended), cur])
                write(expr[v])  # type: ignore[arg-type]
                use(v)  # by who asked for it
        self.pending -= 1
        self.all_used(used, block)
        return cur

    def _branch(self, branch: Branch) -> list[bytes]:
        """The statement of a branch, whose operands are known."""
        keep = [b"" if v is None else self.keep(v, False) for v in branch.sides]
        ops = [self.func.code[v][0] for v in branch.comparisons]
        p, q, x, none, half = (self.expr[v] or b"" for v in branch.operands(self.func))
        ways = [[x, none], [none, x], [half + x + self.codes.single[_MUL]] * 2]
        written = [[y + to for y, to in zip(way, keep, strict=True) if to] for way in ways]
        first, second = (p + q + (self.codes.single[op] or b"") + IF for op in ops)
        return [first, *written[0], ELSE, second, *written[1], ELSE, *written[2], END, END]

    def _is_cheap(self, ins: tuple[int, ...]) -> bool:
        """Whether to read an element again is as cheap as to keep it."""
        _, x, i = ins
        return self.expr[x] is BASE and i < 0 and x not in self.clobbered

    def _in_place(self, ins: tuple[int, ...], before: list[bytes]) -> bytes:
        """The end of an operation that needs both operands, indices, more than once, or only the first."""
        if ins[0] == _NARROW:
            before.pop()  # the size, which nothing checks here
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
