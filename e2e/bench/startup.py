"""From opening a page to its first gradient, and what is transferred: `build.py bench startup`."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, BrowserContext, Page

from e2e.server import Line, Server
from js_bridge.build.paths import BRIDGE, BROWSER, DIST, PYTHON, ROOT, STATE
from js_bridge.build.tools import node

HERE = Path(__file__).resolve().parent
HEAD, _, _ = (HERE / "page.html").read_text().partition('<script type="module"')
OTHERS = {"page.html", "bench", "frozen"}
"""What is not Rose's own in the site: the page, what is measured, and programs."""
PAGE = (
    HEAD.replace('"./node_modules', '"./bench/node_modules').replace("icon.svg", "bench/icon.svg")
    + """<script type="module">
    import * as startup from "./bench/startup.js";
    globalThis.startup = startup;
    globalThis.warmUp = () => startup.first({ cache: false });
</script>
"""
)
LOADED = {
    "frozen page, without its programs": ("first({})", ()),
    "Python, from a snapshot": ("first({ cache: false, frozen: false })", ()),
    "Python, without": ("first({ cache: false, frozen: false })", ("rose_core.snapshot.wasm",)),
}
"""What a page does whose requests are added up, and which files are withheld from it."""

MBITS, ROUND_TRIP = 10, 0.04
"""The slow line: megabits per second, and seconds until an answer begins."""

STAY = 300
"""Milliseconds that a reader stays after the first gradient: then what was compiled is kept."""

VISITS = {
    "frozen page": LOADED["frozen page, without its programs"][0],
    "rose 0.4.10": "theirs()",
    "Python needed": LOADED["Python, from a snapshot"][0],
    "Python needed, by a draft": "first({ cache: false, frozen: false }, { draft: true })",
    "stock loadPyodide alone": "stock()",
}
"""What is measured of a first visit: calls of startup.js."""


@contextmanager
def site() -> Iterator[Path]:
    """A folder with Rose and the page, which is frozen."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for file in ("rose.js", "rose.worker.js", "rose.python.js"):
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


def mounts(root: Path) -> dict[str, Path]:
    """What is served: the folder, and the libraries that are compared."""
    return {"/bench/libraries/": DIST / "bench" / "libraries", "/": root}


@contextmanager
def visit(context: BrowserContext, origin: str) -> Iterator[Page]:
    page = context.new_page()
    page.goto(f"{origin}/page.html")
    page.wait_for_function("globalThis.startup !== undefined")
    yield page
    page.close()


def times(browser: Browser, turns: int = 5, omit: Collection[str] = ()) -> dict[str, float]:
    """Milliseconds, medians; without those to omit."""
    found: dict[str, list[float]] = {}

    def note(context: BrowserContext, name: str, call: str) -> None:
        with visit(context, server.origin) as page:
            found.setdefault(name, []).append(page.evaluate(f"startup.{call}"))
            page.wait_for_timeout(STAY)

    with site() as root, Server(mounts(root), quiet=True) as server:
        for _ in range(turns):
            for name, call in VISITS.items():
                if name not in omit:
                    with browser.new_context() as context:
                        note(context, name, call)
            with browser.new_context() as context:
                note(context, "first visit", "first({ frozen: false })")
                note(context, "revisit", "first({ frozen: false })")
    return {name: median(values) for name, values in found.items()}


def times_on_a_slow_line(browser: Browser, omit: Collection[str] = ()) -> dict[str, float]:
    """Milliseconds of first visits, where everything comes compressed through a line of `MBITS`."""
    found = {}
    line = Line(MBITS * 1e6 / 8, ROUND_TRIP)
    with site() as root:
        # what is sent is compressed before any time is taken
        for server in (
            Server(mounts(root), quiet=True, pack=packed),
            Server(mounts(root), quiet=True, pack=packed, line=line),
        ):
            with server:
                for name, call in VISITS.items():
                    if name in omit:
                        continue
                    with browser.new_context() as context, visit(context, server.origin) as page:
                        found[name] = page.evaluate(f"startup.{call}")
    return found


def longest_task(browser: Browser) -> float:
    """How long the page's thread computes in one piece, while Python starts and compiles 50k operations.

    Milliseconds of the thread's own time, since what else the machine does is no matter of the page's.
    """
    with ExitStack() as stack:
        root = stack.enter_context(site())
        server = stack.enter_context(Server(mounts(root), quiet=True))
        context = stack.enter_context(browser.new_context())
        page = stack.enter_context(visit(context, server.origin))
        browser.start_tracing(page=page, categories=["toplevel", "devtools.timeline", "blink.user_timing"])
        page.evaluate("startup.large()")
        events = json.loads(browser.stop_tracing())["traceEvents"]
    (begin,) = (event for event in events if event["name"] == "recorded" and event["ph"] in "IRn")
    thread = begin["pid"], begin["tid"]
    tasks = [
        event["tdur"]
        for event in events
        if (event["pid"], event["tid"]) == thread and event["ts"] > begin["ts"] and "tdur" in event
    ]
    return float(max(tasks)) / 1000


def packed(file: Path) -> Path:
    """The file compressed by brotli as static hosts do, which takes its time and is kept."""
    name = hashlib.sha256(file.read_bytes()).hexdigest()
    found = STATE / "bench" / "brotli" / f"{name}.br"
    if not found.exists():
        found.parent.mkdir(parents=True, exist_ok=True)
        code = "const z = require('zlib'), f = require('fs'), [from, to] = process.argv.slice(1);"
        code += "f.writeFileSync(to, z.brotliCompressSync(f.readFileSync(from)))"
        # others may ask for it meanwhile
        with tempfile.NamedTemporaryFile(dir=found.parent, delete=False) as made:
            subprocess.run([node(), "-e", code, file, made.name], check=True)
        Path(made.name).replace(found)
    return found


def transfers(browser: Browser, names: Collection[str] = tuple(LOADED)) -> dict[str, float]:
    """Kilobytes of Rose that pages ask for, compressed; of Python, what comes to the page's own share."""
    found = {}
    with site() as root, Server(mounts(root), quiet=True) as server:
        # programs, which are a page's own, come by themselves then
        index = root / "rose.frozen.json"
        index.write_text(json.dumps(json.loads(index.read_text()) | {"small": {}}))
        share = asked(browser, server, root, *LOADED[next(iter(LOADED))])
        for name in names:
            files = asked(browser, server, root, *LOADED[name])
            files = files - share or share
            found[name] = sum(packed(file).stat().st_size for file in files) / 1000
    return found


