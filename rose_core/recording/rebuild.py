"""Functions that Python has traced, built again from their recordings.

A page's programs come as recordings, in which functions that differ in numbers are found to be one
(`recording.share`), and loops that were unrolled are found again (`recording.reroll`). A loop of Python
leaves as many copies as one of JavaScript, so what is compiled at home takes the same way.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Any

from rose_core.derivatives.expand import Expansion
from rose_core.errors import note
from rose_core.language.ir import Func
from rose_core.recording.record import Recording
from rose_core.recording.serialize import serialize


def expanded(func: Func, precise: bool = False) -> Func:
    """A function without derivatives left to be made, in which what is repeated is loops."""
    return Expansion(rebuilt(func), precise=precise).root


def rebuilt(func: Func) -> Func:
    """``func`` as it is built from its recording."""
    made = serialize([func])
    numbers = noted(made.ints, made.reals, made.notes, made.note_at, made.int_note_at)
    hosts = iter(made.opaque)

    def host(_: Func) -> Callable[..., list[Any]]:
        run = next(hosts).host
        assert run is not None
        return run

    program = {"types": made.types, "functions": made.functions, "root": made.numbers[func]}
    return Recording(program, *numbers, host, lambda text, _: note(text)).root


def noted(
    ints: Sequence[int],
    reals: Sequence[float],
    notes: Sequence[str],
    note_at: Sequence[int],
    int_note_at: Sequence[int],
) -> tuple[memoryview, list[float]]:
    """The numbers of a recording with those that its notes have here.

    ``note_at`` says which of ``reals`` are numbers of ``notes``, and ``int_note_at`` which of ``ints`` are
    such numbers plus 1.
    """
    rows, literals = array("i", ints), list(reals)
    for k in note_at:
        literals[k] = note(notes[int(literals[k])])
    for k in int_note_at:
        rows[k] = 1 + note(notes[rows[k] - 1])
    return memoryview(rows), literals
