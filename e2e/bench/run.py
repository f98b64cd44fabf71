"""Benchmarks in one Chromium page: `python3 build.py bench [NAME ...]`.

Every module in workloads/ is one, at several sizes. Each first checks that everything it compares gives
the same numbers. Results go to the screen as tables and to .build/bench.json; `--keep` puts them where
the site shows them.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from build import BROWSER, DIST, ROOT, STATE
from e2e.bench.c.build import build_libm
from e2e.bench.tables import tables
from e2e.browser import FLAGS
from e2e.server import Server

HERE = Path(__file__).resolve().parent
KEPT = ROOT / "site" / "benchmark.json"
WORKLOADS = """rosenbrock_unrolled rosenbrock ackley_unrolled ackley sincos power logsumexp logistic mlp
    springs kmeans""".split()

ISOLATED = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
}
"""With these, performance.now() has steps of 5 µs instead of 100."""


def machine() -> dict[str, object]:
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return {
        "processor": model[1] if model else platform.processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "load": os.getloadavg()[0],
    }


def measure(page: Page, name: str, n: int, omit: list[str]) -> dict[str, Any]:
    call = "([name, n, options]) => bench(name, n, options)"
    found: dict[str, Any] = page.evaluate(call, [name, n, {"omit": omit}])
    return found


def run(names: list[str], sizes: list[int]) -> dict[str, Any]:
    """All results, as JSON keeps them."""
    path = json.loads(BROWSER.read_text())["path"]
    libm = STATE / "bench" / "c"
    omit = [] if build_libm(libm) else ["C -O3 simd, libm"]
    results: dict[str, Any] = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": machine(),
        "workloads": {},
    }
    mounts = {
        "/bench/libm/": libm,
        "/bench/libraries/": STATE / "bench" / "libraries",
        "/bench/": HERE,
        "/": DIST,
    }
    with Server(mounts, headers=ISOLATED, quiet=True) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        results["browser"] = f"Chromium {browser.version}"
        for name in names:
            page = browser.new_page()
            page.set_default_timeout(600_000)
            page.goto(f"{server.origin}/bench/page.html")
            page.wait_for_function("window.bench !== undefined")
            module = f"import('./workloads/{name}.js').then(({{ title, sizes }}) => ({{ title, sizes }}))"
            entry = page.evaluate(module)
            chosen = [n for n in entry["sizes"] if not sizes or n in sizes]
            entry["sizes"] = [measure(page, name, n, omit) for n in chosen]
            results["workloads"][name] = entry
            print(tables({name: entry}), flush=True)
            page.close()
        browser.close()
    return results


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="build.py bench --", description=__doc__)
    parser.add_argument("name", nargs="*", metavar="NAME", help="all, unless some are named")
    parser.add_argument("--sizes", type=lambda text: [int(n) for n in text.split(",")], default=[])
    parser.add_argument("--keep", action="store_true", help=f"as {KEPT.relative_to(ROOT)}")
    chosen = parser.parse_args(arguments)
    unknown = [name for name in chosen.name if name not in WORKLOADS]
    if unknown:
        parser.error(f"there is no {unknown[0]}; there are {', '.join(WORKLOADS)}")
    results = run(chosen.name or WORKLOADS, chosen.sizes)
    text = json.dumps(results, indent=1, ensure_ascii=False) + "\n"
    (STATE / "bench.json").write_text(text)
    if chosen.keep:
        KEPT.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
