"""Derivatives by differences, and what both engines give: for tests of whole constructs."""

from __future__ import annotations

from engines import same

from rose_core import Real, Vec, compile, fn, jvp, vjp


def gradient(f):
    """The gradient of a Real function of one argument, as a function."""
    (t,) = f.func.param_types
    return fn([t], t, lambda x: vjp(f)(x).grad(1))


def directional(f, x, d):
    """The forward derivative of a function of a vector."""
    return same(jvp(f), [{"re": a, "du": b} for a, b in zip(x, d, strict=True)]).du


def differences(f, x, h=1e-5):
    """The gradient of a Real function of a vector, by central differences of the fourth order."""
    run = compile(f)

    def at(k, step):
        return run([a + step * (j == k) for j, a in enumerate(x)])

    return [(8 * (at(k, h) - at(k, -h)) - (at(k, 2 * h) - at(k, -2 * h))) / (12 * h) for k in range(len(x))]


def assert_derivatives(f, x, rel=1e-7, abs=1e-9):
    """First derivatives in both modes, and second ones in all four pairs, of a Real function of a vector."""
    import pytest

    n = len(x)
    g = gradient(f)
    first = same(g, x)
    assert first == pytest.approx(differences(f, x), rel=rel, abs=abs)
    d = [0.3 - 0.7 * k for k in range(n)]
    along = sum(a * b for a, b in zip(first, d, strict=True))
    assert directional(f, x, d) == pytest.approx(along, rel=1e-9, abs=1e-12)
    weighted = fn([Vec(n, Real)], Real, lambda x: sum((b * a for a, b in zip(g(x), d, strict=True)), 0.0))
    second = same(gradient(weighted), x)
    assert second == pytest.approx(differences(weighted, x), rel=rel, abs=abs)
    curvature = sum(a * b for a, b in zip(second, d, strict=True))
    assert directional(weighted, x, d) == pytest.approx(curvature, rel=1e-9, abs=1e-12)
    twice = same(
        jvp(jvp(f)),
        [{"re": {"re": a, "du": b}, "du": {"re": b, "du": 0.0}} for a, b in zip(x, d, strict=True)],
    )
    assert twice.du.du == pytest.approx(curvature, rel=1e-9, abs=1e-12)
    return first
