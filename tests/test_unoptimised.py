"""Random programs, optimised and not: the same bits of values, and of derivatives but the last."""

from __future__ import annotations

import random

import pytest
from engines import same_numbers
from random_programs import RandomProgram, flat
from test_random_programs import args_of, random_like, reverse

from rose_core import compile
from rose_core.derivatives import expand
from rose_core.language import simplify
from rose_core.language.builder import Builder
from rose_core.language.ops import OPS
from rose_core.wasm import lower, program


def only_indices(rewrite):
    """Of a rewriting, what it does to indices, whose ranges must be known."""

    def rewritten(b, op, *operands):
        return rewrite(b, op, *operands) if OPS[op].out == "I" else None

    return rewritten


@pytest.fixture
def plain(monkeypatch):
    """Makes programs from then on what is written down, operation by operation."""

    def begin():
        for name in ("unary", "binary", "ternary", "signed"):
            monkeypatch.setattr(simplify, name, only_indices(getattr(simplify, name)))
        monkeypatch.setattr(Builder, "_whole", lambda *_: None)
        for name in ("unrolled", "summed"):
            monkeypatch.setattr(program, name, lambda f: f)
        monkeypatch.setattr(program, "enclosed", lambda _: {})
        for name in (
            "common",
            "proven",
            "hoisted",
            "guarded",
            "bounded",
            "begun",
            "joined",
            "stored",
            "in_scalars",
            "carried",
            "outside",
            "narrowed",
            "by_choices",
            "by_nearest",
            "fused",
            "demanded",
        ):
            monkeypatch.setattr(expand, name, lambda f: f)
        monkeypatch.setattr(lower, "windows", lambda *_: {})
        monkeypatch.setattr(lower, "in_lanes", lambda *_: None)

    return begin


@pytest.mark.parametrize("seed", range(150))
def test_program(plain, seed):
    value, pulled = outcomes(seed)
    plain()
    plain_value, plain_pulled = outcomes(seed)
    assert repr(value) == repr(plain_value)
    # operations that have become equal have one cotangent: the sum of those that each would have by itself
    assert pulled == pytest.approx(plain_pulled, rel=1e-12, abs=1e-14)


def outcomes(seed):
    """Value and pullback of a random program, compiled."""
    source = RandomProgram(seed)
    f = source.functions[-1]
    args = args_of(source, f)
    value = same_numbers(f, *args)
    cotangent = random_like(random.Random(seed), value)
    return flat(value), flat(compile(reverse(f))(*args, cotangent))
