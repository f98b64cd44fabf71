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

from collections.abc import Callable, Sequence
from typing import Any

from rose_core.ops import OPS
from rose_core.types import REAL, TAN, UNIT, Array, Pair, Ref, Struct, Type, TypeVar, dual, leaves

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
        "blocks", "callees", "code", "effects", "fault", "generics", "home", "host", "instance", "jvp",
        "memo", "name", "opaque", "origin", "param_names", "param_types", "params", "pool", "ret", "straight",
        "structured", "types",
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
        self.pool: list[tuple[float, Type]] = []
        """Constants: value and type. The constant of an array type is filled with its value."""
        self.callees: list[Func] = []
        self.jvp: Func | None = None
        """The custom derivative, a function on duals (paper, Section 3.2)."""
        self.fault = ""
        """What is wrong with the custom derivative that the author gave, and ``jvp`` is not."""
        self.host: Callable[..., list[Any]] | None = None
        """What an opaque function runs: from argument leaves to result leaves."""
        self.opaque = False
        """Whether a body is there to be run, but not to be differentiated."""
        self.effects = False
        """Whether a call may do more than give a value: an opaque function runs in it."""
        self.generics: list[TypeVar] = []
        """The type parameters ``<t: κ>``."""
        self.instance: tuple[Func, tuple[Type, ...]] | None = None
        """The generic function that this is, at these types."""
        self.structured = False
        """Whether there are pairs and structs in the body, to be flattened before anything else."""
        self.straight = True
        """Whether the body is operations of the table, vectors and their elements: no loops, no calls."""
        self.origin: tuple[str, Func] | None = None
        """``("jvp", f)`` for a derivative that is yet to be made from ``f``."""
        self.memo: dict[object, object] = {}
        """What passes have made of this function."""

    def derive_jvp(self, origin: Func) -> None:
        """Become the place-holder of the forward derivative of ``origin``."""
        self.params = [leaf for t in origin.params for leaf in leaves(dual(t))]
        self.origin = ("jvp", origin)
        self.effects = origin.effects

    @property
    def results(self) -> list[int]:
        return self.blocks[0].results

    @property
    def result_types(self) -> list[Type]:
        """The types of what a call gives: the dual, leaves, or before flattening the declared result."""
        if self.instance:
            return [self.ret]
        return [self.type_of(v) for v in self.results] if self.code or self.results else leaves(self.ret)

    def type_of(self, v: int) -> Type:
        return self.types[v] if v >= 0 else self.pool[~v][1]

    def home_of(self, v: int) -> int:
        return self.home[v] if v >= 0 else 0

    def __repr__(self) -> str:
        return f"<{self.name}: {len(self.code)} instructions>"


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
