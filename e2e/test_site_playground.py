"""The playground, used as a reader would."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from e2e.explorables import STRICT
from e2e.gestures import PHONE
from e2e.test_site_index import NO_WASM, wait
from e2e.workbench import Opened, opening

JAVASCRIPT = """import { Real, fn, mul } from "./rose.js";
export const f = fn([Real], Real, (x) => mul(x, mul(x, x)));
"""
PYTHON = """from rose_core import Real, fn
@fn
def f(x: Real) -> Real:
    return x * (x * x)
"""


def code(page: Page, language: str) -> Locator:
    return page.get_by_role("textbox", name=language, exact=True)


def told(page: Page, language: str) -> Locator:
    return page.locator(f"#{language.lower()}-told")


def number(page: Page, name: str) -> Locator:
    return page.locator(f"#numbers dt:text-is('{name}') + dd")


def listing(page: Page) -> Locator:
    return page.locator("#listing")


def point(page: Page) -> Locator:
    return page.get_by_label("Arguments of f")


@pytest.fixture(scope="module")
def opened(browser: Browser, site_url: str) -> Iterator[Opened]:
    with opening(browser, site_url + "site/playground.html") as (page, problems):
        wait(page, "playground")
        yield page, problems


@pytest.fixture
def ready(opened: Opened) -> Iterator[Page]:
    """The page as it is at first."""
    page, problems = opened
    page.get_by_role("radio", name="f", exact=True).check()
    page.get_by_role("button", name="waves").click()
    page.get_by_role("radio", name="JavaScript").check()
    expect(number(page, "by argument 2")).to_have_text("2.43723")
    wait(page, "playground")
    yield page
    assert problems == []


def test_every_stage_is_shown(ready: Page, screenshot: Callable[..., object]) -> None:
    expect(number(ready, "f")).to_have_text("1.516355")
    expect(number(ready, "by argument 1")).to_have_text("1.348012")
    expect(number(ready, "a call of f")).to_have_text(re.compile(r"^[\d.]+ (ns|µs)$"))
    expect(listing(ready)).to_have_text(re.compile(r"def f\(.*let v3: Real = sin\(v2\) in", re.DOTALL))
    screenshot(ready, "playground-light")
    ready.get_by_role("radio", name="asked").check()
    expect(listing(ready)).to_have_text(re.compile(r"= vjp f\("))
    ready.get_by_role("radio", name="derivative").check()
    expect(listing(ready)).to_have_text(re.compile(r"let v\d+: Real = cos\(v2\) in"))
    expect(listing(ready)).not_to_have_text(re.compile("vjp"))
    ready.get_by_role("button", name="WebAssembly", exact=True).click()
    expect(listing(ready)).to_have_text(re.compile(r"^\(module.*f64\.mul +;; a2", re.DOTALL))
    ready.emulate_media(color_scheme="dark")
    screenshot(ready, "playground-dark", full_page=True)
    ready.emulate_media(color_scheme="light")


def test_each_language_is_edited(ready: Page) -> None:
    point(ready).fill("2")
    code(ready, "JavaScript").fill(JAVASCRIPT)
    expect(number(ready, "by argument 1")).to_have_text("12")
    code(ready, "Python").fill(PYTHON)
    expect(ready.get_by_role("radio", name="Python")).to_be_checked()
    expect(ready.locator("[data-show=both]")).to_have_text(re.compile("^Both record the same"))
    code(ready, "Python").fill(PYTHON.replace("x * (x * x)", "x**4 / x"))
    expect(ready.locator("[data-show=both]")).to_have_text(re.compile("^Two programs that give the same"))
    code(ready, "Python").fill(PYTHON.replace("x * (x * x)", "x + 1"))
    expect(ready.locator("[data-show=both]")).to_have_text(re.compile("do not give the same"))
    expect(number(ready, "f")).to_have_text("3")
    ready.get_by_role("radio", name="JavaScript").check()
    expect(number(ready, "f")).to_have_text("8")


@pytest.mark.parametrize(
    ("language", "text", "message", "line"),
    [
        ("JavaScript", JAVASCRIPT.replace("x))", "x)"), "Line 2: ", 2),
        ("JavaScript", JAVASCRIPT.replace("mul(x, x)", "mull(x, x)"), "Line 2: mull is not defined", 2),
        ("JavaScript", JAVASCRIPT.replace(" mul }", " mull }"), "Line 1: .*mull", 1),
        ("JavaScript", "\n" + JAVASCRIPT.replace("mul(x, x)", "true"), "Line 3: .*expected Real", 3),
        ("JavaScript", "export const g = 3;", "defines no function f", 0),
        ("JavaScript", "throw null;", "null", 0),
        ("Python", PYTHON.replace("x * x)", "x * x"), "Line 4: SyntaxError", 4),
        ("Python", PYTHON.replace("(x * x)", "y"), "Line 4: NameError: name 'y' is not defined", 4),
        ("Python", PYTHON.replace("x * (x * x)", "x if x > 0 else 1"), "Line 4: TypeError: a symbolic", 4),
        ("Python", "x = 3", "defines no function f", 0),
    ],
)
def test_a_mistake_is_told_by_its_line_and_the_last_good_program_stays(
    ready: Page, language: str, text: str, message: str, line: int
) -> None:
    seen = listing(ready).inner_text()
    code(ready, language).fill(text)
    expect(told(ready, language)).to_have_text(re.compile(message))
    expect(code(ready, language)).to_have_attribute("aria-invalid", "true")
    marked = ready.locator(f"#{language.lower()}-lines .wrong")
    expect(marked).to_have_text([str(line)] if line else [])
    assert listing(ready).inner_text() == seen
    expect(number(ready, "f")).to_have_text("1.516355")


def test_a_function_without_derivative(ready: Page) -> None:
    point(ready).fill("2")
    pair = JAVASCRIPT.replace("], Real,", "], Vec(2, Real),").replace("Real,", "Real, Vec,", 1)
    code(ready, "JavaScript").fill(pair.replace("mul(x, mul(x, x))", "[x, mul(x, x)]"))
    expect(number(ready, "f")).to_have_text("[2, 4]")
    expect(number(ready, "derivatives")).to_have_text(re.compile("Real"))
    expect(number(ready, "with derivatives")).to_have_count(0)


def test_arguments_that_do_not_fit(ready: Page) -> None:
    point(ready).fill("1.3, x")
    expect(ready.get_by_role("alert")).to_have_text(re.compile("^Arguments are numbers"))
    expect(point(ready)).to_have_attribute("aria-invalid", "true")
    expect(number(ready, "f")).to_have_text("1.516355")
    point(ready).fill("1.3, [7]")
    expect(ready.get_by_role("alert")).not_to_have_text(re.compile("^(Arguments are numbers.*)?$"))
    point(ready).fill("2")
    expect(ready.get_by_role("alert")).to_have_text("f takes 2 arguments, got 1")
    point(ready).fill("0, 3")
    expect(number(ready, "f")).to_have_text("9")
    expect(ready.get_by_role("alert")).to_have_text("")


@pytest.mark.parametrize(
    ("language", "text"),
    [("JavaScript", "for (;;);\nexport const f = 1;"), ("Python", "while True:\n    pass")],
)
def test_what_does_not_end_is_stopped(ready: Page, language: str, text: str) -> None:
    code(ready, language).fill(text)
    ready.get_by_role("button", name="Stop").click()
    expect(told(ready, language)).to_have_text("This was stopped before it came to an end.")
    expect(ready.get_by_role("button", name="Stop")).to_be_disabled()
    expect(number(ready, "f")).to_have_text("1.516355")


def test_examples(ready: Page) -> None:
    for name in ("a loop", "a root", "a valley in eight dimensions"):
        ready.get_by_role("button", name=name).click()
        expect(number(ready, "with derivatives")).to_be_visible()
        expect(ready.locator("[data-show=both]")).to_have_text(re.compile("the same"))
        for language in ("JavaScript", "Python"):
            expect(told(ready, language)).to_have_text("")
    expect(number(ready, "by argument 1")).to_have_text("[40, −124.6, 150.6, 38, −59.6, 8.6, 11, −10]")


def test_a_link_waits_until_it_has_been_read(
    new_page: Callable[..., Page], site_url: str, ready: Page
) -> None:
    point(ready).fill("2")
    code(ready, "Python").fill(PYTHON)
    code(ready, "JavaScript").fill(JAVASCRIPT + "globalThis.wasRun = true; // “ünïcode”\n")
    ready.get_by_role("button", name="Copy a link").click()
    expect(ready.locator("#status")).to_have_text(re.compile("^The link is "))
    address = ready.evaluate("location.href")
    ready.evaluate("history.replaceState(null, '', location.pathname)")

    other = new_page()
    other.goto(address)
    expect(other.locator("#status")).to_have_text(re.compile("^These programs came with the address"))
    expect(code(other, "Python")).to_have_value(PYTHON)
    code(other, "JavaScript").press("End")
    code(other, "JavaScript").type(" ")
    assert other.evaluate("globalThis.wasRun") is None
    other.get_by_role("button", name="Run").click()
    expect(number(other, "by argument 1")).to_have_text("12")
    other.wait_for_function("globalThis.wasRun")  # it may be Python that has given the number
    expect(other.get_by_role("button", name="Run")).to_be_hidden()


def test_a_link_that_is_damaged(page: Page, site_url: str) -> None:
    page.goto(site_url + "site/playground.html#no-program")
    expect(page.locator("#status")).to_have_text(re.compile("holds no program"))
    wait(page, "playground")


def test_on_a_phone(new_page: Callable[..., Page], site_url: str, screenshot: Callable[..., object]) -> None:
    page = new_page(**PHONE)
    page.goto(site_url + "site/playground.html")
    wait(page, "playground")
    page.get_by_role("button", name="a loop").tap()
    expect(number(page, "by argument 2")).to_be_visible()
    page.get_by_role("radio", name="derivative").tap()
    expect(listing(page)).to_have_text(re.compile("fori|loop|for"))
    screenshot(page, "playground-phone")
    # the keyboard goes through, and does not get caught in a program
    code(page, "JavaScript").focus()
    page.keyboard.press("Tab")
    expect(code(page, "Python")).to_be_focused()


@pytest.mark.provokes("blob:")
def test_a_strict_policy_leaves_python(page: Page, host: Callable[..., str]) -> None:
    page.goto(host("/strict/", STRICT) + "site/playground.html")
    expect(told(page, "JavaScript")).to_have_text(re.compile("allows no JavaScript that is typed here"))
    expect(number(page, "by argument 1")).to_have_text("1.348012")


@pytest.mark.provokes("blob:")
def test_a_policy_that_forbids_webassembly(page: Page, host: Callable[..., str]) -> None:
    page.goto(host("/strict/", NO_WASM) + "site/playground.html")
    expect(page.locator("#status")).to_have_text(re.compile("Content-Security-Policy forbids"))


def test_programs_in_addresses(node: Callable[[str], str]) -> None:
    content = {"javascript": "a\n" * 50, "python": "ä😀", "at": "1"}
    text = node(f"""
        import {{ packed, unpacked }} from "./site/playground/share.js";
        const text = await packed({json.dumps(content)});
        const read = (text) => unpacked(text).catch(() => "none");
        const damaged = await Promise.all(["", "@@", text.slice(3)].map(read));
        console.log(JSON.stringify([text, await unpacked(text), damaged]));
    """)
    packed, unpacked, damaged = json.loads(text)
    assert re.fullmatch(r"[-\w]{10,90}", packed)
    assert unpacked == content
    assert damaged == ["none"] * 3
