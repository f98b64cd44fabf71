"""`rose freeze`: readers of a frozen page load no Python, and its author is told what is out of date."""

from __future__ import annotations

import base64
import functools
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from build import BROWSER, DIST, PYTHON
from e2e.frozen import ENVIRONMENT, PAGE, SCRIPT, Frozen
from e2e.server import Server
from rose_core.cli import visit
from rose_core.cli.serve import serve


@pytest.fixture(scope="module")
def frozen_once(tmp_path_factory: pytest.TempPathFactory) -> Frozen:
    site = Frozen(tmp_path_factory.mktemp("frozen"))
    site.fill()
    done = site.freeze("--offline")
    assert done.returncode == 0, done.stdout + done.stderr
    site.output = done.stdout
    return site


@pytest.fixture
def frozen(frozen_once: Frozen, tmp_path: Path) -> Frozen:
    """A frozen site, to be changed at will."""
    shutil.copytree(frozen_once.root, tmp_path, symlinks=True, dirs_exist_ok=True)
    site = Frozen(tmp_path)
    site.output = frozen_once.output
    return site


def listen(page: Page) -> list[str]:
    """What will be said on the page's console."""
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    return said


def test_every_choice_of_a_page_is_frozen(tmp_path: Path) -> None:
    """In a folder that has the name of those that are made."""
    site = Frozen(tmp_path / "frozen")
    site.root.mkdir()
    site.fill()
    choice = '<select id="factor"><option>2<option>3<option>5<option>7</select>'
    site.write("pages/page.html", re.sub(r"<input.*>", choice, PAGE))
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pages/page.html: 4 programs" in done.stdout


CONTROLS = """<!doctype html>
<link rel="icon" href="data:,">
<input type="radio" name="kind" value="11" checked><input type="radio" name="kind" value="12">
<select id="some"><option value="" disabled selected>choose<option value="13"></select>
<input id="late" type="range" min="21" max="23" value="22">
<input id="followed" type="range" min="31" max="33" value="32">
<input id="box" type="checkbox">
<input id="fixed" type="number" min="51" max="53" value="52" readonly>
<fieldset disabled><input id="off" type="range" min="61" max="63" value="62"></fieldset>
<select onchange="location.href = this.value"><option value="page.html">1<option value="a.html">2</select>
<iframe src="inner.html"></iframe>
<script type="module" src="controls.js"></script>
"""

USES = """
import { Real, compile, fn, mul } from "../rose/rose.js";
let last = new AbortController();
const use = async (factor) => {
    if (!(factor > 0)) throw Error("no such choice");
    last.abort();
    const { signal } = (last = new AbortController());
    // who is overtaken is given up
    await compile(fn([Real], Real, (x) => mul(factor, x)), { signal }).catch(() => {});
};
const on = (selector, type, act) => document.querySelector(selector).addEventListener(type, act);
for (const radio of document.querySelectorAll("[name=kind]"))
    radio.onchange = () => use(+document.querySelector("[name=kind]:checked").value);
on("#some", "change", (event) => use(+event.target.value));
let waits;
on("#late", "input", (event) => {
    clearTimeout(waits);
    waits = setTimeout(use, 300, +event.target.value);
});
// as libraries do that draw what they are told only where it is new
const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");
let known = followed.value;
Object.defineProperty(followed, "value", {
    get: own.get,
    set(value) {
        known = `${value}`;
        own.set.call(this, value);
    },
});
on("#followed", "input", () => {
    if (followed.value !== known) use(+(known = followed.value));
});
on("#box", "click", () => use(box.checked ? 41 : 42));
on("#fixed", "input", () => use(NaN));
on("#off", "input", () => use(NaN));
"""

INNER = """<!doctype html>
<link rel="icon" href="data:,">
<script type="module">
import { Real, compile, fn, mul } from "../rose/rose.js";
await compile(fn([Real], Real, (x) => mul(71, x)));
</script>
"""


def test_what_readers_can_do_is_done(site: Frozen) -> None:
    for name, text in (("page.html", CONTROLS), ("inner.html", INNER), ("controls.js", USES)):
        site.write(f"pages/{name}", text)
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    # two radios, a choice, three and three of the sliders, two of the box, and one within
    assert "pages/page.html: 12 programs" in done.stdout
    assert "pages/inner.html: 1 program\n" in done.stdout


ROUTED = """<!doctype html>
<link rel="icon" href="data:,">
<select id="view"><option value="2">2<option value="3">3<option value="5">5</select>
<script type="module">
import { scale } from "/pages/scales.js";
const factorIn = (url) => new URL(url).searchParams.get("view");
const route = (event) => {
    const factor = factorIn(event.destination.url);
    if (factor) event.intercept({ handler: () => scale(factor) });
};
</script>
"""

