"""The forward pass of reverse mode: the primal program, and which of its values vary (Figure 13, left).

A `Linearization` emits a function's primal instructions and notes which values carry a tangent. In a
function whose signature has tangents (a custom derivative) those are values of the program itself:
they are active, and only the backward pass emits anything for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from rose_core.derivatives import linearize_control
from rose_core.derivatives.activity import VARIES, activate, involve
from rose_core.derivatives.linearize_control import Column, Iterations, TakenSide, is_dual
from rose_core.derivatives.updates import overwriting
from rose_core.language.builder import Builder
from rose_core.language.ir import (
    ACCUM,
    ADD_TO,
    CALL,
    COND,
    ENDLESS,
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
    Func,
    LoopSite,
)
from rose_core.language.ops import BINARY_END, TABLE_END, UNARY_END
from rose_core.language.replay import Replay
from rose_core.language.types import TAN, Type, real, scalar_of

if TYPE_CHECKING:
    from rose_core.derivatives.tape import Transposed


class Derivatives(Protocol):
    """Where the derivatives of other functions come from."""

    def transposed(
        self, f: Func, varying: tuple[bool, ...], room: int = ENDLESS, is_part: bool = False
    ) -> Transposed:
        """The reverse derivative of ``f``, for these varying parameters.

        It is one of its own where ``f`` is a part of a function: a side of a choice, or the body of a loop.
        ``room`` is as in `Linearization`.
        """

    def forward(self, f: Func, varying: tuple[bool, ...]) -> tuple[Func, list[bool]]:
        """The forward derivative of ``f``, with numbers for tangents, and which of its results vary."""


class Linearization(Replay):
    """The forward pass of ``func``, with its derivative prepared."""

    def __init__(
        self,
        func: Func,
        b: Builder,
        args: Sequence[int],
        varying: Sequence[bool],
        derivatives: Derivatives,
        room: int = ENDLESS,
    ) -> None:
        self.varying = varying
        self.derivatives = derivatives
        self.room = room
        """The most numbers of a kind that a loop may keep in arrays: few in a side of a choice, as there is
        memory for these even where it is not taken."""
        self.dual = is_dual(func)
        """Whether tangents are values of the program itself, as in a custom derivative."""
        n, pool = len(func.code), len(func.pool)
        self.size = n
        """The number of instructions; if the function grows, those after them are not its own."""
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
        self.inside: dict[int, Replay] = {}
        """Call → the forward function's instructions, where they stand in its place."""
        self.control: dict[int, TakenSide | Iterations | Column] = {}
        """Choices and loops with a state."""
        self.given: dict[int, Sequence[int]] = {}
        """Choice → what it gives, where that is known beforehand."""
        self.choices: dict[object, TakenSide] = {}
        """By the sides of choices and what varies in them."""
        self.forward_block: dict[int, int] = {}
        """Source loop body → the forward pass's loop body."""
        self.loop_results: dict[int, dict[int, int]] = {}
        """Loop body of the forward pass → value in it → which result of the loop that is."""
        self.overwritten: dict[int, int] = {}
        """Update → the element, in the forward pass, that it writes over: see `derivatives.versions`."""

    def run(self) -> list[int]:
        return [self.env[v] for v in self.func.results] if self.adopted else super().run()

    def type(self, t: Type) -> Type:
        return real(t)

    def is_tangent(self, v: int) -> bool:
        """Whether ``v`` is a tangent of the program itself, which only the backward pass knows."""
        return self.dual and scalar_of(self.func.type_of(v)) is TAN

    def block(self, number: int) -> None:
        if self.dual:
            self._dual_block(number)
            return
        code, active, env, b = self.func.code, self.active, self.env, self.b
        unary, binary, varies = b.unary, b.binary, VARIES
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
                env[v] = b.ternary(op, env[ins[1]], env[ins[2]], env[ins[3]], self.func.types[v])
                active[v] = active[ins[2]] or active[ins[3]]
            else:
                self.structural(v, ins)

    def _dual_block(self, number: int) -> None:
        """As `block`, for a program in which tangents are values: they are active, and not emitted."""
        code, env, b, types = self.func.code, self.env, self.b, self.func.types
        for v in self.func.blocks[number].order:
            ins = code[v]
            op = ins[0]
            if op in (FOR, CALL, ADD_TO, GET, ACCUM, RESOLVE, REF_INDEX, COND, LOOP):
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
        elif op in (INDEX, REF_INDEX):
            active[v] = active[ins[1]]
        elif op == VEC:
            active[v] = any(active[x] for x in ins[1:])
        elif op == SET:
            active[v] = active[ins[1]] or active[ins[3]]
            if not self.dual and v in overwriting(self.func):
                self.overwritten[v] = self.b.index(self.env[ins[1]], self.env[ins[2]])
        elif op in (ACCUM, RESOLVE):
            active[v] = active[ins[1]] or self.is_tangent(v)
        elif op == ADD_TO and active[ins[2]]:
            activate(self.func, self.active, ins[1])
        if self.is_tangent(v) or (op == ADD_TO and self.is_tangent(ins[2])):
            if op == GET:
                self.get(v, ins[1], ins[2])
            return
        super().structural(v, ins)

    def loop(self, v: int, number: int) -> None:
        block = self.func.blocks[number]
        b, env = self.b, self.env
        env[block.index] = b.open_for(block.size)
        self.forward_block[number] = b.open[-1]
        self.block(number)
        kept = [r for r in block.results if not self.is_tangent(r)]
        env[v] = b.close_for([env[r] for r in kept])
        at = _first_places(kept)
        self.result_at[v] = [at.get(r, -1) for r in block.results]

    def taped(self, number: int, w: int) -> int:
        """The array of what the value ``w`` of this loop body of the forward pass is in its iterations: a
        result of the loop, from now on if it was none."""
        block = self.b.blocks[number]
        if number not in self.loop_results:
            self.loop_results[number] = _first_places(block.results)
        k = self.loop_results[number].setdefault(w, len(block.results))
        if k == len(block.results):
            block.results.append(w)
        return self.b.get(block.owner, k)

    def get(self, v: int, of: int, k: int) -> None:
        call = self.calls.get(of)
        if call is not None:
            self.active[v] = call.active_results[k]
            if call.result_at[k] >= 0:
                self.env[v] = self.result(of, call.result_at[k])
            return
        site = self.control.get(of)
        if isinstance(site, Column):
            self.active[v] = site.tangents[k] is not None
            self.env[v] = site.results[k]
            return
        if site is not None:
            self.active[v] = site.active(k)
            if of in self.given:
                self.env[v] = self.given[of][k]
            elif site.position(k) >= 0:
                self.env[v] = self.b.get(self.env[of], site.position(k))
            return
        ins = self.func.code[of]
        if ins[0] == FOR:
            self.active[v] = self.active[self.func.blocks[ins[1]].results[k]]
            k = self.result_at[of][k]
        if k >= 0:
            self.env[v] = self.b.get(self.env[of], k)

    def call(self, v: int, callee: Func, args: Sequence[int]) -> None:
        if not self.involves(args):
            super().call(v, callee, args)
            return
        call = self.calls[v] = self.derivatives.transposed(callee, self.varying_args(callee, args), self.room)
        passed = [self.env[a] for k, a in enumerate(args) if call.takes[k]]
        if call.in_line:
            inside = self.inside[v] = Replay(call.fwd, self.b, passed)
            inside.run()
        else:
            self.env[v] = self.b.call(call.fwd, passed)

    def result(self, call: int, k: int) -> int:
        """Result ``k`` of the forward function at a call, of the tape if there are so many."""
        inside = self.inside.get(call)
        return inside.env[inside.func.results[k]] if inside else self.b.get(self.env[call], k)

    def involves(self, args: Sequence[int]) -> bool:
        """Whether anything active is among arguments."""
        return any(self.active[a] or self.is_tangent(a) for a in args)

    def varying_args(self, callee: Func, args: Sequence[int]) -> tuple[bool, ...]:
        """Which parameters carry tangents.

        An accumulator takes part as soon as anything that may be added to it varies.
        """
        added_to = [a for a in args if not self.dual or self.is_tangent(a)]
        involve(self.func, self.active, added_to, [self.func.type_of(a) for a in added_to])
        return tuple(self.active[a] for a in args)

    def cond(self, v: int, ins: tuple[int, ...]) -> None:
        site = CondSite(self.func, ins)
        tangents = self.dual and any(is_dual(f) for f in site.functions)
        if tangents or self.involves([*site.args[0], *site.args[1]]):
            linearize_control.cond(self, v, site)
        else:
            super().cond(v, ins)

    def control_loop(self, v: int, ins: tuple[int, ...]) -> None:
        site = LoopSite(self.func, ins)
        tangents = self.dual and is_dual(site.body)
        if tangents or self.involves([*site.state, *site.args]):
            linearize_control.loop(self, v, site)
        else:
            super().control_loop(v, ins)


def _first_places(ids: Sequence[int]) -> dict[int, int]:
    """Where each of these comes first."""
    found: dict[int, int] = {}
    for k, x in enumerate(ids):
        found.setdefault(x, k)
    return found
