"""Pages in headless Chromium: what they compile, and what they load when that is frozen.

Playwright drives it, an optional dependency: ``pip install rose_core[freeze]``.
"""

from __future__ import annotations

import base64
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rose_core.cli.artifact import Artifact
from rose_core.cli.errors import CommandError

try:
    from playwright.sync_api import Browser, BrowserContext, Error, Page, Response, sync_playwright
except ImportError:
    raise CommandError("freezing takes Playwright: pip install 'rose_core[freeze]'") from None

INDEX = "rose.frozen.json"
USE = (Path(__file__).parent / "use.js").read_text()
NAMES = "chromium chromium-browser google-chrome google-chrome-stable".split()
PATIENCE = 120_000
"""Milliseconds for everything that one page does at once."""


@dataclass
class Visit:
    """What was seen on a page."""

    artifacts: list[Artifact] = field(default_factory=list)
    indices: set[str] = field(default_factory=set)
    """Addresses of the indices in which it looked for what it compiles."""
    loaded: set[str] = field(default_factory=set)
    """Addresses that were answered."""
    errors: list[str] = field(default_factory=list)
    started_python: bool = False


@contextmanager
def chromium(program: str | None) -> Iterator[Browser]:
    flags = ["--disable-dev-shm-usage"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        flags.append("--no-sandbox")  # with which Chromium does not run as root
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
        named = program or os.environ.get("CHROMIUM")
        found = [named] if named else [own if Path(own).exists() else None, *map(shutil.which, NAMES)]
        path = next(filter(None, found), None)
        if path is None:
            raise CommandError("there is no Chromium; run `playwright install chromium`, or use --browser")
        try:
            browser = playwright.chromium.launch(executable_path=path, args=flags)
        except Error as error:
            raise CommandError(f"{path} does not start: {error.message.splitlines()[0]}") from None
        yield browser
        browser.close()


def reader(browser: Browser, sees_frozen: bool) -> BrowserContext:
    """Somebody who visits pages for the first time, and for whom nothing is frozen if so wished."""
    context = browser.new_context(service_workers="block")
    if not sees_frozen:
        context.route(f"**/{INDEX}", lambda route: route.fulfill(json={}))
    context.add_init_script(_do("watch"))
    return context


def use(context: BrowserContext, address: str) -> Visit:
    """Open a page, use it as a reader does, and collect what it compiles."""
    visit = Visit()
    page = context.new_page()
    _note(page, visit)
    page.expose_function("roseProblem", lambda text: visit.errors.append(text))
    try:
        _open(page, address)
        if not page.evaluate(_do("warmUp")):
            page.evaluate(_do("use"))
        page.evaluate(_do("settled"))
        found = page.evaluate(_do("found"))
    except Error as error:
        visit.errors.append(error.message.splitlines()[0])
    else:
        visit.indices = set(found["indices"])
        visit.artifacts = [Artifact(key, base64.b64decode(data)) for key, data in found["files"]]
        # what a page does not catch has been told with its place
        visit.errors += [text for text in found["errors"] if not any(text in error for error in visit.errors)]
    page.close()
    return visit


def look(browser: Browser, address: str) -> Visit:
    """Open a page for the first time, and see what it loads."""
    visit = Visit()
    context = reader(browser, sees_frozen=True)
    page = context.new_page()
    _note(page, visit)
    try:
        _open(page, address)
        visit.started_python = page.evaluate("roseWork.started")
    except Error as error:
        visit.errors.append(error.message.splitlines()[0])
    context.close()
    return visit


def _do(action: str) -> str:
    return f"{USE.strip().rstrip(';')}.{action}()"


def _open(page: Page, address: str) -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(address, wait_until="load")
    page.evaluate(_do("settled"))


def _note(page: Page, visit: Visit) -> None:
    def answered(response: Response) -> None:
        if response.ok:
            visit.loaded.add(response.url)

    page.on("response", answered)
