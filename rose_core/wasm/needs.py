"""Which functions of `rose_core.libm` a program calls: for one result, for two at once, in lanes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from rose_core.language.demand import Demand
from rose_core.language.ir import LOOP, Func, LoopSite
from rose_core.language.ops import OPS, TOGETHER
from rose_core.language.queries import among, is_flat, opcodes, places

_NAMES = {op.code: op.wasm.__name__ for op in OPS if callable(op.wasm)}
_PAIRS = {code: (f.__name__, codes) for f, codes in TOGETHER.items() for code in codes}


_PAIRED, _LOOPS = among(_PAIRS), among([LOOP])


@dataclass(slots=True)
class Needs:
    """Functions by name."""

    single: dict[int, str] = field(default_factory=dict)
    """Opcode → function."""
    together: dict[str, list[int]] = field(default_factory=dict)
    """Function → opcodes, in the order of its results."""
    in_lanes: set[str] = field(default_factory=set)
    """Those that loops call, whose iterations may run in lanes."""
    demands: dict[Func, Demand] = field(default_factory=dict)
    """The demand on the values of functions that had to be looked through."""


def needs(functions: Iterable[Func]) -> Needs:
    """What these functions call, and perhaps more that they might."""
    found, functions = Needs(), list(functions)
    bodies = {g for f in functions for g in _bodies_in_loops(f)}
    for f in functions:
        codes = opcodes(f) & _NAMES.keys()
        pairs = any(codes.issuperset(_PAIRS[code][1]) for code in codes & _PAIRS.keys())
        if pairs or (codes and (len(f.blocks) > 1 or f in bodies)):
            _look(f, codes, found, f in bodies)
        else:
            found.single.update((code, _NAMES[code]) for code in codes)
    return found


def _bodies_in_loops(f: Func) -> Iterator[Func]:
    """The bodies of loops with a state in others, of those that may run in lanes."""
    if LOOP in opcodes(f) and len(f.blocks) > 1:
        for v in places(f, _LOOPS):
            site = LoopSite(f, f.code[v])
            if f.home[v] and not site.test and is_flat(site.body):
                yield site.body


def _look(f: Func, codes: set[int], found: Needs, in_loop: bool) -> None:
    """Add what ``f`` calls, some of it together or in loops; ``in_loop``: whether one runs all of it."""
    found.demands[f] = Demand(f)
    uses = found.demands[f].uses
    paired = set()
    for values in together(f, uses):
        paired.update(values)
        name, both = _PAIRS[f.code[values[0]][0]]
        found.together[name] = both
        if in_loop or f.home[values[0]]:
            found.in_lanes.add(name)
    for v in places(f, among(codes)):
        ins = f.code[v]
        if uses[v] and v not in paired:
            found.single[ins[0]] = _NAMES[ins[0]]
            if in_loop or f.home[v]:
                found.in_lanes.add(_NAMES[ins[0]])


def together(f: Func, uses: Sequence[int]) -> Iterator[list[int]]:
    """Used values that one call computes: those of a function in the order of its results."""
    calls: dict[tuple[str, int, int], dict[int, int]] = {}
    for v in places(f, _PAIRED):
        ins = f.code[v]
        if uses[v]:
            calls.setdefault((_PAIRS[ins[0]][0], ins[1], f.home[v]), {})[ins[0]] = v
    for of in calls.values():
        both = _PAIRS[next(iter(of))][1]
        if len(of) == len(both):
            yield [of[op] for op in both]
