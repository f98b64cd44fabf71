"""A slider may be moved for as long as one likes: no page keeps anything of a movement."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from itertools import pairwise
from statistics import median

import pytest
from playwright.sync_api import CDPSession, Page

from e2e.bench.frames import SLIDERS, opened
from e2e.gestures import settle

MOVES = 200
ROUNDS, MOST_ROUNDS = 8, 24
LEAST = 15 * MOVES
"""Bytes: less than an object for each movement."""

MOVE = """([selector, count]) => {
    const input = document.querySelector(selector);
    const [low, high] = [+(input.min || -1), +(input.max || 1)];
    for (let k = 0; k < count; ++k) {
        input.value = low + (high - low) * Math.abs((k % 60) / 30 - 1);
        input.dispatchEvent(new Event("input", { bubbles: true }));
    }
    return new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
}"""


def held(cdp: CDPSession) -> int:
    """Bytes of objects that something refers to."""
    for _ in range(2):  # what is collected first, finalizers give back after it
        cdp.send("HeapProfiler.collectGarbage")
    return int(cdp.send("Runtime.getHeapUsage")["usedSize"])


def growth(page: Page, name: str) -> float:
    """By how many bytes more are held after each of several times `MOVES`: the median of the last ones.

    What a page does only now and then makes other differences, and so do engines while they optimise it,
    for longer where the machine is busy.
    """
    cdp = page.context.new_cdp_session(page)
    sizes: list[int] = []
    found = math.inf
    while len(sizes) < ROUNDS or (found >= LEAST and len(sizes) < MOST_ROUNDS):
        page.evaluate(MOVE, [SLIDERS[name], MOVES])
        sizes.append(held(cdp))
        if len(sizes) >= ROUNDS:
            found = median(after - before for before, after in pairwise(sizes[-ROUNDS:]))
    return found


@pytest.fixture
def calm(new_page: Callable[..., Page]) -> Page:
    """A page that moves nothing by itself."""
    return new_page(reduced_motion="reduce")


@pytest.mark.parametrize("name", SLIDERS)
def test_a_movement_leaves_nothing_behind(calm: Page, frozen_url: str, name: str) -> None:
    opened(calm, f"{frozen_url}site/{name}.html")
    # a search, which remembers its steps, is to rest
    calm.evaluate(
        "for (const b of document.querySelectorAll('#run')) if (b.textContent === 'Pause') b.click()"
    )
    assert growth(calm, name) < LEAST


def test_what_is_left_behind_is_seen(calm: Page, frozen_url: str) -> None:
    opened(calm, f"{frozen_url}site/linkage.html")
    calm.evaluate(
        """(selector) => {
        globalThis.kept = [];
        document.querySelector(selector).addEventListener("input", () => kept.push([{ a: 1 }]));
    }""",
        SLIDERS["linkage"],
    )
    # engines that let go of their own code meanwhile, as on a busy machine, hide it for a while
    assert any(growth(calm, "linkage") > LEAST for _ in range(3))


HURRY = """async ([move, frames]) => {
    const seen = new Set();
    for (let k = 0; k < frames; ++k) {
        new Function("k", move)(k);
        await new Promise(requestAnimationFrame);
        // on this machine every frame takes long
        for (const end = performance.now() + 30; performance.now() < end; );
        seen.add(document.getElementById("surface").toDataURL());
    }
    return [...seen];
}"""

SLIDE = """
    const input = document.getElementById("x");
    input.value = k % 2 ? 1 : 0.5;
    input.dispatchEvent(new Event("input", { bubbles: true }));
"""

TURN = """
    const key = k % 2 ? "ArrowLeft" : "ArrowRight";
    document.getElementById("surface").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
"""

SHOWN = """() => [
    document.getElementById("surface").toDataURL(),
    ...[...document.querySelectorAll("[data-show]")].map((place) => place.textContent),
]"""


@pytest.mark.parametrize("move", [SLIDE, TURN], ids=["slide", "turn"])
def test_a_slow_machine_draws_the_surface_roughly_while_it_turns(
    calm: Page, frozen_url: str, move: str
) -> None:
    opened(calm, f"{frozen_url}site/quadratic.html")
    standing = []
    for k in 0, 1:
        calm.evaluate(f"new Function('k', {json.dumps(move)})({k})")
        settle(calm)
        standing.append(calm.evaluate(SHOWN))
    assert standing[0] != standing[1]
    moving = set(calm.evaluate(HURRY, [move, 20]))
    # where only the point moves, the fine picture of the surface is kept
    assert (moving <= {picture for picture, *_ in standing}) == (move == SLIDE)
    # the picture and the numbers are in the end those of a machine that never hurries
    settle(calm)
    assert calm.evaluate(SHOWN) == standing[1]


TURNS = """async () => {
    const { inTurn } = await import("./lib/pace.js");
    const seen = [];
    const asks = [0, 1, 2].map((k) => inTurn((now) => {
        seen.push([now, k]);
        for (const end = performance.now() + 14; performance.now() < end; );
        if (seen.length < 12) asks[k]();
    }));
    for (const ask of asks) ask(), ask();
    while (seen.length < 12) await new Promise(requestAnimationFrame);
    return seen.slice(0, 12);
}"""


def test_what_makes_frames_long_has_one_to_itself(calm: Page, frozen_url: str) -> None:
    opened(calm, f"{frozen_url}site/quadratic.html")
    frames, acts = zip(*calm.evaluate(TURNS), strict=True)
    assert acts == (0, 1, 2) * 4
    assert len(set(frames[-6:])) == 6


CLICKS = """async (clicked) => {
    const { inPassing } = await import("./lib/pace.js");
    let times = 0;
    const ask = inPassing(() => times++);
    for (let k = 0; k < 20; ++k) {
        if (clicked) document.body.click();
        ask();
        await new Promise(requestAnimationFrame);
        // on this machine every frame takes long
        for (const end = performance.now() + 30; performance.now() < end; );
    }
    return times;
}"""


def test_what_a_click_asks_for_does_not_wait(calm: Page, frozen_url: str) -> None:
    opened(calm, f"{frozen_url}site/quadratic.html")
    assert calm.evaluate(CLICKS, True) > calm.evaluate(CLICKS, False)
