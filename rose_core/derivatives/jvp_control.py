"""Forward mode of control flow: choices and loops of the derivatives of their functions.

A choice becomes one between the derivatives of its sides, on the same condition. A loop turns the
derivative of its body, on a state of which every leaf that varies has its tangent before it; the test
sees the primal state alone. Which leaves vary is known beforehand (`derivatives.activity`); if the derivative
has more, it is made again with these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rose_core.derivatives.activity import varying_state
from rose_core.derivatives.adapt import Ids, adapted
from rose_core.language.builder import Builder
from rose_core.language.ir import CondSite, Func, LoopSite
from rose_core.language.types import TAN, replace_scalar, scalar_of

if TYPE_CHECKING:
    from rose_core.derivatives.jvp import Jvp, Sweep


def cond(sweep: Sweep, v: int, site: CondSite) -> None:
    """The forward derivative of a ``COND``."""
    b, env = sweep.b, sweep.env
    sides = [
        sweep.derivative_of(f, [sweep.tan[a] is not None for a in args])
        for f, args in zip(site.functions, site.args, strict=True)
    ]
    varying = [x or y for x, y in zip(*(jvp.varying_results for jvp in sides), strict=True)]
    functions = [with_tangents(jvp, varying) for jvp in sides]
    args = [
        sweep.passed(jvp, args, f.params)
        for jvp, args, f in zip(sides, site.args, site.functions, strict=True)
    ]
    env[v] = b.cond(env[site.p], functions[0], args[0], functions[1], args[1])
    sweep.results[v] = positions(varying)


def loop(sweep: Sweep, v: int, site: LoopSite) -> None:
    """The forward derivative of a ``LOOP``."""
    b, env, spec = sweep.b, sweep.env, site.spec
    varying = [sweep.tan[x] is not None for x in site.state]
    of_args = [sweep.tan[x] is not None for x in site.args]
    varying = varying_state(site, varying, of_args)
    while True:
        jvp = sweep.derivative_of(site.body, [False, *varying, *of_args])
        after = [x or y for x, y in zip(varying, jvp.varying_results, strict=False)]
        if after == varying:
            break
        varying = after
    kept = jvp.varying_results[spec.carries :]
    body = with_tangents(jvp, varying + kept)
    state: Ids = []
    for x, varies in zip(site.state, varying, strict=True):
        state += [sweep.tangent(x), env[x]] if varies else [env[x]]
    test = _of_primals(sweep, site, varying) if site.test else None
    new = replace(
        spec,
        carries=spec.carries + sum(varying),
        outputs=spec.outputs_after(kept),
    )
    args = sweep.passed(jvp, site.args, site.body.params[1 + spec.carries :])
    env[v] = b.loop(new, env[site.count], body, state, args, test, [env[x] for x in site.test_args])
    sweep.results[v] = positions([*varying, False, *kept])


def _of_primals(sweep: Sweep, site: LoopSite, varying: Sequence[bool]) -> Func:
    """The test of a loop, for a state with tangents."""
    assert site.test
    test = site.test
    if any(scalar_of(t) is TAN for t in test.params):
        test = sweep.derivative_of(test, [False] * len(test.params)).func_jvp
    if not any(varying):
        return test
    params, primals = [], []
    for k, t in enumerate(test.params):
        if k < len(varying) and varying[k]:
            params.append(replace_scalar(t, TAN))
        primals.append(len(params))
        params.append(t)
    return adapted(test, params, lambda _, ids: [ids[k] for k in primals])


def positions(varying: Sequence[bool]) -> list[tuple[int, int]]:
    """Where among values with tangents each tangent (-1: there is none) and primal is."""
    found, at = [], 0
    for varies in varying:
        found.append((at, at + 1) if varies else (-1, at))
        at += 1 + varies
    return found


def with_tangents(jvp: Jvp, varying: Sequence[bool]) -> Func:
    """The derivative with a tangent for each of these results, zero where it has none."""
    if list(varying) == jvp.varying_results:
        return jvp.func_jvp

    def results(b: Builder, ids: Ids) -> Ids:
        given: Ids = []
        for (tangent, primal), varies in zip(positions(jvp.varying_results), varying, strict=True):
            if varies:
                given.append(ids[tangent] if tangent >= 0 else zero_tangent(b, ids[primal]))
            given.append(ids[primal])
        return given

    return adapted(jvp.func_jvp, jvp.func_jvp.params, results=results)


def zero_tangent(b: Builder, primal: int) -> int:
    """The zero tangent of a value."""
    return b.zero_like(primal, replace_scalar(b.func.type_of(primal), TAN))
