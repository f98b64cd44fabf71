"""What a backward pass works with: values of the forward pass, and cotangents as far as they are known.

A value of the forward pass is brought over once for each loop that needs it: it is computed again where that
is cheap, and else kept. The cotangent of a scalar is a sum of values; that of an array is an accumulator,
unless it is one whole array, or some elements, that nothing else is added to before it is visited.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappush
from typing import TYPE_CHECKING

from rose_core.derivatives.kept import kept_elements, numbers_in
from rose_core.derivatives.linearize import Linearization
from rose_core.derivatives.linearize_control import Column
from rose_core.derivatives.sweep import LoopSums, Sums
from rose_core.derivatives.versions import Versions
from rose_core.language.builder import Builder
from rose_core.language.ir import GET, IDX, INDEX, PARAM, RESOLVE, VEC, ZEROS, Func
from rose_core.language.ops import LIBRARY, TABLE_END, code
from rose_core.language.queries import remembered
from rose_core.language.types import Array, Ref, has_tape, real
from rose_core.optimise.powers import is_product

if TYPE_CHECKING:
    from rose_core.derivatives.known import Limits
    from rose_core.derivatives.tape import Boundary

_ADD, _SELECT, _SQRT = map(code, ("add", "select", "sqrt"))

_MOST_IN_VARIABLES = 7
"""The most numbers of a row that is short: what longer ones get is added two numbers at a time."""

_IS_REPEATED = [
    op < TABLE_END and op not in LIBRARY and op not in (_SQRT, _SELECT) for op in range(TABLE_END + 64)
]
"""By opcode, whether it is `_repeatable` whatever its operands are."""


class Loop:
    """A backward loop being emitted, and the forward loop it goes with; or the two function bodies."""

    __slots__ = (
        "backward",
        "choices",
        "cotangents",
        "elements",
        "forward",
        "given",
        "index",
        "known",
        "refs",
    )

    def __init__(self, b: Builder, forward: int, backward: int, index: int) -> None:
        self.forward = forward
        """The forward pass's block; -1 where both passes share one function body."""
        self.backward = backward
        self.index = index
        """The backward loop's index; -1 for a function's body."""
        self.known: dict[int, int] = {}
        """Forward ids that were brought over already."""
        self.cotangents: LoopSums | Sums = LoopSums(b)
        """Source id → sum of the contributions made in this block to a scalar of this or an outer one."""
        self.elements: dict[int, dict[int, int]] = {}
        """Source id of an array of this block → number of an element → contribution to that."""
        self.refs: dict[int, int] = {}
        """Source id of this block → accumulator of its cotangent."""
        self.choices: dict[int, int | None] = {}
        """Source id of a choice of this block → the choice between its sides' cotangents or accumulators."""
        self.given: dict[int, int] = {}
        """Source id of an array of this block → its first contribution, a whole array."""


