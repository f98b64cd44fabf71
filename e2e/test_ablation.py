"""The ablations of the compiler mean the same as what they are compared with: `build.py bench ablation`."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Page
from random_programs import RandomProgram
from test_random_programs import args_of, random_like, reverse

from e2e.bench import ablation
from e2e.bench.emit_js import FORMS, emit
from e2e.bench.inlined import inlined
from e2e.test_bench import QUICK, bench  # noqa: F401 - a fixture
from rose_core import interp
from rose_core.derivatives.expand import Expansion
from rose_core.language.interp import call
from rose_core.language.ir import CALL, Func
from rose_core.language.ops import OPS
from rose_core.optimise.copies import stays
from rose_core.tracing.values import flatten_args

SEEDS = range(40)

RUN = """
const plain = (_, x) =>
  ArrayBuffer.isView(x) ? Array.from(x) : typeof x === "number" && !Number.isFinite(x) ? String(x) : x;
const { readFileSync } = await import("node:fs");
const results = JSON.parse(readFileSync(FILE)).map(([text, args]) => Function(text)()(...args));
console.log(JSON.stringify(results, plain));
"""


def program(seed: int) -> tuple[Func, list[Any]]:
    """The pullback of a random program, its derivatives not made yet, and leaves to call it on."""
    source = RandomProgram(seed)
    f = source.functions[-1]
    args = args_of(source, f)
    cotangent = random_like(random.Random(seed), interp(f)(*args))
    backward = reverse(f).func
    return backward, flatten_args([*args, cotangent], backward.param_types, backward.name)


def scalars(x: Any) -> Iterator[float]:
    if isinstance(x, list):
        for y in x:
            yield from scalars(y)
    else:
        yield float(x)


def close(found: Any, expected: Any, seed: int) -> None:
    xs, ys = list(scalars(found)), list(scalars(expected))
    assert len(xs) == len(ys), seed
    for x, y in zip(xs, ys, strict=True):
        assert x == y or math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-12) or (x != x and y != y), (seed, x, y)


def test_every_operation_has_a_form() -> None:
    assert {op.name for op in OPS} == set(FORMS)


def test_javascript_means_the_same(node: Callable[[str], str], tmp_path: Path) -> None:
    programs, expected = [], []
    for seed in SEEDS:
        backward, leaves = program(seed)
        root = Expansion(backward).root
        programs.append([emit(root), leaves])
        found = call(root, leaves)
        expected.append(found[0] if len(found) == 1 else found)
    file = tmp_path / "programs.json"
    file.write_text(json.dumps(programs))
    given = json.loads(node(f"const FILE = {json.dumps(str(file))};{RUN}"))
    for seed, x, y in zip(SEEDS, given, expected, strict=True):
        close(x, y, seed)


def reached(root: Func) -> set[Func]:
    """The functions of a program, but for what those are made of that stay what they are."""
    found, stack = {root}, [root]
    while stack:
        f = stack.pop()
        new = set() if stays(f) else set(f.callees) - found
        found |= new
        stack += new
    return found


def test_nothing_is_called_when_all_is_in_line() -> None:
    calls = 0
    for seed in SEEDS:
        backward, leaves = program(seed)
        root = inlined(backward)
        close(call(Expansion(root).root, leaves), call(Expansion(backward).root, leaves), seed)
        of_root = reached(root)
        calls += sum(ins[0] == CALL for f in reached(backward) for ins in f.code)
        changed = [f for f in of_root if not stays(f)]
        called = {f.callees[ins[1]] for f in changed for ins in f.code if ins[0] == CALL}
        assert not [f.name for f in called if not stays(f)], seed
    assert calls  # there were some


def test_ablations_are_measured(bench: Page) -> None:  # noqa: F811
    found = ablation.measure(bench, {"springs": 12, "mlp": 32}, ["sets"], 1, QUICK["calls"])
    assert list(found) == ["springs, n = 12", "mlp, n = 32", "sets"]
    for variants in found.values():
        assert list(variants) == list(ablation.VARIANTS)
        assert variants["this"]["gradient"]["ratio"] == 1
        for measured in variants.values():
            assert measured["compile"] > 0 and measured["bytes"] > 100
    assert len(ablation.table(found).splitlines()) == 3 + sum(map(len, found.values()))
