"""Recursion as deep as a program's call chains.

The passes follow calls by recursion, and authors may chain thousands. Frames of Python code take no
space on the machine's stack, so Python's limit can be lifted while they run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Lift the limit on recursion, and set it back."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 1_000_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
