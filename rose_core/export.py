"""Prints the numbering of opcodes for the JavaScript bridge: ``python -m rose_core.export``."""

from __future__ import annotations

from rose_core.errors import NO_COUNT, NO_INDEX, OUT_OF_RANGE, TEXTS
from rose_core.ir import STRUCTURAL_NAMES
from rose_core.ops import OPS

_HEAD = """// Made from rose_core/ops.py and rose_core/ir.py by `python -m rose_core.export`.

"""


_COMPLAINTS = {"OUT_OF_RANGE": OUT_OF_RANGE, "NO_INDEX": NO_INDEX, "NO_COUNT": NO_COUNT}


def typescript() -> str:
    """The module ``js_bridge/src/opcodes.gen.ts``."""
    lines = [f"  {op.name} = {op.code}," for op in OPS]
    on_reals = [f"  {op.name}: {op.code}," for op in OPS if {*op.ins, op.out} == {"R"}]
    names = [*STRUCTURAL_NAMES, "end"]
    structural = [f"  {name.upper()} = {len(OPS) + k}," for k, name in enumerate(names)]
    math_names = [f'"{op.wasm}"' for op in OPS if isinstance(op.wasm, str)]
    return (
        _HEAD
        + "/** Operations of the table, by name. */\nexport const enum OP {\n"
        + "\n".join(lines)
        + "\n}\n\n/** Those from Reals to a Real, where names are to be looked up. */\n"
        + "export const ON_REALS: Readonly<Record<string, OP>> = {\n"
        + "\n".join(on_reals)
        + "\n};\n\n/** Structural opcodes of a recording. */\nexport const enum S {\n"
        + "\n".join(structural)
        + "\n}\n\n/** Functions of `Math` that modules may import. */\nexport const MATH = ["
        + ", ".join(math_names)
        + "] as const;\n\n/** What may go wrong while a program runs, by code; notes come after these. */\n"
        + "export const FAILURES = [\n"
        + "\n".join(f'  "{text}",' for text in TEXTS)
        + "\n] as const;\n\n/** What notes say. */\n"
        + "".join(f'export const {name} =\n  "{text}";\n' for name, text in _COMPLAINTS.items())
    )


if __name__ == "__main__":
    print(typescript(), end="")
