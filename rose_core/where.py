"""Which construct of a program went wrong, and on which of its author's lines."""

from __future__ import annotations

import sys
from pathlib import Path

from rose_core import errors

_HERE = str(Path(__file__).parent)


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
