"""What the compiler makes of a function, as text: for people who want to see it."""

from __future__ import annotations

from typing import NamedTuple

from rose_core.deep import deep_recursion
from rose_core.derivatives.expand import Expansion
from rose_core.language.ir import Func
from rose_core.language.text import show_program
from rose_core.recording.rebuild import expanded
from rose_core.tracing.functions import Function, closed
from rose_core.wasm.program import Program
from rose_core.wasm.wat import wat


class Inspection(NamedTuple):
    """A function as it was recorded, as a program without derivatives, and as WebAssembly."""

    recorded: str
    """With the functions that it calls, and derivatives by name; `language.text`."""
    ir: str
    """When the derivatives have been made."""
    wat: str
    """The text of the module, with the bytes of each instruction beside it; `wasm.wat`."""
    size: int
    """How many bytes the module has."""


def inspect(f: Function, precise: bool = False) -> Inspection:
    """What the compiler makes of ``f``, as text; ``precise`` as for `compile`.

    Raises:
        DerivativeError, SizeError: as `compile` does.
    """
    func = closed(f, "inspect")
    with deep_recursion():
        return _shown(func, expanded(func, precise))


def inspection_of(func: Func, precise: bool) -> Inspection:
    """`inspect`, for a function that is made of a recording."""
    with deep_recursion():
        return _shown(func, Expansion(func, precise=precise).root)


def _shown(func: Func, root: Func) -> Inspection:
    module = Program(root, "imported").bytes
    return Inspection(show_program(func), show_program(root, rules=False), wat(module), len(module))
