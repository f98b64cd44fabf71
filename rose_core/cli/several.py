"""Several browsers at once, as pages wait more than they work."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Lock, Thread
from time import sleep
from typing import TYPE_CHECKING, TypeVar

from rose_core.cli.actions import STEP, StoppedError, stopped
from rose_core.cli.browser import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST = min(2 * (os.cpu_count() or 1), 4)
"""How many browsers there are at once: each takes memory of its own, more so where its page starts Python."""


def spread(
    items: Sequence[Item],
    act: Callable[[Browser, Item], Result],
    tell: Callable[[Item, Result], None],
    browser: Browser,
    program: str | None,
) -> None:
    """Do something with each item, in this browser or one of others beside it, and tell of it in their order.

    Playwright belongs to the thread that began it: each other browser has a thread of its own. Who stops the
    command stops this one, which then waits for the end of the others.
    """
    todo = iter(enumerate(items))
    results: dict[int, Result] = {}
    told = 0
    failures: list[BaseException] = []
    telling = Lock()

    def work(browser: Browser) -> None:
        nonlocal told
        while not stopped.is_set() and (taken := next(todo, None)):
            number, item = taken
            result = act(browser, item)
            with telling:
                results[number] = result
                while told in results:
                    tell(items[told], results.pop(told))
                    told += 1

    def help_out() -> None:
        try:
            with chromium(program) as other:
                work(other)
        except BaseException as error:
            failures.append(error)
            stopped.set()

    others = [Thread(target=help_out, daemon=True) for _ in range(min(MOST, len(items)) - 1)]
    for thread in others:
        thread.start()
    try:
        with suppress(StoppedError):  # of which somebody else tells why
            work(browser)
    except BaseException:
        stopped.set()
        raise
    finally:
        _join(others)
        stopped.clear()
    if failures:
        raise failures[0]


def _join(threads: Sequence[Thread]) -> None:
    """Wait for the end of these, also if somebody has enough of that: then they are told."""
    try:
        # `join` waits on if Ctrl-C comes just before the system begins to wait, or to another thread
        while any(thread.is_alive() for thread in threads):
            sleep(STEP / 1000)
    except BaseException:
        stopped.set()
        _join(threads)
        raise
