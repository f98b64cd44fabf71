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

from e2e.bench.turns import time_per_call

LIBRARIES = {
    "JAX": ("jax", {}),
    "Taichi": ("taichi", {"is_one": False}),
    "Taichi, 1 kernel": ("taichi", {"is_one": True}),
}
"""For each the end of its modules' names, and what else they are told."""


def main(library: str, name: str) -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print is no answer
    end, options = LIBRARIES[library]
    module = importlib.import_module(f"e2e.bench.simulations.{name}_{end}")
    contender = module.prepare(json.loads(sys.stdin.readline()), **options)
    contender.gradient()
    print(json.dumps(contender.found()), file=answers)
    for line in sys.stdin:
        print(1e3 * time_per_call(contender.gradient, json.loads(line) / 1e3), file=answers)


if __name__ == "__main__":
    main(*sys.argv[1:])