ROUTERS = {
    "page": """navigation.addEventListener("navigate", route);
        view.onchange = () => navigation.navigate(`${view.value}?view=${view.value}`);""",
    "handler": """navigation.onnavigate = route;
        view.onchange = () => (location = `?view=${view.value}`);""",
    "history": """view.onchange = () => {
            history.pushState(null, "", `?view=${view.value}`);
            scale(factorIn(location));
        };""",
    "leaves": """navigation.onnavigate = () => {};
        view.onchange = () => navigation.navigate(`${view.value}.html`);""",
    "wrong": """navigation.onnavigate = (event) => event.intercept({ handler: async () => nobody });
        view.onchange = () => (location = "?");""",
}


def test_pages_that_navigate_within_themselves_are_used_and_none_is_left(site: Frozen) -> None:
    site.write("pages/scales.js", SCALES)
    for name, router in ROUTERS.items():
        site.write(f"pages/{name}.html", ROUTED.replace("</script>", f"{router}\n</script>"))
    done = site.freeze()
    for name in ("page", "handler", "history"):
        assert f"pages/{name}.html: 3 programs" in done.stdout
    assert "pages/leaves.html: 0 programs" in done.stdout
    (told,) = (line for line in done.stdout.splitlines() if line[0] == "!")
    assert re.fullmatch(r"! pages/wrong.html: pages/wrong.html, line \d+: nobody is not defined", told)


SCALES = """
import { Real, compile, fn, mul } from "../rose/rose.js";
export const scale = (factor) => compile(fn([Real], Real, (x) => mul(+factor, x)));
"""

HIDDEN = """<!doctype html>
<link rel="icon" href="data:,">
<div id="open"></div><div id="closed"></div><input id="more" type="checkbox">
<script type="module">
import { scale } from "./scales.js";
for (const mode of ["open", "closed"]) {
    const root = document.getElementById(mode).attachShadow({ mode });
    root.innerHTML = `<input type="range" min="${mode.length}1" max="${mode.length}3">`;
    root.addEventListener("input", ({ target }) => scale(target.value));
}
// one appears when the page has the data for it, one when it is asked for
const appear = (min) => {
    const input = Object.assign(document.createElement("input"), { type: "number", min });
    input.oninput = () => scale(input.value || 1);
    document.body.append(input);
};
fetch("late.txt").then(() => appear(71));
more.onclick = () => appear(81);
</script>
"""

WORKING = """<!doctype html>
<link rel="icon" href="data:,">
<input id="factor" type="range" min="91" max="93" value="92">
<script type="module">
const worker = new Worker("worker.js", { type: "module" });
factor.oninput = () => worker.postMessage(factor.value);
// who has something else to do lets a worker go
const other = new Worker("worker.js?other", { type: "module" });
other.postMessage(94);
other.onmessage = () => other.terminate();
// one that starts one of its own, one from a text, and one that several pages have
const outer = new Worker("outer.js", { type: "module" });
const rose = new URL("scales.js", location);
const text = `import { scale } from "${rose}"; scale(96);`;
const script = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
const fromText = new Worker(script, { type: "module" });
URL.revokeObjectURL(script);
const shared = new SharedWorker("shared.js", { type: "module" });
// of one without an origin nothing is known
const alone = new Worker("data:text/javascript,0");
</script>
"""

OUTER = """import "./part.js";
const inner = new Worker("worker.js", { type: "module" });
inner.postMessage(95);
"""

PART_OF_OUTER = "import { scale } from './scales.js'; await scale(98);"

SHARED = "import { scale } from './scales.js'; onconnect = () => scale(97);"

WORKER = """import { scale } from "./scales.js";
onmessage = ({ data }) => {
    postMessage("begins");
    scale(data);
};
"""


def test_inputs_in_shadows_and_those_that_come_late_are_used(site: Frozen) -> None:
    site.write("pages/page.html", HIDDEN)
    site.write("pages/scales.js", SCALES)
    site.write("pages/late.txt", "")
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    # three in each shadow; 71 and 1, and 81 of the two that a box makes
    assert "pages/page.html: 9 programs" in done.stdout


def test_what_a_page_compiles_in_its_own_workers_is_frozen(site: Frozen) -> None:
    site.write("pages/page.html", WORKING)
    site.write("pages/scales.js", SCALES)
    site.write("pages/worker.js", WORKER)
    site.write("pages/outer.js", OUTER)
    site.write("pages/part.js", PART_OF_OUTER)
    site.write("pages/shared.js", SHARED)
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    unseen = "what a worker from a data: address compiles is not seen"
    assert f"pages/page.html: 7 programs ({unseen})\n" in done.stdout


