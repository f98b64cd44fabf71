"""What parts of the compiler are worth: `python3 build.py bench ablation`.

The same recordings, compiled in three ways: as ever; with JavaScript emitted in place of WebAssembly
(emit_js.py); and with every call in line before anything is differentiated (inlined.py). The compiler runs in
CPython here, what it emits in the page, on numbers that are made up; all must give the same.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

from playwright.sync_api import Page

from e2e.bench.emit_js import emit
from e2e.bench.inlined import as_written, inlined
from e2e.bench.tables import aligned, digits
from rose_core.deep import deep_recursion
from rose_core.derivatives.expand import Expansion
from rose_core.language.ir import Func
from rose_core.language.types import Array, cell_of
from rose_core.optimise.unroll import unrolled
from rose_core.recording.record import Recording
from rose_core.wasm.layout import Slot, kind_of, size_of
from rose_core.wasm.program import Program

WORKLOADS = {"springs": 12, "logistic": 100, "mlp": 32, "rosenbrock_unrolled": 1000}
DIAGRAMS = ("sets", "groups")
THIS = "this"
TURNS = 5

Recorded = Mapping[str, Any]
"""A program as the bridge sends it: ``header``, and the bytes of ``ints`` and ``reals``."""


def read(recorded: Recorded) -> Func:
    ints = memoryview(bytes(recorded["ints"])).cast("i")
    reals = memoryview(bytes(recorded["reals"])).cast("d").tolist()
    return Recording(json.loads(recorded["header"]), ints, reals).root


def as_ever(recorded: Recorded) -> dict[str, object]:
    return module(Expansion(read(recorded)).root)


def in_line(recorded: Recorded) -> dict[str, object]:
    with as_written():
        root = read(recorded)
    return module(Expansion(inlined(root)).root)


def in_javascript(recorded: Recorded) -> dict[str, object]:
    root = unrolled(Expansion(read(recorded)).root)
    return {"text": emit(root), **interface(root)}


VARIANTS: Mapping[str, Callable[[Recorded], dict[str, object]]] = {
    THIS: as_ever,
    "JavaScript": in_javascript,
    "inlined": in_line,
}


def module(root: Func) -> dict[str, object]:
    program = Program(root)
    return {
        "bytes": list(program.bytes),
        "args": [slot(s) for s in program.args],
        "results": [slot(s) for s in program.results],
    }


def interface(root: Func) -> dict[str, object]:
    types = {"args": root.params, "results": root.result_types}
    return {name: [slot(Slot(t, 0)) for t in leaves] for name, leaves in types.items()}


def slot(slot: Slot) -> tuple[str, int, int, list[int]]:
    """Kind, address, how many scalars, and the sizes of the array."""
    t, shape = slot.leaf, []
    while isinstance(t, Array):
        shape.append(t.size)
        t = t.elem
    return kind_of(t), slot.address, size_of(slot.leaf) // size_of(cell_of(t)), shape


def variants(recorded: Recorded, turns: int) -> tuple[dict[str, object], dict[str, float]]:
    """What each variant makes of a recording, and the median of its milliseconds, taken in turns."""
    times: dict[str, list[float]] = {name: [] for name in VARIANTS}
    made: dict[str, object] = {}
    for _ in range(turns):
        for name, compile in VARIANTS.items():
            start = time.perf_counter()
            with deep_recursion():
                made[name] = compile(recorded)
            times[name].append(1000 * (time.perf_counter() - start))
    return made, {name: median(each) for name, each in times.items()}


def measure(
    page: Page,
    workloads: Mapping[str, int] = WORKLOADS,
    diagrams: Sequence[str] = DIAGRAMS,
    turns: int = TURNS,
    calls: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """For each program and variant: ``compile`` (ms in CPython), and what ablation.js measures."""
    call = "([what, ...args]) => import('./ablation.js').then((module) => module[what](...args))"
    recordings = {
        f"{name}, n = {n}": page.evaluate(call, ["workload", name, n]) for name, n in workloads.items()
    }
    recordings |= {name: page.evaluate(call, ["diagram", name]) for name in diagrams}
    found: dict[str, Any] = {}
    for name, recorded in recordings.items():
        made, times = variants(recorded, turns)
        found[name] = page.evaluate(call, ["measure", made, calls or {}])
        for variant, each in times.items():
            found[name][variant]["compile"] = each
    return found


def table(found: Mapping[str, Any]) -> str:
    rows = [("", "", "compile ms", "of this", "engine ms", "kB", "of this", "gradient µs", "of this")]
    for name, variants in found.items():
        this = variants[THIS]
        for variant, measured in variants.items():
            rows.append(
                (
                    name,
                    variant,
                    digits(measured["compile"]),
                    digits(measured["compile"] / this["compile"]),
                    digits(measured["ready"]),
                    digits(measured["bytes"] / 1000),
                    digits(measured["bytes"] / this["bytes"]),
                    digits(measured["gradient"]["median"]),
                    digits(measured["gradient"]["ratio"]),
                )
            )
    title = "Ablations: JavaScript in place of WebAssembly, and every call in line"
    return aligned(title, rows, names=1)
