"""Recursion as deep as a program's call chains.

The passes follow calls by recursion, and authors may chain thousands. Frames of Python code take no
space on the machine's stack, so Python's limit can be lifted while they run. That is true of functions and
methods that are called by name and position: not inside of the making of an object, nor by ``f(*args)``.
Neither is it true of the freeing of an object that frees another; so what calls goes before what it calls.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any


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


def empty(known: dict[Any, Any]) -> None:
    """Remove all from a dict in which what calls was put after what it calls."""
    while known:
        known.popitem()
