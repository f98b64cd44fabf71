"""Where a function is zero, or gives its argument back; derivatives by the implicit function theorem.

A root moves such that the function stays zero: f'(x) dx + df = 0, where df is what the function changes by
itself. How the root was found has no part in that.
"""

from __future__ import annotations

import math
from typing import Any

from rose_core.language.types import BOOL, DUAL, LARGEST, REAL, TAN, Array, Struct, Type, array, fin
from rose_core.operators.forward import jvp
from rose_core.solvers.ensure import ensure
from rose_core.solvers.linear import inverse, matrix, solve, unit
from rose_core.tracing.constructs import select, sum, vec
from rose_core.tracing.control import cond, fori, iterate_while, limit_of
from rose_core.tracing.declare import describe, number
from rose_core.tracing.elementwise import combined, norm, still
from rose_core.tracing.functional import functional
from rose_core.tracing.functions import Function, fn, function_of, vjp
from rose_core.tracing.indices import index_operation, real
from rose_core.tracing.lifting import lift, type_of, wrap
from rose_core.tracing.operations import operation
from rose_core.tracing.symbols import zero
from rose_core.tracing.trace import current
from rose_core.tracing.where import Construct

_lt, _leq, _gt, _and, _or, _not, _eq = map(operation, ("lt", "leq", "gt", "and", "or", "not", "eq"))
_abs, _max, _floor = map(operation, ("abs", "max", "floor"))
_ieq = index_operation("ieq")

_SHORTEST = 2.0**-30
"""The shortest part of a Newton step that is tried."""

_STALLED = 1e-6
"""Where no part of a Newton step makes the function smaller, rounding is in the way; then the whole step,
relative to the argument, is no longer than this, or there is no root nearby."""

_GOLDEN = (math.sqrt(5) - 1) / 2
"""Its multiples have parts behind the point that are nowhere alike."""

_FEW, _MANY = 100, 4096
"""A system of fewer unknowns is solved in hardly more time than it takes to come to rest; for one of more
there is neither time nor memory."""

_GONE, _AGAIN, _MORE = 2.0**-30, 3, 8
"""A vector of about 1 becomes so small in some iterations. After three times as many, and a few, a tangent
adds nothing to what came before it. Nor do its derivatives, of which each may begin to die away only where
the one before has done so: where that is sudden, two of them."""


def root(f: object, x0: object, *, tolerance: float = 1e-12, limit: int = 100) -> Any:
    """``x`` with ``f(x) = 0``, near ``x0``: a Real, or a vector of as many as ``f`` gives.

    By Newton's method, whose steps are shortened where they lead astray, until a step changes no number by
    more than ``tolerance``, relative to itself. The derivative with respect to all that ``f`` uses from
    around it is that of the root, to any order; ``x0`` has none.

    It is an error, found when it runs, if a matrix of derivatives is singular, or no root is found in
    ``limit`` steps.
    """
    here = Construct("root")
    check_options("root", limit, tolerance=tolerance)
    t, function = _of_reals("root", f, x0)

    def newton(f: Function, x0: Any) -> Any:
        return _newton(here, t, f, x0, tolerance, limit)

    find = functional([function], [t], t, newton, lambda x, f, x0: moved(here, t, f, x))
    return find(x0)


def fixed_point(f: object, x0: object, *, tolerance: float = 1e-12, limit: int = 10_000) -> Any:
    """``x`` with ``f(x) = x``, from ``x0`` by ``x = f(x)`` again and again: a Real, or a vector of them.

    It ends when ``x`` changes by no more than ``tolerance``, relative to itself. The derivative is that of
    the fixed point, with respect to all that ``f`` uses from around it; ``x0`` has none.

    It is an error, found when it runs, if that is not so after ``limit`` times.
    """
    here = Construct("fixed_point")
    check_options("fixed_point", limit, tolerance=tolerance)
    t, function = _of_reals("fixed_point", f, x0)
    state = Struct({"x": t, "change": REAL})

    def iterate(f: Function, x0: Any) -> Any:
        def test(s: Any) -> Any:
            rests = _leq(s.change, tolerance * norm(t, s.x))
            return _not(_and(rests, _lt(s.change, float("inf"))))

        def again(s: Any) -> Any:
            x = f(s.x)
            return {"x": x, "change": norm(t, combined(t, operation("sub"), x, s.x))}

        first = {"x": x0, "change": float("inf")}
        end: Any = iterate_while(state, first, test, again, limit)
        complaint = f"it did not converge in {limit} iterations"
        return combined(t, lambda x: ensure(here, _not(test(end)), x, complaint), end.x)

    def rule(x: Any, f: Function, x0: Any) -> Any:
        return _rested(here, t, f, x, limit)

    return functional([function], [t], t, iterate, rule)(x0)


