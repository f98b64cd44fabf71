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

from collections.abc import Callable, Sequence

from rose_core.ir import (
    ACCUM,
    ADD_TO,
    CALL,
    FOR,
    GET,
    IDX,
    INDEX,
    PARAM,
    REF_INDEX,
    RESOLVE,
    VEC,
    Builder,
    Func,
    is_real,
)
from rose_core.ops import BINARY_END, OPS, UNARY_END, code
from rose_core.replay import TABLE_END, Replay
from rose_core.rules import rule
from rose_core.sweep import Sums, sweep
from rose_core.types import REAL, TAN, UNIT, Array, Ref, Type, ref, replace_scalar, scalar_of

_ADD, _SUB, _NEG, _SELECT = map(code, ("add", "sub", "neg", "select"))

_VARIES = [op.jvp is not None and rule(op.code, (1 << len(op.ins)) - 1).pull is not None for op in OPS]
"""Whether an op of varying operands varies: not so for ``floor``."""

_COST = [4 if op.name in ("div", "sqrt") else 99 if isinstance(op.wasm, str) else 1 for op in OPS]
_CHEAP = 4
"""What computing a value again may cost at most, in additions, to be better than keeping it."""


class Linearization(Replay):
    """The forward pass of ``func``, with its derivative prepared."""

    def __init__(
        self,
        func: Func,
        b: Builder,
        args: Sequence[int],
        varying: Sequence[bool],
        transposed: Callable[..., Transposed],
    ) -> None:
        self.varying = varying
        self.transposed = transposed
        self.dual = any(scalar_of(t) is TAN for t in func.params)
        """Whether tangents are values of the program itself, as in a custom derivative."""
        n, pool = len(func.code), len(func.pool)
        self.adopted = (
            not self.dual and all(varying) and list(args) == list(range(len(b.code))) and b.adopt(func)
        )
        """Whether the program was taken over as it is, every id keeping its meaning."""
        self.active = [self.adopted] * n + [False] * pool
        """Source id → whether the value may carry a tangent; constants, at the end, never do."""
        if self.adopted:
            self.func, self.b = func, b
            self.env = [*range(n), *(~k for k in reversed(range(pool)))]
        else:
            super().__init__(func, b, args)
        self.calls: dict[int, Transposed] = {}
        self.forward_block: dict[int, int] = {}
        """Source loop body → the forward pass's loop body."""

    def run(self) -> list[int]:
        return [self.env[v] for v in self.func.results] if self.adopted else super().run()

    def type(self, t: Type) -> Type:
        return replace_scalar(t, REAL) if scalar_of(t) is TAN else t

    def is_tangent(self, v: int) -> bool:
        """Whether ``v`` is a tangent of the program itself, which only the backward pass knows."""
        return self.dual and scalar_of(self.func.type_of(v)) is TAN

    def block(self, number: int) -> None:
        if self.dual:
            self._dual_block(number)
            return
        code, active, env, b = self.func.code, self.active, self.env, self.b
        unary, binary, varies = b.unary, b.binary, _VARIES
        for v in self.func.blocks[number].order:
            ins = code[v]
            op = ins[0]
            if op < UNARY_END:
                x = ins[1]
                env[v] = unary(op, env[x])
                if active[x] and varies[op]:
                    active[v] = True
            elif op < BINARY_END:
                _, x, y = ins
                env[v] = binary(op, env[x], env[y], None if varies[op] else self.func.types[v])
                if (active[x] or active[y]) and varies[op]:
                    active[v] = True
            elif op < TABLE_END:
                env[v] = b.ternary(op, env[ins[1]], env[ins[2]], env[ins[3]])
                active[v] = active[ins[2]] or active[ins[3]]
            else:
                self.structural(v, ins)

    def _dual_block(self, number: int) -> None:
        """As `block`, for a program in which tangents are values: they are active, and not emitted."""
        code, env, b, types = self.func.code, self.env, self.b, self.func.types
        for v in self.func.blocks[number].order:
            ins = code[v]
            op = ins[0]
            if op in (FOR, CALL, ADD_TO, GET, ACCUM, RESOLVE, REF_INDEX):
                self.structural(v, ins)
            elif scalar_of(types[v]) is TAN:
                self.active[v] = True
            elif op < TABLE_END:
                env[v] = b.op(op, *[env[x] for x in ins[1:]], type=types[v])
            else:
                self.structural(v, ins)

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        op, active = ins[0], self.active
        if op == PARAM:
            active[v] = self.varying[ins[1]]
            if self.is_tangent(v):
                return
        elif op == INDEX or op == REF_INDEX:
            active[v] = active[ins[1]]
        elif op == VEC:
            active[v] = any(active[x] for x in ins[1:])
        elif op == ACCUM or op == RESOLVE:
            active[v] = active[ins[1]] or self.is_tangent(v)
        elif op == ADD_TO and active[ins[2]]:
            self._activate(ins[1])
        if self.is_tangent(v) or (op == ADD_TO and self.is_tangent(ins[2])):
            if op == GET:
                self.get(v, ins[1], ins[2])
            return
        super().structural(v, ins)

    def _activate(self, r: int) -> None:
        """Mark the accumulator ``r``, and what it is a part of, as carrying a tangent."""
        self.active[r] = True
        ins = self.func.code[r]
        if ins[0] == REF_INDEX:
            self._activate(ins[1])
        elif ins[0] == _SELECT:
            self._activate(ins[2])
            self._activate(ins[3])

    def loop(self, v: int, number: int) -> None:
        block = self.func.blocks[number]
        b, env = self.b, self.env
        env[block.index] = b.open_for(block.size)
        self.forward_block[number] = b.open[-1]
        self.block(number)
        kept = [r for r in block.results if not self.is_tangent(r)]
        env[v] = b.close_for([env[r] for r in kept])
        self.result_at[v] = [kept.index(r) if r in kept else -1 for r in block.results]

    def get(self, v: int, of: int, k: int) -> None:
        call = self.calls.get(of)
        if call is not None:
            self.active[v] = call.active_results[k]
            if call.result_at[k] >= 0:
                self.env[v] = self.b.get(self.env[of], call.result_at[k])
            return
        ins = self.func.code[of]
        if ins[0] == FOR:
            self.active[v] = self.active[self.func.blocks[ins[1]].results[k]]
            k = self.result_at[of][k]
        if k >= 0:
            self.env[v] = self.b.get(self.env[of], k)

    def call(self, v: int, callee: Func, args: Sequence[int]) -> None:
        varying = [self.active[a] for a in args]
        if not any(varying) and not any(self.is_tangent(a) for a in args):
            super().call(v, callee, args)
            return
        # an accumulator takes part as soon as anything that may be added to it varies
        varying = [x or isinstance(t, Ref) for x, t in zip(varying, callee.params, strict=True)]
        for a, t in zip(args, callee.params, strict=True):
            if isinstance(t, Ref):
                self._activate(a)
        call = self.calls[v] = self.transposed(callee, tuple(varying))
        passed = [self.env[a] for k, a in enumerate(args) if call.takes[k]]
        self.env[v] = self.b.call(call.fwd, passed)


