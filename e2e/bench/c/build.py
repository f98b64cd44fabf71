"""Builds the modules of hand-written C: `python3 e2e/bench/c/build.py`.

Needs clang with the wasm32 target and wasm-ld (Debian: clang lld). The modules are small and kept with
the sources; `built.json` says of what they were made, and a test compares. Where there is a libc for
wasm (Debian: wasi-libc), which is not ours to keep, `build_libm` makes a third kind: the functions of
mathematics linked in, where the others import the engine's.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
RECORD = HERE / "built.json"
LIBC = Path("/usr/lib/wasm32-wasi/libc.a")

STRAIGHT = {"ackley": (10, 100), "rosenbrock": (10, 100)}
"""Sources that are made as straight-line code, too, for these sizes."""

BASE = ("--target=wasm32", "-O3", "-mbulk-memory", "-fno-math-errno", "-std=c11", "-Wall", "-Werror")
LINK = ("-nostdlib", "-Wl,--no-entry", "-Wl,--strip-all", "-Wl,--export=__heap_base")
IMPORTED = "-Wl,--allow-undefined"
SIMD = "-msimd128"


def modules() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Name, source and particular flags of every module."""
    for source in sorted(HERE.glob("*.c")):
        yield source.stem, source.name, ()
        for n in STRAIGHT.get(source.stem, ()):
            yield f"{source.stem}_{n}", source.name, (f"-DN={n}",)


def fingerprint() -> dict[str, str]:
    """Of every module that is kept: a hash of what it is made of."""
    header = (HERE / "bench.h").read_text()
    found = {}
    for name, source, flags in modules():
        for suffix, way in (("", (IMPORTED,)), (".simd", (SIMD, IMPORTED))):
            words = " ".join((*BASE, *LINK, *flags, *way))
            text = f"{words}\n{header}\n{(HERE / source).read_text()}"
            found[f"{name}{suffix}.wasm"] = hashlib.sha256(text.encode()).hexdigest()[:16]
    return found


def build_kept(clang: str) -> None:
    """Build the modules next to their sources, and write down of what."""
    for old in HERE.glob("*.wasm"):
        old.unlink()
    for name, source, flags in modules():
        make(clang, source, (*flags, IMPORTED), HERE / f"{name}.wasm")
        make(clang, source, (*flags, SIMD, IMPORTED), HERE / f"{name}.simd.wasm")
    version = subprocess.run([clang, "--version"], capture_output=True, text=True, check=True)
    record = {"compiler": version.stdout.splitlines()[0], "modules": fingerprint()}
    RECORD.write_text(json.dumps(record, indent=2) + "\n")


def build_libm(folder: Path) -> bool:
    """Build the modules that contain their functions of mathematics; False if that cannot be done here."""
    clang = shutil.which("clang")
    if not clang or not shutil.which("wasm-ld") or not LIBC.exists():
        return False
    folder.mkdir(parents=True, exist_ok=True)
    for name, source, flags in modules():
        text = (HERE / source).read_text()
        if re.search(r"\b(exp|log|sin|cos)\(", text):
            make(clang, source, (*flags, SIMD, str(LIBC)), folder / f"{name}.libm.wasm")
    make(clang, "libm/functions.c", (str(LIBC),), folder / "functions.wasm")
    return True


def make(clang: str, source: str, flags: tuple[str, ...], output: Path) -> None:
    linked = [flag for flag in flags if flag.startswith("-Wl,") or flag.endswith(".a")]
    own = [flag for flag in flags if flag not in linked]
    with tempfile.NamedTemporaryFile(suffix=".o") as part:
        subprocess.run([clang, *BASE, *own, "-c", source, "-o", part.name], cwd=HERE, check=True)
        # without -O3, with which clang has Binaryen work on it where there is one
        command = [clang, BASE[0], *LINK, *linked, part.name, "-o", str(output)]
        subprocess.run(command, cwd=HERE, check=True)
    output.chmod(0o644)


def main() -> int:
    clang = shutil.which("clang")
    if not clang or not shutil.which("wasm-ld"):
        print("This needs clang and wasm-ld (Debian: clang lld).")
        return 1
    build_kept(clang)
    return 0


if __name__ == "__main__":
    sys.exit(main())
