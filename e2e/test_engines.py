"""The site and the core in Chromium, in Firefox and in WebKitGTK, where these are installed.

What a page or a test asks for on the way is seen at the host, as not every engine tells. A test whose
browser never answers ends its process, and is begun again once, and so is one where WebKit says that
WebAssembly left its memory; any other that fails is not.

WebKit says that now and then of a module that stays in its memory: WebKitGTK 2.50.6, of one in some thousand
new instances of the robot's gradient, all on the same numbers, while its optimising compiler replaces code
that runs; of such without lanes or without parameters, too; without that compiler of none in 2,500. What is
really wrong is wrong again.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from math import inf, isinf, isnan, nan
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from build import ENDED
from e2e.conftest import OTHERS, PAGES
from e2e.explorables import EVALUATES, STRICT, USES, text
from e2e.frozen import Frozen
from e2e.server import Server
from e2e.tab import KEPT, Tab
from e2e.webkit import prepare
from js_bridge.build.paths import DIST, ROOT
from rose_core import compile
from rose_core.language.ops import OPS

ENGINES_OWN = [
    ENDED,
    "Out of bounds memory access",
    # now and then a worker of the benchmarks' worker is never begun: Firefox's first one, WebKit's later ones
    "Loading this library, and Python for it",
    "1 of 1: sin",
]
pytestmark = pytest.mark.flaky(reruns=1, only_rerun=ENGINES_OWN)


class Host:
    """The site and a folder of pages, all of which note what goes wrong on them."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.url = f"{server.origin}/deep/"

    def loads_python(self) -> bool:
        """Whether that was asked for since the last time that this was looked at."""
        asked = list(self.server.asked)
        self.server.asked.clear()
        return any("/pyodide/" in path for path in asked)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the host shows: dist/ in a folder, its pages with the script that notes."""
    copies = tmp_path_factory.mktemp("watched")
    return {
        "/deep/": DIST,
        "/deep/site/": prepare(DIST / "site", copies / "site"),
        "/deep/pages/": prepare(PAGES, copies / "pages"),
    }


@pytest.fixture
def host(folder: dict[str, Any]) -> Iterator[Host]:
    with Server(folder, headers=STRICT, quiet=True) as server:
        yield Host(server)


# ---- the site -----------------------------------------------------------------------


def test_no_page_is_missing() -> None:
    assert {path.stem for path in (ROOT / "site").glob("*.html")} == set(USES)


@pytest.mark.parametrize("open_tab", OTHERS, indirect=True)
@pytest.mark.parametrize("name", USES)
def test_a_page_is_used(tab: Tab, folder: dict[str, Any], name: str) -> None:
    with Server(folder, headers={} if name in EVALUATES else STRICT, quiet=True) as server:
        for change in (lambda: None, tab.become_phone):
            change()
            tab.goto(f"{server.origin}/deep/site/{name}.html")
            USES[name](tab)
            wide, room = tab.look("[document.documentElement.scrollWidth, innerWidth]")
            assert wide <= room, "it has to be scrolled sideways"
    assert tab.problems() == []


@pytest.mark.parametrize("open_tab", OTHERS, indirect=True)
def test_a_reader_measures(tab: Tab, host: Host) -> None:
    tab.goto(f"{host.url}site/benchmark.html")
    tab.until("document.querySelector('[value=sincos]')")
    # of what can be measured the quickest, beside one other library
    quick = "['sincos', 'rose'].includes(box.value)"
    boxes = "document.querySelectorAll('#workloads input, #peers input')"
    tab.run(f"for (const box of {boxes}) if (box.checked !== {quick}) box.click()")
    tab.click("#measure")
    tab.until(f"{text('#measuring')} === 'Done.'")
    assert tab.problems() == []


def test_a_tab_is_for_someone_who_wants_little_motion(tab: Tab, host: Host) -> None:
    tab.goto(f"{host.url}pages/blank.html")
    assert tab.look("matchMedia('(prefers-reduced-motion: reduce)').matches")


def test_what_goes_wrong_on_a_page_is_noticed(tab: Tab, host: Host) -> None:
    for number, action in enumerate(
        (
            "console.error('said')",
            "setTimeout(() => { throw Error('thrown') })",
            "Promise.reject(Error('refused'))",
            "document.body.append(Object.assign(new Image(), { src: 'missing.png' }))",
        )
    ):
        tab.goto(f"{host.url}pages/blank.html")
        assert len(tab.problems()) == number
        tab.run(action)
        tab.run("await new Promise((done) => setTimeout(done, 200))")
    words = " ".join(tab.problems())
    assert all(word in words for word in ("said", "thrown", "refused", "missing.png")), words


# ---- the core -----------------------------------------------------------------------


@pytest.mark.parametrize("place", ["worker", "main"])
def test_a_gradient(tab: Tab, host: Host, place: str) -> None:
    tab.goto(f"{host.url}pages/blank.html")
    body = """
        const rose = await import("../rose.js");
        const { Real, Vec, compile, fn, mul, vjp, vec } = rose;
        rose.configure({ core: given[0] });
        const cube = fn([Real], Real, (x) => mul(x, mul(x, x)));
        const slope = fn([Real], Real, (x) => vjp(cube)(x).grad(1));
        const bend = fn([Real], Real, (x) => vjp(slope)(x).grad(1));
        const results = (await Promise.all([cube, slope, bend].map((f) => compile(f)))).map((f) => f(3));
        if (given[0] === "main") results.push(rose.interp(slope)(3));
        return results;"""
    assert tab.run(body, place) == [27, 27, 18] + ([27] if place == "main" else [])
    # a worker's is the only thread that is Rose's own, where Python may start from a snapshot
    start = "rose_core.snapshot.wasm" if place == "worker" else "rose_core.zip"
    names = [path.rpartition("/")[2] for path in host.server.asked]
    assert [names.count(name) for name in ("rose_core.snapshot.wasm", "rose_core.zip")] == [
        start == name for name in ("rose_core.snapshot.wasm", "rose_core.zip")
    ]
    assert tab.problems() == []


def test_a_moment_without_a_network(tab: Tab, host: Host, tmp_path: Path) -> None:
    """What could not be had is asked for again, by engines that remember that it could not, too."""
    mounts = host.server.mounts
    host.server.mounts = {"/deep/rose.worker.js": tmp_path, **mounts}
    tab.goto(f"{host.url}pages/blank.html")
    refused = tab.run("""
        globalThis.rose = await import("../rose.js");
        rose.configure({ cache: false });
        globalThis.f = rose.fn([rose.Real], rose.Real, (x) => rose.mul(x, x));
        return rose.compile(f).catch((e) => e.message);""")
    assert "Rose could not load" in refused
    assert "rose.worker.js: its host answers 404" in refused
    host.server.mounts = mounts
    assert tab.run("return (await rose.compile(f))(3)") == 9


POINTS = [
    *(-inf, -710.0, -20.5, -3.0, -1.0, -0.75, -1e-3, -5e-324, -0.0),
    *(0.0, 1e-300, 1e-9, 0.1, 0.5, 1.0, 1.5, 2.0, 10.0, 88.0, 1e17, inf, nan),
]
PAIRS = [
    *((x, POINTS[(7 * k + 3) % len(POINTS)]) for k, x in enumerate(POINTS)),
    *zip(POINTS, POINTS, strict=True),
]

OURS = [op for op in OPS if op.ins in ("R", "RR") and op.out == "R" and op.name != "side"]  # no page's


def ordinal(x: float) -> int:
    """Doubles in their order, as whole numbers: neighbours are 1 apart."""
    (bits,) = struct.unpack(">q", struct.pack(">d", x))
    return bits if bits >= 0 else -(bits & (2**63 - 1))


def test_every_operation(tab: Tab, host: Host) -> None:
    """The same bits as in CPython; where the function is the engine's own, the same but for an ulp or two."""
    tab.goto(f"{host.url}pages/blank.html")
    body = """
        const rose = await import("../rose.js");
        const { Real, Vec, compile, fn } = rose;
        const [names, points] = given;
        const f = await compile(fn([Real, Real], Vec(names.length, Real), (...x) =>
            names.map(([name, arity]) => rose[name](...x.slice(0, arity)))));
        return points.map((point) => f(...point.map(Number)).map((y) => Object.is(y, -0) ? "-0" : `${y}`));"""
    names = [(op.name, len(op.ins)) for op in OURS]
    rows = tab.run(body, names, [[repr(x).replace("inf", "Infinity") for x in pair] for pair in PAIRS])
    for pair, row in zip(PAIRS, rows, strict=True):
        for op, written in zip(OURS, row, strict=True):
            expected, found = op.evaluate(*pair[: len(op.ins)]), float(written)
            if isnan(expected) or isinf(expected):
                assert repr(found) == repr(expected), (op.name, pair)
            else:
                allowed = 2 if isinstance(op.wasm, str) else 0
                assert abs(ordinal(found) - ordinal(expected)) <= allowed, (op.name, pair, found, expected)


