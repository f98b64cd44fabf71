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

Some words for all passes: the *state* of a ``LOOP`` is what it carries from one iteration to the next; a
*choice* is a ``COND``, and its *sides* are the two functions; a *row* is an element that is an array; what is
*kept* of a forward pass is on the *tape*.

Functions made by the tracers hold leaf types only: aggregates are bundles of ids on the tracer's side
and leave no instruction. Programs read from text may hold pairs and structs (`TUPLE`, `MEMBER`,
`REF_MEMBER`); `language.flatten` takes them apart before anything else happens to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from rose_core.deep import Chained
from rose_core.language.ops import OPS
from rose_core.language.types import (
    BOOL,
    REAL,
    RUN,
    TAN,
    UNIT,
    Array,
    Fin,
    Pair,
    Ref,
    Struct,
    Type,
    TypeVar,
    array,
    dual,
    fin,
    leaves,
    real,
    scalar_of,
)

PARAM, IDX, VEC, INDEX, FOR, GET, CALL, ACCUM, ADD_TO, REF_INDEX, RESOLVE = range(len(OPS), len(OPS) + 11)
TUPLE, MEMBER, REF_MEMBER, VJP, PULL = range(RESOLVE + 1, RESOLVE + 6)
COND, LOOP, SET, ZEROS = range(PULL + 1, PULL + 5)
"""Structural opcodes, after those of the table:

- ``PARAM k``; ``IDX b``: the index of the loop whose body is block ``b``;
- ``VEC x…``: ``[x, …]``; ``INDEX v i``: ``v[i]``;
- ``FOR b``: ``[for i: n, …]``, and ``CALL f x…`` (``f`` an index into ``callees``) have several
  results, arrays of the block's results or the callee's; ``GET v k`` is result ``k``;
- ``ACCUM x``: a new accumulator with initial value ``x``; ``ADD_TO r x``: ``r += x``;
  ``REF_INDEX r i``: ``&r[i]``; ``RESOLVE r``: the end of ``r``'s scope, and its value;
- ``TUPLE x…``, ``MEMBER x k``, ``REF_MEMBER r k``: pairs and structs, by position of the field;
- ``VJP f x…``: call ``f`` and keep what its transpose needs; ``PULL v c…``: run the transpose of
  ``VJP`` instruction ``v`` on the cotangents ``c`` of its active results. `derivatives.expand` replaces both;
- ``COND f g k p x…``: call ``f`` on the first ``k`` operands where ``p`` holds, else ``g`` on the others;
- ``LOOP s f t n x…``: call ``f`` again and again, as ``Func.specs[s]`` says, an instance of `Spec`;
- ``SET v i x``: the array ``v`` with ``x`` at ``i``; ``ZEROS v``: zeros, as many as ``v`` has numbers.

What a branch or the body of a loop does stands in a function of its own, which takes what it needs from
outside as arguments. So nothing of it can be computed where it is not wanted, and every pass treats it
as it treats a call.
"""

STRUCTURAL_NAMES = (
    "param idx vec index for get call accum add_to ref_index resolve tuple member ref_member vjp pull "
    "cond loop set zeros".split()
)


ENDLESS = 1 << 60
"""How many there are, or how often something is done, where that is not known."""


class Block:
    """A sequence of instructions with a scope; the body of a function or of a loop."""

    __slots__ = ("count", "down", "index", "order", "owner", "parent", "results", "size")

    def __init__(self, parent: int, index: int, size: Type) -> None:
        self.parent = parent
        """The enclosing block; -1 for a function's body."""
        self.index = index
        """The id of the loop's index; -1 for a function's body."""
        self.size = size
        """The index type the loop ranges over; unit for a function's body."""
        self.order: list[int] = []
        self.results: list[int] = []
        """What one iteration of the loop, or a call of the function, gives. Grows when a value is taped."""
        self.owner = -1
        """The ``FOR`` instruction; -1 while the block is open, and for a function's body."""
        self.count: int | None = None
        """How many iterations there are, where that is not the size: `optimise.sums`."""
        self.down = False
        """Whether the last iteration comes first."""

    @property
    def trips(self) -> int:
        """How many iterations the size says."""
        assert isinstance(self.size, Fin), f"a loop over {self.size} has no fixed number of iterations"
        return self.size.size

    @property
    def is_whole(self) -> bool:
        """Whether there are as many iterations as the size says, from the first one on."""
        return self.count is None and not self.down


