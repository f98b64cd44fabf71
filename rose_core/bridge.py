"""What the JavaScript bridge calls: one entry point for compiling, two for the interpreter.

Everything crosses as text, numbers and flat buffers; nothing of Python's is kept on the other side
but the numbers of interpreted programs.
"""

from __future__ import annotations

import gc
import json
from array import array
from collections.abc import Callable, Sequence

from rose_core.deep import deep_recursion
from rose_core.expand import Expansion
from rose_core.interp import call as run
from rose_core.ir import Func
from rose_core.layout import Slot, kind_of
from rose_core.program import Program
from rose_core.record import Recording
from rose_core.types import shape_of

_programs: dict[int, Func] = {}
"""Programs to be interpreted, by number."""


def compile_recording(
    header: str, ints: bytes, reals: bytes, base: int, import_memory: bool
) -> tuple[bytes, str]:
    """A recording's module and its descriptor, as JSON.

    ``ints`` and ``reals`` are 32-bit ints and doubles in the machine's byte order. The descriptor has
    ``pages`` and ``end`` (in bytes) of memory, ``args`` and ``results`` (``[kind, address, count]`` per
    leaf), and ``hosts``, the numbers of the opaque functions that the module imports.
    """
    gc.disable()  # the compiler makes many objects and no cycles worth looking for
    try:
        recording = Recording(header, _numbers(ints, "i"), _numbers(reals, "d"), ())
        with deep_recursion():
            program = Program(Expansion(recording.root).root, base, import_memory)
    finally:
        gc.enable()
    opaque = {f: k for k, f in enumerate(f for f in recording.functions if f.host is not None)}
    descriptor = {
        "pages": program.pages,
        "end": program.end,
        "args": [_slot(s) for s in program.args],
        "results": [_slot(s) for s in program.results],
        "hosts": [opaque[f] for f in program.hosts],
    }
    return program.bytes, json.dumps(descriptor)


def _numbers(buffer: bytes, format: str) -> list[int]:
    """The numbers in a buffer, which in a browser is a typed array."""
    data = buffer if isinstance(buffer, bytes) else buffer.to_bytes()
    return memoryview(data).cast(format).tolist()  # type: ignore[call-overload, no-any-return]


def _slot(slot: Slot) -> tuple[str, int, int]:
    count = 1
    for n in shape_of(slot.leaf):
        count *= n
    return kind_of(slot.leaf), slot.address, count


def interpret_recording(
    number: int, header: str, ints: bytes, reals: bytes, hosts: Sequence[Callable[..., float]]
) -> None:
    """Keep a recording under ``number``, to be run by `interpret`."""
    recording = Recording(header, _numbers(ints, "i"), _numbers(reals, "d"), hosts)
    with deep_recursion():
        _programs[number] = Expansion(recording.root).root


def interpret(number: int, args: bytes) -> bytes:
    """Run a kept program on its argument leaves, all numbers in a row; its results likewise."""
    program = _programs[number]
    numbers = iter(_numbers(args, "d"))
    leaves = [_nested(shape_of(t), kind_of(t), numbers) for t in program.params]
    found: list[float] = []
    with deep_recursion():
        results = run(program, leaves)
    for leaf in results:
        _flatten(leaf, found)
    return array("d", found).tobytes()


def _nested(shape: tuple[int, ...], kind: str, numbers: object) -> object:
    if shape:
        return [_nested(shape[1:], kind, numbers) for _ in range(shape[0])]
    x = next(numbers)  # type: ignore[call-overload]
    return x if kind == "f" else x != 0 if kind == "b" else int(x)


def _flatten(leaf: object, into: list[float]) -> None:
    if isinstance(leaf, list):
        for item in leaf:
            _flatten(item, into)
    else:
        into.append(float(leaf))  # type: ignore[arg-type]


def forget(number: int) -> None:
    """Let go of a kept program."""
    _programs.pop(number, None)
