"""`rose freeze`: uses the pages of a site, and keeps what they compile in files next to them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from rose_core.cli import offline as offline_worker
from rose_core.cli.browser import chromium
from rose_core.cli.errors import CommandError
from rose_core.cli.serve import address_of, serve
from rose_core.cli.several import spread
from rose_core.cli.site import Change, Site
from rose_core.cli.visit import WORKER, Visit, first_visit, look
from rose_core.errors import counted

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def freeze_site(root: Path, check: bool, offline: bool, program: str | None, base: str) -> int:
    """The command; its exit status is 1 if something is out of date, or went wrong on a page.

    ``base``: where the site is on its host.
    """
    if not root.is_dir():
        raise CommandError(f"{root} is no folder")
    with _alone(root):
        return _freeze_site(root, check, offline, program, base)


def _freeze_site(root: Path, check: bool, offline: bool, program: str | None, base: str) -> int:
    site = Site(root)
    answered: set[str] = set()
    with serve(site.root, base, WORKER, answered) as origin, chromium(program) as browser:
        address = {page: urljoin(origin, address_of(site.name(page))) for page in site.pages}
        _use_pages(site, address, origin, browser, program)
        if check:
            offline = site.works_offline()
        changes = site.changes(offline)
        is_right = not changes
        _put_right([change for change in changes if change.data is not None], check)
        # what pages load is known once all is in place
        if not check or (offline and is_right):
            answered.clear()
            _look_at_pages(site, address, browser, program)
            if offline:
                site.tell_of_workers(origin)
                # not all of it is told by pages: those of shared workers are none of theirs
                loaded = {urljoin(origin, path) for path in answered}
                loaded |= {urljoin(origin, address_of(site.name(path))) for path in site.separate()}
                script = offline_worker.script(loaded, origin, site.root)
                change = site.text_change(site.root / offline_worker.SCRIPT, script)
                is_right = _put_right(change, check) and is_right
        # what is stale goes when nothing names it any more: who stops this before has a site that works
        _put_right([change for change in changes if change.data is None], check)
    for problem in site.problems:
        print(f"! {problem}")
    if check and not is_right:
        print(f"! out of date: run `rose freeze {root}`")
    return 1 if site.problems or (check and not is_right) else 0


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    """While nobody else freezes this folder, who would take what is on its way for leftovers."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ImportError:  # on Windows
        yield
        return
    folder = os.open(root, os.O_RDONLY)
    try:
        with suppress(OSError):  # not all drives have locks
            try:
                flock(folder, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                told = f"waiting until another `rose freeze` of {root} has ended"
                print(told, file=sys.stderr, flush=True)
                flock(folder, LOCK_EX)
        yield
    finally:
        os.close(folder)


def _use_pages(
    site: Site, address: Mapping[Path, str], origin: str, browser: Browser, program: str | None
) -> None:
    """Use the pages at these addresses as a reader would, and note what they compile."""
    # what has been compiled, now or before, is what it would be if it were again, or is not taken for it
    known = site.known()

    def visit(browser: Browser, page: Path) -> Visit:
        visit = first_visit(browser, known, address[page])
        known.update((artifact.key, artifact) for artifact in visit.artifacts)
        return visit

    def tell(page: Path, visit: Visit) -> None:
        kept = site.take(page, visit, origin)
        seen = counted(len(visit.artifacts), "program") + _hint(visit, kept)
        print(f"{site.name(page)}: {seen}", flush=True)

    spread(site.pages, visit, tell, browser, program)


def _look_at_pages(site: Site, address: Mapping[Path, str], browser: Browser, program: str | None) -> None:
    """Open the pages at these addresses when all is frozen."""

    def visit(browser: Browser, page: Path) -> Visit:
        return look(browser, address[page])

    spread(site.pages, visit, site.note_look, browser, program)


def _hint(visit: Visit, kept: int) -> str:
    """What an author may not know of a page that failed, or of which too little is seen."""
    kinds = sorted(visit.unseen)
    unseen = "".join(f" (what a worker from a {kind} address compiles is not seen)" for kind in kinds)
    if len(visit.openings) > visit.opened:
        unseen += (
            f" (of the queries and stored values with which it reloads itself, {visit.opened} were tried)"
        )
    if visit.has_left:
        unseen += " (it keeps adding inputs, of which only some were moved)"
    if visit.is_untried:
        unseen += " (there was too much to do on it to try everything)"
    if visit.many:
        names = ", ".join(sorted(visit.many))
        unseen += f" (each position of {names} makes a program of its own: pass its number as an argument)"
    if kept:
        return f", and {kept} kept from before, as something went wrong{unseen}"
    if visit.artifacts or visit.errors or unseen or not visit.has_rose:
        return unseen
    return " (if something else makes it compile, export a function warmUp that does that)"


def _put_right(changes: list[Change], check: bool) -> bool:
    """Tell of changes and, if not only to check, make them; whether there was nothing to do."""
    for change in changes:
        print(f"  {change.text}")
        if not check:
            change.make()
    return not changes
