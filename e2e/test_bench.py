"""The harness of the benchmarks, at sizes that tell nothing of speed: that it measures, what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, Page

from e2e.bench import elsewhere, frames, functions, penrose, ratios, startup, targets
from e2e.bench.c.build import RECORD, fingerprint
from e2e.bench.run import ISOLATED, SIMULATIONS, WORKLOADS
from e2e.bench.tables import table
from e2e.server import Server
from js_bridge.build.paths import BENCH, DIST, PENROSE, PYTHON, STATE
from rose_core.language.ops import OPS

FROM_REGISTRIES = ["rose 0.4.10", "TensorFlow.js", "jax-js"]
QUICK = {"calls": {"turns": 2, "turn": 0.1, "warm": 0, "warmBytes": 1e12}, "stages": {"turns": 1, "warm": 0}}


@pytest.fixture
def bench(page: Page) -> Iterator[Page]:
    """The benchmarks' page."""
    mounts = {"/bench/libraries/": DIST / "bench" / "libraries", "/bench/": BENCH}
    mounts |= {"/penrose/bundles/": STATE / "penrose", "/penrose/": PENROSE, "/": DIST}
    with Server(mounts, headers=ISOLATED, quiet=True) as server:
        page.goto(f"{server.origin}/bench/page.html")
        page.wait_for_function("window.bench !== undefined")
        yield page


def test_every_workload_agrees_and_is_measured(bench: Page) -> None:
    omit = [*FROM_REGISTRIES, "C -O3 simd, libm"]
    for name in WORKLOADS:
        workload: dict[str, Any] = bench.evaluate(
            f"import('./workloads/{name}.js').then((w) => ({{ ...w }}))"
        )
        n = min(workload["sizes"])
        found = bench.evaluate("(args) => bench(...args)", [name, n, {"omit": omit, **QUICK}])
        ours = found["contenders"]["this"]
        assert ours["gradient"]["median"] > 0 and ours["gradient"]["turns"] == 2, name
        assert ours["gradient, body"]["ratio"] == 1, name
        assert ours["bytes"] > 8 and ours["compile"]["median"] > 0, name
        assert "C -O3 simd" in found["contenders"], name
        text = table({"title": workload["title"], "sizes": [found]})
        assert workload["title"] in text and len(text.splitlines()) == 3 + len(found["contenders"]), name


def test_simulations_agree_with_the_programs_for_the_original(bench: Page) -> None:
    """As npm's rose is not here, ours runs its programs, which it is compared with elsewhere."""
    for name in SIMULATIONS:
        found = bench.evaluate(
            """async ([name, options]) => {
              const rose = await import("../rose.js");
              const { title, sizes: [n], measure, ours, original } = await import(`./workloads/${name}.js`);
              const [a, b] = await Promise.all([ours(), original(rose)]);
              const reals = (x) =>
                typeof x === "number" ? [x] : Object.keys(x).sort().flatMap((k) => reals(x[k]));
              const size = { n, contenders: await measure(n, options) };
              return { title, sizes: [size], numbers: [reals(a.call()), reals(b.call())] };
            }""",
            [name, {"omit": FROM_REGISTRIES, **QUICK}],
        )
        ours, original = found["numbers"]
        assert ours == pytest.approx(original, rel=1e-9, abs=1e-11 * max(map(abs, original))), name
        measured = found["sizes"][0]["contenders"]["this"]
        assert measured["gradient"]["ratio"] == 1 and measured["compile"]["median"] > 0, name
        assert found["title"] in table(found), name


def test_contenders_elsewhere_take_turns_with_the_page(bench: Page) -> None:
    """The page asks for the numbers of a problem, and then for milliseconds per call."""
    call = "import('./workloads/billiards.js').then(async ({ ours }) => (await ours()).call())"
    numbers: dict[str, Any] = bench.evaluate(call)
    asked: list[str] = []

    def answer(name: str, task: Any) -> Any:
        asked.append(name)
        return numbers if isinstance(task, dict) else 2.5

    bench.expose_function("elsewhere", answer)
    args = ["billiards", 1024, {"omit": FROM_REGISTRIES, "elsewhere": ["JAX", "Taichi"], **QUICK}]
    found = bench.evaluate("(args) => bench(...args)", args)["contenders"]
    assert list(found) == ["this", "JAX", "Taichi"]
    assert asked == ["JAX"] * 2 + ["Taichi"] * 2 + ["JAX", "Taichi"] * QUICK["calls"]["turns"]
    assert found["JAX"]["gradient"]["median"] == 2500
    assert found["JAX"]["gradient"]["ratio"] == pytest.approx(found["this"]["gradient"]["median"] / 2500)
    assert found["this"]["memory"] >= 65536
    assert "JAX" in table({"title": "Billiards", "sizes": [{"n": 1024, "contenders": found}]})
    numbers["loss"] *= 1.001
    with pytest.raises(Error, match="the gradient of JAX"):
        bench.evaluate("(args) => bench(...args)", args)


