"""Functions that are generic in sizes."""

import math

import pytest

from rose_core import (
    Dual,
    Real,
    RunError,
    Size,
    Vec,
    compile,
    fn,
    fori,
    grad,
    hvp,
    iadd,
    interp,
    jet,
    jvp,
    odeint,
    scan,
    struct,
    sum,
    vec,
    vjp,
    vmap,
    while_loop,
)

n, m = Size("n"), Size("m")


@fn
def dot(u: Vec(n, Real), v: Vec(n, Real)) -> Real:
    return sum(n, lambda i: u[i] * v[i])


def matvec(a, x):
    return vec(m, Real, lambda i: dot(a[i], x))


matvec = fn([Vec(m, Vec(n, Real)), Vec(n, Real)], Vec(m, Real), matvec)


def test_sizes_are_those_of_the_arguments() -> None:
    f = fn([Vec(3, Real)], Vec(2, Real), lambda x: matvec([[1, 2, 3], [4, 5, 6]], x))
    assert list(compile(f)([1, 2, 3])) == list(interp(f)([1, 2, 3])) == [14, 32]


def test_sizes_given_by_name() -> None:
    assert compile(dot.at(n=2))([1, 2], [3, 4]) == 11
    assert dot.at(n=2) is dot.at(n=2)
    assert compile(dot.at(n=0))([], []) == 0


def test_derivatives() -> None:
    g = fn([Vec(3, Real)], Vec(3, Real), lambda x: vjp(dot)(x, x).grad(1)[0])
    assert list(compile(g)([1, 2, 3])) == [1, 2, 3]
    h = fn([Vec(2, Dual)], Dual, lambda x: jvp(dot)(x, x))
    d = compile(h)([{"re": 1, "du": 1}, {"re": 2, "du": 0}])
    assert (d.re, d.du) == (5, 2)


def test_a_custom_derivative_at_every_size() -> None:
    k = Size("k")
    norm2 = fn([Vec(k, Real)], Real, lambda v: sum(k, lambda i: v[i] * v[i]))

    def rule(v):
        return {"re": sum(k, lambda i: v[i].re * v[i].re), "du": jvp(dot)(v, v).du * 10}

    norm2.jvp = fn([Vec(k, Dual)], Dual, rule)
    g = fn([Vec(2, Real)], Vec(2, Real), lambda v: vjp(norm2)(v).grad(1))
    assert list(compile(g)([1, 2])) == [20, 40]


def test_in_structs() -> None:
    table = struct(rows=Vec(n, Real), scale=Real)
    f = fn([table], Real, lambda t: sum(n, lambda i: t.rows[i]) * t.scale)
    assert compile(fn([], Real, lambda: f({"rows": [1, 2, 3], "scale": 2})))() == 12
    assert compile(f.at(n=2))({"rows": [1, 2], "scale": 3}) == 9


def test_an_index_parameter() -> None:
    f = fn([n, Vec(n, Real)], Real, lambda i, v: v[i])
    assert compile(f.at(n=3))(1, [5, 6, 7]) == 6


@pytest.mark.parametrize(
    ("wrong", "kind", "message"),
    [
        (
            lambda: fn([Vec(2, Real), Vec(3, Real)], Real, lambda a, b: dot(a, b)),
            ValueError,
            "argument 2 of dot: n is 2 elsewhere, and 3 here",
        ),
        (lambda: dot.at(), TypeError, "dot.at: expected n, got nothing"),
        (lambda: dot.at(n=-1), ValueError, "an index type needs a size from 0 to"),
        (lambda: compile(dot), TypeError, r"compile: dot has sizes that are not known; .* \.at\(n=…\)"),
        (lambda: fn([], Real, lambda: fn([n], Real, lambda i: 1)(2)), TypeError, "do not tell the size n"),
        (lambda: vec(n, Real, lambda i: 0), TypeError, "the size n is known only in the body"),
        (
            lambda: fn([], Real, lambda: dot({"a": 1}, [1])),
            TypeError,
            "argument 1 of dot: expected .*, got dict",
        ),
        (lambda: hvp(dot, 2), IndexError, "hvp: dot has no argument 2, only 0 to 1"),
        (lambda: hvp(dot, "x"), TypeError, "hvp: expected an argument number, or several, got str 'x'"),
        (lambda: vmap(dot, 0, 3), TypeError, "vmap: expected a name for the size, got int 3"),
        (lambda: fn(math.sin), TypeError, "@fn: expected a function with annotations, got builtin"),
    ],
)
def test_what_is_wrong_is_said(wrong, kind, message) -> None:
    with pytest.raises(kind, match=message):
        wrong()


