"""Which functions may fail, or go on for long: these are not to be called where nobody needs the result."""

from __future__ import annotations

from rose_core.language.ir import LOOP, Func, callees_first
from rose_core.language.ops import FAILS


def may_fail(f: Func) -> bool:
    """Whether ``f`` may fail; what is not known yet may."""
    if "may fail" not in f.memo:
        for g in callees_first(f, lambda g: () if "may fail" in g.memo else g.callees):
            g.memo["may fail"] = _is_failing(g)
    return bool(f.memo["may fail"])


def _is_failing(f: Func) -> bool:
    """As `may_fail`, where that is known of what ``f`` calls."""
    is_made = bool(f.code or f.results) and not (f.host or f.origin or f.instance)
    if not is_made or any(g.memo["may fail"] for g in f.callees):
        return True
    return any(
        ins[0] in FAILS or (ins[0] == LOOP and (ins[3] >= 0 or f.specs[ins[1]].must_end)) for ins in f.code
    )
