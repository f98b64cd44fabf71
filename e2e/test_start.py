"""How Python starts in a page: from a snapshot, or without; with damaged files; and when it dies."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from e2e.noted import asked_names, listen
from js_bridge.build.dist import script
from js_bridge.build.paths import DIST

NewPage = Callable[..., Page]

PYODIDE = DIST / "pyodide"

BODY = """async ([before, work]) => {
    Function(before)();
    const rose = await import("../rose.js");
    rose.configure({ cache: false });
    const { Real, compile, fn, mul, vjp } = rose;
    const cube = fn([Real], Real, (x) => mul(x, mul(x, x)));
    const slope = fn([Real], Real, (x) => vjp(cube)(x).grad(1));
    const gives = async () => (await compile(slope))(2);
    return await Function("rose", "gives", `return (async () => { ${work} })()`)(rose, gives);
}"""


def run(page: Page, url: str, work: str = "return gives();", before: str = "") -> Any:
    page.goto(f"{url}pages/blank.html")
    return page.evaluate(BODY, [before, work])


def test_the_same_files_make_the_same_snapshot(tmp_path: Path) -> None:
    """Wherever they are, and whenever: what readers have of it is good for the next build, too."""
    folder, (wheel,) = tmp_path / "pyodide", DIST.glob("*.whl")
    shutil.copytree(PYODIDE, folder, ignore=shutil.ignore_patterns("rose_core.*"))
    script("runtime.mjs", "core", folder, wheel)
    for name in ("rose_core.zip", "rose_core.snapshot.wasm"):
        # not `==` in the assertion, which would compare eleven megabytes by line
        is_same = (folder / name).read_bytes() == (PYODIDE / name).read_bytes()
        assert is_same, name


def test_it_starts_from_the_snapshot(page: Page, site_url: str) -> None:
    said, names = listen(page), asked_names(page.context)
    assert run(page, site_url) == 12
    assert said == []
    assert "rose_core.snapshot.wasm" in names
    assert not {"python_stdlib.zip", "rose_core.zip", "pyodide-lock.json"} & set(names)
    assert names.count("pyodide.asm.wasm") == 1


def altered(route: Route) -> None:
    data = bytearray((PYODIDE / route.request.url.rpartition("/")[2]).read_bytes())
    data[len(data) // 2] ^= 1
    route.fulfill(body=bytes(data), content_type="application/octet-stream")


def truncated(route: Route) -> None:
    data = (PYODIDE / route.request.url.rpartition("/")[2]).read_bytes()
    route.fulfill(body=data[: len(data) // 2])


DAMAGE = [altered, truncated]


@pytest.mark.parametrize("damage", DAMAGE)
def test_without_its_snapshot_it_starts_slowly(page: Page, site_url: str, damage: Any) -> None:
    page.context.route("**/rose_core.snapshot.wasm", damage)
    said, names = listen(page), asked_names(page.context)
    assert run(page, site_url) == 12
    (told,) = said
    assert "Python starts slowly" in told
    assert "rose_core.snapshot.wasm: it is not the file that belongs to this build" in told
    assert {"python_stdlib.zip", "rose_core.zip"} < set(names)


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_runtime_is_named(page: Page, site_url: str, damage: Any) -> None:
    page.context.route("**/pyodide.asm.wasm", damage)
    work = "return gives().catch((error) => error.message);"
    message = run(page, site_url, work)
    assert "pyodide.asm.wasm: it is not the file that belongs to this build" in message
    # what was wrong may be put right
    page.context.unroute("**/pyodide.asm.wasm")
    assert page.evaluate(BODY, ["", "return gives();"]) == 12


@pytest.mark.parametrize("script", ["pyodide.js", "pyodide.asm.js"])
def test_a_damaged_script_is_named(page: Page, site_url: str, script: str) -> None:
    def damaged(route: Route) -> None:
        data = (PYODIDE / script).read_bytes()
        route.fulfill(body=data[: len(data) // 2], content_type="text/javascript")

    page.context.route(f"**/{script}", damaged)
    work = "return [await gives().catch((error) => error.message), seen];"
    message, seen = run(page, site_url, work, PROGRESS % "")
    assert f"{script}: it is not the file that belongs to this build" in message
    assert seen[-1]["stage"] == "failed"


@pytest.mark.parametrize("kind", ["text/plain", "application/octet-stream"])
def test_any_type_will_do_for_the_runtime(page: Page, site_url: str, kind: str) -> None:
    def answer(route: Route) -> None:
        route.fulfill(body=(PYODIDE / "pyodide.asm.wasm").read_bytes(), content_type=kind)

    page.context.route("**/pyodide.asm.wasm", answer)
    assert run(page, site_url) == 12


def test_no_script_has_a_name_that_hosts_do_not_know(page: Page, site_url: str) -> None:
    names = asked_names(page.context)
    assert run(page, site_url) == 12
    assert not [name for name in names if name.endswith(".mjs")]


def test_assets_may_be_told_twice(page: Page, site_url: str) -> None:
    """As seen from Rose, whatever was said before; in the end nothing has changed."""
    work = """
        rose.configure({ assets: "./pages/.." });
        rose.configure({ assets: "./pages/.." });
        const value = await gives();
        rose.configure({ assets: "./pages/../" });
        const wrong = [{ assets: null }, { frozen: true }, { assets: "elsewhere" }].map((options) => {
            try { rose.configure(options); } catch (error) { return error.message; }
        });
        const idle = await rose.ready({ idel: true }).catch((error) => error.message);
        return [value, ...wrong, idle];"""
    value, assets, frozen, late, idle = run(page, site_url, work)
    assert value == 12
    assert assets == "configure: expected assets to be the address of a folder, got null"
    assert frozen == "configure: expected frozen to be the address of a folder, or false, got true"
    assert late.startswith("configure: the core has been started")
    assert idle == "ready: there is no option idel; the options are idle"


def test_who_waits_for_the_first_byte_is_told(page: Page, site_url: str) -> None:
    held: list[Route] = []
    page.context.route("**/pyodide/*", lambda route: route.continue_() if shown else held.append(route))
    shown = False
    run(page, site_url, "globalThis.ready = rose.ready();")
    bar = page.get_by_role("progressbar")
    expect(bar).to_be_visible()
    page.emulate_media(forced_colors="active")  # in which it is not to be as black as the page
    assert bar.evaluate("(bar) => getComputedStyle(bar).backgroundColor") == "rgb(74, 125, 255)"
    shown = True
    for route in held:
        route.continue_()
    page.evaluate("ready")
    expect(page.get_by_role("progressbar")).to_have_count(0)


PROGRESS = """
globalThis.seen = [];
addEventListener("rose-progress", (event) => {
    seen.push({ ...event.detail, bar: !!document.querySelector("[role=progressbar]") });
    %s
});"""


@pytest.mark.parametrize("prevented", [False, True])
def test_progress_is_told_and_shown(page: Page, site_url: str, prevented: bool) -> None:
    def late(route: Route) -> None:
        page.wait_for_timeout(600)
        route.continue_()

    page.context.route("**/pyodide.asm.wasm", late)
    before = PROGRESS % ("event.preventDefault();" if prevented else "")
    seen = run(page, site_url, "await gives(); return seen;", before)
    stages = [event["stage"] for event in seen]
    assert stages[0] == "download" and stages[-2:] == ["start", "ready"]
    loaded = [event["loaded"] for event in seen]
    assert loaded == sorted(loaded)
    assert seen[-1]["loaded"] == seen[-1]["total"] > 1e6
    assert any(event["bar"] for event in seen) is not prevented
    expect(page.get_by_role("progressbar")).to_have_count(0)


def test_a_worker_that_dies_is_replaced(page: Page, site_url: str) -> None:
    assert run(page, site_url) == 12
    (worker,) = page.workers
    worker.evaluate("setTimeout(close)")
    page.wait_for_timeout(100)
    assert page.evaluate(BODY, ["", "return gives();"]) == 12


def test_a_worker_that_dies_while_python_starts_is_replaced(page: Page, site_url: str) -> None:
    """Nothing takes as much memory as that."""
    held: list[Route] = []

    def hold_first(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    page.context.route("**/rose_core.snapshot.wasm", hold_first)
    run(page, site_url, "window.both = Promise.all([gives(), gives()]);")
    while not held:
        page.wait_for_timeout(20)
    (worker,) = page.workers
    worker.evaluate("setTimeout(close)")
    assert page.evaluate("both") == [12, 12]


FIRST_ENDS = """let others = false;
Worker = class extends Worker {
    constructor(...script) {
        super(...(others ? script : ["data:text/javascript,close()"]));
        others = true;
    }
};"""


def test_a_worker_that_ends_before_its_first_word_is_replaced(page: Page, site_url: str) -> None:
    """Nobody tells of it."""
    page.clock.install()
    run(page, site_url, "window.value = gives();", FIRST_ENDS)
    page.clock.run_for(10_000)
    assert page.evaluate("value") == 12


def test_a_worker_may_take_as_long_for_its_script_as_the_page(page: Page, site_url: str) -> None:
    """Not all hosts let browsers keep scripts."""
    page.clock.install()
    held: list[Route] = []
    page.goto(f"{site_url}pages/blank.html")
    page.evaluate("import('../rose.worker.js')")
    page.context.route("**/rose.worker.js", lambda route: held.append(route))
    slow = "performance.getEntriesByName = () => [{ duration: 15_000 }];"
    page.evaluate(BODY, [slow, "window.value = gives();"])
    while not held:
        page.wait_for_timeout(20)
    page.clock.run_for(15_000)
    (route,) = held
    route.continue_()
    assert page.evaluate("value") == 12


LISTENS = """window.words = [];
Worker = class extends Worker {
    constructor(script, options) {
        const parts = %s;
        const lines = parts.map((part) => `import ${JSON.stringify(part)};`);
        super(URL.createObjectURL(new Blob(lines, { type: "text/javascript" })), options);
        this.addEventListener("message", ({ data }) => words.push(data));
    }
};"""
"""What the worker says is kept, whose script has these parts."""

UNANSWERED = "data:text/javascript,navigator.locks.request=()=>new Promise(()=>{})"


@pytest.mark.parametrize("before", [[], [UNANSWERED]], ids=["locks", "locks that never answer"])
def test_no_worker_asks_for_anything_before_its_end_would_be_known(
    page: Page, site_url: str, before: list[str]
) -> None:
    listens = LISTENS % f"[...{before}, script]"
    value, (first, *others) = run(page, site_url, "return [await gives(), words];", listens)
    assert value == 12
    assert first["kind"] == "alive" and (first.get("lock") is None) is bool(before)
    assert "progress" in {word["kind"] for word in others}


def test_an_idle_worker_that_dies_is_missed_without_locks(page: Page, site_url: str) -> None:
    page.clock.install()
    run(
        page,
        site_url,
        "await rose.ready(); window.gives = gives;",
        "navigator.locks.request = async () => {};",
    )
    (worker,) = page.workers
    worker.evaluate("setTimeout(close)")
    while page.workers:
        page.wait_for_timeout(20)
    page.evaluate("window.value = gives(); null")
    page.clock.run_for(10_000)
    assert page.evaluate("value") == 12


def test_what_a_dying_worker_had_to_compile_is_asked_for_once_more(page: Page, site_url: str) -> None:
    run(page, site_url, "await rose.ready(); window.gives = gives;")
    (worker,) = page.workers
    # it dies of the next request that it gets
    worker.evaluate("self.onmessage = () => close()")
    assert page.evaluate("gives()") == 12


FAILS_ONCE = """Object.defineProperty(globalThis, "prompt", {
    configurable: true,
    get() {
        delete globalThis.prompt;
        throw new WebAssembly.RuntimeError("Out of bounds memory access");
    },
});"""
"""Pyodide looks for it at its start."""


def test_an_engine_that_fails_once_is_asked_once_more(page: Page, site_url: str) -> None:
    said = listen(page)
    work = 'rose.configure({ core: "main" }); return [await gives(), "prompt" in window];'
    assert run(page, site_url, work, FAILS_ONCE) == [12, False]
    assert said == []


def test_idle_pages_start_it_unless_the_reader_saves_data(new_page: NewPage, site_url: str) -> None:
    for saves in (False, True):
        page = new_page()
        names = asked_names(page.context)
        connection = f"{{ value: {{ saveData: {str(saves).lower()} }} }}"
        before = f"Object.defineProperty(navigator, 'connection', {connection});"
        run(page, site_url, "await rose.ready({ idle: true });", before)
        assert ("rose_core.snapshot.wasm" in names) is not saves
        assert page.evaluate(BODY, ["", "return gives();"]) == 12


def test_a_page_that_is_closed_while_it_compiles_leaves_nothing(new_page: NewPage, site_url: str) -> None:
    page = new_page()
    context = page.context
    run(page, site_url, "gives();")
    page.close()
    page = context.new_page()
    assert run(page, site_url) == 12
    (lock,) = page.evaluate("navigator.locks.query().then(({ held }) => held.map(({ name }) => name))")
    assert lock.startswith("rose ")


@pytest.mark.provokes(r"worker")
def test_where_workers_are_blocked_the_page_compiles(new_page: NewPage, host: Callable[..., str]) -> None:
    policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval' 'unsafe-eval'; worker-src 'none'"
    page = new_page()
    said = listen(page)
    assert run(page, host(headers={"Content-Security-Policy": policy})) == 12
    assert page.workers == []
    assert any("may not start a worker here" in text and "worker-src 'self'" in text for text in said)


@pytest.mark.provokes(r"rose\.worker\.js")
def test_a_page_that_is_isolated_alone_compiles_itself(page: Page, site_url: str) -> None:
    """Where its host does not send the worker's script as it sends the page."""
    policies = {"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp"}
    headers = {**policies, "Content-Type": "text/html"}
    page.route("**/blank.html", lambda route: route.fulfill(headers=headers, body=""))
    said = listen(page)
    assert run(page, site_url, "if (!crossOriginIsolated) throw Error(); return gives();") == 12
    assert any("Cross-Origin-Embedder-Policy, send it with rose.worker.js" in text for text in said)


