"""The same functions in CPython: `python3 build.py bench --cpython`.

This library with wasmtime, HIPS autograd, JAX (`jit(grad(f))`, with the threads that it likes) and
PyTorch on one thread, all with 64 bits. They are given arrays as each likes them, and give their
gradients likewise. As in the browser all must agree first, take short turns, and the median counts.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"

import autograd
import autograd.numpy
import jax
import numpy
import torch

import rose_core as rose
from e2e.bench.hips import TURN, ackley, rosenbrock
from e2e.bench.turns import time_per_call
from rose_core import Real, Vec, fn, iadd, imod, vjp

jax.config.update("jax_enable_x64", True)
torch.set_num_threads(1)

TOLERANCE = 1e-9
TURNS = 11
FEATURES = 10


@dataclass(frozen=True)
class Workload:
    """A function of a vector x and constant data.

    ``array`` is written with the functions of an array library; ``rose`` makes a function of n.
    """

    title: str
    sizes: tuple[int, ...]
    array: Callable[..., Any]
    rose: Callable[[int], tuple[list[Any], Callable[..., Any]]]
    length: Callable[[int], int] = lambda n: n
    data: Callable[[int], list[Any]] = lambda n: []


def rosenbrock_rose(n: int) -> tuple[list[Any], Callable[..., Any]]:
    def value(x: Any) -> Any:
        def term(k: Any) -> Any:
            i = imod(n, k)
            a = x[iadd(n, i, 1)] - x[i] * x[i]
            b = 1 - x[i]
            return 100 * a * a + b * b

        return rose.sum(n - 1, term)

    return [Vec(n, Real)], value


def ackley_rose(n: int) -> tuple[list[Any], Callable[..., Any]]:
    def value(x: Any) -> Any:
        squares = rose.sum(n, lambda i: x[i] * x[i])
        cosines = rose.sum(n, lambda i: rose.cos(math.tau * x[i]))
        return -20 * rose.exp(-0.2 * rose.sqrt(squares / n)) - rose.exp(cosines / n) + 20 + math.e

    return [Vec(n, Real)], value


def sincos(np: Any, x: Any) -> Any:
    return np.sin(np.cos(x)).sum()


def sincos_rose(n: int) -> tuple[list[Any], Callable[..., Any]]:
    return [Vec(n, Real)], lambda x: rose.sin(rose.cos(x[0]))


def logsumexp(np: Any, x: Any) -> Any:
    return np.log(np.exp(x).sum())


def logsumexp_rose(n: int) -> tuple[list[Any], Callable[..., Any]]:
    return [Vec(n, Real)], lambda x: rose.log(rose.sum(n, lambda i: rose.exp(x[i])))


def logistic(np: Any, w: Any, X: Any, y: Any) -> Any:
    return np.log(1 + np.exp(-y * (X @ w))).sum()


def logistic_rose(n: int) -> tuple[list[Any], Callable[..., Any]]:
    W = Vec(FEATURES, Real)

    def value(w: Any, X: Any, y: Any) -> Any:
        def term(i: Any) -> Any:
            z = rose.sum(FEATURES, lambda j: X[i][j] * w[j])
            return rose.log(1 + rose.exp(-(y[i] * z)))

        return rose.sum(n, term)

    return [W, Vec(n, W), Vec(n, Real)], value


def samples(n: int) -> list[Any]:
    X = numpy.sin(numpy.arange(n * FEATURES) + 1.0).reshape(n, FEATURES)
    return [X, numpy.where(numpy.cos(3.0 * numpy.arange(n)) < 0, -1.0, 1.0)]


WORKLOADS = [
    Workload("Rosenbrock, with loops", (10, 1_000, 100_000), rosenbrock, rosenbrock_rose),
    Workload("Ackley, with loops", (10, 1_000, 100_000), ackley, ackley_rose),
    Workload("sin(cos(x))", (1,), sincos, sincos_rose),
    Workload("logsumexp", (10, 1_000, 100_000), logsumexp, logsumexp_rose),
    Workload("Logistic regression", (10, 1_000), logistic, logistic_rose, lambda n: FEATURES, samples),
]


def contenders(workload: Workload, n: int) -> dict[str, Callable[[], Any]]:
    """A call of the gradient by each library."""
    x = numpy.sin(numpy.arange(workload.length(n), dtype=float))
    data = workload.data(n)
    by_autograd = autograd.grad(lambda x: workload.array(autograd.numpy, x, *data))
    by_jax = jax.jit(jax.grad(lambda x, *data: workload.array(jax.numpy, x, *data)))
    jax_arrays = [jax.numpy.asarray(a) for a in (x, *data)]
    tensors = [torch.from_numpy(a) for a in data]
    tensor = torch.from_numpy(x).requires_grad_()

    def by_torch() -> Any:
        (gradient,) = torch.autograd.grad(workload.array(torch, tensor, *tensors), tensor)
        return gradient

    params, value = workload.rose(n)

    def gradient(x: Any, *data: Any) -> Any:
        return vjp(fn([params[0]], Real, lambda x: value(x, *data)))(x).grad(1)

    by_rose = rose.compile(fn(params, params[0], gradient))
    lists = [a.tolist() for a in (x, *data)]
    return {
        "this": lambda: by_rose(*lists),
        "autograd": lambda: by_autograd(x),
        "JAX": lambda: by_jax(*jax_arrays).block_until_ready(),
        "PyTorch": by_torch,
    }


def check(calls: Mapping[str, Callable[[], Any]], what: str) -> None:
    """Raise unless all give the same numbers."""
    expected = numpy.asarray(calls["this"]())
    for name, call in calls.items():
        found = numpy.asarray(call())
        if not numpy.allclose(found, expected, rtol=0, atol=TOLERANCE * abs(expected).max()):
            raise AssertionError(f"{what}: {name} gives {found}, not {expected}")


def main() -> None:
    print(f"µs per gradient, the median of {TURNS} turns")
    for workload in WORKLOADS:
        print(f"\n{workload.title}")
        for n in workload.sizes:
            calls = contenders(workload, n)
            check(calls, f"{workload.title}, n = {n}")
            times: dict[str, list[float]] = {name: [] for name in calls}
            for _ in range(TURNS):
                for name, call in calls.items():
                    times[name].append(1e6 * time_per_call(call, TURN))
            cells = [f"{name} {median(found):.4g}" for name, found in times.items()]
            print(f"{n:>8}  " + "   ".join(cells), flush=True)


if __name__ == "__main__":
    main()
