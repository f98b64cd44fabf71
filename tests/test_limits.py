"""Programs that no engine takes: what is said of them, and that the limits are those of an engine."""

from __future__ import annotations

import json
import re
from array import array

import pytest
import wasmtime

from rose_core import (
    Real,
    SizeError,
    Vec,
    bridge,
    compile,
    cond,
    cos,
    encode,
    fn,
    fori,
    grad,
    interp,
    mul,
    opaque,
    sin,
    struct,
    vec,
    vjp,
)
from rose_core import sum as rose_sum
from rose_core.derivatives.expand import Expansion
from rose_core.optimise import inline
from rose_core.wasm import layout, limits
from rose_core.wasm.program import Program


def accepted(function: encode.Function) -> bool:
    """Whether an engine takes a module with this function."""
    data = encode.module([], [function], {"f": 0}, 0, [], "exported")
    try:
        wasmtime.Module(wasmtime.Engine(), data)
    except wasmtime.WasmtimeError:
        return False
    return True


@pytest.mark.parametrize("excess", [0, 1])
def test_the_limits_are_those_of_an_engine(excess: int) -> None:
    bare = len(encode.Function("f", "", "", [], b"").body)
    nop = b"\x01"
    assert accepted(encode.Function("f", "", "", [(limits.LOCALS + excess, "f")], b"")) == (not excess)
    assert accepted(encode.Function("f", "f" * (limits.PARAMS + excess), "", [], b"")) == (not excess)
    code = nop * (limits.BODY - bare + excess)
    function = encode.Function("f", "", "", [], code)
    assert len(function.body) == limits.BODY + excess
    assert accepted(function) == (not excess)


def written_out(trips: int):
    """A sum of products, written out iteration by iteration, and its gradient."""

    @fn
    def square(x: Real) -> Real:
        return x * sin(x)

    @fn
    def f(v: Vec(4, Real)) -> Real:
        total = square(v[0])
        for k in range(1, trips):
            total = total * v[k % 4] + square(total)
        return total

    @fn
    def gradient(v: Vec(4, Real)) -> Vec(4, Real):
        return vjp(f)(v).grad(1)

    return gradient


def message(f) -> str:
    with pytest.raises(SizeError) as raised:
        Program(Expansion(f.func).root)
    return str(raised.value)


def test_too_many_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LOCALS", 100)
    monkeypatch.setattr(inline, "SHORT", 0)
    text = message(written_out(200))
    assert text.startswith("gradient is too large: as a WebAssembly function it has ")
    assert " local variables, and engines allow 100. Of its " in text
    assert re.search(r"\d\d% are calls of fwd_square, \d\d% are calls of bwd_square\. Write what", text)
    assert Program(Expansion(written_out(3).func).root).bytes


def test_too_much_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BODY", 2000)
    assert " bytes, and engines allow 2,000. Of its " in message(written_out(200))


@pytest.mark.parametrize("early", [False, True])
def test_too_much_code_in_any_part(monkeypatch: pytest.MonkeyPatch, early: bool) -> None:
    """A function of such a length is written in parts, and a loop is in one of them."""
    monkeypatch.setattr(limits, "BODY", 30_000)

    def iteration(v, x, i):
        t = total = v[i]
        for k in range(1000):
            t = sin(t * x + k)
            total = total + t * t
        return total

    @fn
    def f(v: Vec(50, Real), x: Real) -> Real:
        y = rose_sum(50, lambda i: iteration(v, x, i)) if early else x
        for k in range(4000):
            y = cos(y * x) + k
        return y if early else y * rose_sum(50, lambda i: iteration(v, x, i))

    assert " bytes, and engines allow 30,000. Of its " in message(f)


def test_too_many_arguments_of_an_opaque_function() -> None:
    struct = {f"x{k}": Real for k in range(limits.PARAMS + 1)}
    give = opaque([struct], Real, lambda s: 0.0)
    f = fn([Real], Real, lambda x: give(dict.fromkeys(struct, x)))
    assert message(f).startswith(
        "<lambda> takes too many arguments: an opaque function gets each number and each vector"
    )


