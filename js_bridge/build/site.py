"""Makes the site of dist/, with what its pages show of others' programs, and freezes it."""

from __future__ import annotations

import functools
import json
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from js_bridge.build.paths import BENCH, BRIDGE, BROWSER, DIST, PENROSE, PYTHON, ROOT, STATE
from js_bridge.build.steps import Command, Input, digest, files, locked, run, step
from js_bridge.build.tools import node


def build_site() -> None:
    # What is frozen belongs to one build, and goes with the site that it was made for.
    step("site", [*site_inputs(), BRIDGE / "package-lock.json"], [DIST / "site" / "index.html"], copy_site)
    bundle_for_site()
    bundle_bench()


def site_inputs() -> list[Input]:
    scripts = [digest(DIST / f"rose.{name}")[1] for name in ("js", "worker.js", "python.js")]
    return [ROOT / "site", *scripts, digest(DIST / "pyodide" / "rose_core.zip")[1]]


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
