"""What is said, and what goes on, where Rose's files cannot be had or are not right."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from playwright.sync_api import Page, Playwright, Route, expect

from e2e.browser import FLAGS
from e2e.conftest import PAGES, watch
from e2e.noted import asked_names, listen
from e2e.server import Handler, Server
from e2e.test_start import BODY, PROGRESS, PYODIDE, altered, run
from js_bridge.build.paths import BROWSER, DIST

TOLD = "return gives().catch((error) => error.message);"
"""What `run` is to do: give the message of what goes wrong."""

PLACES = pytest.mark.parametrize("place", ["worker", "main"])


def missing(route: Route) -> None:
    route.fulfill(status=404, content_type="text/html", body="There is no such page.")


def of_type(kind: str) -> Callable[[Route], None]:
    def answer(route: Route) -> None:
        path = DIST / route.request.url.partition("/pyodide/")[1].strip("/") / Path(route.request.url).name
        route.fulfill(body=path.read_bytes(), content_type=kind)

    return answer


def cut(monkeypatch: pytest.MonkeyPatch, name: str, times: int = 100) -> None:
    """Have hosts break off in the middle of a file."""
    copyfile = Handler.copyfile
    left = times

    def broken(handler: Handler, source: Any, output: Any) -> None:
        nonlocal left
        if not handler.path.endswith(name) or not left:
            return copyfile(handler, source, output)
        left -= 1
        output.write(source.read(1000))
        output.flush()
        raise ConnectionAbortedError

    monkeypatch.setattr(Handler, "copyfile", broken)


def wait_for_no_worker(page: Page) -> None:
    while page.workers:  # the browser tells later than the page
        page.wait_for_timeout(20)


# ---- a start that fails -------------------------------------------------------------


@pytest.mark.provokes(r"404")
@PLACES
def test_a_start_that_fails_ends(page: Page, site_url: str, place: str) -> None:
    """The bar goes, as do the worker and what is still on its way."""
    other = {"worker": "rose_core.snapshot.wasm", "main": "rose_core.zip"}[place]
    held: list[Route] = []
    page.context.route("**/pyodide.asm.wasm", lambda route: held.append(route))
    page.context.route(f"**/{other}", lambda route: None)
    work = (
        f'rose.configure({{ core: "{place}" }}); globalThis.told = gives().catch((error) => error.message);'
    )
    run(page, site_url, work, PROGRESS % "")
    expect(page.get_by_role("progressbar")).to_be_visible()
    with page.context.expect_event("requestfailed", lambda request: request.url.endswith(other)):
        for route in held:
            missing(route)
        told = page.evaluate("told")
    assert told.endswith("pyodide.asm.wasm: its host answers 404")
    expect(page.get_by_role("progressbar")).to_have_count(0)
    assert [event["stage"] for event in page.evaluate("seen")].index("failed") == page.evaluate(
        "seen.length - 1"
    )
    wait_for_no_worker(page)


@pytest.mark.provokes(r"404")
@PLACES
@pytest.mark.parametrize("name", ["pyodide.js", "pyodide.asm.js", "python_stdlib.zip", "rose_core.zip"])
def test_what_is_missing_is_named(page: Page, site_url: str, name: str, place: str) -> None:
    """Without a word of a start that would be slow."""
    page.context.route(f"**/{name}", missing)
    page.context.route("**/rose_core.snapshot.wasm", missing)
    said = listen(page)
    told = run(page, site_url, f'rose.configure({{ core: "{place}" }}); {TOLD}')
    assert re.fullmatch(
        rf"Rose could not load Python: Rose could not load \S+/{name}: its host answers 404", told
    )
    assert not [text for text in said if "slowly" in text]
    assert "404" in run(page, site_url, f'rose.configure({{ core: "{place}" }}); {TOLD}')
    wait_for_no_worker(page)


def test_progress_on_the_page_s_own_thread(page: Page, site_url: str) -> None:
    work = 'rose.configure({ core: "main" }); await gives(); return seen;'
    stages = [event["stage"] for event in run(page, site_url, work, PROGRESS % "")]
    assert stages[0] == "download" and stages[-2:] == ["start", "ready"]


# ---- files that are not right -------------------------------------------------------


@PLACES
@pytest.mark.parametrize("name", ["pyodide.js", "pyodide.asm.js", "python_stdlib.zip"])
def test_what_was_altered_does_not_run(page: Page, site_url: str, name: str, place: str) -> None:
    def answer(route: Route) -> None:
        data = (PYODIDE / name).read_bytes()
        route.fulfill(body=data.replace(b"http", b"hTTp", 1), content_type="text/javascript")

    page.context.route(f"**/{name}", answer if name.endswith(".js") else altered)
    if name.endswith(".zip"):
        page.context.route("**/rose_core.snapshot.wasm", altered)
    told = run(page, site_url, f'rose.configure({{ core: "{place}" }}); {TOLD}')
    assert f"{name}: it is not the file that belongs to this build" in told


def serve(route: Route) -> None:
    """dist/ on a host that is none."""
    path = DIST / route.request.url.partition("//")[2].partition("/")[2]
    route.fulfill(path=path)


@PLACES
def test_without_https_what_was_altered_is_named(page: Page, place: str) -> None:
    """Where engines compute no hashes."""
    page.context.route("http://lan.test/**", serve)
    page.context.route("**/blank.html", lambda route: route.fulfill(body="", content_type="text/html"))
    page.context.route("**/favicon.ico", lambda route: route.fulfill(body=""))
    work = f'rose.configure({{ core: "{place}" }}); {TOLD}'
    assert run(page, "http://lan.test/", work, "if (isSecureContext) throw Error()") == 12
    page.context.route("**/pyodide.asm.wasm", altered)
    told = run(page, "http://lan.test/", work)
    assert "pyodide.asm.wasm: it is not the file that belongs to this build" in told


def test_scripts_are_not_downloaded_twice(page: Page, site_url: str) -> None:
    """Though they are compared before they run."""
    assert run(page, site_url) == 12
    (worker,) = page.workers
    sizes = worker.evaluate(
        """performance.getEntriesByType("resource").map(({ name, transferSize }) => [name, transferSize])"""
    )
    for name in ("pyodide.js", "pyodide.asm.js"):
        moved = [size for url, size in sizes if url.endswith(f"/{name}")]
        assert len(moved) == 2
        assert sum(moved) < 1.1 * (PYODIDE / name).stat().st_size + 1000, moved


@pytest.mark.provokes(r"MIME type|failed .*rose\.worker\.js")
def test_a_script_of_a_wrong_type_is_named(page: Page, site_url: str) -> None:
    page.context.route("**/rose.worker.js", of_type("text/plain"))
    told = run(page, site_url, TOLD)
    assert "/rose.worker.js: its host answers 200, text/plain; it has to be sent as text/javascript" in told


def test_a_script_that_is_cut_off_is_named(page: Page, site_url: str) -> None:
    half, open_, _ = (DIST / "rose.worker.js").read_bytes()[:9000].rpartition(b"(")
    page.context.route(
        "**/rose.worker.js", lambda route: route.fulfill(body=half + open_, content_type="text/javascript")
    )
    assert "/rose.worker.js: its host answers 200, text/javascript; what it sends is damaged" in run(
        page, site_url, TOLD
    )


@pytest.mark.parametrize("place", ["worker", pytest.param("main", marks=pytest.mark.provokes("MIME type"))])
def test_a_script_of_python_of_a_wrong_type_is_named(page: Page, site_url: str, place: str) -> None:
    page.context.route("**/pyodide.asm.js", of_type("application/octet-stream"))
    told = run(page, site_url, f'rose.configure({{ core: "{place}" }}); {TOLD}')
    assert "/pyodide.asm.js: its host answers 200, application/octet-stream" in told


@pytest.mark.provokes(r"ERR_")
@pytest.mark.parametrize("name", ["rose.worker.js", "pyodide.js", "pyodide.asm.wasm"])
def test_a_connection_that_breaks_off_is_named(
    page: Page, site_url: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut(monkeypatch, name)
    told = run(page, site_url, TOLD)
    assert f"/{name}: " in told
    assert "connection" in told


RUNTIME = ["pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "rose_core.snapshot.wasm"]


@pytest.mark.provokes(r"ERR_")
@pytest.mark.parametrize("name", ["rose.worker.js", *RUNTIME])
def test_a_connection_that_breaks_off_once_is_made_once_more(
    page: Page, site_url: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a word, and nothing else is downloaded for it."""
    cut(monkeypatch, name, times=1)
    said = listen(page)
    names = asked_names(page.context)
    assert run(page, site_url) == 12
    assert [text for text in said if "Rose" in text] == []
    assert "python_stdlib.zip" not in names
    assert len(page.workers) == 1


