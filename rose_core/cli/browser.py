"""The Chromium in which pages are frozen.

Playwright drives it, an optional dependency: ``pip install rose_core[freeze]``.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rose_core.cli.errors import CommandError

try:
    from playwright.sync_api import Browser, Error, Playwright, sync_playwright
except ImportError:
    raise CommandError("freezing takes Playwright: pip install 'rose_core[freeze]'") from None

NAMES = "chromium chromium-browser google-chrome google-chrome-stable".split()

FINGERS = "--touch-events=enabled"
"""With which pages can hear of fingers, as on telephones; they hear of the mouse as well."""


@contextmanager
def _playwright() -> Iterator[Playwright]:
    try:
        with sync_playwright() as playwright:
            yield playwright
    except RuntimeError as error:
        # who is stopped by Ctrl-C between two turns of its loop cannot end the loop as it should
        if isinstance(error.__context__, KeyboardInterrupt):
            raise error.__context__ from None
        raise


@contextmanager
def chromium(program: str | None) -> Iterator[Browser]:
    flags = ["--disable-dev-shm-usage", FINGERS]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        flags.append("--no-sandbox")  # with which Chromium does not run as root
    with _playwright() as playwright:
        own = playwright.chromium.executable_path
        named = program or os.environ.get("CHROMIUM")
        found = [named] if named else [own if Path(own).exists() else None, *map(shutil.which, NAMES)]
        path = next(filter(None, found), None)
        if path is None:
            raise CommandError("there is no Chromium; run `playwright install chromium`, or use --browser")
        try:
            # a browser that ended first, at Ctrl-C, would make an error of it
            browser = playwright.chromium.launch(executable_path=path, args=flags, handle_sigint=False)
        except Error as error:
            raise CommandError(f"{path} does not start: {error.message.splitlines()[0]}") from None
        try:
            yield browser
        except Error:
            if browser.is_connected():
                raise
            raise CommandError(f"{path} ended while it was in use, perhaps for want of memory") from None
        browser.close()
