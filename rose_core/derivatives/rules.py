"""Derivative rules made ready for use: straight-line templates, forward and transposed.

The table (`language.ops`) holds one formula per op, for the forward direction. For each set of
operands that vary, the formula is run once on symbols, and kept as two little programs: one from the
operands' tangents to the result's (Figure 12), one from the result's cotangent to the operands'
(Figure 13). The second is the first transposed, so no derivative is written twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeGuard

from rose_core.language.formula import ZERO, Linear, Primal
from rose_core.language.ir import Func
from rose_core.language.ops import LIBRARY, OPS, by_name
from rose_core.language.queries import among, places, remembered

_NAMES = "select or mul add sub neg div sqrt".split()
_SELECT, _OR, _MUL, _ADD, _SUB, _NEG, _DIV, _SQRT = (by_name[n].code for n in _NAMES)
_QUOTIENTS = among([_DIV])


class Template:
    """A straight-line program over a numbered environment.

    The environment starts with ``inputs`` slots, goes on with the numbers in ``consts`` (None stands
    for the zero tangent), and grows by one slot with each instruction ``(opcode, linear, *slots)``.
    ``outputs`` are slots; in a transposed template they are ``(operand, sign, slot)``.
    """

    __slots__ = ("consts", "has_function", "inputs", "instrs", "outputs")

    def __init__(self, inputs: int) -> None:
        self.inputs = inputs
        self.consts: list[float | None] = []
        self.instrs: list[tuple[int, ...]] = []
        self.outputs: list[tuple[int, int, int]] = []
        self.has_function = False
        """Whether a function of a library is among the instructions."""


class _Writer:
    """Writes a template; constants come first in the environment, so they are collected beforehand."""

    def __init__(self, inputs: int, given: dict[object, int], consts: list[float | None]) -> None:
        self.template = Template(inputs)
        self.template.consts = consts
        self.slots = dict(given)
        self.known: dict[tuple[int, ...], int] = {}

    def const(self, value: float | None) -> int:
        return self.template.inputs + self.template.consts.index(value)

    def emit(self, opcode: int, linear: int, *slots: int) -> int:
        key = (opcode, linear, *slots)
        slot = self.known.get(key)
        if slot is None:
            template = self.template
            slot = self.known[key] = template.inputs + len(template.consts) + len(template.instrs)
            template.instrs.append(key)
            template.has_function |= opcode in LIBRARY
        return slot

    def value(self, x: Primal | Linear | float) -> int:
        """The slot that holds ``x``, written now if it was not yet."""
        if isinstance(x, (int, float)):
            return self.const(float(x))
        if x is ZERO:
            return self.const(None)
        slot = self.slots.get(x)
        if slot is None:
            args = [self.value(arg) for arg in x.args]
            if x.op == "preferred":
                slot = self.preferred(*args)
            else:
                slot = self.emit(by_name[x.op].code, isinstance(x, Linear), *args)
            self.slots[x] = slot
        return slot

    def preferred(self, p: int, a: int, q: int, b: int, half: int) -> int:
        none = self.const(None)
        both = a if b == none else b if a == none else self.emit(_ADD, 1, a, b)
        mean = self.emit(_MUL, 1, both, half)
        return self.emit(_SELECT, 1, p, a, self.emit(_SELECT, 1, q, b, mean))


def _constants(root: Linear, with_zero: bool) -> list[float | None]:
    found: list[float | None] = [None] if with_zero else []
    stack: list[Primal | Linear | float] = [root]
    while stack:
        x = stack.pop()
        if isinstance(x, (int, float)):
            if float(x) not in found:
                found.append(float(x))
        elif x is not ZERO:
            stack.extend(x.args)
    return found


class Rule:
    """The derivative of one op for one set of varying operands.

    ``forward``: operands, result, tangents (one slot per operand, unused where the operand does not
    vary) → the result's tangent. ``pull``: operands, result, cotangent → contributions to operands.
    Both are None where the derivative is structurally zero.
    """

    __slots__ = ("forward", "pull")

    def __init__(self, opcode: int, mask: int, jvp: Callable[..., Linear] | None) -> None:
        arity = len(OPS[opcode].ins)
        x = [Primal(f"x{i}") for i in range(arity)]
        y = Primal("y")
        d = [Linear(f"d{i}") if mask >> i & 1 else ZERO for i in range(arity)]
        tangent = jvp(y, x, d) if jvp else ZERO
        self.forward = self.pull = None
        if tangent is ZERO:
            return
        given: dict[object, int] = {**{v: i for i, v in enumerate(x)}, y: arity}
        slots_of_d: dict[object, int] = {v: arity + 1 + i for i, v in enumerate(d) if v is not ZERO}
        writer = _Writer(2 * arity + 1, given | slots_of_d, _constants(tangent, True))
        writer.template.outputs.append((0, 1, writer.value(tangent)))
        self.forward = writer.template
        self.pull = _transpose(tangent, arity, given, d)


def _varies(x: Primal | Linear | float) -> TypeGuard[Linear]:
    return isinstance(x, Linear) and x is not ZERO


def _transpose(tangent: Linear, arity: int, given: dict[object, int], d: list[Linear]) -> Template:
    """The transposed template: a sweep over the linear part of the formula, from its result back."""
    order: list[Linear] = []
    seen: set[Linear] = set()

    def visit(node: Linear) -> None:
        if node is not ZERO and node not in seen:
            seen.add(node)
            for arg in node.args:
                if isinstance(arg, Linear):
                    visit(arg)
            order.append(node)

    visit(tangent)
    has_select = any(node.op in ("select", "preferred") for node in order)
    w = _Writer(arity + 2, given, _constants(tangent, has_select))
    sums: dict[Linear, tuple[int, int]] = {tangent: (1, arity + 1)}

    def contribute(node: Primal | Linear | float, sign: int, slot: int) -> None:
        if not _varies(node):
            return
        if node in sums:
            old_sign, old = sums[node]
            if old_sign < 0:
                old = w.emit(_NEG, 1, old)
            sign, slot = 1, w.emit(_ADD if sign > 0 else _SUB, 1, old, slot)
        sums[node] = sign, slot

    for node in reversed(order):
        sign, c = sums[node]
        if node.op == "neg":
            contribute(node.args[0], -sign, c)
        elif node.op in ("add", "sub"):
            contribute(node.args[0], sign, c)
            contribute(node.args[1], sign if node.op == "add" else -sign, c)
        elif node.op in ("mul", "div"):
            contribute(node.args[0], sign, w.emit(by_name[node.op].code, 1, c, w.value(node.args[1])))
        elif node.op == "select":
            p, zero = w.value(node.args[0]), w.const(None)
            for arg, sides in zip(node.args[1:], ((c, zero), (zero, c)), strict=True):
                if _varies(arg):
                    contribute(arg, sign, w.emit(_SELECT, 1, p, *sides))
        elif node.op == "preferred":
            first, a, second, b, half = node.args
            conditions = w.value(first), w.value(second)
            mean = w.emit(_MUL, 1, c, w.value(half))
            # what neither has alone is computed once
            rest = w.emit(_SELECT, 1, w.emit(_OR, 0, *conditions), w.const(None), mean)
            for arg, condition in zip((a, b), conditions, strict=True):
                if _varies(arg):
                    contribute(arg, sign, w.emit(_SELECT, 1, condition, c, rest))
    w.template.outputs = [(i, *sums[v]) for i, v in enumerate(d) if v in sums]
    return w.template


_rules: dict[tuple[int, int], Rule] = {}


def rule(opcode: int, mask: int) -> Rule:
    """The derivative of an op with respect to the operands whose bits are set in ``mask``."""
    found = _rules.get((opcode, mask))
    if found is None:
        found = _rules[opcode, mask] = Rule(opcode, mask, OPS[opcode].jvp)
    return found


RECIPROCAL = Rule(_DIV, 2, lambda y, x, d: -(d[1] * y) * y)
"""The derivative of ``1 ÷ x``: products are several times faster than a quotient, and ``y`` is enough."""


TIMES_ROOT = Rule(_MUL, 3, lambda y, x, d: d[0] * (1.5 * x[1]))
"""The derivative of ``x * sqrt(x)``, by ``x`` alone: that of the root would be a quotient, 0 ÷ 0 at 0."""


INVERTED_ROOT = Rule(_SQRT, 1, lambda y, x, d: d[0] * (0.5 * (1 / y)))
"""The derivative of a root of which there is the reciprocal."""


def rule_at(func: Func, v: int, mask: int) -> Rule:
    """The same for an instruction of ``func``, of which literals and other instructions may tell more."""
    ins = func.code[v]
    if ins[0] == _DIV and mask == 2 and ins[1] < 0 and func.pool[~ins[1]][0] == 1:
        return RECIPROCAL
    if ins[0] == _MUL and mask == 3 and func.code[ins[2]] == (_SQRT, ins[1]):
        return TIMES_ROOT
    if ins[0] == _SQRT and v in _inverted(func):
        return INVERTED_ROOT
    return rule(ins[0], mask)


@remembered
def _inverted(f: Func) -> set[int]:
    """The numbers of which there is the reciprocal."""
    quotients = (f.code[v] for v in places(f, _QUOTIENTS))
    return {y for _, x, y in quotients if x < 0 and f.pool[~x][0] == 1}
