"""Which functions a pass changes."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from rose_core.language.ir import Func


def noted(
    monkeypatch: pytest.MonkeyPatch,
    module: ModuleType,
    name: str,
    look: Callable[[Func], object] = lambda _: None,
) -> list[bool]:
    """Whether the pass that a module has by this name changes something, for each function from then on.

    ``look`` is shown what becomes of it.
    """
    found = []
    run = getattr(module, name)

    def note(f: Func, *args: Any) -> Func:
        made: Func = run(f, *args)
        look(made)
        found.append(made is not f)
        return made

    monkeypatch.setattr(module, name, note)
    return found
