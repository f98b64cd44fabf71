"""`rose compile`: files that need nothing else, in JavaScript, in TypeScript and in Python."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from e2e.node import returned, run
from e2e.server import Server
from js_bridge.build.paths import BRIDGE, CLIENTS, PYTHON, ROOT
from js_bridge.build.tools import node
from rose_core import RunError, __version__, load

MODEL = """
import math
from rose_core import Bool, Real, Vec, fn, grad, index, max, min, opaque, pow, sin, struct, sum, vec

Body = struct(mass=Real, at=Vec(2, Real), kind=4, fixed=Bool, À=Real, a=Real)
By = struct(a=Real, b=2, toInfinity=Real)
BY = {"a": 2, "b": 1, "toInfinity": math.inf}

@fn
def power(v: Vec(2, Real)) -> Real:
    return pow(v[0], v[1])

@fn
def energy(bodies: Vec(3, Body), k: Real, new: 3) -> Real:
    return sum(3, lambda i: bodies[i].mass * sin(k * bodies[i].at[1]) * bodies[i].a) + bodies[new].À * k

@fn
def copied(bodies: Vec(3, Body)) -> Vec(3, Body):
    return vec(3, Body, lambda i: bodies[i])

@fn
def transposed(m: Vec(2, Vec(3, Real))) -> Vec(3, Vec(2, Real)):
    return vec(3, Vec(2, Real), lambda i: vec(2, Real, lambda j: m[j][i]))

@fn
def chosen(v: Vec(3, Real), x: Real) -> Real:
    return v[index(3, x)]

square = fn([Real], Real, lambda x: x * x)
slopes = grad(chosen, [0, 1])
exchanged = fn([Real], {"1": Real, "0": Bool}, lambda x: {"1": x, "0": x > 0})

@fn
def clipped(v: Vec(2, Real), low: Real, high: Real = math.inf, by: By = BY) -> Real:
    return min(max(v[0] * by.a, low), high) * v[by.b]

@fn
def none() -> Real:
    return 7

@fn
def then() -> Real:
    return 7

@fn
def __proto__() -> Real:
    return 7

@fn
def reserved(function: Real, function_: Real, arguments: Real) -> Real:
    return function * function_ * arguments

@fn
def a_function_that_has_a_name_of_40_letters(x: Real) -> Real:
    return sin(x)

outside = opaque([Real], Real, lambda x: x)

@fn
def uses_python(x: Real) -> Real:
    return outside(x)
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    (folder / "model.py").write_text(MODEL)
    return folder


