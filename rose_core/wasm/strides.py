"""Numbers in memory, of one iteration or of two side by side: neighbours, or a step apart."""

from __future__ import annotations

from collections.abc import Callable

from rose_core.encode import LANE, LANES, SECOND_LANE, local_get, local_set

STEP = 8
"""Bytes of a number, which is how far neighbours are apart."""


def read(here: bytes, offset: int, step: int, count: int) -> bytes:
    """Code that reads the numbers of ``count`` iterations; ``here`` pushes the address of the first."""
    if step == STEP:
        return here + (LANES if count == 2 else LANE).load(offset)
    first = here + LANE.load(offset)
    return first if count == 1 else here + first + SECOND_LANE.load(offset + step)


def write(
    here: bytes, offset: int, step: int, value: bytes, count: int, new_local: Callable[[], int]
) -> list[bytes]:
    """Code that writes the numbers of ``count`` iterations, which ``value`` pushes."""
    if step == STEP or count == 1:
        return [here, value, (LANES if count == 2 else LANE).store(offset)]
    n = new_local()
    first = [value, local_set(n), here, local_get(n), LANE.store(offset)]
    return [*first, here, local_get(n), SECOND_LANE.store(offset + step)]
