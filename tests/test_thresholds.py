"""What the compiler does with what is long or large, it does with small programs where little is much.

That changes how something is computed, and the last bits of derivatives, but no value.
"""

from __future__ import annotations

from random import Random

import pytest
import random_orbits
from differences import assert_derivatives
from engines import engines
from random_nests import RandomNest
from random_programs import flat
from random_rules import Rule
from random_updates import N, program
from test_random_rules import gradient

from rose_core import Real, Vec, cond, fn, fori, interp, sin, value_and_grad, vec
from rose_core.derivatives import (
    alike,
    compared,
    cotangents,
    linearize_control,
    nearest,
    passing,
    promoted,
    settled,
    tape,
    transpose_control,
    updates,
)
from rose_core.optimise import (
    carried,
    demanded,
    ends,
    fused,
    inline,
    interchange,
    invariants,
    jam,
    pieces,
    unroll,
)
from rose_core.wasm import (
    enclosed,
    lane_code,
    lane_order,
    lanes,
    layout,
    lower_loops,
    parts,
    recurrences,
    reuse,
)

THRESHOLDS = [
    (alike, "LEAST_WORK", [-1000, 100]),
    (compared, "_MOST_TRIPS", [2, 64]),
    (cotangents, "_MOST_IN_VARIABLES", [0, 2, 100]),
    (linearize_control, "_MOST_IN_SIDE", [0, 2, 20]),
    (linearize_control, "_MOST_UNUSED", [0, 3, 10]),
    (nearest, "_FEW", [0, 100]),
    (passing, "_MOST_BETWEEN", [0, 1]),
    (promoted, "_MOST", [0, 1]),
    (settled, "_MOST_EARLY", [0, 1]),
    (tape, "_SHORT_TAPE", [1, 3]),
    (tape, "_LONGEST_TAPE", [1, 3]),
    (tape, "_SHORT", [0, 100]),
    (transpose_control, "_MOST_LEVELS", [1, 2]),
    (transpose_control, "_SHORT_TAPE", [0, 2]),
    (updates, "_FEW", [0, 1, 4]),
    (carried, "_MOST", [1, 20]),
    (demanded, "_MOST_ROUNDS", [1]),
    (ends, "_MOST", [0, 1, 20]),
    (ends, "_LEAST_BESIDE", [0]),
    (fused, "LEAST_SHARED", [0]),
    (inline, "MOST_TRIPS", [0, 2, 64]),
    (interchange, "_LEAST_TRIPS", [2]),
    (invariants, "_FEWEST_TRIPS", [1, 2]),
    (jam, "MOST_TRIPS", [2, 8]),
    (pieces, "MOST", [1, 2]),
    (unroll, "MOST_TRIPS", [0, 2]),
    (enclosed, "_SHORTEST", [1]),
    (enclosed, "_SHORT", [0, 200]),
    (enclosed, "_FEW", [0, 20]),
    (lane_code, "_MOST_TRIPS", [2]),
    (lane_order, "_MOST_OWN", [0, 1]),
    (lanes, "_EFFORT_IN_ITERATION", [0]),
    (layout, "MOST_SCALARS", [1, 3]),
    (layout, "MOST_POINTERS", [1, 4]),
    (lower_loops, "_CHUNK", [1, 2, 3]),
    (parts, "LONGEST", [30, 100]),
    (recurrences, "_SHORT", [0, 1000]),
    (reuse, "_FAR", [0, 2]),
]
"""Constants of modules, and what they may be as well."""


def nests(seed: int):
    nest = RandomNest(2000 + seed)
    return [nest.value, nest.grad, *([nest.twice] if seed % 3 == 0 else [])], nest.args


def updated(seed: int):
    draw = Random(seed)
    m = [[draw.uniform(-1, 1) for _ in range(N)] for _ in range(N)]
    f = program(3000 + seed)
    return [f, gradient(f)], [m, [draw.uniform(-1, 1) for _ in range(N)]]


def ruled(seed: int):
    rule = Rule(1000 + seed)
    return [rule.ruled, gradient(rule.ruled)], rule.args()


def orbiting(seed: int):
    orbits = random_orbits.Orbits(4000 + seed)
    f = random_orbits.total(orbits.function)
    return [f, value_and_grad(f, [0, 1, 2, 3, 4, 6])], orbits.args()


@pytest.mark.parametrize("make", [nests, updated, ruled, orbiting])
@pytest.mark.parametrize("seeds", [range(k, k + 6) for k in range(0, 12, 6)], ids=str)
def test_what_is_long_or_large(monkeypatch, make, seeds) -> None:
    for seed in seeds:
        functions, args = make(seed)
        expected = [flat(interp(f)(*args)) for f in functions]
        draw = Random(seed)
        with monkeypatch.context() as few:
            for module, name, values in THRESHOLDS:
                if draw.random() < 0.5:
                    few.setattr(module, name, draw.choice(values))
            functions, args = make(seed)
            found = []
            for f in functions:
                compiled, interpreted = engines(f)
                found.append(flat(compiled(*args)))
                assert repr(found[-1]) == repr(flat(interpreted(*args)))
        assert found[0] == expected[0]
        for numbers, usual in zip(found[1:], expected[1:], strict=True):
            scale = max([1.0, *map(abs, usual)])
            assert numbers == pytest.approx(usual, rel=1e-9, abs=1e-11 * scale)


def test_choices_that_add_to_accumulators_run_once(monkeypatch) -> None:
    """Though what they keep would be handed on more often than is usual."""
    monkeypatch.setattr(transpose_control, "_MOST_LEVELS", 1)
    monkeypatch.setattr(transpose_control, "_SHORT_TAPE", 0)
    v = Vec(4, Real)

    def iteration(i, s, x):
        return cond(s[i] > 0.1, v, lambda: vec(4, Real, lambda j: s[j] * sin(x[j])), lambda: s)

    f = fn([v], Real, lambda x: fori(4, v, x, lambda i, s: iteration(i, s, x))[0])
    assert_derivatives(f, [0.7, -0.4, 0.3, 0.9])
