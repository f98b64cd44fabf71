"""`rose compile`: functions written in Python as modules for the web, with no dependency on anything.

For `model.py:f` that is `f.js`, `f.d.ts` and `f.wasm`, and with derivatives `f.gradient.wasm` and
`f.hessian.wasm`. `rose_core.load` calls the same files from Python.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import sys
import traceback
from collections.abc import Mapping
from contextlib import suppress
from importlib.machinery import ModuleSpec
from pathlib import Path

from rose_core.cli.declarations import declare
from rose_core.cli.defaults import defaults_of
from rose_core.cli.errors import CommandError
from rose_core.derivatives.expand import DerivativeError
from rose_core.operators.derived import gradient, hessian
from rose_core.standalone import section_of, to_file
from rose_core.tracing.functions import Function
from rose_core.tracing.generic import Generic
from rose_core.tracing.where import is_author
from rose_core.wasm.limits import SizeError

_TEMPLATE = Path(__file__).parent / "module.js"

_OUR_COMMENTS = re.compile(r"\s*// (?!NAME).*")
"""In the template, what is said to who maintains it."""


def compile_function(where: str, with_gradient: bool, with_hessian: bool, precise: bool, folder: Path) -> int:
    """The command."""
    path, _, name = where.rpartition(":")
    if not path or not name:
        raise CommandError(f"expected FILE:FUNCTION, such as model.py:f, got {where}")
    f = _find(Path(path), name)
    functions = {name: f}
    if name == "then":
        raise CommandError(f"JavaScript takes an object with a {name} for a promise; rename it in {path}")
    if name == "__proto__":
        raise CommandError(f"{name} has a meaning of its own in JavaScript; rename it in {path}")
    if name in ("gradient", "hessian") and (with_gradient or with_hessian):
        raise CommandError(f"{name} would name two functions; rename the one in {path}")
    try:
        if with_gradient:
            functions["gradient"] = gradient(f)
        if with_hessian:
            functions["hessian"] = hessian(f)
        names = {made: name if made == name else f"{name}.{made}" for made in functions}
        files = {made: to_file(g.func, made, defaults_of(g), precise) for made, g in functions.items()}
    except (TypeError, ValueError, DerivativeError, SizeError) as error:
        raise CommandError(str(error)) from None
    folder.mkdir(parents=True, exist_ok=True)
    for made, data in files.items():
        _write(folder / f"{names[made]}.wasm", data)
    for made in ("gradient", "hessian"):
        if made not in files:
            _remove(folder / f"{name}.{made}.wasm")
    source = _OUR_COMMENTS.sub("", _TEMPLATE.read_text("utf-8")).replace("{}", _table(names), 1)
    source = source.replace("NAME", f"{name} of {Path(path).name}", 1)
    _write(folder / f"{name}.js", source.encode())
    _write(folder / f"{name}.d.ts", declare(functions).encode())
    return 0


def _table(names: Mapping[str, str]) -> str:
    """The functions as JavaScript: of each, its file as seen from a folder, and where that is.

    Bundlers find a file by this form of an address, if it is written out in full.
    """
    lines = []
    for made, file in names.items():
        key, name = map(json.dumps, (made, f"./{file}.wasm"))
        lines.append(f"  {key}: [{name}, () => new URL({name}, import.meta.url)],\n")
    return "".join(["{\n", *lines, "}"])


def _find(path: Path, name: str) -> Function:
    """The function of this name in a file."""
    if not path.is_file():
        raise CommandError(f"there is no file {path}")
    spec = _spec(path)
    if spec is None or spec.loader is None:
        raise CommandError(f"{path} is no Python file")
    try:
        if spec.parent:
            importlib.import_module(spec.parent)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise CommandError(f"{path} does not run:\n{_told(error)}") from error
    found = getattr(module, name, None)
    if isinstance(found, Generic):
        raise CommandError(f"{name} has sizes that are not known; in {path}, give a name to {name}.at(…)")
    if not isinstance(found, Function):
        functions = [key for key, value in vars(module).items() if isinstance(value, Function)]
        raise CommandError(
            f"{path} has no function {name} made with fn; it has {', '.join(functions) or 'none'}"
        )
    if found.captures:
        raise CommandError(
            f"{name} uses values of the function {found.around()} around it, so it cannot stand alone"
        )
    return found


def _spec(path: Path) -> ModuleSpec | None:
    """What module a file is, in its package if it belongs to one; what it imports is found then."""
    folder = path.resolve().parent
    sys.path.append(str(folder))  # of a package, it has modules that may have names of Python's
    words = [re.sub(r"\W", "_", path.stem)]
    while (folder / "__init__.py").is_file():
        words.insert(0, folder.name)
        folder = folder.parent
    sys.path.insert(0, str(folder))
    return importlib.util.spec_from_file_location(".".join(words), path)


def _told(error: BaseException) -> str:
    """An error by the innermost line of the author's that came to it."""
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if is_author(frame.filename)]
    return "".join([*traceback.format_list(own[-1:]), *traceback.format_exception_only(error)])


def _remove(path: Path) -> None:
    """Remove what was made of the function before, and is not any more."""
    with suppress(FileNotFoundError, ValueError):
        section_of(path.read_bytes())  # what has none is somebody else's
        path.unlink()
        print(f"{path} is stale, and removed")


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    print(f"{path}, {len(data)} bytes")
