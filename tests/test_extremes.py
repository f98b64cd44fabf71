"""Loops that find the least or the largest: their gradients are those of the loop, and take one iteration."""

from __future__ import annotations

import builtins
import math
import random

import lane_loops
import pytest
from engines import same
from random_iterations import Iterations
from test_growth import functions

from rose_core import (
    Real,
    RunError,
    Vec,
    compile,
    cond,
    cos,
    exp,
    fn,
    fori,
    grad,
    hessian,
    igt,
    imod,
    index,
    interp,
    jvp,
    max,
    min,
    not_,
    select,
    sin,
    struct,
    sum,
    vjp,
)
from rose_core.derivatives import expand
from rose_core.derivatives.expand import Expansion
from rose_core.derivatives.extremes import FEWEST_TRIPS
from rose_core.recording.rebuild import expanded
from rose_core.wasm.program import Program

N, M = 3, 20
A, B = Vec(N, Vec(2, Real)), Vec(M, Vec(2, Real))


@pytest.fixture
def found(monkeypatch):
    """The recurrences of each loop that is written in lanes from then on."""
    return lane_loops.recurrences(monkeypatch)


def points(n: int, seed: int) -> list[list[float]]:
    draw = random.Random(seed)
    return [[draw.uniform(-1, 1), draw.uniform(-1, 1)] for _ in range(n)]


def numbers(n: int, seed: int) -> list[float]:
    return [p for p, _ in points(n, seed)]


def is_searched(f) -> bool:
    """Whether the gradient of ``f`` finds iterations."""
    return any("search" in g.name for g in functions(Expansion(gradient(f).func).root))


def gradient(f):
    """The gradient by all arguments: where these are several, a struct."""
    types = f.func.param_types
    if len(types) == 1:
        return fn(types, types[0], lambda x: vjp(f)(x).grad(1))
    struct = {str(k): t for k, t in enumerate(types)}
    return fn(types, struct, lambda *args: {str(k): x for k, x in enumerate(vjp(f)(*args).grad(1))})


def slopes(f, args) -> list[float]:
    """The gradient, compiled and interpreted, as numbers in a row."""
    g = gradient(f)
    found = compile(g)(*args)
    assert repr(found) == repr(interp(g)(*args))
    return flat(found)


def flat(x) -> list[float]:
    if isinstance(x, dict):
        return [y for item in x.values() for y in flat(item)]
    return [y for item in x for y in flat(item)] if isinstance(x, list) else [x]


def forward(f, args) -> list[float]:
    """The gradient by forward mode, which runs the loop as it is."""
    types = f.func.param_types

    def dual(x, dx):
        if isinstance(x, list) or hasattr(x, "__len__"):
            return [dual(x[k], dx[k]) for k in range(len(x))]
        return {"re": x, "du": dx}

    along = compile(
        fn(
            [*types, *types],
            Real,
            lambda *xs: (
                jvp(f)(*[dual(x, dx) for x, dx in zip(xs[: len(types)], xs[len(types) :], strict=True)]).du
            ),
        )
    )
    count = len(flat(list(args)))
    return [along(*args, *like(list(args), [float(j == k) for j in range(count)])) for k in range(count)]


def like(x, numbers):
    """The numbers in the shape of ``x``."""
    numbers = iter(numbers)

    def fill(x):
        return [fill(y) for y in x] if isinstance(x, list) else next(numbers)

    return fill(x)


def distance(p, q):
    return (p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1])


def nearest(extreme, start):
    def body(a, b):
        return sum(N, lambda i: fori(M, Real, start, lambda j, s: extreme(s, distance(a[i], b[j]))))

    return fn([A, B], Real, body)


@pytest.mark.parametrize(("extreme", "start"), [(min, math.inf), (max, -math.inf), (max, 0.0)])
def test_nearest_points(extreme, start) -> None:
    f = nearest(extreme, start)
    assert is_searched(f)
    args = points(N, 1), points(M, 2)
    assert slopes(f, args) == pytest.approx(forward(f, args), rel=1e-14, abs=1e-15)


