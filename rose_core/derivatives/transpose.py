"""Reverse mode: a forward pass, and a backward pass that is its derivative transposed (Figures 13, 14).

    a = sin(x);  y = a * x     and then, from dy:     da = dy * x;  dx = dy * a + da * cos(x)

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

from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import heappop
from typing import TYPE_CHECKING

from rose_core.derivatives import transpose_control
from rose_core.derivatives.cotangents import Cotangents, Loop
from rose_core.derivatives.linearize_control import Column, Iterations, TakenSide
from rose_core.derivatives.passing import passed_on, passing
from rose_core.derivatives.rules import rule_at
from rose_core.derivatives.sweep import LoopSums, sweep
from rose_core.derivatives.updates import chains
from rose_core.language.ir import (
    ACCUM,
    ADD_TO,
    CALL,
    COND,
    FOR,
    GET,
    INDEX,
    LOOP,
    PARAM,
    REF_INDEX,
    RESOLVE,
    SET,
    VEC,
    CondSite,
    LoopSite,
    operands,
)
from rose_core.language.ops import TABLE_END, code
from rose_core.language.queries import BEYOND_BINARY, accumulators, only_users, places
from rose_core.language.replay import Replay
from rose_core.language.types import Array, Ref, Type, real

if TYPE_CHECKING:
    from rose_core.derivatives.tape import Backward, Transposed

_ADD, _MUL, _SELECT = map(code, ("add", "mul", "select"))

_WITHOUT_SUM = frozenset((FOR, CALL, COND, LOOP, ADD_TO, RESOLVE))
"""Instructions that have no cotangent, or get it another way than by a sum."""


class Reverse(Cotangents):
    """The backward pass of a linearization, emitted into ``b`` at its current place."""

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
        is_iteration = self.is_in_iteration(-1)
        for v in self._stops():
            sweep(
                range(start - 1, v, -1), code, cotangents, values, active, fetch, self.b, visit, is_iteration
            )
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
            for v in places(func, BEYOND_BINARY)
            if v < size
            and not func.home[v]
            and (isinstance(types[v], (Array, Ref)) or code[v][0] in _WITHOUT_SUM)
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
        pull = rule_at(self.func, v, mask).pull
        if pull is None:
            return
        b, fb, env = self.b, self.fb, self.lin.env
        forward = [*(env[x] for x in operands), env[v], 0]
        """What stands for each slot in the forward pass, as far as ``values``, of this one, are not known."""
        values: list[int | None] = [*[None] * (len(forward) - 1), c]
        is_before = pull.has_function and all(map(self.is_in_iteration, forward[: len(operands)]))
        for number in pull.consts:
            values.append(None if is_before else b.real(number or 0.0))
            forward.append(fb.real(number or 0.0) if is_before else 0)

        def value(k: int) -> int:
            found = values[k]
            if found is None:
                found = values[k] = self.fetch(forward[k])
            return found

        for opcode, is_linear, *args in pull.instrs:
            if is_before and not is_linear:
                forward.append(fb.op(opcode, *[forward[a] for a in args]))
                values.append(None)
            else:
                values.append(b.op(opcode, *map(value, args)))
                forward.append(0)
        for k, sign, s in pull.outputs:
            sums.contribute(operands[k], (sign < 0) != is_negative, value(s))

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
        if ins[2] >= 0 and isinstance(self.func.types[v], Array) and v not in self.stack[-1].refs:
            return  # contributions went straight to the row
        c = self.total(v)
        if c is None or v in self.in_place:
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
        frame = Loop(b, self.lin.forward_block[ins[1]], b.open[-1], index)
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
        return any(self.ref_cotangent(x) is not None for x in accumulators(self.func, r))

    def call(self, v: int, ins: tuple[int, ...]) -> None:
        call = self.lin.calls.get(v)
        cotangents = self.outputs.pop(v, {})
        if call is None:
            return
        args = ins[2:]
        given = self.given(args, call.func.params)
        if not cotangents and not given:
            return
        results, refs, limits = tuple(sorted(cotangents)), tuple(sorted(given)), self.limits(args)
        restored = self._updated(v, call, args)
        back = call.backward(results, refs, limits, tuple(restored))
        again = None
        if not call.in_line and call.is_run_again(back):
            if restored:  # which gives back what it is to be run on
                restored = {}
                back = call.backward(results, refs, limits)
            taken = [self.value(x) for x, is_taken in zip(args, call.takes, strict=True) if is_taken]
            again = self.b.call(call.fwd, taken)

        def tape(k: int) -> int:
            return self.fetch(self.lin.result(v, k)) if again is None else self.b.get(again, k)

        def after(k: int) -> int:
            return self.versions.after(self.lin.result(v, call.result_at[k]), k in back.demanded)

        passed = self.passed(back, args, cotangents, given, tape, after)
        if call.in_line and back.is_short:
            found = Replay(back.func, self.b, passed).run()
        else:
            result = self.b.call(back.func, passed)
            found = [self.b.get(result, j) for j in range(len(back.func.results))]
        for k, c in zip(back.outputs, found, strict=False):
            self.contribute(args[k], 1, c)
        for x, before in zip(restored.values(), found[len(back.outputs) :], strict=True):
            self.versions.give_back(x, before)

    def given(self, args: Sequence[int], params: Sequence[Type]) -> dict[int, int]:
        """The cotangents behind the accumulators among arguments, by number of the parameter."""
        found = {}
        for k, (a, t) in enumerate(zip(args, params, strict=True)):
            if isinstance(t, Ref):
                behind = self.ref_cotangent(a)
                if behind is not None:
                    found[k] = behind
        return found

    def passed(
        self,
        back: Backward,
        args: Sequence[int],
        cotangents: Mapping[int, int],
        given: Mapping[int, int],
        tape: Callable[[int], int],
        after: Callable[[int], int],
    ) -> list[int]:
        """What a backward function gets, where its function got ``args``: see its ``sources``."""
        passed = []
        for kind, k in back.sources:
            if kind == "cotangent":
                passed.append(cotangents[k])
            elif kind == "given":
                passed.append(given[k])
            elif kind == "after":
                passed.append(after(k))
            elif kind == "tape":
                passed.append(tape(k))
            elif kind == "arg":
                passed.append(self.value(args[k]))
            else:
                passed.append(self.ref(args[k]))
        return passed

    def _updated(self, v: int, call: Transposed, args: Sequence[int]) -> dict[int, int]:
        """The results of a call whose updates it is to take back, each with the array that they update."""
        return {
            k: args[n]
            for k in chains(call.func)
            if (n := call.updated(k)) >= 0 and self.lin.result(v, call.result_at[k]) in self.versions.result
        }

    def cond(self, v: int, ins: tuple[int, ...]) -> None:
        taken = self.lin.control.get(v)
        if isinstance(taken, TakenSide):
            transpose_control.cond(self, v, CondSite(self.func, ins), taken)

    def control_loop(self, v: int, ins: tuple[int, ...]) -> None:
        iterations = self.lin.control.get(v)
        if isinstance(iterations, Iterations):
            transpose_control.loop(self, v, LoopSite(self.func, ins), iterations)
        elif isinstance(iterations, Column):
            transpose_control.column(self, v, iterations)

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
        _, _, at, x = self.func.code[v]
        t = real(self.func.types[v])
        assert isinstance(t, Array)
        i = self.value(at)
        old = self.b.index(c, i)
        if self._is_put_back(v):
            return self.b.set(c, i, self._set_back(x, old))
        if self.lin.active[x]:
            # an array of its own, as there are zeros in its place at once
            self.contribute_any(x, self.b.resolve(self.b.accum(old)) if isinstance(t.elem, Array) else old)
        path = passing(self.func, v, self._is_known)
        if not path or not self.lin.active[path[0]]:
            return self.b.set(c, i, self.b.const(0.0, t.elem))
        self.in_place.add(path[0])
        return self.b.set(c, i, passed_on(self.func, path, old, self.b, self.value))

    def _is_known(self, x: int) -> bool:
        """Whether ``x`` can be told before anything else: not if arrays are got back to for it."""
        return x < 0 or self.func.code[x][0] == PARAM or not self.versions.result

    def _is_put_back(self, v: int) -> bool:
        """Whether what ``v`` puts into an array is a row of that, updated, which nobody else uses."""
        code = self.func.code
        _, whole, at, x = code[v]
        is_row = x >= 0 and code[x][0] == SET and code[code[x][1]] == (INDEX, whole, at)
        return is_row and only_users(self.func).get(x) == v

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
            made = self.source_block[self.func.home[r]].choices
            if r not in made:
                made[r] = self._choice_of_cotangents(r, *ins[1:])
            return made[r]
        if ins[0] == PARAM and self.boundary:
            return self.boundary.given.get(ins[1])
        return self.ref_cotangents.get(r)

    def _choice_of_cotangents(self, r: int, p: int, x: int, y: int) -> int | None:
        sides = [self.ref_cotangent(x), self.ref_cotangent(y)]
        if sides == [None, None]:
            return None
        zero = self.b.const(0.0, real(self.func.inner_type_of(r)))
        a, b = (zero if c is None else c for c in sides)
        return self.b.ternary(_SELECT, self.value(p), a, b)

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
