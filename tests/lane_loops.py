"""The loops that are written in lanes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rose_core.wasm.lane_code import FlatWriter
from rose_core.wasm.lane_writer import Writer


def noted(monkeypatch: pytest.MonkeyPatch, of: Callable[[Writer], Any]) -> list[Any]:
    """What ``of`` says of each that is written from then on."""
    found = []
    loop = Writer.loop

    def note(self: Writer, *args: Any) -> None:
        found.append(of(self))
        loop(self, *args)

    monkeypatch.setattr(Writer, "loop", note)
    return found


def recurrences(monkeypatch: pytest.MonkeyPatch) -> list[list[Any]]:
    """The recurrences of each that is written from then on."""
    return noted(
        monkeypatch, lambda of: list(of.lanes.recurrences.values()) if isinstance(of, FlatWriter) else []
    )