@pytest.mark.parametrize("twins", [(3, 7), (3, 7, 8, 19), tuple(range(M))])
def test_each_of_several_has_its_share(twins) -> None:
    f = nearest(min, math.inf)
    a, b = points(N, 1), points(M, 2)
    for k in twins:
        b[k] = [a[0][0] + 1e-3, a[0][1]]
    assert slopes(f, (a, b)) == pytest.approx(forward(f, (a, b)), rel=1e-14, abs=1e-15)


@pytest.mark.parametrize("extreme", [min, max])
@pytest.mark.parametrize("special", [math.nan, math.inf, -math.inf, -0.0, 0.0])
@pytest.mark.parametrize("start", [math.inf, -math.inf, 0.0, -0.0])
def test_numbers_that_are_none(extreme, special, start) -> None:
    """The interpreter runs the same search, so the loop is compared with one that is written out."""
    v = Vec(6, Real)
    f = fn([v], Real, lambda x: fori(6, Real, start, lambda k, s: extreme(s, x[k])))

    def written_out(x, s):
        for k in range(6):
            s = extreme(s, x[k])
        return s

    g = fn([v, Real], Real, written_out)
    xs = [[1.0, special, 2.0, -3.0, special, 0.5], [0.0, -0.0, 0.0, special, -0.0, 0.0], [special] * 6]
    for x in xs:
        assert repr(compile(f)(x)) == repr(interp(g)(x, start))
        assert slopes(f, (x,)) == compile(gradient(g))(x, start)["0"]


@pytest.mark.parametrize("start", [-5.0, 0.25, 5.0])
def test_a_start_that_varies(start) -> None:
    v = Vec(M, Real)
    f = fn([v, Real], Real, lambda x, s: sin(fori(M, Real, s * s * s, lambda k, s: min(x[k] * x[k], s))))
    x = numbers(M, 3)
    assert slopes(f, (x, start)) == pytest.approx(forward(f, (x, start)), rel=1e-14, abs=1e-15)


def test_least_and_largest_together() -> None:
    """The box around points."""
    state = {"low": Real, "high": Real}

    def width(b, c):
        box = fori(
            M,
            state,
            {"low": math.inf, "high": -math.inf},
            lambda k, s: {"low": min(s.low, b[k][0] * c), "high": max(b[k][1] * b[k][0], s.high)},
        )
        return box.high * box.high - box.low

    f = fn([B, Real], Real, width)
    args = points(M, 4), 1.5
    assert is_searched(f)
    assert slopes(f, args) == pytest.approx(forward(f, args), rel=1e-13, abs=1e-14)


def by_index(x, n):
    return fori(n, Real, x[0] + 9.0, lambda k, s: min(s, x[imod(M, k)] * x[imod(M, k)] - x[imod(M, k)]))


def by_number(x, n):
    return fori(n, Real, x[0] + 9.0, lambda k, s: min(s, x[index(M, k)] * 2.0))


@pytest.mark.parametrize("trips", [0, 1, 7, M])
@pytest.mark.parametrize(("f", "count"), [(by_index, M + 1), (by_number, Real)])
def test_iterations_that_are_known_when_it_runs(trips, f, count) -> None:
    v = Vec(M, Real)

    def along(x, n, dx):
        return jvp(fn([v], Real, lambda x: f(x, n)))([{"re": x[k], "du": dx[k]} for k in range(M)]).du

    x = numbers(M, 5)
    g = fn([v, count], v, lambda x, n: vjp(fn([v], Real, lambda x: f(x, n)))(x).grad(1))
    found, slope = compile(g)(x, trips), compile(fn([v, count, v], Real, along))
    assert found == interp(g)(x, trips)
    for k in range(M):
        expected = slope(x, trips, [float(j == k) for j in range(M)])
        assert found[k] == pytest.approx(expected, rel=1e-14, abs=1e-15)


def test_without_iterations_none_is_run() -> None:
    """Of which each would fail."""
    v = Vec(M, Real)

    def body(x, n):
        return fori(n, Real, x[0], lambda k, s: max(s, x[index(M, x[1])] * x[1]))

    g = fn([v, M + 1], v, lambda x, n: vjp(fn([v], Real, lambda x: body(x, n)))(x).grad(1))
    x = [3.0, 0.5, *numbers(M - 2, 5)]
    assert same(g, x, 0) == [1.0] + [0.0] * (M - 1)
    with pytest.raises(RunError, match=r"0\.5 cannot be an index"):
        compile(g)(x, 1)


