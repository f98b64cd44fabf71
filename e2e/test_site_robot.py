"""The robot page, used as a reader would."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from e2e.gestures import PHONE, swipe
from e2e.workbench import Opened, button, opening, pixels, shown, slider


def reached(page: Page) -> float:
    return float(shown(page, "reached").inner_text())


@pytest.fixture(scope="module")
def opened(browser: Browser, frozen_url: str) -> Iterator[Opened]:
    """One page for most of the tests, for someone who wants little motion: nothing moves by itself."""
    with opening(browser, frozen_url + "site/robot.html", reduced_motion="reduce") as (page, problems):
        expect(button(page, "Run")).to_be_enabled()
        yield page, problems


@pytest.fixture
def still(opened: Opened) -> Iterator[Page]:
    """The page as it is at first, before anything is learned."""
    page, problems = opened
    slider(page, "Length of a step").fill("-0.7")
    slider(page, "Time").fill("0")
    button(page, "Start over").click()
    expect(shown(page, "number")).to_have_text("0")
    expect(shown(page, "seen")).to_have_text("0")
    yield page
    assert problems == []


def test_a_few_steps_teach_it_to_walk(still: Page) -> None:
    first = reached(still)
    untaught = pixels(still, "robot")
    assert abs(first - 0.2) < 0.1  # where the foot stands
    for k in range(1, 11):
        button(still, "Step").click()
        expect(shown(still, "number")).to_have_text(str(k))
    best = float(shown(still, "best").inner_text())
    assert best > first + 0.1
    # and each can be looked at again
    slider(still, "Try").fill("0")
    expect(shown(still, "seen")).to_have_text("0")
    assert reached(still) == first
    assert float(shown(still, "best").inner_text()) == best
    # and it can be forgotten
    assert pixels(still, "robot") == untaught
    slider(still, "Try").fill("3")
    third = pixels(still, "robot")
    button(still, "Start over").click()
    for k in range(1, 4):
        button(still, "Step").click()
        expect(shown(still, "seen")).to_have_text(str(k))
    assert pixels(still, "robot") == third


def test_time_and_tries_can_be_scrubbed(still: Page) -> None:
    begin = pixels(still, "robot")
    time = slider(still, "Time")
    time.focus()
    still.keyboard.press("End")
    expect(shown(still, "seconds")).to_have_text("5.46 s")
    end = pixels(still, "robot")
    assert end != begin
    button(still, "Step").click()
    expect(shown(still, "seen")).to_have_text("1")
    assert pixels(still, "robot") != end
    slider(still, "Try").focus()
    still.keyboard.press("ArrowLeft")
    expect(shown(still, "seen")).to_have_text("0")
    slider(still, "Time").focus()
    still.keyboard.press("Home")
    expect(shown(still, "seconds")).to_have_text("0.00 s")
    still.keyboard.press("ArrowRight")
    expect(shown(still, "seconds")).to_have_text("0.02 s")


def test_a_walk_is_played_again_and_again(still: Page) -> None:
    slider(still, "Time").fill("330")
    button(still, "Play").click()
    expect(shown(still, "seconds")).to_have_text(re.compile(r"^0\."))
    button(still, "Stop").click()
    expect(button(still, "Play")).to_be_visible()
    stopped = pixels(still, "robot")
    assert pixels(still, "robot") == stopped


def test_another_brain_walks_another_way(still: Page) -> None:
    first = reached(still)
    button(still, "Another brain").click()
    expect(shown(still, "reached")).not_to_have_text(f"{first:.4f}")
    still.get_by_role("button", name="trembles").click()
    expect(button(still, "Pause")).to_be_visible()
    expect(shown(still, "number")).to_have_text(re.compile("^[1-9]"))
    slider(still, "Try").fill("0")
    expect(shown(still, "reached")).to_have_text(f"{first:.4f}")
    expect(button(still, "Run")).to_be_visible()


def test_steps_that_are_too_long_are_noticed(still: Page, screenshot: Callable[..., object]) -> None:
    slider(still, "Length of a step").fill("2")
    button(still, "Run").click()
    status = still.locator("#status")
    expect(status).to_have_text(re.compile("For 50 tries it got no better"))
    found = re.search(r"number (\d+): the foot gets to (0\.\d+)", status.inner_text())
    assert found
    # the page is back at the best try
    expect(shown(still, "seen")).to_have_text(found[1])
    assert reached(still) == pytest.approx(float(found[2]), abs=1e-3)
    assert shown(still, "best").inner_text() == shown(still, "reached").inner_text()
    screenshot(still, "robot-stuck")
    # and goes on from there
    tries = int(slider(still, "Try").get_attribute("max") or "")
    slider(still, "Length of a step").fill("-3")
    button(still, "Step").click()
    expect(shown(still, "number")).to_have_text(str(tries + 1))
    assert reached(still) == pytest.approx(float(found[2]), abs=0.05)
    expect(status).to_have_text("")


def test_another_body_is_clicked_together(still: Page, screenshot: Callable[..., object]) -> None:
    cells = still.get_by_role("group", name="The cells of the body")
    springs = still.locator("[data-show=springs]").first
    status = still.locator("#status")
    expect(springs).to_have_text("61")
    cells.get_by_label("Column 1, row 1: muscles").focus()
    still.keyboard.press("ArrowRight")
    corner = cells.get_by_role("button", name="Column 2, row 1")
    expect(corner).to_be_focused()
    expect(corner).to_have_accessible_name("Column 2, row 1: empty")
    still.keyboard.press("Enter")
    expect(corner).to_have_accessible_name("Column 2, row 1: stiff")
    # between two legs: its sides are there, but for the upper and lower one and the diagonals
    expect(springs).to_have_text("65")
    expect(shown(still, "number")).to_have_text("0")
    still.keyboard.press("Enter")
    expect(corner).to_have_accessible_name("Column 2, row 1: muscles")
    button(still, "Step").click()
    expect(shown(still, "seen")).to_have_text("1")
    slider(still, "Time").fill("300")
    screenshot(still, "robot-body")
    # all of them, with muscles
    kinds = "(cells) => cells.forEach((cell) => { while (cell.className !== 'muscles') cell.click(); })"
    cells.get_by_role("button").evaluate_all(kinds)
    expect(springs).to_have_text("131")
    expect(still.locator("[data-show=muscles]").first).to_have_text("35")
    # a body that is none leaves the last one alone
    cells.get_by_role("button").evaluate_all("(cells) => cells.forEach((cell) => cell.click())")
    expect(status).to_have_text(re.compile("Without muscles"))
    expect(status).to_have_class(re.compile("failed"))
    expect(springs).to_have_text("131")
    still.get_by_role("button", name="the first", exact=True).click()
    expect(springs).to_have_text("61")
    expect(shown(still, "number")).to_have_text(re.compile("^[1-9]"))


def test_it_is_used_with_a_finger(
    new_page: Callable[..., Page], frozen_url: str, screenshot: Callable[..., object]
) -> None:
    page = new_page(**PHONE, reduced_motion="reduce")
    page.goto(frozen_url + "site/robot.html")
    expect(button(page, "Step")).to_be_enabled()
    button(page, "Step").tap()
    expect(shown(page, "seen")).to_have_text("1")
    page.locator("#workbench").evaluate("e => e.scrollIntoView()")
    top = page.evaluate("scrollY")
    screenshot(page, "robot-phone")
    swipe(page, page.locator("#robot"), 0, -60)
    page.wait_for_function("top => scrollY > top + 20", arg=top)


def test_it_learns_while_it_walks(page: Page, frozen_url: str, screenshot: Callable[..., object]) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(frozen_url + "site/robot.html")
    expect(shown(page, "number")).to_have_text(re.compile(r"^\d{2}"))
    # a walk is seen to its end, and then the newest
    expect(shown(page, "seen")).to_have_text(re.compile(r"^[1-9]"))
    screenshot(page, "robot-light")
    page.emulate_media(color_scheme="dark")
    screenshot(page, "robot-dark")
    button(page, "Pause").click()
    expect(button(page, "Run")).to_be_visible()
