"""What is compiled before anyone asks for anything.

Engines make the code of WebAssembly fast, such as Python itself, where it has run often, and so does Python
with its own. Until then a program takes several times as long to compile as later. So there are programs of
several kinds, which between them keep most passes busy, and which come as recordings, as those of a page do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rose_core.derivatives.expand import expansion
from rose_core.derivatives.known import Known
from rose_core.language.types import REAL
from rose_core.operators.gradients import grad
from rose_core.recording.rebuild import rebuilt
from rose_core.tracing.constructs import select, sum, vec
from rose_core.tracing.control import cond, fori
from rose_core.tracing.declare import Vec
from rose_core.tracing.functions import closed, fn
from rose_core.tracing.operations import operation
from rose_core.wasm.program import Program

_sin, _sqrt = map(operation, ("sin", "sqrt"))


def practise(turn: int) -> None:
    """Compile a gradient as if nothing had been compiled before, and keep nothing of it.

    Every turn has one program, and the next turn the next one, so that nobody has to wait for all of them.
    """
    known = Known()
    example = _EXAMPLES[turn % len(_EXAMPLES)]()
    Program(expansion(rebuilt(closed(grad(example), "practise")), known), "imported")
    known.forget()


def _choices() -> Any:
    """A sum of calls, of which a choice tells which one."""
    point = Vec(2, REAL)
    part = fn([REAL, REAL], REAL, lambda x, y: x * y / (1 + x * x))

    def term(p: Any, q: Any) -> Any:
        x, y = p[0] - q[0], p[1] - q[1]
        return cond(x < y, REAL, lambda: part(x, y), lambda: y * part(y, x))

    return fn([point, Vec(9, point)], REAL, lambda p, qs: sum(9, lambda i: term(p, qs[i])))


def _terms() -> Any:
    """Terms for all pairs of some points, written out, as a diagram has them."""

    def distance(x: Any, y: Any, u: Any, v: Any) -> Any:
        return _sqrt((x - u) * (x - u) + (y - v) * (y - v))

    def apart(x: Any, y: Any, u: Any, v: Any, least: Any) -> Any:
        missing = least - distance(x, y, u, v)
        return select(missing > 0, REAL, missing * missing, 0.0)

    def near(x: Any, y: Any, u: Any, v: Any, size: Any) -> Any:
        stretch = distance(x, y, u, v) / size
        return stretch * stretch - _sin(stretch) * (x + v) * (y - u) / (1 + size * size)

    pushes, pulls = (fn([REAL] * 5, REAL, term) for term in (apart, near))

    def energy(v: Any) -> Any:
        points = [(v[k], v[k + 1]) for k in range(0, 8, 2)]
        total = 0.0
        for k, p in enumerate(points):
            for n, q in enumerate(points[:k]):
                total += pushes(*p, *q, 1.5 + k) + pulls(*q, *p, 2.0 + n) * (n + 0.5)
        return total

    return fn([Vec(8, REAL)], REAL, energy)


def _steps() -> Any:
    """Steps of a simulation, on vectors."""
    size = 6
    row = Vec(size, REAL)

    def step(x: Any, v: Any) -> Any:
        pulled: Any = vec(size, REAL, lambda i: v[i] - 0.1 * x[i] * (1 + x[i] * x[i]))
        return vec(size, REAL, lambda i: x[i] + 0.01 * pulled[i])

    def energy(x: Any, v: Any) -> Any:
        end: Any = fori(20, row, x, lambda _, state: step(state, v))
        return sum(size, lambda i: end[i] * end[i] + _sin(v[i]))

    return fn([row, row], REAL, energy)


_EXAMPLES: tuple[Callable[[], Any], ...] = _choices, _terms, _steps
