"""The intermediate representation: functions of hash-consed instructions in nested blocks (Figure 3).

An instruction is a tuple ``(opcode, operand, …)``, its id the index of its tuple in ``Func.code``; an
id is also the name of the one value the instruction defines. Negative ids are constants: ``~id`` is
an index into ``Func.pool``. So an operand is always one int, and always smaller than the id of its user;
only the results of a loop may be larger than its ``FOR``, when reverse mode tapes a call's result.

Per id (parallel lists, all as long as ``code``):

- ``code[v]``   the instruction,
- ``types[v]``  the type of its value,
- ``home[v]``   the block it belongs to.

``blocks[0]`` is the function's body; every ``FOR`` owns one more. A block lists its instructions in
execution order (ascending ids). A pure instruction belongs to the innermost block that one of its
operands belongs to, so code that does not depend on a loop's index stands outside the loop from the
start, and one hash table finds common subexpressions everywhere. A tuple per instruction because it
is the key of that table as well: in Pyodide that is twice as fast as parallel lists of ints with a
packed key.

Functions made by the tracers hold leaf types only: aggregates are bundles of ids on the tracer's side
and leave no instruction. Programs read from text may hold pairs and structs (`TUPLE`, `MEMBER`,
`REF_MEMBER`); `rose_core.flatten` takes them apart before anything else happens to them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from rose_core import simplify
from rose_core.ops import BINARY_END, OPS, UNARY_END
from rose_core.types import BOOL, REAL, TAN, UNIT, Array, Pair, Ref, Struct, Type, TypeVar, array, leaves, ref

PARAM, IDX, VEC, INDEX, FOR, GET, CALL, ACCUM, ADD_TO, REF_INDEX, RESOLVE = range(len(OPS), len(OPS) + 11)
TUPLE, MEMBER, REF_MEMBER, VJP, PULL = range(RESOLVE + 1, RESOLVE + 6)
"""Structural opcodes, after those of the table:

- ``PARAM k``; ``IDX b``: the index of the loop whose body is block ``b``;
- ``VEC x…``: ``[x, …]``; ``INDEX v i``: ``v[i]``;
- ``FOR b``: ``[for i: n, …]``, and ``CALL f x…`` (``f`` an index into ``callees``) have several
  results, arrays of the block's results or the callee's; ``GET v k`` is result ``k``;
- ``ACCUM x``: a new accumulator with initial value ``x``; ``ADD_TO r x``: ``r += x``;
  ``REF_INDEX r i``: ``&r[i]``; ``RESOLVE r``: the end of ``r``'s scope, and its value;
- ``TUPLE x…``, ``MEMBER x k``, ``REF_MEMBER r k``: pairs and structs, by position of the field;
- ``VJP f x…``: call ``f`` and keep what its transpose needs; ``PULL v c…``: run the transpose of
  ``VJP`` instruction ``v`` on the cotangents ``c`` of its active results. `rose_core.expand` replaces both.
"""

STRUCTURAL_NAMES = (
    "param idx vec index for get call accum add_to ref_index resolve tuple member ref_member vjp pull".split()
)

EFFECTS = frozenset((ADD_TO,))
"""Instructions executed for what they do rather than for a value."""

_OUT: list[Type | None] = [{"R": REAL, "B": BOOL}.get(op.out) for op in OPS]
_COMMUTES = [op.commutes for op in OPS]


class Block:
    """A sequence of instructions with a scope; the body of a function or of a loop."""

    __slots__ = ("index", "order", "owner", "parent", "results", "size")

    def __init__(self, parent: int, index: int, size: Type) -> None:
        self.parent = parent
        """The enclosing block; -1 for a function's body."""
        self.index = index
        """The id of the loop's index; -1 for a function's body."""
        self.size = size
        """The index type the loop ranges over; unit for a function's body."""
        self.order: list[int] = []
        self.results: list[int] = []
        """What one turn of the loop, or a call of the function, gives. Grows when a value is taped."""
        self.owner = -1
        """The ``FOR`` instruction; -1 while the block is open, and for a function's body."""


