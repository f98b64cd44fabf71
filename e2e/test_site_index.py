"""The first page, and what all pages of the site have in common."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from e2e.gestures import PHONE
from e2e.server import Server
from js_bridge.build.paths import DIST

RECORDED = (
    "index",
    "regression",
    "quadratic",
    "billiards",
    "robot",
    "deblurring",
    "linkage",
    "diagram",
    "autodiff",
)
PAGES = (*RECORDED, "playground")
"""All pages that compile; the last runs what is typed."""
NO_WASM = {"Content-Security-Policy": "default-src 'self'"}


DONE = {
    "index": ("[data-show=z]", "8"),
    "regression": ("#run", re.compile("Pause|Run")),
    "quadratic": ("[data-show=hxx]", "12"),
    "billiards": ("[data-show=number]", re.compile("^[1-9]")),
    "robot": ("[data-show=number]", re.compile("^[1-9]")),
    "deblurring": ("[data-show=steps]", re.compile("^[1-9]")),
    "linkage": ("[data-show=x]", re.compile(r"^\d")),
    "diagram": ("[data-show=steps]", re.compile("^[1-9]")),
    "autodiff": ("[data-show=rosex]", "1.3480124"),
    "playground": ("[data-show=both]", re.compile("^Both record the same program")),
}


def wait(page: Page, name: str) -> None:
    """Until the page has its gradients."""
    where, text = DONE[name]
    expect(page.locator(where).last).to_have_text(text)
    expect(page.locator("#status")).not_to_have_class(re.compile("busy"))


@pytest.fixture(scope="module")
def no_wasm_url(host: Callable[..., str]) -> str:
    return host("/", NO_WASM)


# ---- the first page -----------------------------------------------------------------


def test_the_sample_runs(page: Page, site_url: str) -> None:
    page.goto(site_url + "site/")
    wait(page, "index")
    result = page.locator(".result")
    expect(result.locator("dd").nth(1)).to_have_text("[12, 5.5452]")
    expect(result.locator("dd").nth(2)).to_have_text(
        re.compile(r"\[\[12, 12\.318\],\s+\[12\.318, 3\.8436\]\]")
    )
    expect(page.locator("#source")).to_have_text(re.compile(r"vjp\(g\)\(v\)"))
    page.locator("#x").fill("1")
    expect(page.locator("[data-show=z]")).to_have_text("1")
    expect(page.locator("[data-show=g]")).to_have_text("3, 0")
    expect(page.locator("[data-show=there]")).to_have_text(re.compile(r"^[\d.]+ s$"))


def test_the_cards_lead_to_the_explorables(new_page: Callable[..., Page], folder_url: str) -> None:
    page = new_page(java_script_enabled=False)
    page.goto(folder_url + "site/")
    for title in (
        "Four data sets and a line",
        "Bowls, domes and saddles",
        "A shot, corrected backwards",
        "Learning to walk",
        "Seeing through a blur",
        "Drag the answer",
        "Say it, and see it drawn",
        "Four ways to a slope",
        "A function in two languages",
        "How fast is it?",
    ):
        page.get_by_role("link", name=title).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
        page.get_by_role("navigation").get_by_role("link", name="Rose").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Gradients for interactive web pages")


@pytest.mark.parametrize("which", ["module", "classic"])
def test_what_the_page_says_to_copy_works(page: Page, site_url: str, which: str, tmp_path: Path) -> None:
    text = (DIST / "site" / "index.html").read_text()
    found = re.search(rf'<code id="{which}">(.*?)</code>', text, re.DOTALL)
    assert found
    code = found[1].replace("&lt;", "<").replace("&gt;", ">")
    (tmp_path / "index.html").write_text(f"<!doctype html><link rel=icon href=rose/site/favicon.svg>{code}")
    with Server({"/": tmp_path, "/rose/": DIST}, quiet=True) as server:
        with page.expect_console_message() as message:
            page.goto(server.origin)
        assert message.value.text == "6"


# ---- all pages ----------------------------------------------------------------------


@pytest.mark.parametrize("name", PAGES)
def test_on_a_phone(
    new_page: Callable[..., Page], frozen_url: str, name: str, screenshot: Callable[..., object]
) -> None:
    page = new_page(**PHONE, color_scheme="dark")
    page.goto(f"{frozen_url}site/{name}.html")
    wait(page, name)
    screenshot(page, f"{name}-phone-dark", full_page=True)
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") == width
    # what is to be touched is large enough, or in a line of text with room around it
    small = page.evaluate(
        """() => [...document.querySelectorAll("button, input, textarea, a, .handle")]
          .filter((e) => e.checkVisibility())
          .filter((e) => !e.matches(".act, .skip, p a, footer a, .choice input, .check input"))
          .map((e) => [e.outerHTML.slice(0, 80), e.getBoundingClientRect()])
          .filter(([, box]) => box.height < 40 || box.width < 40)"""
    )
    assert small == []
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, input, textarea, a, canvas, .handle, [role=region]")]
          .filter((e) => !(e.labels?.[0]?.textContent || e.ariaLabel || e.textContent).trim())
          .map((e) => e.outerHTML)"""
    )
    assert nameless == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(new_page: Callable[..., Page], frozen_url: str, scheme: str) -> None:
    page = new_page(color_scheme=scheme)
    page.goto(frozen_url + "site/regression.html")
    ratios = page.evaluate(
        """() => {
          const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
          const luminance = (name) => {
            const code = parseInt(token(name).slice(1), 16);
            const [r, g, b] = [code >> 16, (code >> 8) & 255, code & 255].map((c) =>
              c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          const ratio = (a, b) => {
            const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
            return (x + 0.05) / (y + 0.05);
          };
          const found = {};
          for (const ink of ["--ink", "--soft", "--rose", "--blue", "--gold", "--bad"])
            for (const paper of ["--paper", "--raised", "--picture"])
              found[`${ink} on ${paper}`] = ratio(ink, paper);
          for (const paper of ["--sunken", "--bad-wash"]) found[`--ink on ${paper}`] = ratio("--ink", paper);
          found["--rose on --rose-wash"] = ratio("--rose", "--rose-wash");
          found["--paper on --rose"] = ratio("--paper", "--rose");
          found["1.5 × --edge on --paper"] = 1.5 * ratio("--edge", "--paper");
          found["1.5 × --edge on --raised"] = 1.5 * ratio("--edge", "--raised");
          return found;
        }"""
    )
    assert {what: ratio for what, ratio in ratios.items() if ratio < 4.5} == {}


