"""The site's modules that need no page, in Node."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator

import pytest

from e2e.explorables import USES
from e2e.node import returned
from js_bridge.build.paths import ROOT

Run = Callable[[str], object]


@pytest.fixture
def run(node: Callable[[str], str]) -> Run:
    """What the body of an async function returns, as JSON; it has the site's modules by name."""
    shared, of_surfaces, of_lines = (
        "format latest region search tree",
        "camera relief taylor",
        "descent landscape",
    )
    imports = "".join(
        f'import * as {name} from "./site/{folder}/{name}.js";'
        for folder, names in {"lib": shared, "quadratic": of_surfaces, "regression": of_lines}.items()
        for name in names.split()
    )
    imports += 'import { ending as shot } from "./site/billiards/words.js";'
    imports += 'import { ending as walk } from "./site/robot/words.js";'
    return lambda body: returned(node, imports, body)


def test_numbers_as_text(run: Run) -> None:
    assert run(
        """return [[0], [12], [8 * Math.LN2, 5], [-0.00012], [1595.2, 3], [123456.7], [1234567],
          [2.1e-7], [-1 / 0], [NaN], [0.1 + 0.2], [999999.9]].map((args) => format.format(...args))"""
    ) == [
        *("0", "12", "5.5452", "−0.00012", "1600", "123457", "1.23457 × 10⁶"),
        *("2.1 × 10⁻⁷", "−∞", "undefined", "0.3", "1 × 10⁶"),
    ]
    assert run("return [[-0.00001, 3], [3.00009, 3], [-2.5, 1]].map((a) => format.fixed(...a))") == [
        "0.000",
        "3.000",
        "−2.5",
    ]
    assert run("return [5, 113596, 1e6].map(format.count)") == ["5", "113\u202f596", "1\u202f000\u202f000"]


def test_the_landscape_of_a_loss(run: Run) -> None:
    """The best line, and curvatures as the eigenvalues of the Hessian 2 (3 6; 6 14)."""
    found = run(
        """const { loss, best, lowest, steep, gentle, limit } = landscape.landscapeOf([1, 2, 3], [2, 2, 5]);
        return [best.b0, best.b, loss(best), lowest, steep, gentle, limit]"""
    )
    steep, gentle = 17 + 265**0.5, 17 - 265**0.5
    assert found == pytest.approx([0, 1.5, 1.5, 1.5, steep, gentle, 2 / steep])
    # all points above one another: a level line through their middle
    assert run("return landscape.landscapeOf([4, 4], [1, 2]).best") == {"b0": 1.5, "b": 0}


DESCENT = """
    const { loss, best, lowest, limit } = landscape.landscapeOf([1, 2, 3], [2, 2, 5]);
    const [x, y] = [[1, 2, 3], [2, 2, 5]];
    const evaluate = ({ b0, b }) => {
      const grad = { b0: 0, b: 0 };
      x.forEach((xi, i) => { const e = 2 * (b0 + b * xi - y[i]); grad.b0 += e; grad.b += e * xi; });
      return { loss: loss({ b0, b }), grad };
    };
    const run = new descent.Descent({ b0: 4, b: 0 }, { evaluate, lowest, hinge: 0 });
"""


def test_a_descent_settles(run: Run) -> None:
    outcome, b0, b, above = run(  # type: ignore[misc]
        DESCENT
        + "run.advance(0.9 * limit, Infinity); return [run.outcome, run.line.b0, run.line.b, run.at.loss]"
    )
    assert outcome == "settled"
    assert [b0, b, above] == pytest.approx([0, 1.5, 1.5], abs=1e-12)


def test_a_descent_diverges_and_remembers_its_best(run: Run) -> None:
    outcome, best, lost, finite = run(  # type: ignore[misc]
        DESCENT
        + """run.advance(1.05 * limit, 1e6);
        return [run.outcome, run.best.at.loss, run.at.loss, Number.isFinite(run.line.b)]"""
    )
    assert outcome == "diverged"
    assert best < 10 < lost
    assert finite


