"""The page about quadratic approximation, used as a reader would."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from e2e.gestures import PHONE, Gate, drag, settle, spot, swipe, touch
from e2e.workbench import Opened, be_drawn, opening

LN2 = math.log(2)
DERIVED = re.compile("Derived and compiled in")
MIXED = 4 + 12 * LN2
POWER = (8, 12, 8 * LN2, 12, MIXED, MIXED, 8 * LN2**2)
"""x to the power of y at (2, 3)."""

PARTS = ("z", "gx", "gy", "hxx", "hxy", "hyx", "hyy")


def field(page: Page) -> Locator:
    return page.get_by_label("f(x, y) =")


def handle(page: Page) -> Locator:
    return page.get_by_label("The point on the surface")


def shown(page: Page, name: str) -> Locator:
    return page.locator(f".panel [data-show={name}]")


def expect_numbers(page: Page, *values: float) -> None:
    """Wait until value, gradient and Hessian are these, in five digits."""
    for name, value in zip(PARTS, values, strict=True):
        expect(shown(page, name)).to_have_text(f"{value:.5g}".replace("-", "−"))


def picture(page: Page) -> str:
    settle(page)
    return str(page.locator("#surface").evaluate("canvas => canvas.toDataURL()"))


@pytest.fixture(scope="module")
def opened(browser: Browser, frozen_url: str) -> Iterator[Opened]:
    """One page for most of the tests, as loading the compiler takes longer than they do."""
    with opening(browser, frozen_url + "site/quadratic.html") as (page, problems):
        expect(page.locator("#status")).to_have_text(DERIVED)
        yield page, problems


@pytest.fixture
def ready(opened: Opened) -> Iterator[Page]:
    """The page as it is at first, but for what it says of the time that it took."""
    page, problems = opened
    page.get_by_role("button", name="x**y").click()
    expect_numbers(page, *POWER)
    page.evaluate("scrollTo(0, 0)")
    yield page
    assert problems == []


def test_value_gradient_and_hessian(ready: Page) -> None:
    expect_numbers(ready, *POWER)
    expect(ready.locator("[data-show=shape]")).to_have_text(re.compile("^a saddle"))
    ready.get_by_label("x", exact=True).fill("1.5")
    ready.get_by_label("y", exact=True).fill("2")
    ln = math.log(1.5)
    expect_numbers(ready, 2.25, 3, 2.25 * ln, 2, 1.5 + 3 * ln, 1.5 + 3 * ln, 2.25 * ln**2)


def test_numbers_that_are_typed_are_taken_as_they_are(ready: Page) -> None:
    ready.get_by_label("x", exact=True).fill("1.23456")
    ready.get_by_label("y", exact=True).fill("1")
    expect(shown(ready, "z")).to_have_text("1.2346")
    ready.keyboard.press("Tab")
    expect(ready.get_by_label("x", exact=True)).to_have_value("1.23456")


def test_the_point_is_dragged_and_the_patch_follows(ready: Page) -> None:
    before = picture(ready)
    drag(ready, handle(ready), -30, 25)
    expect(shown(ready, "z")).not_to_have_text("8")
    assert picture(ready) != before
    # it went where the pointer went: the handle is under it still
    box = handle(ready).bounding_box()
    assert box
    drag(ready, handle(ready), 20, 10)
    after = handle(ready).bounding_box()
    assert after
    assert (after["x"] - box["x"], after["y"] - box["y"]) == pytest.approx((20, 10), abs=2)
    x, y = (float(ready.get_by_label(name, exact=True).input_value()) for name in "xy")
    shown_z = float(shown(ready, "z").inner_text())
    assert shown_z == pytest.approx(x**y, rel=1e-4)


def test_the_point_is_moved_with_the_keyboard(ready: Page) -> None:
    handle(ready).focus()
    for key in ("ArrowRight", "ArrowUp", "Shift+ArrowLeft", "Shift+ArrowDown"):
        ready.keyboard.press(key)
    expect(ready.get_by_label("x", exact=True)).to_have_value("1.73")
    expect(ready.get_by_label("y", exact=True)).to_have_value("2.64")
    expect(handle(ready)).to_have_attribute("aria-valuetext", f"x 1.73, y 2.64, z {1.73**2.64:.5g}")
    assert ready.evaluate("scrollY") == 0


def test_the_point_is_dragged_with_a_finger(
    new_page: Callable[..., Page], frozen_url: str, screenshot: Callable[..., object]
) -> None:
    page = new_page(**PHONE)
    page.goto(frozen_url + "site/quadratic.html")
    expect(page.locator("#status")).to_have_text(DERIVED)
    page.locator("#workbench").evaluate("e => e.scrollIntoView()")
    top = page.evaluate("scrollY")
    swipe(page, handle(page), 20, 40)
    expect(shown(page, "z")).not_to_have_text("8")
    assert page.evaluate("scrollY") == top
    screenshot(page, "quadratic-phone")
    # beside the point, a finger turns the surface sideways, and scrolls the page
    before = handle(page).bounding_box()
    assert before
    surface = page.locator("#surface")
    swipe(page, surface, 90, 0, at=(0.1, 0.1))
    page.wait_for_function(
        "was => document.querySelector('.handle').getBoundingClientRect().x !== was", arg=before["x"]
    )
    swipe(page, surface, 0, -150, at=(0.1, 0.9))
    page.wait_for_function("top => scrollY > top + 50", arg=top)


def test_of_two_fingers_one_is_followed(new_page: Callable[..., Page], frozen_url: str) -> None:
    page = new_page(**PHONE)
    page.goto(frozen_url + "site/quadratic.html")
    expect_numbers(page, *POWER)
    x, y = spot(handle(page), (0.3, 0.5))
    touch(page, [(x, y)] * 9, [(x + 9 + 6 * k, y - 6 * k) for k in range(9)])
    settle(page)
    expect(handle(page)).to_have_attribute("aria-valuetext", "x 2, y 3, z 8")
    surface = page.locator("#surface")
    x, y = spot(surface, (0.1, 0.1))
    touch(page, [(x + k, y) for k in range(9)], [(x + 250 + k, y) for k in range(9)])
    settle(page)
    words = surface.get_attribute("aria-valuetext") or ""
    assert int(words.split()[2]) == pytest.approx(36, abs=8)


def test_the_surface_is_turned(page: Page, frozen_url: str) -> None:
    page.goto(frozen_url + "site/quadratic.html")
    expect_numbers(page, *POWER)
    before = handle(page).bounding_box()
    drag(page, page.locator("#surface"), 120, 0, at=(0.2, 0.1))
    turned = handle(page).bounding_box()
    assert before and turned and turned != before
    page.locator("#surface").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(
        "was => document.querySelector('.handle').getBoundingClientRect().y !== was", arg=turned["y"]
    )
    assert page.evaluate("scrollY") == 0
    expect(shown(page, "z")).to_have_text("8")


@pytest.mark.parametrize("text", ["x/0", "^".join("x" * 90), "1e308*x*y*1e9", "1e-310*x", "-1e308-1e308*x"])
def test_values_out_of_all_bounds(ready: Page, text: str) -> None:
    """The page says nothing wrong, and goes on."""
    field(ready).fill(text)
    expect(ready.get_by_role("alert")).to_be_empty()
    be_drawn(ready)
    ready.get_by_role("button", name="x**y").click()
    expect_numbers(ready, *POWER)
    be_drawn(ready)


def test_heights_that_are_the_least_there_are(ready: Page) -> None:
    """They have an axis, too."""
    field(ready).fill("1e-323")
    for name in PARTS[1:]:
        expect(shown(ready, name)).to_have_text("0")
    ready.get_by_role("button", name="x**y").click()
    expect_numbers(ready, *POWER)


def test_an_expression_is_edited_spoilt_and_mended(ready: Page, screenshot: Callable[..., object]) -> None:
    field(ready).fill("x^3 - 3*x*y^2")
    expect_numbers(ready, 8 - 54, 12 - 27, -36, 12, -18, -18, -12)
    good = picture(ready)

    field(ready).fill("x^3 - 3*x*yy^2")
    expect(ready.get_by_role("alert")).to_have_text(re.compile("There is no “yy”"))
    expect(field(ready)).to_have_attribute("aria-invalid", "true")
    expect(ready.locator("#marker .wrong")).to_have_text("yy")
    # the mark is under the wrong characters, the 11th and 12th of 14
    mark = ready.locator("#marker .wrong").bounding_box()
    text = ready.locator("#marker").evaluate(
        "marker => { const range = document.createRange(); range.selectNodeContents(marker.firstChild);"
        " return range.getBoundingClientRect().toJSON() }"
    )
    assert mark
    advance = text["width"] / 10
    assert mark["width"] == pytest.approx(2 * advance, abs=0.5)
    inner = field(ready).evaluate(
        "e => { const s = getComputedStyle(e), b = e.getBoundingClientRect();"
        " return b.x + parseFloat(s.borderLeftWidth) + parseFloat(s.paddingLeft) }"
    )
    assert mark["x"] == pytest.approx(inner + 10 * advance, abs=0.5)
    expect_numbers(ready, 8 - 54, 12 - 27, -36, 12, -18, -18, -12)
    assert picture(ready) == good
    screenshot(ready, "quadratic-error")

    field(ready).fill("x*y")
    expect(ready.get_by_role("alert")).to_have_text("")
    expect(field(ready)).to_have_attribute("aria-invalid", "false")
    expect_numbers(ready, 6, 3, 2, 0, 1, 1, 0)


def test_of_many_edits_the_latest_counts(ready: Page) -> None:
    field(ready).fill("")
    field(ready).press_sequentially("sqrt(x)*y+x*y^2")
    root = math.sqrt(2)
    expect_numbers(
        ready,
        3 * root + 18,
        1.5 / root + 9,
        root + 12,
        -0.75 / root / 2,
        0.5 / root + 6,
        0.5 / root + 6,
        4,
    )
    # a burst without a pause
    ready.evaluate(
        """() => {
          const field = document.querySelector("#expression");
          for (let k = 1; k <= 40; ++k) {
            field.value = `${k}*x + y`;
            field.dispatchEvent(new Event("input"));
          }
        }"""
    )
    expect_numbers(ready, 83, 40, 1, 0, 0, 0, 0)
    expect(ready.locator("[data-show=shape]")).to_have_text(re.compile("^flat"))


def test_the_surface_is_there_before_the_compiler(page: Page, site_url: str) -> None:
    gate = Gate(page, "**/rose.worker.js")
    page.goto(site_url + "site/quadratic.html")
    expect(page.locator("#status")).to_have_text(re.compile("Loading the compiler"))
    expect(shown(page, "z")).to_have_text("8")
    expect(shown(page, "gx")).to_have_text("…")
    field(page).fill("x + y")
    expect(shown(page, "z")).to_have_text("5")
    field(page).fill("x +")
    expect(page.get_by_role("alert")).to_have_text("Something is missing after “+”.")
    handle(page).focus()
    page.keyboard.press("ArrowUp")
    expect(shown(page, "z")).to_have_text("5.04")
    gate.open()
    expect_numbers(page, 5.04, 1, 1, 0, 0, 0, 0)


def test_a_plane_or_a_quadratic(ready: Page) -> None:
    curved = picture(ready)
    ready.get_by_role("radio", name="plane").check()
    ready.wait_for_function("was => document.querySelector('#surface').toDataURL() !== was", arg=curved)
    ready.get_by_role("button", name="a curved patch").click()
    ready.wait_for_function("was => document.querySelector('#surface').toDataURL() === was", arg=curved)


def test_where_the_function_has_no_value(ready: Page, screenshot: Callable[..., object]) -> None:
    ready.get_by_role("button", name="edge", exact=True).click()
    expect(field(ready)).to_have_value("sqrt(x)*log(y)")
    expect(shown(ready, "z")).to_have_text(f"{math.sqrt(2) * LN2:.5g}")
    screenshot(ready, "quadratic-edge")
    # the point stays where there is something
    handle(ready).focus()
    for _ in range(5):
        ready.keyboard.press("Shift+ArrowLeft")
    expect(ready.get_by_label("x", exact=True)).to_have_value("0")
    # and goes where there is something
    field(ready).fill("sqrt(-x)*y")
    expect(ready.get_by_label("x", exact=True)).to_have_value(re.compile(r"^(-.*|0)$"))
    field(ready).fill("sqrt(-1-x*x)")
    expect(ready.locator("#nothing")).to_be_visible()
    field(ready).fill("y*y")
    expect(ready.locator("#nothing")).to_be_hidden()
    expect(ready.locator("[data-show=shape]")).to_have_text(re.compile("^a trough"))


def test_a_derivative_that_is_not_finite_is_told(ready: Page) -> None:
    field(ready).fill("sqrt(x*x)*0+cbrt(x-2)")
    expect(shown(ready, "gx")).to_have_text(re.compile("∞|undefined"))
    expect(ready.locator("[data-show=shape]")).to_have_text(re.compile("not finite"))
    field(ready).fill("x")
    expect_numbers(ready, 2, 1, 0, 0, 0, 0, 0)


def test_another_region(ready: Page) -> None:
    before = picture(ready)
    ready.get_by_label("x to").fill("2.5")
    ready.wait_for_function("was => document.querySelector('#surface').toDataURL() !== was", arg=before)
    good = picture(ready)
    # no region at all: the picture stays
    ready.get_by_label("y to").fill("-1")
    expect(ready.get_by_label("y to")).to_have_attribute("aria-invalid", "true")
    assert picture(ready) == good
    ready.get_by_label("y to").fill("2")
    expect(ready.get_by_label("y", exact=True)).to_have_value("2")
    expect(shown(ready, "z")).to_have_text("4")


def test_examples(ready: Page) -> None:
    buttons = ready.get_by_role("group", name="Examples").get_by_role("button")
    for button in buttons.all():
        button.click()
        expect(field(ready)).to_have_value(button.inner_text())
        expect(ready.locator("[data-show=shape]").first).not_to_have_text(re.compile("not finite"))
    expect(field(ready)).to_have_value("x*y")
    expect_numbers(ready, 0.25, 0.5, 0.5, 0, 1, 1, 0)


def test_it_looks_like_this(
    new_page: Callable[..., Page], frozen_url: str, screenshot: Callable[..., object]
) -> None:
    page = new_page(viewport={"width": 1440, "height": 900})
    page.goto(frozen_url + "site/quadratic.html")
    expect(page.locator("#status")).to_have_text(DERIVED)
    light = picture(page)
    screenshot(page, "quadratic-light")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("was => document.querySelector('#surface').toDataURL() !== was", arg=light)
    screenshot(page, "quadratic-dark")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1000, "height": 700})
    page.wait_for_function("document.querySelector('#surface').width < 700")
    assert picture(page) != light
