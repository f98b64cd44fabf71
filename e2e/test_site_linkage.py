"""The page about linkages, used as a reader would; its model against plane geometry."""

from __future__ import annotations

import cmath
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from e2e.gestures import PHONE, drag, swipe
from e2e.node import returned
from e2e.workbench import Opened, handle, opening, pixels

LINE = [0, 0, 2, 0, 1, 2.5, 2.5, 5, 0]
DROP = [0, 0.6, 3, 0.6, 1, 3, 1.8, 4.4, 0.6]

Complexes = list[complex]


# ---- the model ----------------------------------------------------------------------


def pen(numbers: list[float] | Complexes, angle: float) -> Complexes:
    """x and y of the pen, by the law of cosines; also of complex numbers, as if they were real."""
    ax, ay, dx, dy, crank, coupler, rocker, along, aside = numbers
    bx, by = ax + crank * math.cos(angle), ay + crank * math.sin(angle)
    wx, wy = dx - bx, dy - by
    far = cmath.sqrt(wx * wx + wy * wy)
    x = (far * far + coupler * coupler - rocker * rocker) / (2 * far)
    y = cmath.sqrt(coupler * coupler - x * x)
    # from B along the way to D, and to its left
    ex, ey = (x * wx - y * wy) / (far * coupler), (x * wy + y * wx) / (far * coupler)
    return [bx + along * ex - aside * ey, by + along * ey + aside * ex]


def slopes(numbers: list[float], angle: float) -> list[list[float]]:
    """A row for x and one for y, by steps in the imaginary direction, which cancel nothing."""
    columns = []
    for k in range(9):
        stepped: Complexes = [complex(x) for x in numbers]
        stepped[k] += 1e-30j
        columns.append([c.imag / 1e-30 for c in pen(stepped, angle)])
    return [[column[i] for column in columns] for i in range(2)]


@pytest.fixture
def run(node: Callable[[str], str]) -> Callable[[str], Any]:
    """What the body of an async function returns, as JSON; it has a mechanism `m`, not yet compiled."""
    start = """
        import { sensitivity } from "./site/linkage/four-bar.js";
        import { Mechanism } from "./site/linkage/mechanism.js";
        import { LINKAGES } from "./site/linkage/linkages.js";
        const free = Array(9).fill([-9, 9]);
        const { numbers, angle } = LINKAGES.drop;
        const m = new Mechanism(numbers, angle, free);"""
    return lambda body: returned(node, start, body)


def test_the_pen_and_its_slopes_are_those_of_geometry(run: Callable[[str], Any]) -> None:
    linkages = [LINE, DROP, [0.1, 1.6, 2.6, 1, 0.9, 2.4, 2.2, 3.6, -0.9]]
    found = run(
        f"""const slopes = await sensitivity();
        return {linkages}.map((numbers) => [0, 0.7, 2, 3.5, 5].map((angle) => slopes(numbers, angle)));"""
    )
    for numbers, places in zip(linkages, found, strict=True):
        for angle, place in zip((0, 0.7, 2, 3.5, 5), places, strict=True):
            assert place["at"] == pytest.approx([c.real for c in pen(numbers, angle)], rel=1e-11)
            for row, expected in zip(place["slopes"], slopes(numbers, angle), strict=True):
                assert row == pytest.approx(expected, rel=1e-9, abs=1e-11)


def test_the_smallest_change_is_made(run: Callable[[str], Any]) -> None:
    """A short way: the numbers change along the slopes, by as much as the two equations ask for."""
    numbers = run(
        """await m.prepare();
        const [x, y] = m.penAt().at;
        m.free[8] = false;
        return m.lead([x + 3e-5, y - 2e-5]) && m.numbers;"""
    )
    (px, py) = (row[:8] for row in slopes([*DROP], math.radians(100)))
    xx, xy, yy = (sum(a * b for a, b in zip(p, q, strict=True)) for p, q in ((px, px), (px, py), (py, py)))
    det = xx * yy - xy * xy
    u, v = (yy * 3e-5 + xy * 2e-5) / det, (-xy * 3e-5 - xx * 2e-5) / det
    expected = [a + u * b + v * c for a, b, c in zip(DROP, px, py, strict=False)]
    assert numbers[:8] == pytest.approx(expected, abs=1e-9)
    assert numbers[8] == DROP[8]


