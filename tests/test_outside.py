"""What is the same in all iterations of a loop with a state stands before it; the numbers are the same."""

from __future__ import annotations

from random import Random

import pytest

import rose_core as rose
from rose_core import (
    Real,
    Vec,
    compile,
    cond,
    cos,
    exp,
    fn,
    fori,
    grad,
    gt,
    ilt,
    imod,
    interp,
    lt,
    opaque,
    select,
    sin,
    vec,
    while_loop,
    xor,
)
from rose_core import sum as total
from rose_core.derivatives import expand
from rose_core.derivatives.expand import Expansion
from rose_core.language.ir import LOOP, Func, LoopSite
from rose_core.language.ops import code
from rose_core.language.queries import opcodes
from rose_core.tracing.functions import Function
from tests.random_programs import flat
from tests.test_unroll import wave

N = 6
V = Vec(N, Real)


def bodies(f: Func) -> list[Func]:
    """The bodies of the loops with a state."""
    return [LoopSite(f, ins).body for ins in f.code if ins[0] == LOOP]


def in_an_iteration(f: Function) -> int:
    """How many instructions there are in an iteration of the last loop of ``f``; those before it are moved
    ones.
    """
    return len(bodies(Expansion(f.func).root)[-1].code)


def agrees(f: Function, *args: object, monkeypatch) -> None:
    """Values are those that there are where all stays in the iterations, to the bit, and derivatives
    nearly.
    """
    varying = range(len(args))
    found = [repr(compile(f)(*args)), *(compile(gradient(f, k))(*args) for k in varying)]
    assert found[0] == repr(interp(f)(*args))
    with monkeypatch.context() as m:
        m.setattr(expand, "outside", lambda f: f)
        assert found[0] == repr(compile(f)(*args))
        for k in varying:
            assert flat(found[k + 1]) == pytest.approx(
                flat(interp(gradient(f, k))(*args)), rel=1e-11, abs=1e-12
            )


def gradient(f: Function, k: int) -> Function:
    """The gradient of all results, each times another number, by one argument."""
    params = f.func.param_types
    weights = wave(N, phase=0.4)

    def weighted(*args):
        y = f(*args)
        return total(N, lambda i: y[i] * vec(N, Real, weights)[i]) if f.func.ret is V else y

    return grad(fn(params, Real, weighted), k)


def decay(x, h):
    """A kernel that depends on no state."""
    return vec(N, Real, lambda i: exp(-h * x[i]))


def simulation(iteration) -> Function:
    return fn([V, Real], V, lambda x, h: fori(5, V, x, lambda k, s: iteration(x, h, k, s)))


def mixed(s, k):
    return vec(N, Real, lambda j: 0.9 * s[j] + 0.1 * k[j] * s[imod(N, j)])


def norm(x):
    return total(N, lambda i: x[i] * x[i])


def lowest(x):
    return fori(N, Real, 9.0, lambda i, m: cond(gt(m, x[i]), Real, lambda: x[i], lambda: m))


SAME = {
    "a vector": lambda x, h, k, s: mixed(s, decay(x, h)),
    "a sum": lambda x, h, k, s: vec(N, Real, lambda j: s[j] + h * sin(norm(x))),
    "a vector of a sum": lambda x, h, k, s: mixed(s, vec(N, Real, lambda i: x[i] / norm(decay(x, h)))),
    "two at once": lambda x, h, k, s: mixed(mixed(s, decay(x, h)), vec(N, Real, lambda i: cos(x[i]))),
    "a loop with a state": lambda x, h, k, s: vec(N, Real, lambda j: s[j] - lowest(x) * h),
    "of an element": lambda x, h, k, s: mixed(s, vec(N, Real, lambda i: x[i] * x[0])),
    "of a vector that is written out": lambda x, h, k, s: mixed(
        s, decay(vec(N, Real, [h * x[0], x[1], x[2], h, h * h, x[0]]), h)
    ),
}


