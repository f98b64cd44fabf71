"""Reverse mode of a loop into which one number varies, in both ways: by a column, and by a tape."""

from __future__ import annotations

import pytest

from rose_core.derivatives import linearize_control


@pytest.fixture(name="way", params=["column", "tape"], autouse=True)
def both_ways(request, monkeypatch):
    """Runs every test of a module that imports it in both ways."""
    if request.param == "tape":
        monkeypatch.setattr(linearize_control, "only_source", lambda *_: None)
    return request.param
