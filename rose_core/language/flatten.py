"""Pairs, structs and the unit value taken apart: the first step for programs that come from text.

Every value becomes its leaves (`language.types.leaves`): a pair two bundles, an array of pairs a pair
of arrays, an accumulator of a pair two accumulators. The tracers do the same while they trace, so all
further passes see leaves only. Generic functions are made concrete on the way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
    MEMBER,
    PARAM,
    PULL,
    REF_INDEX,
    REF_MEMBER,
    RESOLVE,
    SET,
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
)
from rose_core.language.ops import TABLE_END, code
from rose_core.language.types import Array, Fin, Pair, Ref, Struct, Type, TypeVar, array, leaves, ref

_SELECT = code("select")


def substitute(t: Type, at: Mapping[TypeVar, Type]) -> Type:
    """``t`` with type parameters replaced."""
    if isinstance(t, TypeVar):
        return at.get(t, t)
    if isinstance(t, Array):
        return array(substitute(t.index, at), substitute(t.elem, at))
    if isinstance(t, Ref):
        return ref(substitute(t.inner, at))
    if isinstance(t, Pair):
        return Pair(substitute(t.fst, at), substitute(t.snd, at))
    if isinstance(t, Struct):
        return Struct({name: substitute(u, at) for name, u in t.fields.items()})
    return t


def flatten(f: Func) -> Func:
    """``f`` on leaves, and so all functions it calls; itself, if that is what it is already.

    Raises:
        ValueError: ``f`` is generic, so that its leaves are not known.
    """
    if f.generics:
        raise ValueError(f"{f.name} is generic; it has leaves only at given types")
    return _flat(f, ())


def _flat(f: Func, types: tuple[Type, ...]) -> Func:
    """``f`` at these types for its parameters, flat."""
    found = f.memo.get(("flat", types))
    if found is None:
        plain = not f.structured and not f.generics and f.host is None and f.origin is None
        if f.host or f.origin or (plain and all(_flat_callee(g, {}) is g for g in f.callees)):
            found = f
        else:
            found = _Flattening(f, dict(zip(f.generics, types, strict=True))).run()
        f.memo["flat", types] = found
    return found  # type: ignore[return-value]


def _flat_callee(g: Func, at: Mapping[TypeVar, Type]) -> Func:
    if g.instance is None:
        return _flat(g, ())
    generic, types = g.instance
    return _flat(generic, tuple(substitute(t, at) for t in types))


class _Flattening:
    def __init__(self, f: Func, at: dict[TypeVar, Type]) -> None:
        self.f = f
        self.at = at
        self.flat = Func(f.name, [self.type(t) for t in f.param_types], self.type(f.ret))
        self.flat.param_names = f.param_names
        self.flat.jvp, self.flat.remat = f.jvp, f.remat
        self.b = Builder(self.flat)
        n = len(f.code)
        constants = [[self.b.const(value, leaf) for leaf in leaves(self.type(t))] for value, t in f.pool]
        self.env: list[list[int]] = [[] for _ in range(n)] + constants[::-1]
        """Source id → the ids of its leaves."""
        self.pullbacks: dict[int, int] = {}
        """``VJP`` → its copy."""

    def type(self, t: Type) -> Type:
        return substitute(t, self.at) if self.at else t

    def run(self) -> Func:
        self.block(0)
        for v in self.f.results:
            self.flat.results.extend(self.env[v])
        return self.flat

    def block(self, number: int) -> None:
        for v in self.f.blocks[number].order:
            self.env[v] = self.instruction(v, self.f.code[v])

    def instruction(self, v: int, ins: tuple[int, ...]) -> list[int]:
        env, b, op = self.env, self.b, ins[0]
        t = self.type(self.f.types[v])
        if op == _SELECT:
            return [
                b.ternary(op, env[ins[1]][0], x, y) for x, y in zip(env[ins[2]], env[ins[3]], strict=True)
            ]
        if op < TABLE_END:
            return [b.op(op, *[env[x][0] for x in ins[1:]], type=t)]
        if op == PARAM:
            return [b.param(leaf) for leaf in leaves(t)]
        if op == TUPLE:
            return [leaf for x in ins[1:] for leaf in env[x]]
        if op == IDX:
            return env[v]
        if op in (MEMBER, REF_MEMBER):
            return self.part(ins[1], ins[2])
        if op == VEC:
            return [b.vec([env[x][k] for x in ins[1:]], leaf) for k, leaf in enumerate(leaves(t))]
        if op == INDEX:
            return [b.index(x, env[ins[2]][0]) for x in env[ins[1]]]
        if op == REF_INDEX:
            return [b.ref_index(x, env[ins[2]][0]) for x in env[ins[1]]]
        if op == FOR:
            return self.loop(ins[1])
        if op == CALL:
            callee = _flat_callee(self.f.callees[ins[1]], self.at)
            call = b.call(callee, [leaf for x in ins[2:] for leaf in env[x]])
            return [b.get(call, k) for k in range(len(callee.result_types))]
        if op == VJP:
            self.pullbacks[v] = call = b.vjp(self.f.callees[ins[1]], self.leaves(ins[2:]))
            return [b.get(call, k) for k in range(result_count(self.flat, call))]
        if op == PULL:
            call = b.pull(self.pullbacks[ins[1]], self.leaves(ins[2:]))
            return [b.get(call, k) for k in range(result_count(self.flat, call))]
        if op == COND:
            site = CondSite(self.f, ins)
            f_args, g_args = (self.leaves(args) for args in site.args)
            f, g = (_flat_callee(f, self.at) for f in site.functions)
            choice = b.cond(env[site.p][0], f, f_args, g, g_args)
            return [b.get(choice, k) for k in range(len(f.result_types))]
        if op == LOOP:
            return self.control_loop(LoopSite(self.f, ins))
        if op == SET:
            return [b.set(x, env[ins[2]][0], y) for x, y in zip(env[ins[1]], env[ins[3]], strict=True)]
        if op == ZEROS:
            return [b.zeros(env[ins[1]][0], t)]
        if op == GET:
            return self.result(ins[1], ins[2])
        if op == ACCUM:
            return [b.accum(x) for x in env[ins[1]]]
        if op == RESOLVE:
            return [b.resolve(x) for x in env[ins[1]]]
        assert op == ADD_TO, f"{op} cannot be in a program with pairs or structs"
        for r, x in zip(env[ins[1]], env[ins[2]], strict=True):
            if is_real(b.types[r]):  # what is no number stays as it is
                b.add_to(r, x)
        return []

    def leaves(self, ids: Sequence[int]) -> list[int]:
        return [leaf for x in ids for leaf in self.env[x]]

    def control_loop(self, site: LoopSite) -> list[int]:
        """The results of a loop, whose functions are flat already."""
        state, args, test_args = map(self.leaves, (site.state, site.args, site.test_args))
        loop = self.b.loop(site.spec, self.env[site.count][0], site.body, state, args, site.test, test_args)
        return self.b.all_of(loop, site.spec, len(site.body.result_types))

    def part(self, x: int, k: int) -> list[int]:
        t = self.type(self.f.type_of(x))
        parts = fields_of(t.inner if isinstance(t, Ref) else t)
        at = sum(len(leaves(u)) for _, u in parts[:k])
        return self.env[x][at : at + len(leaves(parts[k][1]))]

    def loop(self, number: int) -> list[int]:
        """The leaves of all results, one after the other."""
        block = self.f.blocks[number]
        size = self.type(block.size)
        assert isinstance(size, Fin)
        self.env[block.index] = [self.b.open_for(size)]
        self.block(number)
        results = [leaf for r in block.results for leaf in self.env[r]]
        loop = self.b.close_for(results)
        return [self.b.get(loop, k) for k in range(len(results))]

    def result(self, of: int, k: int) -> list[int]:
        ins = self.f.code[of]
        if ins[0] == FOR:
            types = [self.f.type_of(r) for r in self.f.blocks[ins[1]].results]
        elif ins[0] == CALL:
            types = self.f.callees[ins[1]].result_types
        else:  # of functions that are flat already
            return [self.env[of][k]]
        counts = [len(leaves(self.type(t))) for t in types]
        at = sum(counts[:k])
        return self.env[of][at : at + counts[k]]