def test_in_a_choice_and_in_a_loop() -> None:
    v = Vec(M, Real)

    def least(x, c):
        return fori(M, Real, math.inf, lambda k, s: min(s, (x[k] - c) * (x[k] - c)))

    def body(x):
        def iteration(_, c):
            return cond(c > 0.3, Real, lambda: c + least(x, c), lambda: c + 0.1 + least(x, c * x[0]))

        return fori(30, Real, 0.1, iteration)

    f = fn([v], Real, body)
    x = numbers(M, 6)
    assert slopes(f, (x,)) == pytest.approx(forward(f, (x,)), rel=1e-9, abs=1e-10)


def test_for_each_of_many(found) -> None:
    """What a loop around finds for each of its iterations is found in lanes: only the way back chooses."""
    v, w = Vec(7, Real), Vec(M, Real)
    f = fn(
        [v, w],
        Real,
        lambda x, y: sum(7, lambda i: fori(M, Real, 0.75, lambda j, s: min(s, (x[i] - y[j]) ** 2))),
    )
    x, y = numbers(7, 3), numbers(M, 4)
    x[3] = y[7] + 1.0  # farther than the start
    x[5] = (y[2] + y[11]) / 2
    y[11] = 2 * x[5] - y[2]
    assert slopes(f, (x, y)) == pytest.approx(forward(f, (x, y)), rel=1e-13, abs=1e-15)
    assert any(found)


def test_second_derivatives() -> None:
    v = Vec(M, Real)
    f = fn([v], Real, lambda x: sin(fori(M, Real, -math.inf, lambda k, s: max(s, x[k] * x[k] * x[k]))))
    x = numbers(M, 7)
    g, h = gradient(f), hessian(f)
    found = compile(h)(x)
    assert found == interp(h)(x)
    for k in range(M):
        up, down = ([x + d * (j == k) for j, x in enumerate(x)] for d in (1e-6, -1e-6))
        difference = [(a - b) / 2e-6 for a, b in zip(compile(g)(up), compile(g)(down), strict=True)]
        assert found[k] == pytest.approx(difference, rel=1e-6, abs=1e-7)


NUMBERS = {"square": Real, "x": Real}
NEAREST = {**NUMBERS, "of": M, "point": Vec(2, Real)}


def replace_if(p, t, a, b):
    return select(p, t, a, b)


def replace_unless(p, t, a, b):
    return select(not_(p), t, b, a)


@pytest.mark.parametrize("choose", [replace_if, replace_unless])
@pytest.mark.parametrize("start", [9.0, 0.3, 0.0])
def test_the_nearest_and_another_number(choose, start, found) -> None:
    """A state of numbers only, which are found in lanes."""
    v, w = Vec(7, Real), Vec(M, Real)

    def body(x, y):
        def near(i):
            def iteration(j, s):
                d = (x[i] - y[j]) ** 2
                return choose(d < s.square, NUMBERS, {"square": d, "x": y[j] * x[i]}, s)

            s = fori(M, NUMBERS, {"square": start, "x": x[i]}, iteration)
            return sin(s.square) * s.x

        return sum(7, near)

    f = fn([v, w], Real, body)
    args = numbers(7, 9), numbers(M, 10)
    assert slopes(f, args) == pytest.approx(forward(f, args), rel=1e-13, abs=1e-15)
    assert any(found)


@pytest.mark.parametrize("choose", [replace_if, replace_unless])
@pytest.mark.parametrize("start", [9.0, 0.3, 0.0])
def test_the_nearest_and_where_it_is(choose, start) -> None:
    """A state of several parts, which the choice that replaces it depends on but one of."""

    def body(a, b):
        def near(i):
            def iteration(j, s):
                d = distance(a[i], b[j])
                new = {"square": d, "x": b[j][0] * a[i][1], "of": j, "point": b[j]}
                return choose(d < s.square, NEAREST, new, s)

            first = {"square": start, "x": a[i][0], "of": 0, "point": a[i]}
            s = fori(M, NEAREST, first, iteration)
            return sin(s.square) * s.x + s.point[1] * s.point[0] * b[s.of][0]

        return sum(N, near)

    f = fn([A, B], Real, body)
    assert is_searched(f)
    args = points(N, 9), points(M, 10)
    assert slopes(f, args) == pytest.approx(forward(f, args), rel=1e-13, abs=1e-15)
    g, square = fn([A, B], Real, lambda a, b: vjp(f)(a, b).ret), points(M, 11)
    assert compile(g)(args[0], square) == compile(f)(args[0], square)


