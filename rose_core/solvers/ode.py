"""Ordinary differential equations, by Dormand and Prince's adaptive Runge-Kutta method of order 5.

The steps are chosen by the error of the solution and are constants to every derivative, so what is
differentiated is the method with these steps. Forwards that is the method on the equation of the
tangents, backwards the method's adjoint, both of order 5; the steps' own derivatives, which have no
meaning, have no part in it. Reverse mode keeps the solution every so many steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

from rose_core.language.types import BOOL, REAL, Array, Struct, Type, leaves
from rose_core.solvers.ensure import ensure
from rose_core.solvers.roots import check_options, function_on
from rose_core.tracing.constructs import select
from rose_core.tracing.control import iterate_while, scan
from rose_core.tracing.declare import describe
from rose_core.tracing.elementwise import combined, norm
from rose_core.tracing.functional import functional, tangent
from rose_core.tracing.functions import Function
from rose_core.tracing.lifting import symbolic, type_of
from rose_core.tracing.operations import operation
from rose_core.tracing.symbols import zero
from rose_core.tracing.where import Construct

_abs, _min, _max, _sign, _pow, _add = map(operation, ("abs", "min", "max", "sign", "pow", "add"))
_leq, _gt, _not, _and = map(operation, ("leq", "gt", "not", "and"))

_TIMES = [1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0]
_STAGES = [
    [1 / 5],
    [3 / 40, 9 / 40],
    [44 / 45, -56 / 15, 32 / 9],
    [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
    [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
]
_SOLUTION = [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]
_ERROR = [71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]
"""The difference of the solutions of orders 5 and 4; its last stage is the first of the next step."""

_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 5.0
"""The next step is so much shorter than what would just do, and changes by no more than these factors."""


def odeint(
    f: object,
    y0: object,
    ts: object,
    *,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    limit: int = 100_000,
    checkpoint: int | str = "revolve",
) -> Any:
    """The solution of ``y' = f(y, t)`` that is ``y0`` at ``ts[0]``, at all times ``ts``, as a vector.

    ``y`` is of any type of Reals; ``ts`` are Reals in ascending or descending order. The error of a step is
    about ``atol + rtol |y|`` at most, at every place. The derivative is that of the solution, with respect to
    ``y0``, ``ts`` and all that ``f`` uses from around it. ``checkpoint`` is as for `while_loop`.

    It is an error, found when it runs, if there are more than ``limit`` steps from one time to the next, or
    a time is no finite number.
    """
    here = Construct("odeint")
    check_options("odeint", limit, rtol=rtol, atol=atol)
    t = type_of(y0, "odeint: the start")
    tangent(t, "odeint")
    if not leaves(t):
        raise TypeError(f"odeint: expected Reals to start from, got {describe(y0)}")
    times = type_of(ts, "odeint: the times")
    if not isinstance(times, Array) or times.elem is not REAL or len(ts) == 0:  # type: ignore[arg-type]
        raise TypeError(f"odeint: expected a vector of Reals as the times, got {describe(ts)}")
    n = len(ts)  # type: ignore[arg-type]
    function = function_on("odeint", f, [t, REAL], t)
    at, y0 = symbolic(ts, times, "odeint"), symbolic(y0, t, "odeint")
    state = Struct({"y": t, "slope": t, "t": REAL, "h": REAL, "ends": BOOL})
    control = _StepControl(t, rtol, atol)
    verdict = Struct({"ratio": REAL, "next": REAL})
    first_step = functional([], [t, t], REAL, control.first, lambda *_: zero())
    judge = functional(
        [], [t, t, t, REAL], verdict, control.judged, lambda *_: {"ratio": zero(), "next": zero()}
    )

    def step(target: Any, s: Any) -> dict[str, Any]:
        left = target - s.t
        last = _leq(_abs(left), s.h)
        h = select(last, left, _sign(left) * s.h)
        new, slope, error = _step(t, function, s.y, s.t, h, s.slope)
        v: Any = judge(s.y, new, error, h)
        good = _leq(v.ratio, 1.0)

        def chosen(a: Any, b: Any) -> Any:
            return combined(t, lambda a, b: select(good, a, b), a, b)

        return {
            "y": chosen(new, s.y),
            "slope": chosen(slope, s.slope),
            "t": select(good, select(last, target, s.t + h), s.t),
            "h": select(_and(good, last), _max(v.next, s.h), v.next),
            "ends": _and(good, last),
        }

    def to(s: Any, i: Any) -> tuple[Any, Any]:
        target = ensure(here, _abs(at[i] - s.t) < math.inf, at[i], "one of the times is not a finite number")
        start = {"y": s.y, "slope": s.slope, "t": s.t, "h": s.h, "ends": False}
        end: Any = iterate_while(
            state, start, lambda s: _not(s.ends), lambda s: step(target, s), limit, checkpoint
        )
        there = ensure(here, end.ends, 1.0, f"more than {limit} steps from one time to the next")
        y = combined(t, lambda x: x * there, end.y)
        return {"y": y, "slope": end.slope, "t": end.t, "h": end.h, "ends": end.ends}, y

    slope = function(y0, at[0])
    start = {"y": y0, "slope": slope, "t": at[0], "h": first_step(y0, slope), "ends": False}
    return scan(n, state, start, to)[1]


class _StepControl:
    """How long steps are, by the error that is allowed."""

    def __init__(self, t: Type, rtol: float, atol: float) -> None:
        self.t, self.rtol, self.atol = t, rtol, atol

    def scaled(self, x: Any, y: Any, z: Any) -> Any:
        """The norm of ``x`` in units of the error that is allowed between ``y`` and ``z``."""
        t, rtol, atol = self.t, self.rtol, self.atol
        scale = combined(t, lambda y, z: atol + rtol * _max(_abs(y), _abs(z)), y, z)
        return norm(t, combined(t, operation("div"), x, scale))

    def first(self, y: Any, slope: Any) -> Any:
        """A step in which the solution changes by about a hundredth (Hairer, Nørsett, Wanner, II.4)."""
        size, speed = self.scaled(y, y, y), self.scaled(slope, y, y)
        return select(_and(_gt(size, 1e-5), _gt(speed, 1e-5)), 0.01 * size / speed, 1e-6)

    def judged(self, y: Any, new: Any, error: Any, h: Any) -> dict[str, Any]:
        """The error of a step of length ``h`` in units of what is allowed, and the next length."""
        ratio = self.scaled(error, y, new)
        factor = _min(_GROW, _max(_SHRINK, _SAFETY * _pow(ratio, -0.2)))
        return {"ratio": ratio, "next": _abs(h) * select(_leq(ratio, 1e300), factor, _SHRINK)}


def _step(t: Type, f: Function, y: Any, time: Any, h: Any, slope: Any) -> tuple[Any, Any, Any]:
    """The solution after one step, its slope there, and the estimated error."""
    slopes = [slope]

    def advanced(weights: Sequence[float], start: bool = True) -> Any:
        used = [(w, k) for w, k in zip(weights, slopes, strict=True) if w]

        def place(y: Any, *ks: Any) -> Any:
            total = reduce(_add, [w * k for (w, _), k in zip(used, ks, strict=True)])
            return y + h * total if start else h * total

        return combined(t, place, y, *(k for _, k in used))

    for weights, c in zip(_STAGES, _TIMES, strict=True):
        slopes.append(f(advanced(weights), time + c * h))
    new = advanced(_SOLUTION)
    slopes.append(f(new, time + h))
    return new, slopes[-1], advanced(_ERROR, start=False)
