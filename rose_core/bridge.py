"""What the JavaScript bridge calls: to compile a program, run scripts in Python, interpret, and practise.

Everything crosses as text, numbers and flat buffers; nothing of Python's is kept on the other side
but the numbers of interpreted programs.
"""

from __future__ import annotations

import gc
import json
import math
import sys
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rose_core import practice
from rose_core.deep import deep_recursion, empty
from rose_core.derivatives.expand import Expansion, expansion
from rose_core.derivatives.known import Known, Outdated
from rose_core.errors import note
from rose_core.host import to_js
from rose_core.inspection import inspection_of
from rose_core.language.interp import call as run
from rose_core.language.ir import Func
from rose_core.language.types import Type, is_memory, shape_of
from rose_core.operators.sparse import Sparse
from rose_core.recording.rebuild import noted
from rose_core.recording.record import Recording
from rose_core.recording.scripts import functions_of, imports_more, look_again
from rose_core.wasm.layout import HostConvention, Slot, kind_of
from rose_core.wasm.limits import SizeError
from rose_core.wasm.program import Program

_known = Known()

_COLLECTED = 16
"""After so many programs, all of the core's memory is looked through."""

EMPTY = b"\0asm\1\0\0\0"
"""The module of a request that asks for no code."""

_programs: dict[int, Func] = {}
"""Programs to be interpreted, by number."""


def compile_recording(
    header: str, ints: bytes, reals: bytes, memory: str, incremental: bool = True
) -> tuple[bytes, str]:
    """A recording's module and its descriptor, as JSON.

    ``ints`` and ``reals`` are 32-bit ints and doubles in the machine's byte order; ``memory`` is as for
    `Program`, or ``"sparse"`` to ask about a matrix whose elements the program gives, which the descriptor
    then tells (`_about`), or ``"text"`` for what `inspect` gives. Else the descriptor has ``pages`` and
    ``end`` (in bytes) of memory, ``args`` and ``results`` (``[kind, address, count, passed]`` per leaf, see
    `Slot`), ``notes`` (`Recording`), and for every opaque function that the module imports ``hosts``: its
    number, and where the call has its arguments and results (`_host`). ``incremental``: make again
    only what has changed since earlier programs. To be followed by `tidy`, when nobody waits.
    """
    tidy()
    if not incremental:
        _known.forget()
    gc.disable()  # the compiler makes many objects, and looking through them finds nothing before the end
    try:
        return _compile_or_refuse(header, ints, reals, memory)
    except BaseException:
        tidy()  # nobody waits for an answer
        raise


def _compile_or_refuse(header: str, ints: bytes, reals: bytes, memory: str) -> tuple[bytes, str]:
    """As `_compile`; where there is not enough memory, an error that tells the size of the program."""
    try:
        return _compile(header, ints, reals, memory)
    except MemoryError:
        _known.forget()
        program = json.loads(header)
        name = program["functions"][program["root"]]["name"]
        written = len(_view(ints, "b")) / 1e6
        raise SizeError(
            f"{name} is too large: to compile it takes more memory than there is; its recording alone has "
            f"{written:,.1f} MB"
        ) from None


def tidy() -> None:
    """Free what compiling has left behind."""
    if not gc.isenabled():
        # what is remembered for some time is old when it is dropped
        gc.collect(2 if _known.programs % _COLLECTED == 0 else 0)
        gc.enable()


def practise(turn: int) -> None:
    """Compile something that nobody asks for, each iteration something else: see `practice`."""
    tidy()
    gc.disable()
    try:
        with deep_recursion():
            practice.practise(turn)
    finally:
        tidy()


def run_scripts(texts: str) -> tuple[bytes, str]:
    """What scripts of a page define, in the form of a compiled program: see `functions_of`.

    ``texts`` is a list, in JSON.
    """
    return EMPTY, functions_of(json.loads(texts))


def wants_library(texts: str) -> bool:
    """Whether these scripts import what is not here, so that `add_library` has to come first."""
    return imports_more(json.loads(texts))


def add_library(archive: bytes) -> None:
    """Put the standard library where Python looks for it, and has found only a part so far."""
    name = "python{}{}.zip".format(*sys.version_info)
    Path(next(path for path in sys.path if path.endswith(name))).write_bytes(_bytes(archive))
    look_again()


def _compile(header: str, ints: bytes, reals: bytes, memory: str) -> tuple[bytes, str]:
    recording = _recording(header, ints, reals, memory != "text")
    with deep_recursion():
        if memory == "text":
            return EMPTY, json.dumps(inspection_of(recording.root, recording.precise)._asdict())
        if memory == "sparse":
            return EMPTY, json.dumps(_about(recording.sparse[recording.root]))
        program = Program(expansion(recording.root, _known, recording.precise), memory)
    opaque = {f: k for k, f in enumerate(recording.opaque)}
    descriptor = {
        "pages": program.pages,
        "end": program.end,
        "args": [_slot(s) for s in program.args],
        "results": [_slot(s) for s in program.results],
        "hosts": [[opaque[f], *_host(f)] for f in program.hosts],
        "notes": [*recording.notes],
    }
    return program.bytes, json.dumps(descriptor)