LAYER = """
from rose_core import Real, Vec, fn, floor, max, select, sqrt, sum, vec, vjp

M, N = 5, 19
X, W = Vec(N, Real), Vec(M, Vec(N, Real))

@fn
def layer(w: W, x: X) -> Vec(M, Real):
    return vec(M, Real, lambda j: max(sum(N, lambda i: w[j][i] * x[i]), 0.25))

@fn
def pulled(w: W, x: X) -> {"w": W, "x": X}:
    gradients = vjp(layer)(w, x).grad(vec(M, Real, lambda j: w[j][1]))
    return {"w": gradients[0], "x": gradients[1]}

@fn
def flat(x: X) -> X:
    return vec(N, Real, lambda i: select(x[i] > 0.0, floor(x[i]) / (1.0 + x[i] * x[i]), -sqrt(0.0 - x[i])))
"""


def test_lanes(tab: Tab, host: Host) -> None:
    """Loops that run two iterations at a time give the same bits as in CPython."""
    tab.goto(f"{host.url}pages/blank.html")
    body = """
        const { compile, python } = await import("../rose.js");
        const [text, w, x] = given;
        const { layer, pulled, flat } = await python(text);
        const { w: gw, x: gx } = (await compile(pulled))(w, x);
        return [(await compile(layer))(w, x), gw, gx, (await compile(flat))(x)];"""
    x = [math.sin(3 * i) for i in range(19)]
    w = [[math.cos(i * j) for i in range(19)] for j in range(5)]
    twins: dict[str, Any] = {}
    exec(LAYER, twins)
    layer, pulled, flat = (compile(twins[name]) for name in ("layer", "pulled", "flat"))
    gradients = pulled(w, x)
    assert tab.run(body, LAYER, w, x) == [layer(w, x), gradients["w"], gradients["x"], flat(x)]