@pytest.fixture(scope="module")
def rose(folder: Path) -> Run:
    """Run the command in the model's folder."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        program = [PYTHON, "-m", "rose_core.cli", *words]
        return subprocess.run(program, cwd=folder, env=env, capture_output=True, text=True, timeout=60)

    return run


def compiled(rose: Run, name: str, *options: str) -> None:
    done = rose("compile", f"model.py:{name}", *options, "-o", "out")
    assert done.returncode == 0, done.stderr


def in_node(folder: Path, name: str, body: str) -> Any:
    head = f"""
        import {{ load }} from "{(folder / "out" / f"{name}.js").as_uri()}";
        const functions = await load();"""
    return returned(run, head, body)


LN2 = math.log(2)
POWER = [8, [12, 8 * LN2], [[12, 4 + 12 * LN2], [4 + 12 * LN2, 8 * LN2**2]]]


def test_value_gradient_and_hessian(folder: Path, rose: Run, page: Page) -> None:
    compiled(rose, "power", "--grad", "--hessian")
    body = "return ['power', 'gradient', 'hessian'].map((name) => functions[name]([2, 3]));"
    value, slope, matrix = in_node(folder, "power", body)
    in_page = f"async () => {{ const functions = await (await import('/power.js')).load(); {body} }}"
    (folder / "out" / "blank.html").write_text('<!doctype html><link rel="icon" href="data:,">')
    with Server({"/": folder / "out"}, quiet=True) as server:
        page.goto(f"{server.origin}/blank.html")
        assert page.evaluate(in_page) == [value, slope, matrix]
    loaded = [load(folder / "out" / f"power{name}.wasm") for name in ("", ".gradient", ".hessian")]
    assert [f([2, 3]) for f in loaded] == [value, slope, matrix]
    assert [value, *slope, *matrix[0], *matrix[1]] == pytest.approx(
        [POWER[0], *POWER[1], *POWER[2][0], *POWER[2][1]],
        rel=1e-14,  # type: ignore[misc, index]
    )


def bodies() -> list[dict[str, Any]]:
    return [
        {"mass": 1.5 * k, "at": [k, 2.0 * k], "kind": k, "fixed": k == 2, "À": 0.25 * k, "a": 1.0 + k}
        for k in (1, 2, 3)
    ]


def test_what_is_no_longer_made_is_removed(folder: Path, rose: Run) -> None:
    """It would be of a function that was edited since."""
    compiled(rose, "square", "--grad", "--hessian")
    (folder / "out" / "square.gradient.wasm").write_text("somebody else's")
    compiled(rose, "square")
    names = sorted(path.name for path in (folder / "out").glob("square*"))
    assert names == ["square.d.ts", "square.gradient.wasm", "square.js", "square.wasm"]
    assert "square.hessian" not in (folder / "out" / "square.js").read_text()


def test_any_types_and_several_arguments(folder: Path, rose: Run) -> None:
    compiled(rose, "energy", "--grad", "--hessian")
    args = [bodies(), 0.5, 2]
    names = ["energy", "gradient", "hessian"]
    body = f"return {json.dumps(names)}.map((name) => functions[name](...{json.dumps(args)}));"
    value, slope, rows = in_node(folder, "energy", body)
    f, g, h = (
        load(folder / "out" / f"{file}.wasm") for file in ("energy", "energy.gradient", "energy.hessian")
    )
    assert [value, slope, rows] == [f(*args), g(*args), h(*args)]
    assert value == pytest.approx(
        sum(b["mass"] * math.sin(0.5 * b["at"][1]) * b["a"] for b in args[0]) + 0.75 * 0.5  # type: ignore[attr-defined]
    )
    assert list(slope) == ["bodies", "k"]
    assert [b["kind"] for b in slope["bodies"]] == [1, 2, 3]
    # the derivatives of the gradient by each number, by central differences
    assert len(rows) == 3 * 5 + 1
    for row, (path, step) in zip(rows, places(), strict=True):
        ahead, behind = numbers(g(*moved(args, path, step))), numbers(g(*moved(args, path, -step)))
        differences = [(x - y) / (2 * step) for x, y in zip(ahead, behind, strict=True)]
        assert reals(row) == pytest.approx(reals_of(differences), abs=1e-7), path


def places() -> list[tuple[list[Any], float]]:
    """Where the arguments' numbers are, in the order in which they are written."""
    per_body = [["mass"], ["at", 0], ["at", 1], ["À"], ["a"]]
    return [([0, k, *path], 1e-5) for k in range(3) for path in per_body] + [([1], 1e-5)]


def moved(args: list[Any], path: list[Any], step: float) -> list[Any]:
    found = json.loads(json.dumps(args))
    at = found
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] += step
    return found


def numbers(x: Any) -> list[float]:
    """All numbers in a value."""
    if isinstance(x, dict):
        x = list(x.values())
    return [y for item in x for y in numbers(item)] if isinstance(x, list) else [float(x)]


def reals(x: Any) -> list[float]:
    """The numbers of a gradient that are derivatives."""
    return reals_of(numbers(x))


def reals_of(row: list[float]) -> list[float]:
    kind, fixed = 3, 4
    return [x for k, x in enumerate(row) if k == 21 or k % 7 not in (kind, fixed)]


def test_structs_come_out_as_they_go_in(folder: Path, rose: Run) -> None:
    compiled(rose, "copied")
    body = f"return functions.copied({json.dumps(bodies())});"
    assert in_node(folder, "copied", body) == bodies() == load(folder / "out" / "copied.wasm")(bodies())
    compiled(rose, "none")
    assert in_node(folder, "none", "return functions.none();") == 7


