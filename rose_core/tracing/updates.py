"""Updates: the vectors that differ from another at one place, by its name ``v.at[i]``."""

from __future__ import annotations

from rose_core.language.types import Array
from rose_core.tracing.declare import describe
from rose_core.tracing.elementwise import combined
from rose_core.tracing.lifting import symbolic
from rose_core.tracing.operations import operation
from rose_core.tracing.symbols import VecValue

_add = operation("add")


class Updates:
    """What ``v.at`` gives: at one element of ``v``, or further down, there can be a new value."""

    def __init__(self, vector: VecValue, path: tuple[object, ...] = ()) -> None:
        self._vector = vector
        self._path = path

    def __getitem__(self, i: object) -> Updates:
        return Updates(self._vector, (*self._path, *(i if isinstance(i, tuple) else (i,))))

    def set(self, x: object) -> VecValue:
        """The whole vector with ``x`` at this place."""
        v, i, rest = self._split()
        return v.set(i, rest.set(x) if rest else x)

    def add(self, x: object) -> VecValue:
        """The whole vector with ``x``, of the type of what is at this place, added to that."""
        v, i, rest = self._split()
        if rest:
            return v.set(i, rest.add(x))
        assert isinstance(v._type, Array)
        t = v._type.elem
        return v.set(i, combined(t, _add, v[i], symbolic(x, t, "add")))

    def _split(self) -> tuple[VecValue, object, Updates | None]:
        """The vector, the index of an element, and the place in that, if it is to be there."""
        if not self._path:
            raise TypeError("at: expected an index, as in v.at[i].set(x)")
        i, *rest = self._path
        if not rest:
            return self._vector, i, None
        inner = self._vector[i]
        if not isinstance(inner, VecValue):
            raise TypeError(f"at: {describe(inner)} has no elements")
        return self._vector, i, Updates(inner, tuple(rest))