def test_why_a_contender_elsewhere_has_ended_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elsewhere, "CPYTHON", PYTHON)  # which has no JAX
    with (
        elsewhere.contender("JAX", "billiards") as ask,
        pytest.raises(RuntimeError, match=r"JAX ended(.|\n)*No module named 'jax'"),
    ):
        ask(["long"] * 50_000)


def test_a_workload_may_measure_by_itself(bench: Page) -> None:
    code = "export const measure = (n, { stages }) => ({ this: { gradient: n + stages.turns } });"
    bench.route("**/workloads/own.js", lambda route: route.fulfill(content_type="text/javascript", body=code))
    found = bench.evaluate("(args) => bench(...args)", ["own", 7, {"omit": [], **QUICK}])
    assert found == {"n": 7, "contenders": {"this": {"gradient": 8}}}


def test_diagrams_are_measured_with_either_rose(bench: Page) -> None:
    found = penrose.measure(bench, ["sets", "scalars"], QUICK)
    for name, diagram in found.items():
        assert diagram["idle"]["gradient"]["median"] > 0
        for library in ("ours", "original"):
            measured = diagram[library]
            for what in ("callable", "compile", "record", "engine", "gradient", "body"):
                assert measured[what]["median"] > 0, (name, library, what)
        assert diagram["ours"]["bytes"] < diagram["original"]["bytes"], name
    lines = penrose.table(found).splitlines()
    assert [line.split()[0] for line in lines[3:]] == ["sets", "scalars", "median", "largest"]


def test_built_in_functions_are_measured(bench: Page) -> None:
    assert set(functions.RANGES) == {op.name for op in OPS if isinstance(op.wasm, str) or callable(op.wasm)}
    found = functions.measure(bench, ["hypot", "tan"], QUICK)
    assert set(found["tan"]) == {"import", "bytes"}
    hypot = found["hypot"]
    assert hypot["bytes"] > 100
    for what in ("free", "waiting"):
        assert hypot["this"][what]["median"] > 0 and hypot["import"][what]["ratio"] == 1
    assert [line.split()[0] for line in functions.table(found).splitlines()[3:]] == ["hypot", "tan"]


@pytest.fixture
def agree(bench: Page) -> Callable[..., Any]:
    call = "(args) => import('./agree.js').then(({ mustAgree }) => mustAgree(...args))"
    return lambda *args: bench.evaluate(call, args)


def test_contenders_that_differ_are_refused(agree: Callable[..., Any]) -> None:
    agree([1, 2e6], [1.1, 2e6], 1e-6, "gradient of x")  # small beside the largest
    with pytest.raises(Error, match=r"gradient of x\[1\] is 2\.1, not 2"):
        agree([1, 2.1], [1, 2], 1e-6, "gradient of x")
    with pytest.raises(Error, match="3 numbers, not 2"):
        agree([1, 2, 3], [1, 2], 1e-6, "gradient of x")
    with pytest.raises(Error, match=r"\[0\] is (NaN|null), not 1"):
        agree([float("nan")], [1], 1e-6, "gradient of x")


def test_medians_quartiles_and_paired_ratios(bench: Page) -> None:
    code = """() => import("./measure.js").then(({ ratio, summary }) =>
      [summary([5, 1, 4, 2, 3]), ratio([2, 30, 4], [1, 10, 2])])"""
    times, ratio = bench.evaluate(code)
    assert times == {"median": 3, "q1": 2, "q3": 4, "min": 1, "turns": 5}
    assert ratio == 2


def test_what_was_kept_is_compared_with_what_was_aimed_at() -> None:
    kept = json.loads((BENCH.parents[1] / "site" / "benchmark.json").read_text())
    rows = targets.rows(kept)
    whats = [what for what, *_ in rows]
    called = "from a function to what can be called ÷ rose's"
    assert {called, "ms of the first call", "µs of compilation per operation"} <= set(whats)
    assert whats.count("gradient ÷ value, bodies") > len(WORKLOADS)
    unrolled = kept["workloads"]["rosenbrock_unrolled"]["sizes"][1]["contenders"]
    (row,) = [row for row in rows if row.what == called and row.where.endswith("n = 100")]
    ours, theirs = (unrolled[name]["callable"]["median"] for name in ("this", "rose 0.4.10"))
    assert row.found == ours / theirs and row.most == max(0.5, 3 / theirs)
    lines = targets.table(rows).splitlines()
    assert len(lines) == 3 + len(rows)
    assert all(line.endswith((" yes", " NO")) for line in lines[3:])


