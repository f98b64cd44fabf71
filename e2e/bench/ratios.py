"""How many times longer a gradient takes than its function: `python3 build.py bench tables`.

The tables of two of the texts that this library answers: gradients of Rosenbrock's and Ackley's functions
by ForwardDiff, ReverseDiff and HIPS autograd as they were published (J. Revels, "Automatic
Differentiation in Julia"), HIPS autograd here, and this library; and the programs of "Don't Unroll
Adjoint", with C beside them. And the sparse Hessian of Rosenbrock's function in units of its gradient.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping
from typing import Any

from playwright.sync_api import Page

from e2e.bench.tables import aligned, digits
from js_bridge.build.paths import CPYTHON, ROOT

Published = Mapping[int, tuple[float, float]]
"""For each size the milliseconds of a gradient, and how many times longer it took than the value."""

PUBLISHED: Mapping[str, Mapping[str, Published]] = {
    "rosenbrock": {
        "autograd": {
            10: (0.762710, 105),
            100: (4.268964, 284),
            1_000: (39.14904, 424),
            10_000: (398.4010, 467),
            100_000: (4086.092, 473),
        },
        "ForwardDiff": {
            10: (0.000581, 32),
            100: (0.027806, 169),
            1_000: (2.653071, 1_693),
            10_000: (263.6982, 16_927),
            100_000: (26_654.46, 171_271),
        },
        "ReverseDiff": {
            10: (0.005820, 34),
            100: (0.011051, 17),
            1_000: (0.065846, 13),
            10_000: (0.608596, 12),
            100_000: (6.582295, 13),
        },
    },
    "ackley": {
        "autograd": {
            10: (1.174616, 73),
            100: (8.257150, 257),
            1_000: (79.81085, 419),
            10_000: (809.0989, 452),
            100_000: (8209.631, 463),
        },
        "ForwardDiff": {
            10: (0.000940, 6),
            100: (0.053958, 38),
            1_000: (5.480441, 318),
            10_000: (561.3962, 2_716),
            100_000: (56_838.42, 27_308),
        },
    },
}
PROGRAMS = ("sincos", "power", "power_loop", "logsumexp", "logistic", "mlp")
HESSIAN = 10_000
"""The size of Rosenbrock's function of which the sparse Hessian is measured."""
C = "C -O3 simd"
OF_VALUE, OF_C = 3.0, 1.3
"""The most that a gradient may take of its own value, and of the same gradient in C."""
GRADIENTS = 20.0
"""The most gradients that the sparse Hessian may take."""


def by_autograd(name: str, sizes: Iterable[int]) -> Mapping[str, Mapping[str, Any]]:
    """What hips.py measures."""
    command = [str(CPYTHON), "-m", "e2e.bench.hips", name, *map(str, sizes)]
    found = subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(found)  # type: ignore[no-any-return]


def of_own_value(found: Mapping[str, Any]) -> dict[str, float]:
    """Milliseconds of a contender's gradient, as called and in WebAssembly alone, and their ratios."""
    return {
        "gradient": found["gradient"]["median"] / 1e3,
        "ratio": found["gradient"]["of value"],
        "body": found["gradient, body"]["median"] / 1e3,
        "body ratio": found["gradient, body"]["of value"],
    }


def against_published(
    name: str, entry: Mapping[str, Any], autograd: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """For each size all that is in a row of the table."""
    rows = []
    for size in entry["sizes"]:
        n = size["n"]
        rows.append(
            {
                "n": n,
                "published": {
                    library: dict(zip(("gradient", "ratio"), of[n], strict=True))
                    for library, of in PUBLISHED[name].items()
                },
                "here": {library: of[str(n)] for library, of in autograd.items()},
                "this": of_own_value(size["contenders"]["this"]),
            }
        )
    return rows


def published_table(title: str, rows: Iterable[Mapping[str, Any]]) -> str:
    lines: list[tuple[str, ...]] = []
    for row in rows:
        columns = [
            *((f"{name}, published", of) for name, of in row["published"].items()),
            *((f"{name}, here", of) for name, of in row["here"].items()),
            ("this", row["this"]),
        ]
        if not lines:
            lines = [("n", *(name for name, _ in columns), "its body", "ahead")]
        own = row["this"]
        best = min(of["ratio"] for name, of in row["published"].items() if name != "autograd")
        cells = [f"{digits(of['ratio'])}x ({digits(of['gradient'])})" for _, of in columns]
        body = f"{digits(own['body ratio'])}x ({digits(own['body'])})"
        ahead = "yes" if max(own["ratio"], own["body ratio"]) < best else "NO"
        lines.append((str(row["n"]), *cells, body, ahead))
    heading = f"{title}: gradient ÷ function (ms of a gradient)"
    return aligned(heading, lines, names=0)


def against_c(entries: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "program": entries[name]["title"],
            "n": size["n"],
            **of_own_value(size["contenders"]["this"]),
            "of C": size["contenders"][C]["gradient, body"]["ratio"],
        }
        for name in PROGRAMS
        for size in entries[name]["sizes"]
    ]


def c_table(rows: Iterable[Mapping[str, Any]]) -> str:
    lines = [("", "n", "ms, called", "of its value", "ms, body", "of its value", f"of {C}", "met")]
    for row in rows:
        met = row["body ratio"] <= OF_VALUE and row["of C"] <= OF_C
        measured = [digits(row[c]) for c in ("gradient", "ratio", "body", "body ratio", "of C")]
        lines.append((row["program"], str(row["n"]), *measured, "yes" if met else "NO"))
    return aligned(f"Gradients: at most {OF_VALUE} of their value and {OF_C} of C", lines, names=0)


def hessian_table(found: Mapping[str, Any]) -> str:
    heading = f"Sparse Hessian of Rosenbrock's function: at most {GRADIENTS} gradients"
    head = ("n", "passes", "ms a gradient", "ms a Hessian", "gradients", "met")
    times = [digits(found[what]["median"] / 1e3) for what in ("gradient", "hessian")]
    met = "yes" if found["ratio"] <= GRADIENTS else "NO"
    row = (str(found["n"]), str(found["passes"]), *times, digits(found["ratio"]), met)
    return aligned(heading, [head, row], names=0)


def measure(
    page: Page, entries: Mapping[str, Mapping[str, Any]], options: Mapping[str, Any], size: int = HESSIAN
) -> dict[str, Any]:
    """All tables, of workloads that have been measured."""
    found: dict[str, Any] = {}
    for name in PUBLISHED:
        sizes = [size["n"] for size in entries[name]["sizes"]]
        found[name] = against_published(name, entries[name], by_autograd(name, sizes))
    found["programs"] = against_c(entries)
    call = "(args) => import('./hessian.js').then(({ measure }) => measure(...args))"
    found["hessian"] = page.evaluate(call, [size, options])
    return found


def table(found: Mapping[str, Any]) -> str:
    published = [published_table(name.title(), found[name]) for name in PUBLISHED]
    return "\n".join([*published, c_table(found["programs"]), hessian_table(found["hessian"])])
