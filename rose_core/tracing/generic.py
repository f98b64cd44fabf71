"""Functions that are generic in sizes: made once for every set of sizes that they are called with.

So their loops know their bounds like any other function's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rose_core.errors import counted
from rose_core.language.types import Array, Struct
from rose_core.tracing.declare import describe, elements, fields_of, index_type
from rose_core.tracing.sizes import OpenVec, Size, known
from rose_core.tracing.symbols import Value
from rose_core.tracing.values import ordered

if TYPE_CHECKING:
    from rose_core.tracing.functions import Function


class Generic:
    """A function of which some sizes are not known yet; called, it finds them in the arguments."""

    def __init__(
        self,
        name: str,
        params: Sequence[object],
        sizes: Sequence[Size],
        make: Callable[[], Function],
        names: Sequence[str] = (),
        defaults: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        self.__name__ = name
        self.params = params
        """The parameters' types as the author wrote them."""
        self.sizes = sizes
        self.names, self.defaults = names, defaults
        """The parameters' names, and arguments that a call need not give."""
        self._make = make
        self._instances: dict[tuple[int, ...], Function] = {}
        self._jvp: Generic | None = None

    def _described(self) -> str:
        return f"the function {self.__name__}"

    def __repr__(self) -> str:
        return f"<fn {self.__name__} of any {', '.join(size.name for size in self.sizes)}>"

    def __call__(self, *args: object, **named: object) -> object:
        given = self.ordered(args, named)
        return self.at_args(given)(*given)

    def ordered(self, args: Sequence[object], named: Mapping[str, object]) -> Sequence[object]:
        """The arguments of a call, in which some may be given by name, in their order."""
        return ordered(self.__name__, self.names, self.defaults, args, named)

    def at(self, **sizes: int) -> Function:
        """The function at these sizes, given by name."""
        names = dict.fromkeys(size.name for size in self.sizes)
        if set(sizes) != set(names):
            raise TypeError(
                f"{self.__name__}.at: expected {', '.join(names)}, got {', '.join(sizes) or 'nothing'}"
            )
        proper = {name: index_type(size).size for name, size in sizes.items()}
        return self.instance({size: proper[size.name] for size in self.sizes})

    def instance(self, sizes: Mapping[Size, int]) -> Function:
        """The function at these sizes."""
        key = tuple(sizes[size] for size in self.sizes)
        if key not in self._instances:
            with known(sizes):
                made = self._make()
            self._instances[key] = made
            if self._jvp is not None:
                made.jvp = self._jvp.instance(sizes)
        return self._instances[key]

    def now(self) -> dict[Size, int]:
        """What its sizes are, while a function is made for them."""
        return {size: size.__index__() for size in self.sizes}

    def at_args(self, args: Sequence[object]) -> Function:
        """The function at the sizes that the arguments of a call have."""
        if len(args) != len(self.params):
            raise TypeError(f"{self.__name__} takes {counted(len(self.params), 'argument')}, got {len(args)}")
        found: dict[Size, int] = {}
        for k, (t, x) in enumerate(zip(self.params, args, strict=True)):
            self._infer(t, x, found, f"argument {k + 1} of {self.__name__}")
        for size in self.sizes:
            if size not in found:
                raise TypeError(
                    f"{self.__name__}: the arguments do not tell the size {size.name}; use .at({size.name}=…)"
                )
        return self.instance(found)

    def _infer(self, t: object, x: Any, found: dict[Size, int], what: str) -> None:
        """Find out sizes from ``x``, a value or a type, for a parameter of type ``t``."""
        if isinstance(x, Value):
            x = x._type
        if isinstance(t, OpenVec):
            elem: object
            if isinstance(x, Array):
                size, elem = x.size, x.elem
            elif (elems := elements(x)) is not None:
                size, elem = len(elems), elems[0] if elems else None
            else:
                return
            i = t.index
            if isinstance(i, Size) and i in {*self.sizes} and found.setdefault(i, size) != size:
                raise ValueError(f"{what}: {i.name} is {found[i]} elsewhere, and {size} here")
            self._infer(t.elem, elem, found, what)
        elif isinstance(t, dict):
            fields = x.fields if isinstance(x, Struct) else fields_of(x)
            if fields is not None:
                for name, field in t.items():
                    self._infer(field, fields.get(name), found, f"{what}.{name}")

    @property
    def jvp(self) -> Generic | None:
        """The custom derivative, generic in the same sizes; None where there is none."""
        return self._jvp

    @jvp.setter
    def jvp(self, rule: Generic) -> None:
        if not isinstance(rule, Generic) or set(rule.sizes) != set(self.sizes) or self._instances:
            raise TypeError(
                f"{self.__name__}.jvp: expected a function with the same sizes, set before {self.__name__} "
                f"is first called; got {describe(rule)}"
            )
        self._jvp = rule