@pytest.mark.provokes("503")
@pytest.mark.parametrize("name", RUNTIME)
def test_a_host_in_trouble_is_asked_once_more(page: Page, site_url: str, name: str) -> None:
    page.context.route(f"**/{name}", lambda route: route.fulfill(status=503), times=1)
    said = listen(page)
    assert run(page, site_url) == 12
    assert [text for text in said if "Rose" in text] == []


def test_a_connection_on_which_nothing_more_comes_is_made_once_more(
    page: Page, site_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    copyfile = Handler.copyfile
    is_stuck, is_over = Event(), Event()

    def stuck(handler: Handler, source: Any, output: Any) -> None:
        if handler.path.endswith("pyodide.asm.wasm") and not is_stuck.is_set():
            output.write(source.read(1000))
            output.flush()
            is_stuck.set()
            is_over.wait()
            raise ConnectionAbortedError
        copyfile(handler, source, output)

    monkeypatch.setattr(Handler, "copyfile", stuck)
    page.clock.install()
    run(page, site_url, 'rose.configure({ core: "main" }); window.value = gives();')
    while not is_stuck.is_set():
        page.wait_for_timeout(20)
    page.clock.run_for(40_000)
    try:
        page.wait_for_function("value.then((value) => value === 12)", timeout=20_000)
    finally:
        is_over.set()


@pytest.mark.parametrize("name", ["rose.worker.js", "pyodide/pyodide.js"])
def test_a_browser_that_keeps_a_file_of_another_build_asks_anew(
    page: Page, site_url: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many hosts let browsers keep files for some time, in which there may be a new build."""
    copyfile, end_headers = Handler.copyfile, BaseHTTPRequestHandler.end_headers
    is_old = True

    def other(handler: Handler, source: Any, output: Any) -> None:
        if not handler.path.endswith(name) or not is_old:
            return copyfile(handler, source, output)
        data = source.read()
        build = rb'"[0-9a-f]{12}"'
        output.write(re.sub(build, b'"0123456789ab"', data) if name == "rose.worker.js" else bytes(len(data)))
        return None

    def keep(handler: Handler) -> None:
        handler.send_header("Cache-Control", "max-age=600")
        end_headers(handler)

    monkeypatch.setattr(Handler, "copyfile", other)
    monkeypatch.setattr(Handler, "end_headers", keep)
    page.goto(f"{site_url}pages/blank.html")
    page.evaluate("(name) => fetch(`../${name}`).then((answer) => answer.arrayBuffer())", name)
    is_old = False
    said = listen(page)
    assert run(page, site_url) == 12
    assert [text for text in said if "Rose" in text] == []


def test_a_file_that_is_cut_off_in_silence_is_asked_for_once_more(page: Page, site_url: str) -> None:
    """As some engines have it."""
    times = 0

    def half(route: Route) -> None:
        nonlocal times
        times += 1
        data = (PYODIDE / "pyodide.asm.wasm").read_bytes()
        length = {"Content-Length": f"{len(data)}"}
        route.fulfill(body=data if times > 1 else data[: len(data) // 2], headers=length)

    page.context.route("**/pyodide.asm.wasm", half)
    assert run(page, site_url) == 12
    assert times == 2


def test_what_was_sent_as_more_bytes_than_it_has_is_whole(page: Page, site_url: str) -> None:
    """By hosts that pack what cannot be packed."""

    def packed(route: Route) -> None:
        data = (PYODIDE / "pyodide.asm.wasm").read_bytes()
        route.fulfill(body=data, headers={"Content-Length": f"{len(data) + 23}"})

    page.context.route("**/pyodide.asm.wasm", packed)
    assert run(page, site_url) == 12


def test_a_page_in_place_of_a_file_is_named(page: Page, site_url: str) -> None:
    """As hosts of one-page applications answer."""
    page.context.route(
        "**/pyodide.asm.wasm", lambda route: route.fulfill(body="<p>Welcome", content_type="text/html")
    )
    told = run(page, site_url, TOLD)
    assert "pyodide.asm.wasm: it is not the file that belongs to this build, but text/html" in told


EMPTY_CASES = [
    ("worker", "rose.worker.js", "rose.worker.js is empty, or none of Rose's"),
    *(
        (
            place,
            name,
            f"{name}: it is not the file that belongs to this build, but text/javascript of 0 bytes",
        )
        for place in ("worker", "main")
        for name in ("pyodide.js", "pyodide.asm.js")
    ),
]


@pytest.mark.parametrize("place, name, message", EMPTY_CASES)
def test_an_empty_script_is_named_until_it_is_right(
    page: Page, site_url: str, place: str, name: str, message: str
) -> None:
    page.context.route(f"**/{name}", lambda route: route.fulfill(body="", content_type="text/javascript"))
    told = run(page, site_url, f'rose.configure({{ core: "{place}" }}); {TOLD}')
    assert message in told
    page.context.unroute(f"**/{name}")
    assert page.evaluate(BODY, ["", TOLD]) == 12


@PLACES
@pytest.mark.parametrize("name", ["pyodide.js", "pyodide.asm.js"])
def test_a_script_of_another_length_runs_with_a_word(
    page: Page, site_url: str, name: str, place: str
) -> None:
    """As minifiers make it, and development servers: nothing that an author would be warned of."""

    def answer(route: Route) -> None:
        route.fulfill(body=(PYODIDE / name).read_bytes() + b"\n", content_type="text/javascript")

    page.context.route(f"**/{name}", answer)
    said: list[tuple[str, str]] = []
    page.on("console", lambda message: said.append((message.type, message.text)))
    assert run(page, site_url, f'rose.configure({{ core: "{place}" }}); {TOLD}') == 12
    word = rf"Rose: \S+/{name} is not as it was built, but runs"
    assert [kind for kind, text in said if re.fullmatch(word, text)] == ["info"]


# ---- another worker -----------------------------------------------------------------


@pytest.mark.provokes(r"failed .*rose\.worker\.js")
def test_a_worker_whose_script_is_gone_is_told(page: Page, site_url: str) -> None:
    assert run(page, site_url) == 12
    page.context.route("**/rose.worker.js", lambda route: route.abort())
    (worker,) = page.workers
    worker.evaluate("setTimeout(close)")
    wait_for_no_worker(page)
    told = page.evaluate(BODY, ["", TOLD])
    assert re.match(r"Rose could not start a worker from \S+/rose\.worker\.js", told)
    page.context.unroute("**/rose.worker.js")
    assert page.evaluate(BODY, ["", TOLD]) == 12


@pytest.mark.provokes(r"failed .*rose\.worker\.js")
def test_a_worker_whose_script_does_not_come_is_started_once_more(page: Page, site_url: str) -> None:
    assert run(page, site_url) == 12
    page.context.route("**/rose.worker.js", lambda route: route.abort(), times=1)
    (worker,) = page.workers
    worker.evaluate("setTimeout(close)")
    wait_for_no_worker(page)
    assert page.evaluate(BODY, ["", TOLD]) == 12


def test_a_worker_of_another_build_is_told(page: Page, site_url: str) -> None:
    """The site was renewed while the page was open."""
    assert run(page, site_url) == 12
    found = re.search(r'"([0-9a-f]{12})"', (DIST / "rose.worker.js").read_text())
    assert found
    # which tells bridges apart whose cores are the same
    assert len(set(re.findall(r'"[0-9a-f]{12}"', (DIST / "rose.js").read_text()))) == 2

    def newer(route: Route) -> None:
        text = (DIST / "rose.worker.js").read_text().replace(found[1], "0123456789ab")
        route.fulfill(body=text, content_type="text/javascript")

    page.context.route("**/rose.worker.js", newer)
    (worker,) = page.workers
    worker.evaluate("setTimeout(close)")
    wait_for_no_worker(page)
    told = page.evaluate(BODY, ["", TOLD])
    assert "rose.worker.js is of another build of Rose" in told
    wait_for_no_worker(page)


@pytest.mark.provokes(r"failed .*pyodide.*csp")
def test_a_worker_whose_own_policy_forbids_scripts_is_told(page: Page, site_url: str) -> None:
    """As hosts do that send all files with the nonce of a page."""

    def strict(route: Route) -> None:
        policy = "script-src 'nonce-abc' 'wasm-unsafe-eval'"
        headers = {"Content-Security-Policy": policy, "Content-Type": "text/javascript"}
        route.fulfill(path=DIST / "rose.worker.js", headers=headers)

    page.context.route("**/rose.worker.js", strict)
    told = run(page, site_url, TOLD)
    assert re.search(r"/pyodide(\.asm)?\.js: .* a Content-Security-Policy forbids it: .* script-src$", told)


def test_a_worker_whose_own_policy_forbids_webassembly_is_told(page: Page, site_url: str) -> None:
    def strict(route: Route) -> None:
        policy = {"Content-Security-Policy": "script-src 'self'", "Content-Type": "text/javascript"}
        route.fulfill(path=DIST / "rose.worker.js", headers=policy)

    page.context.route("**/rose.worker.js", strict)
    told = run(page, site_url, TOLD)
    assert "/rose.worker.js's Content-Security-Policy forbids: add 'wasm-unsafe-eval'" in told
    page.context.unroute("**/rose.worker.js")
    assert page.evaluate(BODY, ["", TOLD]) == 12


# ---- pages that may do little -------------------------------------------------------


def test_where_site_data_is_blocked_programs_are_compiled(
    playwright: Playwright, site_url: str, tmp_path: Path
) -> None:
    (tmp_path / "Default").mkdir()
    blocked = {"profile": {"default_content_setting_values": {"cookies": 2}}}
    (tmp_path / "Default" / "Preferences").write_text(json.dumps(blocked))
    path = json.loads(BROWSER.read_text())["program"]  # that has settings
    problems: list[str] = []
    with playwright.chromium.launch_persistent_context(tmp_path, executable_path=path, args=FLAGS) as context:
        watch(context, problems)
        page = context.new_page()
        denied = """if (!await navigator.locks.request("a", () => 1).catch(() => 0)) denied = true;"""
        assert run(page, site_url, f"let denied; {denied} return [denied, await gives()];") == [True, 12]
        assert run(page, site_url, 'rose.configure({ core: "main" }); return gives();') == 12
    assert problems == []


CLASSIC = """<!doctype html><meta charset=utf-8><link rel=icon href=data:,><title>waits</title>
<script src="%srose.global.js"></script>
<script>
    const { Real, compile, fn, mul } = rose;
    const tell = (told) => { parent.postMessage(document.title = told, "*"); };
    compile(fn([Real], Real, (x) => mul(x, x))).then((f) => tell(f(3)), (error) => tell(error.message));
</script>"""


@pytest.mark.provokes(r"console: .*(CORS|file)", r"failed file:")
def test_a_page_that_is_a_file_is_told_what_to_do(page: Page, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(CLASSIC % f"{DIST.as_uri()}/")
    page.goto((tmp_path / "page.html").as_uri())
    expect(page).not_to_have_title("waits")
    told = page.title()
    assert "/rose.worker.js: " in told and "python3 -m http.server" in told


FRAME = """(sandbox) => {
    globalThis.told = undefined;
    onmessage = ({ data }) => { told = data; };
    document.body.append(Object.assign(document.createElement("iframe"), { sandbox, src: "/framed/" }));
}"""


@pytest.fixture
def framed(tmp_path: Path) -> Path:
    (tmp_path / "index.html").write_text(CLASSIC % "/")
    return tmp_path


def told_in_frame(page: Page, url: str, sandbox: str) -> object:
    """What a page gives that is shown in a frame."""
    page.goto(f"{url}/pages/blank.html")
    page.evaluate(FRAME, sandbox)
    return page.wait_for_function("told").json_value()


@pytest.mark.provokes(r"CORS|sandbox", r"rose\.")
def test_a_frame_in_a_sandbox_is_told_what_to_do(page: Page, framed: Path) -> None:
    with Server({"/": DIST, "/pages/": PAGES, "/framed/": framed}, quiet=True) as server:
        told = told_in_frame(page, server.origin, "allow-scripts")
        assert "/rose.worker.js: " in str(told) and "allow-same-origin" in str(told)
        assert told_in_frame(page, server.origin, "allow-scripts allow-same-origin") == 9


def test_a_frame_in_a_sandbox_may_have_what_its_host_shares(page: Page, framed: Path) -> None:
    shared = {"Access-Control-Allow-Origin": "*"}
    with Server({"/": DIST, "/pages/": PAGES, "/framed/": framed}, headers=shared, quiet=True) as server:
        assert told_in_frame(page, server.origin, "allow-scripts") == 9


NOWHERE = {
    "blob": """URL.createObjectURL(new Blob([text], { type: "text/javascript" }))""",
    "data": """"data:text/javascript," + encodeURIComponent(text)""",
}

FROM_NOWHERE = """async ([home, assets]) => {
    const text = await (await fetch("../rose.js")).text();
    const rose = await import(%s);
    if (assets) rose.configure({ assets });
    const { Real, compile, fn, mul } = rose;
    const f = fn([Real], Real, (x) => mul(x, x));
    return compile(f).then((f) => f(3), (error) => error.message);
}"""


@pytest.mark.provokes(r"404 .*/rose\.frozen\.json", r"rose\.worker\.js")
@pytest.mark.parametrize("kind", NOWHERE)
def test_a_script_without_an_address_asks_where_its_files_are(page: Page, site_url: str, kind: str) -> None:
    page.goto(f"{site_url}pages/blank.html")
    told = page.evaluate(FROM_NOWHERE % NOWHERE[kind], ["", ""])
    assert "/pages/rose.worker.js: its host answers 404" in told and "configure({ assets })" in told
    assert page.evaluate(FROM_NOWHERE % NOWHERE[kind], ["", ".."]) == 9


IN_A_WORKER = """async (assets) => {
    const text = await (await fetch("../rose.js")).text();
    const work = `
        rose.configure({ core: "main", assets: ${JSON.stringify(assets)} });
        const { Real, compile, fn, mul } = rose;
        const told = compile(fn([Real], Real, (x) => mul(x, x))).then((f) => f(3), (error) => error.message);
        told.then(postMessage);`;
    const script = `import * as rose from "data:text/javascript,${encodeURIComponent(text)}";${work}`;
    const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    const worker = new Worker(url, { type: "module" });
    return new Promise((done) => { worker.onmessage = ({ data }) => done(data); });
}"""


def test_in_a_worker_without_an_address_it_can_be_told(page: Page, site_url: str) -> None:
    page.goto(f"{site_url}pages/blank.html")
    assert page.evaluate(IN_A_WORKER, site_url) == 9