def test_the_latest_request_counts(run: Run) -> None:
    assert run(
        """const log = [];
        const ask = latest.latest(async (n, isLatest) => {
          await new Promise((done) => setTimeout(done));
          log.push([n, isLatest()]);
        });
        for (let n = 1; n <= 5; ++n) ask(n);
        while (log.length < 2) await new Promise((done) => setTimeout(done));
        ask(6);
        while (log.length < 3) await new Promise((done) => setTimeout(done));
        return log"""
    ) == [[1, False], [5, True], [6, True]]


def test_a_range_of_heights(run: Run) -> None:
    heights = "region.heightsOf({}, [-1, 1], [-1, 1])"
    assert run(f"return {heights.format('(x, y) => x + y')}") == [-2.5, 2.5]
    assert run(f"return {heights.format('() => 3')}") == [1.5, 4.5]
    assert run(f"return {heights.format('() => NaN')} ?? null") is None
    low, high = run(f"return {heights.format('(x) => 1 / (x + 1)')}")  # type: ignore[misc]
    assert -10 < low < 0.5 < 8 < high < 60  # where x is almost -1 is left out
    low, high = run(f"return {heights.format('(x) => x * 1e308')}")  # type: ignore[misc]
    assert low < high


def test_the_nearest_point_with_a_value(run: Run) -> None:
    nearest = "region.nearestPoint((x) => Math.sqrt(x), { x: [-1, 1], y: [0, 1] }, "
    assert run(f"return {nearest} [0.3, 0.7])") == [0.3, 0.7]
    assert run(f"return {nearest} [-0.5, 0.5])") == [0, 0.5]
    assert run(f"return {nearest} [5, 5])") == [1, 1]


def test_what_is_under_a_pixel(run: Run) -> None:
    """`pick` undoes `at`, up to a fraction of a pixel, from wherever one looks."""
    misses = run(
        """const f = (x, y) => Math.sin(x) + y / 2;
        const box = { x: [-2, 2], y: [-1, 3], z: [-2, 3] };
        const eye = new camera.Camera();
        const misses = [];
        for (let k = 0; k < 12; ++k) {
          eye.turn(0.6, k % 2 ? 0.4 : -0.35);
          const look = eye.look({ width: 500, height: 400 }, box);
          for (const [x, y] of [[0.5, 1], [-1.7, 2.9], [2, -1], [0, 0]]) {
            const [px, py] = look.at(x, y, f(x, y));
            const found = look.pick([px, py], f, [x + 0.1, y - 0.1]);
            const [qx, qy] = look.at(...found, f(...found));
            misses.push(Math.hypot(qx - px, qy - py));
          }
        }
        return misses"""
    )
    assert max(misses) < 0.2  # type: ignore[call-overload]


def test_what_a_surface_hides(run: Run) -> None:
    """A wall across the line of sight hides what is low behind it, and nothing that is high or before it."""
    gaps = run(
        """const f = (x, y) => (Math.abs(y) < 0.2 ? 1 : -1);
        const box = { x: [-1, 1], y: [-1, 1], z: [-1, 1] };
        const look = new camera.Camera(0, 0.3).look({ width: 500, height: 400 }, box);
        const seen = relief.reliefOf(f, box);
        if (relief.reliefOf(f, { ...box }) !== seen) throw Error("made anew");
        const gap = (v, w) => seen.passes(look, 0, v, camera.HALF * w)[0];
        return [gap(0.7, -0.9), gap(0.7, 0.99), gap(-0.5, -0.9), gap(0, 0.5)]"""
    )
    hidden, high, before, inside = gaps  # type: ignore[misc]
    assert hidden < 0 < min(high, before)
    assert inside < 0
    # what lies under a surface is seen from below where the line of sight leaves the box under it
    below = run(
        """const box = { x: [-1, 1], y: [-1, 1], z: [-1, 1] };
        const look = new camera.Camera(0, 0.3).look({ width: 500, height: 400 }, box);
        const seen = relief.reliefOf((x, y) => 0, box);
        return [-0.9, 0.9].map((v) => seen.passes(look, 0, v, -0.2)[1])"""
    )
    front, back = below  # type: ignore[misc]
    assert back < 0 < front