def test_a_second_visit_needs_no_python(tab: Tab, host: Host) -> None:
    body = """
        const { Real, compile, fn, mul, sin, vjp } = await import("../rose.js");
        const f = fn([Real], Real, (x) => mul(3, sin(x)));
        return (await compile(fn([Real], Real, (x) => vjp(f)(x).grad(1))))(0);"""
    tab.goto(f"{host.url}pages/blank.html")
    assert tab.run(body) == 3
    assert host.loads_python()
    tab.until(f"{KEPT} > 0")
    tab.goto(f"{host.url}pages/blank.html?again")
    assert tab.run(body) == 3
    assert not host.loads_python()
    assert tab.problems() == []


@pytest.fixture(scope="module")
def frozen(tmp_path_factory: pytest.TempPathFactory, brief_browser: Browser) -> Frozen:
    site = Frozen(tmp_path_factory.mktemp("frozen"), brief_browser)
    site.fill()
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    return site


def test_a_frozen_page_needs_no_python(tab: Tab, frozen: Frozen) -> None:
    with Server({"/": frozen.root}, quiet=True) as server:
        host = Host(server)
        tab.goto(f"{server.origin}/pages/page.html")
        tab.until("document.title === 'slope 2'")
        tab.run("factor.value = 3; factor.oninput()")
        tab.until("document.title === 'slope 3'")
        assert not host.loads_python()
        tab.run("factor.max = 9; factor.value = 7; factor.oninput()")
        tab.until("document.title === 'slope 7'")
        assert host.loads_python()
    assert tab.problems() == []


