"""What the calls of a function have in common stands before them; the numbers are the same."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

import rose_core as rose
from rose_core import Real, Vec, compile, cos, fn, grad, hessian, ilt, interp, lt, opaque, select, sin, vec
from rose_core import sum as total
from rose_core.derivatives import expand
from rose_core.language.ir import CALL, FOR, Func
from rose_core.language.ops import code
from rose_core.optimise.common import common
from rose_core.optimise.inline import SHORT, in_line
from rose_core.tracing.functions import Function
from tests.random_programs import flat

N = 6
V = Vec(N, Real)
X = [0.5, -1.0, 2.0, 0.25, 1.5, -0.75]
PAIRS = list(combinations(range(N), 2))
SINE = code("sin")


def length(x, effort: int = SHORT):
    """Of a curve that begins with ``x``."""
    for k in range(effort):
        x = sin(x) + 0.1 * k
    return x


@fn
def gap(x: Real, y: Real) -> Real:
    return length(x) - 2.0 * length(y) + x * y


def of_pairs(between, pairs=PAIRS) -> Function:
    """The sum over pairs of numbers."""
    return fn([V], Real, lambda x: sum(between(x[i], x[j]) for i, j in pairs))


def optimised(f: Function) -> Func:
    return common(in_line(f.func))


def sines(root: Func) -> int:
    """How often ``root`` takes one, with what it calls."""
    called = [sines(root.callees[ins[1]]) for ins in root.code if ins[0] == CALL]
    return sum(called) + [ins[0] for ins in root.code].count(SINE)


def check(f: Function, *args) -> None:
    """Values to the bit, and derivatives nearly, as the interpreter has them, and as they are without."""
    args = args or (X,)
    derivatives = [grad(f), hessian(f)]
    found = [flat(compile(g)(*args)) for g in derivatives]
    assert repr(compile(f)(*args)) == repr(interp(f)(*args))
    with pytest.MonkeyPatch.context() as m:
        m.setattr(expand, "common", lambda root: root)
        for g, numbers in zip(derivatives, found, strict=True):
            assert numbers == pytest.approx(flat(compile(g)(*args)), rel=1e-10, abs=1e-12)
            assert numbers == pytest.approx(flat(interp(g)(*args)), rel=1e-10, abs=1e-12)


def test_each_number_is_measured_once() -> None:
    f = of_pairs(gap)
    assert sines(f.func) == 2 * SHORT * len(PAIRS)
    assert sines(optimised(f)) == SHORT * N
    check(f)


def test_one_argument_is_the_same() -> None:
    f = of_pairs(gap, [(0, j) for j in range(1, N)])
    assert sines(optimised(f)) == SHORT * N
    check(f)


def test_what_is_called_is_measured_before_the_calls() -> None:
    measure = fn([Real], Real, lambda x: length(x, 3 * SHORT))
    f = of_pairs(fn([Real, Real], Real, lambda x, y: measure(x) * measure(y) + length(x * y)))
    check(f)
    assert sines(optimised(f)) == 3 * SHORT * N + SHORT * len(PAIRS)


def test_functions_of_functions_of_pairs() -> None:
    near = fn([Real, Real, Real], Real, lambda x, y, z: gap(x, y) * gap(y, z) - gap(x, z))
    f = fn([V], Real, lambda x: sum(near(x[i], x[j], x[k]) for i, j, k in combinations(range(N), 3)))
    assert sines(optimised(f)) == SHORT * N
    check(f)


def test_elements_of_a_vector_that_all_calls_have() -> None:
    f = fn([V, Real], Real, lambda x, y: _weighed(x, y) + _weighed(x, 2.0 * y) + _weighed(x, y * y))
    assert sines(optimised(f)) == SHORT + 3
    check(f, X, 0.3)


@fn
def _weighed(x: V, y: Real) -> Real:
    return sin(y * x[2]) * length(x[0] * x[3]) + x[1]


def test_what_a_loop_calls_with_the_same_arguments() -> None:
    f = fn([V], Real, lambda x: total(N, lambda i: gap(x[0], x[i])))
    made = optimised(f)
    assert [ins[0] for ins in made.code].count(SINE) == SHORT
    (loop,) = (ins for ins in made.code if ins[0] == FOR)
    assert not any(made.code[v][0] == SINE for v in made.blocks[loop[1]].order)
    check(f)


@pytest.mark.parametrize(
    "between",
    [
        lambda x, y: length(x * y),
        lambda x, y: sin(x) * sin(y) + length(x - y),
        lambda x, y: (x * x + 2.0 * x + 3.0) * length(x - y, 12),
    ],
    ids=["nothing", "a little", "not enough"],
)
def test_functions_that_stay_as_they_are(between) -> None:
    f = of_pairs(fn([Real, Real], Real, between))
    assert optimised(f) is f.func


def test_calls_of_other_arguments_have_nothing_in_common() -> None:
    f = of_pairs(gap, [(0, 1), (2, 3), (4, 5)])
    assert optimised(f) is f.func


def test_a_loop_without_iterations_measures_nothing() -> None:
    """Though the slope would be infinite."""

    @fn
    def one(x: Real, y: Real) -> Real:
        return length(rose.sqrt(x)) * y + length(y)

    def program(x, y):
        return total(0, lambda i: one(x, y)) + sum(one(y, k * y) for k in range(1, 4))

    f = fn([Real, Real], Real, program)
    assert sines(optimised(f)) == 2 * SHORT + 4 * SHORT
    assert compile(grad(f))(0, 0.3) == 0


def test_what_no_index_chooses_has_no_part_in_the_derivative() -> None:
    """Though its slope would be infinite."""

    @fn
    def one(x: Real, k: N, y: Real) -> Real:
        return select(ilt(N, k, 3), Real, length(rose.sqrt(x)) * y, y) + length(x * x) * y

    f = fn([Real, N], Real, lambda x, k: one(x, k, 0.1) + one(x, k, 0.2) + one(x, k, 0.3))
    assert compile(grad(f))(0, 4) == 0
    assert compile(grad(f))(0.3, 1) == pytest.approx(interp(grad(f))(0.3, 1), rel=1e-11)


def test_python_runs_as_often_as_the_program_says() -> None:
    seen = []
    told = opaque([Real], Real, lambda x: seen.append(x) or x)
    f = of_pairs(fn([Real, Real], Real, lambda x, y: length(told(x)) + length(y) * x))
    assert optimised(f) is not f.func
    interp(f)(X)
    expected = [*seen]
    seen.clear()
    compile(f)(X)
    assert seen == expected == [X[i] for i, _ in PAIRS]


def test_what_is_left_is_known_when_another_function_is_edited() -> None:
    def program(other: float) -> Function:
        edited = fn([Real], Real, lambda x: other * length(x, 2 * SHORT))
        return fn([V], Real, lambda x: sum(gap(x[i], x[j]) for i, j in PAIRS) + edited(x[0]) + edited(x[1]))

    first, second = (set(optimised(program(k)).callees) for k in (1.0, 2.0))
    assert len(first & second) == 1


class Between:
    """A random function of two numbers and a vector."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def __call__(self, x, y, v):
        draw = Random(self.seed)
        numbers = [x, y, v[0], v[draw.randrange(N)]]
        for _ in range(draw.randrange(10, 40)):
            a, b, kind = draw.choice(numbers), draw.choice(numbers), draw.randrange(7)
            if kind < 2:
                numbers.append(sin(a) + draw.choice([a, b, 0.5]))
            elif kind == 2:
                numbers.append(a * cos(b))
            elif kind == 3:
                numbers.append(select(lt(a, b), Real, a, 0.5 * b))
            elif kind == 4:
                numbers.append(total(N, lambda i, a=a: sin(a * v[i])) * 0.1)
            elif kind == 5:
                numbers.append(short(a, b))
            else:
                numbers.append(rose.cond(rose.gt(a, b), Real, lambda a=a, b=b: sin(a - b), lambda a=a: -a))
        return sum(draw.sample(numbers, 5)) + 0.1 * numbers[-1]


