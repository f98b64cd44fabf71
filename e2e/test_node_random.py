"""Random programs written in JavaScript, under Node, give what Python's own numbers and loops do."""

from __future__ import annotations

import json
from random import Random

import pytest
from random_repeats import Repeats

from e2e.node import Run, evaluate

NAMES = """Real Vec add and cond div exp fn fori iadd igeq ileq ilt imod isub lt max min mul neg not scan select
    sin sqrt sub sum valueAndGrad vec"""
"""What the programs say."""


@pytest.mark.parametrize("seeds", [range(k, k + 20) for k in range(500, 560, 20)], ids=str)
def test_values_and_gradients(node: Run, seeds: range) -> None:
    programs = [Repeats(seed) for seed in seeds]
    runs = [f"await run({program.javascript()}, {json.dumps(program.args)})" for program in programs]
    body = f"""
        const {{ {", ".join(NAMES.split())} }} = rose;
        const run = async (f, args) => {{
            const {{ value, grad }} = await same(valueAndGrad(f, [0, 1]), ...args);
            return [value, [...grad[0]], [...grad[1]]];
        }};
        return [{", ".join(runs)}];"""
    found = evaluate(node, body)
    assert isinstance(found, list)
    for program, (value, *gradients) in zip(programs, found, strict=True):
        draw = Random(program.n)
        directions = [[draw.uniform(-1, 1) for _ in x] for x in program.args[:2]]
        expected, has_kink = program.plain(directions)
        terms = [g * d for of in zip(gradients, directions, strict=True) for g, d in zip(*of, strict=True)]
        scale = 1.0 + abs(expected.value) + sum(map(abs, terms))
        assert abs(value - expected.value) < 1e-12 * scale
        assert has_kink or abs(sum(terms) - expected.a) < 1e-11 * scale
