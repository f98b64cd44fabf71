"""What `rose freeze` tells of mistakes: on pages, in their Python, in warm-ups, and in its own arguments."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from functools import partial

import pytest
from playwright.sync_api import Browser, BrowserContext

from e2e.frozen import ENVIRONMENT, PAGE, PYTHON_PAGE, SCRIPT, WARM_UP, Frozen
from e2e.server import Server
from js_bridge.build.paths import BROWSER, DIST, PYTHON
from rose_core.cli import actions, visit


def test_a_warm_up_that_does_not_end_is_told(
    site: Frozen, browser: Browser, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """While it is waited for, and when it is given up."""
    monkeypatch.setattr(actions, "LONGEST", 3000)
    monkeypatch.setattr(actions, "WORD", 1000)
    site.write("pages/page.js", SCRIPT + "export const warmUp = () => new Promise(() => {});")
    with Server({"/": site.root}, quiet=True) as server:
        context = visit.reader(browser, {})
        seen = visit.Visit()
        visit.use(context, f"{server.origin}/pages/page.html", seen)
        context.close()
    assert len(seen.artifacts) == 1
    assert [re.sub(r"\d+", "n", error) for error in seen.errors] == [
        "its warmUp() has not ended after n minutes"
    ]
    said = capsys.readouterr().err  # on a slow machine, of what comes before and after that, too
    assert "  /pages/page.html: its warmUp() goes on; it is given up after 0 minutes\n" in said


@pytest.mark.parametrize("when", ["slider.oninput = () => {", "{", "setTimeout(() => {"])
def test_a_script_that_does_not_end_is_told(
    site: Frozen, browser: Browser, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """Also one that begins while the page is waited for."""
    monkeypatch.setattr(actions, "PATIENCE", 4000)
    end = "}, 2000)" if "Timeout" in when else "}"
    site.write("pages/page.js", f"{SCRIPT}{when} for (;;); {end}")
    with Server({"/": site.root}, quiet=True) as server:
        context = visit.reader(browser, {})
        seen = visit.Visit()
        visit.use(context, f"{server.origin}/pages/page.html", seen)
        context.close()
    (told,) = seen.errors
    assert re.search(r"a script in it has not ended after \d+ minutes|Timeout \d+ms exceeded", told)


def test_a_page_that_does_not_answer_is_opened_once_more(
    site: Frozen, browser: Browser, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a busy machine, or the browser, did to it is none of its mistakes."""
    monkeypatch.setattr(actions, "PATIENCE", 4000)
    site.write("pages/page.js", "for (;;);")
    use = visit.use

    def use_and_mend(context: BrowserContext, address: str, seen: visit.Visit) -> None:
        use(context, address, seen)
        site.write("pages/page.js", SCRIPT)

    monkeypatch.setattr(visit, "use", use_and_mend)
    with Server({"/": site.root}, quiet=True) as server:
        seen = visit.first_visit(browser, {}, f"{server.origin}/pages/page.html")
    assert not seen.errors and len(seen.artifacts) == 3
    assert capsys.readouterr().err.endswith("; it is opened once more\n")


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
        "! pages/then.html: python: JavaScript takes an object with a then for a promise; "
        "rename that function",
    ]


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


GIVES_UP = """
import { Real, compile, fn, mul } from "../rose/rose.js";
const reasons = ["superseded", null, Error("superseded"), undefined];
reasons.forEach((reason, k) => {
    const giving = new AbortController();
    compile(fn([Real], Real, (x) => mul(k, x)), { signal: giving.signal }).catch(() => {});
    giving.abort(reason);
});
await compile(fn([Real], Real, (x) => mul(x, x)));
"""


