"""An ablation of the compiler: every call in line before anything is differentiated.

The paper's question was what functions that stay functions are worth, to its compiler and to engines. So here
functions of the same structure are not shared, rows of calls do not become loops, and a call is replaced
by the instructions of what it calls. What runs under a condition or in turns stays a function, as it must.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from unittest.mock import patch

from rose_core.language.ir import Func
from rose_core.optimise.copies import stays
from rose_core.optimise.inline import InLine
from rose_core.recording import body, record
from rose_core.recording.share import Entry, Instance, share


@contextmanager
def as_written() -> Iterator[None]:
    """Recordings that are read meanwhile keep the functions and the calls that were recorded."""

    def alone(entries: Sequence[Entry], _: set[int]) -> dict[int, Instance]:
        return share(entries, {entry.number for entry in entries})

    with patch.object(record, "share", alone), patch.object(body.Body, "_plan", lambda *_: None):
        yield


def inlined(f: Func) -> Func:
    """``f`` without calls, but for functions that stay functions."""
    return InLine(lambda g: not stays(g)).of(f)