def test_pins_and_goal_are_met_at_once(run: Callable[[str], Any]) -> None:
    numbers, pins, there = run(
        """await m.prepare();
        for (const angle of [20, 200]) { m.turn(angle); m.pin(4); }
        m.turn(290);
        return [m.lead([2.2, 4]) && m.numbers, m.pins, m.set(new Map([[4, 1.1]])) && m.pins.map(
          ({ angle, at }) => Math.hypot(...m.jointsAt(angle).pen.map((c, i) => c - at[i])))];"""
    )
    for goal in [*pins, {"angle": 290, "at": [2.2, 4]}]:
        at = [c.real for c in pen(numbers, math.radians(goal["angle"]))]
        assert at == pytest.approx(goal["at"], abs=1e-8)
    # and when a number is given, the others see to it
    assert max(there) < 1e-8


def test_what_cannot_be_changes_nothing(run: Callable[[str], Any]) -> None:
    assert run(
        """await m.prepare();
        const before = [...m.numbers];
        const same = () => m.numbers.every((x, k) => x === before[k]);
        const found = [m.set(new Map([[6, 0.1]])), same()];
        m.free.fill(false);
        found.push(m.lead([0, 0]), same());
        // with the crank to the left, pivot and crank are 5.5 apart, and 3 and 1 is less
        m.turn(0);
        m.set(new Map([[2, 4.5], [6, 1]]));
        return [...found, m.turn(180), m.angle, m.curve().filter((p) => !p).length > 10];"""
    ) == [False, True, False, True, False, 0, True]


# ---- the page -----------------------------------------------------------------------


def shown(page: Page, name: str) -> Locator:
    return page.locator(f"[data-show={name}]").first


def number(page: Page, name: str) -> float:
    return float(shown(page, name).inner_text().replace("−", "-"))


def at(page: Page) -> tuple[float, float]:
    return number(page, "x"), number(page, "y")


def bars(page: Page) -> list[str]:
    return [shown(page, name).inner_text() for name in "abcuv"]


@pytest.fixture(scope="module")
def opened(browser: Browser, frozen_url: str) -> Iterator[Opened]:
    """One page for most of the tests, for someone who wants little motion: it stands still at first."""
    with opening(browser, frozen_url + "site/linkage.html", reduced_motion="reduce") as (page, problems):
        expect(page.locator("#over")).to_be_enabled()
        yield page, problems


@pytest.fixture
def still(opened: Opened) -> Iterator[Page]:
    """The page as it is at first."""
    page, problems = opened
    page.get_by_label("Begin with").select_option("line")
    for name in "abcuv":
        page.get_by_label(f"{name} is free", exact=True).check()
    for name in "AD":
        page.get_by_label(f"{name} is free", exact=True).uncheck()
    page.get_by_role("button", name="Start over").click()
    page.evaluate("scrollTo(0, 0)")
    expect(shown(page, "x")).to_have_text("2.699")
    expect(page.locator("#status")).to_have_text("")
    yield page
    assert problems == []


def test_the_pen_is_dragged_and_the_bars_follow(still: Page, screenshot: Callable[..., object]) -> None:
    was, (x, y) = bars(still), at(still)
    box = still.locator("#linkage").bounding_box()
    assert box
    unit = box["width"] / 10.5
    drag(still, handle(still, "The pen"), 0.5 * unit, 0.7 * unit)
    expect(shown(still, "x")).not_to_have_text(str(x))
    assert at(still) == pytest.approx((x + 0.5, y - 0.7), abs=0.02)
    assert all(a != b for a, b in zip(was, bars(still), strict=True))
    assert handle(still, "Pivot A").get_attribute("aria-valuetext") == "x 0.00, y 0.00"
    assert 1 <= number(still, "rounds") <= 10
    screenshot(still, "linkage-light")
    still.emulate_media(color_scheme="dark")
    screenshot(still, "linkage-dark")
    still.emulate_media(color_scheme="light")