class Cotangents:
    """The backward pass of a linearization, emitted into ``b`` at its current place, but for its sweep."""

    def __init__(
        self,
        forward: Linearization,
        b: Builder,
        boundary: Boundary | None,
        restored: Sequence[int] = (),
    ) -> None:
        self.lin = forward
        self.func = forward.func
        self.b = b
        self.fb = forward.b
        self.boundary = boundary
        """What carries values between the two functions; None where both passes share one."""
        self.stack = [Loop(b, 0 if boundary else -1, b.open[-1], -1)]
        self.outermost = len(b.open) == 1
        """Whether it is emitted into the body of a function, not into a loop."""
        if self.outermost:
            self.stack[0].cotangents = Sums(len(forward.env), b)
        self.summed: list[int] = []
        """The scalars, negated, to whose cotangents loops add in accumulators: a heap."""
        self.source_block: dict[int, Loop] = {0: self.stack[0]}
        self.by_forward: dict[int, Loop] = {0: self.stack[0]} if boundary else {}
        self.ref_cotangents: dict[int, int] = {}
        """Source accumulator → the value whose elements are the cotangents of what is added to it."""
        self.outputs: dict[int, dict[int, int]] = {}
        """Loop or call → result number → cotangent."""
        self.in_place: set[int] = set()
        """Elements whose cotangents stand where they have to be already: see `derivatives.passing`."""
        self.kept: set[int] | None = None
        """The elements that are kept in place of arrays of the forward pass, once that is asked."""
        self.versions = Versions(self, restored)
        """The arrays whose updates it takes back: those of these results."""

    # -- values of the forward pass --------------------------------------------------------------------

    def value(self, v: int) -> int:
        """The primal value of source id ``v``, as an id of the backward pass."""
        return self.fetch(self.lin.env[v])

    def fetch(self, w: int) -> int:
        """The backward pass's id for the forward pass's ``w``."""
        if w < 0:
            return self.b.const(*self.fb.pool[~w]) if self.boundary else w
        loop = self.by_forward.get(self.fb.home[w])
        if loop is None:
            return w
        found = loop.known.get(w)
        if found is None:
            self._bring(w)
            found = loop.known[w]
        return found

    def _bring(self, w: int) -> None:
        """Make a value of the forward pass known in the backward pass, and what it is computed from."""
        code, home, by_forward, b = self.fb.code, self.fb.home, self.by_forward, self.b
        overwritten = self.versions.overwritten
        stack = [w]  # chains of operations can be long
        while stack:
            u = stack[-1]
            known = by_forward[home[u]].known
            if u in known:
                stack.pop()
                continue
            ins = code[u]
            if (u in overwritten or not _IS_REPEATED[ins[0]]) and not self._repeatable(u):
                known[u] = self._keep(u)
                stack.pop()
                continue
            operands = []
            for x in ins[1:]:
                y = known.get(x)
                if y is None:
                    if (x >= 0 and home[x] == home[u]) or self._is_missing(x):
                        stack.append(x)
                        continue
                    y = self.fetch(x)
                operands.append(y)
            if stack[-1] != u:
                continue
            stack.pop()
            if ins[0] == INDEX:
                known[u] = b.index(*operands)
            elif ins[0] == VEC:
                known[u] = b.vec(operands, self.fb.types[u])
            else:
                known[u] = b.op(ins[0], *operands, type=self.fb.types[u])

    def _is_missing(self, x: int) -> bool:
        """Whether the forward pass's ``x`` is not known yet."""
        if x < 0:
            return False
        loop = self.by_forward.get(self.fb.home[x])
        return loop is not None and x not in loop.known

    def _repeatable(self, w: int) -> bool:
        """Whether computing ``w`` again is better than keeping it.

        It is not what a library function computes, nor a root in a loop with a state.
        """
        op = self.fb.code[w][0]
        if w in self.versions.overwritten:
            return False
        if op == INDEX:
            if self.kept is None:
                self.kept = self._kept_elements()
            version = self.versions.of(w)
            return w not in self.kept and (version is None or self.versions.is_there(version))
        if op == VEC:
            return self._is_table(w)  # which a loop would keep in every iteration
        is_slow = op in LIBRARY and not is_product(self.fb.func, self.fb.code[w])
        is_slow = is_slow or (op == _SQRT and self.is_in_iteration(w))
        return op < TABLE_END and not is_slow and not isinstance(self.fb.types[w], (Array, Ref))

    def is_in_iteration(self, w: int) -> bool:
        """Whether ``w`` is computed in the body of a loop with a state, in no other loop there.

        Other loops, forward and backward, may become one, in which nothing is computed twice.
        """
        return bool(self.boundary and self.boundary.forward.is_iteration and (w < 0 or not self.fb.home[w]))

    def _is_table(self, w: int) -> bool:
        """Whether ``w`` is a vector of constants, or of such vectors."""
        op, *elements = self.fb.code[w]
        return op == VEC and all(x < 0 or self._is_table(x) for x in elements)

    def _kept_elements(self) -> set[int]:
        if not self.boundary:
            return set()
        limits = self.boundary.forward_limits()
        return kept_elements(self.fb.func, limits, lambda x: self.versions.of(x) is not None)

    def _keep(self, w: int) -> int:
        """A value of the forward pass, from the tape."""
        ins = self.fb.code[w]
        loop = self.by_forward[self.fb.home[w]]
        if ins[0] == IDX:
            return loop.index
        if loop.index < 0:
            return self.versions.demand(w) if w in self.versions.result else self.carry(w)
        return self.b.index(self.fetch(self.lin.taped(loop.forward, w)), loop.index)

    def carry(self, w: int, result: int | None = None) -> int:
        """A parameter for a value of the forward function; of its last version, for a result's number."""
        assert self.boundary
        return self.boundary.carry(w) if result is None else self.boundary.last(result)

    def limits(self, args: Sequence[int]) -> Limits:
        """How many numbers may be kept in place of arguments, where there is a limit."""
        return tuple((k, limit) for k, a in enumerate(args) if (limit := self.limit(a)))

    def limit(self, v: int) -> int:
        """How many numbers may be kept in place of the array ``v``, where its elements are read."""
        t = self.func.type_of(v)
        if v < 0 or not self.boundary or len(self.stack) > 1 or not isinstance(t, Array):
            return 0
        if self.versions.of(self.lin.env[v]) is not None:
            return 0  # they are there
        ins = self.func.code[v]
        if ins[0] == PARAM:
            return self.boundary.limits.get(self.boundary.forward.leaf_of_param.get(ins[1], -1), 0)
        return numbers_in(t)

    # -- cotangents --------------------------------------------------------------------------------------

    def contribute(self, v: int, sign: int, c: int) -> None:
        """Add ``sign * c`` to the cotangent of the scalar ``v``."""
        self.stack[-1].cotangents.contribute(v, sign < 0, c)

    def contribute_array(self, v: int, c: int) -> None:
        """Add the whole array ``c`` to the cotangent of the array ``v``."""
        if self.lin.active[v]:
            home = self.source_block[self.func.home[v]]
            whole = v not in home.refs and v not in home.given and not has_tape(self.func.types[v])
            if whole and home is self.stack[-1] and self._owns(v):
                home.given[v] = c
            else:
                self.b.add_to(self.ref(v), c)

    def contribute_any(self, v: int, c: int) -> None:
        if isinstance(self.func.type_of(v), Array):
            self.contribute_array(v, c)
        elif self.lin.active[v]:
            self.contribute(v, 1, c)

    def contribute_element(self, v: int, k: int, c: int) -> None:
        """Add ``c`` to the cotangent of element ``k`` of the array ``v``."""
        home = self.source_block[self.func.home[v]]
        if home is self.stack[-1] and self._owns(v) and k not in home.elements.get(v, ()):
            home.elements.setdefault(v, {})[k] = c
        else:
            self._add_element(v, k, c)

    def _add_element(self, v: int, k: int, c: int) -> None:
        r = self.ref(v)
        self.b.add_to(self.b.ref_index(r, self.b.const(k, self.func.array_type_of(v).index)), c)

    def _owns(self, v: int) -> bool:
        """Whether contributions to the array ``v`` may be kept until it is visited."""
        ins = self.func.code[v]
        return ins[0] != _SELECT and (ins[0] != INDEX or ins[2] < 0)

    def ref(self, v: int) -> int:
        """The accumulator of the cotangent of the active array (or, from an inner loop, scalar) ``v``.

        Rules of authors add to that of an array, too, which does not vary, and may be a constant.
        """
        if v < 0:
            return self.b.accum(self.b.const(0.0, real(self.func.type_of(v))))
        ins = self.func.code[v]
        is_array = isinstance(self.func.types[v], Array)
        loop = self.source_block[self.func.home[v]]
        if is_array and ins[0] == INDEX and v not in loop.refs and not self._is_apart(v, loop):
            return self.b.ref_index(self.ref(ins[1]), self.value(ins[2]))
        if is_array and ins[0] == _SELECT:
            r = loop.choices.get(v)
            if r is None:
                x, y = (self.ref(side) if self.lin.active[side] else self._scratch(v) for side in ins[2:])
                r = loop.choices[v] = self.b.ternary(_SELECT, self.value(ins[1]), x, y, self.b.types[x])
            return r
        r = loop.refs.get(v)
        if r is None:
            if ins[0] == PARAM and is_array and self.boundary:
                r = self.boundary.ref_param(ins[1])
            else:
                given = loop.given.pop(v, None)
                if loop is self.stack[0] and not is_array:
                    heappush(self.summed, -v)
                r = self.b.accum(self._zero(v) if given is None else given, loop.backward)
            loop.refs[v] = r
        return r

    def _is_apart(self, v: int, loop: Loop) -> bool:
        """Whether what the row ``v`` gets is added up by itself: loops add to columns of its array, too, or
        it is a short one, and they add to other rows.

        Iterations of these do not run side by side if both may be the same element; and what may be that is
        not in local variables.
        """
        if loop not in self.stack[1:-2]:
            return False
        n, of = self.func.home[v], self.func.code[v][1]
        inside = {(k, of) for k in self.source_block if k > n}
        is_short = numbers_in(self.func.types[v]) <= _MOST_IN_VARIABLES
        return not inside.isdisjoint(_columns(self.func)) or (
            is_short and not inside.isdisjoint(_rows(self.func))
        )

    def _scratch(self, v: int) -> int:
        """An accumulator nobody reads, for the side of a choice that carries no tangent."""
        return self.b.accum(self._zero(v), self.source_block[self.func.home[v]].backward)

    def _zero(self, v: int) -> int:
        t = real(self.func.types[v])
        return self.b.zeros(self._like(v), t) if has_tape(t) else self.b.const(0.0, t)

    def _like(self, v: int) -> int:
        """A value of the forward pass with as many numbers as the array ``v``.

        That is ``v`` itself; but a tangent is none of the forward pass, and what it is the tangent of comes
        right after it among parameters and results.
        """
        if not self.lin.is_tangent(v):
            return self.value(v)
        ins = self.func.code[v]
        if ins[0] == PARAM:
            return self.value(self.func.code.index((PARAM, ins[1] + 1)))
        if ins[0] == RESOLVE:
            return self._like(self.func.code[ins[1]][1])
        if ins[0] == ZEROS:
            return self._like(ins[1])
        if ins[0] == INDEX:
            return self.b.index(self._like(ins[1]), self.value(ins[2]))
        if ins[0] == _SELECT:
            return self.b.op(_SELECT, self.value(ins[1]), self._like(ins[2]), self._like(ins[3]))
        assert ins[0] == GET, f"{self.func.name}: no primal of {ins} is known"
        _, of, k = ins
        site = self.lin.control.get(of)
        assert not isinstance(site, Column), "it is not made of tangents"
        at = site.position(k + 1) if site else self.lin.calls[of].result_at[k + 1]
        return self.fetch(self.fb.get(self.lin.env[of], at))

    def total(self, v: int) -> int | None:
        """The cotangent of ``v``, complete, or None if it is zero."""
        loop = self.stack[-1]
        if isinstance(self.func.types[v], Array):
            return self._total_array(v, loop)
        c = loop.cotangents.pop(v)
        r = loop.refs.get(v)
        if r is None:
            return c
        value = self.b.resolve(r)
        return value if c is None else self.b.binary(_ADD, value, c)

    def _total_array(self, v: int, loop: Loop) -> int | None:
        elements = loop.elements.pop(v, None)
        if elements and v not in loop.refs and v not in loop.given:
            t = real(self.func.types[v])
            assert isinstance(t, Array)
            if t.size <= 2 * len(elements) + 16 and not has_tape(t):
                zero = self.b.const(0.0, t.elem)
                return self.b.vec([elements.get(k, zero) for k in range(t.size)], t)
        if elements:
            self._add_elements(v, elements)
        if v in loop.given:
            return loop.given.pop(v)
        return self.b.resolve(loop.refs[v]) if v in loop.refs else None

    def _add_elements(self, v: int, elements: dict[int, int]) -> None:
        for k, c in elements.items():
            self._add_element(v, k, c)

    def total_of_param(self, v: int) -> int | None:
        """After the sweep, the cotangent of a parameter that is to be returned; None if there is nothing to.

        With a function of its own, the cotangent of an array has gone into the caller's accumulator.
        """
        if self.boundary and isinstance(self.func.types[v], Array):
            whole = self.stack[0].given.pop(v, None)
            if whole is not None:
                self.b.add_to(self.ref(v), whole)
            self._add_elements(v, self.stack[0].elements.pop(v, {}))
            return None
        return self.total(v)


@remembered
def _columns(f: Func) -> set[tuple[int, int]]:
    """The blocks with the arrays of which they read an element of another row in each iteration."""
    code, home = f.code, f.home
    elements = [(home[v], ins[1]) for v, ins in enumerate(code) if ins[0] == INDEX and ins[1] >= 0]
    return {(k, code[r][1]) for k, r in elements if code[r][0] == INDEX and home[r] == k}


@remembered
def _rows(f: Func) -> set[tuple[int, int]]:
    """The blocks with the arrays of which they read a row; those of outside change with every iteration."""
    rows = [v for v, ins in enumerate(f.code) if ins[0] == INDEX and isinstance(f.types[v], Array)]
    return {(f.home[v], f.code[v][1]) for v in rows}
