"""Elements that sides of choices set are set after these: values to the bit, and the same derivatives."""

from __future__ import annotations

from random import Random

import pytest
from engines import same
from random_programs import flat

from rose_core import Real, Vec, abs, cond, floor, fn, fori, grad, iadd, imin, index, interp, isub, real, sin
from rose_core import sum as total
from rose_core.derivatives import expand
from rose_core.language.ir import COND, SET, Func
from rose_core.language.queries import among, callees_first, places
from rose_core.recording.rebuild import expanded
from tests.test_interchange import wave

N = 12
V = Vec(N + 2, Real)


def loop(step):
    """What is left of an array after some iterations, of another one."""
    return fn([V, Vec(N, Real)], V, lambda y, x: fori(N, V, y, lambda i, s: step(i, s, x)))


def loss(f):
    return fn([V, Vec(N, Real)], Real, lambda y, x: total(N + 2, lambda i: sin(f(y, x)[i] + real(i))))


def at(i, k: int):
    return iadd(N + 2, i, k)


STEPS = {
    "the same one": lambda i, s, x: cond(
        x[i] > 0.0, V, lambda: s.set(at(i, 1), 0.9 * s[i] + x[i]), lambda: s.set(at(i, 1), 0.5 * s[i])
    ),
    "one or none": lambda i, s, x: cond(x[i] > 0.0, V, lambda: s.set(at(i, 1), s[i] * x[i]), lambda: s),
    "none or one": lambda i, s, x: cond(x[i] > 0.0, V, lambda: s, lambda: s.set(i, s[at(i, 1)] * x[i])),
    "two that change places": lambda i, s, x: cond(
        s[i] > s[at(i, 1)], V, lambda: s.set(i, s[at(i, 1)]).set(at(i, 1), s[i]), lambda: s
    ),
    "the same two": lambda i, s, x: cond(
        s[i] > s[at(i, 1)],
        V,
        lambda: s.set(i, s[at(i, 1)]).set(at(i, 1), s[i]),
        lambda: s.set(i, x[i]).set(at(i, 1), s[at(i, 2)]),
    ),
    "one twice": lambda i, s, x: cond(
        x[i] > 0.0, V, lambda: s.set(i, x[i]).set(imin(N, i, 5), s[at(i, 1)] * x[i]), lambda: s
    ),
    "choices in choices": lambda i, s, x: cond(
        x[i] > 0.0,
        V,
        lambda: s.set(at(i, 2), s[i] * 0.5),
        lambda: cond(
            s[i] > 0.1,
            V,
            lambda: s.set(at(i, 2), s[at(i, 1)] + x[i]),
            lambda: s.set(at(i, 2), x[i]),
        ),
    ),
    "a constant one": lambda i, s, x: cond(x[i] > s[0], V, lambda: s.set(0, x[i] * s[0]), lambda: s),
    "different ones": lambda i, s, x: cond(
        x[i] > 0.0, V, lambda: s.set(i, x[i] * s[at(i, 1)]), lambda: s.set(at(i, 1), s[i] * x[i])
    ),
    "one that is read again": lambda i, s, x: cond(
        x[i] > 0.0, V, lambda: (lambda t: t.set(at(i, 1), t[imin(N, i, 3)]))(s.set(i, x[i])), lambda: s
    ),
    "one besides that is known only there": lambda i, s, x: cond(
        x[i] > 0.0,
        V,
        lambda: s.set(index(N + 2, floor(x[i])), s[i]).set(at(i, 1), x[i]),
        lambda: s.set(at(i, 1), s[i]),
    ),
    "several in one side": lambda i, s, x: cond(
        x[i] > 0.5, V, lambda: s.set(i, 1.0), lambda: s.set(at(i, 2), 2.0).set(0, 1.0)
    ),
    "beyond the end but where it is chosen": lambda i, s, x: cond(
        real(i) < 5.0, V, lambda: s.set(iadd(N + 2, iadd(N + 2, i, i), 3), x[i]), lambda: s
    ),
}
SUNK = {"the same one", "the same two", "choices in choices"}


def sets_in_sides(f: Func) -> bool:
    sides = {g for h in callees_first(f) for v in places(h, among([COND])) for g in h.callees}
    return any(places(g, among([SET])) for g in sides)


@pytest.mark.parametrize("name", STEPS)
def test_steps(name: str, monkeypatch) -> None:
    f = loop(STEPS[name])
    assert sets_in_sides(expanded(f.func)) == (name not in SUNK)
    alike(f, monkeypatch, wave(N + 2), wave(N, phase=1.0))


def alike(f, monkeypatch, *args) -> None:
    """The same with what sides of choices set, and without that being moved."""
    found = same(f, *args), same(grad(loss(f), [0, 1]), *args)
    with monkeypatch.context() as without:
        without.setattr(expand, "stored", lambda f: f)
        assert repr(interp(f)(*args)) == repr(found[0])
        assert flat(interp(grad(loss(f), [0, 1]))(*args)) == pytest.approx(
            flat(found[1]), rel=1e-12, abs=1e-14
        )


@pytest.mark.parametrize("seed", range(60))
def test_random(seed: int, monkeypatch) -> None:
    draw = Random(seed)
    args = [[draw.choice([draw.gauss(0, 1)] * 3 + [0.0, -0.0, 1.0]) for _ in range(n)] for n in (N + 2, N)]
    alike(loop(random_step(draw.randrange(1 << 30))), monkeypatch, *args)


def random_step(seed: int):
    """Choices in choices, whose sides set up to two elements of two arrays at a few places, and use more."""

    def step(i, s, x):
        draw = Random(seed)
        places = [i, at(i, 1), at(i, 2), imin(N, i, 4), isub(N + 2, N + 1, i), 3]
        some = draw.sample(places, 2)
        most = draw.choice([1, 2])

        def number(s):
            a, b = s[draw.choice(places)], x[i]
            return draw.choice([a, b, a * b, sin(a), a + b, -a, real(i) * 0.1, 0.0])

        def side(s, depth):
            kind = draw.randrange(6 if depth else 5)
            if kind == 5:
                return choice(s, depth - 1)
            for k in range(draw.choice([0, most, most, most])):
                place = draw.choice(some) if draw.random() < 0.1 else some[k]
                if draw.random() < 0.1:  # known in this side only
                    place = index(N + 2, floor(abs(x[i])))
                s = s.set(place, number(s))
            return s

        def choice(s, depth):
            p = draw.choice([lambda: x[i] > 0.0, lambda: s[i] > number(s), lambda: real(i) < 6.0])()
            return cond(p, V, lambda: side(s, depth), lambda: side(s, depth))

        t = choice(s, 2)
        return t.set(i, number(t)) if draw.random() < 0.2 else t

    return step
