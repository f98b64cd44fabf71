"""Contenders outside of the page: libraries for Python, each in a process of its own.

`build.py bench --cpython` makes the environment that they run in. The page asks them, one after the other
and in turns with itself, by its function `elsewhere(name, task)`; what tasks are, serve.py says.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from js_bridge.build.paths import CPYTHON, ROOT

JAX, TAICHI, ONE_KERNEL = "JAX", "Taichi", "Taichi, 1 kernel"
NAMES = [JAX, TAICHI, ONE_KERNEL]
PACKAGES = ("jax", "taichi")


def is_there() -> bool:
    """Whether the environment has been made, and with all that is needed."""
    folder = CPYTHON.parents[1] / "lib"
    return all(any(folder.glob(f"python3*/site-packages/{name}")) for name in PACKAGES)


@contextmanager
def contender(name: str, simulation: str) -> Iterator[Callable[[object], Any]]:
    """What asks a new process: one of `NAMES` with one of the simulations."""
    command: list[str | Path] = [CPYTHON, "-m", "e2e.bench.simulations.serve", name, simulation]
    pipe = subprocess.PIPE
    with (
        tempfile.TemporaryFile("w+", errors="replace") as errors,
        subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=errors, text=True) as process,
    ):
        assert process.stdin and process.stdout
        tasks, answers = process.stdin, process.stdout

        def ask(task: object) -> Any:
            with suppress(BrokenPipeError):
                print(json.dumps(task), file=tasks, flush=True)
            if answer := answers.readline():
                return json.loads(answer)
            errors.seek(0)
            raise RuntimeError(f"{name} ended without an answer:\n{errors.read()[-3000:]}")

        try:
            yield ask
        finally:
            process.kill()
            with suppress(BrokenPipeError):
                tasks.close()


@contextmanager
def reachable(page: Page, simulation: str, names: Iterable[str]) -> Iterator[None]:
    """While the page can ask these."""
    with ExitStack() as stack:
        asks = {name: stack.enter_context(contender(name, simulation)) for name in names}
        page.expose_function("elsewhere", lambda name, task: asks[name](task))
        yield
