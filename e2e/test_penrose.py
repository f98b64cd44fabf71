"""A real client: Penrose, published for npm's rose, lays out diagrams with ours.

Its bundles, made by build.py, differ in nothing but which rose `rose` is. The diagrams in
clients/penrose/diagrams/ call, between them, all of its library that can be called: see `EXCEPT`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from e2e.conftest import watch
from e2e.server import Server
from js_bridge.build.paths import DIST, PENROSE, STATE

DIAGRAMS = PENROSE / "diagrams"
NAMES = sorted(path.name for path in DIAGRAMS.iterdir())

NO_LAYOUT = {"silhouettes"}
"""Penrose's gradient is in part no number there, with either rose."""

LARGEST = "shelf"

EXCEPT = {
    "round": "its operation is not supported",
    "overlappingEllipses": "its polynomial roots are not supported",
    "overlappingCircleEllipse": "its polynomial roots are not supported",
}
"""What no diagram calls: @penrose/core 4.0.0-alpha.5 itself throws there."""


def trio(name: str) -> dict[str, str]:
    files = {kind: DIAGRAMS / name / f"{name}.{kind}" for kind in ("domain", "substance", "style")}
    return {"variation": "rose", **{kind: path.read_text() for kind, path in files.items()}}


@pytest.fixture(scope="module")
def watched(browser: Browser) -> Iterator[tuple[Page, list[str]]]:
    """A page with both bundles, and what went wrong on it so far."""
    problems: list[str] = []
    context = browser.new_context(viewport={"width": 960, "height": 800})
    watch(context, problems)
    page = context.new_page()
    with Server({"/penrose/bundles/": STATE / "penrose", "/penrose/": PENROSE, "/": DIST}) as server:
        page.goto(f"{server.origin}/penrose/page.html")
        page.wait_for_function("window.clients !== undefined")
        yield page, problems
    context.close()


@pytest.fixture
def penrose(watched: tuple[Page, list[str]]) -> Iterator[Page]:
    page, problems = watched
    problems.clear()
    yield page
    assert not problems


@pytest.fixture
def load(penrose: Page) -> Callable[[str], None]:
    """Compile a diagram with both, as `window.states`."""
    code = """async (trio) => {
        window.states = {};
        for (const name of Object.keys(clients)) states[name] = await clients[name].load(trio);
    }"""
    return lambda name: penrose.evaluate(code, trio(name))


def agree(found: list[float], expected: list[float], what: str) -> None:
    """To 1e-9, each number by itself; one that is nearly nothing beside the largest, beside that."""
    largest = max((abs(x) for x in expected), default=0.0)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-14 * largest), what


@pytest.mark.parametrize("name", NAMES)
def test_energy_and_gradient_are_those_of_the_original(
    penrose: Page, load: Callable[[str], None], name: str
) -> None:
    load(name)
    ours, original = penrose.evaluate("""() => ["ours", "original"].map((name) => {
        const state = states[name];
        const stages = state.optStages.map((stage) => {
            const { gradient, ...others } = clients[name].evaluate(state, stage);
            return { gradient: [...gradient], ...others };
        });
        return { at: state.varyingValues, stages, shapes: clients[name].numbers(state) };
    })""")
    assert ours["at"] == original["at"]
    agree(ours["shapes"], original["shapes"], "shapes")
    for stage, expected in zip(ours["stages"], original["stages"], strict=True):
        agree([stage["phi"]], [expected["phi"]], "energy")
        for what in ("objectives", "constraints"):
            agree(stage[what], expected[what], what)
        pairs = [
            pair for pair in zip(stage["gradient"], expected["gradient"], strict=True) if pair[1] == pair[1]
        ]
        assert len(pairs) == len(stage["gradient"]) or name in NO_LAYOUT
        agree([x for x, _ in pairs], [x for _, x in pairs], "gradient")
        assert any(x for _, x in pairs)


