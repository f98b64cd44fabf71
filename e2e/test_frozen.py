"""Readers of a frozen page load no Python until they need it, whatever is damaged or kept from them."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from e2e.frozen import PAGE, PYTHON_PAGE, SCRIPT, Frozen, slide, wait_for_service_worker
from e2e.noted import asked, listen
from e2e.server import Server


def mistype(context: BrowserContext) -> None:
    def answer(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, headers={**response.headers, "content-type": "text/plain"})

    context.route(re.compile(r"\.(json|wasm)$"), answer)


def withhold(context: BrowserContext) -> None:
    context.route(re.compile(r"/pyodide/|rose\.(worker|python)\.js$"), lambda route: route.abort())


def forbid_storage(context: BrowserContext) -> None:
    context.add_init_script("IDBFactory.prototype.open = () => { throw new DOMException('not allowed'); };")


def forbid_workers(context: BrowserContext) -> None:
    context.add_init_script("globalThis.Worker = class { constructor() { throw Error('not allowed'); } };")


def test_a_frozen_page_loads_no_python_until_it_needs_it(frozen: Frozen, page: Page) -> None:
    # with the slider in the middle, and at both ends
    assert "pages/page.html: 3 programs" in frozen.output
    assert len(frozen.files) == 3
    assert (frozen.root / "pages" / "page.html").read_text() == PAGE
    requests = asked(page.context)
    with Server({"/": frozen.root}, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        expect(page).to_have_title("slope 2")
        slide(page, 3)
        names = {url.rpartition("/")[2] for url in requests}
        assert {"rose.js", "rose.frozen.json"} < names
        assert not any("/pyodide/" in url for url in requests)
        # what nobody has compiled before
        page.evaluate("factor.max = 9; factor.value = 7; factor.oninput()")
        expect(page).to_have_title("slope 7")
        assert any("/pyodide/" in url for url in requests)


def test_a_frozen_page_has_its_functions_in_python_without_python(site: Frozen, page: Page) -> None:
    site.write("pages/page.html", PYTHON_PAGE.replace("FACTOR", "5"))
    done = site.freeze()
    assert done.returncode == 0, done.stdout
    assert "pages/page.html: 2 programs" in done.stdout
    assert "is new: the scripts in Python of pages/page.html" in done.stdout
    urls = asked(page.context)
    with Server({"/": site.root}, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        expect(page).to_have_title("slope 5")
        assert not any("/pyodide/" in url for url in urls)
        site.write("pages/page.html", PYTHON_PAGE.replace("FACTOR", "6"))
        page.reload()
        expect(page).to_have_title("slope 6")
    checked = site.freeze("--check")
    assert checked.returncode == 1
    assert "is stale: the scripts in Python, which pages/page.html no longer compiles" in checked.stdout


@pytest.mark.parametrize("deprive", [mistype, withhold, forbid_storage, forbid_workers])
def test_a_frozen_page_needs_its_files_and_nothing_else(
    frozen_once: Frozen, page: Page, deprive: Any
) -> None:
    deprive(page.context)
    said = listen(page)
    with Server({"/": frozen_once.root}, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        slide(page, 2, 1, 3)
        wait_for_service_worker(page)
        assert {address for address in server.asked if "/rose/" in address} == {
            "/rose/rose.js",
            "/rose/rose.frozen.json",
        }
    assert not said


TROUBLE: dict[str, Callable[[Route], None]] = {
    "broken": lambda route: route.abort(),
    "503": lambda route: route.fulfill(status=503, body="<p>Too many guests"),
}


@pytest.mark.provokes("ERR_FAILED|503")
@pytest.mark.parametrize("trouble", TROUBLE)
@pytest.mark.parametrize("name", ["rose.frozen.json", "*.wasm"])
def test_what_goes_wrong_once_keeps_no_reader_from_what_is_frozen(
    frozen: Frozen, page: Page, name: str, trouble: str
) -> None:
    if name == "*.wasm":
        frozen.change_index(small={})  # large programs have files of their own
    page.context.route(f"**/{name}", TROUBLE[trouble], times=1)
    said = listen(page)
    with Server({"/": frozen.root}, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        slide(page, 2, 1, 3)
        assert not any("/pyodide/" in address for address in server.asked)
    assert not any("Rose" in text for text in said)


BUSY = """const { fetch } = globalThis;
globalThis.fetch = (...args) => {
    setTimeout(() => {
        const end = performance.now() + 3200;
        while (performance.now() < end);
    });
    return fetch(...args);
};"""
"""The page has something else to do while an answer is on its way."""


def test_a_busy_page_hears_what_is_frozen(frozen: Frozen, page: Page) -> None:
    page.add_init_script(BUSY)
    with Server({"/": frozen.root}, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        expect(page).to_have_title("slope 2")
        assert not any("/pyodide/" in address for address in server.asked)
        wait_for_service_worker(page)


def test_an_index_that_does_not_come_is_waited_for_once(frozen_once: Frozen, page: Page) -> None:
    held: list[Route] = []
    page.context.route("**/rose.frozen.json", lambda route: held.append(route))
    with Server({"/": frozen_once.root}, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        expect(page).to_have_title("slope 2")
        page.evaluate("factor.max = 9; globalThis.start = performance.now()")
        slide(page, 7)
        assert page.evaluate("performance.now() - start") < 2500
        for route in held:
            route.continue_()
        page.wait_for_timeout(200)
        page.evaluate("indexedDB.deleteDatabase('rose programs')")
        for worker in page.workers:
            worker.evaluate("setTimeout(close)")
        withhold(page.context)
        slide(page, 3)


@pytest.mark.provokes(r"rose\.worker\.js", r"net::ERR_FAILED")
def test_a_frozen_page_whose_python_is_missing_goes_on(frozen_once: Frozen, page: Page) -> None:
    withhold(page.context)
    edit = """async () => {
        const { Real, compile, fn, mul } = await import("../rose/rose.js");
        return compile(fn([Real], Real, (x) => mul(17, x))).catch((error) => error.message);
    }"""
    with Server({"/": frozen_once.root}, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        expect(page).to_have_title("slope 2")
        assert "rose/rose.worker.js: the connection failed" in page.evaluate(edit)
        slide(page, 3)
        wait_for_service_worker(page)


def test_frames_that_may_not_ask_for_service_workers(frozen: Frozen, page: Page) -> None:
    """As sandboxed ones: what is frozen serves them all the same."""
    page.add_init_script(
        """Object.defineProperty(navigator, "serviceWorker", {
            get() { throw new DOMException("sandboxed", "SecurityError"); },
        });"""
    )
    with Server({"/": frozen.root}, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        expect(page).to_have_title("slope 2")
    assert not any("pyodide" in address for address in server.asked)


LARGE = """
const large = fn([Real], Real, (x) => {
    for (let k = 0; k < 2000; ++k) x = mul(sin(x), k / 2000);
    return x;
});
document.title = `large ${(await compile(large))(0)}`;
"""


def test_small_programs_come_with_the_index_and_large_ones_by_themselves(site: Frozen, page: Page) -> None:
    site.write("pages/page.js", SCRIPT + LARGE)
    done = site.freeze()
    assert done.returncode == 0, done.stdout
    (large,) = (file for file in site.files if len(file.read_bytes()) > 16384)
    assert len(site.files) == 4
    assert set(json.loads(site.index.read_text())["small"]) == {file.stem for file in site.files - {large}}
    with Server({"/": site.root}, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        expect(page).to_have_title("large 0")
        asked = [address for address in server.asked if not address.startswith("/pages/page")]
    assert asked == ["/rose/rose.js", "/rose/rose.frozen.json", f"/pages/frozen/{large.name}"]


PART = """
import { Real, fn, mul } from "../rose/rose.js";
export const twice = fn([Real], Real, (x) => mul(2, x));
"""


def test_the_index_is_asked_for_with_the_first_function(site: Frozen, page: Page) -> None:
    site.write("pages/page.js", PART)
    with Server({"/": site.root}, quiet=True) as server, page.expect_response("**/rose.frozen.json"):
        page.goto(f"{server.origin}/pages/page.html")


def test_a_page_says_where_its_index_is_after_its_first_functions(site: Frozen, page: Page) -> None:
    """Modules that it imports run before it, and Rose has looked next to itself by then."""
    site.write("pages/part.js", PART)
    site.write(
        "pages/page.js",
        """
        import { compile, configure } from "../rose/rose.js";
        import { twice } from "./part.js";
        configure({ frozen: "." });
        document.title = `twice ${(await compile(twice))(4)}`;
        """,
    )
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    assert site.index.read_text() == "{}"
    with Server({"/": site.root}, quiet=True) as server:
        withhold(page.context)
        page.goto(f"{server.origin}/pages/page.html")
        expect(page).to_have_title("twice 8")


@pytest.mark.parametrize("in_index", [True, False])
def test_a_damaged_file_is_noticed_and_named(frozen: Frozen, page: Page, in_index: bool) -> None:
    short, zero, empty = frozen.files
    short.write_bytes(short.read_bytes()[:-1])
    zero.write_bytes(bytes(len(zero.read_bytes())))
    empty.write_bytes(b"")
    contents = {file.stem: base64.b64encode(file.read_bytes()).decode() for file in frozen.files}
    frozen.change_index(small=contents if in_index else {})
    said = listen(page)
    with Server({"/": frozen.root}, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        slide(page, 2, 1, 3)
    assert len(set(said)) == 3
    for file in frozen.files:
        (told,) = (text for text in set(said) if f"/pages/frozen/{file.name} is missing or damaged" in text)
        assert "run `rose freeze` again" in told


KEPT = """(number) => new Promise((resolve) => {
    const request = indexedDB.open("rose programs");
    request.onsuccess = () => {
        const { result } = request;
        const count = result.transaction("files").objectStore("files").count();
        count.onsuccess = () => {
            result.close();
            resolve(count.result >= number);
        };
    };
})"""


def test_what_takes_the_place_of_a_damaged_file_is_kept(frozen: Frozen, page: Page) -> None:
    """So that only the first visit loads Python."""
    for file in frozen.files:
        file.write_bytes(b"")
    frozen.change_index(small={})
    with Server({"/": frozen.root}, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        slide(page, 2, 1)
        page.wait_for_function(KEPT, arg=2)
        withhold(page.context)
        page.reload()
        expect(page).to_have_title("slope 2")
        # the cache has been asked for that in any case, unless the index was here at once; now it is
        slide(page, 1)


@pytest.mark.parametrize(
    "index",
    ["null", '{"folders": null}', '{"folders": {"x/": 5}}', '{"small": null, "folders": {"x/": [""]}}'],
)
def test_an_index_of_another_form_names_nothing(frozen: Frozen, page: Page, index: str) -> None:
    frozen.index.write_text(index)
    with Server({"/": frozen.root}, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        expect(page).to_have_title("slope 2")


def test_what_another_build_froze_is_named(frozen: Frozen, page: Page) -> None:
    frozen.change_index(build="older", folders={})
    said = listen(page)
    with Server({"/": frozen.root}, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        expect(page).to_have_title("slope 2")
    (told,) = said
    assert "rose.frozen.json were frozen by another build" in told
