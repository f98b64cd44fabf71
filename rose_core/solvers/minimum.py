"""Where a function is smallest nearby: L-BFGS, Newton's method, Adam.

At a minimum the gradient is zero, so that moves with what the function uses from around it like any root,
whichever method found it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from rose_core.language.types import BOOL, REAL, Array, Struct, Type, array, fin
from rose_core.solvers.ensure import ensure
from rose_core.solvers.linear import solve, unit
from rose_core.solvers.roots import check_options, function_on, moved, start_type
from rose_core.tracing.constructs import select, sum, vec
from rose_core.tracing.control import fori, iterate_while
from rose_core.tracing.elementwise import combined, norm, product
from rose_core.tracing.functional import functional
from rose_core.tracing.functions import Function, fn, vjp
from rose_core.tracing.indices import imax, index_operation, isub
from rose_core.tracing.operations import operation
from rose_core.tracing.symbols import Var
from rose_core.tracing.where import Construct

_lt, _leq, _gt, _and, _or, _not, _sqrt = map(operation, ("lt", "leq", "gt", "and", "or", "not", "sqrt"))
_add, _sub, _abs, _max, _min = map(operation, ("add", "sub", "abs", "max", "min"))
_igt = index_operation("igt")

_MEMORY = 8
"""Steps that L-BFGS remembers."""

_DECREASE, _CURVATURE = 1e-4, 0.9
"""A step must lower the function by this part of what the slope promises, and the slope to this part."""

_STALLED = 1e-6
"""Where no step lowers the function, rounding is in the way; then what the gradient promises for a step as
long as x is no more than this, relative to the function, or there is no minimum nearby."""

_ROUNDING = 1e-12
"""Values of the function that differ by no more than this may be equal: relatively, or where they are small,
as those of sums of squares are, which may come of differences of much larger numbers."""


def minimize(
    f: object,
    x0: object,
    *,
    method: str = "lbfgs",
    tolerance: float = 1e-8,
    limit: int | None = None,
    rate: float = 0.01,
) -> Any:
    """``x`` near ``x0`` where ``f(x)``, a Real, is smallest: a Real or a vector of Reals.

    ``method`` is ``"lbfgs"``, ``"newton"`` (for few variables) or ``"adam"`` (with steps of about ``rate``).
    It ends when no derivative of ``f`` is larger than ``tolerance``. The derivative is that of the minimum,
    with respect to all that ``f`` uses from around it; ``x0`` has none.

    It is an error, found when it runs, if that is not so after ``limit`` steps.
    """
    here = Construct("minimize")
    if not isinstance(method, str) or method not in _METHODS:
        raise ValueError(f"minimize: expected one of {', '.join(_METHODS)} as the method, got {method!r}")
    t = start_type("minimize", x0)
    function = function_on("minimize", f, [t], REAL)
    gradient = fn([t], t, lambda x: vjp(function)(x).grad(1.0))
    descend, most = _METHODS[method]
    steps = most if limit is None else limit
    check_options("minimize", steps, tolerance=tolerance, rate=rate)

    def body(f: Function, g: Function, x0: Any) -> Any:
        return descend(_Search(here, t, f, g, tolerance, steps, rate), x0)

    def rule(x: Any, f: Function, g: Function, x0: Any) -> Any:
        return moved(here, t, g, x, singular="the second derivative")

    return functional([function, gradient], [t], t, body, rule)(x0)


class _Search:
    """What all methods have in common."""

    def __init__(
        self,
        here: Construct,
        t: Type,
        f: Function,
        gradient: Function,
        tolerance: float,
        limit: int,
        rate: float,
    ) -> None:
        self.here, self.t, self.f, self.gradient = here, t, f, gradient
        self.tolerance, self.limit, self.rate = tolerance, limit, rate
        self.point = Struct({"x": t, "y": REAL, "g": t})

    def at(self, x: Any) -> dict[str, Any]:
        pullback = vjp(self.f)(x)
        return {"x": x, "y": pullback.ret, "g": pullback.grad(1.0)}

    def flat(self, p: Any) -> Var:
        """Whether the gradient is as good as zero."""
        return _leq(norm(self.t, p.g), self.tolerance)

    def found(self, p: Any, stalled: Any) -> Any:
        """The ``x`` of the last point, if that is a minimum."""
        slope = norm(self.t, p.g) * _max(1.0, norm(self.t, p.x))
        finite = _lt(_abs(p.y), math.inf)
        near = _and(finite, _leq(slope, _STALLED * _max(1.0, _abs(p.y))))
        good = _or(self.flat(p), _and(stalled, near))
        complaints = [
            (_or(good, finite), ", but a point where the function is not finite"),
            (_or(good, _not(stalled)), ", but a point that is not flat, though no step from it leads lower"),
            (good, f" in {self.limit} steps"),
        ]

        def checked(x: Any) -> Any:
            for is_so, complaint in complaints:
                x = ensure(self.here, is_so, x, f"no minimum was found{complaint}")
            return x

        return combined(self.t, checked, p.x)

    def along(self, p: Any, d: Any) -> Any:
        """A point in the direction ``d`` that is lower, and less steep, by halving and doubling the step.

        The conditions are those of Wolfe in their weak form (Lewis and Overton 2013).
        """
        t = self.t
        slope: Any = product(t, p.g, d)
        state = Struct({"at": self.point, "step": REAL, "low": REAL, "high": REAL})

        def tried(step: Any) -> dict[str, Any]:
            return self.at(combined(t, lambda x, d: x + step * d, p.x, d))

        def lower(s: Any) -> Any:
            """By enough; where rounding hides that, the slope says so (Hager and Zhang 2005)."""
            enough = _leq(s["at"].y, p.y + _DECREASE * s.step * slope)
            before_end = _leq(product(t, s["at"].g, d), (2 * _DECREASE - 1) * slope)
            return select(_same(p, s["at"]), before_end, enough)

        def test(s: Any) -> Var:
            return _not(_and(lower(s), _leq(_CURVATURE * slope, product(t, s["at"].g, d))))

        def iteration(s: Any) -> dict[str, Any]:
            low = select(lower(s), s.step, s.low)
            high = select(lower(s), s.high, s.step)
            middle = 0.5 * _add(low, high)
            step = select(_lt(high, float("inf")), middle, 2 * s.step)
            return {"at": tried(step), "step": step, "low": low, "high": high}

        start = {"at": tried(1.0), "step": 1.0, "low": 0.0, "high": float("inf")}
        end: Any = iterate_while(state, start, test, iteration, 60)
        return end["at"]


def _same(p: Any, new: Any) -> Var:
    """Whether rounding may be all that the function differs by at two points."""
    return _leq(_abs(new.y - p.y), _ROUNDING * _max(1.0, _abs(p.y)))


def _lower(search: _Search, p: Any, new: Any) -> Any:
    """Whether a point is lower than another: where rounding hides that, by the mean of the slopes between."""
    t = search.t
    step = combined(t, _sub, new.x, p.x)
    downhill = _lt(product(t, step, combined(t, _add, p.g, new.g)), 0.0)
    return select(_same(p, new), downhill, _lt(new.y, p.y))


def _either(search: _Search, p: Any, a: Any, b: Any) -> dict[str, Any]:
    return {
        "x": combined(search.t, lambda a, b: select(p, a, b), a.x, b.x),
        "y": select(p, a.y, b.y),
        "g": combined(search.t, lambda a, b: select(p, a, b), a.g, b.g),
    }


def _descended(
    search: _Search,
    x0: Any,
    memory: Struct,
    empty: dict[str, Any],
    direction: Callable[[Any, Any], Any],
    remember: Callable[[Any, Any, Any], dict[str, Any]],
) -> Any:
    """Steps in the directions that ``direction`` gives, of lengths that a search along them finds."""
    state = Struct({"at": search.point, "memory": memory, "lower": BOOL})

    def test(s: Any) -> Var:
        return _and(s.lower, _not(search.flat(s["at"])))

    def iteration(s: Any) -> dict[str, Any]:
        p = s["at"]
        new = search.along(p, direction(p, s.memory))
        lower = _lower(search, p, new)
        return {"at": _either(search, lower, new, p), "memory": remember(p, new, s.memory), "lower": lower}

    start = {"at": search.at(x0), "memory": empty, "lower": True}
    end: Any = iterate_while(state, start, test, iteration, search.limit)
    return search.found(end["at"], _not(end.lower))


def _newton(search: _Search, x0: Any) -> Any:
    """Newton's method; where the second derivatives lead up, with the less curved directions held back."""
    t = search.t

    def leads_down(p: Any, d: Any) -> Var:
        return _lt(product(t, p.g, d), 0.0)

    def shifted(p: Any) -> Any:
        """The step for the Hessian and a multiple of 1, the least of a few (Nocedal and Wright 2006, 3.4)."""
        n = len(p.x)
        hessian: Any = vec(n, t, lambda i: vjp(search.gradient)(p.x).grad(unit(n, i)))
        size = _sqrt(sum(n, lambda i: product(t, hessian[i], hessian[i])))

        def step(shift: Any) -> dict[str, Any]:
            matrix = vec(n, t, lambda i: hessian[i].at[i].add(shift))
            d: Any = solve(n, 1, matrix, vec(n, array(fin(1), REAL), lambda i: [-p.g[i]]))
            return {"d": vec(n, REAL, lambda i: d[i][0]), "shift": shift}

        def more(s: Any) -> dict[str, Any]:
            return step(_max(4 * s.shift, 1e-3 * size))

        state = Struct({"d": t, "shift": REAL})
        end: Any = iterate_while(state, step(0.0), lambda s: _not(leads_down(p, s.d)), more, 8)
        return end.d

    def direction(p: Any, _: Any) -> Any:
        d = shifted(p) if isinstance(t, Array) else -p.g / _abs(vjp(search.gradient)(p.x).grad(1.0))
        down = leads_down(p, d)
        return combined(t, lambda d, g: select(down, d, -g), d, p.g)

    return _descended(search, x0, Struct({}), {}, direction, lambda p, new, memory: {})


