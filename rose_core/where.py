"""Notes that say which construct of a program went wrong, and on which of its author's lines."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

from rose_core import errors
from rose_core.functions import select
from rose_core.ops import by_name
from rose_core.trace import Trace, Var, current, lift
from rose_core.types import BOOL, REAL, fin

_HERE = str(Path(__file__).parent)
_NOTES = fin(2**31)


class Construct:
    """A construct that an author uses, such as ``root``, on the line where that happens."""

    def __init__(self, name: str) -> None:
        frame = sys._getframe(1)
        while frame.f_back and frame.f_code.co_filename.startswith(_HERE):
            frame = frame.f_back
        self.name = name
        self.place = f"{Path(frame.f_code.co_filename).name}, line {frame.f_lineno}"

    def note(self, complaint: str) -> int:
        """The number of the note that says what went wrong here."""
        return errors.note(f"{self.name}: {complaint} ({self.place})")

    def check(self, p: Any, x: Any, complaint: str) -> Var:
        """The Real ``x``, which is defined where ``p`` holds; elsewhere the complaint is the error."""
        trace: Trace = current()
        b = trace.builder
        number = b.const(self.note(complaint), _NOTES)
        (c,) = lift(trace, p, BOOL, self.name)
        (v,) = lift(trace, x, REAL, self.name)
        (v,) = lift(trace, select(Var(trace, c, BOOL), Var(trace, v, REAL), math.nan), REAL, self.name)
        return Var(trace, b.binary(by_name["defined"].code, v, number, REAL), REAL)
