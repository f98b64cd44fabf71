"""Both ways to run a function: for tests of what both give."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from random_programs import flat

from rose_core import RunError, api, compile, interp
from rose_core.language.check import check
from rose_core.recording.rebuild import expanded
from rose_core.tracing.functions import Function


def engines(f: Function) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """``f`` compiled and interpreted, of one expansion, which must follow the typing rules."""
    root = expanded(f.func)
    check(root)
    with patch.object(api, "expanded", lambda *_: root):
        return compile(f), interp(f)


def same(f: Function, *args: object) -> Any:
    """What both engines give, to the bit, and a compiled function twice."""
    compiled, interpreted = engines(f)
    found = compiled(*args)
    assert repr(found) == repr(interpreted(*args)) == repr(compiled(*args))
    return found


def same_numbers(f: Function, *args: object) -> Any:
    """What both engines give, to the bit, and nothing in it is NaN."""
    found = same(f, *args)
    assert not any(map(math.isnan, flat(found)))
    return found


def same_outcome(f: Function, *args: object) -> Any:
    """What both engines give, to the bit; of errors the text. A compiled function survives them."""
    compiled, interpreted = engines(f)
    found = outcome(compiled, *args)
    assert repr(found) == repr(outcome(interpreted, *args)) == repr(outcome(compiled, *args))
    return found


def outcome(run: Callable[..., Any], *args: object) -> Any:
    """What running gives: a value, or the text of what went wrong."""
    try:
        return run(*args)
    except RunError as error:
        return str(error)
