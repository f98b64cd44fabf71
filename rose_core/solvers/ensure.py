"""Values that are defined only where something holds, which a program finds out when it runs."""

from __future__ import annotations

import math
from typing import Any

from rose_core.language.ops import by_name
from rose_core.language.types import BOOL, REAL
from rose_core.tracing.constructs import select
from rose_core.tracing.lifting import lift
from rose_core.tracing.symbols import Var
from rose_core.tracing.trace import NOTES, Trace, current
from rose_core.tracing.where import Construct


def ensure(here: Construct, p: Any, x: Any, complaint: str) -> Var:
    """The Real ``x``, which is defined where ``p`` holds; elsewhere the complaint is the error."""
    trace: Trace = current()
    b = trace.builder
    number = b.const(here.note(complaint), NOTES)
    (c,) = lift(trace, p, BOOL, here.name)
    (v,) = lift(trace, x, REAL, here.name)
    (v,) = lift(trace, select(Var(trace, c, BOOL), Var(trace, v, REAL), math.nan), REAL, here.name)
    return Var(trace, b.binary(by_name["defined"].code, v, number, REAL), REAL)
