"""What is noted of a page from now on: what it says, and what it asks for."""

from __future__ import annotations

from playwright.sync_api import BrowserContext, Page


def listen(page: Page) -> list[str]:
    """The texts on its console."""
    texts: list[str] = []
    page.on("console", lambda message: texts.append(message.text))
    return texts


def asked(context: BrowserContext) -> list[str]:
    """The addresses that its pages and their workers ask for."""
    urls: list[str] = []
    context.on("request", lambda request: urls.append(request.url))
    return urls


def asked_names(context: BrowserContext) -> list[str]:
    """The names of the files that its pages and their workers ask for."""
    names: list[str] = []
    context.on("request", lambda request: names.append(request.url.rpartition("/")[2]))
    return names
