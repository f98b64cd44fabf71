"""The declarations of dist/rose.d.ts, in programs that are run as well as compiled.

`build.py check` has the compiler accept and refuse the programs of js_bridge/types/; here what they give
is held against the types and values that they say, and those that are refused have to throw.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import build
from build import BRIDGE, DIST

Run = Callable[[str], str]


def bundle(name: str, folder: Path) -> str:
    """The address of js_bridge/types/NAME.ts as JavaScript, on dist/rose.js."""
    file, rose = folder / f"{name}.mjs", DIST / "rose.js"
    build.run(
        build.node(),
        BRIDGE / "node_modules" / "esbuild" / "bin" / "esbuild",
        BRIDGE / "types" / f"{name}.ts",
        *("--bundle", "--format=esm", "--platform=node", f"--outfile={file}"),
        *(f"--alias:rose={rose}", f"--external:{rose}"),
    )
    return file.as_uri()


def test_what_is_accepted_gives_values_of_its_types(node: Run, tmp_path: Path) -> None:
    code = f"""
        import {{ deepStrictEqual }} from "node:assert";
        const {{ given }} = await import("{bundle("accepted", tmp_path)}");
        for (const {{ value, expected }} of given) deepStrictEqual(value, expected);
        console.log(given.length);"""
    assert int(node(code)) > 30


def test_what_is_refused_throws(node: Run, tmp_path: Path) -> None:
    code = f"""
        const {{ rejected }} = await import("{bundle("rejected", tmp_path)}");
        const silent = [];
        for (const program of rejected)
            try {{ await program(); silent.push(String(program)); }} catch {{}}
        console.log(JSON.stringify([rejected.length, silent]));"""
    count, silent = json.loads(node(code))
    assert count > 50
    assert silent == []


def test_nothing_is_any() -> None:
    text = (DIST / "rose.d.ts").read_text()
    assert "export declare const compile" in text
    code = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    assert not re.search(r"\bany\b", code)