def test_where_the_original_has_no_gradient_ours_is_that_of_the_energy(
    penrose: Page, load: Callable[[str], None]
) -> None:
    """Zero times infinity is no number, unless the zero is known while compiling."""
    load("silhouettes")
    rows = penrose.evaluate("""() => {
        const { ours, original } = clients;
        const [stage] = states.ours.optStages;
        const { gradient } = ours.evaluate(states.ours, stage);
        const theirs = original.evaluate(states.original, stage).gradient;
        const at = states.ours.varyingValues;
        const energy = (i, step) => ours.evaluate(states.ours, stage, at.with(i, at[i] + step)).phi;
        return [...gradient.keys()]
            .filter((i) => Number.isNaN(theirs[i]) && !Number.isNaN(gradient[i]))
            .map((i) => [gradient[i], (energy(i, 1e-5) - energy(i, -1e-5)) / 2e-5]);
    }""")
    assert len(rows) >= 10
    for found, expected in rows:
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-4)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in NO_LAYOUT])
def test_layout(
    penrose: Page, load: Callable[[str], None], screenshot: Callable[..., Path], name: str
) -> None:
    """The optimiser converges, and what it found is drawn."""
    load(name)
    status, before, after, shapes = penrose.evaluate("""async () => {
        const client = clients.ours;
        const done = client.optimize(states.ours);
        const svg = await client.draw(done);
        document.body.replaceChildren(svg);
        const stage = done.optStages.at(-1);
        const energy = (state) => client.evaluate(state, stage).phi;
        const drawn = svg.querySelectorAll("circle, ellipse, rect, line, polygon, polyline, path, text");
        return [done.params.optStatus, energy(states.ours), energy(done), drawn.length];
    }""")
    assert status == "EPConverged"
    assert after < before
    assert shapes >= 4
    screenshot(penrose, f"penrose-{name}")


def test_the_diagrams_call_everything_that_penrose_has(penrose: Page) -> None:
    styles = "\n".join((DIAGRAMS / name / f"{name}.style").read_text() for name in NAMES)
    library: dict[str, list[str]] = penrose.evaluate("() => ({ ...clients.ours.library })")

    def called(prefix: str) -> set[str]:
        return set(re.findall(rf"{prefix}(\w+)\(", styles))

    found = {"constraints": called("ensure "), "objectives": called("encourage "), "functions": called("")}
    for kind, names in library.items():
        missing = [name for name in names if name not in found[kind] and name not in EXCEPT]
        assert not missing, kind


def test_large_diagrams_are_among_them(penrose: Page, load: Callable[[str], None]) -> None:
    def count() -> Any:
        return penrose.evaluate("() => [states.ours.objFns.length, states.ours.constrFns.length]")

    load("graph")
    assert count() == [1900, 130]
    load("shelf")
    assert count()[1] > 500


COUNT_MEMORY = """
    globalThis.memory = { made: 0, grown: 0 };
    const { Memory } = WebAssembly;
    const { grow } = Memory.prototype;
    Memory.prototype.grow = function (pages) { ++memory.grown; return grow.call(this, pages); };
    WebAssembly.Memory = class extends Memory { constructor(...x) { super(...x); ++memory.made; } };
"""


def test_compiling_over_and_over_leaves_no_memory_behind(browser: Browser) -> None:
    """Of 200 rounds of compiling, running and dropping diagrams, 20 of the largest, nothing remains.

    The core runs on the page's thread here, so that its memory is counted, too. Python's heap grows by a
    fifth at a time; when a page's garbage is collected is the engine's choice, so its peak may need one more.
    """
    page = browser.new_page()
    page.add_init_script(COUNT_MEMORY)
    rounds = """async ([trio, rounds]) => {
        const { ours } = clients;
        const state = ((window.states ??= {})[trio.substance] ??= await ours.load(trio));
        for (let k = 0; k < rounds; ++k) ours.evaluate(await ours.anew(state), state.optStages[0]);
    }"""
    with Server({"/penrose/bundles/": STATE / "penrose", "/penrose/": PENROSE, "/": DIST}) as server:
        page.goto(f"{server.origin}/penrose/page.html?core=main")
        page.wait_for_function("window.clients !== undefined")
        session = page.context.new_cdp_session(page)

        def used() -> tuple[float, Any]:
            for _ in range(3):  # what is collected first, finalizers give back after it
                session.send("HeapProfiler.collectGarbage")
                page.wait_for_timeout(50)
            return session.send("Runtime.getHeapUsage")["usedSize"], page.evaluate("memory")

        for name, some in ((LARGEST, 5), ("sets", 5), ("scalars", 10)):
            page.evaluate(rounds, [trio(name), some])
        heap, memory = used()
        for name, more in ((LARGEST, 15), ("sets", 25), ("scalars", 140)):
            page.evaluate(rounds, [trio(name), more])
        heap_after, memory_after = used()
    page.close()
    assert memory_after["made"] == memory["made"]
    assert memory_after["grown"] <= memory["grown"] + 1
    assert heap_after < heap + 3e6  # the engine's own notes about 180 modules
