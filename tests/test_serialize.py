"""What Python has traced comes back the same from its recording."""

from __future__ import annotations

import math

import pytest
from random_programs import RandomProgram, duals, flat

import rose_core as rose
from rose_core import Real, RunError, Vec, compile, fn, jvp, vjp
from rose_core.derivatives.expand import Expansion
from rose_core.language.check import check
from rose_core.language.interp import call as run
from rose_core.recording.rebuild import rebuilt
from rose_core.recording.serialize import serialize
from rose_core.tracing.functions import Function
from rose_core.tracing.values import build, flatten_args

R3 = Vec(3, Real)
V = [0.3, 0.5, 0.7]


def back(f: Function) -> Function:
    """``f`` as the compiler gets it from a page."""
    root = rebuilt(f.func)
    check(Expansion(root).root)
    return Function(root)


def straight(f: Function, *args: object) -> object:
    """What ``f`` gives as it was traced, by the interpreter."""
    return build(run(Expansion(f.func).root, flatten_args(args, f.func.param_types, f.__name__)), f.func.ret)


def agrees(f: Function, *args: object) -> None:
    assert flat(compile(back(f))(*args)) == pytest.approx(flat(straight(f, *args)), rel=1e-12, nan_ok=True)


def gradient(f: Function) -> Function:
    """The gradient by the first argument."""
    params = f.func.param_types

    def body(*args: object) -> object:
        found = vjp(f)(*args).grad(1.0)
        return found if len(params) == 1 else found[0]

    return fn(params, params[0], body)


@pytest.mark.parametrize("seed", range(0, 150, 3))
def test_random_programs(seed: int) -> None:
    program = RandomProgram(seed)
    f = program.functions[-1]
    args = [program.argument(t) for t in f.func.param_types]
    agrees(f, *args)
    agrees(jvp(f), *[duals(x, x) for x in args])


@fn
def wave(v: R3) -> Real:
    return rose.sum(3, lambda i: rose.sin(v[i]) * v[0])


@fn
def spiral(v: R3) -> Real:
    """Loops with a state, choices and closures."""
    s = rose.fori(
        4,
        R3,
        v,
        lambda i, s: [
            s[1] * v[0],
            s[2] - 0.1,
            rose.cond(s[0] > 0.3, Real, lambda: s[0] * v[1], lambda: s[2]),
        ],
    )
    _, ys = rose.scan(3, Real, s[0], lambda x, i: (x * v[i], x + v[2]))
    end = rose.while_loop(Real, ys[2], lambda x: x < 9, lambda x: 2 * x + v[1], limit=50, checkpoint=2)
    return end + ys[0]


@fn
def solved(v: R3) -> Real:
    """Functions of functions, whose derivatives are rules."""
    x = rose.root(lambda x: x * x * x - v[0], 1.0)
    area = rose.quad(lambda t: rose.sin(t * v[1]) * x, 0.0, v[2])
    y = rose.odeint(lambda y, t: [y[1], -v[0] * y[0]], [x, area], [0.0, 0.5])
    return y[1][0] * area


@fn
def series(v: R3) -> Real:
    return rose.jet(fn([Real], Real, lambda x: rose.exp(x * x)), 3)([v[0], v[1], v[2], 0.0])[3]


@fn
def updated(v: R3) -> Real:
    zeros = rose.vec(3, Real, lambda i: 0.0)
    return rose.fori(3, R3, zeros, lambda i, s: s.at[i].set(v[i] * v[0] + s[0]))[2]


@pytest.mark.parametrize("f", [wave, spiral, solved, series, updated], ids=lambda f: f.__name__)
def test_derivatives(f: Function) -> None:
    agrees(f, V)
    agrees(gradient(f), V)
    slope = fn([R3], Real, lambda v: gradient(f)(v)[1])
    agrees(gradient(slope), V)


def test_custom_derivatives_stay() -> None:
    half = fn([Real], Real, lambda x: x * x)
    half.jvp = fn([rose.Dual], rose.Dual, lambda d: {"re": half(d.re), "du": d.du * d.re})
    f = fn([Real, Real], Real, lambda x, y: half(x) * y)
    assert compile(back(gradient(f)))(3.0, 2.0) == 6.0  # half of what the body would give
    agrees(gradient(rose.checkpoint(f)), 3.0, 2.0)


def test_literals_of_all_kinds() -> None:
    f = fn([Real], Vec(4, Real), lambda x: [x + math.inf, x * -0.0, math.nan, x - 1e300])
    found = compile(back(f))(1.0)
    assert found[0] == math.inf and math.copysign(1, found[1]) == -1
    assert math.isnan(found[2]) and found[3] == -1e300


def test_notes_say_the_same() -> None:
    def text(f: Function) -> str:
        with pytest.raises(RunError) as caught:
            compile(f)(-1.0)
        return str(caught.value)

    rootless = fn([Real], Real, lambda x: rose.root(lambda y: y * y - x, 1.0))
    endless = fn([Real], Real, lambda x: rose.while_loop(Real, x, lambda y: y < 0, lambda y: y, limit=5))
    element = fn([Real], Real, lambda x: rose.fori(2, R3, V, lambda i, v: v)[rose.index(3, x)])
    trips = fn([Real], Real, lambda x: rose.fori(x, Real, x, lambda i, y: y))
    shifted = fn(
        [Real], Real, lambda x: rose.fori(2, R3, V, lambda i, v: v)[rose.isub(3, rose.index(3, -x), 2)]
    )
    for f, what in (
        (rootless, "root: "),
        (endless, "while_loop: "),
        (element, "index: "),
        (trips, "fori: "),
        (shifted, "isub: "),
    ):
        assert text(f).startswith(what)
        assert text(back(f)) == text(f)


def test_equal_functions_are_one() -> None:
    program = serialize([wave.func, gradient(wave).func, wave.func])
    assert [f["name"] for f in program.functions].count("wave") == 1