def _of_reals(name: str, f: object, x0: object) -> tuple[Type, Function]:
    """The type of ``x0``, and ``f`` as a function from that to itself."""
    t = start_type(name, x0)
    return t, function_on(name, f, [t], t)


def check_options(name: str, limit: object, **numbers: object) -> None:
    """Refuse a limit of iterations that is none, and options that are no numbers."""
    limit_of(name, limit)
    for option, x in numbers.items():
        if number(x) is None:
            raise TypeError(f"{name}: expected a number as the {option}, got {describe(x)}")


def start_type(name: str, x0: object) -> Type:
    """The type of ``x0``, a Real or a vector of Reals."""
    t = type_of(x0, f"{name}: the start")
    if t is not REAL and not (isinstance(t, Array) and t.elem is REAL):
        raise TypeError(f"{name}: expected a Real or a vector of Reals to start from, got {describe(x0)}")
    return t


def function_on(name: str, f: object, params: list[Type], ret: Type) -> Function:
    """``f``, or what a Python function does, as a function of these types."""
    if callable(f) and not hasattr(f, "jvp"):
        body = f
        f = fn(params, ret, lambda *args: body(*args))
    function = function_of(f, name)
    if function.func.param_types != params or function.func.ret != ret:
        expected = ", ".join(map(str, params))
        raise TypeError(f"{name}: expected a function ({expected}) -> {ret}, got {function!r}")
    return function


def _newton(here: Construct, t: Type, f: Function, x0: Any, tolerance: float, limit: int) -> Any:
    """Newton's method with steps that make the largest component of ``f`` smaller."""
    state = Struct({"x": t, "y": t, "step": REAL, "rests": BOOL, "shorter": BOOL})
    point = Struct({"part": REAL, "x": t, "y": t})

    def test(s: Any) -> Any:
        return _and(s.shorter, _not(_or(s.rests, _eq(norm(t, s.y), 0.0))))

    def iteration(s: Any) -> dict[str, Any]:
        step = _step(t, f, s.x, s.y)
        size = norm(t, s.y)

        def at(part: Any) -> dict[str, Any]:
            x = combined(t, lambda x, d: x - part * d, s.x, step)
            return {"part": part, "x": x, "y": f(x)}

        def too_far(p: Any) -> Any:
            return _and(_not(_lt(norm(t, p.y), size)), _gt(p.part, _SHORTEST))

        end: Any = iterate_while(point, at(1.0), too_far, lambda p: at(p.part / 2), 100)
        shorter = _lt(norm(t, end.y), size)

        def chosen(new: Any, old: Any) -> Any:
            return combined(t, lambda a, b: select(shorter, a, b), new, old)

        x = chosen(end.x, s.x)
        # one number may be in much smaller units than another
        excess = combined(t, lambda d, x: _max(_abs(d) - tolerance * _abs(x), 0.0), step, x)
        return {
            "x": x,
            "y": chosen(end.y, s.y),
            "step": norm(t, step),
            "rests": _eq(norm(t, excess), 0.0),
            "shorter": shorter,
        }

    start = {"x": x0, "y": f(x0), "step": float("inf"), "rests": False, "shorter": True}
    end: Any = iterate_while(state, start, test, iteration, limit)
    size = norm(t, end.y)
    found = _or(_or(_not(test(end)), _eq(size, 0.0)), _leq(end.step, tolerance * norm(t, end.x)))
    stalled = _and(_not(end.shorter), _not(_eq(size, 0.0)))
    near = _leq(end.step, _STALLED * (1 + norm(t, end.x)))
    regular = _not(_and(_and(stalled, _not(_eq(end.step, end.step))), _lt(size, float("inf"))))

    def checked(x: Any) -> Any:
        x = ensure(here, regular, x, "the derivative is singular, so there is no step towards a root")
        return ensure(here, _and(found, _or(_not(stalled), near)), x, f"no root was found in {limit} steps")

    return combined(t, checked, end.x)