def _lbfgs(search: _Search, x0: Any) -> Any:
    """The method of Broyden, Fletcher, Goldfarb and Shanno with a limited memory (Nocedal 1980)."""
    t, m = search.t, _MEMORY
    rows = array(fin(m), t)
    memory = Struct({"steps": rows, "changes": rows, "scale": REAL, "inverse": array(fin(m), REAL)})
    pair = Struct({"q": t, "parts": array(fin(m), REAL)})

    def direction(p: Any, memory: Any) -> Any:
        """Nocedal's two loops; the newest step comes first, and a place without one has the inverse 0."""

        def down(i: Any, s: Any) -> dict[str, Any]:
            part = memory.inverse[i] * product(t, memory.steps[i], s.q)
            q = combined(t, lambda q, y: q - part * y, s.q, memory.changes[i])
            return {"q": q, "parts": s.parts.set(i, part)}

        s: Any = fori(m, pair, {"q": p.g, "parts": vec(m, REAL, lambda _: 0.0)}, down)

        def up(k: Any, r: Any) -> Any:
            i = isub(m, m - 1, k)
            back = s.parts[i] - memory.inverse[i] * product(t, memory.changes[i], r)
            return combined(t, lambda r, x: r + back * x, r, memory.steps[i])

        scaled = combined(t, lambda q: memory.scale * q, s.q)
        return combined(t, lambda r: -r, fori(m, t, scaled, up))

    def remember(p: Any, new: Any, memory: Any) -> dict[str, Any]:
        """The new step in front of all but the oldest, if the function curves upwards along it."""
        step = combined(t, _sub, new.x, p.x)
        change = combined(t, _sub, new.g, p.g)
        curve, size = product(t, step, change), product(t, change, change)
        good = _gt(curve, 1e-14 * size)

        def shifted(old: Any, first: Any, elem: Type) -> Any:
            def row(i: Any) -> Any:
                before = old[isub(m, imax(m, i, 1), 1)]
                shifted = combined(elem, lambda a, b: select(_igt(m, i, 0), a, b), before, first)
                return combined(elem, lambda a, b: select(good, a, b), shifted, old[i])

            return vec(m, elem, row)

        return {
            "steps": shifted(memory.steps, step, t),
            "changes": shifted(memory.changes, change, t),
            "scale": select(good, curve / size, memory.scale),
            "inverse": shifted(memory.inverse, 1 / curve, REAL),
        }

    nothing = vec(m, t, lambda _: combined(t, lambda: 0.0))
    first = search.at(x0)
    # the first step changes x by about 1 at most
    scale = 1 / _max(1.0, norm(t, first["g"]))
    empty = {"steps": nothing, "changes": nothing, "scale": scale, "inverse": vec(m, REAL, lambda _: 0.0)}
    return _descended(search, x0, memory, empty, direction, remember)


