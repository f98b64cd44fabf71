"""What the continuous integration asks of the sources before it tests them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from js_bridge.build.dist import GENERATED
from js_bridge.build.paths import BRIDGE, PYTHON, ROOT, SCRIPTS
from js_bridge.build.steps import BuildError, Command, run, step
from js_bridge.build.tools import node


def check() -> None:
    """Raise what is wrong: with style or types, with what is generated, or with addresses in lock files."""
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
    code += SCRIPTS.glob("*.py")
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
