"""Rules that authors write for derivatives, with loops, choices and updates: those of what has no rule."""

from __future__ import annotations

import pytest
from engines import same
from random_programs import flat
from random_rules import Rule, slope

from rose_core import compile, fn, struct, vjp


def gradient(f):
    """By all arguments that are numbers."""
    types = f.func.param_types
    fields = {str(k): t for k, t in enumerate(types[:3])}
    return fn(types, struct(fields), lambda *args: dict(zip(fields, vjp(f)(*args).grad(1.0), strict=False)))


@pytest.mark.parametrize("seeds", [range(k, k + 10) for k in range(0, 60, 10)], ids=str)
def test_random_rules(seeds) -> None:
    for seed in seeds:
        rule = Rule(seed)
        ruled, plain = gradient(rule.ruled), gradient(rule.plain)
        if seed % 2:
            ruled, plain = (gradient(slope(f, rule)) for f in (ruled, plain))
        args = rule.args()
        expected = flat(compile(plain)(*args))
        scale = max(map(abs, expected))
        assert flat(same(ruled, *args)) == pytest.approx(expected, rel=1e-10, abs=1e-10 * scale)
