#!/usr/bin/env python3
"""Set up, build, serve and test Rose, on a machine that has Python 3.11 or newer.

    python3 build.py setup           make .venv, fetch the tools and find a browser
    python3 build.py setup --browsers all   and bring the other engines; `test` takes this, too
    python3 build.py build           write dist/, complete in itself, and freeze its site
    python3 build.py serve           build, then serve the site at a local address
    python3 build.py check           formatting, linting and types, as CI does it first
    python3 build.py test [-- ARGS]  check, build, run all tests; ARGS go to pytest
    python3 build.py bench [NAME]    build, then run the benchmarks (or one of them)
    python3 build.py bench --cpython the same functions against libraries for Python, which it installs

Each verb runs the ones before it as far as it needs them. A step whose inputs have
the content that they had when it last succeeded is skipped: `.build/steps.json`
holds one hash per step. Everything made here is ignored by git, and deleting
`.venv`, `.build`, `dist` and `js_bridge/node_modules` is a clean start.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from e2e.server import Server
from js_bridge.build import tools
from js_bridge.build.check import check
from js_bridge.build.dist import build
from js_bridge.build.paths import BENCH, BROWSER, CPYTHON, DIST, PENROSE, PYTHON, ROOT
from js_bridge.build.site import bundle_penrose, freeze
from js_bridge.build.steps import BuildError, locked


def serve(host: str, port: int | None) -> None:
    for choice in (8000, 0) if port is None else (port,):  # 0: whichever is free
        try:
            server = Server({"/": DIST}, host, choice)
            break
        except (OSError, OverflowError) as error:  # the latter of a number that no port has
            cause = str(getattr(error, "strerror", None) or error)
    else:
        raise BuildError(f"port {choice} of {host}: {cause}", "Try another --port, or --host.")
    with server:
        print(f"\n{server.origin}/site/   (Ctrl+C ends it)", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print()


UNDISTURBED = "undisturbed"
"""Marks tests beside which nothing runs but at the lowest priority: where the machine is busy, the drivers of
Firefox and of WebKitGTK lose what is done to a page, and now and then an answer."""

NOTHING_CHOSEN = 5
"""What pytest ends with where there is no test that the arguments choose."""

ENDED = "the end of a process, which no test can raise"
"""The only reason to begin a test of pages again: its browser never answered."""


def test(args: list[str]) -> int:
    """Run pytest: everything, side by side, unless the arguments name files or tests of their own.

    Tests of pages wait for much, and those undisturbed come one by one. The core's, which only compute, take
    what these leave of the processors, at the lowest priority, and tell of themselves at the end.
    """
    pytest = [str(PYTHON), "-m", "pytest"]
    if any(Path(ROOT / arg.partition("::")[0]).exists() for arg in args):
        return subprocess.call([*pytest, *args], cwd=ROOT)
    processors = os.cpu_count() or 1
    workers = min(processors + 1, 4)
    # neighbours stay together, and what is left of a process that ended goes on in another; where files are
    # kept whole, pytest-xdist waits for ever instead (its issue 1378)
    spread = ["--dist", "worksteal"]
    again = ["--reruns", "1", "--only-rerun", ENDED]
    pages = ["-n", f"{workers}", "-m", f"not {UNDISTURBED}", *spread, *again, "e2e"]
    # in a process of its own, too, so that one that has to be ended can be begun again
    one_by_one = ["-n", "1", "-m", UNDISTURBED, "e2e/test_engines.py"]
    core = ["nice", "-n", "19", *pytest, "-n", f"{processors}", *spread, "tests", *args]
    with TemporaryFile() as told:
        beside = subprocess.Popen(core, cwd=ROOT, stdout=told, stderr=subprocess.STDOUT)
        codes = [subprocess.call([*pytest, *words, *args], cwd=ROOT) for words in (pages, one_by_one)]
        codes.append(beside.wait())
        told.seek(0)
        sys.stdout.flush()
        shutil.copyfileobj(told, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    # below zero: a signal has ended it
    failed = [code for code in codes if code not in (0, NOTHING_CHOSEN)]
    return failed[0] if failed else min(codes)


def bench(args: list[str], cpython: bool) -> int:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    script = [CPYTHON, BENCH / "cpython.py"] if cpython else [PYTHON, BENCH / "run.py"]
    return subprocess.call([*script, *args], cwd=ROOT, env=env)


def compares_with_cpython(settings: Mapping[str, Any]) -> bool:
    """Whether the benchmarks that are asked for need the libraries for Python."""
    if settings["verb"] != "bench":
        return False
    names = settings["name"]
    return settings["cpython"] or not names or "tables" in names


def prepare(verb: str, checked: bool, cpython: bool, browsers: str) -> None:
    """Set up, check and build as far as `verb` needs it, one build.py at a time.

    ``cpython``: the libraries for Python, too, that are compared with.
    """
    with locked("lock"), ThreadPoolExecutor() as beside:
        tools.setup()
        # A reader who only wants to see the site has a browser already; nothing here waits for it.
        needs_browser = verb in ("setup", "test", "bench")
        coming = beside.submit(tools.setup_browsers, browsers) if needs_browser else None
        if cpython:
            tools.setup_cpython()
        if verb == "check" or (verb == "test" and checked):
            check()
        if verb in ("test", "bench"):
            tools.setup_clients()
        if verb in ("build", "serve", "test", "bench"):
            tools.setup_client(PENROSE)  # of which a page of the site is made
            tools.install("peers", BENCH)  # which a page of the site measures
            build()
        if verb == "build":
            if BROWSER.exists():
                freeze()
            else:
                print("  freeze: there is no browser; python3 build.py setup looks for one")
        if verb in ("test", "bench"):
            bundle_penrose()
        if coming:
            coming.result()


def main() -> int:
    arguments, passed = sys.argv[1:], []
    if "--" in arguments:
        cut = arguments.index("--")
        arguments, passed = arguments[:cut], arguments[cut + 1 :]
    parser = argparse.ArgumentParser(
        prog="build.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    of_browsers = argparse.ArgumentParser(add_help=False)
    of_browsers.add_argument(
        "--browsers", choices=["one", "all"], default="one", help="all: Firefox and WebKit, too"
    )
    verbs.add_parser("setup", parents=[of_browsers])
    for verb in ("build", "check"):
        verbs.add_parser(verb)
    options = verbs.add_parser("serve")
    options.add_argument("--port", type=int, help="8000, or any that is free")
    options.add_argument("--host", default="127.0.0.1", help="0.0.0.0: for other machines too")
    options = verbs.add_parser("test", parents=[of_browsers])
    options.add_argument("--no-check", action="store_true", help="go straight to the tests")
    options = verbs.add_parser("bench")
    options.add_argument("name", nargs="*")
    options.add_argument("--cpython", action="store_true", help="against Python libraries instead")
    chosen = parser.parse_args(arguments)
    try:
        settings = vars(chosen)
        browsers = settings.get("browsers", "one")
        prepare(chosen.verb, not settings.get("no_check"), compares_with_cpython(settings), browsers)
        if chosen.verb == "serve":
            serve(chosen.host, chosen.port)
        elif chosen.verb == "test":
            return test(passed)
        elif chosen.verb == "bench":
            return bench([*chosen.name, *passed], chosen.cpython)
    except BuildError as error:
        print(f"\nerror: {error}", file=sys.stderr)
        if error.advice:
            print(f"\nwhat to do: {error.advice}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
