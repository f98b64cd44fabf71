"""Pages that are used in several browsers at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Barrier, Event, get_ident

import pytest

from rose_core.cli import several


@contextmanager
def other(program: str | None) -> Iterator[str]:
    yield f"another {program}"


@pytest.fixture(autouse=True)
def browsers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(several, "MOST", 3)
    monkeypatch.setattr(several, "chromium", other)


def test_each_is_told_of_once_in_order() -> None:
    told: list[tuple[int, int]] = []
    later = Event()

    def act(browser: object, item: int) -> int:
        if item == 0:
            assert later.wait(10)  # the others go on meanwhile
        if item == 9:
            later.set()
        return item * item

    several.spread(range(10), act, lambda item, result: told.append((item, result)), "one", "kind")  # type: ignore[arg-type]
    assert told == [(item, item * item) for item in range(10)]


@pytest.mark.parametrize(("items", "count"), [(1, 1), (2, 2), (3, 3), (9, 3)])
def test_a_browser_keeps_to_its_thread(items: int, count: int) -> None:
    """And there are no more of them than are of use."""
    threads: dict[object, set[int]] = {}
    all_there = Barrier(count)

    def act(browser: object, item: int) -> None:
        if item < count:
            all_there.wait(10)
        threads.setdefault((browser, get_ident()), set()).add(item)

    several.spread(range(items), act, lambda item, result: None, "one", "kind")  # type: ignore[arg-type]
    assert len(threads) == len({ident for _, ident in threads}) == count
    assert [browser for browser, ident in threads if ident == get_ident()] == ["one"]
    assert sorted(item for found in threads.values() for item in found) == list(range(items))


@pytest.mark.parametrize("where", ["one", "another kind"])
def test_a_failure_anywhere_ends_it(where: str) -> None:
    begun: list[int] = []
    all_there = Barrier(3)

    def act(browser: object, item: int) -> None:
        begun.append(item)
        if item < 3:
            all_there.wait(10)
        if browser == where:
            raise ValueError(where)

    with pytest.raises(ValueError, match=where):
        several.spread(range(100), act, lambda item, result: None, "one", "kind")  # type: ignore[arg-type]