@dataclass(frozen=True)
class Spec:
    """How a ``LOOP`` runs.

    Its operands are the initial state, then the body's further arguments, then those of the test. The
    body takes the iteration's number, the state and its further arguments; it gives the next state, and
    then what is kept of every iteration. The test takes the state and its own arguments. The loop's results
    are the last state, how many iterations there were, and arrays of what was kept.
    """

    carries: int
    """The number of leaves of the state."""
    index: Type
    """The type of the iteration's number."""
    outputs: int = 0
    """How many of the kept values become arrays over ``index``, or `ALL`; others become arrays over ``?``."""
    down: bool = False
    """Whether the iterations are numbered from the last to 0."""
    must_end: bool = False
    """Whether it is an error when the test still holds after the last iteration."""
    checkpoint: int = 0
    """How many iterations reverse mode goes back to a state that was kept; 0 if it keeps everything."""
    note: int = -1
    """What is said where it must end and does not: the number of a note, or -1."""

    @property
    def trips(self) -> int:
        """How often the loop runs at most."""
        assert isinstance(self.index, Fin)
        return self.index.size

    def is_output(self, k: int) -> bool:
        """Whether the kept value of this number becomes an array over ``index``."""
        return self.outputs == ALL or k < self.outputs

    def outputs_after(self, varying: Sequence[bool], order: int = 1) -> int:
        """The outputs where each that varies has so many more beside it."""
        return ALL if self.outputs == ALL else self.outputs + sum(varying[: self.outputs]) * order


ALL = -1
"""Of a loop that runs as often as it has indices: all that it keeps becomes arrays over these, however much
that is in the end."""


Extent = tuple[int, int]
"""Numbers of instructions and of results."""


