"""What may go wrong while a program runs, in the same words in every engine.

A compiled program tells its host a code and two numbers, through the function `FAIL` that it imports.
Codes are those of `TEXTS`, and from `NOTED` on those of notes, which say what the author of the program
used, and where. The JavaScript bridge's texts are made from these by `rose_core.export`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock

FAIL = "fail"
"""The name of the import ``(code: i32, x: f64, y: f64)``, which does not come back."""


class RunError(RuntimeError):
    """A program came to something that has no value."""


ENDLESS, MEMORY = range(2)

TEXTS = [
    "a loop did not end within its limit of {x} iterations",
    "there is no memory for what a loop keeps: {x} bytes more are needed",
]
"""By code; ``{x}`` and ``{y}`` are the numbers."""

NOTED = len(TEXTS)
"""The code of the first note."""

OUT_OF_RANGE = "{x} is out of range, expected a whole number from 0 to {y}"
NO_INDEX = "{x} cannot be an index, expected a whole number from 0 to {y}"
NO_COUNT = "it cannot run {x} times, expected a whole number from 0 to {y}"

Notes = Sequence[str] | Mapping[int, str]
"""What a program says of values that are not defined, by number; ``{x}`` and ``{y}`` as in `TEXTS`."""

notes: list[str] = []
"""What all programs of this process say."""

_numbers: dict[str, int] = {}
_LOCK = Lock()


def note(text: str) -> int:
    """The number of a note."""
    with _LOCK:
        number = _numbers.setdefault(text, len(notes))
        if number == len(notes):
            notes.append(text)
    return number


def counted(n: int, noun: str) -> str:
    """So many of something, in words."""
    return f"{n} {noun}" + ("" if n == 1 else "s")


def failure(code: int, x: float, y: float, said: Notes = notes) -> RunError:
    """The error to raise, of a program that has these notes."""
    text = TEXTS[code] if code < NOTED else said[code - NOTED]
    return RunError(text.replace("{x}", _number(x)).replace("{y}", _number(y)))


def _number(x: float) -> str:
    """A number as JavaScript writes it, if it is not extreme."""
    if x != x:
        return "NaN"
    if x in (float("inf"), float("-inf")):
        return "Infinity" if x > 0 else "-Infinity"
    return str(int(x)) if x == int(x) and abs(x) < 1e21 else repr(float(x))
