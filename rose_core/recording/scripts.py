"""Python in a page: scripts are run, and the functions that they define are handed over as recordings.

What goes wrong is told by the place in the scripts where it does: ``script 2, line 7: …``, which the page
translates into its own file and line.
"""

from __future__ import annotations

import importlib.util
import json
import math
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from opcode import opmap
from types import CodeType, FunctionType, TracebackType
from typing import Any

from rose_core.language.ir import Func
from rose_core.recording.serialize import serialize
from rose_core.tracing.functions import Function
from rose_core.tracing.generic import Generic


class ScriptError(Exception):
    """A script is no Python, or came to an error; the message shows where."""


_MARGIN = re.compile(r"^([ \t]*)[^\s#]", re.MULTILINE)
"""The indentation of the first line that is more than a comment."""


def _at_margin(text: str) -> str:
    """A script without the indentation of its markup, which comments and long strings need not have.

    Neither has it the mark with which some editors begin a file: Python expects that in files alone.
    """
    text = text.removeprefix("\ufeff")
    margin = _MARGIN.search(text)
    return re.sub(f"^{margin[1]}", "", text, flags=re.MULTILINE) if margin else text


def _name(number: int) -> str:
    return f"script {number + 1}"


class _Scripts:
    """Scripts that belong together: the later ones see what the earlier ones define."""

    def __init__(self, texts: Sequence[str]) -> None:
        texts = [_at_margin(text) for text in texts]
        self._all = "\n".join(texts)
        self._lines = {_name(k): text.split("\n") for k, text in enumerate(texts)}
        self._codes = [self._compiled(k, text) for k, text in enumerate(texts)]

    def run(self) -> dict[str, Any]:
        """The names that they define."""
        scope: dict[str, Any] = {"__name__": "__main__"}
        for code in self._codes:
            try:
                exec(code, scope)
            except (Exception, SystemExit) as error:
                raise self._told(error) from None
        return scope

    def _compiled(self, number: int, text: str) -> CodeType:
        try:
            return compile(text, _name(number), "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            raise self._told(error) from None

    def _told(self, error: BaseException) -> ScriptError:
        """An error by its place, with the line as it stands there."""
        script, line, column = self._place(error)
        complaint = error.msg if isinstance(error, SyntaxError) else str(error)
        if isinstance(error, ImportError):
            complaint = complaint.removesuffix(f" ({error.path})")  # where this page has it
        message = f"{type(error).__name__}: {complaint}".removesuffix(": ")
        if isinstance(error, ModuleNotFoundError):
            message += " (pages have those parts of Python's library that Rose itself needs, and no packages)"
        if isinstance(error, NameError) and f"def {error.name}(" in self._all:
            message += " yet: a body runs where it is defined, and can call neither itself nor what is below"
        if not script:
            return ScriptError(message)
        text = self._lines[script][line - 1] if line <= len(self._lines[script]) else ""
        shown = text.strip()
        if "\n" in message:  # it shows a place itself
            shown = ""
        if shown:
            message += f"\n    {shown}"
        if shown and column:
            message += f"\n    {' ' * (column - 1 - text.index(shown))}^"
        return ScriptError(f"{script}, line {line}: {message}")

    def _place(self, error: BaseException) -> tuple[str, int, int]:
        """Script, line, and column from 1 if that is known, of the innermost place in a script."""
        if isinstance(error, SyntaxError) and error.filename in self._lines:
            return error.filename, error.lineno or 1, error.offset or 0
        found = "", 0, 0
        step: TracebackType | None = error.__traceback__
        while step:
            name = step.tb_frame.f_code.co_filename
            if name in self._lines:
                found = name, step.tb_lineno, 0
            step = step.tb_next
        return found


def look_again() -> None:
    """Forget what is in the folders and archives from which modules come."""
    for finder in sys.path_importer_cache.values():
        if finder is not None:
            finder.invalidate_caches()  # type: ignore[attr-defined]


def imports_more(texts: Sequence[str]) -> bool:
    """Whether scripts import modules that are not here yet: of the standard library, or of nobody."""
    look_again()  # a snapshot of Python remembers archives that are not there any more
    found: set[str] = set()
    for text in texts:
        try:
            with warnings.catch_warnings(action="ignore"):
                code = compile(_at_margin(text), "", "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return False  # which is told when they are run, as warnings are
        found.update(_imported(code))
    roots = {name.partition(".")[0] for name in found} - {""}
    return any(importlib.util.find_spec(name) is None for name in roots - set(sys.modules))


def _imported(code: CodeType) -> Iterator[str]:
    """The names of the modules that code imports, also code in it.

    A tree of the source would tell as much, but to make one takes several times the stack of compiling it, of
    which browsers give little.
    """
    argument = 0
    for op, low in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        argument = argument << 8 | low
        if op == opmap["IMPORT_NAME"]:
            yield code.co_names[argument]
        if op != opmap["EXTENDED_ARG"]:
            argument = 0
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _imported(constant)


def _warnings(heard: Sequence[warnings.WarningMessage]) -> list[str]:
    """Warnings by their places, each once; those that are about no script are left to Python."""
    found: dict[str, None] = {}
    for warning in heard:
        if warning.filename.startswith("script "):
            place = f"{warning.filename}, line {warning.lineno}"
            found[f"{place}: {warning.category.__name__}: {warning.message}"] = None
        else:
            warnings.showwarning(warning.message, warning.category, warning.filename, warning.lineno)
    return list(found)


def _check_undecorated(public: Mapping[str, object]) -> None:
    """Where a page can use nothing of scripts, a function in them lacks a decorator."""
    for name, f in public.items():
        if isinstance(f, FunctionType) and f.__code__.co_filename.startswith("script "):
            place = f"{f.__code__.co_filename}, line {f.__code__.co_firstlineno}"
            raise ScriptError(f"{place}: {name} is an ordinary function of Python: write @fn above it")


def functions_of(texts: Sequence[str]) -> str:
    """The functions that scripts define, as JSON: see `Serialized`.

    ``exports`` are those that the page can use, by name: their numbers. ``open`` are those with sizes that
    are not known: the sizes' names. ``warnings`` are those of Python, by the place in the scripts.

    Raises:
        ScriptError: something is wrong with a script.
    """
    with warnings.catch_warnings(record=True) as heard:
        scope = _Scripts(texts).run()
    public = {name: f for name, f in scope.items() if not name.startswith("_")}
    found: dict[str, Func] = {
        name: f.func for name, f in public.items() if isinstance(f, Function) and not f.captures
    }
    generic = {name: f for name, f in public.items() if isinstance(f, Generic)}
    if not found and not generic:
        _check_undecorated(public)
    program = serialize(list(found.values()))
    if program.opaque:
        raise ScriptError(
            f"the function {program.opaque[0].name} is opaque: it runs Python, which is not there when a "
            "page calls it; define it with fn, or in JavaScript"
        )
    return json.dumps(
        {
            "types": program.types,
            "functions": program.functions,
            "ints": program.ints,
            "reals": [x if math.isfinite(x) else str(x) for x in program.reals],
            "notes": program.notes,
            "noteAt": program.note_at,
            "intNoteAt": program.int_note_at,
            "exports": {name: program.numbers[f] for name, f in found.items()},
            "warnings": _warnings(heard),
            "open": {name: [size.name for size in f.sizes] for name, f in generic.items()},
        },
        separators=(",", ":"),
    )