class Func(Chained):
    """A function: its signature, its body, and what is known about it from outside."""

    __slots__ = (
        "blocks", "callees", "code", "effects", "fault", "generics", "home", "host", "instance", "jvp",
        "memo", "name", "opaque", "order", "origin", "param_names", "param_types", "params", "pool", "remat",
        "ret", "specs", "straight",
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
        self.pool: list[tuple[Any, Type]] = []
        """Constants: value and type. The constant of an array type is filled with its value, a number, or is
        the one operand of a ``VEC``, and has all numbers as bytes (`language.tables`)."""
        self.callees: list[Func] = []
        self.specs: list[Spec] = []
        """How its loops run; ``LOOP`` instructions refer to them by number."""
        self.remat = False
        """Whether reverse mode computes what it needs of this function again, rather than keep it."""
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
        """``("jvp", f)`` or ``("jet", f)`` for what is yet to be made from ``f``."""
        self.order = 0
        """The order up to which a jet goes."""
        self.memo: dict[object, object] = {}
        """What passes have made of this function."""

    def give_up(self) -> object:
        callees, self.callees = self.callees, []
        return callees

    def stand_for(self, f: Func) -> None:
        """Be to those who call and differentiate this copy what ``f`` is."""
        self.effects, self.jvp, self.fault, self.remat = f.effects, f.jvp, f.fault, f.remat

    @property
    def extent(self) -> Extent:
        """How much there is of it: a forward function grows while backward functions ask it for a tape."""
        return len(self.code), len(self.blocks[0].results)

    def derive_jvp(self, origin: Func) -> None:
        """Become the place-holder of the forward derivative of ``origin``.

        Its declared types are those of duals, or have numbers in place of all tangents.
        """
        duals = [leaf for t in origin.params for leaf in leaves(dual(t))]
        self.params = duals if self.takes_tangents else [real(t) for t in duals]
        self.origin = ("jvp", origin)
        self.effects = origin.effects

    def derive_jet(self, origin: Func, order: int) -> None:
        """Become the place-holder of the Taylor series of ``origin``, in vectors of coefficients.

        What ``origin`` takes besides its declared parameters is taken as it is.
        """
        declared = sum(len(leaves(t)) for t in origin.param_types)
        size = fin(order + 1)
        series = [array(size, t) for t in origin.params[:declared]]
        self.params = [real(t) for t in (*series, *origin.params[declared:])]
        self.origin = ("jet", origin)
        self.order = order
        self.effects = origin.effects

    @property
    def takes_tangents(self) -> bool:
        """Whether there are tangents in the declared signature."""
        return any(scalar_of(leaf) is TAN for t in (*self.param_types, self.ret) for leaf in leaves(t))

    @property
    def results(self) -> list[int]:
        return self.blocks[0].results

    @property
    def result_types(self) -> list[Type]:
        """The types of what a call gives: the dual, leaves, or before flattening the declared result."""
        if self.instance:
            return [self.ret]
        return [self.type_of(v) for v in self.results] if self.code or self.results else leaves(self.ret)

    def result_type(self, k: int) -> Type:
        """The type of result ``k``: there may be thousands, which are asked for one at a time."""
        if self.instance or not (self.code or self.results):
            return self.result_types[k]
        return self.type_of(self.results[k])

    def type_of(self, v: int) -> Type:
        return self.types[v] if v >= 0 else self.pool[~v][1]

    def array_type_of(self, v: int) -> Array:
        """`type_of`, for what is known to be an array."""
        t = self.type_of(v)
        assert isinstance(t, Array)
        return t

    def inner_type_of(self, r: int) -> Type:
        """The type of what is added up in the accumulator ``r``, or the part of one."""
        t = self.types[r]
        assert isinstance(t, Ref)
        return t.inner

    def home_of(self, v: int) -> int:
        return self.home[v] if v >= 0 else 0

    def trips_of(self, number: int, within: int = 0) -> int:
        """How often a block runs each time that ``within``, one around it, does: by default in a call."""
        trips = 1
        while number > within:
            block = self.blocks[number]
            trips *= block.size.size if isinstance(block.size, Fin) else ENDLESS
            number = block.parent
        return trips

    def __repr__(self) -> str:
        return f"<{self.name}: {len(self.code)} instructions>"


def operands(ins: tuple[int, ...], blocks: Sequence[Block]) -> Sequence[int]:
    """The ids of the values that an instruction uses."""
    op = ins[0]
    return blocks[ins[1]].results if op == FOR else ins[_OPERANDS[op]]


_OPERANDS = [slice(1, None)] * (ZEROS + 1)
"""Where instructions have them, but for loops ``FOR``."""
for _at, _ops in (
    (slice(0), (PARAM, IDX)),
    (slice(1, 2), (GET, MEMBER, REF_MEMBER)),
    (slice(2, None), (CALL, VJP)),
    (slice(4, None), (COND, LOOP)),
):
    for _op in _ops:
        _OPERANDS[_op] = _at


CALLEES = {CALL: slice(1, 2), VJP: slice(1, 2), COND: slice(1, 3), LOOP: slice(2, 4)}
"""Where instructions have the numbers of functions; -1 for none."""


def callees(ins: tuple[int, ...]) -> Sequence[int]:
    """The numbers of the functions that an instruction calls, or may call."""
    at = CALLEES.get(ins[0])
    return [k for k in ins[at] if k >= 0] if at else ()


class CondSite:
    """The parts of a ``COND`` instruction."""

    __slots__ = ("args", "functions", "p")

    def __init__(self, func: Func, ins: tuple[int, ...]) -> None:
        _, f, g, taken, self.p, *args = ins
        self.functions = func.callees[f], func.callees[g]
        """What runs where ``p`` holds, and what runs where it does not."""
        self.args = args[:taken], args[taken:]


class LoopSite:
    """The parts of a ``LOOP`` instruction."""

    __slots__ = ("args", "body", "count", "is_whole", "spec", "state", "test", "test_args")

    def __init__(self, func: Func, ins: tuple[int, ...]) -> None:
        _, spec, body, test, self.count, *rest = ins
        self.spec = func.specs[spec]
        self.body = func.callees[body]
        self.test = func.callees[test] if test >= 0 else None
        end = len(self.body.params) - 1
        self.state = rest[: self.spec.carries]
        self.args = rest[self.spec.carries : end]
        """What the body takes besides the iteration's number and the state."""
        self.test_args = rest[end:]
        self.is_whole = not self.test and self.count < 0 and func.pool[~self.count][0] == self.spec.trips
        """Whether it runs as often as it has indices."""


def result_type(f: Func, v: int, k: int) -> Type:
    """The type of result ``k`` of the loop or call ``v``."""
    ins = f.code[v]
    op = ins[0]
    if op == FOR:
        block = f.blocks[ins[1]]
        return array(block.size, f.type_of(block.results[k]))
    if op == LOOP:
        spec = f.specs[ins[1]]
        kept = k - spec.carries - 1
        if kept == -1:
            return f.type_of(ins[4])
        t = f.callees[ins[2]].result_type(k - (kept >= 0))
        return t if kept < 0 else array(spec.index if spec.is_output(kept) else RUN, t)
    if op == PULL:  # it has a result for every real leaf of the arguments
        return _real_params(f.callees[f.code[ins[1]][1]])[k]
    return f.callees[ins[1]].result_type(k)


def _real_params(f: Func) -> list[Type]:
    """The types of the real leaves of the arguments, looked for once; a function may get more."""
    key = "real", len(f.params)
    found = f.memo.get(key)
    if found is None:
        found = f.memo[key] = [t for t in f.params if is_real(t)]
    return found  # type: ignore[return-value]


def result_count(f: Func, v: int) -> int:
    """How many results the loop or call ``v`` has."""
    ins = f.code[v]
    if ins[0] == FOR:
        return len(f.blocks[ins[1]].results)
    if ins[0] == LOOP:
        return len(f.callees[ins[2]].result_types) + 1
    if ins[0] == PULL:
        return len(_real_params(f.callees[f.code[ins[1]][1]]))
    return len(f.callees[ins[1]].result_types)


def fields_of(t: Type) -> list[tuple[str, Type]]:
    """The parts of a pair or struct."""
    if isinstance(t, Pair):
        return [("fst", t.fst), ("snd", t.snd)]
    assert isinstance(t, Struct)
    return t.sorted_fields()


def is_unwritten(f: Func, v: int) -> bool:
    """Whether ``v`` is an array in which there may be anything: the only ones are NaNs that are constants."""
    return v < 0 and f.pool[~v][0] != f.pool[~v][0] and isinstance(f.pool[~v][1], Array)


@cache
def is_real(t: Type) -> bool:
    """Whether a leaf holds real numbers (or tangents), so that it has a derivative."""
    while isinstance(t, (Array, Ref)):
        t = t.elem if isinstance(t, Array) else t.inner
    return t is REAL or t is TAN


def zero_of(t: Type) -> float:
    """The constant of a leaf type that is zero, False or the first index."""
    if is_real(t):
        return 0.0
    return False if scalar_of(t) is BOOL else 0
