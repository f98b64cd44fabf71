"""How fluently the pages of the site follow a slider: `build.py bench frames`.

A frame sets the inputs, computes the gradient and draws. The processor is made `SLOWER` times slower than
this machine's, as a phone's may be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from playwright.sync_api import Browser, CDPSession, Page

from e2e.server import Server
from js_bridge.build.paths import DIST
from js_bridge.build.site import freeze

SLOWER = 6

SLIDERS = {
    "index": "#x",
    "regression": "input[type=range]",
    "quadratic": "#x",
    "billiards": "input[type=range]",
    "robot": "input[type=range]",
    "deblurring": "input[type=range]",
    "linkage": "input[type=range]",
    "autodiff": "input[type=range]",
}
"""By page, what is moved."""

SLIDE = """async ([selector, duration]) => {
    const input = document.querySelector(selector);
    const [low, high] = [+(input.min || -1), +(input.max || 1)];
    const step = +input.step || (high - low) / 100;
    const began = performance.now();
    let frames = 0;
    do {
        // to and fro, a step in each frame
        const at = Math.abs(((frames * step) % (2 * (high - low))) - (high - low));
        input.value = low + at;
        input.dispatchEvent(new Event("input", { bubbles: true }));
        await new Promise(requestAnimationFrame);
        ++frames;
    } while (performance.now() - began < duration);
    return [frames, performance.now() - began];
}"""


def opened(page: Page, address: str) -> None:
    """Open a page and wait until it has its gradients."""
    page.goto(address)
    page.wait_for_function(
        "document.querySelector('#status') && !document.querySelector('#status.busy')", timeout=60_000
    )


def used(cdp: CDPSession) -> float:
    """Seconds that the page's thread has computed."""
    metrics = cdp.send("Performance.getMetrics")["metrics"]
    return float(next(m["value"] for m in metrics if m["name"] == "TaskDuration"))


def measure(
    browser: Browser, names: Sequence[str] = tuple(SLIDERS), duration: float = 3000
) -> dict[str, dict[str, float]]:
    """Of each page the frames per second, and what a frame takes of the thread's own time."""
    freeze()
    found = {}
    with Server({"/": DIST}, quiet=True) as server:
        for name in names:
            with browser.new_context() as context:
                page = context.new_page()
                opened(page, f"{server.origin}/site/{name}.html")
                cdp = context.new_cdp_session(page)
                cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
                page.evaluate(SLIDE, [SLIDERS[name], 500])  # engines have optimised it by then
                before = used(cdp)
                frames, _ = page.evaluate(SLIDE, [SLIDERS[name], duration])
                own = 1000 * (used(cdp) - before) / frames
                cdp.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
                frames, elapsed = page.evaluate(SLIDE, [SLIDERS[name], duration])
                found[name] = {"frames per second": 1000 * frames / elapsed, "ms per frame": own}
    return found


TARGET = 60
"""Frames per second."""


def table(found: Mapping[str, Mapping[str, float]]) -> str:
    lines = [f"{'A slider is moved':<20}{'fps, ' + str(SLOWER) + ' × slower':>20}{'ms per frame':>16}"]
    lines += [
        f"  {name:<18}{measured['frames per second']:>20.1f}{measured['ms per frame']:>16.2f}"
        + f"   target {TARGET} fps"
        for name, measured in found.items()
    ]
    return "\n".join(lines)
