"""Rows in place of matrices: what a loop's body gets of an array of which each turn reads the same rows.

The body that adds up ``L[i][k] * L[j][k]`` over ``k`` reads two rows of ``L``, so it gets these. Reverse
mode keeps what a loop has got: where ``L`` is another one for every such loop, as in a factorisation, that
would be as many matrices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rose_core.language.builder import Builder
from rose_core.language.ir import INDEX, LOOP, PARAM, Func, LoopSite, opcodes, operands
from rose_core.language.replay import copied
from rose_core.optimise.inline import Verbatim, stays
from rose_core.wasm.layout import is_memory

_MOST = 4
"""The most rows that are passed in place of an array."""


@dataclass(frozen=True, slots=True)
class _Body:
    """A body that gets rows after its other parameters."""

    func: Func
    kept: list[int]
    """The parameters that it still has, by number."""
    rows: list[tuple[int, int]]
    """For each row, which parameter it is of, and the one that is its index."""


def narrowed(f: Func) -> Func:
    """``f``, or a copy whose loops, and those in their bodies, get rows; other functions are left."""
    if LOOP not in opcodes(f) or stays(f):
        return f
    key = "narrowed", f.extent
    found = f.memo.get(key)
    if found is None:
        bodies: dict[int, _Body | Func] = {}
        changed = False
        for v, ins in enumerate(f.code):
            if ins[0] == LOOP:
                site = LoopSite(f, ins)
                body = narrowed(site.body)
                bodies[v] = _with_rows(body, site.spec.carries) or body
                changed |= bodies[v] is not site.body
        found = f.memo[key] = copied(f, lambda b, args: _Narrow(f, b, args, bodies)) if changed else f
    assert isinstance(found, Func)
    return found


class _Narrow(Verbatim):
    """Copies a function whose loops get rows."""

    def __init__(
        self, func: Func, b: Builder, args: Sequence[int], bodies: Mapping[int, _Body | Func]
    ) -> None:
        super().__init__(func, b, args)
        self.bodies = bodies

    def control_loop(self, v: int, ins: tuple[int, ...]) -> None:
        site = LoopSite(self.func, ins)
        state, args, test_args = ([self.env[a] for a in x] for x in (site.state, site.args, site.test_args))
        body = self.bodies[v]
        if isinstance(body, _Body):
            first = 1 + len(state)
            rows = [self.b.index(args[p - first], args[i - first]) for p, i in body.rows]
            args = [*(args[k - first] for k in body.kept if k >= first), *rows]
            body = body.func
        self.env[v] = self.b.loop(site.spec, self.env[site.count], body, state, args, site.test, test_args)


def _with_rows(body: Func, carries: int) -> _Body | None:
    """``body``, of so many leaves of state, with rows in place of the arrays of which it reads no more."""
    if stays(body) or INDEX not in opcodes(body):
        return None
    key = "with rows", carries, body.extent
    if key not in body.memo:
        rows = _rows(body, carries)
        body.memo[key] = _made(body, rows) if rows else None
    found = body.memo[key]
    assert found is None or isinstance(found, _Body)
    return found


def _rows(body: Func, carries: int) -> dict[int, list[int]]:
    """Parameters that are no state → the parameters that are the indices of all that is read of them."""
    code, types = body.code, body.types
    given = [v for v, ins in enumerate(code) if ins[0] == PARAM and ins[1] > carries]
    arrays = {v: code[v][1] for v in given if is_memory(types[v])}
    found: dict[int, list[int]] = {p: [] for p in arrays.values()}
    for ins in code:
        for x in operands(ins, body.blocks):
            if x not in arrays:
                continue
            i = ins[2] if ins[0] == INDEX and ins[1] == x else -1
            if i >= 0 and code[i][0] == PARAM and code[i][1] > carries:
                found[arrays[x]].append(code[i][1])
            else:
                found.pop(arrays[x], None)
                del arrays[x]
    results = {x for block in body.blocks for x in block.results}
    for x in results.intersection(arrays):
        found.pop(arrays[x], None)
    distinct = {p: list(dict.fromkeys(indices)) for p, indices in found.items()}
    return {p: indices for p, indices in distinct.items() if 0 < len(indices) <= _MOST}


def _made(body: Func, rows: Mapping[int, Sequence[int]]) -> _Body:
    copy = Func(body.name, body.param_types, body.ret)
    copy.effects = body.effects
    b = Builder(copy)
    kept = [k for k in range(len(body.params)) if k not in rows]
    args = [0] * len(body.params)
    for k in kept:
        args[k] = b.param(body.params[k])
    passed = [(p, i) for p, indices in rows.items() for i in indices]
    given = {(p, i): b.param(body.params[p].elem) for p, i in passed}  # type: ignore[attr-defined]
    copy.blocks[0].results = _Reading(body, b, args, given).run()
    return _Body(copy, kept, passed)


class _Reading(Verbatim):
    """Copies a body that gets rows."""

    def __init__(
        self, func: Func, b: Builder, args: Sequence[int], rows: Mapping[tuple[int, int], int]
    ) -> None:
        super().__init__(func, b, args)
        self.rows = rows

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        code = self.func.code
        if ins[0] == INDEX and code[ins[1]][0] == PARAM and ins[2] >= 0 and code[ins[2]][0] == PARAM:
            row = self.rows.get((code[ins[1]][1], code[ins[2]][1]))
            if row is not None:
                self.env[v] = row
                return
        super().structural(v, ins)
