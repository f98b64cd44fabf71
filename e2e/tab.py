"""One tab of any engine, with what the tests of all engines do there.

Chromium and Firefox are driven by Playwright, as here, and WebKitGTK by its own driver: see webkit.py.
A page is used by mouse and keyboard, and on a phone by finger, where the engine can be driven so; what it
shows is read with JavaScript.
"""

from __future__ import annotations

import abc
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from playwright.sync_api import Page

from e2e import gestures
from e2e.gestures import MIDDLE

PHONE = (390, 844)

KEPT = """(await new Promise((done) => {
    indexedDB.open("rose programs").onsuccess = ({ target: { result: database } }) => {
        database.transaction("files").objectStore("files").count().onsuccess =
            ({ target }) => { database.close(); done(target.result); };
    };
}))"""
"""How many files the browser keeps, once a page has looked for one; who compiles does not wait for that."""

PATIENCE = 120.0
"""Seconds for anything to happen: enough for Python to be loaded on a machine that does much else."""


class Tab(abc.ABC):
    name: str
    """The engine: chromium, firefox or webkit."""
    by_finger = False

    @abc.abstractmethod
    def resize(self, width: int, height: int) -> None:
        """Give the page's window this size, or nearly."""

    def become_phone(self) -> None:
        """As large as a phone, and used by finger where the engine can be."""
        self.resize(*PHONE)
        self.by_finger = True

    @abc.abstractmethod
    def goto(self, url: str) -> None:
        """Load a page and its scripts, not what these go on to load."""

    @abc.abstractmethod
    def run(self, body: str, *arguments: Any) -> Any:
        """What an async function with this body gives; it finds its arguments in `given`."""

    def ask(self, body: str, *arguments: Any) -> Any:
        """As `run`, of what may as well be run twice."""
        return self.run(body, *arguments)

    def look(self, expression: str) -> Any:
        """The value of an expression that changes nothing."""
        return self.ask(f"return {expression}")

    @abc.abstractmethod
    def point(self, way: Sequence[tuple[float, float]]) -> None:
        """Press the pointer in a place of the window, move it, and let go."""

    @abc.abstractmethod
    def strike(self, selector: str, key: str) -> None:
        """Focus an element, and press a key, which a busy window may lose."""

    @abc.abstractmethod
    def problems(self) -> list[str]:
        """What went wrong on its pages so far, one line each."""

    def drag(self, selector: str, by: tuple[float, float] = (0, 0), at: tuple[float, float] = MIDDLE) -> None:
        """Take hold of an element, and let go some pixels further, or where it was."""
        self.hit("pointerdown", selector, by, at)

    def click(self, selector: str, at: tuple[float, float] = MIDDLE) -> None:
        """Press a button, or what else is there to be clicked."""
        self.hit("click", selector, (0, 0), at)

    def press(self, selector: str, key: str) -> None:
        """Focus an element, and press a key."""
        self.reach("keydown", selector, lambda: self.strike(selector, key))

    def hit(self, event: str, selector: str, by: tuple[float, float], at: tuple[float, float]) -> None:
        """Drag until the element has the event: a page moves while it loads, so that another may have it."""

        def drag() -> None:
            x, y = self.place(selector, at)
            self.point([(x, y), *((x + dx, y + dy) for dx, dy in steps(by))])

        self.reach(event, selector, drag)

    def reach(self, event: str, selector: str, act: Callable[[], None]) -> None:
        """Do something until the element has the event."""
        end = time.monotonic() + PATIENCE
        while True:
            self.run(
                """const [selector, event] = given;
                globalThis.hit = new Promise((done) => {
                    const hold = ({ target }) => done(Boolean(target.closest(selector)));
                    addEventListener(event, hold, { capture: true, once: true });
                });""",
                selector,
                event,
            )
            act()
            if self.run("return Promise.race([hit, new Promise((done) => setTimeout(done, 1000, false))])"):
                return
            assert time.monotonic() < end, f"{selector} is not to be had: {self.problems()}"

    def until(self, condition: str) -> None:
        """Wait for an expression to become true."""
        self.become(f"Boolean({condition})", bool)

    def changes(self, expression: str, act: Callable[[], None]) -> None:
        """Do something, and wait for an expression to have another value."""
        before = self.look(expression)
        act()
        self.become(expression, lambda found: found != before)

    def become(self, expression: str, wanted: Callable[[Any], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not wanted(found := self.look(expression)):
            if time.monotonic() > end:
                said = self.look("[...document.querySelectorAll('[role=status]')].map((p) => p.textContent)")
                raise AssertionError(f"{expression} stays {found!r}; {said}; {self.problems()}")
            time.sleep(0.05)

    def place(self, selector: str, at: tuple[float, float]) -> tuple[float, float]:
        """A place of an element, in the window, when it has been scrolled there and no longer moves.

        Or in a few seconds, if it moves for ever.
        """
        x, y = self.ask(
            """const [selector, at] = given;
            const element = document.querySelector(selector);
            let box;
            for (let k = 0; k < 100; ++k) {
                const before = box;
                element.scrollIntoView({ block: "center", behavior: "instant" });
                box = element.getBoundingClientRect();
                await new Promise((done) => setTimeout(done, 30));
                if (box.x === before?.x && box.y === before?.y) break;
            }
            return [box.x + at[0] * box.width, box.y + at[1] * box.height]""",
            selector,
            at,
        )
        return x, y


class PlaywrightTab(Tab):
    def __init__(self, page: Page, problems: list[str]) -> None:
        browser = page.context.browser
        assert browser
        self.name = browser.browser_type.name
        self.page = page
        self.found = problems

    def goto(self, url: str) -> None:
        self.page.goto(url)

    def run(self, body: str, *arguments: Any) -> Any:
        return self.page.evaluate(f"async (given) => {{ {body} }}", list(arguments))

    def resize(self, width: int, height: int) -> None:
        self.page.set_viewport_size({"width": width, "height": height})

    def point(self, way: Sequence[tuple[float, float]]) -> None:
        if self.by_finger and self.name == "chromium":
            gestures.touch(self.page, way)
            return
        start, *others = way
        self.page.mouse.move(*start)
        self.page.mouse.down()
        for place in others:
            self.page.mouse.move(*place)
        self.page.mouse.up()

    def strike(self, selector: str, key: str) -> None:
        self.page.locator(selector).first.press(key)

    def problems(self) -> list[str]:
        return self.found


def steps(by: tuple[float, float], number: int = 4) -> Iterable[tuple[float, float]]:
    """The way of a pointer, in a few steps: a jump is not what readers do."""
    if by != (0, 0):
        yield from ((by[0] * k / number, by[1] * k / number) for k in range(1, number + 1))