def test_what_is_by_several_arguments_is_an_array(folder: Path, rose: Run) -> None:
    """As it is in a page."""
    compiled(rose, "slopes")
    assert in_node(folder, "slopes", "return functions.slopes([1, 2, 3], 2);") == [[0, 0, 1], 0]
    types = (folder / "out" / "slopes.d.ts").read_text()
    assert "slopes(v: ArrayLike<number>, x: number): [number[], number];" in types
    # the names are to be in their order
    compiled(rose, "exchanged")
    assert in_node(folder, "exchanged", "return functions.exchanged(3);") == {"0": True, "1": 3}
    types = (folder / "out" / "exchanged.d.ts").read_text()
    assert 'exchanged(x: number): { "1": number; "0": boolean; };' in types


def test_what_has_a_default_may_be_left_out(folder: Path, rose: Run) -> None:
    """As in Python, and in JavaScript by undefined, too."""
    compiled(rose, "clipped", "--grad", "--hessian")
    body = """
        const { clipped, gradient, hessian } = functions;
        const told = [];
        for (const args of [[[3, 5]], [[3, 5], 1, 2, undefined, 4], [[3, 5], 1, null]])
            try { clipped(...args); } catch (error) { told.push(error.message); }
        return [
            clipped([3, 5], 1), clipped([3, 5], 1, 4),
            clipped([3, 5], 1, undefined, { a: 3, b: 0, toInfinity: 1 }),
            gradient([3, 5], 1).v, hessian([3, 5], 1)[1].v, ...told,
        ];"""
    told = [f"clipped: expected 2 or 3 or 4 arguments, got {n}" for n in (1, 5)]
    told.append("high: expected a number, got null")
    assert in_node(folder, "clipped", body) == [30, 20, 27, [10, 6], [2, 0], *told]
    value, slope, second = (
        load(folder / "out" / f"clipped{name}.wasm") for name in ("", ".gradient", ".hessian")
    )
    by = {"a": 3, "b": 0, "toInfinity": 1}
    assert [value([3, 5], 1), value([3, 5], low=1, by=by), slope([3, 5], 1)["v"]] == [30, 27, [10, 6]]
    assert second([3, 5], 1)[1]["v"] == [2, 0]
    with pytest.raises(TypeError, match="clipped got no argument for low"):
        value([3, 5])
    types = (folder / "out" / "clipped.d.ts").read_text()
    assert "clipped(v: ArrayLike<number>, low: number, high?: number, by?: { " in types