@fn
def short(x: Real, y: Real) -> Real:
    return sin(x + y) / (1.5 + cos(x - y))


@pytest.mark.parametrize("seed", range(24))
def test_random_functions_of_pairs(seed: int) -> None:
    draw = Random(seed)
    between = fn([Real, Real, V], Real, Between(seed))
    pairs = draw.sample(PAIRS, draw.randrange(2, len(PAIRS)))

    def program(x):
        given = vec(N, Real, lambda i: 0.7 * x[i]) if draw.random() < 0.5 else x
        return sum(sin(between(x[i], x[j], given)) for i, j in pairs) + total(
            3, lambda i: between(x[0], x[1], x)
        )

    check(fn([V], Real, program))


POINTS = 12
ALL_PAIRS = list(combinations(range(POINTS), 2))


def trips_of_sines(root: Func) -> int:
    """How often ``root`` takes one while it runs, with what it calls; its loops are in no others."""
    found = 0
    for v, ins in enumerate(root.code):
        size = root.blocks[root.home[v]].size
        once = 1 if ins[0] == SINE else trips_of_sines(root.callees[ins[1]]) if ins[0] == CALL else 0
        found += once * (size.size if root.home[v] else 1)
    return found


def vec_of(numbers):
    """A function that finds indices of points in a table."""
    return lambda k: vec(len(numbers), POINTS, numbers)[k]


def over_tables(between, element=lambda x, i: x[i]) -> Function:
    """The sum over all pairs of elements, which a loop finds by tables."""
    count = len(ALL_PAIRS)

    def body(x):
        first, second = (vec_of([pair[k] for pair in ALL_PAIRS]) for k in (0, 1))
        return total(count, lambda k: between(element(x, first(k)), element(x, second(k))))

    return fn([Vec(POINTS, Real)], Real, body)


@pytest.mark.parametrize(
    "element", [lambda x, i: x[i], lambda x, i: x[i] * 2.0, lambda x, i: vec(POINTS, Real, [*x])[i]]
)
def test_a_loop_over_tables_of_pairs(element) -> None:
    f = over_tables(gap, element)
    assert trips_of_sines(f.func) == 2 * SHORT * len(ALL_PAIRS)
    assert trips_of_sines(optimised(f)) == 2 * SHORT * (POINTS - 1)
    check(f, [0.1 * k - 0.5 for k in range(POINTS)])


def test_vectors_that_tables_make() -> None:
    """Each of three cameras is measured once; points are not, as each iteration has another."""
    number = vec_of([k % 3 for k in range(POINTS)])

    @fn
    def seen(camera: Vec(2, Real), point: Real) -> Real:
        return length(camera[0] * camera[1]) * length(point)

    def body(x):
        return total(POINTS, lambda k: seen([x[number(k)], x[number(k)] * 3.0], x[k]))

    f = fn([Vec(POINTS, Real)], Real, body)
    assert trips_of_sines(optimised(f)) == SHORT * (3 + POINTS)
    check(f, [0.1 * k - 0.5 for k in range(POINTS)])