def test_addresses_of_workers_begin_where_the_page_says(site: Frozen) -> None:
    (site.root / "parts").mkdir()
    for name, text in (("scales.js", SCALES), ("worker.js", WORKER)):
        site.write(f"parts/{name}", text)
    script = """<script type="module">
        new Worker("worker.js", { type: "module" }).postMessage(2);
        </script>"""
    icon = '<link rel="icon" href="data:,">'
    site.write("pages/page.html", f'<!doctype html><base href="/parts/">{icon}{script}')
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pages/page.html: 1 program\n" in done.stdout


LONG_PAGE = """<!doctype html>
<link rel="icon" href="data:,">
<div style="height: 9000px"></div><p id="end"></p><iframe src="inner.html" loading="lazy"></iframe>
<script type="module">
import { scale } from "./scales.js";
new IntersectionObserver(([{ isIntersecting }]) => isIntersecting && scale(51)).observe(end);
</script>
"""


def test_what_a_page_compiles_when_it_is_seen_is_frozen(site: Frozen) -> None:
    """At the end of a long page, also in a frame that is loaded there."""
    for name, text in (("page.html", LONG_PAGE), ("inner.html", INNER), ("scales.js", SCALES)):
        site.write(f"pages/{name}", text)
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pages/page.html: 2 programs" in done.stdout


def test_a_warm_up_that_does_not_end_is_told(
    site: Frozen, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visit, "LONGEST", 3000)
    site.write("pages/page.js", SCRIPT + "export const warmUp = () => new Promise(() => {});")
    with Server({"/": site.root}, quiet=True) as server:
        context = visit.reader(browser, sees_frozen=False)
        seen = visit.use(context, f"{server.origin}/pages/page.html")
        context.close()
    assert len(seen.artifacts) == 1
    assert [re.sub(r"\d+", "n", error) for error in seen.errors] == [
        "its warmUp() has not ended after n minutes"
    ]


