"""Rows that a side of a choice reads: it gets the array and the indices where the choice gets the array, too.

    cond(p, f, (a, a[i]), …)     →     cond(p, f', (a, i), …)

A row is a place in its array. A side that gets both, and changes the array, would have to change a copy, as
long as the row may still be read. A side that takes the row from the array reads what it needs of it before
it changes that, and where the choice is not taken, nothing is read. The same goes for places in accumulators:
what adds to such a place and to the whole is known to add to the one accumulator.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from rose_core.language.builder import Builder
from rose_core.language.ir import COND, INDEX, REF_INDEX, CondSite, Func
from rose_core.language.queries import opcodes
from rose_core.language.replay import Replay, copied
from rose_core.language.types import Ref, Type, has_tape, is_memory

Path = tuple[int, ...]
"""An array and the indices that lead from it to a row, as numbers of a side's arguments."""


def sunk(f: Func) -> Func:
    """``f``, whose derivatives are made, or a copy in which the sides of choices take rows by themselves."""
    if COND in opcodes(f) and any(ins[0] == COND and _has_rows(f, ins) for ins in f.code):
        return copied(f, _Sinking)
    return f


def _has_rows(f: Func, ins: tuple[int, ...]) -> bool:
    args = {a for side in CondSite(f, ins).args for a in side}
    return any(_path(f, a, args) for a in args)


def _path(f: Func, row: int, given: Container[int]) -> Path | None:
    """The array among ``given`` that ``row`` is a row of, and the indices, from the outermost in."""
    indices: list[int] = []
    v = row
    while v >= 0 and f.code[v][0] in (INDEX, REF_INDEX) and is_memory(f.types[v]):
        indices.append(f.code[v][2])
        v = f.code[v][1]
        if v in given and not has_tape(f.type_of(v)):
            return v, *reversed(indices)
    return None


class _Sinking(Replay):
    """Copies a function whose choices give paths in place of rows."""

    def cond(self, v: int, ins: tuple[int, ...]) -> None:
        site = CondSite(self.func, ins)
        given = [[self.env[a] for a in args] for args in site.args]
        both = {a for args in given for a in args}
        (f, f_args), (g, g_args) = (
            self._side(side, args, both) for side, args in zip(site.functions, given, strict=True)
        )
        self.env[v] = self.b.cond(self.env[site.p], f, f_args, g, g_args)

    def _side(self, side: Func, given: Sequence[int], both: Container[int]) -> tuple[Func, list[int]]:
        """A side with paths in place of rows, and what it is given then."""
        paths = [_path(self.b.func, a, both) for a in given]
        if not any(paths):
            return side, list(given)
        args = [a for a, path in zip(given, paths, strict=True) if path is None]
        whole = {*args}
        args += dict.fromkeys(x for path in paths if path for x in path if x not in whole)
        number = {a: k for k, a in enumerate(args)}
        means = tuple(tuple(number[x] for x in path or (a,)) for a, path in zip(given, paths, strict=True))
        types = tuple(self.b.func.type_of(a) for a in args)
        key = "sunk", means, types
        found = side.memo.get(key)
        if found is None:
            found = side.memo[key] = _reading(side, means, types)
        assert isinstance(found, Func)
        return found, args


def _reading(side: Func, means: Sequence[Path], params: Sequence[Type]) -> Func:
    """``side``, which finds its arguments by these paths from arguments of these types."""
    copy = Func(side.name, side.param_types, side.ret)
    copy.effects = side.effects
    b = Builder(copy)
    given = [b.param(t) for t in params]
    args = []
    for array, *indices in means:
        v = given[array]
        part = b.ref_index if isinstance(params[array], Ref) else b.index
        for i in indices:
            v = part(v, given[i])
        args.append(v)
    copy.blocks[0].results = _Sinking(side, b, args).run()
    return copy