def test_a_desktop_sees_the_first_page(
    new_page: Callable[..., Page], frozen_url: str, screenshot: Callable[..., object]
) -> None:
    page = new_page(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    page.goto(frozen_url + "site/")
    wait(page, "index")
    screenshot(page, "index-light")
    page.emulate_media(color_scheme="dark")
    screenshot(page, "index-dark")


def test_it_can_be_printed(new_page: Callable[..., Page], frozen_url: str, tmp_path: Path) -> None:
    page = new_page(color_scheme="dark")
    page.goto(frozen_url + "site/quadratic.html")
    wait(page, "quadratic")
    on_screen = page.locator("#surface").evaluate("e => e.toDataURL()")
    page.emulate_media(media="print")
    page.wait_for_function("was => document.querySelector('#surface').toDataURL() !== was", arg=on_screen)
    expect(page.locator(".controls").first).to_be_hidden()
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"


def test_nothing_is_cut_off_on_paper(page: Page, frozen_url: str) -> None:
    """What can be scrolled on a screen is there as a whole, and what can only be clicked is not."""
    hidden = "[...document.querySelectorAll('pre, textarea')].filter((e) => e.scrollHeight > e.clientHeight)"
    for name in ("diagram", "playground", "billiards"):
        page.goto(frozen_url + f"site/{name}.html")
        expect(page.locator("pre, textarea").first).not_to_be_empty()
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 700, "height": 990})  # about what paper has
        page.wait_for_function(f"{hidden}.length === 0")
        for control in page.locator(".presets, .controls, input[type=range]").all():
            expect(control).to_be_hidden()
        page.emulate_media(media="screen")


