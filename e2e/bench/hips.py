"""HIPS autograd on the functions that ForwardDiff and ReverseDiff were published with, as JSON.

Run by the Python of `build.py bench --cpython`. Each function is written twice: with a loop over the
elements, as it must have been for the published figures, and with the functions of arrays.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

import autograd
import autograd.numpy
import numpy

from e2e.bench.turns import time_per_call

TURNS = 7
TURN = 0.01
"""Seconds."""
LONG = 0.3
"""Seconds after which a call is measured once."""


def rosenbrock(np: Any, x: Any) -> Any:
    a, b = x[:-1], x[1:]
    return (100 * (b - a * a) ** 2 + (1 - a) ** 2).sum()


def rosenbrock_loop(np: Any, x: Any) -> Any:
    result = 0.0
    for i in range(len(x) - 1):
        result = result + 100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
    return result


def ackley(np: Any, x: Any) -> Any:
    far = -20 * np.exp(-0.2 * np.sqrt((x * x).mean()))
    return far - np.exp(np.cos(math.tau * x).mean()) + 20 + math.e


def ackley_loop(np: Any, x: Any) -> Any:
    squares = cosines = 0.0
    for i in range(len(x)):
        squares = squares + x[i] ** 2
        cosines = cosines + np.cos(math.tau * x[i])
    far = -20 * np.exp(-0.2 * np.sqrt(squares / len(x)))
    return far - np.exp(cosines / len(x)) + 20 + math.e


FUNCTIONS = {
    "rosenbrock": {"autograd": rosenbrock, "autograd, loop": rosenbrock_loop},
    "ackley": {"autograd": ackley, "autograd, loop": ackley_loop},
}


def measure(f: Callable[..., Any], n: int) -> dict[str, float]:
    """Milliseconds of a gradient, and how many times longer it takes than the value."""
    x = numpy.sin(numpy.arange(n, dtype=float))
    gradient = autograd.grad(lambda x: f(autograd.numpy, x))
    gradients, ratios = [], []
    for _ in range(TURNS):
        value = time_per_call(lambda: f(numpy, x), TURN)
        gradients.append(time_per_call(lambda: gradient(x), TURN))
        ratios.append(gradients[-1] / value)
        if gradients[-1] > LONG:
            break
    return {"gradient": 1e3 * median(gradients), "ratio": median(ratios)}


def main(name: str, sizes: list[int]) -> None:
    found: Mapping[str, Any] = {how: {n: measure(f, n) for n in sizes} for how, f in FUNCTIONS[name].items()}
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], [int(n) for n in sys.argv[2:]])
