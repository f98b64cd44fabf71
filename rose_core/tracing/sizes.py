"""Sizes that become known when a function is called: ``n = Size("n")``, ``Vec(n, Real)``."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import local
from typing import Any


def _like_int(operation: Callable[[Any, Any], Any]) -> Callable[[Size, Any], Any]:
    """An operation on a size and something else, which takes it as the int that it is now."""
    return lambda size, other: operation(size.__index__(), other)


def _reversed(operation: Callable[[Any, Any], Any]) -> Callable[[Size, Any], Any]:
    return lambda size, other: operation(other, size.__index__())


class Size:
    """A size that is known only while a function is made for it; then it can be used as an int."""

    def __init__(self, name: str = "n") -> None:
        self.name = name

    def __index__(self) -> int:
        value = _this_thread.sizes.get(self)
        if value is None:
            raise TypeError(f"the size {self.name} is known only in the body of a function that has it")
        return value

    def __float__(self) -> float:
        return float(self.__index__())

    def __bool__(self) -> bool:
        return self.__index__() != 0

    def __eq__(self, other: object) -> Any:
        if self is other or not isinstance(other, (int, float, Size)):
            return self is other or NotImplemented
        return self.__index__() == (other.__index__() if isinstance(other, Size) else other)

    def __hash__(self) -> int:
        return id(self)

    __lt__, __le__, __gt__, __ge__ = map(_like_int, (operator.lt, operator.le, operator.gt, operator.ge))
    __add__, __sub__, __mul__ = map(_like_int, (operator.add, operator.sub, operator.mul))
    __radd__, __rsub__, __rmul__ = map(_reversed, (operator.add, operator.sub, operator.mul))
    __truediv__, __floordiv__, __mod__ = map(_like_int, (operator.truediv, operator.floordiv, operator.mod))
    __rtruediv__, __rfloordiv__ = map(_reversed, (operator.truediv, operator.floordiv))
    __divmod__, __rdivmod__ = _like_int(divmod), _reversed(divmod)
    __lshift__, __rshift__ = map(_like_int, (operator.lshift, operator.rshift))
    __rlshift__, __rrshift__ = map(_reversed, (operator.lshift, operator.rshift))
    __and__, __or__, __xor__ = map(_like_int, (operator.and_, operator.or_, operator.xor))
    __rand__, __ror__, __rxor__ = map(_reversed, (operator.and_, operator.or_, operator.xor))
    __pos__ = __abs__ = __index__
    __pow__, __rpow__, __rmod__ = _like_int(operator.pow), *map(_reversed, (operator.pow, operator.mod))

    def __neg__(self) -> int:
        return -self.__index__()

    def __repr__(self) -> str:
        return self.name


class _Thread(local):
    def __init__(self) -> None:
        self.sizes: dict[Size, int] = {}
        """Those that are known now."""


_this_thread = _Thread()


@dataclass(frozen=True)
class OpenVec:
    """A vector type in which a size is not known yet, its own or one of its elements'."""

    index: object
    elem: object


@contextmanager
def known(sizes: Mapping[Size, int]) -> Iterator[None]:
    """Within it, these sizes have these values."""
    before = _this_thread.sizes
    _this_thread.sizes = {**before, **sizes}
    try:
        yield
    finally:
        _this_thread.sizes = before


def sizes_in(t: object) -> dict[Size, None]:
    """The sizes in a type as an author writes it that are not known now, in their order."""
    if isinstance(t, Size):
        return {} if t in _this_thread.sizes else {t: None}
    if isinstance(t, OpenVec):
        return sizes_in(t.index) | sizes_in(t.elem)
    if isinstance(t, dict):
        t = list(t.values())
    if isinstance(t, (list, tuple)):
        return {size: None for part in t for size in sizes_in(part)}
    return {}
