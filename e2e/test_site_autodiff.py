"""The page about automatic differentiation: its four ways against Rose's own, and used as a reader would."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from e2e.gestures import PHONE, Gate, drag, swipe
from e2e.workbench import Opened, button, opening
from rose_core import compile, expr, grad

EXPRESSIONS = (
    "x*sin(x*y)+y^2",
    "x**y - y/x",
    "-x^2 - -y",
    "tan(x)/(x-y-(x+1))",
    "asin(x/9)+acos(y/9)*atan(x*y)",
    "sinh(x)*cosh(y)-tanh(x/y)",
    "exp(-x*x)+log(y)*log2(x)/log10(1+x)",
    "sqrt(x)*cbrt(y)-abs(x-y)",
    "sign(y-x)*x+floor(x)*y-ceil(x)",
    "min(x,y)*max(2*x,y)+max(x,5)",
    "max(x,x)+min(y,y)*y",
    "atan2(x,y)-hypot(x,3*y)+cos(x)^3",
    "x*x*x*(x+x)/(y*y)",
    "log(x)^(2/3)*e^(π*y)-e",
    "3",
)
POINT = (1.3, 0.7)


@pytest.fixture(scope="module")
def ways(node: Callable[[str], str]) -> dict[str, dict[str, list[float]]]:
    """Both derivatives of all expressions, by formulas (typed again), dual numbers and backwards."""
    return json.loads(  # type: ignore[no-any-return]
        node(f"""
        import {{ evaluator, parse }} from "./site/lib/expression.js";
        import {{ derivation, expressions, text }} from "./site/autodiff/formula.js";
        import {{ backward, forward, gradientOf }} from "./site/autodiff/sweep.js";
        const [x, y] = {list(POINT)};
        const found = {{}};
        for (const given of {list(EXPRESSIONS)}) {{
          const o = expressions();
          const tree = o.lift(parse(given));
          const typed = (by) => parse(text(derivation(o, tree, by).at(-1).formula));
          const sweep = backward(tree, {{ x, y }});
          found[given] = {{
            formulas: ["x", "y"].map((by) => evaluator(typed(by))(x, y)),
            duals: ["x", "y"].map((by) => forward(tree, {{ x, y }}, by).lines.at(-1)?.change ?? 0),
            reverse: ["x", "y"].map((by) => gradientOf(sweep, by)),
          }};
        }}
        console.log(JSON.stringify(found));
        """)
    )


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_all_ways_agree_with_rose(ways: dict[str, dict[str, list[float]]], text: str) -> None:
    f = expr(text.replace("^", "**").replace("π", "pi"), ("x", "y"))
    exact = [compile(grad(f, k))(*POINT) for k in (0, 1)]
    assert ways[text] == {way: pytest.approx(exact, rel=1e-13) for way in ("formulas", "duals", "reverse")}


def test_every_operation_has_its_rules(node: Callable[[str], str]) -> None:
    told = node("""
        import { OPERATIONS, parse } from "./site/lib/expression.js";
        import { RULES, inOrder } from "./site/autodiff/calculus.js";
        const rules = Object.entries(RULES).map(([op, { length }]) => [op, length]);
        const wanted = Object.entries(OPERATIONS).map(([op, { length }]) => [op, Math.min(2, length)]);
        console.log(JSON.stringify([rules.sort(), wanted.sort()]));
    """)
    rules, wanted = json.loads(told)
    assert rules == wanted
    assert all(any(f"{op}(" in text for text in EXPRESSIONS) for op, _ in rules if op not in OPERATORS)


OPERATORS = ("add", "sub", "mul", "div", "neg", "pow")


def test_formulas_are_simplified_and_stay_what_they_are(node: Callable[[str], str]) -> None:
    told = node("""
        import { parse } from "./site/lib/expression.js";
        import { derivation, different, expressions, text, written } from "./site/autodiff/formula.js";
        const o = expressions();
        const lifted = (given) => o.lift(parse(given));
        const steps = derivation(o, lifted("x^2*sin(x)"), "x")
          .map(({ formula, rule }) => [text(formula), rule]);
        const plain = ["0*x+1*y", "x-(-y)", "(-x)*y", "(x-y)-(x-(y-1))", "(x^y)^2^x", "2*3+x", "-(x+y)*2"];
        const big = lifted("(x+y)*(x+y)+sin(x+y)");
        console.log(JSON.stringify([steps, plain.map((given) => text(lifted(given))),
          written(big), different(big), lifted("x*y") === lifted("x * y")]));
    """)
    steps, plain, *sizes = json.loads(told)
    assert steps == [
        ["d/dx[x^2·sin(x)]", ""],
        ["sin(x)·d/dx[x^2] + x^2·d/dx[sin(x)]", "d[u·v] = v·d[u] + u·d[v]"],
        ["sin(x)·(2·x) + x^2·d/dx[sin(x)]", "d[u^c] = c·u^(c − 1)·d[u]"],
        ["sin(x)·(2·x) + x^2·cos(x)", "d[sin(u)] = cos(u)·d[u]"],
    ]
    assert plain == ["y", "x + y", "−(x·y)", "x − y − (x − (y − 1))", "(x^y)^2^x", "6 + x", "−((x + y)·2)"]
    assert sizes == [6, 4, True]


# ---- the page -----------------------------------------------------------------------


def field(page: Page) -> Locator:
    return page.get_by_label("f(x, y) =")


def way(page: Page, name: str) -> None:
    page.get_by_role("radio", name=name).check()


def shown(page: Page, name: str) -> Locator:
    return page.locator(f"[data-show={name}]").first


def current(page: Page) -> Locator:
    return page.locator("#listing [aria-current=step]")


@pytest.fixture(scope="module")
def opened(browser: Browser, frozen_url: str) -> Iterator[Opened]:
    with opening(browser, frozen_url + "site/autodiff.html") as (page, problems):
        expect(shown(page, "rosex")).to_have_text("1.3480124")
        yield page, problems


@pytest.fixture
def ready(opened: Opened) -> Iterator[Page]:
    """The page as it is at first."""
    page, problems = opened
    button(page, "x*sin(x*y)+y^2").click()
    page.get_by_label("x", exact=True).fill("1.3")
    page.get_by_label("y", exact=True).fill("0.7")
    way(page, "by x")
    for name in ("Formulas", "Duals", "Backwards", "Differences"):
        way(page, name)
        page.locator("#step").fill("0")
    yield page
    assert problems == []


@pytest.mark.parametrize("text", ["x/0", "1e308*x*1e308", "1e-310*x", "-1e308-1e308*x", "log(-x)"])
def test_values_out_of_all_bounds(ready: Page, text: str) -> None:
    """Each way goes through all of its steps, and the page goes on."""
    field = ready.get_by_label("f(x, y) =")
    field.fill(text)
    for name in ("Formulas", "Duals", "Backwards", "Differences"):
        way(ready, name)
        ready.locator("#step").focus()
        ready.keyboard.press("End")
    expect(ready.get_by_role("alert")).to_be_empty()
    field.fill("x*y")
    expect(shown(ready, "exact")).to_have_text("0.7")


def test_differences_go_down_a_valley(ready: Page, screenshot: Callable[..., object]) -> None:
    expect(shown(ready, "found")).to_have_text("1.2718779")
    expect(shown(ready, "exact")).to_have_text("1.3480124")
    for _ in range(4):
        button(ready, "Next").click()
    expect(shown(ready, "step")).to_have_text("4 of 32")
    expect(ready.locator("#told")).to_have_text(
        re.compile(r"^With h = 0\.01, the one-sided difference has 2 digits")
    )
    screenshot(ready, "autodiff-light")
    ready.locator("#step").press("End")
    expect(ready.locator("#told")).to_have_text(
        re.compile(r"^With h = 1 × 10⁻¹⁶, the one-sided difference has 0 digits")
    )
    button(ready, "Back").click()
    expect(shown(ready, "step")).to_have_text("31 of 32")


def test_the_step_and_the_point_are_dragged(ready: Page) -> None:
    h = ready.get_by_label("Size of the step", exact=True)
    expect(h).to_have_attribute("aria-valuetext", "h 1")
    drag(ready, h, -60, 40)
    expect(h).not_to_have_attribute("aria-valuetext", "h 1")
    h.press("Shift+ArrowRight")
    expect(h).to_have_attribute("aria-valuetext", "h 1")
    point = ready.get_by_label("The point", exact=True)
    drag(ready, point, 40, 0)
    expect(ready.get_by_label("x", exact=True)).not_to_have_value("1.3")
    ready.get_by_label("x", exact=True).fill("2")
    point.press("ArrowLeft")
    expect(ready.get_by_label("x", exact=True)).to_have_value("1.99")
    way(ready, "by y")
    expect(point).to_have_attribute("aria-valuetext", "y 0.7")


def test_a_formula_is_derived_rule_by_rule_and_derived_again(ready: Page) -> None:
    way(ready, "Formulas")
    lines = ready.locator("#formula li")
    expect(lines).to_have_text(["d/dx[x·sin(x·y) + y^2]"])
    expect(shown(ready, "found")).to_have_text("…")
    button(ready, "Next").click()
    button(ready, "Next").click()
    expect(lines.last).to_have_text("= sin(x·y) + x·d/dx[sin(x·y)]")
    expect(lines.last.locator("mark")).to_have_text("d/dx[sin(x·y)]")
    expect(ready.locator("#told")).to_have_text("d[u·v] = v·d[u] + u·d[v]. Next: the first d/dx.")
    ready.locator("#step").press("End")
    expect(lines.last).to_have_text("= sin(x·y) + x·(cos(x·y)·y)")
    expect(shown(ready, "found")).to_have_text("1.3480124")
    button(ready, "Put this into the field").click()
    expect(field(ready)).to_have_value("sin(x·y) + x·(cos(x·y)·y)")
    expect(shown(ready, "exact")).to_have_text("0.35633017")
    # nested eight times, a formula is much longer than a program
    assert int(shown(ready, "bulk").inner_text().replace("\u202f", "")) > 10 * int(
        shown(ready, "shared").inner_text()
    )


def test_dual_numbers_come_down_the_graph(ready: Page) -> None:
    way(ready, "Duals")
    lines = ready.locator("#listing li")
    expect(lines).to_have_count(7)
    for _ in range(4):
        button(ready, "Next").click()
    expect(current(ready).locator("code")).to_have_text("v2 = sin(v1)\nv̇2 = cos(v1)·v̇1")
    expect(current(ready).locator("span")).to_have_text("0.7895 + 0.4296 ε")
    expect(ready.locator("#graph .now .label")).to_have_text("sin")
    expect(ready.locator("#graph .down")).to_have_count(1)
    ready.locator("#step").press("End")
    expect(shown(ready, "found")).to_have_text("1.3480124")
    way(ready, "by y")
    expect(shown(ready, "found")).to_have_text("2.4372303")


def test_adjoints_light_up_backwards(ready: Page, screenshot: Callable[..., object]) -> None:
    ready.get_by_role("button", name="up the graph").click()
    expect(current(ready).locator("code")).to_have_text("v̄5 = 1")
    told = []
    for step in range(7, 15):
        button(ready, "Next").click()
        expect(shown(ready, "step")).to_have_text(f"{step} of 14")
        expect(ready.locator("#graph .up")).to_have_count(1)
        told.append(current(ready).locator("code").inner_text())
    assert told == [
        *("v̄3 = v̄5", "v̄4 = v̄5", "ȳ = v̄4·(2·y)", "x̄ = v̄3·v2"),
        *("v̄2 = v̄3·x", "v̄1 = v̄2·cos(v1)", "x̄ += v̄1·y", "ȳ += v̄1·x"),
    ]
    expect(ready.locator("#graph .now .change")).to_have_text("2.437")
    expect(shown(ready, "found")).to_have_text("1.3480124")
    screenshot(ready, "autodiff-reverse")
    ready.emulate_media(color_scheme="dark")
    screenshot(ready, "autodiff-reverse-dark")
    ready.emulate_media(color_scheme="light")
    # and the compiled gradient says the same, of which one sees the program
    expect(ready.locator("#ir")).to_have_text(re.compile(r"def all\(.*Real = cos\(v\d+\) in", re.DOTALL))
    expect(shown(ready, "rosey")).to_have_text("2.4372303")


def test_steps_are_played_and_stopped(ready: Page) -> None:
    way(ready, "Backwards")
    button(ready, "Play").click()
    expect(shown(ready, "step")).to_have_text("2 of 14")
    button(ready, "Stop").click()
    expect(button(ready, "Play")).to_be_visible()
    # a step by hand ends the play, too
    button(ready, "Play").click()
    button(ready, "Back").click()
    expect(button(ready, "Play")).to_be_visible()


def test_what_is_typed_wrong_is_marked_and_the_last_good_stays(ready: Page) -> None:
    way(ready, "Backwards")
    ready.locator("#step").press("End")
    field(ready).fill("x*sin(x*y)+z")
    expect(ready.get_by_role("alert")).to_have_text(re.compile("There is no “z”"))
    expect(ready.locator("#marker .wrong")).to_have_text("z")
    expect(shown(ready, "found")).to_have_text("1.3480124")
    expect(ready.locator("#listing li")).to_have_count(14)
    ready.get_by_label("x", exact=True).fill("")
    expect(ready.get_by_label("x", exact=True)).to_have_attribute("aria-invalid", "true")
    expect(shown(ready, "found")).to_have_text("1.3480124")
    # no value there, and none for the slopes: told, and the page goes on
    field(ready).fill("log(-x)")
    ready.get_by_label("x", exact=True).fill("1")
    expect(ready.locator("#told")).to_have_text("Here f has no finite value: move the point.")
    field(ready).fill("7")
    expect(shown(ready, "exact")).to_have_text("0")
    expect(shown(ready, "rosex")).to_have_text("0")
    field(ready).fill("(".join(["sin"] * 39) + "(x" + ")" * 39)
    expect(ready.locator("#listing li")).not_to_have_count(14)


def test_on_a_phone_with_a_finger(
    new_page: Callable[..., Page], site_url: str, screenshot: Callable[..., object]
) -> None:
    page = new_page(**PHONE)
    gate = Gate(page, "**/rose.worker.js")
    page.goto(site_url + "site/autodiff.html")
    page.get_by_role("radio", name="Duals").tap()
    button(page, "Next").tap()
    expect(current(page).locator("code")).to_have_text("x = 1.3\nẋ = 1")
    page.locator("#step").fill("7")
    expect(shown(page, "found")).to_have_text("1.3480124")
    screenshot(page, "autodiff-phone")
    page.get_by_role("radio", name="Differences").tap()
    h = page.get_by_label("Size of the step", exact=True)
    expect(h).to_have_attribute("aria-valuetext", "h 1")
    swipe(page, h, -80, 0)
    expect(h).not_to_have_attribute("aria-valuetext", "h 1")
    # all of which needs no compiler
    expect(shown(page, "rosex")).to_have_text("…")
    gate.open()
    expect(shown(page, "rosex")).to_have_text("1.3480124")
