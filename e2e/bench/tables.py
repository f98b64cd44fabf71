"""Results of the benchmarks as tables to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

COLUMNS = ("value", "gradient", "value, body", "gradient, body")
STAGES = ("callable", "compile", "compile, cold", "record", "engine", "first call")


def start_table(starts: Mapping[str, Mapping[str, float]]) -> str:
    """Milliseconds from a fresh page to a first gradient."""
    columns = ("load", "median", "q1", "q3")
    rows = [(name, *(digits(times[c]) for c in columns)) for name, times in starts.items()]
    return aligned("From a fresh page to a first gradient", [("", *columns), *rows], names=0)


def table(entry: Mapping[str, Any]) -> str:
    """A workload: for each size a line per contender. Times of calls are µs, of stages ms."""
    rows = [("n", "", *COLUMNS, "± %", "this/it", "bodies", "grad/value", *STAGES, "bytes")]
    for size in entry["sizes"]:
        for name, found in size["contenders"].items():
            rows.append((str(size["n"]), name, *cells(found)))
    return aligned(entry["title"], rows, names=1)


def aligned(title: str, rows: Sequence[tuple[str, ...]], names: int) -> str:
    """The rows in columns, of which number `names` holds words."""
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    lines = [
        "  ".join(
            cell.ljust(width) if k == names else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=False))
        )
        for row in rows
    ]
    return "\n".join([f"\n{title}", *lines])


def cells(found: Mapping[str, Any]) -> list[str]:
    if "failure" in found:
        return ["fails"]
    gradient = found["gradient"]
    spread = 100 * (gradient["q3"] - gradient["q1"]) / gradient["median"]
    return [
        *(number(found.get(c)) for c in COLUMNS),
        f"{spread:.0f}",
        digits(gradient["ratio"]),
        digits(found["gradient, body"]["ratio"]) if "gradient, body" in found else "",
        digits(gradient["median"] / found["value"]["median"]) if "value" in found else "",
        *(number(found.get(c)) for c in STAGES),
        str(found.get("bytes", "")),
    ]


def number(time: Mapping[str, float] | None) -> str:
    return digits(time["median"]) if time else ""


def digits(x: float) -> str:
    return f"{x:.3g}" if x < 1000 else f"{x:.0f}"
