"""What reverse mode gives the two sides of a minimum or maximum, as one branch.

    z = p > q ∨ p < q ? 0.0 : 0.5 × x;  a = p > q ? x : z;  b = p < q ? x : z

The cotangent goes to one side, or half of it to each where both are equal. Engines make a branch of every
choice between numbers, which the next number waits for, and here they would be three.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rose_core.language.demand import Demand
from rose_core.language.ir import Func, operands
from rose_core.language.ops import code
from rose_core.language.queries import among, places
from rose_core.language.types import REAL

_SELECT, _OR, _MUL, _LT, _GT = map(code, ("select", "or", "mul", "lt", "gt"))
_SELECTS = among([_SELECT])
_REVERSE = {_LT: _GT, _GT: _LT}

_MOST = 32
"""The most in a function: engines take long to translate one with many branches and many local variables."""


@dataclass(frozen=True, slots=True)
class Branch:
    """Numbers that are set by one branch."""

    comparisons: Sequence[int]
    """One of two numbers, and its reverse."""
    sides: Sequence[int | None]
    """What is ``x`` where each of these holds; None for what nobody needs."""
    x: int
    none: int
    """What a number is where the other's comparison holds: a zero."""
    half: int
    """The factor of ``x`` where neither holds."""

    def operands(self, f: Func) -> list[int]:
        """What has to be known before: the numbers that are compared first."""
        return [*f.code[self.comparisons[0]][1:], self.x, self.none, self.half]


def branches_of(f: Func, demand: Demand) -> dict[int, Branch]:
    """Value → the branch that sets it, in the body itself; the ``demand`` becomes that with branches."""
    sides: dict[int, list[int]] = {}
    """What stands where neither of two comparisons holds → the choices that have it there."""
    for v in places(f, _SELECTS):
        z = f.code[v][3]
        if demand.uses[v] and not f.home[v] and f.types[v] is REAL and z >= 0 and f.code[z][0] == _SELECT:
            sides.setdefault(z, []).append(v)
    found: dict[int, Branch] = {}
    for z, of in sides.items() if len(sides) <= _MOST else ():
        branch = _branch(f, z, of) if demand.uses[z] == len(of) else None
        if branch:
            for x in branch.operands(f):
                demand.uses[x] += 1
                demand.rooted[x] = 1
            for v in of:
                found[v] = branch
                demand.rooted[v] = 1
                for x in f.code[v][1:]:
                    _drop(f, demand, x)
    return found


def _branch(f: Func, z: int, choices: Sequence[int]) -> Branch | None:
    """The branch that sets these, if they are the two sides of a minimum or maximum, or one of them."""
    _, either, none, mean = f.code[z]
    if min(either, mean) < 0 or none >= 0 or (f.code[either][0], f.code[mean][0]) != (_OR, _MUL):
        return None
    comparisons = f.code[either][1:]
    half, x = sorted(f.code[mean][1:])
    chosen = {f.code[v][1]: v for v in choices if f.code[v][2] == x}
    if half >= 0 or min(comparisons) < 0 or len(chosen) < len(choices) or not chosen.keys() <= {*comparisons}:
        return None
    first, second = (f.code[v] for v in comparisons)
    if first[0] not in _REVERSE or second != (_REVERSE[first[0]], *first[1:]):
        return None
    return Branch(comparisons, [chosen.get(v) for v in comparisons], x, none, half)


def _drop(f: Func, demand: Demand, v: int) -> None:
    """Have one user less of ``v``, and if that was the last, of what it is made of."""
    demand.uses[v] -= 1
    if v >= 0 and not demand.uses[v]:
        for x in operands(f.code[v], f.blocks):
            _drop(f, demand, x)
