"""The IR as text: the paper's listings are read, and what is printed can be read again."""

from __future__ import annotations

import math
from functools import reduce

import pytest
from random_programs import RandomProgram, duals
from test_random_programs import args_of, reverse

from rose_core import (
    Dual,
    Real,
    RunError,
    Vec,
    checkpoint,
    fn,
    grad,
    hessian,
    imax,
    interp,
    jet,
    jvp,
    min,
    opaque,
    real,
    root,
    sin,
    vjp,
)
from rose_core import sum as rose_sum
from rose_core.derivatives.expand import Expansion
from rose_core.language.check import CheckError, check
from rose_core.language.flatten import flatten
from rose_core.language.interp import call
from rose_core.language.ir import Func
from rose_core.language.parse import ParseError, parse
from rose_core.language.text import show, show_program
from rose_core.tracing.functions import Function, closed
from rose_core.tracing.values import flatten_args

LISTING_7 = """\
def sum<n: Index>(v: [n]Real): Real =
  let z: Real = 0.0 in
  let t: (Real, [n]()) =
    accum a from z in
      [for i: n,
        let x: Real = v[i] in
        let u: () = a += x in
        u
      ]
  in
  let y: Real = fst t in
  y

def sugared<n: Index>(v: [n]Real): Real =
  fst (accum a from 0.0 in [for i: n, a += v[i]])

def both(v: [4]Real): (Real, Real) = (sum<4>(v), sugared<4>(v))
"""

LISTING_8 = """\
type Dual = (Real, Real)
type Tape_sin = Real

def fwd_sin((x, dx): Dual): (Dual, Tape_sin) = ((sin(x), dx * cos(x)), cos(x))
def bwd_sin(ddx: &Dual, (dy_re, dy_du): Dual, z: Tape_sin): () =
  (&snd ddx) += dy_du * z

type Tf = (Dual, (Dual, (Tape_sin, (Real, (Real, (Dual, ()))))))
def fwd_f(u: Dual): (Dual, Tf) =
  let (v, t0) = fwd_sin(u) in
  let (v_re, v_du) = v in
  let w_re = -v_re in
  let w_du = 0.0 in
  let w = (w_re, v_re) in
  (w, (u, (v, (t0, (w_re, (w_du, (w, ())))))))

def bwd_f(ddu: &Dual, dw0: Dual, t: Tf): () =
  let (u, t00) = t in
  let (v, (t0, t1)) = t00 in
  let (dv, _) = accum ddv from v in (
    let v_re = fst v in
    let ddv_re = &fst ddv in
    let v_du = snd v in
    let ddv_du = &snd ddv in
    let (w_re, t2) = t1 in
    let (dw_re, _) = accum ddw_re from w_re in (
      let (w_du, t3) = t2 in
      let (dw_du, _) = accum ddw_du from w_du in (
        let (w, t4) = t3 in
        let (dw1, _) = accum ddw from (0.0, 0.0) in (
          ddw += dw0
        ) in
        let (dw1_re, dw1_du) = dw1 in
        ddw_re += dw1_re;
        ddw_du += dw1_du
      ) in
      ddv_du += -dw_du
    ) in
    ()
  ) in
  bwd_sin(ddu, dv, t0)

def vjp_f(x: Real, dy: Real): Real =
  let (w, t) = fwd_f((x, 0.0)) in
  let (ddu, _) = accum ddu from (0.0, 0.0) in bwd_f(ddu, (0.0, dy), t) in
  snd ddu
"""


def last(source: str) -> Func:
    return list(parse(source).values())[-1]


def test_listing_7() -> None:
    program = parse(LISTING_7)
    for f in program.values():
        check(f)
    both = flatten(program["both"])
    check(both)
    assert call(both, [[1.0, 2.0, 3.0, 4.0]]) == [10.0, 10.0]
    assert "accum a1 from 0.0 in" in show(program["sum"])


def test_listing_8() -> None:
    """A strict transposition, as the paper writes it out."""
    f = last(LISTING_8)
    check(f)
    flat = flatten(f)
    check(flat)
    # the accumulators of the listing start from primal values, which is for their shape only
    tape_sin = 0.5403023058681398
    assert call(flat, [1.0, 2.0]) == pytest.approx([tape_sin * -(2.0 + 0.0)], rel=1e-15)
    assert call(f, [1.0, 2.0]) == call(flat, [1.0, 2.0])


