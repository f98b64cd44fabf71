"""The billiards page, used as a reader would."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from e2e.gestures import PHONE, drag, swipe
from e2e.workbench import Opened, handle, opening, pixels, shown, slider

ARRIVED = re.compile(r"After [1-9]\d* steps?, ball 10 is in the ring: 0\.0\d+ from the goal")
LOSSES = json.loads((Path(__file__).parent / "references" / "billiards.json").read_text())["loss"]


def distance(page: Page) -> Locator:
    return page.locator("[data-show=distance]").first


@pytest.fixture(scope="module")
def opened(browser: Browser, frozen_url: str) -> Iterator[Opened]:
    """One page for most of the tests, for someone who wants little motion: searches run to their end
    at once."""
    with opening(browser, frozen_url + "site/billiards.html", reduced_motion="reduce") as opened:
        yield opened


@pytest.fixture
def still(opened: Opened) -> Iterator[Page]:
    """The page as it is at first, with the ball in the ring."""
    page, problems = opened
    page.get_by_label("Ball", exact=True).select_option("10")
    page.get_by_role("button", name="begin again").click()
    page.evaluate("scrollTo(0, 0)")
    expect(page.locator("#status")).to_have_text(ARRIVED)
    yield page
    assert problems == []


@pytest.fixture
def paused(still: Page) -> Page:
    """The same, back at the first try."""
    still.get_by_role("button", name="Start over").click()
    expect(shown(still, "number")).to_have_text("0")
    return still


def test_tries_are_steps_down_the_gradient(paused: Page) -> None:
    assert shown(paused, "position").inner_text() == "0.100, 0.500"
    assert shown(paused, "gx").inner_text() == "−0.519, 1.130"
    first = pixels(paused, "table")
    step = paused.get_by_role("button", name="Step", exact=True)
    for k, loss in enumerate(LOSSES[:5]):
        expect(shown(paused, "number")).to_have_text(str(k))
        expect(distance(paused)).to_have_text(f"{loss**0.5:.4f}")
        step.click()
    slider(paused, "Try").fill("1")
    expect(shown(paused, "number")).to_have_text("1")
    expect(shown(paused, "position")).to_have_text("0.105, 0.489")
    # from the newest try, not from the one that is shown
    step.click()
    expect(distance(paused)).to_have_text(f"{LOSSES[6] ** 0.5:.4f}")
    paused.get_by_role("button", name="Start over").click()
    expect(shown(paused, "number")).to_have_text("0")
    assert pixels(paused, "table") == first


def test_time_and_tries_can_be_scrubbed(still: Page) -> None:
    end = pixels(still, "table")
    time = slider(still, "Time")
    time.focus()
    still.keyboard.press("Home")
    expect(shown(still, "seconds")).to_have_text("0.00 s")
    assert pixels(still, "table") != end
    still.keyboard.press("ArrowRight")
    expect(shown(still, "seconds")).to_have_text("0.01 s")
    still.keyboard.press("End")
    assert pixels(still, "table") == end
    slider(still, "Try").fill("0")
    assert pixels(still, "table") != end
    still.get_by_role("button", name="Play", exact=True).first.click()
    expect(shown(still, "seconds")).to_have_text(re.compile(r"^0\.[2-9]"))
    still.get_by_role("button", name="Stop").click()
    expect(still.get_by_role("button", name="Play", exact=True).first).to_be_visible()


def test_the_goal_is_dragged_and_the_shot_follows(still: Page) -> None:
    before = shown(still, "velocity").inner_text()
    drag(still, handle(still, "Goal"), 8, -5)
    expect(handle(still, "Goal")).not_to_have_attribute("aria-valuetext", "x 0.900, y 0.750")
    expect(shown(still, "velocity")).not_to_have_text(before)
    expect(still.locator("#status")).to_have_text(re.compile("in the ring|no better"))


def test_everything_moves_with_the_keyboard(paused: Page) -> None:
    for name, before, after in (
        ("Goal", "x 0.900, y 0.750", "x 0.910, y 0.850"),
        ("Cue ball", "x 0.100, y 0.500", "x 0.110, y 0.600"),
        ("Tip of the cue ball’s arrow", "x 0.230, y 0.600", "x 0.240, y 0.700"),
    ):
        expect(handle(paused, name)).to_have_attribute("aria-valuetext", before)
        handle(paused, name).press("ArrowRight")
        handle(paused, name).press("Shift+ArrowUp")
        expect(handle(paused, name)).to_have_attribute("aria-valuetext", after)
    assert paused.evaluate("scrollY") == 0
    expect(shown(paused, "velocity")).to_have_text("0.325, 0.250")
    # no further than the picture goes
    for _ in range(5):
        handle(paused, "Goal").press("Shift+ArrowUp")
    expect(handle(paused, "Goal")).to_have_attribute("aria-valuetext", "x 0.910, y 0.900")


def test_a_click_on_a_ball_aims_with_it(paused: Page) -> None:
    slider(paused, "Time").fill("0")
    box = paused.locator("#table").bounding_box()
    assert box
    # ball 7, where the rack has it
    at = {"x": 0.68 / 1.4 * box["width"], "y": (0.9 - 0.437) / 0.8 * box["height"]}
    paused.locator("#table").click(position=at)
    expect(paused.get_by_label("Ball", exact=True)).to_have_value("7")
    expect(distance(paused)).not_to_have_text(f"{LOSSES[0] ** 0.5:.4f}")
    paused.locator("#table").click(position={"x": 5, "y": 5})
    expect(paused.get_by_label("Ball", exact=True)).to_have_value("7")


def test_a_step_size_that_is_too_large_is_noticed(still: Page, screenshot: Callable[..., object]) -> None:
    still.get_by_role("button", name="three times the step size").click()
    status = still.locator("#status")
    expect(status).to_have_text(
        re.compile(r"nothing that the cue ball does reaches ball 10.*Kept is the best try")
    )
    expect(status).to_have_class(re.compile("failed"))
    best = re.search(r"number (\d+): (0\.\d+)", status.inner_text())
    assert best
    expect(shown(still, "number")).to_have_text(best[1])
    assert float(distance(still).inner_text()) == pytest.approx(float(best[2]), abs=1e-4)
    screenshot(still, "billiards-lost")
    # the page goes on from there
    slider(still, "Step size").fill("-2.3")
    still.get_by_role("button", name="Run", exact=True).click()
    expect(status).to_have_text(ARRIVED)
    slider(still, "Step size").fill("0")
    still.get_by_role("button", name="Start over").click()
    still.get_by_role("button", name="Run", exact=True).click()
    expect(status).to_have_class(re.compile("failed"))


def test_a_goal_that_cannot_be_reached_is_given_up(still: Page) -> None:
    still.get_by_role("button", name="back to the cue ball’s place").click()
    expect(still.locator("#status")).to_have_text(re.compile("For 100 tries it got no better|nothing that"))
    expect(handle(still, "Goal")).to_have_attribute("aria-valuetext", "x 0.200, y 0.200")
    expect(still.get_by_role("button", name="Run", exact=True)).to_be_enabled()


def test_the_goal_is_dragged_with_a_finger(
    new_page: Callable[..., Page], frozen_url: str, screenshot: Callable[..., object]
) -> None:
    page = new_page(**PHONE, reduced_motion="reduce")
    page.goto(frozen_url + "site/billiards.html")
    expect(page.locator("#status")).to_have_text(ARRIVED)
    page.locator("#workbench").evaluate("e => e.scrollIntoView()")
    top = page.evaluate("scrollY")
    swipe(page, handle(page, "Goal"), -10, 12)
    expect(handle(page, "Goal")).not_to_have_attribute("aria-valuetext", "x 0.900, y 0.750")
    assert page.evaluate("scrollY") == top
    screenshot(page, "billiards-phone")


def test_a_running_search_looks_like_this(
    page: Page, frozen_url: str, screenshot: Callable[..., object]
) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(frozen_url + "site/billiards.html")
    # in the page, as the search may have ended before a click gets there
    page.wait_for_function(
        """() => {
            const isOnItsWay = /^\\d\\d/.test(document.querySelector("[data-show=number]").textContent);
            if (isOnItsWay) document.getElementById("run").click();
            return isOnItsWay;
        }"""
    )
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_visible()
    number = shown(page, "number").inner_text()
    screenshot(page, "billiards-light")
    page.emulate_media(color_scheme="dark")
    screenshot(page, "billiards-dark")
    assert shown(page, "number").inner_text() == number
