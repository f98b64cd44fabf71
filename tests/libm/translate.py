"""Makes WebAssembly of `rose_core.libm`: ``python -m tests.libm.translate`` prints its module ``code``."""

from __future__ import annotations

from rose_core import libm
from rose_core.libm import constants
from tests.libm.in_lanes import LanesTranslation
from tests.libm.translation import Function, Translation

HEAD = '''"""The functions of this package as WebAssembly, made by `python -m tests.libm.translate`.

Each has the letters of its parameters, results and further variables, and its code in pieces: between
finished ones a number, to be loaded from memory, a table, whose element at an address is loaded, or the
name of a function to call. Those ``in_lanes`` take two numbers in a v128 and load a number into both lanes.
"""

from __future__ import annotations

from math import inf, nan

from rose_core.libm.constants import (
TABLES)

Piece = bytes | float | int | str | tuple[float, ...]

CODE: dict[str, tuple[str, str, str, tuple[Piece, ...]]] = {
'''


def python() -> str:
    """The module ``rose_core/libm/code.py``."""
    names = {id(value): name for name, value in vars(constants).items() if isinstance(value, tuple)}
    tables: set[str] = set()
    lines = []
    work: list[Function] = [getattr(libm, name) for name in libm.__all__]
    translations: list[Translation] = []
    for f in work:  # grows
        t = Translation(f)
        work += [g for g in dict.fromkeys(t.calls) if g not in work]
        translations.append(t)
        if f.__name__ in libm.__all__:
            translations.append(LanesTranslation(f))
    for t in translations:
        first, pieces = t.lines()
        lines.append(f"    {first}")
        for piece in pieces:
            if isinstance(piece, tuple):
                tables.add(names[id(piece)])
            lines.append(f"        {names[id(piece)] if isinstance(piece, tuple) else repr(piece)},")
        lines.append("    )),")
    return (
        HEAD.replace("TABLES", "".join(f"    {name},\n" for name in sorted(tables)))
        + "\n".join(lines)
        + "\n}"
    )


if __name__ == "__main__":
    print(python())
