"""Pages in headless Chromium: what they compile, and what they load when that is frozen."""

from __future__ import annotations

import base64
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import (
    Browser,
    BrowserContext,
    Dialog,
    Error,
    Frame,
    Page,
    Response,
    Route,
    TimeoutError,
    ViewportSize,
)

from rose_core.cli import actions
from rose_core.cli.artifact import Artifact
from rose_core.cli.opening import Opening
from rose_core.cli.serve import unmarked

INDEX = "rose.frozen.json"
KNOWN = "rose-known-before/"
"""Where readers find what need not be compiled again, as seen from an index."""
_HERE = Path(__file__).parent
_WATCH = (_HERE / "watch.js").read_text("utf-8")
_REGISTRATION = (_HERE / "registration.js").read_text("utf-8")
_NAVIGATION = (_HERE / "navigation.js").read_text("utf-8")
WORKER = " ".join(line.strip() for line in (_HERE / "worker.js").read_text("utf-8").splitlines()) + " "
"""In one line: what comes after it keeps the numbers of its lines."""

LATE = 5_000
"""Milliseconds to wait for what a page loads once it is there."""

NARROW = ViewportSize(width=360, height=720)
"""A window as telephones have it."""

MOST = 24
"""In how many ways a page is opened."""

FRAMES = 64
"""How many frames of a page are used."""

DIALOGS = 50
"""How often a page that asks something is told yes."""

ELSEWHERE = re.compile(r"^https?://(?!127\.0\.0\.1[:/])")
"""Addresses of other hosts than that of the site, while it is used."""

HAND = "NotAllowedError"
"""What browsers say of what takes a reader's own hand, or word: see `watch.js`."""


@dataclass
class Visit:
    """What was seen on a page."""

    artifacts: list[Artifact] = field(default_factory=list)
    indices: set[str] = field(default_factory=set)
    """Addresses of the indices in which it looked for what it compiles."""
    asks: bool = False
    """Whether it did so itself, and not in workers alone."""
    loaded: set[str] = field(default_factory=set)
    """Addresses that were answered."""
    unseen: set[str] = field(default_factory=set)
    """The protocols of addresses of workers of which it cannot be seen what they compile."""
    openings: list[Opening] = field(default_factory=list)
    """How the page reloads itself, and how it is opened first."""
    opened: int = 0
    """How many of these were opened."""
    has_left: bool = False
    """Whether it adds so many inputs that not all of them were moved."""
    many: set[str] = field(default_factory=set)
    """Its sliders of too many positions that each seem to make a program."""
    is_untried: bool = False
    """Whether there was more to be done on it, as where inputs make programs together, than was."""
    workers: dict[str, str] = field(default_factory=dict)
    """By scope, the addresses of the service workers that it registers."""
    errors: list[str] = field(default_factory=list)
    is_stuck: bool = False
    """Whether it did not answer."""
    started_python: bool = False

    def tell(self, problem: str) -> None:
        """Note what went wrong, unless it is known, perhaps with its place."""
        if not any(problem in known for known in self.errors):
            self.errors.append(unmarked(problem))

    def fail(self, error: Exception) -> None:
        """Note what kept it from being used."""
        self.is_stuck |= isinstance(error, TimeoutError | actions.StuckError)
        self.tell(str(error).splitlines()[0] if isinstance(error, Error) else str(error))

    @property
    def has_rose(self) -> bool:
        """Whether it has Rose, as far as that can be seen."""
        files = INDEX, "rose.js", "rose.global.js"
        return any(urlsplit(address).path.rpartition("/")[2] in files for address in self.loaded)


def reader(browser: Browser, known: Mapping[str, Artifact] | None = None) -> BrowserContext:
    """Somebody on a first visit, for whom what is ``known`` is frozen, or else what the site says."""
    context = browser.new_context()
    if known is not None:
        index = {"folders": {KNOWN: list(known)}}
        context.route(f"**/{INDEX}", lambda route: route.fulfill(json=index))
        context.route(
            f"**/{KNOWN}*", lambda route: route.fulfill(body=known[Path(route.request.url).stem].data)
        )
    context.route(ELSEWHERE, _only_ask)
    context.expose_function("roseEnd", actions.note_end)
    context.add_init_script(_NAVIGATION)  # before what tells of errors
    context.add_init_script(_WATCH)
    context.add_init_script(_REGISTRATION)
    context.add_init_script(WORKER)
    return context


def _only_ask(route: Route) -> None:
    """Buttons may send something to other hosts, which is not for a machine to do."""
    if route.request.method in ("GET", "HEAD", "OPTIONS"):
        route.fallback()
    else:
        route.fulfill(status=204)


def first_visit(browser: Browser, known: Mapping[str, Artifact], address: str) -> Visit:
    """Use a page; one that does not answer is opened once more, as that may be the browser's own fault."""
    visit = _first_visit(browser, known, address)
    if visit.is_stuck:
        told = f"  {urlsplit(address).path}: {visit.errors[-1]}; it is opened once more"
        print(told, file=sys.stderr, flush=True)
        visit = _first_visit(browser, known, address)
    return visit


def _first_visit(browser: Browser, known: Mapping[str, Artifact], address: str) -> Visit:
    first = Opening(address)
    visit = Visit(openings=[first])
    ahead = [first]
    for opening in islice(ahead, MOST):  # which grow
        visit.opened += 1
        compiled, found = len(visit.artifacts), len(visit.openings)
        # somebody else each time: what a page stores would make others those of a second visit
        context = reader(browser, {**known, **{artifact.key: artifact for artifact in visit.artifacts}})
        opening.prepare(context)
        use(context, opening.address, visit)
        context.close()
        if visit.is_stuck:
            break
        new = visit.openings[found:]
        if opening != first and len(visit.artifacts) == compiled:
            # a query that tells the time is another at each visit, and would lead on for ever
            names = {other.names for other in visit.openings[:found]}
            new = [other for other in new if other.names not in names]
        ahead += new
    return visit


