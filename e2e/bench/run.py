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
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from e2e.bench import ablation, elsewhere, frames, functions, penrose, ratios, startup, targets
from e2e.bench.c.build import build_libm
from e2e.bench.tables import start_table, table
from e2e.browser import FLAGS
from e2e.server import Server
from js_bridge.build.paths import BROWSER, DIST, PENROSE, ROOT, STATE

HERE = Path(__file__).resolve().parent
KEPT = ROOT / "site" / "benchmark.json"
WORKLOADS = """rosenbrock_unrolled rosenbrock ackley_unrolled ackley sincos power power_loop logsumexp
    logistic mlp springs kmeans pairs""".split()
SIMULATIONS = list(targets.SIMULATIONS)
"""Workloads, too, of which only the gradient is measured, also with libraries for Python."""
START = "start"
STARTUP = "startup"
FRAMES = "frames"
DIAGRAMS = "penrose"
FUNCTIONS = "math"
TABLES = "tables"
ABLATION = "ablation"
ALL = [START, STARTUP, FRAMES, *WORKLOADS, *SIMULATIONS, TABLES, DIAGRAMS, ABLATION, FUNCTIONS]
LIBRARIES = ["this", "rose 0.4.10", "TensorFlow.js", "jax-js"]

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


Host = tuple[Browser, str]
"""A browser, and the address of the benchmarks' page."""


@contextmanager
def host() -> Iterator[Host]:
    path = json.loads(BROWSER.read_text())["program"]  # with all that it does for readers, too
    built = STATE / "bench"
    mounts = {"/bench/libm/": built / "c", "/bench/libraries/": DIST / "bench" / "libraries"}
    mounts |= {"/penrose/bundles/": STATE / "penrose", "/penrose/": PENROSE}
    mounts |= {"/bench/": HERE, "/": DIST}
    with Server(mounts, headers=ISOLATED, quiet=True) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*FLAGS, "--js-flags=--expose-gc"])
        yield browser, f"{server.origin}/bench/page.html"
        browser.close()


@contextmanager
def new_page(host: Host) -> Iterator[Page]:
    """A page that has seen nothing."""
    browser, address = host
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(600_000)
    page.goto(address)
    page.wait_for_function("window.bench !== undefined")
    yield page
    context.close()


def measure(host: Host, name: str, sizes: list[int], omit: list[str]) -> dict[str, Any]:
    """A workload at its sizes, or at those of them that are given."""
    with new_page(host) as page:
        module = f"import('./workloads/{name}.js').then(({{ title, sizes }}) => ({{ title, sizes }}))"
        entry: dict[str, Any] = page.evaluate(module)
        call = "(args) => bench(...args)"
        chosen = [n for n in entry["sizes"] if not sizes or n in sizes]
        others = elsewhere.NAMES if name in SIMULATIONS and elsewhere.is_there() else []
        options = {"omit": omit, "elsewhere": others}
        with elsewhere.reachable(page, name, others):
            entry["sizes"] = [page.evaluate(call, [name, n, options]) for n in chosen]
    if name in SIMULATIONS:
        if not others:
            print(f"\n{entry['title']}: no JAX, no Taichi; `build.py bench --cpython` installs them")
        for size in entry["sizes"]:
            here = [library for library in size["contenders"] if library in LIBRARIES]
            for library, times in cold(host, name, here).items():
                size["contenders"][library]["compile, cold"] = times
    return entry


def in_turns(host: Host, names: Iterable[str], call: str, turns: int = 5) -> dict[str, list[Any]]:
    """What ``call`` gives of each name, each time in a fresh page."""
    found: dict[str, list[Any]] = {name: [] for name in names}
    for _ in range(turns):
        for name, given in found.items():
            with new_page(host) as page:
                given.append(page.evaluate(call, name))
    return found


def cold(host: Host, name: str, libraries: Iterable[str]) -> dict[str, dict[str, float]]:
    """Milliseconds of each library's first compilation of a simulation: quartiles."""
    call = f"(library) => import('./simulation.js').then(({{ cold }}) => cold('{name}', library))"
    return {library: quartiles(times) for library, times in in_turns(host, libraries, call).items()}


