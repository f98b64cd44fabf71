"""Data goes one way through the project: each folder imports only from those that come before it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence

import pytest

from js_bridge.build.paths import ROOT

Arrow = tuple[str, str]
"""A file, and one that it imports from, as paths without endings."""

BRIDGE = ["opcodes.gen", "rules.gen", "record", "host", "known", "core", "call", "draft"]
BRIDGE += ["inspect", "sparse", "page", "worker", "index"]

CORE = ["errors", "deep", "encode", "libm", "language", "optimise", "derivatives", "wasm"]
CORE += ["tracing", "operators", "host", "export", "solvers", "recording", "practice", "api", "inspection"]
CORE += ["standalone", "bridge", "__init__", "cli"]

BUILD = ROOT / "js_bridge" / "build"
STEPS = ["paths", "steps", "tools", "site", "dist", "check"]


def bridge() -> Iterator[Arrow]:
    source = ROOT / "js_bridge" / "src"
    for path in source.rglob("*.ts"):
        # declarations are not asked, nor what only compares those for authors with the bridge
        if (path.suffixes == [".ts"] and path.stem != "contract") or ".gen" in path.suffixes:
            for name in re.findall(r'(?:from|import)\s+"(\.[^"]*)"', path.read_text()):
                to = (path.parent / name).resolve()
                if to != source.parent / "rose":  # declarations for authors, whose types all may use
                    yield str(path.relative_to(source).with_suffix("")), str(to.relative_to(source))


def core() -> Iterator[Arrow]:
    """Of Python, also what is imported for types alone, or where it is needed."""
    source = ROOT / "rose_core"
    for path in source.rglob("*.py"):
        place = str(path.relative_to(source).with_suffix(""))
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("rose_core"):
                _, *parts = node.module.split(".")
                for name in (alias.name for alias in node.names):
                    is_own = parts or (source / name).exists() or (source / f"{name}.py").exists()
                    yield place, "/".join(parts or [name if is_own else "__init__"])


def steps() -> Iterator[Arrow]:
    """Of what build.py consists of."""
    for path in BUILD.glob("[a-z]*.py"):
        for name in re.findall(r"^from js_bridge\.build\.(\w+) import", path.read_text(), re.MULTILINE):
            yield path.stem, name


def upwards(arrows: Iterator[Arrow], order: Sequence[str]) -> list[str]:
    tops = [(path, to, *(order.index(name.partition("/")[0]) for name in (path, to))) for path, to in arrows]
    return [f"{path} imports from {to}" for path, to, own, other in tops if other > own]


@pytest.mark.parametrize(("arrows", "order"), [(bridge, BRIDGE), (core, CORE), (steps, STEPS)])
def test_all_is_imported_from_what_comes_before(
    arrows: Callable[[], Iterator[Arrow]], order: Sequence[str]
) -> None:
    assert upwards(arrows(), order) == []
    # and in another order something would not be
    assert upwards(arrows(), order[::-1])


def test_what_is_imported_is_seen() -> None:
    assert ("call/compile", "record/functions") in bridge()
    assert ("wasm/lower_sums", "wasm/lower_loops") in core()
    assert ("worker", "draft/draft") in bridge()  # which it hands on


@pytest.mark.parametrize("folder", ["language", "optimise", "derivatives", "wasm", "recording", "cli"])
def test_the_page_of_a_folder_names_every_module(folder: str) -> None:
    source = ROOT / "rose_core" / folder
    page = ast.get_docstring(ast.parse((source / "__init__.py").read_text()))
    assert page
    assert set(re.findall(r"(?<!`)`(\w+)`", page)) == {path.stem for path in source.glob("[a-z]*.py")}


def chains(module: str) -> list[list[str]]:
    """The passes that a module runs, on each other's results, in order; those of one line together."""
    tree = ast.parse((ROOT / "rose_core" / module).read_text())
    of: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and ".optimise." in node.module:
            of |= {alias.name: node.module.rpartition(".")[2] for alias in node.names}
    lines: dict[int, list[tuple[int, str]]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in of:
            lines.setdefault(node.lineno, []).append((-node.col_offset, of[node.func.id]))
    return [[name for _, name in sorted(lines[line])] for line in sorted(lines)]


def test_passes_run_in_the_order_of_their_page() -> None:
    page = (ROOT / "rose_core" / "optimise" / "__init__.py").read_text()
    parts = [re.findall(r"^- `(\w+)`", part, re.MULTILINE) for part in page.split("\n\n")]
    before, loops, carried, after, lowered = [part for part in parts if part][:5]
    assert sorted(chains("derivatives/expand.py")) == sorted([before, loops, carried, after])
    run = dict.fromkeys(name for chain in chains("optimise/unroll.py") for name in chain)
    assert [name for name in run if name in lowered] == [name for name in lowered if name != "unroll"]
