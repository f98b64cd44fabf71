"""What may go wrong while a program runs, in the same words in every engine.

A compiled program tells its host a code and two numbers, through the function `FAIL` that it imports.
The JavaScript bridge's texts are made from these by `rose_core.export`.
"""

from __future__ import annotations

FAIL = "fail"
"""The name of the import ``(code: i32, x: f64, y: f64)``, which does not come back."""


class RunError(RuntimeError):
    """A program came to something that has no value."""


OUT_OF_RANGE, NO_INDEX, NO_COUNT, ENDLESS, MEMORY, UNDEFINED = range(6)

TEXTS = [
    "an index is out of range: {x}, expected a whole number from 0 to {y}",
    "a number cannot be an index: {x}, expected a whole number from 0 to {y}",
    "a loop cannot turn {x} times, expected a whole number from 0 to {y}",
    "a loop did not end within its limit of {x} turns",
    "there is no memory for what a loop keeps: {x} bytes more are needed",
    "{note}",
]
"""By code; ``{x}`` and ``{y}`` are the numbers, and ``{note}`` is the note of number ``x``."""

notes: list[str] = []
"""What programs say of values that are not defined, by number."""


def note(text: str) -> int:
    """The number of a note."""
    if text not in notes:
        notes.append(text)
    return notes.index(text)


def failure(code: int, x: float, y: float) -> RunError:
    """The error to raise."""
    if code == UNDEFINED:
        # a program that is compiled for a page has its notes there
        return RunError(notes[int(x)] if x < len(notes) else TEXTS[code])
    return RunError(TEXTS[code].format(x=_number(x), y=_number(y)))


def _number(x: float) -> str:
    """A number as JavaScript writes it, if it is not extreme."""
    if x != x:
        return "NaN"
    if x in (float("inf"), float("-inf")):
        return "Infinity" if x > 0 else "-Infinity"
    return str(int(x)) if x == int(x) and abs(x) < 1e21 else repr(float(x))