@pytest.mark.parametrize("iteration", SAME.values(), ids=SAME)
def test_what_is_the_same(iteration, monkeypatch) -> None:
    f = simulation(iteration)
    with monkeypatch.context() as m:
        m.setattr(expand, "outside", lambda f: f)
        before = in_an_iteration(simulation(iteration))
    assert in_an_iteration(f) < before
    agrees(f, wave(N), 0.3, monkeypatch=monkeypatch)


def in_loops(count, x, h, s):
    """An iteration in so many loops."""
    if not count:
        return mixed(s, vec(N, Real, lambda i: decay(x, h)[i] / norm(x)))
    return fori(20, V, s, lambda k, s: in_loops(count - 1, x, h, s))


@pytest.mark.parametrize("depth", [2, 4])
def test_what_is_the_same_in_loops_leaves_them_all(depth: int, monkeypatch) -> None:
    f = fn([V, Real], V, lambda x, h: in_loops(depth, x, h, x))
    root = Expansion(f.func).root
    assert code("exp") in opcodes(root)
    while root.callees:
        (root,) = root.callees
        assert code("exp") not in opcodes(root)
    if depth == 2:
        agrees(f, wave(N), 0.3, monkeypatch=monkeypatch)


def test_what_is_the_same_leaves_sums_and_loops_with_a_state(monkeypatch) -> None:
    def row(i, x, h):
        return in_loops(1, x, h, vec(N, Real, lambda j: x[j] + x[i]))

    f = fn([V, Real], V, lambda x, h: vec(N, Real, lambda i: row(i, x, h)[i]))
    root = Expansion(f.func).root
    (quotient,) = (v for v, ins in enumerate(root.code) if ins[0] == code("div"))
    assert root.blocks[root.home[quotient]].parent == 0
    agrees(f, wave(N), 0.3, monkeypatch=monkeypatch)


STAYS = {
    "with the state": lambda x, h, k, s: mixed(s, decay(s, h)),
    "with the iteration": lambda x, h, k, s: mixed(s, decay(x, h * rose.real(k))),
    "that may have no end": lambda x, h, k, s: vec(
        N, Real, lambda j: s[j] + while_loop(Real, h, lambda y: y < norm(x), lambda y: 2 * y + 1, limit=30)
    ),
}


@pytest.mark.parametrize("iteration", STAYS.values(), ids=STAYS)
def test_what_is_not(iteration, monkeypatch) -> None:
    agrees(simulation(iteration), wave(N), 0.3, monkeypatch=monkeypatch)


@pytest.mark.parametrize(
    "loop",
    [
        lambda s, x, iteration: fori(s, Real, s, lambda k, y: iteration(y, x)),
        lambda s, x, iteration: while_loop(Real, s, lambda y: lt(y, x[0] * 3), lambda y: iteration(y, x)),
    ],
    ids=["counted", "while"],
)
@pytest.mark.parametrize(
    "iteration",
    [
        lambda y, x: y + rose.sqrt(x[0]) * rose.sqrt(x[1]),
        lambda y, x: y + total(N, lambda i: rose.sqrt(x[i])),
        lambda y, x: y + norm(x) * fori(9, Real, x[0], lambda k, z: z + rose.sqrt(x[1] * x[2])),
    ],
    ids=["number", "sum", "loop"],
)
def test_what_no_iteration_computes_has_no_part_in_the_derivative(loop, iteration) -> None:
    """Though it would be infinite."""
    f = fn([Real, V], Real, lambda s, x: loop(s, x, iteration))
    assert compile(grad(f))(0, [0] * N) == 1
    assert compile(grad(f, 1))(0, [0] * N) == [0] * N