def test_the_approximation_of_a_quadratic_is_exact(run: Run) -> None:
    assert run(
        """const d = { z: 5, g: [2, -1], h: [[4, 3], [3, -2]] };
        const f = (x, y) => 5 + 2 * x - y + 2 * x * x + 3 * x * y - y * y;
        const at = (px, py) => taylor.taylor(d, [0, 0], 2)(px, py) - f(px, py);
        return [at(1, 2), at(-0.5, 3), taylor.taylor(d, [1, 1], 1)(2, 3), taylor.shape(d)]"""
    ) == [0, 0, 5, "a saddle: it bends up one way and down the other"]


SEARCH = """
    const problem = {
      evaluate: ({ x: [x] }) => ({ loss: x * x, grad: { x: [2 * x] } }),
      stride: (size) => size, enough: 1e-6, limit: 1e3, patience: 5,
    };
    const from = (x, change = {}) => new search.Search({ ...problem, ...change }, { x: [x] });
    const run = (s, size, most = 1000) => {
      for (let k = 0; k < most && (k === 0 || s.outcome === "going"); ++k) s.advance(size);
      return [s.outcome, s.tries.length, s.best.params.x[0], s.tries.indexOf(s.best)];
    };
"""


def test_a_search_arrives(run: Run) -> None:
    outcome, count, best, number = run(SEARCH + "return run(from(4), 0.25)")  # type: ignore[misc]
    assert (outcome, count, best, number) == ("arrived", 13, 4 / 2**12, 12)
    assert run(SEARCH + "return run(from(0), 1)") == ["arrived", 1, 0, 0]


def test_a_search_that_loses_its_way_goes_on_from_its_best(run: Run) -> None:
    assert run(SEARCH + "const s = from(4); return [run(s, 2), run(s, 0.5)]") == [
        ["lost", 3, 4, 0],
        ["arrived", 4, 0, 3],
    ]
    # not a number is no good state, whatever the loss says
    holes = "{ evaluate: ({ x: [x] }) => ({ loss: x, grad: { x: [x > 3 ? 1 : NaN] } }) }"
    assert run(SEARCH + f"const s = from(4, {holes}); return run(s, 2)") == ["lost", 2, 4, 0]


def test_a_search_that_has_nowhere_to_begin_says_so(run: Run) -> None:
    holes = "{ evaluate: () => ({ loss: NaN, grad: { x: [NaN] } }) }"
    assert run(SEARCH + f"const s = from(4, {holes}); return [s.outcome, s.hasFailed]") == ["lost", True]
    assert run(SEARCH + "return from(0).outcome") == "arrived"


@pytest.mark.parametrize(
    ("size", "change", "shot", "walk"),
    [
        ("0.5", "", "After 1 step, ball 7 is in the ring", ""),
        ("0.1", "", "", ""),
        ("1", "", "For 100 tries it got no better.*Kept is the best try, number 0", "For 50 tries.*number 0"),
        ("9", "", "A step size of 9 is too large", "Steps of length 9 are too long: in try 1"),
        (
            "1",
            "loss: x, grad: { x: [0] }",
            "the cue ball does reaches ball 7: the gradient is 0",
            "gradient is 0",
        ),
        ("1", "loss: NaN, grad: { x: [x] }", "A step size of 1", "This body does not hold together"),
    ],
)
def test_how_searches_end_in_words(run: Run, size: str, change: str, shot: str, walk: str) -> None:
    evaluate = f"{{ evaluate: ({{ x: [x] }}) => ({{ {change} }}) }}" if change else "{}"
    found = run(
        f"{SEARCH} const s = from(4, {evaluate}); run(s, {size}, 7);"
        f"return [shot(s, 7, {size}), walk(s, {size})]"
    )
    for text, pattern in zip(found, (shot, walk), strict=True):  # type: ignore[call-overload]
        assert re.search(pattern, text) if pattern else text == "", text


