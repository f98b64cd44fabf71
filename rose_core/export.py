"""Prints what the JavaScript bridge has of the table: ``python -m rose_core.export opcodes``, or ``rules``.

Derivative rules are written out as functions: drafts differentiate tens of thousands of operations at once.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from rose_core.derivatives.rules import Rule, Template, rule
from rose_core.errors import NO_COUNT, NO_INDEX, OUT_OF_RANGE, TEXTS
from rose_core.language.ir import STRUCTURAL_NAMES
from rose_core.language.ops import OPS, Op

_HEAD = """// Made from ops.py and ir.py in rose_core/language/ by `python -m rose_core.export opcodes`.

"""

_HEAD_OF_RULES = """// Made from rose_core/language/ops.py by `python -m rose_core.export rules`.

import { OP } from "./opcodes.gen";

/** Where rules write what they compute; values are ids. */
export interface Writer {
  number(x: number): number;
  operation(op: number, x: number, y: number): number;
  select(p: number, a: number, b: number): number;
  /** Add a value to the cotangent of `id`, or take it away. */
  add(id: number, c: number): void;
  take(id: number, c: number): void;
}

/** From operands, the result `r` and the tangents of those that vary to the tangent of the result. */
export type Push = (
  w: Writer,
  a: number,
  b: number,
  c: number,
  r: number,
  da: number,
  db: number,
  dc: number,
) => number;

/** From operands, the result and its cotangent `d` to the cotangents of the operands that vary. */
export type Pull = (
  w: Writer,
  a: number,
  b: number,
  c: number,
  r: number,
  d: number,
) => void;

"""


_NOT_IN_MATH = {"neg", "add", "sub", "mul", "div", "sign", "side"}
"""``Math.sign`` is another: of a zero, the sign is the zero there, and its own here."""

_COMPLAINTS = {"OUT_OF_RANGE": OUT_OF_RANGE, "NO_INDEX": NO_INDEX, "NO_COUNT": NO_COUNT}


def typescript() -> str:
    """The module ``js_bridge/src/opcodes.gen.ts``."""
    lines = [f"  {op.name} = {op.code}," for op in OPS]
    on_reals = [
        f"  {op.name}: {op.code}," for op in OPS if {*op.ins, op.out} == {"R"} and op.name not in _NOT_IN_MATH
    ]
    names = [*STRUCTURAL_NAMES, "end"]
    structural = [f"  {name.upper()} = {len(OPS) + k}," for k, name in enumerate(names)]
    return (
        _HEAD
        + "/** Operations of the table, by name. */\nexport const enum OP {\n"
        + "\n".join(lines)
        + "\n}\n\n/** Those from Reals to a Real that `Math` has as well, by the name there. */\n"
        + "export const ON_REALS: Readonly<Record<string, OP>> = {\n"
        + "\n".join(on_reals)
        + "\n};\n\n/** Structural opcodes of a recording. */\nexport const enum S {\n"
        + "\n".join(structural)
        + "\n}\n\n/** What may go wrong while a program runs, by code; notes come after these. */\n"
        + "export const FAILURES = [\n"
        + "\n".join(f'  "{text}",' for text in TEXTS)
        + "\n] as const;\n\n/** What notes say. */\n"
        + "".join(f'export const {name} =\n  "{text}";\n' for name, text in _COMPLAINTS.items())
    )


def rules() -> str:
    """The module ``js_bridge/src/rules.gen.ts``: by opcode * 8 + the operands that vary, in bits."""
    tables: dict[str, list[str]] = {"PUSH": [], "PULL": []}
    for op in OPS:
        for mask, found in _rules_of(op):
            if found.forward and found.pull:
                key = 8 * op.code + mask
                tables["PUSH"].append(f"  {key}: {_push(found.forward, len(op.ins))},")
                tables["PULL"].append(f"  {key}: {_pull(found.pull, len(op.ins))},")
    kinds = {"PUSH": "Push", "PULL": "Pull"}
    return _HEAD_OF_RULES + "\n".join(
        f"export const {name}: Readonly<Record<number, {kinds[name]}>> = {{\n" + "\n".join(lines) + "\n};\n"
        for name, lines in tables.items()
    )


def _rules_of(op: Op) -> Iterator[tuple[int, Rule]]:
    """By which operands vary: the rules of an operation that has a derivative."""
    varying = [k for k, letter in enumerate(op.ins) if letter in "Ra"]
    for mask in range(1, 1 << len(op.ins)):
        if op.jvp and all(k in varying for k in range(len(op.ins)) if mask >> k & 1):
            yield mask, rule(op.code, mask)


def _push(template: Template, arity: int) -> str:
    slots = [*"abc"[:arity], "r", *("da", "db", "dc")[:arity]]
    lines = _lines(template, slots)
    ((_, _, slot),) = template.outputs
    return _function("a b c r da db dc", [*lines, f"return {slots[slot]};"])


def _pull(template: Template, arity: int) -> str:
    slots = [*"abc"[:arity], "r", "d"]
    lines = _lines(template, slots)
    for operand, sign, slot in template.outputs:
        lines.append(f"w.{'add' if sign > 0 else 'take'}({'abc'[operand]}, {slots[slot]});")
    return _function("a b c r d", lines)


def _lines(template: Template, slots: list[str]) -> list[str]:
    """The instructions of a template; what gives their values is appended to ``slots``."""
    slots += [f"w.number({x or 0})" for x in template.consts]
    lines = []
    for k, (code, _, *operands) in enumerate(template.instrs):
        args = [slots[operand] for operand in operands]
        if len(args) < 3:
            made = f"w.operation(OP.{OPS[code].name}, {args[0]}, {args[1] if args[1:] else 0})"
        else:
            made = f"w.select({', '.join(args)})"
        lines.append(f"const t{k} = {made};")
        slots.append(f"t{k}")
    return lines


def _function(params: str, lines: list[str]) -> str:
    """A function of TypeScript, in which parameters that are not used say so."""
    body = "\n".join(f"    {line}" for line in lines)
    named = [name if re.search(rf"\b{name}\b", body) else f"_{name}" for name in ("w", *params.split())]
    while named[-1].startswith("_"):
        named.pop()
    return f"({', '.join(named)}) => {{\n{body}\n  }}"


if __name__ == "__main__":
    print({"opcodes": typescript, "rules": rules}[sys.argv[1]](), end="")
