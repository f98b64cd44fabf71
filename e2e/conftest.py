"""Fixtures of the browser tests: a static host, a browser, and pages that are watched.

    def test_something(page, site_url): page.goto(site_url + "site/index.html")

`site_url` is where dist/ lies, at the root of a host; `folder_url` is the same three
folders down. A `page` fails its test when anything went wrong on it: an error on the
console, an uncaught exception, a request that failed or was answered with 400 or above.
A test that provokes some of these names them by regular expressions, all of which must
then come up:

    @pytest.mark.provokes(r"404 .*/pyodide\\.asm\\.wasm")
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, Response, expect, sync_playwright

from build import UNDISTURBED
from e2e import engines, webkit
from e2e import node as nodejs
from e2e.browser import FLAGS
from e2e.frozen import Frozen
from e2e.server import Server
from e2e.tab import PlaywrightTab, Tab
from js_bridge.build.paths import BROWSER, DIST, ROOT
from js_bridge.build.site import freeze
from rose_core.cli.browser import FINGERS

SHOTS = ROOT / "e2e" / "shots"
PAGES = ROOT / "e2e" / "pages"
FOLDER = "/some/sub/folder/"

PATIENCE = 60_000
"""Milliseconds for what a test expects, with the compiler to be loaded, on the slowest machine."""
expect.set_options(timeout=PATIENCE)


def pytest_configure(config: pytest.Config) -> None:
    for line in (
        "provokes(*patterns): problems on the page that the test is about",
        f"{UNDISTURBED}: build.py runs it while nothing else runs",
    ):
        config.addinivalue_line("markers", line)


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    if not BROWSER.exists() or not (DIST / "site").exists():
        pytest.exit("first run: python3 build.py test", returncode=1)
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    with chromium(playwright, "path") as browser:
        yield browser


def chromium(playwright: Playwright, which: str, *flags: str) -> Browser:
    """The one that most tests run in, the "path", or all that readers have, the "program"."""
    path = json.loads(BROWSER.read_text())[which]
    return playwright.chromium.launch(executable_path=path, args=[*FLAGS, *flags])


# ---- all engines --------------------------------------------------------------------


OTHERS = [pytest.param(name, marks=getattr(pytest.mark, UNDISTURBED)) for name in engines.NAMES]
"""The engines that are not Chromium: for what has a test in that of its own."""


@pytest.fixture(scope="session", params=["chromium", *OTHERS])
def open_tab(request: pytest.FixtureRequest) -> Iterator[Callable[[], AbstractContextManager[Tab]]]:
    """Opens tabs of each engine that is installed, one engine after the other."""
    if request.param == "chromium":
        with chromium(request.getfixturevalue("playwright"), "program") as browser:
            yield partial(open_in, browser)
    elif launched := engines.launch(request.getfixturevalue("playwright"), request.param):
        with launched as browser:
            yield partial(open_in, browser)
    elif request.param == "webkit" and engines.has_webkitgtk():
        with webkit.display() as display:
            yield partial(webkit.open_tab, display)
    else:
        pytest.skip(f"{request.param} is not installed: python3 build.py setup --browsers all")


@contextmanager
def open_in(browser: Browser) -> Iterator[Tab]:
    """A tab for someone who wants little motion, with empty storage."""
    context = browser.new_context(reduced_motion="reduce", viewport={"width": 1400, "height": 900})
    problems: list[str] = []
    watch(context, problems)
    yield PlaywrightTab(context.new_page(), problems)
    context.close()


@pytest.fixture
def tab(open_tab: Callable[[], AbstractContextManager[Tab]]) -> Iterator[Tab]:
    with open_tab() as tab:
        yield tab


# ---- hosts --------------------------------------------------------------------------


@pytest.fixture(scope="session")
def host() -> Iterator[Callable[..., str]]:
    """Start a static host for dist/ and return its address: `host(prefix, headers)`.

    e2e/pages/ lies beside rose.js there, as `pages/`. With `frozen`, what the site compiles is frozen there;
    without, nothing is, whether it is in dist/ or not.
    """
    with ExitStack() as stack:

        def start(prefix: str = "/", headers: Mapping[str, str] | None = None, frozen: bool = False) -> str:
            mounts = {prefix: DIST, f"{prefix}pages/": PAGES}
            if frozen:
                freeze()
            else:
                mounts[f"{prefix}site/rose.frozen.json"] = DIST / "rose.frozen.json"
            server = stack.enter_context(Server(mounts, headers=headers, quiet=True))
            return server.origin + prefix

        yield start


@pytest.fixture(scope="session")
def site_url(host: Callable[..., str]) -> str:
    return host()


@pytest.fixture(scope="session")
def frozen_url(host: Callable[..., str]) -> str:
    """With the site as readers have it, who wait for no compiler: for tests that are not about that."""
    return host(frozen=True)


@pytest.fixture(scope="session")
def folder_url(host: Callable[..., str]) -> str:
    return host(FOLDER)


@pytest.fixture(scope="session")
def brief_browser(playwright: Playwright) -> Iterator[Browser]:
    """For pages in which Python runs for a second or two at a time.

    V8's optimising compiler would take as long beside it, to no purpose.
    """
    with chromium(playwright, "path", "--js-flags=--liftoff-only", FINGERS) as browser:
        yield browser


@pytest.fixture
def site(tmp_path: Path, brief_browser: Browser) -> Frozen:
    """A site that is to be frozen."""
    site = Frozen(tmp_path, brief_browser)
    site.fill()
    return site


@pytest.fixture(scope="session")
def frozen_once(tmp_path_factory: pytest.TempPathFactory, brief_browser: Browser) -> Frozen:
    """A frozen site, which nobody changes."""
    site = Frozen(tmp_path_factory.mktemp("frozen"), brief_browser)
    site.fill()
    done = site.freeze("--offline")
    assert done.returncode == 0, done.stdout + done.stderr
    site.output = done.stdout
    return site


@pytest.fixture
def frozen(frozen_once: Frozen, tmp_path: Path) -> Frozen:
    """A frozen site, to be changed at will."""
    shutil.copytree(frozen_once.root, tmp_path, symlinks=True, dirs_exist_ok=True)
    site = Frozen(tmp_path, frozen_once.browser)
    site.output = frozen_once.output
    return site


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """Run JavaScript as a module whose `./` is dist/, and return what it printed.

    All share one process and its core: for tests that leave both as they were.
    """
    process = nodejs.Shared(tmp_path_factory.mktemp("node"))
    yield process.run
    process.end()


@pytest.fixture(scope="session")
def own_node() -> Callable[[str], str]:
    """The same in a process of its own: for tests of memory, of settings, or of what is compiled when."""
    return nodejs.run


@pytest.fixture
def problems() -> list[str]:
    """What went wrong on the pages of this test so far, one line each."""
    return []


@pytest.fixture
def new_page(
    browser: Browser, problems: list[str], request: pytest.FixtureRequest
) -> Iterator[Callable[..., Page]]:
    """Open a watched page in a context of its own: `new_page(**options)`.

    The options are Playwright's: viewport, has_touch, color_scheme, ...
    """
    contexts: list[BrowserContext] = []

    def open_page(**options: Any) -> Page:
        context = browser.new_context(**options)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        watch(context, problems)
        return context.new_page()

    yield open_page
    mark = request.node.get_closest_marker("provokes")
    patterns = list(mark.args) if mark else []

    def silent() -> list[str]:
        return [r for r in patterns if not any(re.search(r, p) for p in problems)]

    pages = [page for context in contexts for page in context.pages]
    until = monotonic() + 5
    while pages and silent() and monotonic() < until:  # browsers say some of it later than pages do it
        pages[0].wait_for_timeout(100)
    for context in contexts:
        context.close()
    unasked = [p for p in problems if not any(re.search(r, p) for r in patterns)]
    assert not unasked, "on the page:\n" + "\n".join(unasked)
    assert not silent(), f"did not come up: {silent()}, but: {problems}"


def watch(context: BrowserContext, problems: list[str]) -> None:
    def answered(response: Response) -> None:
        if response.status >= 400:
            problems.append(f"{response.status} {response.url}")

    def failed(request: Any) -> None:
        # a start of Python that fails gives up what is still on its way
        if request.failure == "net::ERR_ABORTED" and "/pyodide/" in request.url:
            return
        # Firefox tells of what a page was still asking for when it was left
        if request.failure not in ("NS_BINDING_ABORTED", "NS_BASE_STREAM_CLOSED"):
            problems.append(f"failed {request.url}: {request.failure}")

    def said(message: Any) -> None:
        if message.type == "error":
            at = message.location
            problems.append(f"console: {message.text} ({at.get('url')}:{at.get('lineNumber')})")

    context.on("console", said)
    context.on("weberror", lambda error: problems.append(f"uncaught: {error.error}"))
    context.on("requestfailed", failed)
    context.on("response", answered)


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    return new_page()


@pytest.fixture
def screenshot() -> Callable[..., Path]:
    """Write e2e/shots/NAME.png: `screenshot(page, name, **options)`."""

    def shoot(page: Page, name: str, **options: Any) -> Path:
        SHOTS.mkdir(exist_ok=True)
        path = SHOTS / f"{name}.png"
        page.screenshot(path=path, **options)
        return path

    return shoot