def test_a_known_size_is_an_int() -> None:
    def f(u, v):
        if n == 0 or not m:
            return 7.0
        assert -n + (n << 1) == +n == abs(n) and divmod(n, 2) == (n >> 1, n % 2)
        assert (1 << n, 64 >> n) == (2**n, 64 // 2**n) and (n & 1, n | 4, 6 & n, 1 ^ n) == (1, 7, 2, 2)
        assert (n > m) == (int(n) > int(m)) and n != m and Vec(n + 1, Real).size == int(n) + 1
        rest = vec(n - 1, Real, lambda i: u[iadd(n, i, 1)])
        return sum(n - 1, lambda i: rest[i]) / n + u[0] ** m * (2**n) + 10 % n + n // m + n**2 - 1 / m

    g = fn([Vec(n, Real), Vec(m, Real)], Real, f)
    expected = (2 + 4) / 3 + 0.5**2 * 8 + 1 + 1 + 9 - 0.5
    for by in (compile, interp):
        assert by(g.at(n=3, m=2))([0.5, 2.0, 4.0], [1.0, 1.0]) == expected
        assert by(g.at(n=0, m=2))([], [1.0, 1.0]) == by(g.at(n=1, m=0))([1.0], []) == 7
    for use in (lambda: n + 1, lambda: n == 1, lambda: 2 * n, lambda: bool(n), lambda: n < m):
        with pytest.raises(TypeError, match="the size n is known only in the body"):
            use()


class Whole:
    """A whole number as other libraries have them."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


def test_whole_numbers_of_other_libraries() -> None:
    two = Whole(2)
    f = fn([Vec(two, Real)], Real, lambda v: sum(two, lambda i: v[i] * v[Whole(1)]))
    assert compile(f)([3.0, 5.0]) == 40.0
    last = fn([Vec(3, Real)], Real, lambda v: v[Whole(-1)] + v.at[Whole(-2)].add(1)[1])
    assert compile(last)([3.0, 5.0, 7.0]) == 13.0
    power = fn([Real, Real], Real, lambda x, y: fori(two, Real, 1.0, lambda i, s: s * x) * y)
    assert compile(grad(power, Whole(0)))(3.0, 5.0) == 30.0
    assert compile(grad(power, [Whole(1), Whole(0)]))(3.0, 5.0) == {"0": 30.0, "1": 9.0}
    assert compile(hvp(power, Whole(1)))(3.0, 5.0, 1.0) == 0.0
    assert compile(jet(fn([Real], Real, lambda x: x * x), two))([3.0, 1.0, 0.0]) == [9.0, 6.0, 1.0]
    n = Size("n")
    assert compile(fn([Vec(n, Real)], Real, lambda v: v[0] * n).at(n=two))([3.0, 5.0]) == 6.0


class Half:
    """The number 0.5 as other libraries have it."""

    def __float__(self) -> float:
        return 0.5


class Numbers:
    """A vector of numbers as other libraries have them."""

    def __init__(self, *values: object) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, i: int) -> object:
        return self.values[i]


def test_values_of_other_libraries() -> None:
    """Where their type is not said: what a solver starts from, and what a loop gives of each iteration."""
    solved = fn([Real], Real, lambda x: odeint(lambda y, t: x * y, Half(), Numbers(0.0, Half()))[1])
    assert compile(solved)(1.0) == pytest.approx(0.5 * math.exp(0.5))
    table = Vec(2, Vec(2, Real))
    trips = fn([Real], table, lambda x: scan(2, Real, x, lambda s, i: (s, Numbers(s, Half())))[1])
    assert compile(trips)(3.0) == [[3.0, 0.5]] * 2


def test_a_limit_may_be_a_size() -> None:
    def body(v):
        return while_loop(Real, v[0], lambda x: x > 0, lambda x: x + 1, limit=n, checkpoint="revolve")

    with pytest.raises(RunError, match="within its limit of 3 iterations"):
        compile(fn([Vec(n, Real)], Real, body).at(n=3))([1.0, 2.0, 3.0])


def test_sizes_of_the_same_name() -> None:
    other = Size("n")
    f = fn([Vec(n, Real), Vec(other, Real)], Real, lambda u, v: sum(n, lambda i: u[i]) * v[0])
    assert compile(f.at(n=2))([1, 2], [3, 4]) == 9
    assert compile(fn([Vec(2, Real), Vec(3, Real)], Real, lambda u, v: f(u, v)))([1, 2], [3, 4, 5]) == 9
