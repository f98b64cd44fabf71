"""The pages of the site, each with what its reader does there: the tests of all pages go by this.

A helper waits until its page has its gradients, then uses the page's main control, by mouse and by
keyboard, and expects that what the gradients lead to is another thing each time.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from e2e.tab import Tab


def text(selector: str) -> str:
    """An expression for the text of an element; nothing yet where that is dots."""
    return f"document.querySelector({json.dumps(selector)}).textContent.replace('…', '')"


def index(tab: Tab) -> None:
    tab.until(text("[data-show=g]"))
    tab.changes(text("[data-show=g]"), lambda: tab.drag("#x", at=(0.8, 0.5)))
    tab.changes(text("[data-show=g]"), lambda: tab.press("#x", "ArrowRight"))


def regression(tab: Tab) -> None:
    point, line = '[aria-label="Data point 1"]', text(".workbench [data-show=b]")
    tab.until(f"{text('#status')}.startsWith('At rest')")
    tab.changes(line, lambda: tab.drag(point, (0, -40)))
    tab.changes(line, lambda: tab.press(point, "ArrowUp"))


def quadratic(tab: Tab) -> None:
    point, curvature = '[aria-label="The point on the surface"]', text("[data-show=hxx]")
    tab.until(f"{curvature} === '12'")
    tab.changes(curvature, lambda: tab.drag(point, (30, 10)))
    tab.changes(curvature, lambda: tab.press(point, "ArrowUp"))


def billiards(tab: Tab) -> None:
    shot = text(".readout")  # and its gradient
    tab.until(f"{text('#status')}.startsWith('After')")
    tab.changes(shot, lambda: tab.drag('[aria-label="Goal"]', (0, 40)))
    tab.changes(shot, lambda: tab.press('[aria-label="Goal"]', "ArrowUp"))


def robot(tab: Tab) -> None:
    tab.until("!document.querySelector('#step').disabled")
    reached = text("[data-show=reached]")
    tab.changes(reached, lambda: tab.click("#step"))
    tab.changes(reached, lambda: tab.press("#step", "Enter"))


def deblurring(tab: Tab) -> None:
    steps = text("[data-show=steps]")
    tab.until(f"+{steps} > 0")
    tab.click("#run")  # has it rest
    tab.until(f"{text('#run')} === 'Run'")
    tab.changes(steps, lambda: tab.click("#step"))
    tab.changes(steps, lambda: tab.press("#step", "Enter"))


def linkage(tab: Tab) -> None:
    pen, coupler = '[aria-label="The pen"]', text("[data-show=b]")
    tab.until(f"!document.querySelector('#play').disabled && {coupler}")
    tab.changes(coupler, lambda: tab.drag(pen, (20, 30)))
    tab.changes(coupler, lambda: tab.press(pen, "ArrowRight"))


def diagram(tab: Tab) -> None:
    shape = '[aria-label="Fliers"]'
    place = f"document.querySelector({json.dumps(shape)}).getAttribute('aria-valuetext')"
    tab.until(f"{text('#status')}.startsWith('Settled')")
    tab.changes(place, lambda: tab.drag(shape, (20, 10)))
    tab.changes(place, lambda: tab.press(shape, "ArrowUp"))


def autodiff(tab: Tab) -> None:
    slope = text("[data-show=rosex]")
    tab.until(slope)
    tab.changes(slope, lambda: tab.click('[data-act="preset x^y"]'))
    tab.changes(slope, lambda: tab.press("#x", "ArrowUp"))


def playground(tab: Tab) -> None:
    slope = text("#numbers dd:nth-of-type(2)")
    tab.until(f"{text('[data-show=both]')}.startsWith('Both record')")
    tab.changes(slope, lambda: tab.click('[data-act="preset valley"]'))
    tab.changes(slope, lambda: tab.press('[data-act="preset waves"]', "Enter"))


def benchmark(tab: Tab) -> None:
    tab.until(text("[data-show=date]"))
    tab.until("document.querySelector('[value=sincos]')")  # and nothing is on its way to its place
    is_open = "document.querySelector('#tables details').open"
    tab.changes(is_open, lambda: tab.click("#tables summary", at=(0.1, 0.5)))
    tab.changes(is_open, lambda: tab.press("#tables summary", "Enter"))
    tab.changes("document.querySelector('#peers input').checked", lambda: tab.press("#peers input", "Space"))


USES: dict[str, Callable[[Tab], None]] = {
    "index": index,
    "regression": regression,
    "quadratic": quadratic,
    "billiards": billiards,
    "robot": robot,
    "deblurring": deblurring,
    "linkage": linkage,
    "diagram": diagram,
    "autodiff": autodiff,
    "playground": playground,
    "benchmark": benchmark,
}
"""By the name of the page's file: a test sees that none is missing."""

EVALUATES = {"playground"}
"""Pages that run what is typed, which a strict policy forbids."""

STRICT = {"Content-Security-Policy": "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'"}
"""What a host may say that wants its pages to be safe."""