def test_mistakes(tab: Tab, host: Host) -> None:
    """What the author did wrong is told in the same words, and so is what went wrong in a program."""
    tab.goto(f"{host.url}pages/blank.html")
    body = """
        const { Real, Vec, add, compile, fn, opaque, vjp } = await import("../rose.js");
        const secret = opaque([Real], Real, function secret(x) { return x; });
        const told = async (action) => {
            try { return await action(); } catch ({ message }) { return message; }
        };
        return [
            await told(() => fn([Real], Real, (x) => add(x, "one"))),
            await told(() => fn([Vec(3, Real)], Real, (v) => v[3])),
            await told(() => compile(fn([Real], Real, (x) => vjp(secret)(x).grad(1)))),
            (await compile(fn([Real], Real, (x) => add(x, 1))))(41),
        ];"""
    kind, bounds, secret, answer = tab.run(body)
    assert "invalid value" in kind and '"one"' in kind
    assert "3 is out of range" in bounds
    assert "opaque function secret has no derivative" in secret
    assert answer == 42
    tab.goto(f"{host.url}pages/failure.html")
    tab.until("document.title === 'done'")
    endless, _, singular, *_ = tab.look("told")
    lines = (PAGES / "failure.js").read_text().splitlines()
    begin, loop, solve = (
        1 + next(k for k, line in enumerate(lines) if what in line)
        for what in ("const endless = fn(", "  whileLoop(", "=> root(")
    )
    # WebKit forgets who called last thing; there it is the line of the call around it
    at = begin if tab.name == "webkit" else loop
    assert endless.endswith(f"(failure.js, line {at})")
    assert singular.endswith(f"(failure.js, line {solve})")
    assert tab.problems() == []


def test_the_stack_of_a_mistake_says_what_is_told(tab: Tab, host: Host) -> None:
    """If it says anything: of one that nobody catches, consoles show that where it begins with a message."""
    tab.goto(f"{host.url}pages/blank.html")
    told, first = tab.run("""
        const { Real, Vec, fn } = await import("../rose.js");
        try {
            fn([Real], Vec(2, [Real]), (x) => [[x], ["one"]]);
        } catch (error) {
            return [`${error}`, error.stack.split("\\n")[0]];
        }""")
    assert told == 'TypeError: the result of f[1].0: invalid value: expected Real, got the string "one"'
    assert first == told or "Error" not in first


def test_without_webassembly(tab: Tab, folder: dict[str, Any]) -> None:
    """Why a page cannot have it is said in the same words, of what is frozen and of what is new."""
    wanted = "Content-Security-Policy forbids: add 'wasm-unsafe-eval'"
    with Server(folder, headers={"Content-Security-Policy": "default-src 'self'"}, quiet=True) as server:
        tab.goto(f"{server.origin}/deep/site/quadratic.html")
        tab.until("document.querySelector('#status.failed')")
        assert wanted in tab.look("document.querySelector('#status').textContent")
        tab.goto(f"{server.origin}/deep/pages/blank.html")
        body = """
            const { ready } = await import("../rose.js");
            return ready().then(() => "", ({ message }) => message);"""
        assert wanted in tab.run(body)
