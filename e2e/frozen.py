"""A site for `rose freeze`: a page whose programs depend on a slider, and Rose next to it."""

from __future__ import annotations

import io
import json
import os
import shutil
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess
from unittest.mock import patch

from playwright.sync_api import Browser, Page, expect

from js_bridge.build.paths import DIST, ROOT
from rose_core.cli import freeze, main, several

PAGE = """<!doctype html>
<meta charset="utf-8">
<link rel="icon" href="data:,">
<title>waits</title>
<input id="factor" type="range" min="1" max="3" value="2">
<script type="module" src="page.js"></script>
"""

SCRIPT = """
import { Real, compile, fn, mul, sin, vjp } from "../rose/rose.js";
const slider = document.getElementById("factor");
const show = async () => {
    const factor = +slider.value;
    const f = fn([Real], Real, (x) => mul(factor, sin(x)));
    const slope = fn([Real], Real, function slope(x) { return vjp(f)(x).grad(1); });
    document.title = "waits";
    document.title = `slope ${(await compile(slope))(0)}`;
};
slider.oninput = show;
show();
"""

WARM_UP = """
export const warmUp = async () => {
    slider.max = 6;
    for (slider.value of [5, 6]) await show();
};
"""

PYTHON_PAGE = """<!doctype html>
<link rel="icon" href="data:,">
<script type="text/x-rose">
from rose_core import *

@fn
def f(x: Real) -> Real:
    return FACTOR * sin(x)
</script>
<script type="module">
import { compile, grad, python } from "../rose/rose.js";
const { f } = await python();
document.title = `slope ${(await compile(grad(f)))(0)}`;
</script>
"""
"""A page with a function in Python, in which a number is to be put in the place of FACTOR."""

SCALES = """
import { Real, compile, fn, mul } from "../rose/rose.js";
export const scale = (factor) => compile(fn([Real], Real, (x) => mul(+factor, x)));
"""
"""A script for pages of which each number that they scale by is a program."""

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


class Frozen:
    """A site in a folder of its own, with Rose in it."""

    def __init__(self, root: Path, browser: Browser) -> None:
        self.root = root
        self.browser = browser
        self.output = ""

    def fill(self) -> None:
        root = self.root
        for name in ("rose.js", "rose.worker.js", "rose.python.js"):
            (root / "rose").mkdir(exist_ok=True)
            shutil.copy(DIST / name, root / "rose" / name)
        self.index.write_text("{}")
        (root / "rose" / "pyodide").symlink_to(DIST / "pyodide")
        (root / "pages").mkdir()
        self.write("pages/page.html", PAGE)
        self.write("pages/page.js", SCRIPT)

    def write(self, name: str, text: str) -> None:
        (self.root / name).write_text(text)

    def freeze(self, *options: str) -> CompletedProcess[str]:
        """What the command gives, in a browser that is there: to start one takes longer than many a page."""
        words = ["freeze", str(self.root), *options]
        started = patch.object(freeze, "chromium", lambda _: nullcontext(self.browser))
        alone = patch.object(several, "MOST", 1)
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err, started, alone:
            status = main(words)
        return CompletedProcess(words, status, out.getvalue(), err.getvalue())

    def told_of(self, page: str) -> str:
        """What is told when a page that can import `SCALES` is frozen, which goes well."""
        self.write("pages/page.html", page)
        self.write("pages/scales.js", SCALES)
        done = self.freeze()
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @property
    def index(self) -> Path:
        return self.root / "rose" / "rose.frozen.json"

    def change_index(self, **content: object) -> None:
        self.index.write_text(json.dumps(json.loads(self.index.read_text()) | content))

    @property
    def files(self) -> set[Path]:
        return set((self.root / "pages" / "frozen").glob("*.wasm"))


def slide(page: Page, *factors: int) -> None:
    """Move the slider to these factors, and see that the page follows."""
    for factor in factors:
        page.locator("#factor").fill(f"{factor}")
        expect(page).to_have_title(f"slope {factor}")


def wait_for_service_worker(page: Page) -> None:
    """It asks for what the page has loaded, too, which it must not do when nobody answers any more."""
    page.evaluate("async () => void (await navigator.serviceWorker.ready)")
