"""Which functions of `rose_core.libm` a program calls: for one result, for two at once, in lanes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from rose_core.demand import Demand
from rose_core.ir import Func, opcodes
from rose_core.ops import OPS, TOGETHER

_NAMES = {op.code: op.wasm.__name__ for op in OPS if callable(op.wasm)}
_PAIRS = {code: (f.__name__, codes) for f, codes in TOGETHER.items() for code in codes}


@dataclass(slots=True)
class Needs:
    """Functions by name."""

    single: dict[int, str] = field(default_factory=dict)
    """Opcode → function."""
    together: dict[str, list[int]] = field(default_factory=dict)
    """Function → opcodes, in the order of its results."""
    in_lanes: set[str] = field(default_factory=set)
    """Those that loops call, whose turns may run in lanes."""


def needs(functions: Iterable[Func]) -> Needs:
    """What these functions may call; all that they do call is among it."""
    found = Needs()
    for f in functions:
        codes = opcodes(f) & _NAMES.keys()
        pairs = any(codes.issuperset(_PAIRS[code][1]) for code in codes & _PAIRS.keys())
        if pairs or (codes and len(f.blocks) > 1):
            _look(f, codes, found)
        else:
            found.single.update((code, _NAMES[code]) for code in codes)
    return found


def _look(f: Func, codes: set[int], found: Needs) -> None:
    """Add what ``f`` calls, some of it together or in loops."""
    uses = Demand(f).uses
    calls: dict[tuple[str, tuple[int, ...], int], set[int]] = {}
    for v, ins in enumerate(f.code):
        op = ins[0]
        if op in codes and uses[v]:
            name = _PAIRS[op][0] if op in _PAIRS else _NAMES[op]
            calls.setdefault((name, ins[1:], f.home[v]), set()).add(op)
    for (name, _, home), of in calls.items():
        names = {name}
        if len(of) > 1:
            found.together[name] = next(_PAIRS[op][1] for op in of)
        else:
            names = {_NAMES[op] for op in of}
            found.single.update((op, _NAMES[op]) for op in of)
        if home:
            found.in_lanes |= names
