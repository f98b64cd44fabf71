"""What WebAssembly engines take at most, and what to say of a program that is larger.

The limits are those of the WebAssembly JavaScript interface, which all engines share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rose_core.encode import Function
from rose_core.language.ir import CALL, GET, PARAM, STRUCTURAL_NAMES, Func
from rose_core.language.ops import OPS
from rose_core.language.types import Type, is_memory
from rose_core.wasm.layout import size_of

BODY = 7_654_321
"""Bytes of a function, with its declarations of local variables."""
LOCALS = 50_000
"""Of a function, its parameters among them."""
PARAMS = 1000
"""Of a function; those of a program take no more (`layout.Convention`), but an opaque one may."""
MEMORY = 1 << 32
"""Bytes."""

_MUCH = 0.1
"""The share of a function's operations from which on a kind of them is named."""


class SizeError(Exception):
    """A program that is too large for any engine; the message says how large, and what makes it so."""


def check_function(f: Func, function: Function) -> None:
    """Raise if engines would refuse what ``f``, or a part of it, is in WebAssembly."""
    variables = len(function.params) + sum(count for count, _ in function.locals)
    for found, limit, what in (
        (variables, LOCALS, "local variables"),
        (len(function.body), BODY, "bytes"),
    ):
        if found > limit:
            raise SizeError(
                f"{f.name} is too large: as a WebAssembly function it has {found:,} {what}, and engines "
                f"allow {limit:,}. {_operations(f)}. Write what repeats as a loop (vec, sum, fori), which "
                "does not grow with its iterations, or as a function of its own"
            )


def check_import(f: Func, params: int) -> None:
    """Raise if engines would refuse to call the opaque function ``f``."""
    if params > PARAMS:
        raise SizeError(
            f"{f.name} takes too many arguments: an opaque function gets each number and each vector by "
            f"itself, which here makes {params:,}, and engines allow {PARAMS:,}; pass numbers as a vector"
        )


def _operations(f: Func) -> str:
    """How many operations there are, and of which kinds most of them."""
    names = Counter(_name(f, ins) for ins in f.code if ins[0] not in (PARAM, GET))
    total = names.total()
    most = ", ".join(f"{n / total:.0%} are {name}" for name, n in names.most_common() if n >= _MUCH * total)
    return f"Of its {total:,} operations, {most or 'none is frequent'}"


def _name(f: Func, ins: tuple[int, ...]) -> str:
    op = ins[0]
    if op == CALL:
        return f"calls of {f.callees[ins[1]].name}"
    return OPS[op].name if op < len(OPS) else STRUCTURAL_NAMES[op - len(OPS)]


def check_memory(root: Func, end: int, constants: int, frames: Sequence[tuple[Func, int]]) -> None:
    """Raise if there cannot be that much memory; ``frames``: the functions, and the sizes of their frames."""
    if end <= MEMORY:
        return
    shares = [(constants, "constants")]
    shares += [(_sum(root.params), "the arguments"), (_sum(root.result_types), "the result")]
    shares += [(size, f"what {f.name} computes{_largest(f)}") for f, size in frames]
    size, what = max(shares, key=lambda share: share[0])
    raise SizeError(
        f"{root.name} needs {_bytes(end)} of memory, of which WebAssembly has {_bytes(MEMORY)} at most; "
        f"{size / end:.0%} of it is for {what}"
    )


def _sum(types: Sequence[Type]) -> int:
    return sum(map(size_of, types))


def _largest(f: Func) -> str:
    """The largest array that is made in ``f``."""
    arrays: Iterator[Type] = (t for t in f.types if is_memory(t))
    t = max(arrays, key=size_of, default=None)
    return f", where a {t} alone takes {_bytes(size_of(t))}" if t else ""


def _bytes(n: int) -> str:
    return f"{n / 1e9:,.1f} GB"