def starts(host: Host) -> dict[str, dict[str, float]]:
    """Milliseconds of each library from a fresh page to a first gradient: quartiles."""
    found = in_turns(host, LIBRARIES, "(name) => start(name)")
    return {
        name: {
            **quartiles([each["start"] for each in given]),
            "load": median(each["load"] for each in given),
        }
        for name, given in found.items()
    }


def quartiles(times: list[float]) -> dict[str, float]:
    q1, middle, q3 = quantiles(times, n=4, method="inclusive")
    return {"median": middle, "q1": q1, "q3": q3}


def run(names: list[str], sizes: list[int], note: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """All results, as JSON keeps them; ``note`` is given those so far, whenever there are more."""
    has_libm = build_libm(STATE / "bench" / "c")
    omit = [] if has_libm else ["C -O3 simd, libm"]
    others = [*omit, *LIBRARIES[1:]]
    with host() as running:
        results: dict[str, Any] = {
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "machine": machine(),
            "browser": f"Chromium {running[0].version}",
            "workloads": {},
        }
        for name in names:
            if name == START:
                results[START] = starts(running)
                print(start_table(results[START]), flush=True)
            elif name == STARTUP:
                results[STARTUP] = startup.measure(running[0])
                print(startup.table(results[STARTUP]), flush=True)
            elif name == FRAMES:
                results[FRAMES] = frames.measure(running[0])
                print(frames.table(results[FRAMES]), flush=True)
            elif name == TABLES:
                entries = {
                    part: results["workloads"].get(part) or measure(running, part, sizes, others)
                    for part in (*ratios.PUBLISHED, *ratios.PROGRAMS)
                }
                with new_page(running) as page:
                    results[TABLES] = ratios.measure(page, entries, {})
                print(ratios.table(results[TABLES]), flush=True)
            elif name == DIAGRAMS:
                with new_page(running) as page:
                    results[DIAGRAMS] = penrose.measure(page, penrose.diagrams(), {})
                print(penrose.table(results[DIAGRAMS]), flush=True)
            elif name == ABLATION:
                with new_page(running) as page:
                    results[ABLATION] = ablation.measure(page)
                print(ablation.table(results[ABLATION]), flush=True)
            elif name == FUNCTIONS:
                options = {"folder": "./libm"} if has_libm else {}
                with new_page(running) as page:
                    results[FUNCTIONS] = functions.measure(page, functions.RANGES, options)
                print(functions.table(results[FUNCTIONS]), flush=True)
            else:
                entry = measure(running, name, sizes, omit)
                results["workloads"][name] = entry
                print(table(entry), flush=True)
            note(results)
        if aims := targets.rows(results):
            print(targets.table(aims), flush=True)
    return results


def rounded(x: Any) -> Any:
    """Numbers as exact as they are repeatable."""
    if isinstance(x, float):
        return float(f"{x:.4g}")
    if isinstance(x, dict):
        return {key: rounded(value) for key, value in x.items()}
    return [rounded(item) for item in x] if isinstance(x, list) else x


def write(results: dict[str, Any], path: Path) -> None:
    text = json.dumps(rounded(results), ensure_ascii=False, separators=(",", ":"))
    path.write_text(text.replace('{"n":', '\n{"n":') + "\n")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="build.py bench --", description=__doc__)
    parser.add_argument("name", nargs="*", metavar="NAME", help="all, unless some are named")
    parser.add_argument("--sizes", type=lambda text: [int(n) for n in text.split(",")], default=[])
    parser.add_argument("--keep", action="store_true", help=f"as {KEPT.relative_to(ROOT)}")
    chosen = parser.parse_args(arguments)
    unknown = [name for name in chosen.name if name not in ALL]
    if unknown:
        parser.error(f"there is no {unknown[0]}; there are {', '.join(ALL)}")
    if chosen.keep and (chosen.name or chosen.sizes):
        parser.error("--keep takes no NAME and no --sizes: the site shows all of them")
    results = run(chosen.name or ALL, chosen.sizes, lambda found: write(found, STATE / "bench.json"))
    if chosen.keep:
        write(results, KEPT)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