def test_the_arrows_are_those_of_the_table(still: Page) -> None:
    expected = slopes(LINE, math.radians(150))
    rows = still.locator("#slopes tr")
    expect(rows).to_have_count(9)
    for k in range(9):
        cells = [float(text.replace("−", "-")) for text in rows.nth(k).locator("td").all_inner_texts()]
        assert cells == pytest.approx([LINE[k], expected[0][k], expected[1][k]], abs=0.0006)
    before = pixels(still, "linkage")
    still.get_by_label("u is free", exact=True).uncheck()
    assert pixels(still, "linkage") != before


def test_everything_moves_with_the_keyboard(still: Page) -> None:
    x, y = at(still)
    handle(still, "The pen").press("ArrowRight")
    expect(shown(still, "x")).to_have_text(f"{x + 0.05:.3f}")
    handle(still, "The pen").press("Shift+ArrowDown")
    expect(shown(still, "y")).to_have_text(f"{y - 0.5:.3f}")
    handle(still, "Pivot D").press("Shift+ArrowRight")
    expect(handle(still, "Pivot D")).to_have_attribute("aria-valuetext", "x 2.50, y 0.00")
    assert still.evaluate("scrollY") == 0
    slider = still.get_by_role("slider", name="Crank a")
    slider.focus()
    still.keyboard.press("ArrowRight")
    expect(shown(still, "a")).not_to_have_text("1.000")
    free = still.get_by_label("A is free", exact=True)
    free.focus()
    still.keyboard.press("Space")
    expect(free).to_be_checked()
    expect(shown(still, "freeCount")).to_have_text("7")


def test_a_goal_that_cannot_be_reached_is_said(still: Page, screenshot: Callable[..., object]) -> None:
    still.get_by_role("button", name="a place to the right").click()
    status = still.locator("#status")
    expect(status).to_have_text(re.compile("The pen cannot get there with the numbers that are free"))
    expect(status).to_have_class(re.compile("failed"))
    last = bars(still)
    assert float(last[0]) < 0.5
    screenshot(still, "linkage-out-of-reach")
    # once more: all stays as it is
    handle(still, "The pen").press("Shift+ArrowRight")
    expect(status).to_have_class(re.compile("failed"))
    assert bars(still) == last
    # and goes on with more freedom
    still.get_by_role("button", name="a place to the right").click()
    for name in ("A is free", "D is free"):
        still.get_by_label(name, exact=True).check()
    expect(status).to_have_text("")
    assert at(still) == (5, 3)


def test_pins_are_passed_if_there_is_the_freedom(still: Page, screenshot: Callable[..., object]) -> None:
    still.get_by_role("button", name=re.compile("a drop")).click()
    status = still.locator("#status")
    expect(status).to_have_text(re.compile("6 equations, and only 5 numbers are free"))
    assert bars(still) == ["1.000", "3.000", "1.800", "4.400", "0.600"]
    still.get_by_role("button", name=re.compile("the\\s+pivots free")).click()
    expect(status).to_have_text("")
    assert at(still) == (2.2, 4.2)
    screenshot(still, "linkage-pins")
    for angle in (20, 200):
        still.get_by_role("slider", name="Angle of the crank").fill(str(angle))
        expect(shown(still, "angle")).to_have_text(f"{angle}°")
        expected = [c.real for c in pen([*DROP], math.radians(angle))]
        assert at(still) == pytest.approx(expected, abs=0.0006)
    still.get_by_role("button", name="Remove pins").press("Enter")
    expect(still.get_by_role("button", name="Remove pins")).to_be_disabled()
    expect(still.get_by_role("button", name="Pin the pen here")).to_be_focused()
    for angle in (10, 20, 30, 40):
        still.get_by_role("slider", name="Angle of the crank").fill(str(angle))
        still.get_by_role("button", name="Pin the pen here").click()
    expect(still.get_by_role("button", name="Pin the pen here")).to_be_disabled()
    expect(still.get_by_role("button", name="Remove pins")).to_be_focused()