def test_a_frozen_page_loads_no_python_until_it_needs_it(frozen: Frozen, page: Page) -> None:
    # with the slider in the middle, and at both ends
    assert "pages/page.html: 3 programs" in frozen.output
    assert len(frozen.files) == 3
    assert (frozen.root / "pages" / "page.html").read_text() == PAGE
    requests: list[str] = []
    page.context.on("request", lambda request: requests.append(request.url))
    with Server({"/": frozen.root}, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        expect(page).to_have_title("slope 2")
        page.locator("#factor").fill("3")
        expect(page).to_have_title("slope 3")
        names = {url.rpartition("/")[2] for url in requests}
        assert {"rose.js", "rose.frozen.json"} < names
        assert not any("/pyodide/" in url for url in requests)
        # what nobody has compiled before
        page.evaluate("factor.max = 9; factor.value = 7; factor.oninput()")
        expect(page).to_have_title("slope 7")
        assert any("/pyodide/" in url for url in requests)


PYTHON_PAGE = """<!doctype html>
<link rel="icon" href="data:,">
<script type="text/x-rose">
from rose_core import *

@fn
def f(x: Real) -> Real:
    return FACTOR * sin(x)
</script>
<script type="module">
import { compile, grad, python } from "../rose/rose.js";
const { f } = await python();
document.title = `slope ${(await compile(grad(f)))(0)}`;
</script>
"""


def test_a_frozen_page_has_its_functions_in_python_without_python(site: Frozen, page: Page) -> None:
    site.write("pages/page.html", PYTHON_PAGE.replace("FACTOR", "5"))
    done = site.freeze()
    assert done.returncode == 0, done.stdout
    assert "pages/page.html: 2 programs" in done.stdout
    assert "is new: the scripts in Python of pages/page.html" in done.stdout
    urls: list[str] = []
    page.context.on("request", lambda request: urls.append(request.url))
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


def test_mistakes_in_python_are_told_once_with_their_places(site: Frozen) -> None:
    """Where they are, and who asked for what is wrong; no place is one in Rose."""
    bodies = {"page": "missing * x", "then": "x"}
    for name, body in bodies.items():
        page = PYTHON_PAGE.replace("FACTOR * sin(x)", body)
        site.write(f"pages/{name}.html", page.replace("def f", "def then") if name == "then" else page)
    done = site.freeze()
    assert done.returncode == 1
    told = [line for line in done.stdout.splitlines() if line[0] == "!"]
    call = 1 + PYTHON_PAGE.splitlines().index("const { f } = await python();")
    assert told == [
        f"! pages/page.html: pages/page.html, line {call}: "
        "page.html, line 8: NameError: name 'missing' is not defined",
        "! pages/then.html: python: JavaScript would await what has a then; call the function something else",
    ]


def test_what_is_stale_is_named_and_put_right(frozen: Frozen) -> None:
    before = frozen.files
    damaged, *_ = sorted(before)
    damaged.write_bytes(damaged.read_bytes()[:-3])
    frozen.write("pages/page.js", SCRIPT.replace("factor = +slider.value", "factor = 1 + +slider.value"))
    checked = frozen.freeze("--check")
    assert checked.returncode == 1
    assert "rose/rose.frozen.json is out of date" in checked.stdout
    assert (
        len(re.findall(r"\.wasm is stale: slope, which pages/page.html no longer compiles", checked.stdout))
        == 1
    )
    assert len(re.findall(r"\.wasm is new: slope of pages/page.html", checked.stdout)) == 1
    assert frozen.files == before
    assert frozen.freeze("--offline").returncode == 0
    assert len(frozen.files) == 3 and len(frozen.files - before) == 1
    checked = frozen.freeze("--check")
    assert checked.returncode == 0, checked.stdout


def test_what_nobody_compiles_any_more_goes(frozen: Frozen) -> None:
    frozen.freeze("--offline")
    for name in ("page.html", "page.js"):
        (frozen.root / "pages" / name).unlink()
    frozen.write("pages/frozen/manifest.json", "{")  # cut off
    frozen.write("index.html", "<!doctype html><link rel=icon href=data:,>")
    checked = frozen.freeze("--check")
    assert checked.returncode == 1
    left = r"pages/frozen/\w+\.wasm is stale: a program, which no page compiles any more\n"
    assert len(re.findall(left, checked.stdout)) == 3
    assert "rose/rose.frozen.json is out of date" in checked.stdout
    assert frozen.freeze().returncode == 0
    assert not frozen.files and not (frozen.root / "pages/frozen/manifest.json").exists()
    assert json.loads(frozen.index.read_text()) == {}
    # whoever has the service worker gets rid of it
    assert "unregister" in (frozen.root / "rose.offline.js").read_text()
    assert frozen.freeze("--check").returncode == 0


FETCHES = """
import { Real, compile, fn, mul } from "../rose/rose.js";
const factor = await (await fetch("data.json")).json();
await compile(fn([Real], Real, (x) => mul(factor, x)));
"""


def test_a_page_that_fails_keeps_what_it_had(site: Frozen) -> None:
    """Also where it does not come as far as to say where its index is."""
    site.write("pages/page.js", FETCHES)
    site.write("pages/data.json", "3")
    assert site.freeze().returncode == 0
    files, index = site.files, site.index.read_text()
    assert len(files) == 1
    site.write("pages/data.json", "{")
    done = site.freeze()
    assert done.returncode == 1
    assert "pages/page.html: 0 programs, and 1 from before, as something went wrong" in done.stdout
    (told,) = (line for line in done.stdout.splitlines() if line[0] != "p")
    assert told.startswith("! pages/page.html: ") and "JSON" in told
    (file,) = files
    file.write_bytes(file.read_bytes()[:9])  # there is nothing to be kept
    assert "is stale" in site.freeze().stdout
    site.write("pages/data.json", "3")
    assert site.freeze().returncode == 0
    assert site.files == files and site.index.read_text() == index


def test_what_others_have_made_stays(frozen: Frozen) -> None:
    """Though it has the same name."""
    others = {"manifest.json": '{"name": "an app", "icons": []}', "0123456789abcdef.wasm": "of others"}
    (frozen.root / "frozen").mkdir()
    for name, text in others.items():
        frozen.write(f"frozen/{name}", text)
    frozen.write("pages/frozen/other.wasm", "not in the manifest")
    assert frozen.freeze("--offline").returncode == 0
    assert {path.name: path.read_text() for path in (frozen.root / "frozen").iterdir()} == others
    assert (frozen.root / "pages" / "frozen" / "other.wasm").exists()


def test_what_cannot_be_written_is_said(frozen: Frozen) -> None:
    shutil.rmtree(frozen.root / "pages" / "frozen")
    frozen.write("pages/frozen", "a file")
    done = frozen.freeze()
    assert done.returncode == 2
    assert done.stderr.startswith("rose: ") and "Traceback" not in done.stderr
    assert f"{frozen.root}/pages/frozen" in done.stderr


def mistype(context: BrowserContext) -> None:
    def answer(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, headers={**response.headers, "content-type": "text/plain"})

    context.route(re.compile(r"\.(json|wasm)$"), answer)


def withhold(context: BrowserContext) -> None:
    context.route(re.compile(r"/pyodide/|rose\.(worker|python)\.js$"), lambda route: route.abort())


def wait_for_service_worker(page: Page) -> None:
    """It asks for what the page has loaded, too, which it must not do when nobody answers any more."""
    page.evaluate("async () => void (await navigator.serviceWorker.ready)")


def forbid_storage(context: BrowserContext) -> None:
    context.add_init_script("IDBFactory.prototype.open = () => { throw new DOMException('not allowed'); };")


def forbid_workers(context: BrowserContext) -> None:
    context.add_init_script("globalThis.Worker = class { constructor() { throw Error('not allowed'); } };")


@pytest.mark.parametrize("deprive", [mistype, withhold, forbid_storage, forbid_workers])
def test_a_frozen_page_needs_its_files_and_nothing_else(
    frozen_once: Frozen, page: Page, deprive: Any
) -> None:
    deprive(page.context)
    said = listen(page)
    with Server({"/": frozen_once.root}, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        for factor in (2, 1, 3):
            page.locator("#factor").fill(f"{factor}")
            expect(page).to_have_title(f"slope {factor}")
        wait_for_service_worker(page)
        assert {address for address in server.asked if "/rose/" in address} == {
            "/rose/rose.js",
            "/rose/rose.frozen.json",
        }
    assert not said


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
        page.locator("#factor").fill("3")
        expect(page).to_have_title("slope 3")
        wait_for_service_worker(page)


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


LONG = "{ for (let k = 0; k < 2000; ++k) x = mul(sin(x), k % 2 ? 2 : 0.5); return mul(factor, x); }"
"""Too many operations for a place in the index."""

ASKS = "globalThis.ask = async (k) => (await fetch(`data?set=${k}`)).text();"

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
        for factor in (2, 1, 3):
            page.locator("#factor").fill(f"{factor}")
            expect(page).to_have_title(f"slope {factor}")
    assert len(set(said)) == 3
    for file in frozen.files:
        (told,) = (text for text in set(said) if f"/pages/frozen/{file.name} is missing or damaged" in text)
        assert "run `rose freeze` again" in told


KEPT = """(number) => new Promise((resolve) => {
    const request = indexedDB.open("rose");
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
        for factor in (2, 1):
            page.locator("#factor").fill(f"{factor}")
            expect(page).to_have_title(f"slope {factor}")
        page.wait_for_function(KEPT, arg=2)
        withhold(page.context)
        page.reload()
        expect(page).to_have_title("slope 2")
        # the cache has been asked for that in any case, unless the index was here at once; now it is
        page.locator("#factor").fill("1")
        expect(page).to_have_title("slope 1")


@pytest.mark.parametrize(
    "index",
    ["null", '{"folders": null}', '{"folders": {"x/": 5}}', '{"small": null, "folders": {"x/": [""]}}'],
)
def test_an_index_of_another_form_names_nothing(frozen: Frozen, page: Page, index: str) -> None:
    frozen.index.write_text(index)
    with Server({"/": frozen.root}, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        expect(page).to_have_title("slope 2", timeout=30_000)


def test_what_another_build_froze_is_named(frozen: Frozen, page: Page) -> None:
    frozen.change_index(build="older", folders={})
    said = listen(page)
    with Server({"/": frozen.root}, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        expect(page).to_have_title("slope 2")
    (told,) = said
    assert "rose.frozen.json names was frozen with another build" in told


WARM_UP = """
export const warmUp = async () => {
    slider.max = 6;
    for (slider.value of [5, 6]) await show();
};
"""


def test_a_warm_up_that_cannot_be_imported_is_told(site: Frozen) -> None:
    """Of a script within the page; one of them says it in a way that works."""
    endings = {
        "page": "globalThis.warmUp = act;",
        "constant": "export const warmUp = act;",
        "function": "export async function warmUp() {}",
        "list": "export{act as warmUp}",
    }
    for name, ending in endings.items():
        script = f"{SCRIPT}const act = async () => {{}};\n{ending}"
        site.write(f"pages/{name}.html", PAGE.replace(' src="page.js">', f">{script}"))
    done = site.freeze()
    assert done.returncode == 1
    assert "pages/page.html: 1 program\n" in done.stdout
    told = [line for line in done.stdout.splitlines() if line[0] == "!"]
    message = "a script in it exports warmUp, which nobody can import: write globalThis.warmUp = warmUp there"
    assert [line.partition(", or")[0] for line in told] == [
        f"! pages/{name}.html: {message}" for name in ("constant", "function", "list")
    ]


def test_a_page_that_calls_itself_something_else_warms_up(site: Frozen) -> None:
    moves = "history.pushState(null, '', '/some/place/else');\n"
    site.write("pages/page.js", moves + SCRIPT + WARM_UP.replace("[5, 6]", "[5]"))
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    # when it is opened, and by its warm-up; there are three positions of its slider
    assert "pages/page.html: 2 programs\n" in done.stdout


def test_pages_that_warm_up_start_python_or_fail(site: Frozen) -> None:
    scripts = {
        "page": SCRIPT + WARM_UP,
        "early": SCRIPT + "import { ready } from '../rose/rose.js'; ready();",
        "aside": "configure({ frozen: false });" + SCRIPT.replace("fn, mul", "configure, fn, mul"),
        "wrong": SCRIPT.replace("mul(factor", "mul('factor'").replace("rose.js", "rose.js?v=2"),
        "refused": SCRIPT.replace("fn, mul", "fn, opaque, mul").replace(
            "sin(x)", "opaque([Real], Real, (x) => x)(x)"
        ),
    }
    for name, script in scripts.items():
        site.write(f"pages/{name}.html", PAGE.replace("page.js", f"{name}.js"))
        site.write(f"pages/{name}.js", script)
    done = site.freeze()
    assert done.returncode == 1
    assert "page.html: 3 programs" in done.stdout  # one when it is opened
    assert "! pages/early.html starts Python when it is opened" in done.stdout
    assert "pages/page.html starts Python" not in done.stdout
    assert "! pages/aside.html looks nowhere for what is frozen" in done.stdout
    line = 1 + scripts["wrong"].splitlines().index(
        "    const f = fn([Real], Real, (x) => mul('factor', sin(x)));"
    )
    assert f"! pages/wrong.html: pages/wrong.js, line {line}: invalid value: expected" in done.stdout
    assert re.search(r"! pages/refused\.html: pages/refused\.js, line 9: .*has no derivative", done.stdout)


def test_what_goes_wrong_on_a_page_is_told_with_its_place(site: Frozen) -> None:
    scripts = {
        "thrown.js": "let x;\n\nx.y = 1;",
        "wrong.js": "let x = 1;\nlet y = };",
        "refused.js": "\nawait Promise.reject(Error('not today'));",
        "part.js": "import './missing.js';",
        "data.js": "(await fetch('part.js')).json();",
        "works.js": "new Worker('worker.js');",
    }
    for name, script in scripts.items():
        site.write(f"pages/{name}", script)
    site.write("pages/worker.js", "\nnobody();")
    elements = "".join(f'<script type="module" src="{name}"></script>\n' for name in scripts)
    site.write(
        "pages/page.html",
        f'<link rel="icon" href="data:,">\n{elements}<script>\nnowhere();\n</script>'
        '<script type="module">import "./missing.js";</script>',
    )
    done = site.freeze()
    assert done.returncode == 1
    told = [line.removeprefix("! pages/page.html: ") for line in done.stdout.splitlines() if line[0] == "!"]
    assert sorted(told) == [
        "Unexpected token 'i', \"import './\"... is not valid JSON",
        "pages/page.html, line 9: nowhere is not defined",
        "pages/part.js: it, or what it imports, could not be loaded",
        "pages/refused.js, line 2: not today",
        "pages/thrown.js, line 3: Cannot set properties of undefined (setting 'y')",
        "pages/worker.js, line 2: Uncaught ReferenceError: nobody is not defined",
        "pages/wrong.js, line 2: Unexpected token '}'",
        "what a script in it imports could not be loaded",
    ]


POLICY = "<meta http-equiv=Content-Security-Policy content=\"script-src 'self' {}; connect-src {}\">"


def test_what_keeps_pages_from_python_or_what_is_frozen_is_told_once(site: Frozen) -> None:
    policies = {"forbids": ("", "'self'"), "deaf": ("'wasm-unsafe-eval'", "https:")}
    for name, policy in policies.items():
        site.write(f"pages/{name}.html", POLICY.format(*policy) + PAGE)
    site.write("pages/lost.html", PAGE.replace("page.js", "lost.js"))
    alone = SCRIPT.replace("../rose/", "./").replace("sin(x)", "x")  # which no other page compiles
    site.write("pages/lost.js", alone)
    shutil.copy(DIST / "rose.js", site.root / "pages")
    done = site.freeze()
    assert done.returncode == 1
    deaf, forbids, lost = [line for line in done.stdout.splitlines() if line[0] == "!"]
    assert deaf == (
        "! pages/deaf.html: its Content-Security-Policy forbids rose/rose.frozen.json: "
        "add 'self' to its connect-src"
    )
    assert "pages/page.js, line 9: Rose needs WebAssembly, which this page's Content-Security" in forbids
    assert "pages/lost.js, line 9: Rose could not load pages/rose.worker.js" in lost


@pytest.mark.parametrize(
    "words, message",
    [
        (["nowhere"], "nowhere is no folder"),
        (["."], "holds no pages"),
        ([".", "--browser", "/bin/false"], "/bin/false does not start"),
    ],
)
def test_what_the_command_says_of_its_arguments(site: Frozen, words: list[str], message: str) -> None:
    folder = site.root / "pages" if "--browser" in words else site.root / "rose"
    words = [PYTHON, "-m", "rose_core.cli", "freeze", *words]
    done = subprocess.run(words, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith("rose: ") and message in done.stderr and len(done.stderr.splitlines()) == 1


def test_who_stops_it_is_told_so(site: Frozen) -> None:
    """With Ctrl-C, which the browser hears, too."""
    site.write("first.html", "<link rel=icon href=data:,>")
    words = [PYTHON, "-m", "rose_core.cli", "freeze", str(site.root)]
    env = {**ENVIRONMENT, "CHROMIUM": json.loads(BROWSER.read_text())["path"]}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        words, env=env, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    ) as running:
        assert running.stdout and running.stdout.readline().startswith("first.html")
        os.killpg(running.pid, signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert (running.returncode, said) == (130, "rose: stopped\n")


def test_what_an_offline_page_loads_is_checked(frozen: Frozen) -> None:
    script = frozen.root / "rose.offline.js"
    content = script.read_text()
    script.write_text(content.replace('"rose/rose.js"', '"rose/other.js"'))
    checked = frozen.freeze("--check")
    assert checked.returncode == 1
    assert "  rose.offline.js is out of date\n" in checked.stdout
    script.unlink()
    assert "  rose.offline.js is new\n" in frozen.freeze("--check").stdout
    assert not script.exists()
    assert frozen.freeze("--offline").returncode == 0
    assert script.read_text() == content
    assert frozen.freeze("--check").returncode == 0


@pytest.mark.provokes(r"ERR_CONNECTION_REFUSED")
def test_offline_there_is_all_that_was_frozen_and_asked_for(site: Frozen, page: Page) -> None:
    """Choices that nobody made, and what differs by its query."""
    choices = "".join(f"<option>{k}" for k in range(1, 4))
    site.write(
        "pages/page.html", PAGE.replace(PAGE.split("\n")[4], f'<select id="factor">{choices}</select>')
    )
    site.write("pages/page.js", SCRIPT.replace("mul(factor, sin(x))", LONG) + ASKS)
    done = site.freeze("--offline")
    assert done.returncode == 0, done.stdout + done.stderr

    def answer(route: Route) -> None:
        route.fulfill(body=route.request.url.rpartition("=")[2])

    page.context.route("**/data?*", answer)
    with Server({"/": site.root}, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        page.evaluate("navigator.serviceWorker.ready.then(() => {})")
        page.reload()
        for k in (1, 2):
            assert page.evaluate("ask", k) == f"{k}"
    page.context.unroute("**/data?*")
    page.reload()
    for k in (2, 3, 1):
        page.locator("#factor").select_option(f"{k}")
        expect(page).to_have_title(f"slope {k}")
    for k in (1, 2):
        assert page.evaluate("ask", k) == f"{k}"


@pytest.mark.provokes(r"ERR_CONNECTION_REFUSED")
def test_two_sites_of_one_host_work_offline(frozen: Frozen, page: Page) -> None:
    with Server({"/one/": frozen.root, "/two/": frozen.root}, quiet=True) as server:
        addresses = [f"{server.origin}/{name}/pages/page.html" for name in ("one", "two")]
        for address in addresses:
            page.goto(address)
            page.evaluate("navigator.serviceWorker.ready.then(() => {})")
            page.wait_for_function("navigator.serviceWorker.controller")
    for address in addresses:
        page.goto(address)
        expect(page).to_have_title("slope 2")


@pytest.mark.provokes(r"ERR_CONNECTION_REFUSED")
def test_an_offline_page_needs_no_host(frozen: Frozen, page: Page) -> None:
    with Server({"/": frozen.root}, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        page.evaluate("navigator.serviceWorker.ready.then(() => {})")
    page.goto(f"{server.origin}/pages/page.html?again")
    expect(page).to_have_title("slope 2")
    page.locator("#factor").fill("3")
    expect(page).to_have_title("slope 3")


def test_a_slider_of_few_positions_is_moved_to_each(site: Frozen) -> None:
    site.write("pages/page.html", PAGE.replace('max="3"', 'max="9" step="2"'))
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pages/page.html: 5 programs" in done.stdout


def test_what_is_no_page_of_the_site_is_left_alone(site: Frozen) -> None:
    """What is hidden, what is npm's, and what comes with Rose; and who compiles on a click is told how."""
    site.write("rose/package.json", '{"name": "rose-web"}')
    for place in (".drafts", "node_modules/one", "rose/site"):
        (site.root / place).mkdir(parents=True)
        site.write(f"{place}/page.html", PAGE)
    site.write("pages/page.html", PAGE.replace("<input", "<button>").replace("page.js", "click.js"))
    site.write("pages/click.js", SCRIPT.replace("slider.oninput", "onclick").replace("\nshow();", ""))
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r"\S+\.html: \d programs.*", done.stdout) == [
        "pages/page.html: 0 programs (what it compiles when somebody clicks or types, "
        "a function warmUp that it exports can compile)"
    ]


def test_a_folder_of_pages_may_be_called_frozen(site: Frozen) -> None:
    """As those that freezing makes, which is one of them then, unless a file of the pages is in its way."""
    (site.root / "pages/frozen").mkdir()
    site.write("pages/frozen/page.html", PAGE.replace("page.js", "../page.js"))
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pages/frozen/page.html: 3 programs" in done.stdout
    assert {path.name for path in site.files} == {
        path.name for path in (site.root / "pages/frozen/frozen").glob("*.wasm")
    }
    assert site.freeze("--check").returncode == 0
    theirs = '{"name": "an app", "icons": []}'
    site.write("pages/frozen/manifest.json", theirs)
    done = site.freeze()
    assert done.returncode == 2
    assert done.stderr.startswith("rose: pages/frozen/manifest.json is where freezing writes")
    assert (site.root / "pages/frozen/manifest.json").read_text() == theirs


def test_a_site_may_know_where_it_is_on_its_host(site: Frozen, page: Page) -> None:
    site.write("pages/page.html", PAGE.replace("page.js", "/blog/pages/page.js"))
    site.write("pages/page.js", SCRIPT.replace("../rose", "/blog/rose"))
    done = site.freeze("--base", "/blog")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pages/page.html: 3 programs" in done.stdout
    # who forgets it loses nothing
    done = site.freeze()
    assert "could not be loaded" in done.stdout and "3 from before" in done.stdout
    with Server({"/blog/": site.root}, quiet=True) as server:
        page.goto(f"{server.origin}/blog/pages/page.html")
        expect(page).to_have_title("slope 2")
    assert not any("pyodide" in address for address in server.asked)


def test_elsewhere_on_the_host_is_nothing(frozen: Frozen) -> None:
    with serve(frozen.root, "/blog") as origin:
        assert origin.endswith("/blog/")
        assert urllib.request.urlopen(f"{origin}pages/page.html").status == 200
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(origin.replace("/blog/", "/pages/page.html"))


def test_another_file_is_another_service_worker(frozen: Frozen) -> None:
    """Though its name is the same: browsers take all files anew then."""
    script = frozen.root / "rose.offline.js"
    content = script.read_text()
    frozen.write("pages/page.js", SCRIPT + "// once more")
    assert "rose.offline.js is out of date" in frozen.freeze("--check").stdout
    assert frozen.freeze("--offline").returncode == 0
    assert script.read_text() != content


class Renaming(http.server.SimpleHTTPRequestHandler):
    """Calls pages by names without an ending, and does not publish all of them."""

    protocol_version = "HTTP/1.1"

    def send_head(self) -> Any:
        path, ending = os.path.splitext(self.path)
        if path == "/pages/draft":
            self.send_error(404)
            return None
        if ending == ".html":
            self.send_response(308)
            self.send_header("Location", path)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return None
        if not ending and path != "/":
            self.path += ".html"
        return super().send_head()

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.mark.provokes(r"ERR_INTERNET_DISCONNECTED", r"pages/.*ERR_ABORTED", r"404 .*/pages/draft")
def test_hosts_may_name_pages_as_they_like(site: Frozen, page: Page) -> None:
    """What they do not publish is missed offline, and nothing else."""
    for name in ("other", "draft"):
        site.write(f"pages/{name}.html", PAGE)
    done = site.freeze("--offline")
    assert done.returncode == 0, done.stdout + done.stderr
    handler = functools.partial(Renaming, directory=str(site.root))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        origin = f"http://127.0.0.1:{server.server_address[1]}"
        page.goto(f"{origin}/pages/page.html")
        expect(page).to_have_title("slope 2")
        page.evaluate("navigator.serviceWorker.ready.then(() => {})")
        page.wait_for_function("navigator.serviceWorker.controller")
        server.shutdown()
    page.context.set_offline(True)
    for name in ("page", "other", "other.html", "page.html"):
        page.goto(f"{origin}/pages/{name}")
        expect(page).to_have_title("slope 2")


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
