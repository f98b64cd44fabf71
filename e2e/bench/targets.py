"""What was measured beside what was aimed at; `build.py bench` prints it of the benchmarks that it ran.

Ratios are times of ours divided by those of the contender. A program is *scalar* if it works on single
numbers, as those do that are written out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import median
from typing import Any, NamedTuple

from e2e.bench import ratios
from e2e.bench.elsewhere import JAX, TAICHI
from e2e.bench.penrose import size
from e2e.bench.tables import aligned, digits

THIS, ROSE = "this", "rose 0.4.10"
SCALAR = ("sincos", "power", "rosenbrock_unrolled", "ackley_unrolled")
WRITTEN_OUT = ("rosenbrock_unrolled", "ackley_unrolled")
LOOPS = (*ratios.PUBLISHED, *ratios.PROGRAMS)
SIMULATIONS: Mapping[str, Mapping[str, float]] = {
    "billiards": {ROSE: 0.15, TAICHI: 0.15, JAX: 1.0},
    "robot": {ROSE: 0.2, JAX: 2.0},
}
"""The most that a gradient may take of that of others: Taichi's has a kernel for each time step."""
MEMORY = {"robot": 32.0}
"""MB, the most that a gradient may use."""
COMPILE = {10: 1.0, 100: 0.5, 1_000: 0.3}
"""Of rose's time from a function to what can be called; any time below `AT_ONCE` will do."""
AT_ONCE = 3.0


class Row(NamedTuple):
    what: str
    where: str
    found: float
    most: float


def of_workloads(workloads: Mapping[str, Any]) -> Iterator[Row]:
    for name, entry in workloads.items():
        for measured in entry["sizes"]:
            contenders = measured["contenders"]
            if "gradient" in contenders.get(THIS, {}):
                n = measured["n"]
                place = entry["title"] if len(entry["sizes"]) == 1 else f"{entry['title']}, n = {n}"
                for what, found, most in of_size(name, n, measured.get("operations"), contenders):
                    yield Row(what, place, found, most)


def of_size(
    name: str, n: int, operations: int | None, contenders: Mapping[str, Any]
) -> Iterator[tuple[str, float, float]]:
    """Of one workload at one size: what it is about, what was found, and the most that it may be."""
    this, rose = contenders[THIS], contenders.get(ROSE, {})
    if name == "rosenbrock_unrolled" and n in COMPILE and "callable" in rose:
        ours, theirs = this["callable"]["median"], rose["callable"]["median"]
        yield (
            "from a function to what can be called ÷ rose's",
            ours / theirs,
            max(COMPILE[n], AT_ONCE / theirs),
        )
    for peer, most in SIMULATIONS.get(name, {}).items():
        if "gradient" in contenders.get(peer, {}):
            yield f"gradient of a simulation ÷ that of {peer}", contenders[peer]["gradient"]["ratio"], most
    if name in MEMORY and "memory" in this:
        yield "MB of memory of a gradient", this["memory"] / 1e6, MEMORY[name]
    if name in SIMULATIONS and "gradient" in rose:
        for what in ("callable", "compile, cold"):
            yield f"{what}, of a simulation ÷ rose's", this[what]["median"] / rose[what]["median"], 1.0
    if operations and operations > 10_000:
        compiled = this["compile"]["median"]
        yield "µs of compilation per operation", 1e3 * compiled / operations, 5.0
        if "first call" in this:
            most = 3 * this["gradient"]["median"] / 1e3 + 10
            yield "ms of the first call", this["first call"]["median"], most
    if operations and 100 <= operations <= 10_000 and "gradient" in rose:
        yield "gradient ÷ rose's, 100 to 10,000 operations", rose["gradient"]["ratio"], 0.25
    for peers, peer, most in ((LOOPS, ratios.C, ratios.OF_C), (WRITTEN_OUT, "C -O3", 1.2)):
        if name in peers and "gradient, body" in contenders.get(peer, {}) and (peers is LOOPS or n == 100):
            yield f"body of a gradient ÷ that of {peer}", contenders[peer]["gradient, body"]["ratio"], most
    if "gradient, body" in this and "value, body" in this:
        ratio = this["gradient, body"]["median"] / this["value, body"]["median"]
        yield "gradient ÷ value, bodies", ratio, ratios.OF_VALUE if name in ratios.PROGRAMS else 4.0
    for peer, times in (("TensorFlow.js", 500), ("jax-js", 50)):
        if name in SCALAR and n <= 1_000 and "gradient" in contenders.get(peer, {}):
            yield f"gradient ÷ {peer}'s, scalar", contenders[peer]["gradient"]["ratio"], 1 / times


def of_diagrams(diagrams: Mapping[str, Any]) -> Iterator[Row]:
    for what, of, name, most in (
        ("callable", median, "median", 0.5),
        ("callable", max, "largest", 1.0),
        ("gradient", median, "median", 0.1),
        ("gradient", max, "largest", 0.5),
        ("bytes", median, "median", 0.1),
    ):
        ratios = [size(each["ours"][what]) / size(each["original"][what]) for each in diagrams.values()]
        yield Row(f"Penrose: {what} ÷ rose's", name, of(ratios), most)


def rows(results: Mapping[str, Any]) -> list[Row]:
    """All that results have a target for, those about the same together."""
    found = list(of_workloads(results["workloads"]))
    values = [row.found for row in found if row.what.startswith("gradient ÷ value")]
    if values:
        found.append(Row("gradient ÷ value, bodies", "median of all", median(values), 2.5))
    if results.get("penrose"):
        found += of_diagrams(results["penrose"])
    order = list(dict.fromkeys(row.what for row in found))
    return sorted(found, key=lambda row: order.index(row.what))


def table(found: list[Row]) -> str:
    lines = [("", "", "found", "at most", "met")]
    for what, where, value, most in found:
        lines.append((what, where, digits(value), digits(most), "yes" if value <= most else "NO"))
    met = sum(row.found <= row.most for row in found)
    return aligned(f"Targets: {met} of {len(found)} are met", lines, names=0)
