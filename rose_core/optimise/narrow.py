"""Rows in place of matrices: what a loop's body gets of an array of which each iteration reads the same rows.

    body(k, s, L, i, j) = s + L[i][k] * L[j][k]     →     body(k, s, x, y) = s + x[k] * y[k]

Reverse mode keeps what a loop has got: where ``L`` is another one for every such loop, as in a factorisation,
that would be as many matrices. What a function closes over is narrowed in the same way
(`tracing.functional`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rose_core.language.builder import Builder
from rose_core.language.ir import INDEX, LOOP, PARAM, Func, LoopSite, operands
from rose_core.language.queries import opcodes, remembered, remembered_for
from rose_core.language.replay import Verbatim, copied
from rose_core.language.types import is_memory
from rose_core.optimise.copies import stays
from rose_core.optimise.other_loops import OtherLoops

_MOST = 4
"""The most rows that are passed in place of an array."""


@dataclass(frozen=True, slots=True)
class Narrowed:
    """A function that gets rows after its other parameters."""

    func: Func
    kept: list[int]
    """The parameters that it still has, by number."""
    rows: list[tuple[int, int]]
    """For each row, which parameter it is of, and the one that is its index, or ``~i`` for the index i."""


def narrowed(f: Func) -> Func:
    """``f``, or a copy whose loops, and those in their bodies, get rows; other functions are left."""
    return f if LOOP not in opcodes(f) or stays(f) else _narrowed(f)


@remembered
def _narrowed(f: Func) -> Func:
    bodies: dict[int, Narrowed | Func] = {}
    changed = False
    for v, ins in enumerate(f.code):
        if ins[0] == LOOP:
            site = LoopSite(f, ins)
            body = narrowed(site.body)
            bodies[v] = _with_rows(body, site.spec.carries) or body
            changed |= bodies[v] is not site.body
    return copied(f, _Narrow, bodies) if changed else f


class _Narrow(OtherLoops):
    """Copies a function whose loops get rows."""

    def other_loop(
        self, v: int, site: LoopSite, body: Narrowed | Func, state: list[int], args: list[int]
    ) -> None:
        if isinstance(body, Narrowed):
            first = 1 + len(state)
            rows = [self.b.index(args[p - first], args[i - first]) for p, i in body.rows]
            args = [*(args[k - first] for k in body.kept if k >= first), *rows]
            body = body.func
        self.env[v] = self.with_body(site, body, state, args)


@remembered_for
def _with_rows(body: Func, carries: int) -> Narrowed | None:
    """``body``, of so many leaves of state, with rows in place of the arrays of which it reads no more."""
    if stays(body) or INDEX not in opcodes(body):
        return None
    rows = _rows(body, carries, False)
    return _made(body, rows) if rows else None


def narrowed_from(f: Func, first: int) -> Narrowed | None:
    """``f`` with rows or elements in place of arrays among its parameters from number ``first`` on."""
    rows = _rows(f, first - 1, True)
    return _made(f, rows) if rows and not stays(f) else None


def _rows(body: Func, carries: int, constants: bool) -> dict[int, list[int]]:
    """Parameters that are no state → the indices of all that is read of them, as in `Narrowed`."""
    code, types = body.code, body.types
    given = [v for v, ins in enumerate(code) if ins[0] == PARAM and ins[1] > carries]
    arrays = {v: code[v][1] for v in given if is_memory(types[v])}
    found: dict[int, list[int]] = {p: [] for p in arrays.values()}
    for ins in code:
        for x in operands(ins, body.blocks):
            if x not in arrays:
                continue
            i = _index(body, ins[2], constants) if ins[0] == INDEX and ins[1] == x else None
            if i is not None and (i < 0 or i > carries):
                found[arrays[x]].append(i)
            else:
                found.pop(arrays[x], None)
                del arrays[x]
    results = {x for block in body.blocks for x in block.results}
    for x in results.intersection(arrays):
        found.pop(arrays[x], None)
    distinct = {p: list(dict.fromkeys(indices)) for p, indices in found.items()}
    return {p: indices for p, indices in distinct.items() if 0 < len(indices) <= _MOST}


def _index(body: Func, i: int, constants: bool = True) -> int | None:
    """What an index is, as in `Narrowed`, if it is a parameter, or a constant."""
    if i < 0:
        return ~int(body.pool[~i][0]) if constants else None
    return body.code[i][1] if body.code[i][0] == PARAM else None


def _made(body: Func, rows: Mapping[int, Sequence[int]]) -> Narrowed:
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
    return Narrowed(copy, kept, passed)


class _Reading(Verbatim):
    """Copies a body that gets rows."""

    def __init__(
        self, func: Func, b: Builder, args: Sequence[int], rows: Mapping[tuple[int, int], int]
    ) -> None:
        super().__init__(func, b, args)
        self.rows = rows

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        if ins[0] == INDEX and self.func.code[ins[1]][0] == PARAM:
            i = _index(self.func, ins[2])
            row = self.rows.get((self.func.code[ins[1]][1], i)) if i is not None else None
            if row is not None:
                self.env[v] = row
                return
        super().structural(v, ins)