@pytest.mark.parametrize("op", [rose.sqrt, lambda x: 1 / x], ids=["sqrt", "div"])
@pytest.mark.parametrize(
    "choice",
    [lambda j, k, m: xor(ilt(N, j, k), ilt(N, j, m)), lambda j, k, m: ilt(N, k, m)],
    ids=["by the iteration", "for all iterations"],
)
def test_what_no_index_chooses_has_no_part_in_the_derivative(op, choice) -> None:
    def iteration(j, s, x, k, m):
        return s.set(j, 0.5 * s[3] + select(choice(j, k, m), Real, op(x) * s[j], s[0]))

    f = fn(
        [Real, V, N, N], Real, lambda x, v, k, m: norm(fori(N, V, v, lambda j, s: iteration(j, s, x, k, m)))
    )
    assert compile(grad(f))(0, wave(N), 4, 4) == 0
    assert compile(grad(f))(0.3, wave(N), 2, 4) != 0


def test_what_runs_python_runs_in_every_iteration() -> None:
    seen = []
    told = opaque([Real], Real, lambda x: seen.append(x) or x)
    f = simulation(lambda x, h, k, s: vec(N, Real, lambda j: s[j] + told(h)))
    compile(f)(wave(N), 0.3)
    assert len(seen) == 5 * N


def test_a_loop_of_numbers_still_varies_by_one() -> None:
    """And keeps nothing: of its derivative there is one loop, without tapes."""
    f = fn(
        [Real],
        Real,
        lambda h: fori(40, Real, 0.1, lambda k, s: s + sin(s * total(N, lambda i: exp(h * rose.real(i))))),
    )
    root = Expansion(grad(f).func).root
    assert [ins[0] for g in (root, *root.callees) for ins in g.code].count(LOOP) == 1


class Iterations:
    """Random iterations of a loop, the same each time that they are asked for."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def __call__(self, x, h, k, s):
        draw = Random(self.seed)
        vectors, numbers = [x, s], [h, rose.real(k) * 0.1]
        for _ in range(draw.randrange(3, 9)):
            kind = draw.randrange(7)
            v, w, y = draw.choice(vectors), draw.choice(vectors), draw.choice(numbers)
            if kind == 0:
                vectors.append(vec(N, Real, lambda i, v=v, w=w, y=y: sin(v[i] + y * w[imod(N, i)])))
            elif kind == 1:
                numbers.append(sin(total(N, lambda i, v=v, w=w: v[i] * w[i])))
            elif kind == 2:
                vectors.append(v.at[draw.randrange(N)].set(y * w[draw.randrange(N)]))
            elif kind == 3:
                numbers.append(cos(y * draw.choice(numbers)) / (2 + v[draw.randrange(N)] * v[0]))
            elif kind == 4:
                numbers.append(fori(3, Real, y, lambda j, z, v=v: 0.5 * z + v[imod(N, j)]))
            elif kind == 5:
                numbers.append(cond(gt(y, v[0]), Real, lambda v=v: sin(norm(v)), lambda y=y: y))
            else:
                vectors.append(vec(N, Real, [y, v[0], w[1], draw.choice(numbers), v[2] * y, w[5]]))
        v, y = vectors[-1], numbers[-1]
        return vec(N, Real, lambda i: 0.7 * s[i] + 0.2 * sin(v[i]) + 0.1 * sin(y))


@pytest.mark.parametrize("seed", range(40))
def test_random_iterations(seed: int, monkeypatch) -> None:
    agrees(simulation(Iterations(seed)), wave(N), 0.3, monkeypatch=monkeypatch)


@pytest.mark.parametrize("seed", range(10))
def test_their_derivatives_again(seed: int) -> None:
    trips = Iterations(seed)
    inner = fn([V, Real], Real, lambda x, h: norm(simulation(trips)(x, h)))
    slope = grad(fn([V, Real], Real, lambda x, h: grad(inner, 1)(x, h)), 1)
    found = compile(slope)(wave(N), 0.3)
    near = [compile(grad(inner, 1))(wave(N), 0.3 + e) for e in (1e-5, -1e-5)]
    assert found == pytest.approx((near[0] - near[1]) / 2e-5, rel=1e-5, abs=1e-7)
