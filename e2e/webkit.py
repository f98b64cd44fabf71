"""WebKitGTK, driven by Debian's WebKitWebDriver on a display of its own.

The driver tells nothing of what goes wrong on a page, so its pages are served with a script that
notes that: `prepare` copies them. It has no profile: every tab starts with empty storage.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.client_config import ClientConfig
from selenium.webdriver.remote.command import Command
from selenium.webdriver.remote.remote_connection import RemoteConnection

from e2e.tab import Tab

DRIVER = "WebKitWebDriver"
DISPLAY = "Xvfb"

LOST = "Could not parse script result"
"""What the driver says, once in some hundred tests, when it has lost an answer."""

WATCH = """// Notes what goes wrong on a page.
globalThis.problems = [];
const { error } = console;
console.error = (...words) => {
  problems.push(`console: ${words.join(" ")}`);
  error(...words);
};
const note = ({ message, target, reason }) =>
  problems.push(message ? `uncaught: ${message}` : `failed: ${target.src ?? target.href ?? reason}`);
addEventListener("error", note, true);
addEventListener("unhandledrejection", note);
"""


def minibrowser() -> Path | None:
    """The browser that comes with the driver."""
    found = Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser")
    return max(found, default=None)


def prepare(pages: Path, copy: Path) -> Path:
    """Copy a folder of pages, with the script that notes what goes wrong on them."""
    shutil.copytree(pages, copy)
    (copy / "watch.js").write_text(WATCH)
    for page in copy.glob("*.html"):
        text = page.read_text()
        meta = '<meta charset="utf-8"'
        assert meta in text, page
        page.write_text(text.replace(meta, f'<script src="watch.js"></script>{meta}', 1))
    return copy


@contextmanager
def display() -> Iterator[str]:
    """A display that nobody looks at; its name."""
    ends, begins = os.pipe()
    words = [DISPLAY, "-displayfd", str(begins), "-screen", "0", "1440x1000x24", "-nolisten", "tcp"]
    with subprocess.Popen(words, pass_fds=[begins], stderr=subprocess.DEVNULL) as server:
        os.close(begins)
        with open(ends) as told:
            name = ":" + told.readline().strip()
        try:
            yield name
        finally:
            server.terminate()


@contextmanager
def settings(**found: object) -> Iterator[Path]:
    """A folder with settings of GTK, of which the engine makes what a page's media queries ask for."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "gtk-3.0").mkdir()
        lines = [f"{name.replace('_', '-')}={value}\n" for name, value in found.items()]
        (Path(folder) / "gtk-3.0" / "settings.ini").write_text("[Settings]\n" + "".join(lines))
        yield Path(folder)


@contextmanager
def open_tab(display: str) -> Iterator[DriverTab]:
    """A tab for someone who wants little motion."""
    options = webdriver.WebKitGTKOptions()
    options.binary_location = str(minibrowser())
    options.add_argument("--automation")
    with settings(gtk_enable_animations=0) as folder:
        env = {**os.environ, "DISPLAY": display, "XDG_CONFIG_HOME": str(folder)}
        service = webdriver.WebKitGTKService(shutil.which(DRIVER), env=env)
        service.start()
        try:
            # webdriver.WebKitGTK is the same, but for a warning that it causes itself.
            at = RemoteConnection(client_config=ClientConfig(service.service_url, timeout=300))
            with webdriver.Remote(at, options=options) as driver:
                driver.set_window_size(1400, 960)
                driver.set_script_timeout(120)
                yield DriverTab(driver)
        finally:
            service.stop()


class DriverTab(Tab):
    name = "webkit"

    def __init__(self, driver: webdriver.Remote) -> None:
        self.driver = driver
        self.found: list[str] = []

    def resize(self, width: int, height: int) -> None:
        self.driver.set_window_size(width, height)

    def goto(self, url: str) -> None:
        self.found = self.problems()
        self.driver.get(url)

    def run(self, body: str, *arguments: Any) -> Any:
        code = """const [given, done] = arguments;
        (async () => { %s })().then(
            (value) => done(JSON.stringify({ value })),
            (error) => done(JSON.stringify({ error: `${error}` })));"""
        # As JSON, with numbers that it lacks as null: the driver's own way loses what is not finite.
        answer = json.loads(self.driver.execute_async_script(code % body, arguments))
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer.get("value")

    def ask(self, body: str, *arguments: Any) -> Any:
        try:
            return super().ask(body, *arguments)
        except WebDriverException as error:
            if LOST not in str(error):
                raise
            return super().ask(body, *arguments)

    def point(self, way: Sequence[tuple[float, float]]) -> None:
        start, *others = (
            {"type": "pointerMove", "x": round(x), "y": round(y), "duration": 20} for x, y in way
        )
        down, up = ({"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp"))
        kind = "touch" if self.by_finger else "mouse"
        pointer = {"type": "pointer", "id": kind, "parameters": {"pointerType": kind}}
        actions = [start, down, *others, up]
        self.driver.execute(Command.W3C_ACTIONS, {"actions": [{**pointer, "actions": actions}]})

    def strike(self, selector: str, key: str) -> None:
        name = {"ArrowUp": "ARROW_UP", "ArrowRight": "ARROW_RIGHT"}.get(key, key.upper())
        self.driver.find_element(By.CSS_SELECTOR, selector).send_keys(getattr(Keys, name))

    def problems(self) -> list[str]:
        return [*self.found, *(self.look("globalThis.problems") or [])]