class _Loop:
    """A backward loop being emitted, and the forward loop it goes with; or the two function bodies."""

    __slots__ = ("backward", "cotangents", "elements", "forward", "given", "index", "known", "refs")

    def __init__(self, forward: int, backward: int, index: int) -> None:
        self.forward = forward
        """The forward pass's block; -1 where both passes share one function body."""
        self.backward = backward
        self.index = index
        """The backward loop's index; -1 for a function's body."""
        self.known: dict[int, int] = {}
        """Forward ids that were brought over already."""
        self.cotangents: dict[int, int] | Sums = {}
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
        self.stack = [_Loop(0 if boundary else -1, b.open[-1], -1)]
        self.straight = self.func.straight and len(b.open) == 1
        if self.straight:
            self.stack[0].cotangents = Sums(len(forward.env), b)
        self.source_block: dict[int, _Loop] = {0: self.stack[0]}
        self.by_forward: dict[int, _Loop] = {0: self.stack[0]} if boundary else {}
        self.ref_cotangents: dict[int, int] = {}
        """Source accumulator → the value whose elements are the cotangents of what is added to it."""
        self.outputs: dict[int, dict[int, int]] = {}
        """Loop or call → result number → cotangent."""

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
            found = loop.known[w] = self._bring(w, loop)
        return found

    def _bring(self, w: int, loop: _Loop) -> int:
        ins = self.fb.code[w]
        op = ins[0]
        if op == IDX:
            return loop.index
        if op != PARAM and self._cost(w) <= _CHEAP:
            if op == INDEX:
                return self.b.index(self.fetch(ins[1]), self.fetch(ins[2]))
            return self.b.op(op, *[self.fetch(x) for x in ins[1:]], type=self.fb.types[w])
        if loop.index < 0:
            assert self.boundary
            return self.boundary.carry(w)
        block = self.fb.blocks[loop.forward]
        if w not in block.results:
            block.results.append(w)
        taped = self.fb.get(block.owner, block.results.index(w))
        return self.b.index(self.fetch(taped), loop.index)

    def _cost(self, w: int) -> int:
        """What computing ``w`` again would cost."""
        if w < 0:
            return 0
        loop = self.by_forward.get(self.fb.home[w])
        if loop is None or w in loop.known:
            return 0
        ins = self.fb.code[w]
        op = ins[0]
        if op in (IDX, PARAM):
            return 0
        if op == INDEX:
            cost = 1
        elif op < TABLE_END and not isinstance(self.fb.types[w], (Array, Ref)):
            cost = _COST[op]
        else:
            return 99
        for x in ins[1:]:
            if cost > _CHEAP:
                break
            cost += self._cost(x)
        return cost

    # -- cotangents --------------------------------------------------------------------------------------

    def contribute(self, v: int, sign: int, c: int) -> None:
        """Add ``sign * c`` to the cotangent of the scalar ``v``."""
        sums = self.stack[-1].cotangents
        old = sums.get(v)
        if old is None:
            sums[v] = c if sign > 0 else self.b.unary(_NEG, c)
        else:
            sums[v] = self.b.binary(_ADD if sign > 0 else _SUB, old, c)

    def contribute_array(self, v: int, c: int) -> None:
        """Add the whole array ``c`` to the cotangent of the array ``v``."""
        if self.lin.active[v]:
            home = self.source_block[self.func.home[v]]
            if home is self.stack[-1] and self._owns(v) and v not in home.refs and v not in home.given:
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
                r = self.b.accum(loop.given.pop(v, self._zero(v)), loop.backward)
            loop.refs[v] = r
        return r

    def _scratch(self, v: int) -> int:
        """An accumulator nobody reads, for the side of a choice that carries no tangent."""
        return self.b.accum(self._zero(v), self.source_block[self.func.home[v]].backward)

    def _zero(self, v: int) -> int:
        return self.b.const(0.0, replace_scalar(self.func.types[v], REAL))

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
            if t.size <= 2 * len(elements) + 16:
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
        if self.straight:
            self._straight()
            return
        for v in reversed(self.func.blocks[number].order):
            ins = code[v]
            op = ins[0]
            if op < TABLE_END:
                if active[v]:
                    self.table_op(v, ins)
            elif op in _STRUCTURAL:
                _STRUCTURAL[op](self, v, ins)

    def _straight(self) -> None:
        """The sweep over a straight function: `rose_core.sweep` does the scalars."""
        n = len(self.func.code)
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
            elif ins[0] != PARAM:
                _STRUCTURAL[ins[0]](self, v, ins)

        code, types = self.func.code, self.func.types
        scalars, arrays = range(n - 1, -1, -1), [v for v in range(n) if isinstance(types[v], Array)]
        cotangents = self.stack[0].cotangents
        if not arrays or code[arrays[-1]][0] == PARAM:
            sweep(scalars, code, cotangents, values, self.lin.active, fetch, self.b, visit)
            return
        # arrays have no cotangent in the list, so the sweep pauses at each
        stop = n
        for v in reversed(arrays):
            sweep(range(stop - 1, v, -1), code, cotangents, values, self.lin.active, fetch, self.b, visit)
            visit(v, code[v])
            stop = v
        sweep(range(stop - 1, -1, -1), code, cotangents, values, self.lin.active, fetch, self.b, visit)

    def table_op(self, v: int, ins: tuple[int, ...]) -> None:
        """An op of the table: its transposed template."""
        types = self.func.types
        if isinstance(types[v], (Array, Ref)):
            return  # a choice between arrays: contributions went straight to its sides
        c = self.total(v)
        if c is None:
            return
        active = self.lin.active
        operands = ins[1:]
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
        for x in pull.consts:
            values.append(b.real(0.0 if x is None else x))
        for opcode, _, *args in pull.instrs:
            values.append(b.op(opcode, *[slot(a) for a in args]))
        for k, sign, s in pull.outputs:
            self.contribute(operands[k], sign, slot(s))

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
            self.contribute_element(ins[1], int(self.func.pool[~ins[2]][0]), c)  # type: ignore[call-overload]
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
        frame = _Loop(self.lin.forward_block[ins[1]], b.open[-1], index)
        self.stack.append(frame)
        self.source_block[ins[1]] = self.by_forward[frame.forward] = frame
        for k, c in cotangents.items():
            if block.results[k] >= 0:
                self.contribute_any(block.results[k], b.index(c, index))
        self.block(ins[1])
        for x, c in frame.cotangents.items():  # what is left belongs to values from outside the loop
            if self.lin.active[x]:
                b.add_to(self.ref(x), c)
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
            if ins[0] == CALL and v in self.lin.calls:
                f = self.func.callees[ins[1]]
                for a, t in zip(ins[2:], f.params, strict=True):
                    if isinstance(t, Ref) and self._has_cotangent(a):
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
        given = {k: self.ref_cotangent(args[k]) for k, t in enumerate(call.func.params) if isinstance(t, Ref)}
        given = {k: c for k, c in given.items() if c is not None}
        if not cotangents and not given:
            return
        back = call.backward(tuple(sorted(cotangents)), tuple(sorted(given)))
        passed = []
        for kind, k in back.sources:
            if kind == "cotangent":
                passed.append(cotangents[k])
            elif kind == "given":
                passed.append(given[k])
            elif kind == "tape":
                passed.append(self.fetch(self.fb.get(self.lin.env[v], k)))
            elif kind == "arg":
                passed.append(self.value(args[k]))
            else:
                passed.append(self.ref(args[k]))
        result = self.b.call(back.func, passed)
        for j, k in enumerate(back.outputs):
            self.contribute(args[k], 1, self.b.get(result, j))

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
    ACCUM: Reverse.accum, ADD_TO: Reverse.add_to, RESOLVE: Reverse.resolve,
}  # fmt: skip