def test_golden_sum() -> None:
    dot = fn([Vec(3, Real), Vec(3, Real)], Real, lambda u, v: rose_sum(3, lambda i: u[i] * v[i]))
    assert (
        show(dot.func)
        == """\
def f(u: [3]Real, v: [3]Real): Real =
  let t9: (Real, ()) =
    accum a6 from 0.0 in
      let v8: [3]() =
        [for i: 3,
          let v3: Real = u[i] in
          let v4: Real = v[i] in
          let v5: Real = v3 × v4 in
          let v7: () = a6 += v5 in
          ()
        ] in
      ()
  in
  let v9: Real = fst t9 in
  v9
"""
    )


def test_golden_derivatives() -> None:
    """Section 4.2's example: f(u) = -sin(u), forward and transposed."""
    f = fn([Real], Real, lambda u: -sin(u))
    assert (
        show(Expansion(jvp(f).func).root.callees[0])
        == """\
def jvp_f(x0: Tan, x1: Real): (Tan, Real) =
  let v2: Real = sin(x1) in
  let v3: Real = cos(x1) in
  let v4: Tan = x0 × v3 in
  let v5: Real = -v2 in
  let v6: Tan = -v4 in
  (v6, v5)
"""
    )
    g = fn([Real, Real], Real, lambda u, dw: vjp(f)(u).grad(dw))
    assert (
        show(Expansion(g.func).root)
        == """\
def f(u: Real, dw: Real): Real =
  let v2: Real = sin(u) in
  let v3: Real = -v2 in
  let v4: Real = cos(u) in
  let v5: Real = dw × v4 in
  let v6: Real = -v5 in
  v6
"""
    )


@pytest.mark.parametrize("seed", range(40))
def test_round_trip(seed: int) -> None:
    """Random programs and their derivatives, printed, read, and printed again."""
    program = RandomProgram(seed)
    f = program.functions[-1]
    args = flatten_args(args_of(program, f), f.func.param_types, "f")
    for g in (f, reverse(f), jvp(f)):
        root = Expansion(g.func).root
        again = last(show_program(root))
        check(again)
        flat = flatten(again)
        check(flat)
        assert flat.params == root.params
        if g is f:
            assert call(flat, args) == call(root, args)
        text = show_program(flat)
        assert show_program(flatten(last(text))) == text


def assert_read_again(f: Function, *args: object) -> None:
    """What was recorded, derivatives by name, is the same program when it has been printed and read."""
    text = show_program(closed(f, "f"))
    read = last(text)
    check(read)
    flat = flatten(read)
    check(flat)
    again = show_program(flat)
    assert show_program(flatten(last(again))) == again
    leaves = flatten_args(args, f.func.param_types, "f")
    assert repr(call(Expansion(flat).root, leaves)) == repr(call(Expansion(f.func).root, leaves))


@pytest.mark.parametrize("seed", range(15))
def test_recordings(seed: int) -> None:
    program = RandomProgram(seed, steps=6)
    f = program.functions[-1]
    args = args_of(program, f)
    assert_read_again(f, *args)
    assert_read_again(reverse(f), *args, interp(f)(*args))
    assert_read_again(jvp(f), *(duals(x, x) for x in args))


def test_recordings_of_operators() -> None:
    f = fn([Real, Real], Real, lambda x, v1: sin(x) * v1 + x * float("inf") * 0.0)
    for g in (f, grad(f), hessian(f, (0, 1)), grad(grad(f)), checkpoint(f)):
        assert_read_again(g, 0.5, 2.0)
    assert_read_again(jet(f, 2), [0.5, 1.0, 0.0], [2.0, 0.0, 1.0])

    @fn
    def outer(a: Real) -> Real:
        g = fn([Real], Real, lambda x: x * x * a)
        return jet(g, 2)([a, 1.0, 0.0])[1] + grad(g)(a) + root(lambda x: x * x - a, 1.0)

    assert_read_again(outer, 0.7)
    assert_read_again(grad(grad(outer)), 0.7)


def test_negative_numbers_and_indices() -> None:
    """What is added to an index is a whole number, and what is added to a number is one."""
    v = Vec(5, Real)
    f = fn([v], Real, lambda x: rose_sum(5, lambda i: x[imax(5, i + (-1), 0)] * -2.0 + (-1 + real(i) * -1.0)))
    assert_read_again(f, [1.0, 2.0, -3.0, 4.0, 5.0])
    assert_read_again(grad(f), [1.0, 2.0, -3.0, 4.0, 5.0])