def test_bars_that_do_not_meet_are_refused(still: Page) -> None:
    status = still.locator("#status")
    still.get_by_role("slider", name="Rocker c").fill("0.3")
    expect(status).to_have_text("With c there, the bars do not meet, so it stays where it was.")
    expect(shown(still, "c")).to_have_text("2.500")
    expect(still.get_by_role("slider", name="Rocker c")).to_have_value("2.5")
    still.get_by_role("slider", name="Rocker c").fill("2.4")
    expect(status).to_have_text("")
    expect(shown(still, "c")).to_have_text("2.400")


def test_a_crank_that_cannot_go_round_goes_to_and_fro(still: Page) -> None:
    still.get_by_role("button", name="a longer crank").click()
    angle = still.get_by_role("slider", name="Angle of the crank")
    still.wait_for_function(
        """() => {
          const now = document.querySelector("#angle").valueAsNumber;
          globalThis.ways ??= new Set();
          if (globalThis.was !== undefined && now !== globalThis.was) ways.add(now > globalThis.was);
          globalThis.was = now;
          return ways.size === 2;
        }"""
    )
    still.get_by_role("button", name="Stop").click()
    expect(still.get_by_role("button", name="Play", exact=True)).to_be_visible()
    where = angle.input_value()
    angle.fill("0")
    expect(still.locator("#status")).to_have_text("At 0° the bars do not meet: the crank cannot get there.")
    expect(angle).to_have_value(where)


def test_the_crank_turns_until_it_is_stopped(page: Page, frozen_url: str) -> None:
    page.goto(frozen_url + "site/linkage.html")
    expect(shown(page, "angle")).to_have_text(re.compile(r"^1[6-9]\d°"))
    # whoever takes the pen stops it
    handle(page, "The pen").press("ArrowUp")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    angle = shown(page, "angle").inner_text()
    picture = pixels(page, "linkage")
    assert pixels(page, "linkage") == picture
    assert shown(page, "angle").inner_text() == angle


def test_the_pen_is_dragged_with_a_finger(
    new_page: Callable[..., Page], frozen_url: str, screenshot: Callable[..., object]
) -> None:
    page = new_page(**PHONE, reduced_motion="reduce")
    page.goto(frozen_url + "site/linkage.html")
    expect(shown(page, "x")).to_have_text("2.699")
    page.locator("#workbench").evaluate("e => e.scrollIntoView()")
    top = page.evaluate("scrollY")
    swipe(page, handle(page, "The pen"), 25, 30)
    expect(shown(page, "x")).not_to_have_text("2.699")
    assert page.evaluate("scrollY") == top
    screenshot(page, "linkage-phone")


WRITTEN = """
globalThis.written = [];
const { fillText } = CanvasRenderingContext2D.prototype;
CanvasRenderingContext2D.prototype.fillText = function (...words) {
    // the first of a picture is the name of the crank, which its arrow has, too
    if (words[0] === "a" && (written.length > 9 || written.length === 0)) written = [];
    written.push(words);
    return fillText.apply(this, words);
};"""


def test_a_phone_shows_the_crank_and_every_name_by_itself(
    new_page: Callable[..., Page], frozen_url: str
) -> None:
    page = new_page(**PHONE, reduced_motion="reduce")
    page.add_init_script(WRITTEN)
    page.goto(frozen_url + "site/linkage.html")
    for name in "AD":
        page.get_by_label(f"{name} is free", exact=True).check()
    stage = page.locator("#linkage-stage")
    stage.evaluate("e => e.scrollIntoView({ block: 'center' })")
    height = stage.evaluate("e => e.clientHeight")
    for angle in (120, 234, 270, 348):
        page.get_by_role("slider", name="Angle of the crank").fill(str(angle))
        pixels(page, "linkage")
        names = page.evaluate("written")
        assert len(names) > 9
        for k, (_, x, y) in enumerate(names):
            assert all(abs(x - px) > 9 or abs(y - py) > 11 for _, px, py in names[:k]), (angle, names)
        if angle == 270:  # straight down from its pivot, whose name is a little below that
            (pivot,) = (y for name, _, y in names if name == "A")
            unit = stage.evaluate("e => e.clientWidth") / 10.5
            assert pivot - 6 + unit + 5 < height
