"""Functions around functions, so that they fit where another signature is wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rose_core.language.builder import Builder
from rose_core.language.ir import Func
from rose_core.language.replay import Replay
from rose_core.language.types import UNIT, Type

Ids = list[int]


def adapted(
    f: Func,
    params: Sequence[Type],
    args: Callable[[Builder, Ids], Ids] = lambda b, ids: ids,
    results: Callable[[Builder, Ids], Ids] = lambda b, ids: ids,
) -> Func:
    """A function with these parameters that does what ``f`` does.

    ``args`` gives the arguments of ``f`` from the parameters, ``results`` the results from those of ``f``.
    """
    func = Func(f.name, [], UNIT)
    b = Builder(func)
    passed = args(b, [b.param(t) for t in params])
    func.blocks[0].results = results(b, inlined(b, f, passed))
    func.effects = f.effects
    return func


def inlined(b: Builder, f: Func, args: Sequence[int]) -> Ids:
    """The results of ``f``, whose instructions are put into ``b``."""
    if f.host is None:
        return Replay(f, b, args).run()
    call = b.call(f, args)
    return [b.get(call, k) for k in range(len(f.result_types))]
