"""A function under construction: where what is done with symbolic values is written down.

Values of the functions around it become parameters of it, and what a program has to find out when it runs,
such as whether a number is an index, becomes an instruction that checks it.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import local

from rose_core.language import ops
from rose_core.language.builder import Builder
from rose_core.language.ir import Func
from rose_core.language.types import LARGEST, Fin, fin
from rose_core.tracing.where import Construct

ANY = fin(LARGEST)
"""The type of whole numbers that are not known to be indices of some type."""

NOTES = ANY
"""The type of the number of a note."""


class Trace:
    """A function under construction; ``with`` it, it is the one that is being defined."""

    def __init__(self, func: Func, parent: Trace | None = None) -> None:
        self.func = func
        self.builder = Builder(func)
        self.parent = parent
        """The trace of the function in whose body this one is defined, if it may use what is in that."""
        self.captures: list[tuple[Trace, int]] = []
        """Values of enclosing functions that this one uses: they are passed as further parameters."""
        self.tangents: dict[int, int] = {}
        """In the rule of a `functional`: the tangents of what the given functions use from around them."""
        self._captured: dict[tuple[Trace, int], int] = {}
        self.closed = False
        self.is_part = False
        """Whether it is a part of an author's function: a loop, or a side of a choice."""

    def __enter__(self) -> Trace:
        this_thread.traces.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        this_thread.traces.pop()
        self.closed = True

    @property
    def may_be_idle(self) -> bool:
        """Whether what is being traced is in a side of a choice, or in a loop, that may never run."""
        b = self.builder
        return self.is_part or any(not b.blocks[k].trips for k in b.open[1:])

    def reaches(self, owner: Trace) -> bool:
        """Whether this function is ``owner``'s or is defined, at some depth, in the body of that."""
        return self is owner or (self.parent is not None and self.parent.reaches(owner))

    def capture(self, owner: Trace, v: int) -> int:
        """The id here of the value ``v`` of an enclosing function."""
        if v < 0:
            return self.builder.const(*owner.builder.pool[~v])
        found = self._captured.get((owner, v))
        if found is None:
            found = self._captured[owner, v] = self.builder.param(owner.func.types[v])
            self.captures.append((owner, v))
        return found

    def check(self, op: str, v: int, t: Fin, name: str, complaint: str) -> int:
        """The id of ``v`` as a ``t``; where it is none, the complaint of the construct is the error."""
        b = self.builder
        note = b.const(Construct(name).note(complaint), NOTES)
        return b.ternary(ops.code(op), v, b.const(t.size, ANY), note, t)


class _Thread(local):
    def __init__(self) -> None:
        self.traces: list[Trace] = []
        """The functions being defined, each in the body of the one before."""


this_thread = _Thread()


def current() -> Trace:
    """The function being defined right now."""
    if not this_thread.traces:
        raise RuntimeError(
            "this works only in the body of an fn; to call f on numbers, use compile(f) or interp(f)"
        )
    return this_thread.traces[-1]


def check_scope(owner: Trace, block: int, what: Callable[[], str]) -> None:
    """Raise unless a value of ``block`` of ``owner``, which ``what`` describes, may be used now."""
    is_over = owner.closed or not current().reaches(owner)
    if is_over and not owner.is_part:
        raise RuntimeError(
            f"{what()} of the function {owner.func.name} was used outside of it; "
            "pass it as an argument instead"
        )
    if is_over or block not in owner.builder.open:
        raise RuntimeError(
            f"{what()} was used outside of the loop or the side of a cond it belongs to; "
            "outside, use what that returns"
        )
