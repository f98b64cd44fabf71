"""Compiled functions as files: a module that says in a section of its own how it is called.

The section, of the name "rose", holds JSON: ``name``, ``params`` and ``ret`` (types, see `type_to_json`),
``names`` of the parameters and the numbers of their first leaves, ``starts``, where ``args`` and
``results`` are (``[kind, address]`` per leaf; see `wasm.layout.Slot`), what the module says when
it ``fails``, by code, and in ``notes``, by number, how many arguments it ``takes``, and the ``defaults`` of
those that may be left out, by number.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeGuard

from rose_core import encode, errors
from rose_core.deep import deep_recursion
from rose_core.host import instantiate
from rose_core.language.ir import Func
from rose_core.language.ops import FAILS
from rose_core.language.queries import callees_first
from rose_core.language.types import BOOL, REAL, TAN, UNIT, Array, Fin, Struct, Type, array, fin, leaves
from rose_core.recording.rebuild import expanded
from rose_core.tracing.values import build, flatten_args, names_of, ordered
from rose_core.wasm.layout import Slot, kind_of
from rose_core.wasm.program import Program

SECTION = "rose"
_SCALARS = {"real": REAL, "bool": BOOL, "unit": UNIT}


def to_file(func: Func, name: str, defaults: Sequence[str] = (), precise: bool = False) -> bytes:
    """The module of a function, which is called by this name; ``defaults``: JSON of its last parameters';
    ``precise``: as for `compile`.

    Raises:
        ValueError: it calls a function that runs Python, which a file does not hold.
    """
    with deep_recursion():
        program = Program(expanded(func, precise))
    if program.hosts:
        host = program.hosts[0].name
        raise ValueError(f"{func.name} calls {host}, which runs Python; a file cannot hold that")
    count = len(func.param_types)
    needed = count - len(defaults)
    about = {
        "name": name,
        "params": [type_to_json(t) for t in func.param_types],
        "names": names_of(func),
        "starts": _starts(func.param_types),
        "takes": [*range(needed, count + 1)],
        "ret": type_to_json(func.ret),
        "args": _places(program.args),
        "results": _places(program.results),
        "fails": errors.TEXTS,
        "notes": _notes_of(func),
    }
    written = json.dumps(about, separators=(",", ":"), ensure_ascii=False)
    listed = ",".join(f'"{k}":{preset}' for k, preset in enumerate(defaults, needed))
    content = f'{written[:-1]},"defaults":{{{listed}}}}}'.encode()
    return program.bytes + encode.section(0, encode.name(SECTION) + content)


def _notes_of(func: Func) -> dict[int, str]:
    """What a function and all that it needs say of values that are not defined, by number."""
    numbers: set[int] = set()
    for f in callees_first(func):
        numbers.update(int(f.pool[~ins[-1]][0]) for ins in f.code if ins[0] in FAILS)
        numbers.update(spec.note for spec in f.specs if spec.note >= 0)
    return {number: errors.notes[number] for number in sorted(numbers)}


def _starts(types: Sequence[Type]) -> list[int]:
    """Of values in a row, the numbers of their first leaves."""
    return [sum(len(leaves(t)) for t in types[:k]) for k in range(len(types))]


def _places(slots: Sequence[Slot]) -> list[tuple[str, int]]:
    """The kind of each, and its address; -1 for a scalar that is passed."""
    return [(kind_of(slot.leaf), -1 if slot.passed else slot.address) for slot in slots]


def is_tuple(t: Type) -> TypeGuard[Struct]:
    """Whether values are arrays in JavaScript, as gradients by several arguments are."""
    return isinstance(t, Struct) and [*t.fields] == [str(k) for k in range(len(t.fields) or 1)]


def type_to_json(t: Type) -> Any:
    """``"real"``, ``"bool"`` and ``"unit"``, the size of an index type, ``["vec", size, elem]`` and
    ``["struct", [[name, type, number of its first leaf], …], is it a tuple]`` with the fields in the
    author's order.
    """
    if isinstance(t, Fin):
        return t.size
    if isinstance(t, Array):
        return ["vec", t.size, type_to_json(t.elem)]
    if isinstance(t, Struct):
        names, types = zip(*t.sorted_fields(), strict=True) if t.fields else ((), ())
        start = dict(zip(names, _starts(types), strict=True))
        fields = [[name, type_to_json(field), start[name]] for name, field in t.fields.items()]
        return ["struct", fields, is_tuple(t)]
    # outside of a program, tangents are numbers
    return next(name for name, scalar in _SCALARS.items() if scalar is (REAL if t is TAN else t))


def type_from_json(t: Any) -> Type:
    """The inverse of `type_to_json`."""
    if isinstance(t, str):
        return _SCALARS[t]
    if isinstance(t, int):
        return fin(t)
    if t[0] == "vec":
        return array(fin(t[1]), type_from_json(t[2]))
    return Struct({name: type_from_json(field) for name, field, _ in t[1]})


class _File:
    """What `instantiate` takes, read from a file."""

    def __init__(self, data: bytes) -> None:
        about = json.loads(section_of(data))
        self.bytes = data
        self.name: str = about["name"]
        self.params = [type_from_json(t) for t in about["params"]]
        self.names: list[str] = about["names"]
        self.defaults = {self.names[int(k)]: x for k, x in about.get("defaults", {}).items()}
        self.ret = type_from_json(about["ret"])
        params = [leaf for t in self.params for leaf in leaves(t)]
        self.args = _slots(params, about["args"])
        self.results = _slots(leaves(self.ret), about["results"])
        self.hosts: list[Func] = []
        self.notes: errors.Notes = {int(number): text for number, text in about["notes"].items()}


def _slots(types: Sequence[Type], places: Sequence[tuple[str, int]]) -> list[Slot]:
    return [Slot(t, address, address < 0) for t, (_, address) in zip(types, places, strict=True)]


def section_of(data: bytes) -> bytes:
    """The content of the section.

    Raises:
        ValueError: a file has none.
    """
    at = 8
    with suppress(IndexError):  # of what was cut off
        while at < len(data):
            number = data[at]
            size, at = _uint(data, at + 1)
            end = at + size
            if number == 0:
                length, start = _uint(data, at)
                if data[start : start + length] == SECTION.encode():
                    return data[start + length : end]
            at = end
    raise ValueError("this module was not made by `rose compile`")


def _uint(data: bytes, at: int) -> tuple[int, int]:
    """An unsigned LEB128 integer, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def load(file: str | Path | bytes) -> Callable[..., object]:
    """A function that `rose compile` has put into a file, on ordinary Python values, as from `compile`.

    Raises:
        ValueError: the file holds something else.
    """
    data = file if isinstance(file, bytes) else Path(file).read_bytes()
    if data[:4] != b"\0asm":
        raise ValueError("this is no WebAssembly module")
    found = _File(data)
    instance = instantiate(found)

    def loaded(*args: object, **named: object) -> object:
        given = ordered(found.name, found.names, found.defaults, args, named)
        return build(instance(flatten_args(given, found.params, found.name)), found.ret)

    loaded.__name__ = loaded.__qualname__ = found.name
    return loaded
