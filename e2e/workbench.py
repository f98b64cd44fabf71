"""The page of an explorable, as its tests in Chromium have it, and what stands on its workbench."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, Locator, Page

from e2e.conftest import watch

Opened = tuple[Page, list[str]]
"""A page that several tests share, and what has gone wrong on it so far."""


@contextmanager
def opening(browser: Browser, address: str, **options: Any) -> Iterator[Opened]:
    """Open a page, in a large window; the options are Playwright's for a context."""
    problems: list[str] = []
    context = browser.new_context(viewport={"width": 1440, "height": 900}, **options)
    watch(context, problems)
    page = context.new_page()
    page.goto(address)
    yield page, problems
    context.close()


def shown(page: Page, name: str) -> Locator:
    """Where the workbench shows a number."""
    return page.locator(f".workbench [data-show={name}]").first


def button(page: Page, name: str) -> Locator:
    return page.locator(".workbench").get_by_role("button", name=name, exact=True)


def slider(page: Page, name: str) -> Locator:
    return page.get_by_role("slider", name=name)


def handle(page: Page, name: str) -> Locator:
    """What can be dragged in a picture."""
    return page.get_by_label(name, exact=True)


def be_drawn(page: Page) -> None:
    """Wait until what was asked for is to be seen."""
    page.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")


def pixels(page: Page, canvas: str) -> str:
    """The picture on a canvas, after what was asked for is drawn."""
    be_drawn(page)
    return str(page.locator(f"#{canvas}").evaluate("e => e.toDataURL()"))