def test_what_a_page_gives_up_is_no_mistake(site: Frozen) -> None:
    """For a reason of any kind, nor is what a worker of its does."""
    site.write("pages/page.js", GIVES_UP)
    site.write("pages/worker.js", GIVES_UP.replace("mul(x, x)", "x"))
    site.write("pages/works.js", 'import "../rose/rose.js"; new Worker("worker.js", { type: "module" });')
    site.write("pages/works.html", PAGE.replace("page.js", "works.js"))
    done = site.freeze()
    assert "pages/page.html: 1 program\n" in done.stdout
    assert "pages/works.html: 1 program\n" in done.stdout
    assert done.returncode == 0, done.stdout


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


def test_what_cannot_be_written_is_said(frozen: Frozen) -> None:
    shutil.rmtree(frozen.root / "pages" / "frozen")
    frozen.write("pages/frozen", "a file")
    done = frozen.freeze()
    assert done.returncode == 2
    assert done.stderr.startswith("rose: ") and "Traceback" not in done.stderr
    assert f"{frozen.root}/pages/frozen" in done.stderr


def test_a_page_that_cannot_be_read_is_told_and_keeps_what_it_had(frozen: Frozen) -> None:
    had = frozen.files
    page = frozen.root / "pages" / "page.html"
    page.unlink()
    page.symlink_to("nowhere.html")
    done = frozen.freeze()
    assert done.returncode == 1 and frozen.files == had
    assert "! pages/page.html: it cannot be read: 404\n" in done.stdout


ENDS = """
import sys
from rose_core.cli.browser import chromium
from rose_core.cli.visit import reader
with chromium(sys.argv[1]) as browser:
    browser.close()
    reader(browser, {})
"""


def test_a_browser_that_ends_is_told() -> None:
    path = json.loads(BROWSER.read_text())["path"]
    words = [PYTHON, "-c", ENDS, path]
    done = subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
    assert f"CommandError: {path} ended while it was in use" in done.stderr


WITHOUT_PLAYWRIGHT = """
import sys
sys.modules["playwright"] = None
from rose_core.cli import main
sys.exit(main(["freeze", "."]))
"""


def test_who_has_no_playwright_is_told_how_to_have_it() -> None:
    words = [PYTHON, "-c", WITHOUT_PLAYWRIGHT]
    done = subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
    said = "rose: freezing takes Playwright: pip install 'rose_core[freeze]'\n"
    assert (done.returncode, done.stderr) == (2, said)


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
    """With Ctrl-C, which the browser hears, too, while a page is used that would go on for ever."""
    icon = "<link rel=icon href=data:,>"
    site.write("first.html", icon)
    site.write("second.js", "export const warmUp = () => new Promise(() => {});")
    site.write("second.html", f'{icon}<script type="module" src="second.js"></script>')
    words = [PYTHON, "-m", "rose_core.cli", "freeze", str(site.root)]
    env = {**ENVIRONMENT, "CHROMIUM": json.loads(BROWSER.read_text())["path"]}
    pipe = subprocess.PIPE
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # in the background, too
    with subprocess.Popen(
        words, env=env, stdout=pipe, stderr=pipe, text=True, start_new_session=True, preexec_fn=heard
    ) as running:
        assert running.stdout and running.stdout.readline().startswith("first.html")
        os.killpg(running.pid, signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert (running.returncode, said) == (130, "rose: stopped\n")


STOPPED_ELSEWHERE = """
import os, signal, threading, time
from contextlib import nullcontext
from rose_core.cli import several
from rose_core.cli.actions import StoppedError, stopped

signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background, too
several.chromium = nullcontext
begun = threading.Event()

def act(browser, item):
    if threading.current_thread() is threading.main_thread():
        begun.wait()  # and nothing is left to do
        return
    begun.set()
    time.sleep(0.5)
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)
    if not stopped.wait(20):
        os._exit(1)
    raise StoppedError

try:
    several.spread("ab", act, lambda item, result: None, None, None)
except KeyboardInterrupt:
    print("stopped")
"""


def test_who_stops_it_while_it_waits_is_heard() -> None:
    """Also where the system tells another thread than the one that waits."""
    done = subprocess.run([PYTHON, "-c", STOPPED_ELSEWHERE], env=ENVIRONMENT, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("stopped\n", "")