class Boundary:
    """How values get from a forward function into a backward function: as results, then as parameters."""

    def __init__(self, forward: Transposed, bwd: Builder) -> None:
        self.forward = forward
        self.bwd = bwd
        self.sources: list[tuple[str, int]] = []
        """What each parameter of the backward function is; see `Backward`."""
        self.given: dict[int, int] = {}
        """Accumulator parameter of the body → the cotangent behind it."""

    def param(self, kind: str, k: int, t: Type) -> int:
        """One more parameter of the backward function."""
        self.sources.append((kind, k))
        return self.bwd.param(replace_scalar(t, REAL) if scalar_of(t) is TAN else t)

    def carry(self, w: int) -> int:
        """The parameter that holds the forward function's value ``w``."""
        fwd = self.forward.fwd
        ins, t = fwd.code[w], fwd.types[w]
        if ins[0] == PARAM:
            return self.param("arg", self.forward.args[ins[1]], t)
        count = self.forward.primal_count
        if w not in fwd.results[count:]:
            fwd.results.append(w)
        return self.param("tape", fwd.results.index(w, count), t)

    def ref_param(self, body_param: int) -> int:
        """The parameter for the accumulator of the cotangent of the body's array parameter."""
        k = self.forward.leaf_of_param[body_param]
        return self.param("ref", k, ref(self.forward.func.params[k]))