def asked(browser: Browser, server: Server, root: Path, call: str, withheld: Collection[str]) -> set[Path]:
    """The files of Rose that a first visit asks for, without the programs, which are a page's own."""
    with browser.new_context() as context:
        for name in withheld:
            context.route(f"**/{name}", lambda route: route.abort())
        server.asked.clear()
        with visit(context, server.origin) as page:
            page.evaluate(f"startup.{call}")
    addresses = {address for address in server.asked if not OTHERS & set(address.split("/"))}
    return {root / address[1:] for address in addresses}


def measure(browser: Browser) -> dict[str, dict[str, float]]:
    """All of it, as `table` takes it."""
    found = times(browser)
    theirs, stock = found["rose 0.4.10"], found["stock loadPyodide alone"]
    return {
        "ms": found,
        "ratios": {
            "frozen page to rose": found["frozen page"] / theirs,
            "revisit to rose": found["revisit"] / theirs,
            "Python needed to stock loadPyodide": found["Python needed"] / stock,
        },
        "ms, slow line": times_on_a_slow_line(browser),
        "ms in one piece": {"Python starts, 50k operations": longest_task(browser)},
        "kB": transfers(browser),
    }


TITLES = {
    "ms": "From opening a page to its first gradient, in ms",
    "ratios": "The same as ratios",
    "ms, slow line": f"The same at {MBITS} Mbit/s, with {1000 * ROUND_TRIP:.0f} ms to an answer",
    "ms in one piece": "Without a pause on the page's thread, in ms",
    "kB": "Transferred, in kB",
}

TARGETS = {
    "frozen page to rose": 0.3,
    "revisit to rose": 0.5,
    "Python needed to stock loadPyodide": 0.4,
    "Python starts, 50k operations": 50,
    "frozen page, without its programs": 12,
    "Python, from a snapshot": 5600,
    "Python, without": 4000,
}
"""What these are to be at most."""


def table(found: Mapping[str, Mapping[str, float]]) -> str:
    lines = []
    for part, values in found.items():
        lines.append(TITLES[part])
        for name, value in values.items():
            target = f"   target {TARGETS[name]:g}" if name in TARGETS else ""
            digits = 2 if part == "ratios" else 1
            lines.append(f"  {name:<36}{value:>10.{digits}f}{target}")
    return "\n".join(lines)
