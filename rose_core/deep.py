"""Recursion as deep as a program's call chains.

The passes follow calls by recursion, and authors may chain thousands. Frames of Python code take no
space on the machine's stack, so Python's limit can be lifted while they run. That is true of functions and
methods that are called by name and position: not inside of the making of an object, or of a generator, nor
by ``f(*args)``. Neither is it true of the freeing of an object that frees another; so what calls goes before
what it calls, or is `Chained`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any, ClassVar


@contextmanager
def deep_recursion(deepest: int = 1_000_000) -> Iterator[None]:
    """Lift the limit on recursion, and set it back: one thread after another, as all have the same."""
    with _LOCK:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, deepest))
        try:
            yield
        finally:
            sys.setrecursionlimit(limit)


_LOCK = RLock()


class Chained:
    """What is freed before what it has, and not around that, of which there may be long chains."""

    __slots__ = ()
    _left: ClassVar[list[object]] = []
    """What those that were freed had; while there is any, someone is freeing that."""

    def give_up(self) -> object:
        """What it has that may have another one of its kind; it does not have that any more."""
        raise NotImplementedError

    def __del__(self) -> None:
        left = self._left
        if left:
            left.append(self.give_up())
            return
        left += None, self.give_up()
        while len(left) > 1:
            left.pop()
        left.clear()


def empty(known: dict[Any, Any]) -> None:
    """Remove all from a dict in which what calls was put after what it calls."""
    while known:
        known.popitem()
