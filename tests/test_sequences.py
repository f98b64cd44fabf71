"""What Python has for sequences, of symbolic vectors and of its own: slices, ``max``, ``min``."""

import math

import pytest
from engines import same

import rose_core as rose
from rose_core import Real, Vec, fn, grad, sum

SLICES = [
    slice(1, None),
    slice(-1),
    slice(None, None, 2),
    slice(None, None, -1),
    slice(3, 0, -2),
    slice(9, None),
]


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("part", SLICES)
def test_slices(part: slice, n: int) -> None:
    x = [0.5 * k * k + 1 for k in range(n)]
    t = Vec(len(x[part]), Real)
    assert same(fn([Vec(n, Real)], t, lambda v: v[part]), x) == x[part]
    squares = fn([Vec(n, Real)], Real, lambda v: sum(t.size, lambda i: v[part][i] ** 2))
    chosen = range(n)[part]
    assert same(grad(squares), x) == [2 * y if k in chosen else 0.0 for k, y in enumerate(x)]


def test_slices_and_elements_of_matrices() -> None:
    f = fn([Vec(3, Vec(2, Real)), 2], Vec(2, Real), lambda m, i: [m[1:][0, i], m[-1, 0]])
    assert same(f, [[1, 2], [3, 4], [5, 6]], 1) == [4.0, 5.0]
    with pytest.raises(TypeError, match="a symbolic 2 has no value"):
        fn([Vec(3, Real), 2], Real, lambda v, i: v[i:][0])


def test_the_largest_and_least_of_many() -> None:
    x = [3.0, -2.0, 5.0, 4.0]
    for n in range(1, 5):
        for of, own in ((rose.max, max), (rose.min, min)):
            assert same(fn([Vec(n, Real)], Real, of), x[:n]) == own(x[:n])
            assert same(fn([Vec(n, Real)], Real, lambda v, of=of: of(y * y for y in v)), x[:n]) == own(
                y * y for y in x[:n]
            )
            which = [float(y == own(x[:n])) for y in x[:n]]
            assert same(grad(fn([Vec(n, Real)], Real, of)), x[:n]) == which
    assert (
        same(fn([Real, Real], Real, lambda a, b: rose.max(a, b, 2) - rose.min([a, b], default=7)), 1, 4)
        == 3.0
    )
    with pytest.raises(TypeError, match="max: expected two Reals or more, or a vector, got a symbolic Real"):
        fn([Real], Real, lambda a: rose.max(a))


def test_the_largest_and_least_of_what_python_has() -> None:
    assert list(range(rose.max(1, 2, 0))) == list(range(rose.min([3, 2]))) == [0, 1]
    assert (rose.max("a", "b"), rose.max(["a", "bc"], key=len), rose.min([], default=None)) == (
        "b",
        "bc",
        None,
    )
    assert math.isnan(rose.max(1.0, math.nan, 2.0))
    with pytest.raises(ValueError, match="empty"):
        fn([Vec(0, Real)], Real, rose.max)


def test_whole_numbers_by_python_s_math() -> None:
    f = fn([Real], Vec(3, Real), lambda x: [math.floor(x), math.ceil(x), math.trunc(x)])
    assert same(f, -2.5) == [-3.0, -2.0, -2.0]
