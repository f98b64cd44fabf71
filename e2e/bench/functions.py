"""Built-in functions, imported from JavaScript's `Math` and as WebAssembly: `python3 build.py bench math`.

Nanoseconds of a call in a loop: ``free``, where no call waits for another, and ``waiting``, where each
waits for the one before. C has the functions of musl, where there is a libc for wasm.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import Any

from playwright.sync_api import Page

from e2e.bench.tables import aligned, digits
from rose_core import libm
from rose_core.encode import (
    BR_IF_0,
    END,
    F64_ADD,
    I32_ADD,
    I32_SUB,
    LOOP,
    Function,
    Import,
    call,
    f64_const,
    i32_const,
    load,
    local_get,
    local_set,
    local_tee,
    module,
)
from rose_core.language.ops import by_name
from rose_core.libm.link import Library

COUNT = 1000

RANGES: Mapping[str, tuple[float, float]] = {
    "sin": (-10, 10),
    "cos": (-10, 10),
    "tan": (-10, 10),
    "asin": (-1, 1),
    "acos": (-1, 1),
    "atan": (-5, 5),
    "sinh": (-3, 3),
    "cosh": (-3, 3),
    "tanh": (-3, 3),
    "exp": (-5, 5),
    "expm1": (-2, 2),
    "log": (0, 20),
    "log1p": (-1, 9),
    "log2": (0, 20),
    "log10": (0, 20),
    "cbrt": (-9, 9),
    "pow": (0.1, 5),
    "atan2": (-5, 5),
    "hypot": (-5, 5),
}
"""Where the first operand is drawn from; the second one is from -5 to 5."""

_F64_MUL = b"\xa2"
_N, _X, _Y, _SUM, _LAST = range(5)


def sums(name: str, ours: bool) -> tuple[bytes, int]:
    """What c/libm/functions.c does with a function, as a module; and how many bytes of it are ours."""
    operands = len(by_name[name].ins)
    imports = [] if ours else [Import("", name, "f" * operands, "f")]
    library = Library([name] if ours else [], [], 2)
    function = library.call(name) if ours else call(0)
    free = Function("free", "iii", "f", [(2, "f")], _sum(function, operands, b""))
    delay = local_get(_LAST) + f64_const(0.0) + _F64_MUL + F64_ADD
    waiting = Function("waiting", "iii", "f", [(2, "f")], _sum(function, operands, delay))
    own = library.functions()
    exported = {f"{name}_free": 0, f"{name}_waiting": 1}
    data = [(0, library.data)] if library.data else []
    size = len(library.data) + sum(len(f.code) for f in own)
    return module(imports, [free, waiting, *own], exported, 1, data, "exported"), size


def _sum(function: bytes, operands: int, delay: bytes) -> bytes:
    """A loop over n numbers at x and at y; ``delay`` is done to the first operand."""
    second = local_get(_Y) + load("f", 0) if operands == 2 else b""
    return b"".join(
        (
            LOOP,
            local_get(_SUM) + local_get(_X) + load("f", 0) + delay + second + function,
            local_tee(_LAST) + F64_ADD + local_set(_SUM),
            local_get(_X) + i32_const(8) + I32_ADD + local_set(_X),
            local_get(_Y) + i32_const(8) + I32_ADD + local_set(_Y),
            local_get(_N) + i32_const(1) + I32_SUB + local_tee(_N) + BR_IF_0,
            END,
            local_get(_SUM),
        )
    )


def measure(page: Page, names: Iterable[str], options: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """As functions.js describes it, and the bytes of ours; of all functions, or of some."""
    run = "(args) => import('./functions.js').then(({ measure }) => measure(...args))"
    found = {}
    for name in names:
        rng = random.Random(name)
        x = [rng.uniform(*RANGES[name]) for _ in range(COUNT)]
        y = [rng.uniform(-5, 5) for _ in range(COUNT)]
        modules = {"import": list(sums(name, False)[0])}
        size = None
        if name in libm.__all__:
            ours, size = sums(name, True)
            modules["this"] = list(ours)
        found[name] = {**page.evaluate(run, [name, modules, x, y, options]), "bytes": size}
    return found


def table(found: Mapping[str, Mapping[str, Any]]) -> str:
    contenders = ("this", "import", "C")
    rows = [("", *(f"{c}, {w}" for w in ("free", "waiting") for c in (*contenders, "ratio")), "bytes")]
    for name, times in found.items():
        cells = [name]
        for what in ("free", "waiting"):
            cells += [digits(times[c][what]["median"]) if c in times else "" for c in contenders]
            cells.append(digits(times["this"][what]["ratio"]) if "this" in times else "")
        rows.append((*cells, str(times["bytes"] or "")))
    return aligned("Built-in functions: nanoseconds a call, and ours relative to the import", rows, names=0)