def _about(matrix: Sparse) -> dict[str, object]:
    """What the bridge needs to know of a matrix before it has its elements."""
    return {k: getattr(matrix, k) for k in ("rows", "columns", "shape", "passes")}


def _recording(header: str, ints: bytes, reals: bytes, whole: bool = True) -> Recording:
    parts = json.loads(header), _view(ints, "i"), _numbers(reals, "d")
    try:
        return Recording(*parts, known=_known, whole=whole)
    except Outdated:
        empty(_known.functions)
        return Recording(*parts, known=_known, whole=whole)


def _view(buffer: bytes, format: str) -> memoryview:
    """The numbers in a buffer, which in a browser is a typed array."""
    return memoryview(_bytes(buffer)).cast(format)  # type: ignore[call-overload, no-any-return]


def _bytes(buffer: Any) -> bytes:
    return buffer if isinstance(buffer, bytes) else buffer.to_bytes()


def _numbers(buffer: bytes, format: str) -> list[Any]:
    return _view(buffer, format).tolist()


def _slot(slot: Slot) -> tuple[str, int, int, bool]:
    kind, count = _kind_and_count(slot.leaf)
    return kind, slot.address, count, slot.passed


Place = tuple[str, int, int, bool]
"""Kind and count of a leaf, the number of the WebAssembly argument, and whether that is an address."""


def _host(f: Func) -> tuple[list[Place], list[Place]]:
    """For each leaf of the arguments and of the results of an opaque function, where a call has it."""
    convention = HostConvention(f)
    order = [*convention.scalars, *convention.pointers]
    args = [(*_kind_and_count(t), order.index(k), is_memory(t)) for k, t in enumerate(f.params)]
    if convention.returns:
        return args, [(*_kind_and_count(f.result_types[0]), -1, False)]
    return args, [(*_kind_and_count(t), len(order) + k, True) for k, t in enumerate(f.result_types)]


def _kind_and_count(t: Type) -> tuple[str, int]:
    return kind_of(t), math.prod(shape_of(t))


def interpret_recording(
    number: int,
    header: str,
    ints: bytes,
    reals: bytes,
    hosts: Sequence[Callable[..., Any]],
    notes: Sequence[str] = (),
    note_at: Sequence[int] = (),
    int_note_at: Sequence[int] = (),
) -> None:
    """Keep a recording under ``number``, to be run by `interpret`.

    ``hosts`` are what the opaque functions run, in their order, each from the numbers of its argument
    leaves in a row to those of its result leaves. ``note_at`` says which of ``reals`` are numbers of
    ``notes``, and ``int_note_at`` which of ``ints`` are such numbers plus 1.
    """
    remaining = iter(hosts)

    def host(f: Func) -> Callable[..., list[Any]]:
        run = next(remaining)
        return lambda *leaves: _leaves(f.result_types, _numbers(run(to_js(_row(leaves))), "d"))

    recording = Recording(
        json.loads(header),
        *noted(_view(ints, "i"), _numbers(reals, "d"), notes, note_at, int_note_at),
        host,
        lambda text, place: note(text + notes[place]),
        whole=False,
    )
    with deep_recursion():
        _programs[number] = Expansion(recording.root, precise=recording.precise).root


def interpret(number: int, args: bytes) -> bytes:
    """Run a kept program on its argument leaves, all numbers in a row; its results likewise."""
    program = _programs[number]
    with deep_recursion():
        return _row(run(program, _leaves(program.params, _numbers(args, "d"))))


def _leaves(types: Sequence[Type], row: Sequence[float]) -> list[Any]:
    """The leaves of these types, of which all numbers are in a row."""
    numbers = iter(row)
    return [_nested(shape_of(t), kind_of(t), numbers) for t in types]


def _nested(shape: tuple[int, ...], kind: str, numbers: Iterator[float]) -> Any:
    if shape:
        return [_nested(shape[1:], kind, numbers) for _ in range(shape[0])]
    x = next(numbers)
    return x if kind == "f" else x != 0 if kind == "b" else int(x)


def _row(leaves: Sequence[Any]) -> bytes:
    """All numbers of leaves in a row: the inverse of `_leaves`."""
    found = array("d")

    def add(leaf: Any) -> None:
        if isinstance(leaf, list):
            for item in leaf:
                add(item)
        else:
            found.append(leaf)

    for leaf in leaves:
        add(leaf)
    return found.tobytes()


def forget(number: int) -> None:
    """Let go of a kept program."""
    _programs.pop(number, None)