def test_what_is_chosen_is_seen_in_forced_colours(new_page: Callable[..., Page], frozen_url: str) -> None:
    page = new_page(forced_colors="active")
    page.goto(frozen_url + "site/autodiff.html")
    backgrounds = page.locator("#methods .chip").evaluate_all(
        "chips => chips.map((chip) => getComputedStyle(chip).backgroundColor)"
    )
    assert backgrounds[0] not in backgrounds[1:]
    current = page.locator(".top [aria-current]")
    assert "underline" in current.evaluate("e => getComputedStyle(e).textDecorationLine")


@pytest.mark.parametrize(
    ("name", "button"), [("regression", "run"), ("robot", "run"), ("robot", "play"), ("diagram", "run")]
)
def test_what_is_stopped_and_started_within_a_frame_goes_no_faster(
    page: Page, frozen_url: str, name: str, button: str
) -> None:
    page.goto(f"{frozen_url}site/{name}.html")
    wait(page, name)
    few, many = page.evaluate(
        """async (id) => {
        document.getElementById("resample")?.click();
        const frame = requestAnimationFrame;
        const requests = async (clicks) => {
            await new Promise((done) => frame(done));
            let found = 0;
            globalThis.requestAnimationFrame = (act) => { ++found; return frame(act); };
            for (let k = 0; k < clicks; ++k) document.getElementById(id).click();
            globalThis.requestAnimationFrame = frame;
            return found;
        };
        return [await requests(2), await requests(10)];
    }""",
        button,
    )
    # each of the four more starts would ask for a frame of its own, for ever
    assert many < few + 4


# ---- what can go wrong --------------------------------------------------------------


def expect_failure(page: Page, message: str) -> None:
    """One message, in words, and a page that is still there."""
    expect(page.locator(".failed")).to_have_count(1)
    expect(page.locator(".failed")).to_have_text(re.compile(message))
    expect(page.locator("#status")).not_to_have_class(re.compile("busy"))


def expect_pictures(page: Page, name: str) -> None:
    """What needs no gradient works all the same."""
    if name == "regression":
        before = page.locator("[data-show=loss]").first.inner_text()
        page.get_by_label("Data point 1", exact=True).focus()
        page.keyboard.press("ArrowUp")
        expect(page.locator("[data-show=loss]").first).not_to_have_text(before)
    if name == "billiards":
        goal = page.get_by_label("Goal", exact=True)
        expect(goal).to_have_attribute("aria-valuetext", "x 0.900, y 0.750")
        goal.press("ArrowUp")
        expect(goal).to_have_attribute("aria-valuetext", "x 0.900, y 0.760")
    if name == "autodiff":
        page.get_by_label("f(x, y) =").fill("x^3")
        expect(page.locator("[data-show=exact]")).to_have_text("5.07")
    if name == "quadratic":
        page.get_by_label("f(x, y) =").fill("x + y")
        expect(page.locator(".panel [data-show=z]")).to_have_text("5")


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.provokes(r"rose\.worker\.js")
def test_the_worker_is_missing(page: Page, site_url: str, name: str) -> None:
    page.route("**/rose.worker.js", lambda route: route.fulfill(status=404))
    page.goto(f"{site_url}site/{name}.html")
    expect_failure(page, r"could not load .*/rose\.worker\.js")
    expect_pictures(page, name)


@pytest.mark.parametrize("file", ["pyodide.js", "pyodide.asm.wasm"])
@pytest.mark.provokes(r"/pyodide/")
def test_a_part_of_python_is_missing(page: Page, site_url: str, file: str) -> None:
    page.context.route(f"**/{file}", lambda route: route.fulfill(status=404))
    page.goto(site_url + "site/quadratic.html")
    expect_failure(page, r"could not load .*pyodide")
    expect_pictures(page, "quadratic")


@pytest.mark.parametrize("name", RECORDED)
def test_a_policy_forbids_webassembly(page: Page, no_wasm_url: str, name: str) -> None:
    page.goto(f"{no_wasm_url}site/{name}.html")
    expect_failure(page, "Content-Security-Policy forbids.*'wasm-unsafe-eval'")
    expect_pictures(page, name)


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.provokes(r"/rose\.js")
def test_the_bridge_is_missing(page: Page, site_url: str, name: str) -> None:
    page.route("**/rose.js", lambda route: route.fulfill(status=404))
    page.goto(f"{site_url}site/{name}.html")
    expect_failure(page, rf"could not load .*/{name}\.js or a file that it imports")
