"""Every op refuses what it is not made for, in the author's terms: which op, what it expected, what came."""

from __future__ import annotations

import re
from itertools import product

import pytest
from op_cases import DIVISOR, OP_NAMES, SIZE, case

import rose_core as rose
from rose_core import Bool, Dual, Real, Tan, Vec, compile, fn, select, struct, zero
from rose_core.language.ops import by_name

OTHER_SIZE = 5
EXPECTED = {"R": "Real", "B": "Bool", "I": str(SIZE)}

SYMBOLIC = {
    "Bool": Bool,
    "Real": Real,
    str(OTHER_SIZE): OTHER_SIZE,
    str(SIZE): SIZE,
    "[3]Real": Vec(3, Real),
    "{a: Real}": struct(a=Real),
}
"""Parameters of many types, by what a message calls the type."""

PLAIN = {"R": ["text", None, True, 1j, [1.0]], "B": [1, 0.0, "text", None], "I": [True, 1.5, "1", None]}
"""For each operand type, values of Python's own that are none."""

CHECKED = [name for name in OP_NAMES if "I" not in by_name[name].ins]
"""What is done with indices is apart: it takes indices of any types, and a size (tests/test_indices.py)."""


def function(name):
    """The op as a function of its operands alone."""
    if name == "select":
        return lambda p, x, y: select(
            p, Tan if getattr(x, "type", Real) is Tan or x is zero() else Real, x, y
        )
    return case(name).call


def letters(name):
    """The types of an op's operands; a choice is taken as one of Reals."""
    return by_name[name].ins.replace("a", "R")


def refusal(error, body, *args):
    """The message that refuses ``body(symbols, *args)``; the next function must be none the worse for it."""

    def wrapper(*values):
        body(dict(zip(SYMBOLIC, values, strict=True)), *args)
        return 0.0

    with pytest.raises(error) as caught:
        fn(list(SYMBOLIC.values()), Real, wrapper)
    assert compile(fn([Real], Real, lambda x: x + 1))(2.0) == 3.0
    return str(caught.value)


def with_symbol(symbols, name, k, came):
    """Apply the op to operands of the right types, but for a parameter of another at ``k``."""
    args = [symbols[EXPECTED[letter]] for letter in letters(name)]
    args[k] = symbols[came]
    function(name)(*args)


def with_plain(symbols, name, k, came):
    """The same with a value of Python's own."""
    args = [symbols[EXPECTED[letter]] for letter in letters(name)]
    args[k] = came
    function(name)(*args)


@pytest.mark.parametrize("name", CHECKED)
def test_symbolic_operands(name):
    for k, letter in enumerate(letters(name)):
        for came in SYMBOLIC.keys() - {EXPECTED[letter]}:
            message = refusal(TypeError, with_symbol, name, k, came)
            assert name in message
            assert message.endswith(mismatch(EXPECTED[letter], came))


def named(expected):
    """How errors say what type is expected."""
    return f"an index below {expected}" if expected.isdigit() else expected


def mismatch(expected, came):
    """What is said of a symbol of type ``came``."""
    if not (expected.isdigit() and came.isdigit()):
        advice = "; real(i) makes it one" if expected == "Real" and came.isdigit() else ""
        if expected == "Real" and came.startswith("["):
            advice = "; vec(3, Real, lambda i: …) does something with each element"
        return f"expected {named(expected)}, got a symbolic {came}{advice}"
    advice = f"index({expected}, i) makes it one"
    return f"expected an index below {expected}, got one below {came}; {advice}"


@pytest.mark.parametrize("name", [name for name in CHECKED if len(letters(name)) > 1])
def test_plain_operands(name):
    for k, letter in enumerate(letters(name)):
        for came in PLAIN[letter]:
            message = refusal(TypeError, with_plain, name, k, came)
            assert name in message
            got = f"{type(came).__name__} {came!r}" + ("; a return may be missing" if came is None else "")
            assert message.endswith(f"expected {named(EXPECTED[letter])}, got {got}")


def test_plain_operands_alone():
    for name in CHECKED:
        for k, letter in enumerate(letters(name) if name != "select" and by_name[name].ins != "II" else ""):
            for came in PLAIN[letter]:
                args = [{"R": 1.0, "B": True}[x] for x in letters(name)]
                args[k] = came
                with pytest.raises(TypeError, match=f"{name}: expected {named(EXPECTED[letter])}, got"):
                    function(name)(*args)


