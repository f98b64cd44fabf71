"""`rose freeze`: readers of a frozen page load no Python, and its author is told what is out of date."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from build import BROWSER, DIST, PYTHON, ROOT
from e2e.server import Server

PAGE = """<!doctype html>
<meta charset="utf-8">
<link rel="icon" href="data:,">
<title>waits</title>
<input id="factor" type="range" min="1" max="3" value="2">
<script type="module" src="page.js"></script>
"""

SCRIPT = """
import { Real, compile, fn, mul, sin, vjp } from "../rose/rose.js";
const slider = document.getElementById("factor");
const show = async () => {
    const factor = +slider.value;
    const f = fn([Real], Real, (x) => mul(factor, sin(x)));
    const slope = fn([Real], Real, function slope(x) { return vjp(f)(x).grad(1); });
    document.title = "waits";
    document.title = `slope ${(await compile(slope))(0)}`;
};
slider.oninput = show;
show();
"""

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


class Frozen:
    """A site in a folder of its own, with Rose in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.output = ""

    def fill(self) -> None:
        root = self.root
        for name in ("rose.js", "rose.worker.js", "rose.python.js"):
            (root / "rose").mkdir(exist_ok=True)
            shutil.copy(DIST / name, root / "rose" / name)
        self.index.write_text("{}")
        (root / "rose" / "pyodide").symlink_to(DIST / "pyodide")
        (root / "pages").mkdir()
        self.write("pages/page.html", PAGE)
        self.write("pages/page.js", SCRIPT)

    def write(self, name: str, text: str) -> None:
        (self.root / name).write_text(text)

    def freeze(self, *options: str) -> subprocess.CompletedProcess[str]:
        words = [PYTHON, "-m", "rose_core.cli", "freeze", self.root, *options]
        env = {**ENVIRONMENT, "CHROMIUM": json.loads(BROWSER.read_text())["path"]}
        return subprocess.run(words, env=env, capture_output=True, text=True, timeout=120)

    @property
    def index(self) -> Path:
        return self.root / "rose" / "rose.frozen.json"

    def change_index(self, **content: object) -> None:
        self.index.write_text(json.dumps(json.loads(self.index.read_text()) | content))

    @property
    def files(self) -> set[Path]:
        return set((self.root / "pages" / "frozen").glob("*.wasm"))


@pytest.fixture
def site(tmp_path: Path) -> Frozen:
    site = Frozen(tmp_path)
    site.fill()
    return site


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
        assert "rose/rose.worker.js; are its files where the page looks for them?" in page.evaluate(edit)
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


def test_pages_that_warm_up_start_python_or_fail(site: Frozen) -> None:
    scripts = {
        "page": SCRIPT + WARM_UP,
        "early": SCRIPT + "import { ready } from '../rose/rose.js'; ready();",
        "aside": "configure({ frozen: false });" + SCRIPT.replace("fn, mul", "configure, fn, mul"),
        "wrong": SCRIPT.replace("mul(factor", "mul('factor'"),
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
    assert re.search(r"! pages/refused\.html: .*has no derivative", done.stdout)


def test_what_goes_wrong_on_a_page_is_told_with_its_place(site: Frozen) -> None:
    scripts = {
        "thrown.js": "let x;\n\nx.y = 1;",
        "wrong.js": "let x = 1;\nlet y = };",
        "refused.js": "\nawait Promise.reject(Error('not today'));",
        "part.js": "import './missing.js';",
    }
    for name, script in scripts.items():
        site.write(f"pages/{name}", script)
    elements = "".join(f'<script type="module" src="{name}"></script>\n' for name in scripts)
    site.write(
        "pages/page.html", f'<link rel="icon" href="data:,">\n{elements}<script>\nnowhere();\n</script>'
    )
    done = site.freeze()
    assert done.returncode == 1
    told = [line.removeprefix("! pages/page.html: ") for line in done.stdout.splitlines() if line[0] == "!"]
    assert sorted(told) == [
        "pages/page.html, line 7: nowhere is not defined",
        "pages/part.js: it, or what it imports, could not be loaded",
        "pages/refused.js, line 2: not today",
        "pages/thrown.js, line 3: Cannot set properties of undefined (setting 'y')",
        "pages/wrong.js, line 2: Unexpected token '}'",
    ]


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


def test_an_offline_page_needs_no_host(frozen: Frozen, page: Page) -> None:
    with Server({"/": frozen.root}, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        page.evaluate("navigator.serviceWorker.ready.then(() => {})")
    page.goto(f"{server.origin}/pages/page.html?again")
    expect(page).to_have_title("slope 2")
    page.locator("#factor").fill("3")
    expect(page).to_have_title("slope 3")
