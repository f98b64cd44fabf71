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

from js_bridge.build.paths import BROWSER, PYTHON
from js_bridge.build.steps import BuildError, run
from js_bridge.build.tools import apt_get

FLAGS = ["--disable-dev-shm-usage", "--no-sandbox"]
"""Containers have a small /dev/shm. And Chromium's sandbox refuses to work for root and where
there are no user namespaces; the only pages that it would keep us safe from are our own."""

SHELL = "chromium-headless-shell"
"""Chromium without menus and accounts: where each test has a context of its own, a good part of the work is
theirs. Debian has it of the same version as its `chromium`."""

ROOT_USER = os.geteuid() == 0

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def candidates(reasons: list[str]) -> Iterator[tuple[str, str]]:
    """Programs to try, with where they came from; brings one in when asked for more."""
    yield from own("Playwright's own")
    yield from system("the system's")
    # Its server is not to be reached from everywhere, and some networks never say so.
    patience = {"PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT": "10000"}
    try:
        run(PYTHON, "-m", "playwright", "install", "chromium", timeout=600, **patience)
        if ROOT_USER:
            run(PYTHON, "-m", "playwright", "install-deps", "chromium")
    except BuildError as error:
        reasons.append(f"Playwright's download failed: {last_line(error)}")
    else:
        yield from own("Playwright's own")
    try:
        yield from debian_package()
    except BuildError as error:
        reasons.append(f"Debian's package failed: {last_line(error)}")


def own(source: str) -> Iterator[tuple[str, str]]:
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    if Path(path).exists():
        yield path, source


def system(source: str) -> Iterator[tuple[str, str]]:
    yield from ((path, source) for path in map(shutil.which, NAMES) if path)


def debian_package() -> Iterator[tuple[str, str]]:
    if not ROOT_USER or not shutil.which("apt-get"):
        raise BuildError("that takes root, and Debian")
    run("apt-get", "update")
    if "snap" in run("apt-cache", "show", "chromium"):
        raise BuildError("this distribution's chromium is no browser, but asks for a snap")
    fonts = any(Path("/usr/share/fonts").rglob("*.ttf"))
    apt_get("chromium", *([] if fonts else ["fonts-dejavu-core", "fonts-liberation"]))
    yield from system("Debian's package")


def last_line(error: BuildError) -> str:
    return str(error).strip().splitlines()[-1].strip()


def trial(path: str) -> str:
    """Render a page and return the program's version, or raise BuildError."""
    with tempfile.TemporaryDirectory() as profile:
        flags = [*FLAGS, "--headless", "--disable-gpu", "--no-first-run"]
        flags += ["--disable-background-networking", f"--user-data-dir={profile}"]
        page = "data:text/html,<p>rendered</p>"
        if "<p>rendered" not in run(path, *flags, "--dump-dom", page, timeout=120):
            raise BuildError("it starts, but renders nothing")
    return run(path, "--version").strip().splitlines()[-1]


def shell_of(program: str, version: str) -> str:
    """What most tests run in: the shell of the same version where that is to be had, or the program."""
    try:
        if Path(program).name == "chromium" and not shutil.which(SHELL):
            apt_get(SHELL)
        shell = shutil.which(SHELL)
        if shell and version.startswith(trial(shell)):
            return shell
    except (BuildError, OSError):
        pass  # tests take longer, and that is all
    return program


def find() -> str:
    wish = os.environ.get("CHROMIUM")
    reasons: list[str] = []
    for path, source in [(wish, "$CHROMIUM")] if wish else candidates(reasons):
        try:
            version = trial(path)
        except (BuildError, OSError) as error:
            reasons.append(f"{path} ({source}) does not run: {error}")
            continue
        tested = path if wish else shell_of(path, version)
        record = {"path": tested, "program": path, "version": version, "source": source}
        BROWSER.write_text(json.dumps(record, indent=1))
        return f"{version} ({source})"
    sys.exit(
        "\n".join(["no Chromium that runs", *reasons]) + "\n\nInstall one: `sudo apt-get install "
        "chromium` (Debian), Google Chrome's package (Ubuntu, whose own\nchromium is a snap); "
        "or name one: CHROMIUM=/path/to/chrome python3 build.py test"
    )


if __name__ == "__main__":
    print(find())
