"""What the functions of a program have in common when they are lowered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from rose_core.language.ir import Func
from rose_core.wasm.given import Given
from rose_core.wasm.layout import Convention, HostConvention
from rose_core.wasm.reuse import Overwriting
from rose_core.wasm.runtime import Runtime

if TYPE_CHECKING:
    from rose_core.wasm.enclosed import Enclosed


class Codes(NamedTuple):
    """The code of operations, after their operands."""

    single: Sequence[bytes]
    """Of each op of the table."""
    together: Mapping[int, bytes] = {}
    """Opcode → the code that computes what it does and what goes with that (`needs.together`)."""
    in_lanes: Mapping[bytes, bytes] = {}
    """Code that calls a function → code that calls it for two numbers, in lanes."""


Callees = dict[Func, tuple[int, "Convention | HostConvention | Enclosed"]]
"""Function → its index in the module, and how it is called; -1 for one that is written in another."""


@dataclass(frozen=True, slots=True)
class Context:
    """The program around a function."""

    codes: Codes
    callees: Callees = field(default_factory=dict)
    zeros: int = 0
    """The address of zeros for constant arrays."""
    runtime: Runtime = field(default_factory=lambda: Runtime(0, 0))
    """The functions that the compiler adds."""
    overwriting: Overwriting = field(default_factory=lambda: Overwriting([]))
    """The functions that may overwrite their parameters."""
    given: Given = field(default_factory=lambda: Given([]))
    """Of the parameters of functions, which accumulators may be parts of one."""
