"""The page about linear regression, used as a reader would."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from e2e.gestures import PHONE, Gate, drag, swipe
from e2e.workbench import Opened, opening, shown

AT_REST = re.compile(r"At rest after .+ steps")


def number(page: Page, name: str) -> float:
    text = shown(page, name).inner_text().replace("−", "-").replace("\u202f", "")
    return float(re.sub(r" × 10(.*)", lambda found: "e" + plain(found[1]), text))


def plain(raised: str) -> str:
    return raised.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))


def point(page: Page, number: int) -> Locator:
    return page.get_by_label(f"Data point {number}", exact=True)


@pytest.fixture(scope="module")
def opened(browser: Browser, frozen_url: str) -> Iterator[Opened]:
    """One page for most of the tests, for someone who wants little motion: descents run to their
    end at once."""
    with opening(browser, frozen_url + "site/regression.html", reduced_motion="reduce") as opened:
        yield opened


@pytest.fixture
def still(opened: Opened) -> Iterator[Page]:
    """The page as it is at first, with the line at rest."""
    page, problems = opened
    page.get_by_role("button", name="the beginning").click()
    page.evaluate("scrollTo(0, 0)")
    expect(page.locator("#status")).to_have_text(AT_REST)
    expect(shown(page, "eta")).to_have_text("0.0001")
    yield page
    assert problems == []


@pytest.fixture
def paused(page: Page, frozen_url: str) -> Page:
    """The page with a descent that has been stopped and put back to its start."""
    page.goto(frozen_url + "site/regression.html")
    page.get_by_role("button", name="Start over").click()
    expect(page.locator("#status")).to_have_text("Paused after 0 steps.")
    return page


def test_descent_finds_the_best_line_of_each_data_set(still: Page) -> None:
    expect(shown(still, "b0")).to_have_text("3.00009")
    expect(shown(still, "b")).to_have_text("0.50009")
    expect(shown(still, "loss")).to_have_text("13.76269")
    assert number(still, "steps") > 100_000
    for name, b0, b in (
        ("II", "3.00091", "0.50000"),
        ("III", "3.00245", "0.49973"),
        ("IV", "3.00173", "0.49991"),
    ):
        still.get_by_role("radio", name=name, exact=True).check()
        expect(shown(still, "b0")).to_have_text(b0)
        expect(shown(still, "b")).to_have_text(b)
        expect(still.locator("#status")).to_have_text(AT_REST)
    row = still.get_by_role("row").nth(1).locator("th, td").all_text_contents()
    assert row == ["I", "3.000", "0.500", "13.76", "2021.6"]


def test_a_descent_is_made_of_steps(paused: Page) -> None:
    step = paused.get_by_role("button", name="Step", exact=True)
    assert (number(paused, "b0"), number(paused, "b")) == (0, 0)
    assert (number(paused, "g0"), number(paused, "g")) == (-165, -1595)
    step.click()
    # minus a ten-thousandth of the gradient, -2 Σy and -2 Σxy
    expect(shown(paused, "steps")).to_have_text("1")
    expect(shown(paused, "b0")).to_have_text("0.01650")
    expect(shown(paused, "b")).to_have_text("0.15952")
    step.click()
    expect(shown(paused, "steps")).to_have_text("2")
    paused.get_by_role("button", name="Run").click()
    expect(shown(paused, "steps")).to_have_text(re.compile(r"^\d\d"))
    paused.get_by_role("button", name="Pause").click()
    status = paused.locator("#status")
    expect(status).to_have_text(re.compile("^Paused"))
    assert status.inner_text() == f"Paused after {shown(paused, 'steps').inner_text()} steps."
    paused.get_by_role("button", name="Start over").click()
    expect(shown(paused, "steps")).to_have_text("0")


def test_points_are_dragged_with_the_mouse(still: Page) -> None:
    expect(point(still, 3)).to_have_attribute("aria-valuetext", "x 13, y 7.58")
    drag(still, point(still, 3), -40, 60)
    expect(point(still, 3)).not_to_have_attribute("aria-valuetext", "x 13, y 7.58")
    expect(shown(still, "b0")).not_to_have_text("3.00009")
    expect(still.locator("#status")).to_have_text(AT_REST)
    still.get_by_role("button", name="Put points back").click()
    expect(shown(still, "b0")).to_have_text("3.00009")


def test_points_are_moved_with_the_keyboard(still: Page) -> None:
    point(still, 1).focus()
    for key in ("ArrowRight", "ArrowUp", "Shift+ArrowUp", "ArrowDown", "ArrowLeft", "Shift+ArrowRight"):
        still.keyboard.press(key)
    expect(point(still, 1)).to_have_attribute("aria-valuetext", "x 11, y 9.04")
    assert still.evaluate("scrollY") == 0
    # no further than the picture goes
    for _ in range(12):
        still.keyboard.press("Shift+ArrowRight")
    expect(point(still, 1)).to_have_attribute("aria-valuetext", "x 20, y 9.04")


def test_where_points_crowd_the_nearest_is_taken(still: Page) -> None:
    still.get_by_role("radio", name="IV", exact=True).check()
    expect(shown(still, "b0")).to_have_text("3.00173")
    names = [point(still, k) for k in range(1, 12)]
    before = [name.get_attribute("aria-valuetext") for name in names]
    drag(still, names[1], 50, 0)
    expect(names[1]).not_to_have_attribute("aria-valuetext", before[1] or "")
    after = [name.get_attribute("aria-valuetext") for name in names]
    assert [k for k in range(11) if before[k] != after[k]] == [1]


def test_points_are_dragged_with_a_finger_and_the_page_scrolls_beside_them(
    new_page: Callable[..., Page], frozen_url: str, screenshot: Callable[..., object]
) -> None:
    page = new_page(**PHONE, reduced_motion="reduce")
    page.goto(frozen_url + "site/regression.html")
    expect(page.locator("#status")).to_have_text(AT_REST)
    page.locator("#workbench").evaluate("e => e.scrollIntoView()")
    top = page.evaluate("scrollY")
    swipe(page, point(page, 3), -30, -60)
    expect(point(page, 3)).not_to_have_attribute("aria-valuetext", "x 13, y 7.58")
    expect(shown(page, "b0")).not_to_have_text("3.00009")
    assert page.evaluate("scrollY") == top
    screenshot(page, "regression-phone")
    swipe(page, page.locator("#losses"), 0, -150)
    page.wait_for_function("top => scrollY > top + 50", arg=top)


def test_the_line_is_dragged_over_the_map(paused: Page) -> None:
    line = paused.get_by_label("The line, as a point of the map")
    drag(paused, line, 100, -40)
    b0 = number(paused, "b0")
    assert b0 > 0.5
    expect(paused.locator("#status")).to_have_text("Paused after 0 steps.")
    line.focus()
    paused.keyboard.press("ArrowLeft")
    expect(shown(paused, "b0")).to_have_text(f"{b0 - 0.1:.5f}")


def test_a_step_size_that_is_too_large_is_noticed(still: Page, screenshot: Callable[..., object]) -> None:
    slider = still.get_by_label("Step size")
    assert number(still, "limit") == 0.000989
    slider.fill("-2.9")
    status = still.locator("#status")
    expect(status).to_have_text(
        re.compile(r"A step size of 0\.00126 is too large: after \d+ steps the loss was .* and growing")
    )
    expect(status).to_have_class(re.compile("failed"))
    best = shown(still, "b0").inner_text()
    assert f"b₀ = {best}" in status.inner_text()
    screenshot(still, "regression-diverged")
    # the page goes on from there
    slider.focus()
    still.keyboard.press("Home")
    expect(status).to_have_text(AT_REST)
    slider.fill("-3.1")
    expect(status).to_have_text(AT_REST)
    expect(shown(still, "b0")).to_have_text("3.00009")


def test_centred_data_are_fitted_in_a_few_steps(still: Page) -> None:
    still.get_by_role("button", name="Centre the data", exact=True).click()
    expect(still.get_by_label("Centre the data")).to_be_checked()
    # at the data's mean x, the best line is at their mean y
    expect(shown(still, "b0")).to_have_text("7.50091")
    expect(shown(still, "b")).to_have_text("0.50009")
    assert number(still, "steps") < 1000
    assert number(still, "limit") == 0.00909
    still.get_by_role("button", name="Back to the valley").click()
    expect(shown(still, "b0")).to_have_text("3.00009")
    expect(still.locator("#status")).to_have_text(AT_REST)
    assert number(still, "steps") > 10_000


def test_buttons_in_the_text_act_on_the_picture(still: Page) -> None:
    still.get_by_role("button", name="103 %").click()
    expect(still.locator("#status")).to_have_text(re.compile("too large"))
    still.get_by_role("button", name="97 % of the limit").click()
    expect(still.locator("#status")).to_have_text(AT_REST)
    still.get_by_role("button", name="Data set III").click()
    expect(still.locator("#set-III")).to_be_checked()


def test_data_can_be_moved_before_there_is_a_gradient(page: Page, site_url: str) -> None:
    gate = Gate(page, "**/rose.worker.js")
    page.goto(site_url + "site/regression.html")
    expect(page.locator("#status")).to_have_text(re.compile("Loading the compiler"))
    expect(shown(page, "loss")).to_have_text("660.17270")
    expect(page.get_by_role("button", name="Run")).to_be_disabled()
    drag(page, point(page, 3), 0, -30)
    expect(shown(page, "loss")).not_to_have_text("660.17270")
    page.get_by_label("Step size").fill("-3.5")
    expect(shown(page, "eta")).to_have_text("0.000316")
    gate.open()
    expect(shown(page, "steps")).not_to_have_text("0")


def test_a_running_descent_looks_like_this(
    page: Page, frozen_url: str, screenshot: Callable[..., object]
) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(frozen_url + "site/regression.html")
    expect(shown(page, "steps")).to_have_text(re.compile(r"^\d{3}"))
    screenshot(page, "regression-light")
    page.emulate_media(color_scheme="dark")
    screenshot(page, "regression-dark")
