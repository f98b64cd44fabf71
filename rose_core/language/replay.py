"""Running a function's instructions again into another builder: the forward sweep of every pass.

A `Replay` keeps, for each id of the source, the id it became (``env``; constants sit at the end of
the list, so that their negative ids index them). Unchanged, it inlines the function it is given. A pass
first finds out what is to change, and then makes a copy with a kind of replay that overrides a method for
some instructions:

    return copied(f, _Summing, found) if found else f

A `Verbatim` is for functions whose derivatives are still to be made, and a `Replacing` for passes that put
other values in the place of some.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import Concatenate, ParamSpec

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
    PULL,
    REF_INDEX,
    RESOLVE,
    SET,
    VEC,
    VJP,
    ZEROS,
    Block,
    CondSite,
    Func,
    LoopSite,
)
from rose_core.language.ops import BINARY_END, TABLE_END, UNARY_END
from rose_core.language.types import Type

Found = ParamSpec("Found")


def copied(
    f: Func,
    replay: Callable[Concatenate[Func, Builder, list[int], Found], Replay],
    *found: Found.args,
    **named: Found.kwargs,
) -> Func:
    """A copy of ``f``, made by this kind of replay, which gets what has been ``found`` of ``f``."""
    copy = Func(f.name, f.param_types, f.ret)
    copy.param_names = f.param_names
    b = Builder(copy)
    copy.blocks[0].results = replay(f, b, [b.param(t) for t in f.params], *found, **named).run()
    copy.stand_for(f)
    return copy


class Replay:
    """Emits the body of ``func`` into builder ``b``, its parameters standing for ``args``."""

    def __init__(self, func: Func, b: Builder, args: Sequence[int]) -> None:
        self.func = func
        self.b = b
        self.args = args
        self.env: list[int] = [0] * len(func.code) + self.constants()[::-1]
        """Source id → id in ``b``."""
        self.result_at: dict[int, list[int]] = {}
        """For a source loop: where among the new loop's results each of its results went."""
        self.replaced: dict[int, list[int]] = {}
        """Source call, loop or choice that has other instructions in its place → the results of these."""

    def constants(self) -> list[int]:
        """The constants in ``b``, in their order."""
        pool = self.func.pool
        if type(self).type is not Replay.type:
            pool = [(value, self.type(t)) for value, t in pool]
        return self.b.take(pool)

    def type(self, t: Type) -> Type:
        """The type a value of type ``t`` has in the copy."""
        return t

    def run(self) -> list[int]:
        """Emit the whole body; the ids of the results."""
        self.block(0)
        return [self.env[v] for v in self.func.results]

    def block(self, number: int) -> None:
        self.sequence(self.func.blocks[number].order)

    def sequence(self, ids: Iterable[int]) -> None:
        """Emit these instructions."""
        code, types, env, b = self.func.code, self.func.types, self.env, self.b
        for v in ids:
            ins = code[v]
            op = ins[0]
            if op < UNARY_END:
                env[v] = b.unary(op, env[ins[1]], types[v])
            elif op < BINARY_END:
                env[v] = b.binary(op, env[ins[1]], env[ins[2]], types[v])
            elif op < TABLE_END:
                env[v] = b.ternary(op, env[ins[1]], env[ins[2]], env[ins[3]], types[v])
            else:
                self.structural(v, ins)

    def instruction(self, v: int) -> None:
        """Emit one instruction."""
        ins = self.func.code[v]
        if ins[0] < TABLE_END:
            self.env[v] = self.b.op(ins[0], *[self.env[x] for x in ins[1:]], type=self.func.types[v])
        else:
            self.structural(v, ins)

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        env, b, op = self.env, self.b, ins[0]
        if op == PARAM:
            env[v] = self.args[ins[1]]
        elif op == INDEX:
            env[v] = b.index(env[ins[1]], env[ins[2]])
        elif op == VEC:
            env[v] = b.vec([env[x] for x in ins[1:]], self.type(self.func.types[v]))
        elif op == GET:
            self.get(v, ins[1], ins[2])
        elif op == FOR:
            self.loop(v, ins[1])
        elif op == CALL:
            self.call(v, self.func.callees[ins[1]], ins[2:])
        elif op == ACCUM:
            env[v] = b.accum(env[ins[1]])
        elif op == ADD_TO:
            env[v] = b.add_to(env[ins[1]], env[ins[2]])
        elif op == REF_INDEX:
            env[v] = b.ref_index(env[ins[1]], env[ins[2]])
        elif op == RESOLVE:
            env[v] = b.resolve(env[ins[1]])
        elif op == COND:
            self.cond(v, ins)
        elif op == LOOP:
            self.control_loop(v, ins)
        elif op == SET:
            env[v] = b.set(env[ins[1]], env[ins[2]], env[ins[3]])
        elif op == ZEROS:
            env[v] = b.zeros(env[ins[1]], self.type(self.func.types[v]))
        elif op in (VJP, PULL):
            self.derivative(v, ins)
        else:
            assert op == IDX, f"{op} must be flattened before"

    def iteration(self, number: int) -> Block:
        """Begin the loop of a block, and emit what is in it; to close it is left to the caller."""
        block = self.func.blocks[number]
        self.env[block.index] = self.b.open_for(block.size)
        self.block(number)
        return block

    def loop(self, v: int, number: int) -> None:
        block = self.iteration(number)
        self.env[v] = self.b.close_for([self.env[r] for r in block.results])

    def get(self, v: int, of: int, k: int) -> None:
        found = self.replaced.get(of)
        self.env[v] = self.b.get(self.env[of], k) if found is None else found[k]

    def call(self, v: int, callee: Func, args: Sequence[int]) -> None:
        self.env[v] = self.b.call(callee, [self.env[a] for a in args])

    def cond(self, v: int, ins: tuple[int, ...]) -> None:
        site = CondSite(self.func, ins)
        env = self.env
        f_args, g_args = ([env[a] for a in args] for args in site.args)
        f, g = [self.function(side) for side in site.functions]  # `map` would use the machine's stack
        env[v] = self.b.cond(env[site.p], f, f_args, g, g_args)

    def control_loop(self, v: int, ins: tuple[int, ...]) -> None:
        site = LoopSite(self.func, ins)
        env = self.env
        state, args, test_args = ([env[a] for a in x] for x in (site.state, site.args, site.test_args))
        test = self.function(site.test) if site.test else None
        body = self.function(site.body)
        env[v] = self.b.loop(site.spec, env[site.count], body, state, args, test, test_args)

    def function(self, f: Func) -> Func:
        """What a branch, or the body or test of a loop, becomes in the copy."""
        return f

    def derivative(self, v: int, ins: tuple[int, ...]) -> None:
        raise AssertionError("derivatives are expanded before any other pass")


class Verbatim(Replay):
    """Copies a function whose derivatives are still to be made."""

    def derivative(self, v: int, ins: tuple[int, ...]) -> None:
        operands = [self.env[x] for x in ins[2:]]
        if ins[0] == VJP:
            self.env[v] = self.b.vjp(self.function(self.func.callees[ins[1]]), operands)
        else:
            self.env[v] = self.b.pull(self.env[ins[1]], operands)


class Replacing(Replay):
    """A replay in which other values take the place of some."""

    others: Container[int]
    """Those that are not in the copy."""

    def instead(self, v: int) -> int:
        """What takes the place of ``v``, one of ``others``, made now if it is not there."""
        raise NotImplementedError

    def block(self, number: int) -> None:
        stay: list[int] = []
        for v in self.func.blocks[number].order:
            if v in self.others:
                self.sequence(stay)
                stay.clear()
                self.env[v] = self.instead(v)
            else:
                stay.append(v)
        self.sequence(stay)
