"""Sizes that become known when a function is called: ``n = Size("n")``, ``Vec(n, Real)``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass


class Size:
    """A size that is known only while a function is made for it."""

    def __init__(self, name: str = "n") -> None:
        self.name = name
        self.value: int | None = None

    def __index__(self) -> int:
        if self.value is None:
            raise TypeError(f"the size {self.name} is known only in the body of a function that has it")
        return self.value

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True)
class OpenVec:
    """A vector type in which a size is not known yet, its own or one of its elements'."""

    index: object
    elem: object


@contextmanager
def known(sizes: Mapping[Size, int]) -> Iterator[None]:
    """Within it, these sizes have these values."""
    before = {size: size.value for size in sizes}
    for size, value in sizes.items():
        size.value = value
    try:
        yield
    finally:
        for size, old in before.items():
            size.value = old


def sizes_in(t: object) -> dict[Size, None]:
    """The sizes in a type as an author writes it that are not known now, in their order."""
    if isinstance(t, Size):
        return {t: None} if t.value is None else {}
    if isinstance(t, OpenVec):
        return sizes_in(t.index) | sizes_in(t.elem)
    if isinstance(t, dict):
        t = list(t.values())
    if isinstance(t, (list, tuple)):
        return {size: None for part in t for size in sizes_in(part)}
    return {}