def use(context: BrowserContext, address: str, visit: Visit) -> None:
    """Open a page, use it as a reader does, and collect what it compiles."""
    page = context.new_page()
    page.on("popup", lambda other: other.close())  # which are other pages
    asked = count()
    page.on("dialog", lambda dialog: _answer(dialog, next(asked)))
    _note(page, visit)
    page.expose_function("roseProblem", visit.tell)
    thrown: list[str] = []

    def note_thrown(error: Error) -> None:
        if error.name != HAND:
            thrown.append(error.message)

    page.on("pageerror", note_thrown)
    try:
        _open(page, address)
        actions.done(page.main_frame, "opened")
        _note_found(page.main_frame, visit)  # which has been looked through
        frames = [page.main_frame]
        _look_through_others(page, frames, visit)
        for frame in islice(frames, FRAMES):  # which grow
            _in(frame, _use, visit)
            _look_through_others(page, frames, visit)
    except (Error, actions.PageError) as error:
        visit.fail(error)
    page.close()
    for problem in thrown:  # which the page itself cannot always see
        visit.tell(problem)


def _answer(dialog: Dialog, number: int) -> None:
    """Say yes, as who wants to go on, but not for ever."""
    with suppress(Error):  # of a page that is closed
        if number < DIALOGS:
            dialog.accept(dialog.default_value)
        else:
            dialog.dismiss()


def _look_through_others(page: Page, frames: list[Frame], visit: Visit) -> None:
    """Look through frames of a page that are in it besides these, and add them."""
    while others := [frame for frame in page.frames if frame not in frames and _belongs_to(frame, page)]:
        frames += others
        for frame in others:
            _in(frame, _look_through, visit)


def _in(frame: Frame, act: Callable[[Frame, Visit], None], visit: Visit) -> None:
    """Do something in a frame. What is in use may take others away, which is no mistake."""
    try:
        act(frame, visit)
    except Error:
        if not frame.is_detached():
            raise


def _belongs_to(frame: Frame, page: Page) -> bool:
    """Whether a frame shows something of the same host, or what its scripts have made."""
    address = frame.url.removeprefix("blob:")
    if address == "about:blank":
        with suppress(Error):  # which it may have gone with
            return bool(frame.evaluate("document.body?.childElementCount"))
        return False  # it may still come to something
    return address == "about:srcdoc" or urlsplit(address)[:2] == urlsplit(page.url)[:2]


def _use(frame: Frame, visit: Visit) -> None:
    """Use what is in a frame, and see it in a narrow window."""
    try:
        if not actions.done(frame, "warmUp") and actions.done(frame, "use") and frame.parent_frame is None:
            _resize(frame)
    except actions.PageError as error:
        visit.fail(error)
    _try(frame, "settled", visit)
    _note_found(frame, visit)


def _resize(frame: Frame) -> None:
    """As who turns a telephone, or makes the window smaller."""
    page = frame.page
    wide = page.viewport_size
    assert wide
    for size in (NARROW, wide):
        page.set_viewport_size(size)
        actions.done(frame, "resized")


def _look_through(frame: Frame, visit: Visit) -> None:
    """Show all of a frame, once it is there."""
    _try(frame, "opened", visit)
    _try(frame, "scroll", visit)
    _note_found(frame, visit)


def _try(frame: Frame, action: str, visit: Visit) -> None:
    try:
        actions.done(frame, action)
    except actions.PageError as error:
        visit.fail(error)


def _note_found(frame: Frame, visit: Visit) -> None:
    """Note what a frame has compiled so far."""
    found = actions.done(frame, "found")
    visit.indices |= set(found["indices"])
    visit.asks |= found["asks"]
    visit.unseen |= set(found["unseen"])
    openings = (Opening(*opening) for opening in found["openings"])
    visit.openings += (opening for opening in openings if opening not in visit.openings)
    visit.has_left |= found["left"]
    visit.many |= set(found["many"])
    visit.is_untried |= found["untried"]
    visit.workers |= dict(found["workers"])
    known = {artifact.key for artifact in visit.artifacts}
    files = (Artifact(key, base64.b64decode(data)) for key, data in found["files"] if key not in known)
    visit.artifacts += files
    for problem in found["errors"]:
        visit.tell(problem)


def look(browser: Browser, address: str) -> Visit:
    """Open a page for the first time; what it loads then, its host sees."""
    visit = Visit()
    context = reader(browser)
    page = context.new_page()
    try:
        _open(page, address)
        visit.started_python = actions.done(page.main_frame, "started")
    except (Error, actions.PageError) as error:
        visit.fail(error)
    context.close()
    return visit


def _open(page: Page, address: str) -> None:
    page.set_default_timeout(actions.PATIENCE)
    answer = page.goto(address, wait_until="load")
    if answer and not answer.ok:
        raise actions.PageError(f"it cannot be read: {answer.status}")
    with suppress(TimeoutError):  # it may go on for ever
        page.wait_for_load_state("networkidle", timeout=LATE)
    actions.done(page.main_frame, "settled")
    actions.done(page.main_frame, "scroll")


def _note(page: Page, visit: Visit) -> None:
    def answered(response: Response) -> None:
        if response.ok:
            visit.loaded.add(unmarked(response.url))

    page.on("response", answered)
