"""What does harm in iterations of a loop in which nobody needs it.

It may fail, go on for long, or have an infinite derivative, which times 0 is no number.
"""

from __future__ import annotations

from rose_core.language.ir import LOOP, Func
from rose_core.language.ops import FAILS, REGULAR
from rose_core.language.queries import callees_first

HARMFUL = FAILS.union(REGULAR)
"""Operations that may."""


def is_harmful(f: Func) -> bool:
    """Whether a function may; of what is not known yet, that is so."""
    if "harmful" not in f.memo:
        for g in callees_first(f, lambda g: () if "harmful" in g.memo else g.callees):
            g.memo["harmful"] = _is_harmful(g)
    return bool(f.memo["harmful"])


def _is_harmful(f: Func) -> bool:
    """As `is_harmful`, where that is known of what ``f`` calls."""
    is_made = bool(f.code or f.results) and not (f.host or f.origin or f.instance)
    if not is_made or any(g.memo["harmful"] for g in f.callees):
        return True
    return any(
        ins[0] in HARMFUL or (ins[0] == LOOP and (ins[3] >= 0 or f.specs[ins[1]].must_end)) for ins in f.code
    )