class Backward:
    """A backward function and how to call it.

    ``sources`` says what each parameter is: ``("cotangent", result)``, ``("given", parameter)`` for the
    cotangent behind an accumulator, ``("tape", result of the forward function)``, ``("arg", parameter)``,
    or ``("ref", parameter)`` for the accumulator of an array's cotangent. ``outputs`` are the scalar
    parameters whose cotangents it returns. Parameters and results are those of the primal function.
    """

    def __init__(self, func: Func, sources: list[tuple[str, int]], outputs: list[int]) -> None:
        self.func = func
        self.sources = sources
        self.outputs = outputs


class Transposed:
    """A function in reverse: its forward function, and backward functions as they are needed.

    ``body`` is what is transposed: ``func`` itself, or its custom derivative, in which every real leaf
    of ``func`` is a tangent and a primal. ``varying`` says which parameters of ``func`` carry tangents.
    """

    def __init__(
        self, func: Func, body: Func, varying: Sequence[bool], transposed: Callable[..., Transposed]
    ) -> None:
        self.func = func
        self.varying = varying
        self._params = _leaf_positions(func, body, func.params)
        self._results = _leaf_positions(func, body, func.result_types)
        self.takes = [primal >= 0 for _, primal in self._params]
        """Which of the parameters the forward function takes; it does not know tangents."""
        self.leaf_of_param = {tangent: k for k, (tangent, _) in enumerate(self._params)}
        self.fwd = Func(f"fwd_{func.name}", [], UNIT)
        b = Builder(self.fwd)
        args = [0] * len(body.params)
        carries = [False] * len(body.params)
        self.args: list[int] = []
        """The parameter of ``func`` that each parameter of the forward function is."""
        for k, (tangent, primal) in enumerate(self._params):
            if primal >= 0:
                args[primal] = b.param(body.params[primal])
                self.args.append(k)
            if tangent >= 0:
                carries[tangent] = varying[k] or body is not func
        self._lin = Linearization(body, b, args, carries, transposed)
        results = self._lin.run()
        self.fwd.blocks[0].results = [results[primal] for _, primal in self._results if primal >= 0]
        self.primal_count = len(self.fwd.results)
        """The forward function's results before the tape."""
        self.result_at: list[int] = []
        """Where a result of ``func`` stands among the forward function's; -1 for a tangent."""
        for _, primal in self._results:
            self.result_at.append(sum(at >= 0 for at in self.result_at) if primal >= 0 else -1)
        self.active_results = [
            tangent >= 0 and body.results[tangent] >= 0 and self._lin.active[body.results[tangent]]
            for tangent, _ in self._results
        ]
        self._backward: dict[object, Backward] = {}

    def backward(self, results: tuple[int, ...], refs: tuple[int, ...]) -> Backward:
        """The backward function for cotangents of these results and behind these accumulators."""
        found = self._backward.get((results, refs))
        if found is None:
            found = self._backward[results, refs] = self._make(results, refs)
        return found

    def _make(self, results: tuple[int, ...], refs: tuple[int, ...]) -> Backward:
        body = self._lin.func
        bwd = Func(f"bwd_{self.func.name}", [], UNIT)
        b = Builder(bwd)
        boundary = Boundary(self, b)
        cotangents: list[int | None] = [None] * len(body.results)
        for k in results:
            at = self._results[k][0]
            cotangents[at] = boundary.param("cotangent", k, body.type_of(body.results[at]))
        for k in refs:
            boundary.given[k] = boundary.param("given", k, body.params[k].inner)  # type: ignore[attr-defined]
        reverse = Reverse(self._lin, b, boundary)
        reverse.run(cotangents)
        outputs = []
        param_ids = {ins[1]: v for v, ins in enumerate(body.code) if ins[0] == PARAM}
        for k, (tangent, _) in enumerate(self._params):
            v = param_ids[tangent] if tangent >= 0 else -1
            if v >= 0 and self.varying[k] and not isinstance(body.types[v], Ref):
                c = reverse.total_of_param(v)
                if c is not None:
                    outputs.append(k)
                    bwd.results.append(c)
        bwd.effects = any(f.effects for f in bwd.callees)
        return Backward(bwd, boundary.sources, outputs)


def _leaf_positions(func: Func, body: Func, types: Sequence[Type]) -> list[tuple[int, int]]:
    """For each leaf, the numbers of its tangent and of its primal among the leaves of ``body``; -1 for none."""
    if body is func:
        dual = any(scalar_of(t) is TAN for t in func.params)
        return [(k, -1 if dual and scalar_of(t) is TAN else k) for k, t in enumerate(types)]
    positions, at = [], 0
    for t in types:
        positions.append((at, at + 1) if is_real(t) else (-1, at))
        at += 1 + is_real(t)
    return positions
