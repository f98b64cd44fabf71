"""The typing rules of the IR (Figures 9 and 10), executable: run after every pass in tests.

Checked are types and kinds; that tangents enter linearly; that every operand is in scope; that an
accumulator is only added to until it is resolved, and is never part of a value; and that no function
calls itself.
"""

from __future__ import annotations

from collections.abc import Sequence

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
    STRUCTURAL_NAMES,
    TUPLE,
    VEC,
    VJP,
    ZEROS,
    CondSite,
    Func,
    LoopSite,
    fields_of,
    is_real,
    result_count,
    result_type,
)
from rose_core.language.ops import OPS, TABLE_END
from rose_core.language.tables import size, table_of
from rose_core.language.types import (
    BOOL,
    REAL,
    RUN,
    TAN,
    TYPE,
    UNIT,
    VALUE,
    Array,
    Fin,
    Pair,
    Ref,
    Struct,
    Type,
    TypeVar,
    ref,
    replace_scalar,
    scalar_of,
)
from rose_core.language.types import (
    INDEX as INDEX_KIND,
)

_RANK = {INDEX_KIND: 0, VALUE: 1, TYPE: 2}


class CheckError(Exception):
    """A function that is not well formed: which, where and why."""


def has_kind(t: Type, kind: str, scope: tuple[TypeVar, ...] = ()) -> bool:
    """``Γ ⊢ t : κ`` (Figure 10); ``scope`` are the type parameters in Γ."""
    if isinstance(t, TypeVar) and t not in scope:
        return False
    if isinstance(t, Array):
        parts_fit = has_kind(t.index, INDEX_KIND, scope) and has_kind(t.elem, VALUE, scope)
    elif isinstance(t, (Pair, Struct)):
        parts_fit = all(has_kind(u, VALUE, scope) for _, u in fields_of(t))
    else:
        parts_fit = not isinstance(t, Ref) or has_kind(t.inner, VALUE, scope)
    return parts_fit and _RANK[t.kind()] <= _RANK[kind]


def check(f: Func) -> None:
    """Check ``f`` and every function it needs.

    Raises:
        CheckError: one of them breaks a rule.
    """
    done: set[Func] = set()
    path: list[Func] = []

    def visit(g: Func) -> None:
        if g in path:
            raise CheckError(
                f"{g.name} calls itself: " + " → ".join(h.name for h in [*path[path.index(g) :], g])
            )
        if g not in done:
            path.append(g)
            for h in g.callees:
                visit(h)
            path.pop()
            done.add(g)
            _Checker(g).run()

    visit(f)