def test_a_search_without_a_slope_or_without_progress_ends(run: Run) -> None:
    step = "{ evaluate: ({ x: [x] }) => ({ loss: x > 3 ? x : 9, grad: { x: [x > 3 ? 1 : 0] } }) }"
    assert run(SEARCH + f"return run(from(4, {step}), 2)") == ["flat", 2, 4, 0]
    assert run(SEARCH + f"const s = from(2, {step}); return [run(s, 2), run(s, 1)]") == [
        ["flat", 1, 2, 0],
        ["flat", 1, 2, 0],
    ]
    # back and forth over the valley, for as long as patience lasts
    assert run(SEARCH + "const s = from(4); return [run(s, 1), run(s, 1), run(s, 0.5)]") == [
        ["stuck", 7, 4, 0],
        ["stuck", 13, 4, 0],
        ["arrived", 14, 0, 13],
    ]


def test_parameters_of_any_shape(run: Run) -> None:
    assert run(
        """const a = { b: [1, { c: 2 }], d: [[2]] };
        return [tree.map((x, y) => x - y, a, tree.map((x) => x * x, a)), tree.norm(a)]"""
    ) == [{"b": [0, {"c": -2}], "d": [[-2]]}, 3]


# ---- how much code a page has -------------------------------------------------------

SITE = ROOT / "site"
MOST = 250
OF_PAGES = (
    r"\bdocument\.|\bHTML\w*Element\b|from \"\.[\w./]*/(page|picture|html|svg|plot|line-chart|drag)\.js\""
)


def code_of(name: str) -> str:
    """A module without comments and blank lines."""
    text = re.sub(r"/\*.*?\*/|^\s*//.*?$", "", (SITE / name).read_text(), flags=re.DOTALL | re.MULTILINE)
    return "\n".join(line for line in text.splitlines() if line.strip())


def modules_of(page: str) -> set[str]:
    """What a page loads from the site, directly or not."""

    def loaded(name: str) -> Iterator[str]:
        for address in re.findall(r"(?:from|import)[ (]\"(\.[\w./-]+\.js)\"", code_of(name)):
            yield posixpath.normpath(posixpath.join(posixpath.dirname(name), address))

    found: set[str] = set()
    waiting = re.findall(r"<script[^>]* src=\"([\w/-]+\.js)\"", (SITE / f"{page}.html").read_text())
    assert waiting
    while waiting:
        name = waiting.pop()
        if name not in found and (SITE / name).exists():
            found.add(name)
            waiting += loaded(name)
    return found


@pytest.mark.parametrize("page", USES)
def test_a_page_has_little_code_of_its_own(page: str) -> None:
    """Its own is what no other page loads and what has to do with a page: draws there, or asks for elements.

    So models are not counted, which could be used anywhere, nor what the page says in words.
    """
    shared = {name for other in USES if other != page for name in modules_of(other)}
    own = {name for name in modules_of(page) - shared if not name.endswith("/words.js")}
    assert f"{page}/{page}.js" in own
    here = [name for name in own if re.search(OF_PAGES, (SITE / name).read_text())]
    lines = {name: len(code_of(name).splitlines()) for name in here}
    assert 0 < sum(lines.values()) < MOST, lines


def test_what_fails_is_told_and_the_next_is_done(run: Run) -> None:
    body = """
        const told = [];
        globalThis.reportError = ({ message }) => told.push(message);
        let over;
        const isOver = new Promise((done) => { over = done; });
        const take = latest.latest(async (x) => {
            if (x < 2) throw Error(`not ${x}`);
            over(x);
        });
        for (const x of [0, 1, 2]) take(x);
        return [await isOver, told];"""
    assert run(body) == [2, ["not 0"]]
