"""Penrose's diagrams with our rose beside npm's: `python3 build.py bench penrose`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from playwright.sync_api import Page

from e2e.bench.tables import aligned, digits
from js_bridge.build.paths import PENROSE

MEASURES = ("callable", "compile", "record", "engine", "gradient", "body", "bytes")
RATIOS = ("callable", "compile", "gradient", "body", "bytes")

Diagram = Mapping[str, Mapping[str, Any]]
"""What penrose.js says of a diagram: for each library its measures."""


def diagrams() -> list[str]:
    return sorted(path.name for path in (PENROSE / "diagrams").iterdir())


def measure(page: Page, names: Sequence[str], options: Mapping[str, Any]) -> dict[str, Diagram]:
    """Milliseconds, microseconds and bytes, as penrose.js describes them."""
    call = "(args) => import('./penrose.js').then(({ measure }) => measure(...args))"
    return {name: page.evaluate(call, [name, options]) for name in names}


def table(found: Mapping[str, Diagram]) -> str:
    """For each diagram ours, theirs, and ratios; below, the ratios' medians and largest.

    Last, what of each call is Penrose's own, and so the least ratio that any gradient could have.
    """
    columns = [name for m in MEASURES for name in ((m, "rose", "ratio") if m in RATIOS else (m,))]
    rows = [("", *columns, "Penrose's own", "ratio")]
    ratios: dict[str, list[float]] = {m: [] for m in RATIOS}
    least: list[float] = []
    for name, diagram in found.items():
        cells = [name]
        for m in MEASURES:
            ours, theirs = (size(diagram[library][m]) for library in ("ours", "original"))
            cells.append(digits(ours))
            if m in RATIOS:
                ratios[m].append(ours / theirs)
                cells += [digits(theirs), digits(ours / theirs)]
        own, theirs = (size(diagram[library]["gradient"]) for library in ("idle", "original"))
        least.append(own / theirs)
        rows.append((*cells, digits(own), digits(own / theirs)))
    for name, of in (("median", median), ("largest", max)):
        summary = [("", "", digits(of(ratios[m]))) if m in RATIOS else ("",) for m in MEASURES]
        rows.append((name, *(cell for cells in summary for cell in cells), "", digits(of(least))))
    return aligned(
        "Penrose's diagrams: ms until it can be called and is compiled, µs a gradient", rows, names=0
    )


def size(measured: Any) -> float:
    return float(measured["median"] if isinstance(measured, dict) else measured)