CSP = "script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'"

SQUARES = """
    const { Real, compile, configure, fn, mul } = await import("/rose.js");
    configure({ cache: false });
    const nine = (await compile(fn([Real], Real, (x) => mul(x, x))))(3);
"""


def test_trusted_types_allow_its_worker(new_page: NewPage, host: Callable[..., str]) -> None:
    """More than one, where one dies."""
    policy = f"{CSP}; require-trusted-types-for 'script'; trusted-types rose"
    page = new_page()
    page.goto(f"{host(headers={'Content-Security-Policy': policy})}pages/blank.html")
    assert page.evaluate(f"async () => {{ {SQUARES} return nine; }}") == 9
    (worker,) = page.workers
    with page.expect_event("worker"):
        worker.evaluate("setTimeout(close)")
        page.evaluate("import('/rose.js').then(({ python }) => void python('x = 1'))")


def test_a_frame_without_an_address_has_a_worker(new_page: NewPage, host: Callable[..., str]) -> None:
    page = new_page()
    said = listen(page)
    inner = f"{SQUARES} parent.told = nine;"
    page.route("**/inner.js", lambda route: route.fulfill(body=inner, content_type="text/javascript"))
    page.goto(f"{host(headers={'Content-Security-Policy': CSP})}pages/blank.html")
    page.evaluate("""() => {
        const srcdoc = '<script type="module" src="/inner.js"></script>';
        document.body.append(Object.assign(document.createElement("iframe"), { srcdoc }));
    }""")
    # whose policy lets nothing else wait
    wait = "while (!globalThis.told) await new Promise((next) => setTimeout(next, 20));"
    assert page.evaluate(f"async () => {{ {wait} return told; }}") == 9
    assert len(page.workers) == 1
    assert said == []


