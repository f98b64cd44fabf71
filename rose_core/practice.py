"""What is compiled before anyone asks for anything.

Engines make the code of WebAssembly fast, such as Python itself, where it has run often. Until then a program
takes several times as long to compile as later.
"""

from __future__ import annotations

from typing import Any

from rose_core.derivatives.expand import expansion
from rose_core.derivatives.known import Known
from rose_core.language.types import REAL
from rose_core.operators.gradients import grad
from rose_core.tracing.constructs import sum
from rose_core.tracing.control import cond
from rose_core.tracing.declare import Vec
from rose_core.tracing.functions import closed, fn
from rose_core.wasm.program import Program


def practise() -> None:
    """Compile a gradient as if nothing had been compiled before, and keep nothing of it."""
    known = Known()
    Program(expansion(closed(grad(_example()), "practise"), known), "imported")
    known.forget()


def _example() -> Any:
    """A little of everything that programs have."""
    point = Vec(2, REAL)
    part = fn([REAL, REAL], REAL, lambda x, y: x * y / (1 + x * x))

    def term(p: Any, q: Any) -> Any:
        x, y = p[0] - q[0], p[1] - q[1]
        return cond(x < y, REAL, lambda: part(x, y), lambda: y * part(y, x))

    return fn([point, Vec(9, point)], REAL, lambda p, qs: sum(9, lambda i: term(p, qs[i])))
