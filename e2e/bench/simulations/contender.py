"""What a library for Python brings to a contest of simulations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Contender(NamedTuple):
    gradient: Callable[[], object]
    """Computes loss and gradient, and has done it when it returns."""
    found: Callable[[], dict[str, Any]]
    """What was computed last: ``loss``, and ``grad`` as what it is the gradient of, in lists."""