def test_from_another_host_it_starts_in_a_worker(page: Page, host: Callable[..., str], site_url: str) -> None:
    other = host(headers={"Access-Control-Allow-Origin": "*"})
    said = listen(page)
    page.goto(f"{site_url}pages/blank.html")
    body = BODY.replace("../rose.js", f"{other}rose.js")
    assert page.evaluate(body, ["", "return gives();"]) == 12
    assert len(page.workers) == 1
    assert said == []


def test_a_page_in_a_sandbox_has_a_worker(page: Page, host: Callable[..., str]) -> None:
    """Where the host lets everybody load its files."""
    headers = {"Access-Control-Allow-Origin": "*", "Content-Security-Policy": "sandbox allow-scripts"}
    said = listen(page)
    page.goto(f"{host(headers=headers)}pages/blank.html")
    assert page.evaluate(BODY, ["", "return gives();"]) == 12
    assert len(page.workers) == 1
    assert said == []


def test_two_versions_on_a_page(page: Page, host: Callable[..., str], site_url: str) -> None:
    """Each has its own core, and neither takes what the other compiled for its own."""
    builds = re.findall(r'"([0-9a-f]{12})"', (DIST / "rose.js").read_text())

    def older(route: Route) -> None:
        text = (DIST / route.request.url.rpartition("/")[2]).read_text()
        for build in builds:
            text = text.replace(build, "0123456789ab")
        route.fulfill(body=text, content_type="text/javascript")

    page.context.route(re.compile(r"/older/rose(\.worker)?\.js"), older)
    page.context.route("**/older/rose.frozen.json", lambda route: route.fulfill(json={}))
    page.context.route(
        re.compile("/older/pyodide/"),
        lambda route: route.fulfill(path=PYODIDE / route.request.url.rpartition("/")[2]),
    )
    page.goto(f"{site_url}pages/blank.html")
    body = """async () => {
        const names = ["../rose.js", "../older/rose.js"];
        const values = [];
        for (const { Real, Vec, compile, fn, mul, vec } of await Promise.all(names.map((n) => import(n)))) {
            const f = fn([Real], Real, (x) => mul(x, x));
            values.push((await compile(f))(3));
        }
        const databases = await indexedDB.databases();
        return [values, databases.map(({ name }) => name)];
    }"""
    assert page.evaluate(body) == [[9, 9], ["rose programs"]]
    assert len(page.workers) == 2


def test_copies_on_a_page_know_each_others_types_and_tell_of_functions(page: Page, site_url: str) -> None:
    page.goto(f"{site_url}pages/blank.html")
    body = """async () => {
        const a = await import("../rose.js");
        const told = async (work) => {
            try { return await work(); } catch (error) { return error.message; }
        };
        const square = a.fn([a.Real], a.Real, (x) => a.mul(x, x));
        const before = await told(() => a.compile(Math.sin));
        const b = await import("../rose.js?another");
        const f = b.fn([a.Real, a.Vec(2, b.Real), [a.Bool]], a.Real, (x, v) => b.mul(x, v[1]));
        return [
            (await b.compile(f))(3, [4, 5], [true]),
            before,
            await told(() => b.compile(square)),
            await told(() => b.fn([b.Real], b.Real, (x) => square(x))),
        ];
    }"""
    value, before, *mistakes = page.evaluate(body)
    assert value == 15
    assert before == "compile: expected a function made with fn or opaque, got a function"
    for message in mistakes:
        assert "there are 2 copies of Rose here, and each knows its own functions only: import one" in message
