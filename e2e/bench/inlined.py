"""An ablation of the compiler: every call in line before anything is differentiated.

The paper's question was what functions that stay functions are worth, to its compiler and to engines. So here
functions of the same structure are not shared, rows of calls do not become loops, and a call is replaced
by the instructions of what it calls. What runs under a condition or in turns stays a function, as it must.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from unittest.mock import patch

from rose_core import record
from rose_core.builder import Builder
from rose_core.ir import VJP, Func
from rose_core.replay import Replay
from rose_core.share import Entry, Instance, share


@contextmanager
def as_written() -> Iterator[None]:
    """Recordings that are read meanwhile keep the functions and the calls that were recorded."""

    def alone(entries: Sequence[Entry], _: set[int]) -> dict[int, Instance]:
        return share(entries, {entry.number for entry in entries})

    with patch.object(record, "share", alone), patch.object(record._Body, "_plan", lambda *_: None):
        yield


def inlined(f: Func, done: dict[Func, Func]) -> Func:
    """``f`` without calls, but for functions that stay functions."""
    found = done.get(f)
    if found is None:
        found = f
        if not stays(f):
            found = Func(f.name, f.param_types, f.ret)
            b = Builder(found)
            found.blocks[0].results = _Inlining(f, b, [b.param(t) for t in f.params], done).run()
            found.param_names, found.effects, found.remat = f.param_names, f.effects, f.remat
        done[f] = found
    return found


def stays(f: Func) -> bool:
    """Whether it is the host's, has a derivative of its own, or is yet to be made."""
    return bool(f.host or f.jvp or f.origin or f.instance)


class _Inlining(Replay):
    def __init__(self, func: Func, b: Builder, args: Sequence[int], done: dict[Func, Func]) -> None:
        super().__init__(func, b, args)
        self.done = done
        self.results: dict[int, list[int]] = {}
        """What a call that is in line gives."""

    def function(self, f: Func) -> Func:
        return inlined(f, self.done)

    def call(self, v: int, callee: Func, args: Sequence[int]) -> None:
        if stays(callee):
            super().call(v, callee, args)
        else:
            given = [self.env[a] for a in args]
            self.results[v] = _Inlining(callee, self.b, given, self.done).run()

    def get(self, v: int, of: int, k: int) -> None:
        if of in self.results:
            self.env[v] = self.results[of][k]
        else:
            super().get(v, of, k)

    def derivative(self, v: int, ins: tuple[int, ...]) -> None:
        operands = [self.env[x] for x in ins[2:]]
        if ins[0] == VJP:
            self.env[v] = self.b.vjp(self.function(self.func.callees[ins[1]]), operands)
        else:
            self.env[v] = self.b.pull(self.env[ins[1]], operands)
