"""Random loops that add to accumulators: interpreter = unrolled = WebAssembly, to the bit."""

from __future__ import annotations

import lane_loops
import pytest
from random_programs import flat
from random_sites import Nests, Sites

from rose_core.host import instantiate
from rose_core.language import interp
from rose_core.language.check import check
from rose_core.language.flatten import flatten
from rose_core.language.parse import parse
from rose_core.optimise import unroll
from rose_core.optimise.unroll import unrolled
from rose_core.wasm.program import Program
from rose_core.wasm.rows import RowsWriter


def assert_sums(program: Sites) -> None:
    f = flatten(parse(program.source)["f"])
    last = unrolled(f)
    check(last)
    expected = repr(flat(interp.call(f, program.args)))
    assert repr(flat(interp.call(last, program.args))) == expected
    run = instantiate(Program(f))
    assert [repr(flat(run(program.args))) for _ in range(2)] == [expected] * 2


@pytest.mark.parametrize("seeds", [range(k, k + 50) for k in range(0, 300, 50)], ids=str)
def test_sums(seeds, monkeypatch) -> None:
    written = lane_loops.noted(monkeypatch, lambda writer: writer)
    for seed in seeds:
        assert_sums(Sites(seed))
    assert len(written) > len(seeds) // 4


@pytest.mark.parametrize("seeds", [range(k, k + 50) for k in range(300, 500, 50)], ids=str)
def test_sums_that_stay_and_may_be_one(seeds) -> None:
    """Elements by indices that are the same in all iterations, and may be the same as each other."""
    for seed in seeds:
        assert_sums(Sites(seed, ["fixed"] * 6))


@pytest.mark.parametrize(("limit", "seeds"), [("MOST_ROWS", range(100)), ("MOST_TRIPS", range(100, 200))])
def test_sums_in_loops_in_loops(limit: str, seeds, monkeypatch) -> None:
    """Those that would be written out stay loops."""
    monkeypatch.setattr(unroll, limit, 3)
    written = lane_loops.noted(monkeypatch, lambda writer: isinstance(writer, RowsWriter))
    for seed in seeds:
        assert_sums(Nests(seed))
    assert sum(written) > len(seeds) // 15