class Func:
    """A function: its signature, its body, and what is known about it from outside."""

    __slots__ = (
        "blocks", "callees", "code", "effects", "generics", "home", "host", "instance", "jvp", "memo", "name",
        "origin", "param_names", "param_types", "params", "pool", "ret", "straight", "structured", "types",
    )  # fmt: skip

    def __init__(self, name: str, param_types: Sequence[Type], ret: Type) -> None:
        self.name = name
        self.param_types = list(param_types)
        """The parameters as the author declared them."""
        self.ret = ret
        """The result as the author declared it."""
        self.param_names: list[str] = []
        """What the author calls the parameters, where known."""
        self.params: list[Type] = []
        """The types of the ``PARAM`` instructions, by number."""
        self.code: list[tuple[int, ...]] = []
        self.types: list[Type] = []
        self.home: list[int] = []
        self.blocks = [Block(-1, -1, UNIT)]
        self.pool: list[tuple[object, Type]] = []
        """Constants: value and type. The constant of an array type is filled with its value."""
        self.callees: list[Func] = []
        self.jvp: Func | None = None
        """The custom derivative, a function on duals (paper, Section 3.2)."""
        self.host: Callable[..., object] | None = None
        """What an opaque function runs."""
        self.effects = False
        """Whether a call may do more than give a value: an opaque function runs in it."""
        self.generics: list[TypeVar] = []
        """The type parameters ``<t: κ>``."""
        self.instance: tuple[Func, tuple[Type, ...]] | None = None
        """The generic function that this is, at these types."""
        self.structured = False
        """Whether there are pairs and structs in the body, to be flattened before anything else."""
        self.straight = True
        """Whether the body is operations of the table, reads of arrays and vectors: no loops, calls, effects."""
        self.origin: tuple[str, Func] | None = None
        """``("jvp", f)`` for a derivative that is yet to be made from ``f``."""
        self.memo: dict[object, object] = {}
        """What passes have made of this function."""

    @property
    def results(self) -> list[int]:
        return self.blocks[0].results

    @property
    def result_types(self) -> list[Type]:
        """The types of what a call gives: the leaves, or before flattening the declared result."""
        if self.instance:
            return [self.ret]
        return [self.type_of(v) for v in self.results] if self.code or self.results else leaves(self.ret)

    def type_of(self, v: int) -> Type:
        return self.types[v] if v >= 0 else self.pool[~v][1]

    def home_of(self, v: int) -> int:
        return self.home[v] if v >= 0 else 0

    def __repr__(self) -> str:
        return f"<{self.name}: {len(self.code)} instructions>"


