"""Makes dist/: the core's wheel, Pyodide with the core in it, the bridge, and the site."""

from __future__ import annotations

import functools
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from js_bridge.build.paths import BRIDGE, DIST, PYTHON, ROOT, RUNTIME, SCRIPTS
from js_bridge.build.site import build_site
from js_bridge.build.steps import BuildError, Input, digest, fingerprint, run, step
from js_bridge.build.tools import node

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

EPOCH = "1767225600"
"""2026-01-01, the date of every file in the wheel: the same source, the same bytes."""


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
    build_site()


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


def generate(path: str, argv: tuple[str, ...]) -> str:
    (ROOT / path).write_text(run(PYTHON, *argv))
    return ""
