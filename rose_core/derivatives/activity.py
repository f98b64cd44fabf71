"""Which results of a function vary with its parameters: activity analysis, without any derivative made.

Both modes find out as they go which values carry tangents. Of a loop they need to know it before they begin:
what varies after an iteration varies before the next.
"""

from __future__ import annotations

from collections.abc import Sequence

from rose_core.derivatives.rules import rule
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
    Func,
    LoopSite,
    is_real,
    operands,
    result_count,
)
from rose_core.language.ops import BINARY_END, OPS, TABLE_END, UNARY_END
from rose_core.language.queries import containing
from rose_core.language.types import Ref, Type

VARIES = [op.jvp is not None and rule(op.code, (1 << len(op.ins)) - 1).pull is not None for op in OPS]
"""Whether an op of varying operands varies: not so for ``floor``."""


def varying_state(site: LoopSite, state: Sequence[bool], args: Sequence[bool]) -> list[bool]:
    """Which leaves of a loop's state vary in some iteration, if these do so before the first."""
    return _loop_results(site, list(state), list(args), {})


def activate(f: Func, active: list[bool], r: int) -> None:
    """Mark the accumulator ``r`` of ``f`` as carrying a tangent, and what it is a part of."""
    for x in containing(f, r):
        active[x] = True


def involve(f: Func, active: list[bool], args: Sequence[int], params: Sequence[Type]) -> None:
    """Mark the accumulators among the arguments of a function of which some parameter varies."""
    for a, t in zip(args, params, strict=True):
        if isinstance(t, Ref):
            activate(f, active, a)


def taking_part(f: Func, varying: Sequence[bool]) -> tuple[bool, ...]:
    """Which parameters take part if these vary: what ``f`` may add to does, as soon as any does."""
    some = any(varying)
    return tuple(x or (some and isinstance(t, Ref)) for x, t in zip(varying, f.params, strict=True))


_Known = dict[tuple[Func, tuple[bool, ...]], list[bool]]


def _loop_results(site: LoopSite, state: list[bool], args: list[bool], known: _Known) -> list[bool]:
    while True:
        results = _results(site.body, [False, *state, *args], known)
        after = [x or y for x, y in zip(state, results, strict=False)]
        if after == state:
            return state
        state = after


def _results(f: Func, varying: list[bool], known: _Known) -> list[bool]:
    """Which results of ``f`` vary if these parameters do."""
    key = f, taking_part(f, varying)
    if key not in known:
        if f.jvp or f.host:  # a custom derivative gives every tangent
            known[key] = [is_real(t) and (f.jvp is not None or any(varying)) for t in f.result_types]
        else:
            active = _values(f, key[1], known)
            known[key] = [active[v] for v in f.results]
    return known[key]


def _values(f: Func, varying: Sequence[bool], known: _Known) -> list[bool]:
    """Id → whether the value varies; constants, at the end, never do."""
    active = [False] * (len(f.code) + len(f.pool))
    of_results: dict[int, list[bool]] = {}
    """Call, choice or loop with a state → which of its results vary."""

    def called(g: Func, args: Sequence[int]) -> list[bool]:
        """Which results of ``g`` vary."""
        if any(active[a] for a in args):
            involve(f, active, args, g.params)
        return _results(g, [active[a] for a in args], known)

    def loop_results(site: LoopSite) -> list[bool]:
        """Which results of a loop vary: the last state, not how often it ran, and what was kept."""
        args = [active[x] for x in site.args]
        state = _loop_results(site, [active[x] for x in site.state], args, known)
        if any(state) or any(args):
            involve(f, active, site.args, site.body.params[1 + len(state) :])
        results = _results(site.body, [False, *state, *args], known)
        return [*state, False, *results[len(state) :]]

    for v, ins in enumerate(f.code):
        op = ins[0]
        if op < UNARY_END:
            active[v] = VARIES[op] and active[ins[1]]
        elif op < BINARY_END:
            active[v] = VARIES[op] and (active[ins[1]] or active[ins[2]])
        elif op < TABLE_END:
            active[v] = active[ins[2]] or active[ins[3]]
        elif op == PARAM:
            active[v] = varying[ins[1]]
        elif op in (INDEX, REF_INDEX, ACCUM, RESOLVE):
            active[v] = active[ins[1]]
        elif op == VEC:
            active[v] = any(active[x] for x in ins[1:])
        elif op == SET:
            active[v] = active[ins[1]] or active[ins[3]]
        elif op == ADD_TO and active[ins[2]]:
            activate(f, active, ins[1])
        elif op in (CALL, COND, LOOP) and not any(active[x] for x in operands(ins, f.blocks)):
            of_results[v] = [False] * result_count(f, v)
        elif op == CALL:
            of_results[v] = called(f.callees[ins[1]], ins[2:])
        elif op == COND:
            choice = CondSite(f, ins)
            sides = [called(g, args) for g, args in zip(choice.functions, choice.args, strict=True)]
            of_results[v] = [x or y for x, y in zip(*sides, strict=True)]
        elif op == LOOP:
            of_results[v] = loop_results(LoopSite(f, ins))
        elif op == GET:
            _, of, k = ins
            source = f.code[of]
            active[v] = active[f.blocks[source[1]].results[k]] if source[0] == FOR else of_results[of][k]
    return active