def _slopes(t: Type, f: Function, x: Any, less: float = 0.0) -> Any:
    """The derivative of ``f`` at ``x``, a number or a matrix, with ``less`` taken from the diagonal."""
    if not isinstance(t, Array):
        return vjp(f)(x).grad(1.0) - less  # type: ignore[operator]
    n = len(x)

    def row(i: Any) -> Any:
        cotangent: Any = vjp(f)(x).grad(unit(n, i))
        return vec(n, REAL, lambda j: cotangent[j] - select(_ieq(n, i, j), less, 0.0))

    return vec(n, array(t.index, REAL), row)


def _step(t: Type, f: Function, x: Any, y: Any) -> Any:
    """What Newton's method subtracts from ``x``; NaN if the derivative is singular."""
    slopes = _slopes(t, f, x)
    if not isinstance(t, Array):
        return y / select(_eq(slopes, 0.0), float("nan"), slopes)
    n = len(x)
    d = solve(n, 1, slopes, vec(n, array(fin(1), REAL), lambda i: [y[i]]))
    return vec(n, REAL, lambda i: d[i][0])


def moved(
    here: Construct, t: Type, f: Function, x: Any, less: float = 0.0, singular: str = "the derivative"
) -> Any:
    """The tangent of a root ``x`` of ``f``, or of ``f`` less so many times its argument.

    ``singular`` says to the author of what it has none where the derivative of that is singular.
    """
    complaint = f"{singular} is singular, so the result has none"
    if not isinstance(t, Array):
        slope = _slopes(t, f, x, less)
        derivative: Any = jvp(f)
        return -(derivative(still(x)).du / ensure(here, _not(_eq(slope, 0.0)), slope, complaint))
    n = len(x)
    change = _along(here, t, f, x, vec(n, TAN, lambda _: zero()))
    slopes: Any = fn([t], matrix(n, n), lambda x: _slopes(t, f, x, less))
    back = inverse(slopes, x)

    def component(i: Any) -> Any:
        def term(j: Any) -> Any:
            entry = back[i][j]
            return change[j] * ensure(here, _eq(entry, entry), entry, complaint)

        return -sum(n, term)

    return vec(n, TAN, component)


def _along(here: Construct, t: Array, f: Function, x: Any, dx: Any) -> Any:
    """The tangent of ``f(x)`` for the tangents ``dx``.

    The values are taken as they are, not as a copy, which loops would make and keep in every iteration.
    """
    trace = current()
    tangents = array(t.index, TAN)
    parts = [*lift(trace, dx, tangents, here.name), *lift(trace, x, t, here.name)]
    y: Any = jvp(f)(wrap(trace, parts, array(t.index, DUAL)))
    return vec(t.index, TAN, lambda i: y[i].du)


def _rested(here: Construct, t: Type, f: Function, x: Any, limit: int) -> Any:
    """The tangent of a fixed point ``x`` of ``f``.

    The tangents of ``x = f(x)`` come to rest as ``x`` did. An iteration takes the time of ``f``, and so does
    each row of a system of equations, which then takes the third power of their number. How often a linear
    map is to run does not depend on the tangents: that is counted ahead, by a vector that has a part of all
    that dies away.
    """

    def solved() -> Any:
        return moved(here, t, f, x, 1.0, "the derivative of f(x) - x")

    if not isinstance(t, Array) or len(x) < _FEW:
        return solved()
    n, tangents = len(x), array(t.index, TAN)
    # many tangents have no system to fall back on, and are to be exact to more digits than x
    trips = n if n <= _MANY else min(2 * limit, LARGEST - 1)

    def spread(i: Any) -> Any:
        part = real(i) * _GOLDEN
        return 1 + part - _floor(part)

    def back(s: Any) -> dict[str, Any]:
        return {"v": vjp(f)(x).grad(s.v), "trips": s.trips + 1}

    state = Struct({"v": t, "trips": REAL})
    start = {"v": vec(n, REAL, spread), "trips": 0.0}
    end: Any = iterate_while(state, start, lambda s: _gt(norm(t, s.v), _GONE), back, trips)
    rests = _leq(norm(t, end.v), _GONE)

    def iterated() -> Any:
        start = vec(n, TAN, lambda _: zero())
        return fori(_AGAIN * end.trips + _MORE, tangents, start, lambda _, dx: _along(here, t, f, x, dx))

    if n <= _MANY:
        return cond(rests, tangents, iterated, solved)
    dx, complaint = iterated(), f"its derivative did not converge in {trips} iterations"
    return vec(n, TAN, lambda i: dx[i] * ensure(here, rests, 1.0, complaint))
