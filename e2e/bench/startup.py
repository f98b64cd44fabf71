"""From opening a page to its first gradient, and what is transferred: `build.py bench startup`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, BrowserContext

from build import BRIDGE, BROWSER, DIST, PYTHON, ROOT, node
from e2e.server import Server

HERE = Path(__file__).resolve().parent
HEAD, _, _ = (HERE / "page.html").read_text().partition('<script type="module"')
PAGE = (
    HEAD.replace('"./node_modules', '"./bench/node_modules').replace("icon.svg", "bench/icon.svg")
    + """<script type="module">
    import * as startup from "./bench/startup.js";
    globalThis.startup = startup;
    globalThis.warmUp = () => startup.first({ cache: false });
</script>
"""
)
TRANSFERRED = {
    "bridge": ["rose.js"],
    "Python, from a snapshot": [
        "rose.worker.js",
        "pyodide/pyodide.mjs",
        "pyodide/pyodide.asm.mjs",
        "pyodide/pyodide.asm.wasm",
        "pyodide/rose_core.snapshot",
    ],
    "Python, without": [
        "rose.worker.js",
        "pyodide/pyodide.mjs",
        "pyodide/pyodide.asm.mjs",
        "pyodide/pyodide.asm.wasm",
        "pyodide/python_stdlib.zip",
        "pyodide/rose_core.zip",
    ],
}


@contextmanager
def site() -> Iterator[Path]:
    """A folder with Rose and the page, which is frozen."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for file in ("rose.js", "rose.worker.js"):
            shutil.copy(DIST / file, root / file)
        (root / "rose.frozen.json").write_text("{}")
        (root / "pyodide").symlink_to(DIST / "pyodide")
        (root / "stock").symlink_to(BRIDGE / "node_modules" / "pyodide")
        (root / "bench").symlink_to(HERE)
        (root / "page.html").write_text(PAGE)
        env = {**os.environ, "PYTHONPATH": str(ROOT), "CHROMIUM": json.loads(BROWSER.read_text())["path"]}
        words: list[str | Path] = [PYTHON, "-m", "rose_core.cli", "freeze", root]
        subprocess.run(words, env=env, check=True, capture_output=True)
        yield root


def times(browser: Browser, turns: int = 5, omit: Collection[str] = ()) -> dict[str, float]:
    """Milliseconds, medians; without those to omit."""
    found: dict[str, list[float]] = {}
    with site() as root, Server({"/": root}, quiet=True) as server:

        def note(context: BrowserContext, name: str, call: str) -> None:
            page = context.new_page()
            page.goto(f"{server.origin}/page.html")
            page.wait_for_function("globalThis.startup !== undefined")
            found.setdefault(name, []).append(page.evaluate(f"startup.{call}"))
            page.close()

        for _ in range(turns):
            for name, call in {
                "frozen page": "first({})",
                "rose 0.4.10": "theirs()",
                "Python needed": "first({ cache: false, frozen: false })",
                "stock loadPyodide alone": "stock()",
                "longest gap, 50k operations": "longest()",
            }.items():
                if name in omit:
                    continue
                context = browser.new_context()
                note(context, name, call)
                context.close()
            context = browser.new_context()
            note(context, "first visit", "first({ frozen: false })")
            note(context, "revisit", "first({ frozen: false })")
            context.close()
    return {name: median(values) for name, values in found.items()}


def transfers(names: Collection[str] = tuple(TRANSFERRED)) -> dict[str, float]:
    """Kilobytes, compressed by brotli as a static host does, which takes its time."""
    code = "const z = require('zlib'), f = require('fs'); console.log(...process.argv.slice(1)"
    code += ".map((p) => z.brotliCompressSync(f.readFileSync(p)).length))"
    found = {}
    for name in names:
        files = TRANSFERRED[name]
        words: list[str | Path] = [node(), "-e", code, *(DIST / file for file in files)]
        done = subprocess.run(words, check=True, capture_output=True, text=True)
        found[name] = sum(map(int, done.stdout.split())) / 1000
    return found


def table(milliseconds: Mapping[str, float], kilobytes: Mapping[str, float]) -> str:
    lines = ["From opening a page to its first gradient, in ms"]
    lines += [f"  {name:<30}{value:>10.0f}" for name, value in milliseconds.items()]
    lines += ["Transferred, in kB"]
    lines += [f"  {name:<30}{value:>10.1f}" for name, value in kilobytes.items()]
    return "\n".join(lines)
