"""The page about diagrams, used as a reader would; what it draws against plane geometry."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from e2e.gestures import PHONE, Gate, drag, swipe
from e2e.workbench import Opened, be_drawn, handle, opening
from js_bridge.build.paths import DIST

GIVEN_UP = "Given up. “Go on” takes it up again."

SETTLED = re.compile(r"^Settled after [\d\u202f]+ steps")

Circle = tuple[float, float, float]


def circle(page: Page, name: str) -> Circle:
    """Middle and radius, as they are drawn."""
    shape = page.locator(f"circle[data-name='`{name}`.icon']")
    x, y, r = (float(shape.get_attribute(what) or "nan") for what in ("cx", "cy", "r"))
    return x, y, r


def apart(a: Circle, b: Circle) -> float:
    return math.dist(a[:2], b[:2])


def status(page: Page) -> Locator:
    return page.locator("#status")


def program(page: Page) -> Locator:
    return page.get_by_label("What is so")


def picture(page: Page) -> str:
    be_drawn(page)
    return str(page.locator("#diagram-stage svg").inner_html())


def settle(page: Page) -> None:
    expect(status(page)).to_have_text(SETTLED)
    be_drawn(page)


def forget(page: Page) -> None:
    """Whatever has been said, what is said next is new."""
    status(page).evaluate("e => { e.textContent = '' }")


def resample(page: Page) -> None:
    forget(page)
    page.get_by_role("button", name="Resample").click()


def choose(page: Page, kind: str) -> None:
    forget(page)
    page.get_by_label("Begin with").select_option(kind)
    settle(page)


def edit(page: Page, old: str, new: str) -> None:
    text = program(page).input_value()
    assert old in text
    program(page).fill(text.replace(old, new))


@pytest.fixture(scope="module")
def opened(browser: Browser, frozen_url: str) -> Iterator[Opened]:
    """One page for most of the tests, for someone who wants little motion: they wait less."""
    with opening(browser, frozen_url + "site/diagram.html", reduced_motion="reduce") as (page, problems):
        settle(page)  # lest what it says of its first diagram be taken for a word on the next
        yield page, problems


@pytest.fixture
def sets(opened: Opened) -> Iterator[Page]:
    """The page as it is at first."""
    page, problems = opened
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.locator("#pace").fill("3")
    choose(page, "sets")
    page.evaluate("scrollTo(0, 0)")
    yield page
    assert problems == []


def test_what_is_said_is_drawn(sets: Page, screenshot: Callable[..., object]) -> None:
    animals, birds, mammals, fliers = (circle(sets, s) for s in ("Animals", "Birds", "Mammals", "Fliers"))
    for inner in (birds, mammals):
        assert apart(animals, inner) < animals[2] - inner[2] - 5
    assert apart(birds, mammals) > birds[2] + mammals[2] + 7
    for other in (animals, birds, mammals):
        assert apart(fliers, other) < fliers[2] + other[2] - 19
    penguin = circle(sets, "penguin")
    assert apart(penguin, birds) < birds[2]
    assert apart(penguin, fliers) > fliers[2]
    expect(status(sets)).to_have_text(re.compile("all that must hold does"))
    # three numbers for each of four circles, and two for each of the labels and dots
    for name, expected in (("unknowns", "32"), ("evaluations", "33"), ("objectives", "4")):
        expect(sets.locator(f"[data-show={name}]").first).to_have_text(expected)
    for name in ("whole", "compiling", "gradient"):
        expect(sets.locator(f"[data-show={name}]").first).to_have_text(re.compile(r"^[\d.]+ (ms|µs)$"))
    screenshot(sets, "diagram-light")
    sets.emulate_media(color_scheme="dark")
    screenshot(sets, "diagram-dark")


def test_an_edit_keeps_what_was_there(sets: Page) -> None:
    sets.emulate_media(reduced_motion="no-preference")
    sets.locator("#pace").fill("0")  # a step in a second
    before = [circle(sets, name) for name in ("Animals", "Birds", "penguin")]
    program(sets).fill(program(sets).input_value() + "\nSet Fish\nSubset(Fish, Animals)")
    # before the first step, the new circle is wherever chance has put it, and the others have not moved
    expect(sets.locator("circle[data-name='`Fish`.icon']")).to_have_count(1)
    expect(sets.locator("[data-show=steps]")).to_have_text("0")
    assert [circle(sets, name) for name in ("Animals", "Birds", "penguin")] == before
    sets.locator("#pace").fill("3")
    settle(sets)
    fish, animals = circle(sets, "Fish"), circle(sets, "Animals")
    assert apart(fish, animals) < animals[2] - fish[2]
    expect(handle(sets, "Fish")).to_be_visible()


MISTAKES = [
    (
        "t(Birds, Mammals)",
        "t(Birds, Mammls)",
        "Mammls",
        "Variable Mammls does not exist. Declared variables are",
    ),
    ("t(Birds, Mammals)", "t(Birds Mammals)", "Mammals", 'Unexpected identifier token: "Mammals".'),
    ("t(Birds, Mammals)", "t(Birds)", "Disjoint(Birds", "Disjoint expects 2 arguments"),
    ("t(Birds, Mammals)", "t(Birds, Mammals", "\u00a0", "The line ends too early."),
    ("Set Animals", "Sett Animals", "Sett", "Type Sett does not exist."),
    ("Set Animals", "§ Animals", "§", "Something here means nothing in such a program."),
    (
        "AutoLabel All",
        "Set s_i for i in [1, 1000000000000]",
        "Set s_i for i in [1, 1000000000000]",
        "at most 30 objects",
    ),
    (
        "In(bat, Mammals)",
        "Disjoint(a_i, a_j) for i in [1, 99], j in [1, 99]",
        "Disjoint(a_i, a_j) for i in [1, 99], j in [1, 99]",
        "a statement 1000 turns",
    ),
]


def test_a_mistake_is_said_at_its_place(sets: Page, screenshot: Callable[..., object]) -> None:
    before, good = picture(sets), program(sets).input_value()
    message, wrong = sets.locator("#substance-message"), sets.locator("#substance + .marker .wrong")
    for old, new, marked, said in MISTAKES:
        assert good.count(old) == 1
        program(sets).fill(good.replace(old, new))
        expect(message).to_have_text(re.compile(re.escape(said)))
        expect(program(sets)).to_have_attribute("aria-invalid", "true")
        expect(wrong).to_have_text(marked)
        # right under the text: as far down as its line is, wherever it is scrolled to
        line = good.partition(old)[0].count("\n")
        place = wrong.evaluate("e => e.offsetTop - e.parentElement.scrollTop")
        height, scrolled = program(sets).evaluate(
            "e => [parseFloat(getComputedStyle(e).lineHeight), e.scrollTop]"
        )
        assert place + scrolled == pytest.approx(line * height + 9, abs=6), new
        assert picture(sets) == before
        if marked == "Mammls":
            screenshot(sets, "diagram-mistake")
    program(sets).fill(good)
    expect(message).to_have_text("")
    expect(program(sets)).to_have_attribute("aria-invalid", "false")
    expect(wrong).to_have_count(0)


def test_the_other_programs_can_be_edited(sets: Page) -> None:
    style = sets.get_by_label("Style: how it looks")
    text = style.input_value()
    style.fill(text + '\nforall Set s { shape s.photo = Image { href: "a.svg" } }')
    expect(sets.locator("#style-message")).to_have_text("This page draws no shapes of type Image.")
    style.fill(text.replace("greaterThan", "greatrThan"))
    expect(sets.locator("#style-message")).to_have_text("Got invalid constraint name 'greatrThan'.")
    assert sets.locator("#style + .marker .wrong").text_content() == "greatrThan"
    style.fill(text.replace("shape s.text = Text", "shape s.text = Equation"))
    expect(sets.locator(".mistake").first).to_have_text(re.compile("no typeset formulas"))
    style.fill(text.replace("strokeColor: #4a8ac4", "strokeColor: #ff0000"))
    expect(sets.locator("circle[data-name='`Birds`.icon']")).to_have_attribute("stroke", "rgb(255 0 0)")
    expect(sets.locator(".mistake").first).to_have_text("")
    sets.get_by_label("Domain: what there can be").fill("type Set\ntype Set")
    expect(sets.locator("#domain-message")).to_have_text(re.compile("Set already exists"))


def test_what_contradicts_itself_is_said(sets: Page, screenshot: Callable[..., object]) -> None:
    sets.get_by_role("button", name="penguins fly").click()
    words = re.compile(r"but not all holds that must: .*\(Fliers\.icon, penguin\.icon, \d+\)")
    expect(status(sets)).to_have_text(words)
    expect(status(sets)).to_have_class(re.compile("failed"))
    screenshot(sets, "diagram-contradiction")


def test_it_stops_and_goes_on(sets: Page) -> None:
    sets.emulate_media(reduced_motion="no-preference")
    sets.locator("#pace").fill("1")
    sets.get_by_role("button", name="Resample").click()
    expect(sets.locator("[data-show=steps]")).to_have_text(re.compile("^[2-9]$"))
    sets.get_by_role("button", name="Stop").click()
    expect(status(sets)).to_have_text(re.compile(r"^Stopped after \d+ steps\.$"))
    stopped = picture(sets)
    sets.wait_for_timeout(300)  # three steps, if it had not stopped
    assert picture(sets) == stopped
    sets.locator("#pace").fill("3")
    sets.get_by_role("button", name="Go on").click()
    settle(sets)
    assert picture(sets) != stopped
    expect(sets.get_by_role("button", name="Go on")).to_be_disabled()


def test_compiling_can_be_given_up(page: Page, frozen_url: str) -> None:
    compiler = Gate(page, "**/rose.worker.js")
    page.goto(frozen_url + "site/diagram.html")
    settle(page)  # the first diagram is frozen with the page: no compiler
    before = picture(page)
    edit(page, "Disjoint(Birds, Mammals)", "Disjoint(Birds, Mammals)\nSet Insects")
    page.get_by_role("button", name="Stop").click()
    expect(status(page)).to_have_text(GIVEN_UP)
    assert picture(page) == before
    compiler.open()
    page.get_by_role("button", name="Go on").click()
    settle(page)
    expect(page.locator("circle[data-name='`Insects`.icon']")).to_be_attached()


def test_the_first_compilation_can_be_given_up(page: Page, site_url: str) -> None:
    compiler = Gate(page, "**/rose.worker.js")
    page.goto(site_url + "site/diagram.html")
    page.get_by_role("button", name="Stop").click()
    expect(status(page)).to_have_text(GIVEN_UP)
    assert "<circle" not in picture(page)
    compiler.open()
    page.get_by_role("button", name="Go on").click()
    settle(page)
    assert "<circle" in picture(page)


def test_resampled_it_is_another(sets: Page) -> None:
    before = picture(sets)
    resample(sets)
    settle(sets)
    assert picture(sets) != before


def test_with_little_motion_there_is_only_the_end(sets: Page) -> None:
    sets.evaluate("""() => {
        globalThis.pictures = new Set();
        const shape = document.querySelector("[data-name='`Animals`.icon']");
        const note = () => pictures.add(shape.getAttribute("cx"));
        new MutationObserver(note).observe(shape, { attributes: true });
    }""")
    resample(sets)
    settle(sets)
    picture(sets)
    # where chance has put it, and where it has settled
    assert sets.evaluate("pictures.size") <= 2


def test_the_pull_is_shown(sets: Page) -> None:
    arrows = sets.locator(".pulls line")
    expect(arrows).to_have_count(0)
    sets.emulate_media(reduced_motion="no-preference")
    sets.locator("#pace").fill("0")
    sets.get_by_role("button", name="Show the pull").click()
    expect(arrows).to_have_count(7)
    lengths = sets.evaluate("""() => [...document.querySelectorAll(".pulls line")].map((e) =>
        Math.hypot(...["x", "y"].map((c) => e.getAttribute(c + 1) - e.getAttribute(c + 2))))""")
    assert max(lengths) > 20
    sets.get_by_label("Show the pull").uncheck()
    expect(arrows).to_have_count(0)


def corners(page: Page) -> list[Circle]:
    return [circle(page, name) for name in "ABCM"]


def expect_thales(page: Page) -> None:
    """A right angle at C, M in the middle between A and B, and the circle around all about M."""
    (ax, ay, _), (bx, by, _), (cx, cy, _), (mx, my, _) = corners(page)
    angle = math.atan2(ay - cy, ax - cx) - math.atan2(by - cy, bx - cx)
    assert abs(math.cos(angle)) < 0.01
    assert (mx, my) == pytest.approx(((ax + bx) / 2, (ay + by) / 2), abs=0.5)
    around = page.locator("circle[data-name='`t`.around']")
    center = tuple(float(around.get_attribute(name) or "nan") for name in ("cx", "cy"))
    assert center == pytest.approx((mx, my), abs=2)


def test_corners_are_dragged_and_thales_holds(sets: Page, screenshot: Callable[..., object]) -> None:
    choose(sets, "triangle")
    expect_thales(sets)
    x, y, _ = circle(sets, "C")
    scale = sets.locator("#diagram-stage svg").evaluate("e => e.getScreenCTM().a")
    toward = (1 if x < 260 else -1, 1 if y < 180 else -1)
    forget(sets)
    drag(sets, handle(sets, "C"), 30 * toward[0], 20 * toward[1])
    expect(handle(sets, "C")).to_have_attribute("aria-valuetext", re.compile("held"))
    settle(sets)
    expect_thales(sets)
    found = circle(sets, "C")
    assert found[:2] == pytest.approx((x + 30 * toward[0] / scale, y + 20 * toward[1] / scale), abs=1)
    screenshot(sets, "diagram-triangle")
    # by keyboard, and no further than the canvas
    forget(sets)
    handle(sets, "C").press("ArrowRight")
    settle(sets)
    assert circle(sets, "C")[:2] == pytest.approx((found[0] + 4, found[1]))
    forget(sets)
    for _ in range(14):
        handle(sets, "C").press("Shift+ArrowLeft")
    settle(sets)
    assert circle(sets, "C")[0] == 0
    sets.get_by_role("button", name="Resample").click()
    expect(handle(sets, "C")).not_to_have_attribute("aria-valuetext", re.compile("held"))


def test_a_graph_is_laid_out(sets: Page, screenshot: Callable[..., object]) -> None:
    choose(sets, "graph")
    expect(sets.locator("line[data-name]")).to_have_count(12)
    nodes = [circle(sets, f"v_{k}") for k in range(8)]
    edges = [
        apart(nodes[i], nodes[j]) for i in range(8) for j in range(8) if j - i in (1, 2, 4) and not i & j - i
    ]
    assert len(edges) == 12
    assert max(edges) < 1.7 * min(edges)
    assert all(apart(a, b) > 49 for a in nodes for b in nodes if a is not b)
    screenshot(sets, "diagram-graph")


@pytest.mark.provokes(r"penrose\.js")
def test_penrose_is_missing(page: Page, frozen_url: str) -> None:
    page.route("**/penrose.js", lambda route: route.fulfill(status=404))
    page.goto(frozen_url + "site/diagram.html")
    expect(status(page)).to_have_text(re.compile(r"penrose\.js"))
    expect(status(page)).to_have_class(re.compile("failed"))


def test_the_licences_of_penrose_are_there() -> None:
    text = (DIST / "site" / "penrose.licences.txt").read_text()
    assert re.search(r"@penrose/core .*: MIT\n.*Permission is hereby granted", text, re.DOTALL)
    assert re.search(r"^lodash .*: MIT$", text, re.MULTILINE)


def test_a_shape_is_dragged_with_a_finger(
    new_page: Callable[..., Page], frozen_url: str, screenshot: Callable[..., object]
) -> None:
    page = new_page(**PHONE, reduced_motion="reduce")
    page.goto(frozen_url + "site/diagram.html")
    settle(page)
    page.locator("#workbench").evaluate("e => e.scrollIntoView()")
    top = page.evaluate("scrollY")
    x, y, _ = circle(page, "Fliers")
    swipe(page, handle(page, "Fliers"), 20 if x < 260 else -20, 20 if y < 180 else -20)
    expect(handle(page, "Fliers")).to_have_attribute("aria-valuetext", re.compile("held"))
    settle(page)
    assert circle(page, "Fliers")[:2] != (x, y)
    assert page.evaluate("scrollY") == top
    screenshot(page, "diagram-phone")
