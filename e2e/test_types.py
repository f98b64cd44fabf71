"""The declarations of dist/rose.d.ts, in programs that are run as well as compiled.

`build.py check` has the compiler accept and refuse the programs of js_bridge/types/; here what they give
is held against the types and values that they say, and those that are refused have to throw.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from js_bridge.build.paths import BRIDGE, DIST, PENROSE, ROOT
from js_bridge.build.steps import run
from js_bridge.build.tools import node

Run = Callable[[str], str]


def bundle(name: str, folder: Path) -> str:
    """The address of js_bridge/types/NAME.ts as JavaScript, on dist/rose.js."""
    file, rose = folder / f"{name}.mjs", DIST / "rose.js"
    run(
        node(),
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


def compiler(folder: Path, *libraries: str, **programs: str) -> list[str]:
    """What the compiler says of these programs, with `rose` and `./rose.js` in dist/."""
    paths = {"rose": [str(DIST / "rose.d.ts")], "vitest": ["./vitest.d.ts"]}
    options = {"target": "ES2022", "module": "ESNext", "moduleResolution": "bundler", "strict": True}
    options |= {"lib": ["ES2022", *(libraries or ["DOM"])], "types": [], "noEmit": True, "paths": paths}
    (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "include": ["*.ts"]}))
    (folder / "vitest.d.ts").write_text(VITEST)
    for name, program in programs.items():
        (folder / f"{name}.ts").write_text(program)
    tsc = BRIDGE / "node_modules" / "typescript" / "bin" / "tsc"
    words = [node(), tsc, "-p", folder, "--pretty", "false"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, cwd=folder)
    return [line for line in done.stdout.splitlines() if not line.startswith(" ")]


VITEST = """
type Check = (...values: unknown[]) => void;
interface Expectation { readonly [name: string]: Check & Expectation }
type Suite = (name: string, body: () => void | Promise<void>) => void;
export declare const describe: Suite;
export declare const test: Suite & { readonly [name: string]: Suite };
export declare const expect: (value: unknown) => Expectation;
"""
ORIGINAL = PENROSE / "node_modules" / "rose"


def test_programs_for_the_original_compile(tmp_path: Path) -> None:
    """Those are its own tests. The one wrong index type in them is there to be refused."""
    program = (ORIGINAL / "src" / "index.test.ts").read_text()
    assert program.count("test(") > 50
    errors = compiler(tmp_path, original=program.replace('"./index.js"', '"rose"'))
    lines = [int(error.split("(")[1].split(",")[0]) for error in errors]
    assert ["Vec(Real, Null)" in program.splitlines()[line - 1] for line in lines] == [True], errors


def test_names_of_the_original_are_exported(tmp_path: Path) -> None:
    declarations = (ORIGINAL / "dist" / "index.d.ts").read_text()
    names = re.search(r"export \{.*?\}", declarations, flags=re.DOTALL)
    assert names
    assert names[0].count(",") > 50
    assert compiler(tmp_path, names=f'{names[0]} from "rose";') == []


def test_declarations_are_found_beside_the_module(tmp_path: Path) -> None:
    module = """
        import { Real, compile, fn } from "./rose.js";
        const f = await compile(fn([Real], Real, (x) => x));
        export const y: number = f(1);
        export const z: string = f(1);"""
    script = """
        /// <reference path="./rose.d.ts" />
        rose.compile(rose.fn([rose.Real], rose.Bool, (x) => rose.gt(x, 0))).then((f) => f(1) === 2);"""
    shutil.copy(DIST / "rose.d.ts", tmp_path)
    errors = compiler(tmp_path, module=module, script=script)
    assert [error.split(",")[0] for error in errors] == ["module.ts(5", "script.ts(3"], errors


def test_types_of_a_browser_are_not_needed(tmp_path: Path) -> None:
    globals_of_node = """
        declare class AbortSignal { readonly aborted: boolean }
        declare class URL { readonly href: string }"""
    program = """
        import { Real, compile, fn } from "rose";
        const f = fn([Real], Real, (x) => x);
        const memory = { buffer: new ArrayBuffer(0), grow: (pages: number) => pages };
        export const y: number = (await compile(f, { memory }))(1);
        void compile(f, { memory: 3 });"""
    errors = compiler(tmp_path, "ESNext.Disposable", globals=globals_of_node, program=program)
    assert [error.split(",")[0] for error in errors] == ["program.ts(6"], errors


def test_programs_of_the_readme_compile(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text()
    modules = re.findall(r'<script type="module">(.*?)</script>', text, flags=re.DOTALL)
    programs = {f"program{i}": code.replace('"./rose.js"', '"rose"') for i, code in enumerate(modules)}
    assert len(programs) > 1
    assert compiler(tmp_path, **programs) == []


def test_nothing_is_any() -> None:
    text = (DIST / "rose.d.ts").read_text()
    assert "export declare const compile" in text
    code = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    assert not re.search(r"\bany\b", code)
