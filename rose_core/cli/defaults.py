"""Defaults of parameters as JSON."""

from __future__ import annotations

import json
import re

from rose_core.tracing.functions import Function
from rose_core.tracing.values import build, flatten

_INFINITY = re.compile(r'(?<!["\w])Infinity(?!["\w])')
_NAN = re.compile(r'(?<!["\w])NaN(?!["\w])')
"""As values, and not within names of fields."""


def defaults_of(f: Function) -> list[str]:
    """The defaults of the last parameters as JSON, which has no NaN, but can say what is read as infinite.

    One of another type than its parameter is no argument, and none that can be left out.
    """
    found: list[str] = []
    for name, t in zip(reversed(f.func.param_names), reversed(f.func.param_types), strict=False):
        try:
            text = json.dumps(build(flatten(f.defaults[name], t, name), t), ensure_ascii=False)
        except (LookupError, TypeError, ValueError):
            break
        if _NAN.search(text):
            break
        found.insert(0, _INFINITY.sub("1e999", text))
    return found