class _Checker:
    def __init__(self, f: Func) -> None:
        self.f = f
        self.scope = tuple(f.generics)
        self.open: list[int] = []
        self.seen = [False] * len(f.code)
        self.resolved: set[int] = set()

    def run(self) -> None:
        f = self.f
        n = len(f.code)
        self.require(len(f.types) == n == len(f.home), "its lists differ in length")
        for t in (*f.params, *f.param_types):
            self.require(has_kind(t, TYPE, self.scope), f"a parameter cannot be of type {t}")
        for t in (f.ret, *f.result_types):
            self.require(has_kind(t, VALUE, self.scope), f"a result cannot be of type {t}")
        self.block(0)

    def require(self, condition: bool, why: str, v: int = -1) -> None:
        if not condition:
            where = f", {v}: {self.describe(v)}" if v >= 0 else ""
            raise CheckError(f"{self.f.name}{where}: {why}")

    def describe(self, v: int) -> str:
        op, *operands = self.f.code[v]
        name = OPS[op].name if op < TABLE_END else STRUCTURAL_NAMES[op - TABLE_END]
        return f"{name} {' '.join(map(str, operands))}"

    def operand(self, x: int, v: int = -1) -> Type:
        """The type of an operand, which must be defined already, in an open block."""
        f = self.f
        if x < 0:
            self.require(~x < len(f.pool), f"there is no constant {~x}", v)
            value, t = f.pool[~x]
            self.require(not is_real(t) or isinstance(value, (float, bytes)), f"{value!r} is no number", v)
            return t
        self.require(x < len(f.code) and self.seen[x], f"{x} is not defined here", v)
        self.require(f.home[x] in self.open, f"{x} is out of scope", v)
        return f.types[x]

    def block(self, number: int) -> None:
        block = self.f.blocks[number]
        self.open.append(number)
        for v in block.order:
            self.require(self.f.home[v] == number, "it is listed in a block that is not its home", v)
            self.require(not self.seen[v], "it is listed twice", v)
            self.instruction(v)
            self.seen[v] = True
        for r in block.results:
            self.require(has_kind(self.operand(r), VALUE, self.scope), f"result {r} is an accumulator")
        self.open.pop()

    def instruction(self, v: int) -> None:
        ins = self.f.code[v]
        op = ins[0]
        t = self.table_type(v, ins) if op < TABLE_END else self.structural_type(v, ins)
        self.require(self.f.types[v] == t, f"its type is {t}, not {self.f.types[v]}", v)
        self.require(has_kind(t, TYPE, self.scope), f"there is no type {t}", v)

    def table_type(self, v: int, ins: tuple[int, ...]) -> Type:
        row = OPS[ins[0]]
        types = [self.operand(x, v) for x in ins[1:]]
        self.require(len(types) == len(row.ins), f"{row.name} takes {len(row.ins)} operands", v)
        tangents = [t is TAN for t in types]
        if any(tangents) and row.out != "a":
            linear = len(row.tangent) == len(types) and all(
                (c == "T") == x for c, x in zip(row.tangent, tangents, strict=True)
            )
            self.require(linear, "it is not linear in its tangents", v)
            return TAN
        any_type: Type | None = None
        for letter, t in zip(row.ins, types, strict=True):
            if letter == "R":
                self.require(t is REAL, f"expected Real, got {t}", v)
            elif letter == "B":
                self.require(t is BOOL, f"expected Bool, got {t}", v)
            elif letter == "I":
                self.require(has_kind(t, INDEX_KIND, self.scope), f"expected an index, got {t}", v)
            else:
                any_type = any_type or t
                self.require(t == any_type, f"expected {any_type}, got {t}", v)
        if row.out == "I":
            self.require(has_kind(self.f.types[v], INDEX_KIND, self.scope), "its type is no index type", v)
            return self.f.types[v]
        return {"R": REAL, "B": BOOL}.get(row.out) or any_type or UNIT

    def structural_type(self, v: int, ins: tuple[int, ...]) -> Type:
        f, op = self.f, ins[0]
        if op == PARAM:
            return f.params[ins[1]]
        if op == IDX:
            self.require(
                f.blocks[ins[1]].index == v and self.open[-1] == ins[1], "it is not its loop's index", v
            )
            return f.blocks[ins[1]].size
        if op == FOR:
            self.require(f.blocks[ins[1]].owner == v, "it is not its block's owner", v)
            self.require(
                has_kind(f.blocks[ins[1]].size, INDEX_KIND, self.scope), "it is over no index type", v
            )
            self.block(ins[1])
            return UNIT
        if op == GET:
            return self.get_type(v, ins[1], ins[2])
        if op in (CALL, VJP):
            self.call(v, f.callees[ins[1]], ins[2:])
            return UNIT
        if op == COND:
            self.cond(v, CondSite(f, ins))
            return UNIT
        if op == LOOP:
            self.loop(v, LoopSite(f, ins))
            return UNIT
        if op == SET:
            t = self.operand(ins[1], v)
            self.require(isinstance(t, Array), f"{t} has no elements", v)
            assert isinstance(t, Array)
            types = [self.operand(x, v) for x in ins[2:]]
            self.require(types == [t.index, t.elem], f"expected {t.index} and {t.elem}, got {types}", v)
            return t
        if op == ZEROS:
            t, zeros = self.operand(ins[1], v), f.types[v]
            self.require(is_real(t) and scalar_of(zeros) in (REAL, TAN), "only Reals have a zero", v)
            self.require(replace_scalar(t, scalar_of(zeros)) == zeros, f"it has the shape of {t}", v)
            return zeros
        if op == PULL:
            self.require(f.code[ins[1]][0] == VJP, "it has no vjp to pull through", v)
            results = [t for t in f.callees[f.code[ins[1]][1]].result_types if is_real(t)]
            types = [self.operand(x, v) for x in ins[2:]]
            self.require(types == results, f"expected cotangents {results}, got {types}", v)
            return UNIT
        if op == VEC:
            t = f.types[v]
            self.require(isinstance(t, Array), "its type is no array", v)
            assert isinstance(t, Array)
            content = table_of(self.f, v)
            if content is not None:
                self.require(self.f.pool[~ins[1]][1] == t, "its table is of another type", v)
                self.require(len(content) == size(t), "its table is of another size", v)
                return t
            if isinstance(t.index, Fin):
                self.require(len(ins) - 1 == t.size, f"expected {t.size} elements", v)
            for x in ins[1:]:
                self.require(self.operand(x, v) == t.elem, f"expected elements {t.elem}", v)
            return t
        if op == TUPLE:
            t = f.types[v]
            types = [self.operand(x, v) for x in ins[1:]]
            self.require(
                isinstance(t, (Pair, Struct)) and types == [u for _, u in fields_of(t)], "wrong parts", v
            )
            return t
        return self.accumulator_type(v, ins)

    def accumulator_type(self, v: int, ins: tuple[int, ...]) -> Type:
        """Accumulators, and reads of parts."""
        op = ins[0]
        t = self.operand(ins[1], v)
        if op == ACCUM:
            self.require(has_kind(t, VALUE, self.scope), "it starts from an accumulator", v)
            return ref(t)
        if op in (INDEX, REF_INDEX):
            inner = t.inner if op == REF_INDEX and isinstance(t, Ref) else t
            self.require(isinstance(inner, Array), f"{t} has no elements", v)
            assert isinstance(inner, Array)
            i = self.operand(ins[2], v)
            fits = i == inner.index or (inner.index is RUN and isinstance(i, Fin))
            self.require(fits, f"expected an index of type {inner.index}, got {i}", v)
            if ins[2] < 0 and isinstance(i, Fin):
                self.require(0 <= int(self.f.pool[~ins[2]][0]) < i.size, "the index is out of range", v)
            return ref(inner.elem) if op == REF_INDEX else inner.elem
        if op in (MEMBER, REF_MEMBER):
            inner = t.inner if op == REF_MEMBER and isinstance(t, Ref) else t
            self.require(isinstance(inner, (Pair, Struct)), f"{t} has no parts", v)
            part = fields_of(inner)[ins[2]][1]
            return ref(part) if op == REF_MEMBER else part
        self.require(isinstance(t, Ref), f"{ins[1]} is no accumulator", v)
        assert isinstance(t, Ref)
        self.require(ins[1] not in self.resolved, "the accumulator's scope has ended", v)
        if op == RESOLVE:
            self.require(self.f.code[ins[1]][0] == ACCUM, "only an accum can be resolved", v)
            self.require(self.f.home[ins[1]] == self.f.home[v], "it is resolved in another block", v)
            self.resolved.add(ins[1])
            return t.inner
        self.require(op == ADD_TO, "unknown instruction", v)
        x = self.operand(ins[2], v)
        self.require(x == t.inner, f"expected {t.inner}, got {x}", v)
        return UNIT

    def call(self, v: int, f: Func, args: Sequence[int], first: Sequence[Type] = ()) -> None:
        """Check that ``f`` takes values of the types ``first``, and then ``args``."""
        types = [*first, *(self.operand(x, v) for x in args)]
        self.require(types == f.params, f"{f.name} takes {f.params}, got {types}", v)

    def cond(self, v: int, site: CondSite) -> None:
        self.require(self.operand(site.p, v) is BOOL, "expected a Bool", v)
        for f, args in zip(site.functions, site.args, strict=True):
            self.call(v, f, args)
        yes, no = (f.result_types for f in site.functions)
        self.require(yes == no, f"its branches give {yes} and {no}", v)

    def loop(self, v: int, site: LoopSite) -> None:
        spec, body, test = site.spec, site.body, site.test
        count = self.operand(site.count, v)
        self.require(isinstance(count, Fin), f"expected a number of iterations, got {count}", v)
        self.require(isinstance(spec.index, Fin), f"iterations cannot be numbered by {spec.index}", v)
        self.call(v, body, [*site.state, *site.args], [spec.index])
        state = [self.operand(x, v) for x in site.state]
        results = body.result_types
        self.require(not any(isinstance(t, Ref) for t in state), "its state has an accumulator", v)
        self.require(results[: spec.carries] == state, f"its state {state} becomes {results}", v)
        self.require(len(results) >= spec.carries + spec.outputs, "it keeps too little", v)
        plain = not spec.checkpoint or len(results) == spec.carries
        self.require(plain, "a loop with checkpoints keeps nothing else of its iterations", v)
        if test:
            self.call(v, test, [*site.state, *site.test_args])
            self.require(test.result_types == [BOOL], f"its test gives {test.result_types}", v)
        else:
            self.require(not site.test_args, "it has arguments for a test", v)

    def get_type(self, v: int, of: int, k: int) -> Type:
        f = self.f
        self.operand(of, v)
        self.require(f.code[of][0] in (FOR, CALL, VJP, PULL, COND, LOOP), f"{of} has no results", v)
        self.require(k < result_count(f, of), f"{of} has no result {k}", v)
        if f.code[of][0] == LOOP and f.specs[f.code[of][1]].checkpoint:
            self.require(k < f.specs[f.code[of][1]].carries, "its iterations are not counted", v)
        return result_type(f, of, k)
