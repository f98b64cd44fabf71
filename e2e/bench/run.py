"""Benchmarks in one Chromium page: `python3 build.py bench [NAME]`.

Every module next to this file with a `run` is one. Each first checks that what it compares gives the
same numbers. The lines go to the screen as a table, and to .build/bench.json.
"""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from build import BROWSER, DIST, STATE
from e2e.browser import FLAGS
from e2e.server import Server

HERE = Path(__file__).resolve().parent
NAMES = ["rosenbrock"]


def cell(x: object) -> str:
    if not isinstance(x, float):
        return str(x)
    return f"{x:.3g}" if abs(x) < 100 else f"{x:.0f}"


def table(lines: list[dict[str, object]]) -> str:
    """The lines under their names, in columns."""
    rows = [list(lines[0])] + [[cell(x) for x in line.values()] for line in lines]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(x.rjust(w) for x, w in zip(row, widths, strict=True)) for row in rows)


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        print(f"There is no benchmark {unknown[0]}; there are: {', '.join(NAMES)}")
        return 2
    path = json.loads(BROWSER.read_text())["path"]
    results: dict[str, object] = {"machine": platform.platform()}
    with Server({"/bench/": HERE, "/": DIST}, quiet=True) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        results["browser"] = browser.version
        for name in names or NAMES:
            page = browser.new_page()
            page.goto(f"{server.origin}/bench/page.html#{name}")
            page.wait_for_function("window.finished !== undefined", timeout=600_000)
            failure = page.evaluate("window.finished")
            if failure:
                print(failure)
                return 1
            results[name] = page.evaluate("window.lines")
            print(f"\n{page.title()}, {browser.browser_type.name} {browser.version}")
            print(table(results[name]))  # type: ignore[arg-type]
            page.close()
        browser.close()
    STATE.mkdir(exist_ok=True)
    (STATE / "bench.json").write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
