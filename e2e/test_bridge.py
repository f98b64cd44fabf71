"""The bridge in a browser: the paper's listings, both places for the core, and what can go wrong."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from e2e.server import Server
from js_bridge.build.paths import BRIDGE, DIST, ROOT, STATE

LN2 = math.log(2)


def run_listing(page: Page, url: str, number: int) -> list[object]:
    """What a listing prints."""
    page.goto(f"{url}pages/listing.html#{number}")
    expect(page).to_have_title("done")
    return page.evaluate("window.printed")  # type: ignore[no-any-return]


def test_listing_1(page: Page, site_url: str) -> None:
    (result,) = run_listing(page, site_url, 1)
    assert result["b0"] == pytest.approx(3.0000909, abs=1e-6)  # type: ignore[index]
    assert result["b"] == pytest.approx([0.5000909], abs=1e-6)  # type: ignore[index]


def test_listings_2_and_3(page: Page, site_url: str) -> None:
    (result,) = run_listing(page, site_url, 2)
    assert result["z"] == 8  # type: ignore[index]
    assert result["g"] == pytest.approx([12, 8 * LN2], rel=1e-14)  # type: ignore[index]
    (a, b), (c, d) = result["h"]  # type: ignore[index]
    expected = [12, 4 + 12 * LN2, 4 + 12 * LN2, 8 * LN2**2]
    assert [a, b, c, d] == pytest.approx(expected, rel=1e-14)


def test_listing_4(page: Page, site_url: str) -> None:
    (result,) = run_listing(page, site_url, 4)
    assert result == pytest.approx([math.sin(1), math.cos(1), -math.sin(1), -math.cos(1)], rel=1e-14)


def test_listing_5(page: Page, site_url: str) -> None:
    assert run_listing(page, site_url, 5) == [25, ["gradient", 30]]


def test_listing_6(page: Page, site_url: str) -> None:
    assert run_listing(page, site_url, 6) == [pytest.approx([50000, 0.25], rel=1e-14)]


def test_works_from_a_sub_folder(page: Page, folder_url: str) -> None:
    assert run_listing(page, folder_url, 6) == [pytest.approx([50000, 0.25], rel=1e-14)]


def test_classic_script(page: Page, folder_url: str) -> None:
    page.goto(f"{folder_url}pages/global.html")
    page.wait_for_function("document.title === 'square: 49'")


MODULE = """async ([configuration, body]) => {
    const rose = await import("../rose.js");
    if (configuration) rose.configure(configuration);
    return await new Function("rose", `return (async () => { ${body} })()`)(rose);
}"""


def in_page(page: Page, url: str, body: str, configuration: dict[str, str] | None = None) -> object:
    """What ``body`` returns, run on a blank page with the module as ``rose``."""
    page.goto(f"{url}pages/blank.html")
    return page.evaluate(MODULE, [configuration, body])


CUBE = "const { Real, fn, mul, vjp } = rose; const f = fn([Real], Real, (x) => mul(x, mul(x, x)));"


def test_core_on_the_page_thread(page: Page, site_url: str) -> None:
    body = (
        CUBE
        + """
        await rose.ready();
        const g = fn([Real], Real, (x) => vjp(f)(x).grad(1));
        return [rose.interp(g)(2), (await rose.compile(g))(2)];"""
    )
    assert in_page(page, site_url, body, {"core": "main"}) == [12, 12]


def test_core_in_a_worker_by_default(page: Page, site_url: str) -> None:
    body = (
        CUBE
        + """
        await rose.ready();
        let message;
        const slope = rose.fn([rose.Real], rose.Real, (x) => rose.vjp(f)(x).grad(1));
        try { rose.interp(slope)(2); } catch (error) { message = error.message; }
        return [(await rose.compile(f))(2), rose.interp(f)(2), message];"""
    )
    compiled, interpreted, message = in_page(page, site_url, body)  # type: ignore[misc]
    assert compiled == interpreted == 8
    assert 'configure({ core: "main" })' in message
    assert len(page.workers) == 1


def test_many_compiles_at_once_while_the_core_loads(page: Page, site_url: str) -> None:
    body = (
        CUBE
        + """
        const all = [1, 2, 3, 4].map((k) => rose.compile(fn([Real], Real, (x) => mul(f(x), k))));
        return (await Promise.all(all)).map((g) => g(2));"""
    )
    assert in_page(page, site_url, body) == [8, 16, 24, 32]


def test_an_error_leaves_the_next_program_well(page: Page, site_url: str) -> None:
    body = """
        const { Real, Vec, compile, fn, opaque, vec, vjp, add } = rose;
        const messages = [];
        const attempt = async (action) => {
            try { await action(); messages.push("no error"); } catch (error) { messages.push(error.message); }
        };
        const secret = opaque([Real], Real, function secret(x) { return x; });
        await attempt(() => fn([Real], Real, (x) => add(x, "one")));
        await attempt(() => fn([Vec(3, Real)], Real, (v) => v[3]));
        await attempt(() => compile(fn([Real], Real, (x) => vjp(secret)(x).grad(1))));
        await attempt(async () => (await compile(fn([Real], Real, (x) => x)))(1, 2));
        await attempt(async () => (await compile(fn([Vec(2, Real)], Real, ([x]) => x)))([1, true]));
        const inc = await compile(fn([Real], Real, (x) => add(x, 1)));
        return [messages, inc(41)];"""
    messages, value = in_page(page, site_url, body)  # type: ignore[misc]
    assert value == 42
    for message, words in zip(
        messages,
        [
            ["invalid value", "Real", '"one"'],
            ["3 is out of range", "0 to 2"],
            ["opaque function secret has no derivative"],
            ["1 argument", "got 2"],
            ["argument 1", "[1]", "expected Real", "true"],
        ],
        strict=True,
    ):
        assert all(word in message for word in words), message


def test_what_the_core_refuses_tells_the_line_that_asked_for_it(page: Page, site_url: str) -> None:
    """Though the answer comes later, and from another thread."""
    lines = [
        'import { Real, compile, fn, grad, inspect, opaque } from "../rose.js";',
        "const secret = opaque([Real], Real, (x) => x);",
        "const f = fn([Real], Real, (x) => secret(x));",
        "const told = (promise) => promise.catch(({ stack }) => /refused.js:(\\d+)/.exec(stack)?.[1]);",
        "const asked = [",
        "    compile(grad(f)),",
        "    inspect(grad(f)),",
        "];",
        "export const found = await Promise.all(asked.map(told));",
    ]
    script = "\n".join(lines)
    page.route("**/refused.js", lambda route: route.fulfill(body=script, content_type="text/javascript"))
    page.goto(f"{site_url}pages/blank.html")
    assert page.evaluate("import('./refused.js').then(({ found }) => found)") == ["6", "7"]


@pytest.mark.provokes(r"rose\.worker\.js")
def test_missing_worker(page: Page, site_url: str) -> None:
    page.route("**/rose.worker.js", lambda route: route.fulfill(status=404))
    body = CUBE + "return rose.compile(f).then(() => 'compiled', (error) => error.message);"
    message = in_page(page, site_url, body)
    assert "could not load" in str(message)
    assert "rose.worker.js" in str(message)


@pytest.mark.provokes(r"pyodide\.asm\.wasm", r"404|abort")
@pytest.mark.parametrize("place", ["worker", "main"])
def test_missing_python(page: Page, site_url: str, place: str) -> None:
    page.context.route("**/pyodide.asm.wasm", lambda route: route.fulfill(status=404))
    body = (
        CUBE
        + """
        const told = (promise) => promise.then(() => "fine", (error) => error.message);
        return [await told(rose.ready()), await told(rose.compile(f))];"""
    )
    for message in in_page(page, site_url, body, {"core": place}):  # type: ignore[attr-defined]
        assert "could not load" in message
        assert "pyodide" in message


@pytest.mark.provokes(r"rose_core\.zip", r"rose_core\.snapshot\.wasm")
def test_missing_core(page: Page, site_url: str) -> None:
    page.context.route("**/rose_core.*", lambda route: route.fulfill(status=404))
    body = CUBE + "return rose.compile(f).then(() => 'compiled', (error) => error.message);"
    message = str(in_page(page, site_url, body))
    assert "could not load" in message
    assert "rose_core.zip" in message


def test_strict_content_security_policy(new_page: Callable[..., Page], host: Callable[..., str]) -> None:
    policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'"
    url = host(headers={"Content-Security-Policy": policy})
    assert run_listing(new_page(), url, 6) == [pytest.approx([50000, 0.25], rel=1e-14)]


@pytest.mark.provokes(r"Content-Security-Policy")
def test_content_security_policy_without_wasm(
    new_page: Callable[..., Page], host: Callable[..., str]
) -> None:
    url = host(headers={"Content-Security-Policy": "default-src 'self'; script-src 'self'"})
    page = new_page()
    failures: list[str] = []
    page.on("pageerror", lambda error: failures.append(error.message))
    page.goto(f"{url}pages/listing.html#6")
    expect(page).to_have_title("done")
    assert any("wasm-unsafe-eval" in failure for failure in failures), failures


def test_python_in_a_stock_pyodide_page(new_page: Callable[..., Page], tmp_path: Path) -> None:
    micropip = next((STATE / "wheels").glob("micropip-*.whl"))
    (tmp_path / micropip.name).write_bytes(micropip.read_bytes())
    wheel = next(DIST.glob("rose_core-*.whl"))
    for file in (BRIDGE / "node_modules" / "pyodide").iterdir():
        if file.is_file():
            (tmp_path / file.name).symlink_to(file)
    (tmp_path / "wheels.json").write_text(json.dumps({"wheel": wheel.name, "micropip": micropip.name}))
    pages = ROOT / "e2e" / "pages"
    with Server({"/": DIST, "/pages/": pages, "/stock/": tmp_path}, quiet=True) as server:
        page = new_page()
        page.goto(f"{server.origin}/pages/stock.html")
        page.wait_for_function("document.title === 'done'", timeout=60_000)
        (compiled, interpreted, doubled), numbers = page.evaluate("window.result")
    assert compiled == pytest.approx([12 + math.cos(2), 8 * LN2], rel=1e-14)
    assert compiled == pytest.approx(interpreted, rel=1e-15)
    assert doubled == 9
    # which JavaScript does not tell from whole numbers
    assert numbers == "[6.0, -0.0, -1.5, [4.5, 3.0]]"


def test_arrays_of_another_window(page: Page, site_url: str) -> None:
    body = """
        const { Real, Vec, compile, fn } = rose;
        const frame = document.body.appendChild(document.createElement("iframe"));
        const { Array, Float64Array } = frame.contentWindow;
        const V = Vec(2, Real), M = Vec(2, V);
        const [v, m] = await Promise.all([V, M].map((T) => compile(fn([T], T, (x) => x))));
        const flat = (numbers) => [...numbers].map(Number);
        return [
            v(new Float64Array([1, 2])), v(Array.of(3, 4)), m(new Float64Array([5, 6, 7, 8])),
            flat(v.into(new Float64Array(2), [1, 2])), flat(m.into(new Float64Array(4), [[1, 2], [3, 4]])),
        ];"""
    assert in_page(page, site_url, body) == [[1, 2], [3, 4], [[5, 6], [7, 8]], [1, 2], [1, 2, 3, 4]]
