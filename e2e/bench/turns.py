"""A turn of a contender in Python."""

from __future__ import annotations

import time
from collections.abc import Callable


def time_per_call(call: Callable[[], object], least: float) -> float:
    """Seconds, of as many calls as take `least` seconds or a little more."""
    start = time.perf_counter()
    count = 0
    while True:
        call()
        count += 1
        passed = time.perf_counter() - start
        if passed >= least:
            return passed / count
