"""Functions on many arguments at once."""

from __future__ import annotations

import pytest
from engines import same

from rose_core import Real, Size, Vec, compile, fn, grad, hessian, jacobian, jet, sum, vmap

V2 = Vec(2, Real)
Point = {"x": Real, "y": Real}


@fn
def scaled(a: Real, p: Point) -> Point:
    return {"x": a * p.x, "y": a * a * p.y}


POINTS = [{"x": 1.0, "y": 2.0}, {"x": 3.0, "y": 4.0}, {"x": 5.0, "y": 6.0}]


def test_every_argument() -> None:
    f = vmap(scaled).at(batch=3)
    assert same(f, [1.0, 2.0, 3.0], POINTS) == [
        {"x": 1.0, "y": 2.0},
        {"x": 6.0, "y": 16.0},
        {"x": 15.0, "y": 54.0},
    ]
    assert same(vmap(scaled).at(batch=0), [], []) == []


def test_shared_arguments() -> None:
    f = vmap(scaled, (None, 0)).at(batch=2)
    assert same(f, 2.0, POINTS[:2]) == [{"x": 2.0, "y": 8.0}, {"x": 6.0, "y": 16.0}]
    g = vmap(scaled, [0, None], "rows").at(rows=2)
    assert same(g, [1.0, 2.0], POINTS[0]) == [{"x": 1.0, "y": 2.0}, {"x": 2.0, "y": 8.0}]


def test_nested_in_bodies_and_under_operators() -> None:
    n = Size("n")
    norm = fn([Vec(n, Real)], Real, lambda v: sum(n, lambda i: v[i] * v[i]))
    table = vmap(
        vmap(fn([Real, Real], Real, lambda x, y: x * y * y), (None, 0), "columns"), (0, None), "rows"
    )
    assert same(table.at(rows=2, columns=3), [1.0, 2.0], [1.0, 2.0, 3.0]) == [
        [1.0, 4.0, 9.0],
        [2.0, 8.0, 18.0],
    ]

    @fn
    def loss(m: Vec(2, V2), scale: Real) -> Real:
        norms = vmap(norm)(m)
        weights = vmap(fn([Real], Real, lambda x: x * scale))(norms)
        return weights[0] * norms[1]

    m = [[1.0, 2.0], [3.0, 1.0]]
    assert same(loss, m, 2.0) == 100.0
    assert same(grad(loss, 1), m, 2.0) == 50.0
    assert same(grad(loss), m, 2.0) == [[40.0, 80.0], [60.0, 20.0]]
    assert same(vmap(grad(norm)).at(n=2, batch=2), m) == [[2.0, 4.0], [6.0, 2.0]]
    assert same(vmap(hessian(norm)).at(n=2, batch=1), m[:1]) == [[[2.0, 0.0], [0.0, 2.0]]]
    assert same(jacobian(vmap(norm)).at(n=2, batch=2), m) == [
        [[2.0, 4.0], [0.0, 0.0]],
        [[0.0, 0.0], [6.0, 2.0]],
    ]
    assert same(jet(vmap(norm), 1).at(n=2, batch=1), [m[:1], [[1.0, 0.0]]]) == [[5.0], [2.0]]


def test_mistakes() -> None:
    for axes in (1, (0,), (None, None), (0, 1), None):
        with pytest.raises(TypeError, match="vmap: expected 0, or 0 or None for each of 2 arguments"):
            vmap(scaled, axes)
    with pytest.raises(TypeError, match="vmap: vmap_scaled has a size batch already; give another name"):
        vmap(vmap(scaled))
    with pytest.raises(TypeError, match="vmap: expected a function made with fn"):
        vmap(abs)
    with pytest.raises(TypeError, match=r"give them with .at\(batch=…\)"):
        compile(vmap(scaled))
    with pytest.raises(ValueError, match="batch is 2 elsewhere, and 1 here"):
        fn([Real], Real, lambda x: vmap(scaled)([x, x], [POINTS[0]])[0].x)