def test_the_last_of_some() -> None:
    """The choice depends on nothing of the state."""
    v = Vec(M, Real)
    f = fn([v], Real, lambda x: fori(M, Real, 0.5, lambda k, s: select(x[k] > 0.0, sin(x[k]), s)))
    assert is_searched(f)
    x = numbers(M, 12)
    last = builtins.max(k for k in range(M) if x[k] > 0)
    assert slopes(f, (x,)) == forward(f, (x,))
    assert slopes(f, (x,)) == [math.cos(x[k]) if k == last else 0.0 for k in range(M)]
    assert slopes(f, ([-y * y for y in x],)) == [0.0] * M


def test_the_least_by_a_choice() -> None:
    """Of equals the first counts, in reverse as in forward mode."""
    v = Vec(M, Real)
    f = fn([v], Real, lambda x: fori(M, Real, x[0], lambda k, s: select(x[k] * x[k] < s, x[k] * x[k], s)))
    assert is_searched(f)
    x = numbers(M, 13)
    x[5] = x[11] = 1e-3
    assert slopes(f, (x,)) == forward(f, (x,))
    assert compile(fn([v], Real, lambda x: vjp(f)(x).ret))(x) == compile(f)(x) == interp(f)(x)


@pytest.mark.parametrize(
    "step",
    [
        lambda k, s, x: select(x[k] < s, x[k] * s, s),
        lambda k, s, x: select(x[k] < s, x[k], -s),
        lambda k, s, x: select(x[k] < s, x[k], x[0]),
        lambda k, s, x: select(x[k] < sum(M, lambda j: x[j] * s), sum(M, lambda j: x[j] * s), s),
    ],
)
def test_other_choices_stay(step) -> None:
    v = Vec(M, Real)
    f = fn([v], Real, lambda x: fori(M, Real, 1.0, lambda k, s: step(k, s, x)))
    assert not is_searched(f)
    x = numbers(M, 8)
    assert slopes(f, (x,)) == pytest.approx(forward(f, (x,)), rel=1e-13, abs=1e-14)


@pytest.mark.parametrize(
    "step",
    [
        lambda k, s, x: min(s, x[k] * s),
        lambda k, s, x: min(s, x[k]) + 0.0 * s,
        lambda k, s, x: min(s, sin(s)),
        lambda k, s, x: min(s, s),
        lambda k, s, x: s + x[k],
    ],
)
def test_other_loops_stay(step) -> None:
    v = Vec(M, Real)
    f = fn([v], Real, lambda x: fori(M, Real, 1.0, lambda k, s: step(k, s, x)))
    assert not is_searched(f)
    x = numbers(M, 8)
    assert slopes(f, (x,)) == pytest.approx(forward(f, (x,)), rel=1e-13, abs=1e-14)


@pytest.mark.parametrize(("trips", "searched"), [(FEWEST_TRIPS - 1, False), (FEWEST_TRIPS, True)])
def test_short_loops_stay(trips, searched) -> None:
    v = Vec(trips, Real)
    f = fn([v], Real, lambda x: fori(trips, Real, math.inf, lambda k, s: min(s, x[k] * x[k])))
    assert is_searched(f) == searched


def test_loops_in_loops() -> None:
    """The gradient of a minimum of minima does not double with each of them."""
    v = Vec(M, Real)

    def least(depth: int, x, c):
        if depth == 0:
            return c * c
        return fori(M, Real, math.inf, lambda k, s: min(s, sin(least(depth - 1, x, c + x[k]))))

    def size(depth: int) -> int:
        f = fn([v], Real, lambda x: least(depth, x, x[0]))
        return builtins.sum(len(g.code) for g in functions(Expansion(gradient(f).func).root))

    assert size(8) < 5 * size(4)
    f = fn([v], Real, lambda x: least(2, x, x[0]))
    x = numbers(M, 14)
    assert slopes(f, (x,)) == pytest.approx(forward(f, (x,)), rel=1e-13, abs=1e-15)


