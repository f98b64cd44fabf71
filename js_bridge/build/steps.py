"""Runs commands, and a step of the build only where what it depends on has changed.

`.build/steps.json` holds one hash for each step: of its inputs, when it last succeeded.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from js_bridge.build.paths import ROOT, STATE

Input = Path | str
"""What a step depends on: the content of a file, or of those in a folder, or a setting."""

Command = list[str | Path]


class BuildError(Exception):
    """Something that the reader can put right: what failed, and what to do."""

    def __init__(self, cause: str, advice: str = "") -> None:
        super().__init__(cause)
        self.advice = advice


def run(*argv: str | Path, advice: str = "", timeout: float = 1800, **env: str) -> str:
    """Run a command in the project's root and return its output.

    Output is shown only when the command fails, and then its end, where the cause is.
    """
    words = [str(word) for word in argv]
    try:
        done = subprocess.run(
            words,
            cwd=ROOT,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=timeout,
        )
    except FileNotFoundError:
        raise BuildError(f"{words[0]} is not on this machine", advice) from None
    except subprocess.TimeoutExpired:
        raise BuildError(f"no end after {timeout:.0f} s: {brief(words)}", advice) from None
    if done.returncode:
        tail = "\n".join(line[:400] for line in done.stdout.strip().splitlines()[-40:])
        raise BuildError(f"{brief(words)}\n{tail}", advice)
    return done.stdout


def brief(words: list[str]) -> str:
    """A command as a person would type it, without the project's own address."""
    return " ".join(words).replace(f"{ROOT}/", "")[:200]


def fingerprint(inputs: Iterable[Input]) -> str:
    """Hash the content and names of files, folders of files, and plain strings."""
    digest = hashlib.sha256()
    for item in inputs:
        if isinstance(item, str):
            digest.update(item.encode() + b"\0")
            continue
        for file in sorted(files(item)):
            data = file.read_bytes()
            digest.update(f"{file.relative_to(ROOT)}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()


def digest(path: Path) -> tuple[int, str]:
    """How long a file is, and its SHA-256 in base 64."""
    data = path.read_bytes()
    return len(data), base64.b64encode(hashlib.sha256(data).digest()).decode()


def files(path: Path) -> Iterator[Path]:
    """The files at or below a path, without what tools leave behind there."""
    if path.is_file():
        yield path
    elif path.is_dir():
        for child in path.iterdir():
            if child.name not in ("node_modules", "__pycache__", "shots"):
                yield from files(child)


def say(name: str, seconds: float | None, note: str = "") -> None:
    timing = "done before" if seconds is None else f"{seconds:.1f} s"
    print(f"  {name:<16}{timing:>12}  {note}".rstrip(), flush=True)


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold a lock of this clone, waiting for it where another process does."""
    STATE.mkdir(exist_ok=True)
    with (STATE / name).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("  waiting for another build.py to finish", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def step(
    name: str,
    inputs: Iterable[Input],
    outputs: Iterable[Path],
    action: Callable[[], str | None],
) -> None:
    """Run `action` unless it succeeded on the same inputs and its outputs are there.

    The note that `action` returns is printed behind the step's name and time.
    """
    done = read(STATE / "steps.json")
    key = fingerprint(inputs)
    if done.get(name) == key and all(output.exists() for output in outputs):
        return say(name, None)
    start = time.perf_counter()
    if sys.stdout.isatty():  # the first ones take minutes
        print(f"  {name} …", end="\r", flush=True)
    # Forgotten first: what fails half-way must not count as done when edits are undone.
    note_down(name, None)
    try:
        note = action() or ""
    except BuildError as error:
        raise BuildError(f"{name}: {error}", error.advice) from None
    note_down(name, key)
    return say(name, time.perf_counter() - start, note)


def read(path: Path) -> dict[str, Any]:
    """What is in a JSON file of ours; nothing if whoever wrote it was ended meanwhile."""
    try:
        return dict(json.loads(path.read_text()))
    except (FileNotFoundError, ValueError):
        return {}


NOTING = threading.Lock()


def note_down(name: str, key: str | None) -> None:
    """Put the hash of a step into the ledger, or take it out, with none of others lost: tests freeze, too."""
    ledger = STATE / "steps.json"
    with NOTING:
        done = read(ledger)
        done.pop(name, None)
        if key:
            done[name] = key
        fresh = ledger.with_suffix(f".{os.getpid()}")
        fresh.write_text(json.dumps(done, indent=1))
        fresh.replace(ledger)