class Builder:
    """Appends instructions to a function, folding, sharing and hoisting them as they come.

    Operands must be in scope: belong to an open block. The tracers see to that with proper messages,
    the other passes by construction, and `rose_core.check` verifies it.
    """

    def __init__(self, func: Func) -> None:
        self.func = func
        self.code, self.types, self.home = func.code, func.types, func.home
        self.blocks, self.pool = func.blocks, func.pool
        self.table: dict[tuple[int, ...], int] = {}
        self.consts: dict[object, int] = {}
        self.callees: dict[Func, int] = {}
        self.open = [0]
        """The open blocks, outermost first."""

    # -- constants ---------------------------------------------------------------------------------

    def const(self, value: object, type: Type) -> int:
        """The id of a constant; ``-0.0`` and ``0.0`` are two, all NaNs are one."""
        key = (value, type, math.copysign(1.0, value)) if value == 0 else (value, type)  # type: ignore[arg-type]
        if value != value:
            key = ("nan", type)
        v = self.consts.get(key)
        if v is None:
            self.pool.append((value, type))
            v = self.consts[key] = ~(len(self.pool) - 1)
        return v

    def real(self, value: float) -> int:
        return self.const(value, REAL)

    # -- operations of the table -------------------------------------------------------------------

    def unary(self, op: int, a: int, type: Type | None = None) -> int:
        if a < 0 or simplify.UNARY[op] is not None:
            v = simplify.unary(self, op, a, type or _OUT[op])
            if v is not None:
                return v
        key = (op, a)
        v = self.table.get(key)
        return self._append(key, type or _OUT[op], self.home[a] if a >= 0 else 0) if v is None else v

    def binary(self, op: int, a: int, b: int, type: Type | None = None) -> int:
        if a < 0 or b < 0:
            v = simplify.binary(self, op, a, b, type or _OUT[op])
            if v is not None:
                return v
        # equal operations get equal keys; but in a product with a tangent, that stands first
        key = (op, b, a) if b < a and _COMMUTES[op] and type is not TAN else (op, a, b)
        v = self.table.get(key)
        if v is not None:
            return v
        home = self.home
        ha = home[a] if a >= 0 else 0
        hb = home[b] if b >= 0 else 0
        return self._append(key, type or _OUT[op], ha if ha > hb else hb)

    def ternary(self, op: int, a: int, b: int, c: int, type: Type | None = None) -> int:
        v = simplify.ternary(self, op, a, b, c)
        return self.pure((op, a, b, c), type or self.func.type_of(b)) if v is None else v

    def op(self, op: int, *args: int, type: Type | None = None) -> int:
        """Any operation of the table."""
        if op < UNARY_END:
            return self.unary(op, *args, type=type)
        return self.binary(op, *args, type=type) if op < BINARY_END else self.ternary(op, *args, type=type)

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
        for value, type in func.pool:
            self.const(value, type)
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
        v = self.table.get(key)
        if v is not None:
            return v
        home = 0
        for a in key[operands_from:]:
            if a >= 0 and self.home[a] > home:
                home = self.home[a]
        return self._append(key, type, home)

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

    def param(self, type: Type) -> int:
        """One more parameter of the function."""
        self.func.params.append(type)
        return self._append((PARAM, len(self.func.params) - 1), type, 0)

    def vec(self, elems: Sequence[int], type: Type) -> int:
        return self.pure((VEC, *elems), type)

    def index(self, v: int, i: int) -> int:
        """``v[i]``."""
        if v < 0:
            value, type = self.pool[~v]
            assert isinstance(type, Array)
            return self.const(value, type.elem)
        ins = self.code[v]
        if i < 0 and ins[0] == VEC:
            return ins[1 + int(self.pool[~i][0])]  # type: ignore[call-overload, no-any-return]
        key = (INDEX, v, i)
        found = self.table.get(key)
        if found is not None:
            return found
        type = self.types[v]
        assert isinstance(type, Array)
        return self.pure(key, type.elem)

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
        """Result ``k`` of a ``FOR`` or a call."""
        ins = self.code[v]
        if ins[0] == FOR:
            block = self.blocks[ins[1]]
            type: Type = array(block.size, self.func.type_of(block.results[k]))
        elif ins[0] == CALL or ins[0] == VJP:
            type = self.func.callees[ins[1]].result_types[k]
        else:  # a PULL has a result for every real leaf of the arguments
            f = self.func.callees[self.code[ins[1]][1]]
            type = [t for t in f.params if is_real(t)][k]
        return self._got(v, k, type)

    def _got(self, v: int, k: int, type: Type) -> int:
        found = self.table.get((GET, v, k))
        return self._append((GET, v, k), type, self.home[v]) if found is None else found

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
        if f.effects or any(isinstance(t, Ref) for t in f.params):
            self.func.effects |= f.effects
            return self.effect(key, UNIT)
        return self.pure(key, UNIT, operands_from=2)

    def vjp(self, f: Func, args: Sequence[int]) -> int:
        """Call ``f``, keeping what `pull` needs; its results are got with `get`."""
        self.func.straight = False
        key = (VJP, self.callee(f), *args)
        if f.effects:
            self.func.effects = True
            return self.effect(key, UNIT)
        return self.pure(key, UNIT, operands_from=2)

    def pull(self, vjp: int, cotangents: Sequence[int]) -> int:
        """The transpose at ``vjp``, on cotangents of its real results; gives those of the real arguments."""
        return self.pure((PULL, vjp, *cotangents), UNIT)

    def accum(self, init: int, block: int | None = None) -> int:
        """A new accumulator that starts from ``init``."""
        return self.effect((ACCUM, init), ref(self.func.type_of(init)), block)

    def add_to(self, r: int, x: int) -> int:
        return self.effect((ADD_TO, r, x), UNIT)

    def ref_index(self, r: int, i: int) -> int:
        """``&r[i]``."""
        inner = self.types[r].inner  # type: ignore[attr-defined]
        return self.pure((REF_INDEX, r, i), ref(inner.elem))

    def tuple(self, parts: Sequence[int], type: Type) -> int:
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
        return self.effect((RESOLVE, r), self.types[r].inner)  # type: ignore[attr-defined]


def fields_of(t: Type) -> list[tuple[str, Type]]:
    """The parts of a pair or struct."""
    if isinstance(t, Pair):
        return [("fst", t.fst), ("snd", t.snd)]
    assert isinstance(t, Struct)
    return t.sorted_fields()


def is_real(t: Type) -> bool:
    """Whether a leaf holds real numbers (or tangents), so that it has a derivative."""
    while isinstance(t, (Array, Ref)):
        t = t.elem if isinstance(t, Array) else t.inner
    return t is REAL or t is TAN
