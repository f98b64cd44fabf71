"""What is not asked of choices and loops is not computed, and all else is the same to the bit."""

from __future__ import annotations

from random import Random

import pytest
import random_choices
import random_states
import random_updates
from engines import same
from random_nests import RandomNest
from random_programs import flat

from rose_core import (
    Real,
    Vec,
    cond,
    exp,
    fn,
    fori,
    grad,
    interp,
    log,
    log1p,
    opaque,
    scan,
    sin,
    value_and_grad,
    while_loop,
)
from rose_core import sum as total
from rose_core.derivatives import expand
from rose_core.language.ir import LOOP
from rose_core.language.ops import code
from rose_core.language.queries import callees_first
from rose_core.recording.rebuild import expanded

N = 5
V = Vec(N, Real)
X = [0.25, -1.5, 0.75, 2.0, -0.5]


def trips(x, by=log):
    """A loop of whose state one number is only looked at in the end."""

    def iteration(i, s):
        a = s["a"] * x[i] + 1.0
        return {"a": a, "total": s["total"] + by(3.0 + a)}

    return fori(N, {"a": Real, "total": Real}, {"a": x[0], "total": 0.0}, iteration)


def soft(z):
    return cond(z > 0.0, Real, lambda: log1p(exp(-z)), lambda: log1p(exp(z)) - z)


def nested(x):
    def iteration(i, s):
        def inner(j, s):
            return {"a": sin(s["a"] * x[j]) + x[i], "total": s["total"] + log(2.0 + sin(s["a"]))}

        return fori(N, {"a": Real, "total": Real}, s, inner)

    return fori(3, {"a": Real, "total": Real}, {"a": x[0], "total": 0.0}, iteration)["total"]


def until(x):
    def body(s):
        return {"t": s["t"] + 0.5, "a": sin(s["a"] + x[1]), "total": s["total"] + log(2.0 + s["a"])}

    state = dict.fromkeys(("t", "a", "total"), Real)
    return while_loop(state, {"t": 0.0, "a": x[0], "total": 0.0}, lambda s: s["t"] < 2.0, body)["total"]


FORWARD_ONLY = {
    "a sum in a loop": (log, lambda x: trips(x)["total"]),
    "sides of a choice": (log1p, lambda x: total(N, lambda i: soft(x[i]))),
    "a loop in a loop": (log, nested),
    "a loop with a test": (log, until),
    "what a scan gives": (log, lambda x: scan(N, Real, x[0], lambda s, i: (s * x[i], log(9.0 + s)))[0]),
}
"""A function that only the value needs, and one that calls it."""


def called(f) -> set[int]:
    """The operations of a program."""
    return {ins[0] for g in callees_first(expanded(f.func)) for ins in g.code}


@pytest.mark.parametrize(("by", "body"), FORWARD_ONLY.values(), ids=FORWARD_ONLY)
def test_gradients_do_not_compute_values(by, body) -> None:
    f = fn([V], Real, body)
    gradient = same(grad(f), X)
    assert code(by.__name__) not in called(grad(f))
    assert gradient == same(value_and_grad(f), X).grad
    h = 1e-6
    for k, slope in enumerate(gradient):
        up, down = ([*X[:k], X[k] + d, *X[k + 1 :]] for d in (h, -h))
        assert slope == pytest.approx((interp(f)(up) - interp(f)(down)) / (2 * h), rel=1e-6, abs=1e-8)


def test_a_state_is_what_is_used_of_it() -> None:
    """And what that is computed of, iteration by iteration."""
    names = ["a", "b", "c", "d", "e"]

    def shifted(x):
        def iteration(i, s):
            return {"a": s["b"] + x[i], "b": sin(s["c"]), "c": s["a"], "d": s["e"] * s["a"], "e": s["d"]}

        return fori(N, dict.fromkeys(names, Real), dict.fromkeys(names, x[0]), iteration)["a"]

    f = fn([V], Real, shifted)
    same(f, X)
    root = expanded(f.func)
    assert [root.specs[ins[1]].carries for ins in root.code if ins[0] == LOOP] == [3]


def test_opaque_functions_are_called_all_the_same() -> None:
    seen = []
    look = opaque([Real], Real, lambda x: seen.append(x) or x)
    f = fn([V], Real, lambda x: trips(x, look)["a"])
    same(f, X)
    assert len(seen) == 3 * N


def outcomes(seed: int):
    """Values and gradients of random programs."""
    draw = Random(seed)
    programs = [m.program(seed) for m in (random_choices, random_states, random_updates)]
    found = []
    for f in programs:
        args = [numbers(draw, t) for t in f.func.param_types]
        found += [interp(f)(*args), flat(interp(grad(f, range(len(args))))(*args))]
    nest = RandomNest(seed)
    return [*found, flat(interp(nest.grad)(*nest.args))]


def numbers(draw: Random, t):
    return draw.uniform(-1, 1) if t is Real else [numbers(draw, t.elem) for _ in range(t.index.size)]


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = outcomes(seed)
    monkeypatch.setattr(expand, "demanded", lambda f: f)
    assert repr(found) == repr(outcomes(seed))