@pytest.mark.parametrize("name", ["imod", "idiv"])
def test_operands_of_parts(name):
    for came in SYMBOLIC.keys() - {str(SIZE), str(OTHER_SIZE)}:
        assert re.fullmatch(
            rf"{name}: expected .*, got a symbolic .*", refusal(TypeError, with_symbol, name, 0, came)
        )
    for came in PLAIN["I"]:
        assert re.fullmatch(rf"{name}: expected .*, got .*", refusal(TypeError, with_plain, name, 0, came))
    more = [DIVISOR] if name == "idiv" else []
    for size in (Real, Vec(2, Real)):
        message = refusal(TypeError, lambda _, size: getattr(rose, name)(size, 1, *more), size)
        assert f"{name}: expected a size, got" in message
    taken = rose.fn([0], Real, lambda i: 0.0)
    message = refusal(IndexError, lambda _, size: taken(getattr(rose, name)(size, 1, *more)), 0)
    assert f"{name}: 0 is out of range" in message


def test_divisors():
    for by in (0, Real, Vec(2, Real)):
        for divided in (lambda symbols, by: rose.idiv(SIZE, 1, by), lambda symbols, by: symbols["7"] // by):
            assert "idiv: expected a size of 1 or more, got" in refusal(TypeError, divided, by)
    for by in ("text", 1.5, True):
        for divided in (lambda symbols, by: rose.idiv(SIZE, 1, by), lambda symbols, by: symbols["7"] // by):
            assert f"got {type(by).__name__} {by!r}" in refusal(TypeError, divided, by)
    assert "a symbolic 7" in refusal(TypeError, lambda symbols, _: symbols["7"] // symbols["7"], None)
    assert "a symbolic Real has no //" in refusal(TypeError, lambda symbols, _: symbols["Real"] // 2, None)


@pytest.mark.parametrize("name", [name for name in OP_NAMES if name != "side"])
def test_arity(name):
    """Of those that authors call."""
    f = getattr(rose, name + "_" * (name in ("and", "or", "not")))
    arity = len(letters(name))
    before = [] if "I" not in letters(name) else [SIZE]
    if name == "select":
        before, arity = [True, Real], 2
    if name in ("imod", "idiv"):
        arity = 1

    def body(symbols, count):
        f(*before, *[symbols[EXPECTED[letters(name)[-1]]]] * count)

    counts = (
        {0, arity - 1} if name in ("min", "max") else {0, arity - 1, arity + 1}
    )  # of many there is one, too
    for count in counts:
        if count != 1 or name != "select":  # select(p, Real, x) has operands of wrong types instead
            assert name in refusal(TypeError, body, count)


def test_literal_index():
    for i in (3, -4):
        message = refusal(IndexError, lambda v, i: v["[3]Real"][i], i)
        assert message == f"index of [3]Real: {i} is out of range, expected 0 <= i < 3"
    for came in ("Real", "Bool", str(OTHER_SIZE)):
        message = refusal(TypeError, lambda v, came: v["[3]Real"][v[came]], came)
        assert message == f"index of [3]Real: {mismatch('3', came)}"


# -- operators ------------------------------------------------------------------------------------------

OPERATORS = [
    ("add", lambda v: v["Real"] + v["Bool"]),
    ("add", lambda v: 1 + v["Bool"]),
    ("sub", lambda v: v["Real"] - v["[3]Real"]),
    ("mul", lambda v: v["Real"] * v[str(SIZE)]),
    ("div", lambda v: "text" / v["Real"]),
    ("pow", lambda v: v["Real"] ** None),
    ("neg", lambda v: -v["Bool"]),
    ("abs", lambda v: abs(v["Bool"])),
    ("not", lambda v: ~v["Real"]),
    ("and", lambda v: v["Bool"] & 1),
    ("or", lambda v: v["Real"] | v["Bool"]),
    ("xor", lambda v: v["Bool"] ^ v["Real"]),
    ("lt", lambda v: v["Bool"] < v["Bool"]),
    ("eq", lambda v: v["Real"] == v["Bool"]),
    ("iff", lambda v: v["Bool"] == v["Real"]),
    ("iadd", lambda v: v[str(SIZE)] + v["Real"]),
    ("ilt", lambda v: v[str(SIZE)] < 1.5),
]


@pytest.mark.parametrize(("name", "body"), OPERATORS, ids=[name for name, _ in OPERATORS])
def test_operators(name, body):
    assert re.match(rf"{name}: expected .*, got ", refusal(TypeError, body))


def test_rests():
    """Real numbers have none that is meant by itself; what is, can be written. Sizes of indices are known."""
    assert "floor(x / y) for x % y" in refusal(TypeError, lambda v: v["Real"] % 3)
    assert "for Reals, write floor(x / y)" in refusal(TypeError, lambda v: v["Real"] // 3)
    assert "floor(x / y) for x % y" in refusal(TypeError, lambda v: 7 % v["Real"])
    assert "for Reals, write floor(x / y)" in refusal(TypeError, lambda v: 7 // v["Real"])
    assert "for Reals, write floor(x / y)" in refusal(TypeError, lambda v: divmod(7, v["Real"]))
    for index in (lambda v: 7 % v[str(SIZE)], lambda v: 7 // v[str(SIZE)], lambda v: divmod(7, v[str(SIZE)])):
        assert "by numbers that are known, as in i // 3" in refusal(TypeError, index)


def test_operators_of_aggregates():
    for name, body in [
        ("add", lambda v: v["[3]Real"] + v["[3]Real"]),
        ("mul", lambda v: v["[3]Real"] * 2),
        ("neg", lambda v: -v["[3]Real"]),
        ("lt", lambda v: v["[3]Real"] < 1),
        ("sub", lambda v: v["{a: Real}"] - 1),
    ]:
        assert re.match(rf"{name}: expected .*, got ", refusal(TypeError, body))


def test_truth_value():
    for came in SYMBOLIC:
        assert "use select" in refusal(TypeError, lambda v, came: 1 if v[came] else 2, came)


# -- tangents -------------------------------------------------------------------------------------------


def with_tangents(name, pattern):
    """The type of the op's result, with tangents for operands where ``pattern`` has a T."""
    found = []

    def body(x, y, p, i):
        given = {"R": [x.re, y.re, x.re], "B": [p, p, p], "I": [i, i, i]}
        tangents = [x.du, y.du, x.du]
        args = [tangents[k] if pattern[k] == "T" else given[a][k] for k, a in enumerate(letters(name))]
        found.append(function(name)(*args).type)
        return x

    fn([Dual, Dual, Bool, SIZE], Dual, body)
    return found[0]


@pytest.mark.parametrize("name", CHECKED)
def test_linearity(name):
    """Tangents enter only where the op is linear in them, and then its result is one."""
    op = by_name[name]
    allowed = re.sub("[^T]", "_", op.tangent)
    for pattern in map("".join, product("T_", repeat=len(op.ins))):
        if pattern == allowed:
            assert with_tangents(name, pattern) is Tan
        elif "T" in pattern and (name, pattern) != ("mul", "_T"):
            with pytest.raises(TypeError, match=name):
                with_tangents(name, pattern)


def test_tangent_as_second_factor():
    assert with_tangents("mul", "_T") is Tan
    fn([Dual], Dual, lambda x: {"re": x.re, "du": x.re * x.du})
    fn([Dual], Dual, lambda x: {"re": x.re, "du": rose.mul(2, x.du)})
    fn([Dual], Dual, lambda x: {"re": x.re, "du": rose.mul(x.re, zero())})


DUALS = [
    (lambda x: {"re": x.du, "du": x.du}, "result of .*re: expected Real, got a symbolic Tan"),
    (lambda x: {"re": zero(), "du": x.du}, "result of .*re: expected Real, got Zero"),
    (lambda x: {"re": x.re, "du": x.re}, "result of .*du: expected Tan, got a symbolic Real"),
    (lambda x: {"re": x.re, "du": 1.0}, "result of .*du: expected Tan, got float 1.0"),
    (lambda x: {"re": x.re, "du": x.du + 1}, "add is not linear in this tangent"),
    (lambda x: {"re": x.re, "du": x.du * x.du}, "mul is not linear in these tangents"),
    (lambda x: {"re": x.re, "du": 1 / x.du}, "div is not linear in this tangent"),
    (lambda x: {"re": x.re, "du": rose.sin(x.du)}, "sin is not linear in this tangent"),
    (lambda x: {"re": x.re, "du": select(x.du > 0, Tan, x.du, zero())}, "gt is not linear in this tangent"),
]


@pytest.mark.parametrize(("body", "message"), DUALS)
def test_numbers_are_no_tangents(body, message):
    with pytest.raises(TypeError, match=message):
        fn([Dual], Dual, body)


def test_linear_combinations_of_tangents():
    for body in (
        lambda x: x.du * x.re,
        lambda x: 2 * x.du / x.re,
        lambda x: -x.du + x.du - zero(),
        lambda x: select(x.re > 0, Tan, x.du, zero()),
    ):
        fn([Dual], Dual, lambda x, body=body: {"re": x.re, "du": body(x)})
