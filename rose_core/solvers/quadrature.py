"""Integrals over an interval; their derivatives are integrals of derivatives.

∂/∂a, ∂/∂b and ∂/∂θ of ∫ₐᵇ f(x, θ) dx are -f(a), f(b) and ∫ₐᵇ ∂f/∂θ dx (Leibniz). The last of these is taken
apart where *it* is hard to integrate, and not where f is.

The interval is halved until the rule of Gauss and Kronrod with 15 points is exact enough on every part.
Parts are [l, l + w] with l a multiple of w, a power of 2, as fractions of the whole: after a part comes
the one at l + w, twice as wide if that is a place where such a one may begin. So there is no stack.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from rose_core.language.ir import is_real
from rose_core.language.types import (
    REAL,
    TAN,
    Array,
    Struct,
    Type,
    array,
    fin,
    leaves,
    map_scalars,
    real,
    scalar_of,
)
from rose_core.operators.forward import jvp
from rose_core.solvers.ensure import ensure
from rose_core.solvers.roots import check_options, function_on
from rose_core.tracing.constructs import select, vec
from rose_core.tracing.control import fori, inline, iterate_while
from rose_core.tracing.elementwise import combined, each, norm, still
from rose_core.tracing.functional import functional, tangent
from rose_core.tracing.functions import Function, captured, fn
from rose_core.tracing.indices import index_operation
from rose_core.tracing.lifting import lift, symbolic, wrap
from rose_core.tracing.operations import operation
from rose_core.tracing.symbols import zero
from rose_core.tracing.trace import Trace, current
from rose_core.tracing.values import Record
from rose_core.tracing.where import Construct

_abs, _max, _and, _or, _not = map(operation, ("abs", "max", "and", "or", "not"))
_floor, _lt, _leq, _eq = map(operation, ("floor", "lt", "leq", "eq"))
_ieq = index_operation("ieq")

_POSITIVE = [
    0.0, 0.20778495500789847, 0.40584515137739717, 0.58608723546769113,
    0.74153118559939444, 0.86486442335976907, 0.94910791234275852, 0.99145537112081264,
]  # fmt: skip
_KRONROD = [
    0.20948214108472783, 0.20443294007529889, 0.19035057806478541, 0.1690047266392679,
    0.14065325971552592, 0.10479001032225018, 0.063092092629978553, 0.022935322010529225,
]  # fmt: skip
_GAUSS = [
    0.41795918367346939,
    0.0,
    0.38183005050511894,
    0.0,
    0.27970539148927667,
    0.0,
    0.12948496616886969,
    0.0,
]

_POINTS = [-x for x in _POSITIVE[:0:-1]] + _POSITIVE
_WEIGHTS = [_KRONROD[:0:-1] + _KRONROD, _GAUSS[:0:-1] + _GAUSS]
"""On [-1, 1], whose length is 2: of the rule with 15 points, and of that with 7 of them."""

_DIFFERENCE = 200.0
"""As in QUADPACK: the error of 15 points is about (200 times the difference to 7) to the power 1.5."""

_NARROWEST = 2.0**-48
"""A part of the interval that is halved no more: there the integrand has no bounds, or no limit."""

_FINEST = 2.0**-42
"""Likewise, relative to the place where it lies: there is no room for 15 points in shorter ones."""

_ROUGH = 1e-6
"""What the differences of both rules on such parts may be in all, relative to the integral of |f|."""


def quad(f: object, a: object, b: object, *, tolerance: float = 1e-10, limit: int = 10_000) -> Any:
    """The integral of ``f`` from ``a`` to ``b``, each finite, or the number ``math.inf`` or ``-math.inf``.

    ``f`` is a function from a Real to a Real, or one made with `fn` to any type of Reals. The error is about
    ``tolerance`` at most, relative to the integral of |f|, or 1e-6 where ``f`` is infinite. The derivative is
    that of the integral, with respect to ``a``, ``b`` and all that ``f`` uses from around it; but for the
    part of a jump of ``f`` at a place that depends on these (``DERIVATIVES.md``), which an integral for each
    side has. On the way to an infinite bound, a narrow peak far from the other one, or from 0, may be missed:
    integrate to it and from it on.

    It is an error, found when it runs, if that is not so with ``limit`` parts of the interval.
    """
    here = Construct("quad")
    check_options("quad", limit, tolerance=tolerance)
    t = f.func.ret if isinstance(f, Function) else REAL
    tangent(t, "quad")
    function = function_on("quad", f, [REAL], t)
    trace = current()
    bounds = [lift(trace, x, REAL, f"argument {k} of quad")[0] for k, x in enumerate((a, b), 2)]
    fixed = [trace.builder.pool[~v][0] if v < 0 else None for v in bounds]
    signs = [math.copysign(1.0, x) if x is not None and math.isinf(x) else 0.0 for x in fixed]
    if any(signs):
        function, fixed = _squeezed(function, t, (a, b), signs), [0.0, 1.0]
    moving = [x for x, number in zip((a, b), fixed, strict=True) if number is None]
    integral = _Integral(here, t, fixed, tolerance, limit)
    return functional([function], [REAL] * len(moving), t, integral.value, integral.rule)(*moving)


def _squeezed(f: Function, t: Type, bounds: Sequence[Any], signs: Sequence[float]) -> Any:
    """What has from 0 to 1 the integral of ``f`` between these bounds; of those that are infinite, the sign.

    With x = c ± (1 - s) / s, where c is the other bound, or 0, as QUADPACK's QAGI.
    """
    center = next((x for x, sign in zip(bounds, signs, strict=True) if not sign), 0.0)

    def body(s: Any) -> Any:
        far, stretch = (1.0 - s) / s, 1.0 / (s * s)

        def towards(sign: float) -> Any:
            if not sign:
                return combined(t, lambda: 0.0)
            return combined(t, lambda y: sign * stretch * y, f(center + sign * far))

        low, high = map(towards, signs)
        return combined(t, operation("sub"), high, low)

    return fn([REAL], t, body)


class _Integral:
    """An integral of values of one type, and its derivative.

    ``fixed`` has the bounds that are numbers, and None for others. There the integrand may be infinite, and
    that is no part of a derivative.
    """

    def __init__(self, here: Construct, t: Type, fixed: Sequence[Any], tolerance: float, limit: int) -> None:
        self.here, self.t, self.fixed = here, t, fixed
        self.tolerance, self.limit = tolerance, limit

    def value(self, f: Function, *moving: Any) -> Any:
        t = self.t
        a, b = self._bounds(moving)

        def add(total: Any, m: Any, start: Any, h: Any) -> Any:
            return combined(t, operation("add"), total, m.sum)

        return self._over_parts(a, b, t, lambda start, h: _measured(t, f, start, h), add)

    def rule(self, y: Any, f: Function, *moving: Any) -> Any:
        t, fixed, tangents = self.t, self.fixed, tangent(self.t, "quad")
        derivative: Any = jvp(f)
        at_ends = each(t, tangent, zero)
        low, high = self._bounds(moving)
        if fixed[0] is None:
            at_ends = each(t, tangent, lambda y: -(low.du * y), f(low.re))
        if fixed[1] is None:
            at_ends = each(t, tangent, lambda y, s: s + high.du * y, f(high.re), at_ends)
        slopes = _by_closure(f, t)
        if slopes is None:
            return at_ends
        j = slopes.func.ret
        error = Struct({"error": REAL, "size": REAL})

        def measure(g: Function, start: Any, h: Any) -> Any:
            m = _measured(j, g, start, h)
            return {"error": m.error, "size": m.size}

        # where the interval is taken apart has no derivative
        frozen = functional(
            [slopes], [REAL, REAL], error, measure, lambda *_: {"error": zero(), "size": zero()}
        )

        def add(total: Any, m: Any, start: Any, h: Any) -> Any:
            def weighted(x: Any, k: Any, s: Any) -> Any:
                weight = _constant(_WEIGHTS[0])[k] * (0.5 * h)
                return each(t, tangent, lambda dy, s: s + dy.du * weight, derivative(still(x)), s)

            return _over_points(tangents, total, start, h, weighted)

        a, b = self._bounds([x.re for x in moving])
        within = self._over_parts(a, b, tangents, frozen, add)
        return each(t, tangent, operation("add"), at_ends, within)

    def _bounds(self, moving: Sequence[Any]) -> list[Any]:
        """Both bounds, of which these are no numbers."""
        rest = iter(moving)
        return [next(rest) if x is None else x for x in self.fixed]

    def _over_parts(
        self, a: Any, b: Any, of: Type, measure: Callable[..., Any], add: Callable[..., Any]
    ) -> Any:
        """The sum over all parts of what ``add`` adds, where ``measure`` says which are exact enough."""
        state = Struct({"total": of, "from": REAL, "width": REAL, "size": REAL, "rough": REAL})
        length = b - a
        # twice as many points halve an error many times, so that of 15 is far below the difference
        most = math.cbrt(self.tolerance) ** 2 / _DIFFERENCE

        def test(s: Any) -> Any:
            return _lt(s["from"], 1.0)

        def iteration(s: Any) -> dict[str, Any]:
            start, h = a + length * s["from"], length * s.width
            m = measure(start, h)
            size = _max(s.size, m.size)
            exact = _leq(m.error, most * size)
            short = _leq(_abs(h), _FINEST * _max(_abs(start), _abs(start + h)))
            ends = _or(exact, _or(short, _leq(s.width, _NARROWEST)))
            next = s["from"] + s.width
            twice = next / (2 * s.width)
            wider = select(_eq(twice, _floor(twice)), 2 * s.width, s.width)
            total = add(s.total, m, start, h)
            return {
                "total": each(of, lambda u: u, lambda x, y: select(ends, x, y), total, s.total),
                "from": select(ends, next, s["from"]),
                "width": select(ends, wider, s.width / 2),
                "size": size,
                "rough": s.rough + select(exact, 0.0, select(ends, m.error, 0.0)),
            }

        nothing = each(of, lambda u: u, lambda: zero() if _is_tangent(of) else 0.0)
        start = {"total": nothing, "from": 0.0, "width": 1.0, "size": 0.0, "rough": 0.0}
        end: Any = iterate_while(state, start, test, iteration, self.limit)
        complaint = f"the integral does not converge, or not in {self.limit} parts of the interval"
        found = _and(_not(test(end)), _leq(end.rough, _ROUGH * end.size))
        done = ensure(self.here, found, 1.0, complaint)
        return each(of, lambda u: u, lambda x: x * done, end.total)


def _is_tangent(t: Type) -> bool:
    return any(scalar_of(leaf) is TAN for leaf in leaves(t))


def _constant(numbers: list[float]) -> Any:
    """A vector of these numbers, to be indexed by a symbolic index."""
    return symbolic(numbers, array(fin(len(numbers)), REAL), "quad")


def _over_points(t: Type, init: Any, start: Any, h: Any, add: Callable[..., Any]) -> Any:
    """``init``, and ``add(x, k, sum)`` for each point ``x`` of the part of length ``h``."""

    def iteration(k: Any, s: Any) -> Any:
        return add(start + h * (0.5 + 0.5 * _constant(_POINTS)[k]), k, s)

    return fori(len(_POINTS), t, init, iteration)


def _measured(t: Type, f: Function, start: Any, h: Any) -> Any:
    """The integral of ``f`` over a part, the difference of both rules, and the integral of |f|."""
    sums = Struct({"kronrod": t, "gauss": t, "size": t})

    def add(x: Any, k: Any, s: Any) -> dict[str, Any]:
        y = f(x)
        kronrod, gauss = (_constant(weights)[k] * (0.5 * h) for weights in _WEIGHTS)
        return {
            "kronrod": combined(t, lambda y, s: s + kronrod * y, y, s.kronrod),
            "gauss": combined(t, lambda y, s: s + gauss * y, y, s.gauss),
            "size": combined(t, lambda y, s: s + _abs(kronrod * y), y, s.size),
        }

    nothing = combined(t, lambda: 0.0)
    s = _over_points(sums, {"kronrod": nothing, "gauss": nothing, "size": nothing}, start, h, add)
    error = norm(t, combined(t, operation("sub"), s.kronrod, s.gauss))
    return Record(sum=s.kronrod, error=error, size=norm(t, s.size))


def _by_closure(f: Function, t: Type) -> Function | None:
    """The derivatives of ``f`` at an ``x`` by all Reals that it uses from around it; None: there are none."""
    reals = [real(leaf) for leaf in f.func.params[1:] if is_real(leaf)]
    if not reals:
        return None
    gradient = Struct({f"d{k}": leaf for k, leaf in enumerate(reals)})

    def derivatives(t: Type) -> Type:
        """``t`` with a gradient in place of every Real."""
        return map_scalars(t, lambda _: gradient)

    def body(inner: Trace, x: int) -> list[int]:
        call = inner.builder.vjp(f.func, [x, *captured(inner, f)])

        def pulled(path: list[Any]) -> dict[str, Any]:
            b = inner.builder
            pull = b.pull(call, lift(inner, _unit(t, path), t, "quad"))
            return {f"d{k}": wrap(inner, [b.get(pull, 1 + k)], leaf) for k, leaf in enumerate(reals)}

        def rows(t: Type, path: list[Any]) -> Any:
            if isinstance(t, Array):
                return vec(t.index, derivatives(t.elem), lambda i: rows(t.elem, [*path, i]))
            if isinstance(t, Struct):
                return {name: rows(field, [*path, name]) for name, field in t.fields.items()}
            return pulled(path)

        return lift(inner, rows(t, []), derivatives(t), "quad")

    slopes = inline("slopes", [REAL], body)
    slopes.func.param_types, slopes.func.ret = [REAL], derivatives(t)
    return slopes


def _unit(t: Type, path: list[Any], here: Any = True) -> Any:
    """What is 1 at one place, and 0 elsewhere; ``path`` has the index or the name of every step there."""
    if isinstance(t, Array):
        return vec(t.index, t.elem, lambda i: _unit(t.elem, path[1:], _and(here, _ieq(t.index, i, path[0]))))
    if isinstance(t, Struct):
        return {
            name: _unit(field, path[1:], here) if name == path[0] else combined(field, lambda: 0.0)
            for name, field in t.fields.items()
        }
    return select(here, 1.0, 0.0)