def _adam(search: _Search, x0: Any) -> Any:
    """Steps of about the same length, by running means of the gradient (Kingma and Ba 2015)."""
    t = search.t
    state = Struct({"at": search.point, "mean": t, "square": t, "b1": REAL, "b2": REAL})

    def iteration(s: Any) -> dict[str, Any]:
        p = s["at"]
        b1, b2 = 0.9 * s.b1, 0.999 * s.b2
        mean = combined(t, lambda m, g: 0.9 * m + 0.1 * g, s.mean, p.g)
        square = combined(t, lambda v, g: 0.999 * v + 0.001 * g * g, s.square, p.g)

        def moved(x: Any, m: Any, v: Any) -> Any:
            return x - search.rate * (m / (1 - b1)) / (_sqrt(v / (1 - b2)) + 1e-8)

        x = combined(t, moved, p.x, mean, square)
        return {"at": search.at(x), "mean": mean, "square": square, "b1": b1, "b2": b2}

    nothing = combined(t, lambda: 0.0)
    start = {"at": search.at(x0), "mean": nothing, "square": nothing, "b1": 1.0, "b2": 1.0}
    end: Any = iterate_while(state, start, lambda s: _not(search.flat(s["at"])), iteration, search.limit)
    return search.found(end["at"], False)


_METHODS = {"lbfgs": (_lbfgs, 1000), "newton": (_newton, 1000), "adam": (_adam, 100_000)}
"""By name, with the number of steps after which there is no hope."""
