"""Which construct of a program went wrong, and on which of its author's lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rose_core import errors

_HERE = f"{Path(__file__).parent.parent}{os.sep}"


_PYTHON = f"{Path(os.__file__).parent}{os.sep}"


def is_author(file: str) -> bool:
    """Whether a source file is neither Rose's own nor part of Python, beside which other packages may be."""
    is_python = file.startswith(_PYTHON) and "site-packages" not in file
    return not is_python and not file.startswith((_HERE, "<frozen "))


class Construct:
    """A construct that an author uses, such as ``root``, on the line where that happens."""

    note: Callable[[str], int]
    """The number of the note that says what went wrong here, from the complaint."""

    def __init__(self, name: str) -> None:
        self.name = name
        if _elsewhere:
            self.note = _elsewhere[-1]
            return
        frame = sys._getframe(1)
        while frame.f_back and not is_author(frame.f_code.co_filename):
            frame = frame.f_back
        place = f"{Path(frame.f_code.co_filename).name}, line {frame.f_lineno}"
        self.note = lambda complaint: errors.note(f"{name}: {complaint} ({place})")


@contextmanager
def elsewhere(number: Callable[[str], int]) -> Iterator[None]:
    """Here the author is not in Python: the numbers of notes come from ``number``, given the complaints."""
    _elsewhere.append(number)
    try:
        yield
    finally:
        _elsewhere.pop()


_elsewhere: list[Callable[[str], int]] = []
