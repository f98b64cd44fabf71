"""Random programs in JAX and here: values and derivatives are the same.

Where `build.py bench --cpython` has installed JAX; `ROSE_PROGRAMS=300` makes that many programs.
"""

from __future__ import annotations

import json
import os
import subprocess

import pytest
import twin_rose
from random_programs import flat
from twin_programs import TwinProgram, result_of

from js_bridge.build.paths import CPYTHON, ROOT

COUNT = int(os.environ.get("ROSE_PROGRAMS", "12"))
AT_ONCE = 6

pytestmark = pytest.mark.skipif(not CPYTHON.exists(), reason="build.py bench --cpython has not been run")


@pytest.mark.parametrize("first", range(0, COUNT, AT_ONCE))
def test_same_as_jax(first: int) -> None:
    requests = []
    for seed in range(first, min(first + AT_ONCE, COUNT)):
        program = TwinProgram(seed, result_of(seed))
        arguments = program.argument(), program.argument(), program.cotangent()
        requests.append((seed, program.result, *arguments))
    command = [CPYTHON, ROOT / "tests" / "twin_jax.py"]
    done = subprocess.run(
        command,
        input=json.dumps(requests),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    for (seed, result, *arguments), line in zip(requests, done.stdout.splitlines(), strict=True):
        expected = json.loads(line)
        found = twin_rose.results(TwinProgram(seed, result))
        assert expected.keys() == found.keys()
        for name, call in found.items():
            got = flat(call(*arguments))
            assert got == pytest.approx(flat(expected[name]), rel=1e-8, abs=1e-9), f"seed {seed}: {name}"
