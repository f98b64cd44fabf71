"""Finds a Chromium that runs, brings one if there is none, and records it.

`build.py setup` runs this file; the fixtures of conftest.py start what it recorded.
The order: $CHROMIUM, Playwright's own, the system's, Playwright's download, Debian's
package. A program counts when it renders a page, not when its file exists: Ubuntu's
`chromium` is a script that asks for a snap.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import sync_playwright

from build import BROWSER, PYTHON, BuildError, apt_get, run

ROOT_USER = os.geteuid() == 0

FLAGS = ["--disable-dev-shm-usage", "--no-sandbox"] if ROOT_USER else []
"""Chromium's sandbox refuses to start for root; containers have a small /dev/shm."""

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def candidates() -> Iterator[tuple[str, str]]:
    """Programs to try, with where they came from; brings one in when asked for more."""
    yield from own("Playwright's own")
    yield from system("the system's")
    # Its server is not to be reached from everywhere.
    patience = {"PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT": "10000"}
    try:
        run(PYTHON, "-m", "playwright", "install", "chromium", timeout=600, **patience)
    except BuildError:
        pass
    else:
        if ROOT_USER:
            run(PYTHON, "-m", "playwright", "install-deps", "chromium")
        yield from own("Playwright's own")
    if debian_package():
        yield from system("Debian's package")


def own(source: str) -> Iterator[tuple[str, str]]:
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    if Path(path).exists():
        yield path, source


def system(source: str) -> Iterator[tuple[str, str]]:
    yield from ((path, source) for path in map(shutil.which, NAMES) if path)


def debian_package() -> bool:
    if not ROOT_USER or not shutil.which("apt-get"):
        return False
    try:
        run("apt-get", "update")
        if "snap" in run("apt-cache", "show", "chromium"):
            return False
    except BuildError:
        return False
    fonts = any(Path("/usr/share/fonts").rglob("*.ttf"))
    return apt_get("chromium", *([] if fonts else ["fonts-dejavu-core", "fonts-liberation"]))


def trial(path: str) -> str:
    """Render a page and return the program's version, or raise BuildError."""
    with tempfile.TemporaryDirectory() as profile:
        flags = [*FLAGS, "--headless", "--disable-gpu", "--no-first-run"]
        flags += ["--disable-background-networking", f"--user-data-dir={profile}"]
        page = "data:text/html,<p>rendered</p>"
        if "<p>rendered" not in run(path, *flags, "--dump-dom", page, timeout=120):
            raise BuildError("it starts, but renders nothing")
    return run(path, "--version").strip().splitlines()[-1]


def find() -> str:
    wish = os.environ.get("CHROMIUM")
    reasons = []
    for path, source in [(wish, "$CHROMIUM")] if wish else candidates():
        try:
            version = trial(path)
        except (BuildError, OSError) as error:
            reasons.append(f"{path} ({source}) does not run: {error}")
            continue
        record = {"path": path, "version": version, "source": source}
        BROWSER.write_text(json.dumps(record, indent=1))
        return f"{version} ({source})"
    sys.exit(
        "\n".join(reasons or ["there is no Chromium here, and none could be fetched"])
        + "\n\nInstall one: sudo apt-get install chromium (Debian), Google Chrome's package "
        "(Ubuntu, whose own\nchromium is a snap). Or name one: CHROMIUM=/path/to/chrome"
    )


if __name__ == "__main__":
    print(find())
