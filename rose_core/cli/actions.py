"""What is done in a page by `page.js` and `use.js`, which tell when it has ended."""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Frame, TimeoutError

_HERE = Path(__file__).parent
_PARTS = [
    (_HERE / f"{name}.js").read_text("utf-8").strip().rstrip(";")
    for name in "page elements hands inputs together use".split()
]
_USE = f"Object.assign({', '.join(_PARTS)})"

PATIENCE = 120_000
"""Milliseconds for a page to open."""

LONGEST = 600_000
"""Milliseconds for everything that it compiles at once, or while it is used."""

WORD = 60_000
"""Milliseconds of that after which the author is told what is waited for."""

STEP = 30
"""Milliseconds between two looks whether that is over."""

BEAT = 1_000
"""Milliseconds between two looks whether a page still answers."""


class PageError(Exception):
    """What a page throws, or takes too long for."""


class StuckError(PageError):
    """A script that does not end."""


class StoppedError(Exception):
    """Nobody wants to know any more what a page does."""


stopped = Event()
"""Whether it is so: somebody has stopped the command, or it has failed on another page."""


_ends: dict[int, Any] = {}
"""What came of the actions that pages tell the end of, by number."""
_numbers = count()


def note_end(number: int, end: Any) -> None:
    _ends[number] = end


def done(frame: Frame, action: str) -> Any:
    """What an action of `page.js` or `use.js` gives; this ends however long the page takes."""
    number = next(_numbers)
    start = beat = now = monotonic()
    minutes = LONGEST // 60_000
    doing = {"warmUp": "its warmUp()", "use": "using it"}.get(action, "compiling")
    is_told = False
    _look(frame, f"{_USE}.begin('{action}', {number})")
    while number not in _ends and now < start + LONGEST / 1000:
        if stopped.is_set():
            raise StoppedError
        frame.page.wait_for_timeout(STEP)
        now = monotonic()
        if now > beat + BEAT / 1000:
            _look(frame)
            beat = monotonic()
        if not is_told and now > start + WORD / 1000:
            is_told = True
            place = urlsplit(frame.url).path
            print(
                f"  {place}: {doing} goes on; it is given up after {minutes} minutes",
                file=sys.stderr,
                flush=True,
            )
    if number not in _ends:
        raise PageError(f"{doing} has not ended after {minutes} minutes")
    end = _ends.pop(number)
    if "error" in end:
        raise PageError(end["error"])
    return end.get("value")


def _look(frame: Frame, expression: str = "") -> None:
    """Evaluate something, unless a script of the page does not end.

    For such a script, Playwright waits without end in all else: `evaluate`, and what is not true at once.
    """
    try:
        frame.wait_for_function(f"[{expression}]", timeout=PATIENCE)
    except TimeoutError:
        raise StuckError(f"a script in it has not ended after {PATIENCE // 60_000} minutes") from None
