"""The engines beside Chromium that the tests run in, where they are installed: see browser.py for that.

`build.py setup --browsers all` runs this file, which brings them: Debian's packages, or Playwright's
own where the system has none.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Browser, BrowserType, Playwright, sync_playwright

from e2e import webkit
from js_bridge.build.paths import PYTHON
from js_bridge.build.steps import BuildError, run
from js_bridge.build.tools import apt_get

PACKAGES = {"firefox": ["firefox-esr"], "webkit": ["webkit2gtk-driver", "xvfb"]}

NAMES = tuple(PACKAGES)

PREFERENCES: dict[str, str | float | bool] = {"ui.prefersReducedMotion": 1}
"""Of a Firefox that is not Playwright's own, which does not hear of a context's wishes."""


def own(playwright: Playwright, name: str) -> str | None:
    """The program that Playwright itself has brought."""
    path: str = getattr(playwright, name).executable_path
    return path if Path(path).exists() else None


def has_webkitgtk() -> bool:
    return bool(shutil.which(webkit.DRIVER) and shutil.which(webkit.DISPLAY) and webkit.minibrowser())


def launch(playwright: Playwright, name: str) -> Browser | None:
    """A browser that Playwright drives; none where that is not installed."""
    kind: BrowserType = getattr(playwright, name)
    if own(playwright, name):
        return kind.launch()
    system = shutil.which("firefox-esr") or shutil.which("firefox")
    if name == "firefox" and system:
        return kind.launch(executable_path=system, channel="moz-firefox", firefox_user_prefs=PREFERENCES)
    return None


def trial(playwright: Playwright, name: str) -> str:
    """The version of an engine that starts; raises BuildError where none does."""
    browser = launch(playwright, name)
    if browser:
        with browser:
            return f"{name} {browser.version}"
    if name == "webkit" and has_webkitgtk():
        with webkit.display() as display, webkit.open_tab(display) as tab:
            return f"{name} {tab.driver.capabilities['browserVersion']}"
    raise BuildError(f"there is no {name}")


def bring(playwright: Playwright, name: str) -> str:
    try:
        return trial(playwright, name)
    except BuildError:
        reason = "it takes root, and Debian"
    try:
        if apt_get(*PACKAGES[name]):
            return trial(playwright, name)
    except BuildError as error:
        reason = str(error)
    try:
        run(PYTHON, "-m", "playwright", "install", name, timeout=600)
        return trial(playwright, name)
    except BuildError as error:
        sys.exit(f"no {name}: {reason}; Playwright's: {error}")


if __name__ == "__main__":
    with sync_playwright() as playwright:
        print(", ".join(bring(playwright, name) for name in NAMES))