def test_each_of_many_is_found_by_itself() -> None:
    """The gradient of a loop that finds twice as many numbers has twice the code, and not four times."""

    def size(n: int) -> int:
        draw = random.Random(1)
        names = [f"m{k}" for k in range(n)]
        state = struct(**dict.fromkeys(names, Real))

        def step(x, i, s):
            functions = [draw.choice([sin, cos, exp]) for _ in names]
            found = [g(x[i] * (k + 0.5)) for k, g in enumerate(functions)]
            return {name: draw.choice([min, max])(s[name], y) for name, y in zip(names, found, strict=True)}

        def body(x):
            last = fori(M, state, dict.fromkeys(names, x[0]), lambda i, s: step(x, i, s))
            return builtins.sum(last[name] for name in names)

        return len(Program(expanded(grad(fn([Vec(M, Real)], Real, body)).func)).bytes)

    assert size(16) < 2.5 * size(8)


NEARLY = {
    "a least that another one is made of": lambda x, i, s: {
        "s": select(igt(M, i, 2), min(s.s, x[i]), s.s),
        "t": max(s.t, min(s.s, x[i])),
    },
    "a least of largest": lambda x, i, s: {"s": min(s.s, s.t), "t": max(s.t, x[i])},
    "a least of two others": lambda x, i, s: {"s": min(x[i], s.t), "t": max(s.t, x[i])},
    "replaced in different iterations": lambda x, i, s: {
        "s": select(x[i] > 0.2, x[i] * x[i], s.s),
        "t": select(x[i] < 0.4, x[i], s.t),
    },
}
"""Iterations whose state is nearly that of a search."""


@pytest.mark.parametrize("name", NEARLY)
def test_nearly_a_search(monkeypatch, name) -> None:
    state = struct(s=Real, t=Real)

    def body(x):
        last = fori(M, state, {"s": x[1], "t": x[2]}, lambda i, s: NEARLY[name](x, i, s))
        return last.s * 2.0 + last.t * last.s

    gradient = grad(fn([Vec(M, Real)], Real, body))
    compiled = compile(gradient)
    monkeypatch.setattr(expand, "by_extremes", lambda f: f)
    expected = compile(gradient)
    draw = random.Random(name)
    for _ in range(20):
        x = [draw.choice([draw.uniform(-1, 1), 0.3, -0.5]) for _ in range(M)]
        assert compiled(x) == pytest.approx(expected(x), rel=1e-13)


@pytest.mark.parametrize("seeds", [range(k, k + 20) for k in range(0, 100, 20)], ids=str)
def test_random_iterations(monkeypatch, seeds) -> None:
    """Gradients are those of loops as they are, where several are the least, too."""
    found = {seed: Iterations(seed) for seed in seeds}
    compiled = {seed: compile(grad(made.function, (0, 1, 2))) for seed, made in found.items()}
    monkeypatch.setattr(expand, "by_extremes", lambda f: f)
    for seed, made in found.items():
        expected = compile(grad(Iterations(seed).function, (0, 1, 2)))
        for args in map(made.args, range(4)):
            assert flat(compiled[seed](*args)) == pytest.approx(flat(expected(*args)), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("seed", [50568, 50768, 50980, 52576])
def test_second_derivatives_where_the_number_before_is_one_of_several(monkeypatch, seed) -> None:
    """Each has the share that it has in a loop as it is, there, too."""

    def second():
        f = Iterations(seed).function
        types = f.func.param_types

        def slope(g, x, *rest):
            return vjp(fn(types[:1], Real, lambda x: g(x, *rest)))(x).grad(1)

        def weighted(*args):
            return builtins.sum((k + 1.0) * slope(f, *args)[k] for k in range(6))

        return compile(fn(types, types[0], lambda *args: slope(weighted, *args)))

    compiled = second()
    monkeypatch.setattr(expand, "by_extremes", lambda f: f)
    expected = second()
    for args in map(Iterations(seed).args, range(4)):
        assert flat(compiled(*args)) == pytest.approx(flat(expected(*args)), rel=1e-12, abs=1e-14)
