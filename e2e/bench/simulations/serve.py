"""A library's gradient of a simulation as a process: `-m e2e.bench.simulations.serve LIBRARY NAME`.

Run by the Python of `build.py bench --cpython`, by elsewhere.py. Lines of JSON go in and out: first what
the workload's module has as `problem`, for the loss and its gradient; then, again and again, how many
milliseconds a turn shall last at least, for the milliseconds per call.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable

LIBRARIES = {
    "JAX": ("jax", {}),
    "Taichi": ("taichi", {"is_one": False}),
    "Taichi, 1 kernel": ("taichi", {"is_one": True}),
}
"""For each the end of its modules' names, and what else they are told."""


def time_per_call(call: Callable[[], object], least: float) -> float:
    """Milliseconds, of as many calls as take `least` milliseconds or a little more."""
    start = time.perf_counter()
    count = 0
    while True:
        call()
        count += 1
        passed = 1e3 * (time.perf_counter() - start)
        if passed >= least:
            return passed / count


def main(library: str, name: str) -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print is no answer
    end, options = LIBRARIES[library]
    module = importlib.import_module(f"e2e.bench.simulations.{name}_{end}")
    contender = module.prepare(json.loads(sys.stdin.readline()), **options)
    contender.gradient()
    print(json.dumps(contender.found()), file=answers)
    for line in sys.stdin:
        print(time_per_call(contender.gradient, json.loads(line)), file=answers)


if __name__ == "__main__":
    main(*sys.argv[1:])