def test_recordings_of_custom_derivatives() -> None:
    """A function and its derivative may call each other; one that runs Python cannot be read, but told."""
    f = fn([Real], Real, lambda x: sin(x))
    f.jvp = fn([Dual], Dual, lambda d: {"re": f(d.re), "du": d.du * 3})
    twice = fn([Real], Real, lambda x: f(f(x)))
    for g in (f, grad(f), twice, grad(twice), grad(grad(twice))):
        assert_read_again(g, 0.7)
    runs = opaque([Real], Real, math.sin)
    read = last(show_program(fn([Real], Real, lambda x: runs(x) + x).func))
    check(read)
    with pytest.raises(RunError, match="an opaque function that was read from text cannot be run"):
        call(flatten(read), [0.5])


@pytest.mark.parametrize("name", ["min", "for", "set", "v1", "vjp", "not a name!", "1", "été", "_"])
def test_names_that_mean_something_else(name: str) -> None:
    f = fn([Real], Real, lambda x: x * 2.0)
    f.func.name, f.func.param_names = name, [name]
    assert_read_again(grad(fn([Real], Real, lambda x: f(x) * min(x, 5.0))), 0.5)


ERRORS = {
    "def f(x: Real): Real = x +": "line 1, column 27: expected a name, found 'the end'",
    "def f(x: Real): Real = y": "line 1, column 24: y is not defined",
    "def f(x: Real): Bool = x": "expected Bool, found Real",
    "def f(p: Bool): Real = p + p": r"\+ does not apply to Bool, Bool",
    "def f(x: Real): Real =\n  let y: Real = x in\n  g(y)": "line 3, column 3: the function g is not defined",
    "def f(v: [2]Real): Real = v[2]": "2 is out of range for an index below 2",
    "def f(x: Real): Real = x[0]": "Real has no elements",
    "def f(x: Real): Real = x += 1.0": "only an accumulator",
    "def f(p: {a: Real}): Real = p.b": "has no field b",
    "def f(x: Real): Real = pull x(1.0)": "x is not what a vjp gives",
    "def f(x: Real): Real = x def g(x: Real): Real = let u = vjp f(x) in pull u()": "takes 1 cotangents",
    "rule f = g": "the function f is not defined above",
    "def f(x: Real): Real = x $ x": "column 26: unexpected",
    "def f<n: Size>(x: Real): Real = x": "expected Index, Value or Type",
}


@pytest.mark.parametrize("source", ERRORS)
def test_what_is_not_a_program(source: str) -> None:
    with pytest.raises(ParseError, match=ERRORS[source]):
        parse(source)


def test_long_programs_are_printed_and_read() -> None:
    long = fn([Real], Real, lambda x: reduce(lambda y, _: sin(y), range(20_000), x))
    text = show(long.func)
    assert text.count("let ") == 20_000
    assert show(last(text)) == text


def test_the_text_of_many_results_is_as_long_as_there_are() -> None:
    def length(n: int) -> int:
        def term(x):
            return reduce(lambda y, k: sin(y) * (x + k), range(n), x)

        f = fn([Vec(5, Real)], Real, lambda v: rose_sum(5, lambda i: term(v[i])))
        return len(show(Expansion(grad(f).func).root))

    assert length(400) < 4.5 * length(100)


def test_names_end_with_what_they_are_for() -> None:
    inner = "(let y = 2.0 in let x = y * x in x)"
    assert call(last(f"def f(x: Real): Real = {inner} + x"), [3.0]) == [9.0]
    with pytest.raises(ParseError, match="y is not defined"):
        parse(f"def f(x: Real): Real = {inner} + y")


ILL_FORMED = {
    "an escaping accumulator": "def f(x: Real): &Real = accum x",
    "an accumulator in a pair": "def f(x: Real): Real = let r = accum x in let p = (r, x) in x",
    "an array of accumulators": "def f(x: &Real): [2]Real = let v = [x, x] in [1.0, 2.0]",
    "adding after the end": (
        "def f(x: Real): Real = let r = accum x in let y = resolve r in let u = r += y in y"
    ),
    "an index type that is none": "def f<t: Value>(v: [t]Real): Real = 0.0",
}


@pytest.mark.parametrize("name", ILL_FORMED)
def test_what_is_not_well_typed(name: str) -> None:
    """Figures 9 and 10: kinds, and the scope of accumulators."""
    with pytest.raises(CheckError):
        check(last(ILL_FORMED[name]))
