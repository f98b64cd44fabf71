"""TypeScript declarations of functions in files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from rose_core.cli.defaults import defaults_of
from rose_core.language.types import BOOL, UNIT, Array, Struct, Type
from rose_core.standalone import is_tuple
from rose_core.tracing.functions import Function
from rose_core.tracing.values import names_of

_RESERVED = """break case catch class const continue debugger default delete do else enum export extends
    false finally for function if implements import in instanceof interface let new null package private
    protected public return static super switch this throw true try typeof var void while with
    yield""".split()


def declare(functions: Mapping[str, Function]) -> str:
    """The declarations of a module whose `load` gives these functions."""
    lines = ["export interface Functions {"]
    for name, made in functions.items():
        f = made.func
        needed = len(f.param_types) - len(defaults_of(made))
        params = zip(_parameters(names_of(f)), f.param_types, strict=True)
        listed = ", ".join(
            f"{param}{'?' * (k >= needed)}: {_input(t)}" for k, (param, t) in enumerate(params)
        )
        lines.append(f"  {_key(name)}({listed}): {_output(f.ret)};")
    lines += [
        "}",
        "/**",
        " * The functions, with memory of their own, from the files in `folder`, which ends in /, else next",
        " * to this module, or the classic script that a bundler has made of it.",
        " */",
        "export declare const load: (folder?: string | URL) => Promise<Functions>;",
    ]
    return "\n".join(lines) + "\n"


def _parameters(names: Sequence[str]) -> list[str]:
    """The names, with others that are not taken for those that are words of TypeScript."""
    chosen = []
    for name in names:
        if name in _RESERVED:
            while name in _RESERVED or name in names:
                name += "_"
        chosen.append(name)
    return chosen


def _key(name: str) -> str:
    if name == "new":
        return '"new"'  # or it were what makes such an object
    return name if re.fullmatch(r"[A-Za-z_$][\w$]*", name, re.ASCII) else json.dumps(name)


def _input(t: Type) -> str:
    if isinstance(t, Array):
        return f"ArrayLike<{_input(t.elem)}>"
    if is_tuple(t):
        return "readonly [" + ", ".join(map(_input, t.fields.values())) + "]"
    if isinstance(t, Struct):
        return "{ " + "".join(f"readonly {_key(k)}: {_input(u)}; " for k, u in t.fields.items()) + "}"
    return "null | undefined" if t is UNIT else "boolean" if t is BOOL else "number"


def _output(t: Type) -> str:
    if isinstance(t, Array):
        return f"{_output(t.elem)}[]"
    if is_tuple(t):
        return "[" + ", ".join(map(_output, t.fields.values())) + "]"
    if isinstance(t, Struct):
        return "{ " + "".join(f"{_key(k)}: {_output(u)}; " for k, u in t.fields.items()) + "}"
    return "null" if t is UNIT else "boolean" if t is BOOL else "number"
