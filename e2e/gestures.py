"""What a reader does to a page, for the tests of the site: dragging, by mouse and finger, and waiting."""

from __future__ import annotations

from collections.abc import Sequence

from playwright.sync_api import Locator, Page, Route

PHONE = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}


MIDDLE = (0.5, 0.5)


def spot(target: Locator, at: tuple[float, float]) -> tuple[float, float]:
    """A place of an element, in the window; it is scrolled into view first."""
    target.scroll_into_view_if_needed()
    box = target.bounding_box()
    assert box
    return box["x"] + at[0] * box["width"], box["y"] + at[1] * box["height"]


def settle(page: Page) -> None:
    """Wait until a page has told and drawn what had to wait (`site/lib/pace.js`)."""
    # the page's own clock: on a busy machine what waits there comes before this; then everything has its turn
    page.evaluate(
        """async () => {
            await new Promise((done) => setTimeout(done, 300));
            for (let k = 0; k < 8; ++k) await new Promise(requestAnimationFrame);
        }"""
    )


def drag(page: Page, target: Locator, dx: float, dy: float, at: tuple[float, float] = MIDDLE) -> None:
    """Take hold of an element with the mouse, and let go some pixels further."""
    x, y = spot(target, at)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + dx, y + dy, steps=5)
    page.mouse.up()
    settle(page)


def swipe(page: Page, target: Locator, dx: float, dy: float, at: tuple[float, float] = MIDDLE) -> None:
    """The same with a finger."""
    x, y = spot(target, at)
    touch(page, [(x + dx * k / 6, y + dy * k / 6) for k in range(7)])


def touch(page: Page, *ways: Sequence[tuple[float, float]]) -> None:
    """Put fingers on the window, one after the other, move them together, and take them away."""
    session = page.context.new_cdp_session(page)

    def send(kind: str, places: Sequence[tuple[float, float]]) -> None:
        points = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(places)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    begin, *moves = zip(*ways, strict=True)
    for k in range(len(begin)):
        send("touchStart", begin[: k + 1])
    for places in moves:
        send("touchMove", places)
    send("touchEnd", [])
    session.detach()


class Gate:
    """Holds up the requests for an address until it is opened."""

    def __init__(self, page: Page, address: str) -> None:
        self.is_open = False
        self.held: list[Route] = []
        page.route(address, self.meet)

    def meet(self, route: Route) -> None:
        if self.is_open:
            route.continue_()
        else:
            self.held.append(route)

    def open(self) -> None:
        self.is_open = True
        for route in self.held:
            route.continue_()
