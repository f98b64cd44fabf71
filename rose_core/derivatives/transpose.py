"""Reverse mode: a forward pass, and a backward pass that is its derivative transposed (Figures 13, 14).

`Linearization` is the forward pass: it emits the primal program and notes which values carry a
tangent. `Reverse` is the backward pass: it visits those values last to first, and turns the cotangent
of each into contributions to its operands, by the transposed template of the op's one forward rule.
A function whose signature has tangents (a custom derivative) is transposed by the same sweep: its
tangent ops are linear, so their derivative is themselves, and its other ops carry nothing.

Cotangents of scalars are sums of values; those of arrays are accumulators (``&[n]Real``), so that an
element read costs one ``+=`` and never a whole array. Reading an accumulator that the forward pass
itself writes to (in higher derivatives) turns into plain reads: ``+=`` and reading are each other's
transpose.

Both passes emit into one function where the derivative is used only once (the tape is then ordinary
variables), else into a function each, and the tape becomes results of one and parameters of the other.
Either way a backward loop gets a forward loop's values as arrays, or computes again what is cheap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush

from rose_core.derivatives import transpose_control
from rose_core.derivatives.kept import kept_elements, numbers_in
from rose_core.derivatives.linearize import Linearization
from rose_core.derivatives.linearize_control import Column, TakenSide, Turns
from rose_core.derivatives.rules import rule
from rose_core.derivatives.sweep import LoopSums, Sums, sweep
from rose_core.language.builder import Builder
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
    PARAM,
    REF_INDEX,
    RESOLVE,
    SET,
    VEC,
    ZEROS,
    CondSite,
    LoopSite,
    operands,
)
from rose_core.language.ops import LIBRARY, TABLE_END, code
from rose_core.language.replay import Replay
from rose_core.language.types import REAL, Array, Ref, replace_scalar
from rose_core.wasm.layout import has_tape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rose_core.derivatives.known import Limits
    from rose_core.derivatives.tape import Boundary

_ADD, _MUL, _SELECT = map(code, ("add", "mul", "select"))

_WITHOUT_SUM = frozenset((FOR, CALL, COND, LOOP, ADD_TO, RESOLVE))
"""Instructions that have no cotangent, or get it another way than by a sum."""


class _Loop:
    """A backward loop being emitted, and the forward loop it goes with; or the two function bodies."""

    __slots__ = ("backward", "cotangents", "elements", "forward", "given", "index", "known", "refs")

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
        self.given: dict[int, int] = {}
        """Source id of an array of this block → its first contribution, a whole array."""


class Reverse:
    """The backward pass of a linearization, emitted into ``b`` at its current place."""

    def __init__(self, forward: Linearization, b: Builder, boundary: Boundary | None) -> None:
        self.lin = forward
        self.func = forward.func
        self.b = b
        self.fb = forward.b
        self.boundary = boundary
        """What carries values between the two functions; None where both passes share one."""
        self.stack = [_Loop(b, 0 if boundary else -1, b.open[-1], -1)]
        self.outermost = len(b.open) == 1
        """Whether it is emitted into the body of a function, not into a loop."""
        if self.outermost:
            self.stack[0].cotangents = Sums(len(forward.env), b)
        self.summed: list[int] = []
        """The scalars, negated, to whose cotangents loops add in accumulators: a heap."""
        self.source_block: dict[int, _Loop] = {0: self.stack[0]}
        self.by_forward: dict[int, _Loop] = {0: self.stack[0]} if boundary else {}
        self.ref_cotangents: dict[int, int] = {}
        """Source accumulator → the value whose elements are the cotangents of what is added to it."""
        self.outputs: dict[int, dict[int, int]] = {}
        """Loop or call → result number → cotangent."""
        self.uses: Counter[int] | None = None
        """How often values are used, once that is asked."""
        self.kept: set[int] | None = None
        """The elements that are kept in place of arrays of the forward pass, once that is asked."""

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
        stack = [w]  # chains of operations can be long
        while stack:
            u = stack[-1]
            known = by_forward[home[u]].known
            if u in known:
                stack.pop()
                continue
            if not self._repeatable(u):
                known[u] = self._keep(u)
                stack.pop()
                continue
            ins = code[u]
            operands = []
            for x in ins[1:]:
                y = known.get(x)
                if y is None:
                    if self._is_missing(x):
                        stack.append(x)
                        continue
                    y = self.fetch(x)
                operands.append(y)
            if stack[-1] != u:
                continue
            stack.pop()
            if ins[0] == INDEX:
                known[u] = b.index(*operands)
            else:
                known[u] = b.op(ins[0], *operands, type=self.fb.types[u])

    def _is_missing(self, x: int) -> bool:
        """Whether the forward pass's ``x`` is not known yet."""
        if x < 0:
            return False
        loop = self.by_forward.get(self.fb.home[x])
        return loop is not None and x not in loop.known

    def _repeatable(self, w: int) -> bool:
        """Whether computing ``w`` again is better than keeping it: not what a library function computes."""
        op = self.fb.code[w][0]
        if op == INDEX:
            if self.kept is None:
                self.kept = (
                    kept_elements(self.fb.func, self.boundary.forward_limits()) if self.boundary else set()
                )
            return w not in self.kept
        return op < TABLE_END and op not in LIBRARY and not isinstance(self.fb.types[w], (Array, Ref))

    def _keep(self, w: int) -> int:
        """A value of the forward pass, from the tape."""
        ins = self.fb.code[w]
        loop = self.by_forward[self.fb.home[w]]
        if ins[0] == IDX:
            return loop.index
        if loop.index < 0:
            assert self.boundary
            return self.boundary.carry(w)
        block = self.fb.blocks[loop.forward]
        if w not in block.results:
            block.results.append(w)
        taped = self.fb.get(block.owner, block.results.index(w))
        return self.b.index(self.fetch(taped), loop.index)

    def limits(self, args: Sequence[int]) -> Limits:
        """How many numbers may be kept in place of arguments, where there is a limit."""
        return tuple((k, limit) for k, a in enumerate(args) if (limit := self.limit(a)))

    def limit(self, v: int) -> int:
        """How many numbers may be kept in place of the array ``v``, where its elements are read."""
        t = self.func.type_of(v)
        if v < 0 or not self.boundary or len(self.stack) > 1 or not isinstance(t, Array):
            return 0
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
        self.b.add_to(self.b.ref_index(r, self.b.const(k, self.func.types[v].index)), c)  # type: ignore[attr-defined]

    def _owns(self, v: int) -> bool:
        """Whether contributions to the array ``v`` may be kept until it is visited."""
        ins = self.func.code[v]
        return ins[0] != _SELECT and (ins[0] != INDEX or ins[2] < 0)

    def ref(self, v: int) -> int:
        """The accumulator of the cotangent of the active array (or, from an inner loop, scalar) ``v``."""
        ins = self.func.code[v]
        is_array = isinstance(self.func.types[v], Array)
        if is_array and ins[0] == INDEX:
            return self.b.ref_index(self.ref(ins[1]), self.value(ins[2]))
        if is_array and ins[0] == _SELECT:
            refs = [self.ref(x) if self.lin.active[x] else self._scratch(v) for x in ins[2:]]
            return self.b.ternary(_SELECT, self.value(ins[1]), refs[0], refs[1], self.b.types[refs[0]])
        loop = self.source_block[self.func.home[v]]
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

    def _scratch(self, v: int) -> int:
        """An accumulator nobody reads, for the side of a choice that carries no tangent."""
        return self.b.accum(self._zero(v), self.source_block[self.func.home[v]].backward)

    def _zero(self, v: int) -> int:
        t = replace_scalar(self.func.types[v], REAL)
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
        c = loop.cotangents.pop(v, None)
        r = loop.refs.get(v)
        if r is None:
            return c
        value = self.b.resolve(r)
        return value if c is None else self.b.binary(_ADD, value, c)

    def _total_array(self, v: int, loop: _Loop) -> int | None:
        elements = loop.elements.pop(v, None)
        if elements and v not in loop.refs and v not in loop.given:
            t = replace_scalar(self.func.types[v], REAL)
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

    # -- the sweep -----------------------------------------------------------------------------------------

    def run(self, cotangents: Sequence[int | None]) -> None:
        """Emit the backward pass, from a cotangent for every result (None for zero)."""
        for v, c in zip(self.func.results, cotangents, strict=True):
            if c is not None and v >= 0:
                self.contribute_any(v, c)
        self.block(0)

    def block(self, number: int) -> None:
        code, active = self.func.code, self.lin.active
        if self.outermost and number == 0:
            self._sweep()
            return
        size = self.lin.size
        for v in reversed(self.func.blocks[number].order):
            if v >= size:
                continue
            ins = code[v]
            op = ins[0]
            if op < TABLE_END:
                if active[v]:
                    self.table_op(v, ins)
            elif op in _STRUCTURAL:
                _STRUCTURAL[op](self, v, ins)

    def _sweep(self) -> None:
        """The sweep over the body of the function: `derivatives.sweep` does the scalars."""
        n = self.lin.size
        if self.boundary:
            values: list[int | None] = [None] * n
            values += [self.fetch(w) for w in self.lin.env[n:]]
        else:
            values = list(self.lin.env)

        def fetch(v: int) -> int:
            found = values[v] = self.value(v)
            return found

        def visit(v: int, ins: tuple[int, ...]) -> None:
            if ins[0] < TABLE_END:
                self.table_op(v, ins)
            elif ins[0] in _STRUCTURAL:
                _STRUCTURAL[ins[0]](self, v, ins)

        code, cotangents, active = self.func.code, self.stack[0].cotangents, self.lin.active
        start = n
        for v in self._stops():
            sweep(range(start - 1, v, -1), code, cotangents, values, active, fetch, self.b, visit)
            if v >= 0:
                visit(v, code[v])
            start = v

    def _stops(self) -> Iterator[int]:
        """What must be visited whether or not it has a cotangent among those of the scalars, last to first,
        and -1; the loops that are visited meanwhile decide on some of it."""
        for v in [*reversed(self._without_sum()), -1]:
            while self.summed and -self.summed[0] > v:
                yield -heappop(self.summed)
            if self.summed and -self.summed[0] == v:
                heappop(self.summed)
            yield v

    def _without_sum(self) -> list[int]:
        """What gets its cotangent another way than by a sum, if any."""
        func, size = self.func, self.lin.size
        code, types = func.code, func.types[:size]
        if func.straight:
            return [v for v, t in enumerate(types) if isinstance(t, Array) and code[v][0] != PARAM]
        return [
            v
            for v in func.blocks[0].order
            if v < size and (isinstance(types[v], (Array, Ref)) or code[v][0] in _WITHOUT_SUM)
        ]

    def table_op(self, v: int, ins: tuple[int, ...]) -> None:
        """An op of the table: its transposed template."""
        types = self.func.types
        if isinstance(types[v], (Array, Ref)):
            return  # a choice between arrays: contributions went straight to its sides
        sums, is_negative = self.stack[-1].cotangents, False
        if v in self.stack[-1].refs:
            c = self.total(v)
        else:
            c, is_negative = sums.take(v)
        if c is None:
            return
        active = self.lin.active
        operands = ins[1:]
        if ins[0] == _MUL and operands[0] == operands[1]:
            self._square(operands[0], c, is_negative)
            return
        mask = 0
        for k, x in enumerate(operands):
            if active[x]:
                mask |= 1 << k
        pull = rule(ins[0], mask).pull
        if pull is None:
            return
        b = self.b
        slots: list[int | None] = [*operands, v]
        values: list[int] = [0] * len(slots)

        def slot(k: int) -> int:
            if k < len(slots) and slots[k] is not None:
                values[k] = self.value(slots[k])  # type: ignore[arg-type]
                slots[k] = None
            return values[k]

        values.append(c)
        for number in pull.consts:
            values.append(b.real(number or 0.0))
        for opcode, _, *args in pull.instrs:
            values.append(b.op(opcode, *[slot(a) for a in args]))
        for k, sign, s in pull.outputs:
            sums.contribute(operands[k], (sign < 0) != is_negative, slot(s))

    def _square(self, x: int, c: int, is_negative: bool) -> None:
        """Of ``x x``: twice the cotangent, where a number in it can still double, and that times ``x``."""
        if self.lin.active[x]:
            product = self.b.binary(_MUL, self.b.doubled(c), self.value(x))
            self.stack[-1].cotangents.contribute(x, is_negative, product)

    def vec(self, v: int, ins: tuple[int, ...]) -> None:
        if not self.lin.active[v]:
            return
        c = self.total(v)
        if c is None:
            return
        t = self.func.types[v]
        assert isinstance(t, Array)
        for k, x in enumerate(ins[1:]):
            if self.lin.active[x]:
                self.contribute_any(x, self.b.index(c, self.b.const(k, t.index)))

    def index(self, v: int, ins: tuple[int, ...]) -> None:
        if not self.lin.active[v]:
            return
        if ins[2] >= 0 and isinstance(self.func.types[v], Array):
            return  # contributions went straight to the row
        c = self.total(v)
        if c is None:
            return
        if ins[2] < 0:
            self.contribute_element(ins[1], int(self.func.pool[~ins[2]][0]), c)
        else:
            self.b.add_to(self.b.ref_index(self.ref(ins[1]), self.value(ins[2])), c)

    def get(self, v: int, ins: tuple[int, ...]) -> None:
        if self.lin.active[v]:
            c = self.total(v)
            if c is not None:
                self.outputs.setdefault(ins[1], {})[ins[2]] = c

    def loop(self, v: int, ins: tuple[int, ...]) -> None:
        block = self.func.blocks[ins[1]]
        cotangents = self.outputs.pop(v, {})
        if not cotangents and not self._adds(ins[1]):
            return
        b = self.b
        index = b.open_for(block.size)
        frame = _Loop(b, self.lin.forward_block[ins[1]], b.open[-1], index)
        self.stack.append(frame)
        self.source_block[ins[1]] = self.by_forward[frame.forward] = frame
        for k, c in cotangents.items():
            if block.results[k] >= 0:
                self.contribute_any(block.results[k], b.index(c, index))
        self.block(ins[1])
        assert isinstance(frame.cotangents, LoopSums)
        for x in frame.cotangents:  # what is left belongs to values from outside the loop
            left = frame.cotangents.get(x)
            if left is not None and self.lin.active[x]:
                b.add_to(self.ref(x), left)
        self.stack.pop()
        del self.source_block[ins[1]], self.by_forward[frame.forward]
        b.close_for([])

    def _adds(self, number: int) -> bool:
        """Whether a loop body adds to an accumulator whose cotangent is not zero."""
        code = self.func.code
        for v in self.func.blocks[number].order:
            ins = code[v]
            if ins[0] == ADD_TO and self.lin.active[ins[2]] and self._has_cotangent(ins[1]):
                return True
            if ins[0] == FOR and self._adds(ins[1]):
                return True
            if v in self.lin.calls or v in self.lin.control:
                for a in operands(ins, self.func.blocks):
                    if isinstance(self.func.type_of(a), Ref) and self._has_cotangent(a):
                        return True
        return False

    def _has_cotangent(self, r: int) -> bool:
        ins = self.func.code[r]
        if ins[0] == REF_INDEX:
            return self._has_cotangent(ins[1])
        if ins[0] == _SELECT:
            return self._has_cotangent(ins[2]) or self._has_cotangent(ins[3])
        return self.ref_cotangent(r) is not None

    def call(self, v: int, ins: tuple[int, ...]) -> None:
        call = self.lin.calls.get(v)
        cotangents = self.outputs.pop(v, {})
        if call is None:
            return
        args = ins[2:]
        given: dict[int, int] = {}
        for k, t in enumerate(call.func.params):
            if isinstance(t, Ref):
                behind = self.ref_cotangent(args[k])
                if behind is not None:
                    given[k] = behind
        if not cotangents and not given:
            return
        back = call.backward(tuple(sorted(cotangents)), tuple(sorted(given)), self.limits(args))
        again = None
        if not call.in_line and call.is_run_again(back):
            taken = [self.value(x) for x, is_taken in zip(args, call.takes, strict=True) if is_taken]
            again = self.b.call(call.fwd, taken)
        passed = []
        for kind, k in back.sources:
            if kind == "cotangent":
                passed.append(cotangents[k])
            elif kind == "given":
                passed.append(given[k])
            elif kind == "tape":
                taped = self.fetch(self.lin.result(v, k)) if again is None else self.b.get(again, k)
                passed.append(taped)
            elif kind == "arg":
                passed.append(self.value(args[k]))
            else:
                passed.append(self.ref(args[k]))
        if call.in_line and back.is_short:
            found = Replay(back.func, self.b, passed).run()
        else:
            result = self.b.call(back.func, passed)
            found = [self.b.get(result, j) for j in range(len(back.outputs))]
        for k, c in zip(back.outputs, found, strict=True):
            self.contribute(args[k], 1, c)

    def cond(self, v: int, ins: tuple[int, ...]) -> None:
        taken = self.lin.control.get(v)
        if isinstance(taken, TakenSide):
            transpose_control.cond(self, v, CondSite(self.func, ins), taken)

    def control_loop(self, v: int, ins: tuple[int, ...]) -> None:
        turns = self.lin.control.get(v)
        if isinstance(turns, Turns):
            transpose_control.loop(self, v, LoopSite(self.func, ins), turns)
        elif isinstance(turns, Column):
            transpose_control.column(self, v, turns)

    def set(self, v: int, ins: tuple[int, ...]) -> None:
        """An update: the new element has a cotangent of its own, the old one has none."""
        if not self.lin.active[v]:
            return
        c = self.total(v)
        if c is None:
            return
        after = self._set_back(v, c)
        if self.lin.active[ins[1]]:
            self.contribute_array(ins[1], after)

    def _set_back(self, v: int, c: int) -> int:
        """From the cotangent after an update that before it, but for what the new element is made of."""
        _, whole, at, x = self.func.code[v]
        t = replace_scalar(self.func.types[v], REAL)
        assert isinstance(t, Array)
        i = self.value(at)
        old = self.b.index(c, i)
        if self._is_put_back(whole, at, x):
            return self.b.set(c, i, self._set_back(x, old))
        if self.lin.active[x]:
            # an array of its own, as there are zeros in its place at once
            self.contribute_any(x, self.b.resolve(self.b.accum(old)) if isinstance(t.elem, Array) else old)
        return self.b.set(c, i, self.b.const(0.0, t.elem))

    def _is_put_back(self, whole: int, at: int, x: int) -> bool:
        """Whether ``x`` is element ``at`` of ``whole``, updated, which nobody else uses."""
        code = self.func.code
        if x < 0 or code[x][0] != SET or code[code[x][1]] != (INDEX, whole, at):
            return False
        if self.uses is None:
            self.uses = Counter(u for ins in code for u in operands(ins, self.func.blocks))
            self.uses.update(self.func.results)
        return self.uses[x] == 1

    def accum(self, v: int, ins: tuple[int, ...]) -> None:
        c = self.ref_cotangents.get(v)
        if c is not None and self.lin.active[ins[1]]:
            self.contribute_any(ins[1], c)

    def add_to(self, v: int, ins: tuple[int, ...]) -> None:
        if self.lin.active[ins[2]]:
            c = self.ref_cotangent(ins[1])
            if c is not None:
                self.contribute_any(ins[2], c)

    def ref_cotangent(self, r: int) -> int | None:
        """The cotangent of what is added to the accumulator ``r``: a value, to be read."""
        ins = self.func.code[r]
        if ins[0] == REF_INDEX:
            c = self.ref_cotangent(ins[1])
            return None if c is None else self.b.index(c, self.value(ins[2]))
        if ins[0] == _SELECT:
            sides = [self.ref_cotangent(x) for x in ins[2:]]
            if sides == [None, None]:
                return None
            zero = self.b.const(0.0, replace_scalar(self.func.types[r].inner, REAL))  # type: ignore[attr-defined]
            a, b = (zero if c is None else c for c in sides)
            return self.b.ternary(_SELECT, self.value(ins[1]), a, b)
        if ins[0] == PARAM and self.boundary:
            return self.boundary.given.get(ins[1])
        return self.ref_cotangents.get(r)

    def resolve(self, v: int, ins: tuple[int, ...]) -> None:
        if self.lin.active[v]:
            c = self.total(v)
            if c is not None:
                self.ref_cotangents[ins[1]] = c


_STRUCTURAL: dict[int, Callable[[Reverse, int, tuple[int, ...]], None]] = {
    VEC: Reverse.vec, INDEX: Reverse.index, GET: Reverse.get, FOR: Reverse.loop, CALL: Reverse.call,
    COND: Reverse.cond, LOOP: Reverse.control_loop, SET: Reverse.set,
    ACCUM: Reverse.accum, ADD_TO: Reverse.add_to, RESOLVE: Reverse.resolve,
}  # fmt: skip
