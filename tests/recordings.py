"""Recordings written by hand, in the form in which the bridge hands programs over."""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from typing import Any

from rose_core.derivatives.known import Known
from rose_core.language.ir import STRUCTURAL_NAMES
from rose_core.language.ops import OPS
from rose_core.language.ops import code as opcode
from rose_core.recording.operands import END
from rose_core.recording.record import Recording

CODES = {name: len(OPS) + k for k, name in enumerate(STRUCTURAL_NAMES)} | {"end": END}


class Writer:
    """One function: rows by name, each giving its id; what is not an id is a literal."""

    def __init__(self, name: str, params: Sequence[int], ret: int, types: Sequence[int]) -> None:
        self.rows: list[int] = []
        self.extra: list[int] = []
        self.literals: list[tuple[float, int]] = []
        self.callees: list[int] = []
        self.entry: dict[str, Any] = {
            "name": name, "kind": "fn", "params": list(params), "ret": ret, "jvp": -1,
            "types": list(types), "captures": [], "opaque": False, "remat": False,
        }  # fmt: skip

    def row(self, op: str, x: int, y: int = 0) -> int:
        self.rows += [CODES[op] if op in CODES else opcode(op), x, y]
        return len(self.rows) // 3 - 1

    def rows_of(self, op: str, *operands: int) -> int:
        at = len(self.extra)
        self.extra += operands
        return self.row(op, at, len(operands))

    def literal(self, value: float, kind: int) -> int:
        self.literals.append((value, kind))
        return ~(len(self.literals) - 1)

    def refer(self, callee: int) -> int:
        """The number by which rows refer to a function."""
        if callee not in self.callees:
            self.callees.append(callee)
        return self.callees.index(callee)

    def call(self, callee: int, *args: int, op: str = "call") -> int:
        return self.rows_of(op, self.refer(callee), *args)


def sent(
    types: list[Any], functions: Sequence[Writer], results: Sequence[Sequence[int]]
) -> tuple[str, bytes, list[float]]:
    """Header, ints and reals of the program of these functions, the last of which is the entry."""
    ints: list[int] = []
    reals: list[float] = []
    entries = []
    for f, returned in zip(functions, results, strict=True):
        ints += [*f.rows, *f.extra, *(kind for _, kind in f.literals)]
        reals += [float(value) for value, _ in f.literals]
        whole = not {CODES[op] for op in ("vjp", "cond", "loop")}.isdisjoint(f.rows[0::3])
        entries.append(
            {
                **f.entry,
                "sizes": [len(f.rows) // 3, len(f.extra), len(f.literals)],
                "callees": f.callees,
                "results": list(returned),
                "calls": "v" if whole else "c" if f.callees else "",
            }
        )
    header = json.dumps({"types": types, "functions": entries, "root": len(functions) - 1})
    return header, array("i", ints).tobytes(), reals


def recording(
    types: list[Any],
    functions: Sequence[Writer],
    results: Sequence[Sequence[int]],
    *,
    whole: bool = True,
    known: Known | None = None,
) -> Recording:
    """The program of these functions, the last of which is the entry."""
    header, ints, reals = sent(types, functions, results)
    return Recording(json.loads(header), memoryview(ints).cast("i"), reals, known=known, whole=whole)