def test_many_constant_rows() -> None:
    """Engines take 100,000 pieces of data."""
    n = 100_010
    rows = [[k / 8, k % 7] for k in range(n)]

    @fn
    def f(x: Real) -> Real:
        table = vec(n, Vec(2, Real), rows)
        return rose_sum(n, lambda i: table[i][0] * x) + table[3][1]

    assert len(Program(Expansion(f.func).root).bytes) < 16 * n + 1000
    assert compile(f)(2.0) == n * (n - 1) / 8 + 3


def many_vectors(count: int):
    """A function that takes so many vectors, and gives so many; calls, a choice and a loop that do, too."""
    P, S = Vec(2, Real), struct({f"v{k}": Vec(2, Real) for k in range(count)})

    @fn
    def turned(s: S, i: 2, x: Real) -> S:
        return {f"v{k}": s[f"v{(k + 1) % count}"].set(i, sin(s[f"v{k}"][1] + x)) for k in range(count)}

    @fn
    def f(v: P, i: 2, x: Real) -> Real:
        s = {f"v{k}": [v[0] * k, v[1] + k] for k in range(count)}
        s = turned(turned(s, i, x), i, v[0])
        s = cond(x > 0, S, lambda: turned(s, 0, x), lambda: s)
        s = fori(3, S, s, lambda _, s: turned(s, i, x))
        total = x
        for k in range(count):
            total = 0.9 * total + s[f"v{k}"][i]
        return total

    return f


@pytest.mark.parametrize("count", [limits.PARAMS + 1, 5])
def test_as_many_vectors_as_there_are(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    if count < limits.PARAMS:
        monkeypatch.setattr(layout, "MOST_POINTERS", 2)
        monkeypatch.setattr(layout, "MOST_SCALARS", 1)
    f = many_vectors(count)
    g = grad(f, (0, 2)) if count < limits.PARAMS else f
    for i, x in ((0, 0.5), (1, -0.25)):
        assert repr(compile(g)([0.5, 0.25], i, x)) == repr(interp(g)([0.5, 0.25], i, x))


def test_too_much_memory() -> None:
    n = 100_000

    @fn
    def f(x: Real) -> Real:
        v = vec(n, Real, lambda i: mul(x, 2))
        m = vec(n, Vec(n, Real), lambda i: vec(n, Real, lambda j: v[i] * v[j]))
        return rose_sum(n, lambda i: rose_sum(n, lambda j: m[i][j] * m[j][i]))

    assert message(f) == (
        "f needs 80.0 GB of memory, of which WebAssembly has 4.3 GB at most; "
        "100% of it is for what f computes, where a [100000][100000]Real alone takes 80.0 GB"
    )

    @fn
    def g(m: Vec(n, Vec(n, Real))) -> Real:
        return m[1][2]

    assert message(g) == (
        "g needs 80.0 GB of memory, of which WebAssembly has 4.3 GB at most; 100% of it is for the arguments"
    )


def test_no_memory_is_for_zeros_that_nobody_reads() -> None:
    """Those that an accumulator begins with are written where it is; those that are given are somewhere."""
    n = 100_000
    squares = fn([Vec(n, Real)], Real, lambda v: rose_sum(n, lambda i: v[i] * v[i]))
    slope = Program(Expansion(grad(squares).func).root)
    assert slope.end < 2 * 8 * n + 1000  # the argument and the result

    still = fn([Vec(n, Real)], Real, lambda v: v[0])
    bent = grad(fn([Vec(n, Real)], Real, lambda v: cond(v[0] > 0, Real, lambda: squares(v), lambda: 0.0)))
    assert compile(bent)([1.0] * n)[1] == 2
    assert compile(grad(still))([1.0] * n)[:2] == [1, 0]


def test_a_compiler_without_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(bridge, "_compile", exhausted)
    header = json.dumps({"root": 1, "functions": [{"name": "g"}, {"name": "f"}]})
    with pytest.raises(SizeError, match=r"^f is too large: .* its recording alone has 4\.0 MB$"):
        bridge.compile_recording(header, array("i", [0] * 1_000_000).tobytes(), b"", "imported")


def test_what_is_within_the_limits_compiles() -> None:
    assert compile(written_out(50))([0.1, 0.2, 0.3, 0.4])