def test_targets_of_simulations() -> None:
    def times(ratio: float) -> dict[str, Any]:
        return {"gradient": {"median": 1 / ratio, "ratio": ratio}}

    contenders = {"this": {**times(1), "memory": 16e6}, "JAX": times(1.5), "Taichi": times(0.1)}
    entry = {"title": "It", "sizes": [{"n": 1, "contenders": contenders}]}
    found = targets.rows({"workloads": {"billiards": entry, "robot": entry}})
    assert [(row.what.split()[-1], row.found, row.most) for row in found] == [
        ("Taichi", 0.1, 0.15),
        ("JAX", 1.5, 1.0),
        ("JAX", 1.5, 2.0),
        ("gradient", 16.0, 32.0),
    ]


def test_targets_of_diagrams() -> None:
    def one(ratio: float) -> dict[str, Any]:
        measured = {"callable": {"median": 2.0}, "gradient": {"median": 2.0}, "bytes": 2}
        ours = {"callable": {"median": 2 * ratio}, "gradient": {"median": 2 * ratio}, "bytes": 2 * ratio}
        return {"ours": ours, "original": measured}

    found = targets.rows({"workloads": {}, "penrose": {str(k): one(k / 10) for k in (1, 4, 7)}})
    assert [(row.where, row.found) for row in found if "gradient" in row.what] == [
        ("median", 0.4),
        ("largest", 0.7),
    ]


def test_the_modules_of_c_are_made_of_their_sources() -> None:
    assert json.loads(RECORD.read_text())["modules"] == fingerprint(), "run: python3 e2e/bench/c/build.py"
    kept = {path.name for path in RECORD.parent.glob("*.wasm")}
    assert kept == set(fingerprint())


def test_starts_of_pages_are_measured(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    with startup.site() as root:  # once for all
        monkeypatch.setattr(startup, "site", lambda: nullcontext(root))
        found = {
            "ms": startup.times(browser, 1),
            "ms, slow line": startup.times_on_a_slow_line(browser, set(startup.VISITS) - {"frozen page"}),
            "ms in one piece": {"Python": startup.longest_task(browser)},
            "kB": startup.transfers(browser, ["frozen page, without its programs"]),
        }
    assert set(found["ms"]) == {*startup.VISITS, "first visit", "revisit"}
    assert all(value > 0 for values in found.values() for value in values.values())
    lines = startup.table(found).splitlines()
    assert len(lines) == sum(1 + len(values) for values in found.values())


def test_frames_are_measured(browser: Browser) -> None:
    found = frames.measure(browser, ["regression"], 200)
    assert found["regression"]["frames per second"] > 0 and found["regression"]["ms per frame"] > 0
    assert len(frames.table(found).splitlines()) == 2


def test_tables_compare_with_what_was_published(bench: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = {}
    for name in (*ratios.PUBLISHED, *ratios.PROGRAMS):
        of: dict[str, Any] = bench.evaluate(f"import('./workloads/{name}.js').then((w) => ({{ ...w }}))")
        options = {"omit": [*FROM_REGISTRIES, "C -O3 simd, libm"], **QUICK}
        size = bench.evaluate("(args) => bench(...args)", [name, min(of["sizes"]), options])
        entries[name] = {"title": of["title"], "sizes": [size]}
    here = {"autograd": {"10": {"gradient": 0.2, "ratio": 40.0}}}
    monkeypatch.setattr(ratios, "by_autograd", lambda name, sizes: here)
    found = ratios.measure(bench, entries, QUICK, size=20)
    assert found["hessian"]["passes"] == 3 and found["hessian"]["ratio"] > 0
    [row] = found["rosenbrock"]
    assert row["n"] == 10 and row["published"]["ReverseDiff"] == {"gradient": 0.00582, "ratio": 34}
    own = entries["rosenbrock"]["sizes"][0]["contenders"]["this"]
    assert row["this"]["gradient"] == own["gradient"]["median"] / 1e3
    assert all(row["of C"] > 0 for row in found["programs"])
    row["this"] |= {"ratio": 33.9, "body ratio": 2.0}  # not less than the better one of both
    found["programs"][0] |= {"body ratio": 3.0, "of C": 1.31}
    lines = ratios.table(found).splitlines()
    first = next(line for line in lines if line.startswith("10 "))
    assert "32x (0.000581)" in first and "40x (0.2)" in first and first.endswith("NO")
    assert next(line for line in lines if line.startswith("sin")).endswith("NO")