def test_a_file_may_belong_to_a_package(folder: Path, rose: Run) -> None:
    package = folder / "physics" / "laws"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("G = 9.81")
    (package / "__init__.py").write_text("from .. import G")
    (package / "constants.py").write_text("HALF = 0.5")
    (package / "random.py").write_text("from .nowhere import nothing")
    source = """
        import tempfile  # which imports Python's own random
        from rose_core import Real, fn
        import constants
        from . import G
        from .constants import HALF

        @fn
        def new(t: Real) -> Real:
            return HALF * G * t * t
    """
    (package / "falling.py").write_text(textwrap.dedent(source))
    done = rose("compile", "physics/laws/falling.py:new", "--grad", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert in_node(folder, "new", "return [functions.new(2), functions.gradient(2)];") == [19.62, 19.62]
    assert '"new"(t: number): number;' in (folder / "out" / "new.d.ts").read_text()


def test_what_the_functions_say_of_wrong_arguments(folder: Path, rose: Run) -> None:
    compiled(rose, "chosen")
    compiled(rose, "energy")
    says = """
        const all = JSON.parse(bodies);
        const changed = (action) => { const b = JSON.parse(bodies); action(b); return b; };
        return calls(functions, all, changed).map((call) => {
            try { return call(); } catch (error) { return `${error.name}: ${error.message}`; }
        });"""
    start = f"const bodies = {json.dumps(json.dumps(bodies()))};"
    calls = """const calls = ({ energy }, all, changed) => [
        () => energy(all, 1),
        () => energy(all.slice(1), 1, 0),
        () => energy(all, "1", 0),
        () => energy(all, 1, 3),
        () => energy(changed((b) => { b[1].at = 5; }), 1, 0),
        () => energy(changed((b) => { b[2].fixed = 1; }), 1, 0),
        () => energy(changed((b) => { delete b[0].a; }), 1, 0),
    ];"""
    assert in_node(folder, "energy", start + calls + says) == [
        "TypeError: energy: expected 3 arguments, got 2",
        "TypeError: bodies: expected 3 elements, got 2",
        'TypeError: k: expected a number, got "1"',
        "TypeError: new: expected a whole number below 3, got 3",
        "TypeError: bodies.at: expected 2 elements, got undefined",
        "TypeError: bodies.fixed: expected true or false, got 1",
        "TypeError: bodies.a: expected a number, got undefined",
    ]
    compiled(rose, "square")
    calls = "const calls = ({ square }) => [() => square(), () => square(3)];"
    assert in_node(folder, "square", start + calls + says) == [
        "TypeError: square: expected 1 arguments, got 0",
        9,
    ]
    calls = "const calls = ({ chosen }) => [2, 3].map((x) => () => chosen([1, 2, 3], x));"
    line = MODEL[: MODEL.index("index(3, x)")].count("\n") + 1
    failed = f"index: 3 cannot be an index, expected a whole number from 0 to 2 (model.py, line {line})"
    assert in_node(folder, "chosen", start + calls + says) == [3, f"RangeError: {failed}"]
    # what a file says is its own, whatever else this process has compiled
    with pytest.raises(RunError, match=re.escape(failed)):
        load(folder / "out" / "chosen.wasm")([1.0, 2.0, 3.0], 3)


def test_typed_arrays_are_rows_of_numbers(folder: Path, rose: Run) -> None:
    compiled(rose, "transposed")
    body = """
        const numbers = Float64Array.of(9, 1, 2, 3, 4, 5, 6);
        const rows = [numbers.subarray(1, 4), numbers.subarray(4), numbers];
        const told = [];
        try { functions.transposed([rows[0], rows[2]]); } catch (error) { told.push(`${error}`); }
        const { transposed } = functions;
        return [transposed(rows.slice(0, 2)), transposed([rows[1], [7, 8, 9]]), ...told];"""
    assert in_node(folder, "transposed", body) == [
        [[1, 4], [2, 5], [3, 6]],
        [[4, 7], [5, 8], [6, 9]],
        "TypeError: m: expected 3 elements, got 7",
    ]


def test_the_calling_code_is_small(folder: Path, rose: Run) -> None:
    """Also of functions with long names."""
    name = "a_function_that_has_a_name_of_40_letters"
    compiled(rose, name, "--grad", "--hessian")
    file = folder / "out" / f"{name}.js"
    size = f'require("zlib").brotliCompressSync(require("fs").readFileSync({str(file)!r})).length'
    done = subprocess.run([node(), "-p", size], capture_output=True, text=True, timeout=60, check=True)
    assert int(done.stdout) <= 1500


def test_the_calling_code_is_typed(folder: Path, rose: Run) -> None:
    compiled(rose, "energy", "--grad", "--hessian")
    compiled(rose, "reserved")
    (folder / "out" / "use.ts").write_text(
        """
        import { load } from "./energy.js";
        import { load as loadReserved } from "./reserved.js";
        const { energy, gradient, hessian } = await load();
        const body = { mass: 1, at: new Float64Array(2), kind: 3, fixed: true, À: 1, a: 2 };
        const value: number = energy([body, body, body], 1, 2);
        const slope: number[] = gradient([body, body, body], 1, 2).bodies[0].at;
        const second: number = hessian([body, body, body], 1, 2)[3].k;
        // @ts-expect-error
        energy([{ ...body, fixed: 1 }], 1, 2);
        // @ts-expect-error
        energy([body, body, body], 1);
        const product: number = (await loadReserved()).reserved(2, 3, 4);
        export { value, slope, second, product };
        """
    )
    tsc = [node(), BRIDGE / "node_modules" / "typescript" / "bin" / "tsc", "--noEmit", "--strict"]
    options = ["--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler", "--types", ""]
    words = [*tsc, *options, folder / "out" / "use.ts"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert not done.returncode, done.stdout


ASKS = """from rose_core import Real, fn

@fn
def f(x: Real) -> Real:
    if x > 0:
        return x
    return -x
"""

MEANS = """from statistics import mean
from rose_core import Real, fn

def f(x):
    return mean([x, 1])

f = fn([Real], Real, f)
"""


@pytest.mark.parametrize(
    "words, message",
    [
        ("model.py", "expected FILE:FUNCTION, such as model.py:f, got model.py"),
        ("models.py:f", "there is no file models.py"),
        ("model.py:force", "model.py has no function force made with fn; it has power, energy, copied"),
        ("model.py:uses_python", "uses_python calls <lambda>, which runs Python; a file cannot hold that"),
        ("model.py:copied --grad", "copied gives [3]{mass: Real"),
        ("model.py:copied --grad", "only what gives a Real has a gradient: use jacobian(copied)"),
        ("model.py:none --hessian", "none takes no Real, so it has no gradient"),
        ("model.py:", "expected FILE:FUNCTION, such as model.py:f, got model.py:"),
        ("model.py:then", "JavaScript takes an object with a then for a promise; rename it in model.py"),
        ("model.py:__proto__", "__proto__ has a meaning of its own in JavaScript; rename it in model.py"),
        ("broken.py:f", "ZeroDivisionError"),
        ("leaves.py:f", "SystemExit"),
        ("asks.py:f", 'asks.py", line 5, in f\n    if x > 0:\n'),
        ("asks.py:f", "TypeError: a symbolic value has no truth value"),
        ("means.py:f", 'means.py", line 5, in f\n    return mean([x, 1])\n'),
        ("bare.py:f", 'bare.py", line 2, in <module>\n    @fn\n'),
        ("no.py:f", "rose: no.py does not run:\n  File"),
    ],
)
def test_what_the_command_says(folder: Path, rose: Run, words: str, message: str) -> None:
    (folder / "broken.py").write_text("1 / 0\n")
    (folder / "leaves.py").write_text("import sys\nsys.exit(0)\n")
    (folder / "asks.py").write_text(ASKS)
    (folder / "means.py").write_text(MEANS)
    (folder / "bare.py").write_text("from rose_core import Real, fn\n@fn\ndef f(x) -> Real: ...\n")
    (folder / "no.py").write_text("def f(:\n")
    done = rose("compile", *words.split(), "-o", "nowhere")
    assert done.returncode == 2 and done.stderr.startswith("rose: ") and message in done.stderr
    assert not (folder / "nowhere").exists()


def test_the_command_has_a_version(rose: Run) -> None:
    assert rose("--version").stdout == f"rose {__version__}\n"


def test_who_stops_it_is_told_so(folder: Path, rose: Run) -> None:
    (folder / "stopped.py").write_text("raise KeyboardInterrupt\n")
    done = rose("compile", "stopped.py:f")
    assert (done.returncode, done.stderr) == (130, "rose: stopped\n")


@pytest.mark.parametrize("data", [b"", b"\0asm\1\0\0\0", b"something else"])
def test_other_files_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"was not made by|no WebAssembly"):
        load(data)


def test_where_nothing_can_be_written(folder: Path, rose: Run) -> None:
    (folder / "file").write_text("")
    done = rose("compile", "model.py:none", "-o", "file/out")
    assert done.returncode == 2
    assert done.stderr.startswith("rose: ") and "Not a directory" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_page_says_where_the_files_are(folder: Path, rose: Run, page: Page) -> None:
    """By an address as it would write it elsewhere."""
    compiled(rose, "none")
    (folder / "out" / "page.html").write_text("<link rel=icon href=data:,>")
    (folder / "out" / "inner").mkdir()
    (folder / "out" / "none.wasm").rename(folder / "out" / "inner" / "none.wasm")
    with Server({"/": folder / "out"}, quiet=True) as server:
        page.goto(f"{server.origin}/page.html")
        ask = "async (at) => (await (await import('/none.js')).load(at)).none()"
        assert [page.evaluate(ask, at) for at in ("./inner/", "inner/", "/inner/")] == [7, 7, 7]
        page.evaluate(
            "document.head.append(Object.assign(document.createElement('base'), { href: '/inner/' }))"
        )
        assert page.evaluate(ask, "./") == 7


def test_a_classic_script_finds_the_files_next_to_it(folder: Path, rose: Run, page: Page) -> None:
    """In a page and in a worker, or where they say; a script for Node has to say where."""
    compiled(rose, "none")
    inner = folder / "out" / "classic"
    inner.mkdir()
    (folder / "out" / "none.wasm").rename(inner / "none.wasm")
    esbuild = BRIDGE / "node_modules" / "esbuild" / "bin" / "esbuild"
    options = ["--bundle", "--global-name=made", "--log-level=error"]
    for kind, name in (("iife", "made.js"), ("cjs", "made.cjs")):
        words = [esbuild, folder / "out" / "none.js", *options, f"--format={kind}"]
        subprocess.run([*words, f"--outfile={inner / name}"], timeout=60, check=True)
    text = "require('./made.cjs').load(__dirname + '/').then(({ none }) => console.log(none()))"
    (inner / "node.cjs").write_text(text)
    done = subprocess.run([node(), inner / "node.cjs"], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("7\n", "")
    source = (inner / "made.js").read_text()
    (inner / "worker.js").write_text(
        source
        + "made.load().then(async ({ none }) => postMessage([none(), (await made.load('./')).none()]));"
    )
    (folder / "out" / "page.html").write_text(
        "<link rel=icon href=data:,><script src='classic/made.js'></script>"
    )
    with Server({"/": folder / "out"}, quiet=True) as server:
        page.goto(f"{server.origin}/page.html")
        ask = "async (...at) => (await made.load(...at)).none()"
        assert [page.evaluate(ask), page.evaluate(ask, "./classic/")] == [7, 7]
        ask = (
            "new Promise((done) => { new Worker('classic/worker.js').onmessage = ({ data }) => done(data); })"
        )
        assert page.evaluate(ask) == [7, 7]


def test_a_bundler_finds_the_files(folder: Path, rose: Run, page: Page) -> None:
    compiled(rose, "power", "--grad")
    site = folder / "bundled"
    site.mkdir()
    (site / "index.html").write_text('<link rel=icon href=data:,><script type=module src="main.js"></script>')
    (site / "main.js").write_text(
        "import { load } from '../out/power.js';\n"
        "const { power, gradient } = await load();\n"
        "globalThis.found = [power([3, 2]), gradient([3, 2])];\n"
    )
    vite = CLIENTS / "vite" / "node_modules" / "vite" / "bin" / "vite.js"
    words = [node(), vite, "build", "--target=esnext", "--logLevel=warn", "--assetsInlineLimit=0"]
    done = subprocess.run(words, cwd=site, capture_output=True, text=True, timeout=120, check=True)
    assert not done.stdout + done.stderr
    assert len(list((site / "dist" / "assets").glob("*.wasm"))) == 2
    with Server({"/": site / "dist"}, quiet=True) as server:
        page.goto(server.origin)
        page.wait_for_function("globalThis.found")
        assert page.evaluate("found") == [9, [6, pytest.approx(9 * math.log(3))]]


def test_in_node_a_folder_is_as_seen_from_the_module(folder: Path, rose: Run) -> None:
    compiled(rose, "none")
    out = folder / "out"
    for at in ("./", f"{out}/", out.as_uri() + "/"):
        assert in_node(folder, "none", f"return (await load({at!r})).none();") == 7
