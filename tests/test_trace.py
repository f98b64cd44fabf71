"""The Python tracer: what it accepts, and what it says of what it does not accept."""

from __future__ import annotations

import math
import re
from builtins import compile as compile_text
from copy import copy
from dataclasses import asdict, dataclass

import pytest
from engines import same

import rose_core as rose
from rose_core import (
    Bool,
    DerivativeError,
    Dual,
    Null,
    Real,
    Tan,
    Vec,
    compile,
    fn,
    iadd,
    imod,
    index,
    interp,
    jvp,
    mul,
    opaque,
    select,
    sin,
    struct,
    sum,
    vec,
    vjp,
    zero,
)
from rose_core.derivatives.expand import Expansion
from rose_core.language.builder import Builder
from rose_core.language.check import check
from rose_core.language.ir import ACCUM, ADD_TO, PARAM, RESOLVE, Func
from rose_core.language.queries import among, opcodes, places
from rose_core.language.types import REAL

Point = struct(x=Real, y=Real)


def test_operators() -> None:
    f = fn([Real, Real], Real, lambda x, y: -((x * y + 1 - 2 / x) ** 2) + abs(3 - y))
    assert same(f, 2, 5) == -((10 + 1 - 1) ** 2) + 2
    g = fn([Real, Bool], Bool, lambda x, p: ((x > 1) & ~p) | (x == 3) ^ (p != (x <= 0)))
    assert same(g, 2, False) is True
    assert same(g, 3, True) is False


def test_vectors_are_sequences() -> None:
    @fn
    def f(v: Vec(3, Real)) -> Real:
        a, b, c = v
        total = 0
        for e in v:
            total = total * 10 + e
        return total + a * b * c + v[-1] + len(v)

    assert same(f, [1, 2, 3]) == 123 + 6 + 3 + 3


def test_python_s_own_sum() -> None:
    v = [1.0, 2.0, 4.0]
    f = fn([Vec(3, Real)], Real, lambda v: rose.sum(v) * rose.sum(x * x for x in v) + rose.sum([1, 2]))
    assert compile(f)(v) == interp(f)(v) == 7 * 21 + 3
    assert rose.sum(range(4)) == 6
    started = fn([Real], Real, lambda x: rose.sum([x, x], 1.0) + rose.sum((x for _ in "ab"), start=x))
    assert compile(started)(2.0) == 11.0
    long = fn([Vec(1000, Real)], Real, rose.sum)
    assert len(long.func.code) < 10
    with pytest.raises(TypeError, match="not iterable"):
        fn([Real], Real, rose.sum)


def test_structs_are_taken_apart_by_name_and_tuples_in_order() -> None:
    f = fn([Real, Real], Real, lambda x, y: x * y)
    slopes, both = rose.grad(f, (0, 1)), rose.value_and_grad(f)

    @fn
    def product(x: Real, y: Real) -> Real:
        u, v = slopes(x, y)
        return u * v

    assert compile(product)(2.0, 3.0) == 6.0
    with pytest.raises(TypeError, match="by the names of its fields, which are value, grad"):
        fn([Real], Real, lambda x: max(both(x, x)))


def test_structs_and_nesting() -> None:
    Shape = struct({"points": Vec(2, Point), "closed": Bool, "start": 2})

    @fn
    def f(s: Shape) -> struct({"first": Point, "sizes": Vec(2, Vec(2, Real)), "shape": Shape}):
        p = s.points[s.start]
        return {
            "first": select(s.closed, Point, p, {"x": p.y, "y": p.x}),
            "sizes": vec(2, Vec(2, Real), lambda i: [s.points[i].x, mul(s.points[i].y, 2)]),
            "shape": s,
        }

    shape = {"points": [{"x": 1, "y": 2}, {"x": 3, "y": 4}], "closed": False, "start": 1}
    result = same(f, shape)
    assert result.first == {"x": 4, "y": 3}
    assert result.sizes == [[1, 4], [3, 8]]
    assert result.shape == shape


def test_copies_of_symbolic_values_are_these() -> None:
    """As `dataclasses.asdict` makes them."""

    @dataclass
    class State:
        at: object
        sides: object
        rest: object

    t = struct(at=Real, sides=Vec(2, Real), rest=Point)
    f = fn([t], t, lambda s: asdict(State(copy(s.at) + 1, s.sides, s.rest)))
    given = {"at": 1.0, "sides": [2.0, 3.0], "rest": {"x": 4.0, "y": 5.0}}
    assert same(f, given) == {**given, "at": 2.0}


def test_a_struct_with_some_fields_anew() -> None:
    f = fn([Point], Point, lambda p: {**p, "x": p.y})
    assert same(f, {"x": 1, "y": 2}) == {"x": 2, "y": 2}
    Odd = struct({"keys": Real, "x": Real})
    assert same(fn([Odd], Real, lambda s: s.keys * s.x), {"keys": 3, "x": 5}) == 15


def test_a_selection_finds_its_type_out() -> None:
    pair = fn([Real], Vec(2, Real), lambda x: select(x > 0, [x, 1], [0, x]))
    assert same(pair, 2.0) == [2.0, 1.0] and same(pair, -2.0) == [0.0, -2.0]
    point = fn([Point], Point, lambda p: select(select(p.x > 0, True, False), {"x": 1, "y": p.x}, p))
    assert same(point, {"x": 2, "y": 3}) == {"x": 1.0, "y": 2.0}
    assert same(fn([Real], Real, lambda x: select(x > 0, 1, 2)), 0.0) == 2.0


def test_structs_are_gone_through_as_dicts_are() -> None:
    f = fn([Point], Real, lambda p: sum(v for k, v in p.items() if k != "y") + sum(p.values()))
    assert same(f, {"x": 1, "y": 2}) == 4.0
    assert same(fn([Point], Real, lambda p: p.x if "x" in p and "z" not in p else 0), {"x": 1, "y": 2}) == 1.0
    t = struct(b=Real, a=Real)
    assert same(fn([t], Vec(2, Real), lambda p: [*p.values()]), {"a": 1, "b": 2}) == [2.0, 1.0]
    own = fn([struct(items=Real, values=Real)], Real, lambda p: p.items - p.values)
    assert same(own, {"items": 5, "values": 3}) == 2.0


@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
def test_a_class_is_a_struct_wherever_it_is_made(future: str) -> None:
    """Also in a module that is in no table of modules, or in a function there."""
    text = "from rose_core import Real, struct\ndef make():\n    @struct\n    class P:\n        x: Real\n"
    scope = {"__name__": "nowhere"}
    exec(
        compile_text(f"{future}{text}    return P\nP = make()", "nowhere.py", "exec", dont_inherit=True),
        scope,
    )
    assert scope["P"] == struct(x=Real)


def test_a_whole_number_may_be_an_index() -> None:
    """What operations give of numbers alone are Reals."""
    f = fn([Vec(3, Real)], Real, lambda v: v[index(3, rose.floor(1.5))])
    assert same(f, [1, 2, 3]) == 2


def test_annotations_as_text_and_classes_as_structs() -> None:
    @struct
    class Pair:
        a: Real
        b: Vec(2, Real)

    @fn
    def f(p: Pair, n: 3) -> Real:
        return p.a + p.b[1]

    assert same(f, {"a": 1, "b": [2, 3]}, 2) == 4


@pytest.mark.parametrize("n", [0, 1])
def test_small_sizes(n: int) -> None:
    f = fn([Vec(n, Real)], Real, lambda v: sum(n, lambda i: v[i] * v[i]))
    g = fn([Vec(n, Real)], Vec(n, Real), lambda v: vjp(f)(v).grad(1))
    assert same(f, [3.0] * n) == 9 * n
    assert same(g, [3.0] * n) == [6.0] * n
    h = fn([Vec(n, n)], Vec(n, Vec(n, n)), lambda v: vec(n, Vec(n, n), lambda i: vec(n, n, lambda j: v[j])))
    assert same(h, [0] * n) == [[0] * n] * n


def test_null_and_empty() -> None:
    f = fn([Null, Vec(2, Null)], struct({"a": Null, "b": Vec(2, Null)}), lambda a, b: {"a": a, "b": b})
    assert same(f, None, [None, None]) == {"a": None, "b": [None, None]}


def test_indices() -> None:
    f = fn([Vec(3, 4), Vec(4, Real)], Vec(3, Real), lambda i, v: vec(3, Real, lambda k: v[i[k]]))
    assert same(f, [3, 0, 3], [1, 2, 3, 4]) == [4, 1, 4]
    g = fn(
        [5, 5],
        struct({"sum": 5, "mod": 3, "less": Bool}),
        lambda i, j: {"sum": iadd(5, i, j), "mod": imod(3, i), "less": i < j},
    )
    assert same(g, 1, 3) == {"sum": 4, "mod": 1, "less": True}


def test_many_arguments_and_results() -> None:
    """More scalars than a call passes in registers, in and out and across calls."""
    n = 150
    Many = struct({f"x{i:03}": Real for i in range(n)})
    f = fn([Many], Many, lambda s: {f"x{i:03}": s[f"x{(i + 1) % n:03}"] * 2 for i in range(n)})
    g = fn([Many], Many, lambda s: f(f(s)))
    values = {f"x{i:03}": float(i) for i in range(n)}
    assert same(g, values) == {f"x{i:03}": 4.0 * ((i + 2) % n) for i in range(n)}
    h = fn([Many], Real, lambda s: f(s)["x010"] * s["x003"])
    assert same(fn([Many], Many, lambda s: vjp(h)(s).grad(1)), values)["x011"] == 2 * 3


def test_vjp_of_several_arguments_and_of_what_is_not_real() -> None:
    f = fn([Real, Bool, Point], Real, lambda x, p, q: select(p, x * q.x, q.y))

    @fn
    def g(x: Real, p: Bool, q: Point) -> struct({"x": Real, "p": Bool, "q": Point}):
        dx, dp, dq = vjp(f)(x, p, q).grad(2)
        return {"x": dx, "p": dp, "q": dq}

    assert same(g, 3, True, {"x": 5, "y": 7}) == {"x": 10, "p": True, "q": {"x": 6, "y": 0}}


def test_a_derivative_is_found_when_it_is_needed() -> None:
    """A custom derivative counts even if it is set after a function that needs it was defined."""
    half = fn([Real], Real, lambda x: x / 2)
    g = fn([Real], Real, lambda x: vjp(half)(x).grad(1))
    assert same(g, 8) == 0.5
    half.jvp = fn([Dual], Dual, lambda x: {"re": half(x.re), "du": x.du * 10})
    assert same(g, 8) == 10


def test_zero_tangents() -> None:
    step = opaque([Real], Real, lambda x: float(x > 0))
    step.jvp = fn([Dual], Dual, lambda x: {"re": step(x.re), "du": zero()})
    f = fn([Real], Real, lambda x: step(x) + x * x)
    assert same(jvp(f), {"re": 3, "du": 1}) == {"re": 10, "du": 6}
    assert same(fn([Real], Real, lambda x: vjp(f)(x).grad(1)), 3) == 6
    assert same(jvp(step), {"re": 3, "du": 1}) == {"re": 1, "du": 0}


def test_opaque_functions_of_anything() -> None:
    """Bools, indices, vectors and structs in and out, each call made once."""
    Point = struct(x=Real, y=Real)
    Out = struct(v=Vec(3, Real), p=Point, b=Bool, i=3, n=Null)
    calls = []

    def iteration(v, p, b, i):
        calls.append((v, p, b, i))
        return {"v": [*v, p.x], "p": {"x": p.y, "y": p["x"]}, "b": not b, "i": (i + 1) % 3, "n": None}

    iteration_it = opaque([Vec(2, Real), Point, Bool, 3], Out, iteration)

    @fn
    def f(x: Real, y: Real) -> struct(v=Vec(3, Real), s=Real, i=3, b=Bool):
        r = iteration_it([x, y], {"x": y, "y": x}, True, 2)
        q = iteration_it([r.p.x, 7], r.p, r.b, r.i)
        return {"v": vec(3, Real, lambda k: q.v[k] * r.v[k]), "s": q.p.x + r.p.y, "i": q.i, "b": q.b}

    assert same(f, 2, 3) == {"v": [4, 21, 6], "s": 6, "i": 1, "b": True}
    assert len(calls) == 6  # `same` runs it three times
    assert calls[0] == ([2, 3], {"x": 3, "y": 2}, True, 2)


def test_an_opaque_function_of_a_vector_has_a_derivative() -> None:
    norm = opaque([Vec(2, Real)], Real, lambda v: math.hypot(*v))

    @fn
    def rule(v: Vec(2, Dual)) -> Dual:
        length = norm([v[0].re, v[1].re])
        return {"re": length, "du": (v[0].du * v[0].re + v[1].du * v[1].re) / length}

    norm.jvp = rule
    f = fn([Real], Real, lambda x: norm([x * 3, 4 * x]) * x)
    assert same(fn([Real], Real, lambda x: vjp(f)(x).grad(1)), 2) == pytest.approx(20)
    assert same(jvp(f), {"re": 2, "du": 1}).du == pytest.approx(20)


def test_an_opaque_function_that_gives_the_wrong_thing() -> None:
    def wrong(x):
        return "1"

    f = opaque([Real], Real, wrong)
    with pytest.raises(TypeError, match="the result of wrong: expected Real, got str '1'"):
        interp(f)(1)


def test_functions_inside_functions() -> None:
    """They use values of the functions around them, and are differentiated by these too."""

    @fn
    def outer(x: Real, v: Vec(2, Real)) -> Real:
        inner = fn([Real], Real, lambda y: sin(x * y) * v[1])

        def term(i):
            k = fn([Real], Real, lambda z: v[i] * (z + x) * fn([Real], Real, lambda w: w * x * z)(2))
            return k(v[0])

        return inner(2) + sum(2, term)

    def plain(x, a, b):
        return math.sin(2 * x) * b + (a + b) * (a + x) * 2 * x * a

    @fn
    def gradient(x: Real, v: Vec(2, Real)) -> Vec(3, Real):
        dx, dv = vjp(outer)(x, v).grad(1)
        return [dx, dv[0], dv[1]]

    at, h = [1.5, 0.5, 2.0], 1e-6
    assert same(outer, at[0], at[1:]) == pytest.approx(plain(*at), rel=1e-14)
    for k, slope in enumerate(same(gradient, at[0], at[1:])):
        up, down = ([y + s * h * (j == k) for j, y in enumerate(at)] for s in (1, -1))
        assert slope == pytest.approx((plain(*up) - plain(*down)) / (2 * h), rel=1e-8)


def test_perturbations_are_not_confused() -> None:
    """d/dx (x · d/dy (x + y)) = 1, in every combination of modes."""

    def reverse(f, at):
        return vjp(f)(at).grad(1)

    f = fn([Real], Real, lambda x: x * reverse(fn([Real], Real, lambda y: x + y), 1))
    assert same(fn([Real], Real, lambda x: reverse(f, x)), 3) == 1
    assert same(jvp(f), {"re": 3, "du": 1}) == {"re": 3, "du": 1}


def test_the_derivative_of_a_closure_forward() -> None:
    """Its tangent is for its argument; what it takes from around it stands still, and varies outside."""

    @fn
    def f(x: Real) -> Real:
        g = fn([Real], Real, lambda y: x * y * y)
        return jvp(g)({"re": 2, "du": zero()}).re + vjp(g)(3).grad(1)

    assert same(fn([Real], Real, lambda x: vjp(f)(x).grad(1)), 3) == 10
    assert same(jvp(f), {"re": 3, "du": 1}) == {"re": 30, "du": 10}


# -- mistakes ------------------------------------------------------------------------------------------


def outside():
    """A symbolic value that has left its function."""
    kept = []
    fn([Real], Real, lambda x: kept.append(x) or x)
    return kept[0]


def leaked_index():
    kept = []

    def body(v):
        vec(2, Real, lambda i: kept.append(i) or 1.0)
        return v[kept[0]]

    return fn([Vec(2, Real)], Real, body)


MISTAKES = {
    "a wrong result": (lambda: fn([Real], Real, lambda x: x > 1), TypeError, "result of .*Real.*Bool"),
    "no result": (lambda: fn([Real], Real, lambda x: None), TypeError, "expected Real"),
    "a Bool for a number": (lambda: fn([Bool], Real, lambda p: p * 2), TypeError, "mul: expected Real.*Bool"),
    "text for a number": (lambda: fn([Real], Real, lambda x: x + "1"), TypeError, "add: expected Real.*'1'"),
    "a vector for a number": (
        lambda: fn([Vec(2, Real)], Real, lambda v: mul(v, 2)), TypeError, r"mul: expected Real.*\[2\]Real"),
    "a wrong size": (
        lambda: fn([Real], Vec(3, Real), lambda x: [x, x]), ValueError, "expected 3 elements, got 2"),
    "a wrong field": (lambda: fn([Point], Real, lambda p: p.z), AttributeError, "no field 'z'.*x, y"),
    "wrong fields": (lambda: fn([Real], Point, lambda x: {"x": x, "z": x}), TypeError, "x, y.*x, z"),
    "an element out of range": (
        lambda: fn([Vec(2, Real)], Real, lambda v: v[2]), IndexError, "2 is out of range"),
    "an element deep inside": (
        lambda: fn([], Vec(1, Point), lambda: [{"x": 1, "y": True}]), TypeError, r"\[0\]\.y"),
    "a real index": (lambda: fn([Vec(2, Real), Real], Real, lambda v, x: v[x]), TypeError, "index of .*Real"),
    "an index of another size": (
        lambda: fn([Vec(2, Real), 3], Real, lambda v, i: v[i]), TypeError,
        r"expected an index below 2, got one below 3; index\(2, i\) makes it one"),
    "too many arguments": (
        lambda: fn([Real], Real, lambda x: fn_square()(x, x)), TypeError, "square takes 1 argument, got 2"),
    "a branch on a symbolic value": (
        lambda: fn([Real], Real, lambda x: x if x > 0 else -x), TypeError, "use select"),
    "math of numbers": (
        lambda: fn([Real], Real, lambda x: math.sin(x)), TypeError, r"Real has no value.*write sin\(x\)"),
    "a format of numbers": (
        lambda: fn([Real], Real, lambda x: f"{x:.2f}"), TypeError, "Real has no value while its function is"),
    "a result that is forgotten": (
        lambda: fn([Real], Real, lambda x: None), TypeError, "got NoneType None; a return may be missing"),
    "a sum of vectors": (
        lambda: fn([Vec(2, Real)], Vec(2, Real), lambda v: v + v), TypeError,
        r"add: expected Real, got a symbolic \[2\]Real; vec\(2, Real, lambda i: …\) does something"),
    "a range of an index": (
        lambda: fn([3], Real, lambda i: sum(range(i))), TypeError, "3 has no value.*write.*fori"),
    "an element that is set": (
        lambda: fn([Vec(2, Real)], Real, lambda v: v.__setitem__(0, 1)), TypeError, r"v = v.set\(i, x\) has"),
    "a field that is set": (
        lambda: fn([Point], Real, lambda p: setattr(p, "x", 1)), TypeError, "y: Real} cannot be changed"),
    "a value from another function": (
        lambda: fn([Real], Real, lambda x: x + outside_value), RuntimeError, "used outside of it"),
    "an index after its loop": (leaked_index, RuntimeError, "outside of the loop"),
    "a symbolic value outside": (lambda: outside_value + 1, RuntimeError, "in the body of an fn; to call"),
    "a closure out of its function": (
        lambda: fn([Real], Real, lambda x: leaked_closure(x)), RuntimeError, "Real.* of the function outer"),
    "a closure on its own": (
        lambda: compile(leaked_closure), TypeError, "uses values of the function outer around it"),
    "a derivative for a closure": (
        lambda: setattr(leaked_closure, "jvp", jvp(leaked_closure)), TypeError, "pass them as arguments"),
    "a product of tangents": (
        lambda: fn([Tan, Tan], Tan, lambda a, b: a * b), TypeError, "mul is not linear"),
    "a sine of a tangent": (
        lambda: fn([Tan], Tan, lambda a: __import__("rose_core").sin(a)), TypeError, "sin is not linear"),
    "no function": (lambda: vjp(3), TypeError, "vjp: expected a function.*3"),
    "no type": (lambda: fn([3.5], Real, lambda x: 1), TypeError, "expected a type"),
    "a negative size": (lambda: Vec(-1, Real), ValueError, "-1"),
    "a derivative of another signature": (lambda: set_jvp(), TypeError, r"expected a function \(\{re"),
    "no annotation": (lambda: fn(lambda x: x), TypeError, "parameter x of <lambda> has no type"),
    "any number of parameters": (
        lambda: fn(lambda *x: x[0]), TypeError, "can only have parameters by position"),
    "an operation that symbols do not have": (
        lambda: fn([Real], Real, lambda x: x[0]), TypeError, "'symbolic scalar' object is not subscriptable"),
    "a sum of no function": (
        lambda: fn([Real], Real, lambda x: rose.sum(3, x)), TypeError, "sum: expected a function"),
    "an opaque function without a list of types": (
        lambda: opaque(Real, Real, abs), TypeError, "opaque: expected a list of.*the type Real"),
    "an opaque function that is none": (
        lambda: opaque([Real], Real, 3), TypeError, "opaque: expected a function of Python, got int 3"),
    "too few arguments of a function of any size": (
        lambda: fn([Real], Real, lambda x: fn([Vec(rose.Size("n"), Real)], Real, len)()), TypeError,
        "len takes 1 argument, got 0"),
    "grad in a side of a cond": (lambda: inner_grad(), RuntimeError, "grad of square cannot be used in"),
    "grad out of its place": (lambda: stray_grad(), RuntimeError, "grad of square"),
}  # fmt: skip


def fn_square():
    def square(x):
        return x * x

    return SQUARE or fn([Real], Real, square)


def leak_closure():
    kept = []

    def outer(x):
        kept.append(fn([Real], Real, lambda y: x + y))
        return x

    fn([Real], Real, outer)
    return kept[0]


leaked_closure = leak_closure()
SQUARE = None
SQUARE = fn_square()
outside_value = outside()


def set_jvp() -> None:
    f = fn([Real], Real, lambda x: x)
    f.jvp = fn([Real], Real, lambda x: x)


def stray_grad():
    kept = []
    fn([Real], Real, lambda x: kept.append(vjp(SQUARE)(x)) or x)
    return fn([Real], Real, lambda x: kept[0].grad(1))


def inner_grad():
    def body(x):
        pullback = vjp(SQUARE)(x)
        return rose.cond(x > 0, Real, lambda: pullback.grad(1), lambda: 0.0)

    return fn([Real], Real, body)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_in_the_authors_terms(name: str) -> None:
    action, kind, message = MISTAKES[name]
    with pytest.raises(kind) as caught:
        action()
    assert re.search(message, str(caught.value)), caught.value
    assert same(fn([Real], Real, lambda x: x + 1), 1) == 2  # and the next program works


def test_a_mistake_in_a_loop_can_be_caught() -> None:
    """An author who catches an error in a loop's body goes on with a function that is whole."""

    def body(v):
        with pytest.raises(IndexError):
            vec(2, Real, lambda i: v[i] * v[2])
        return sum(2, lambda i: v[i])

    assert same(fn([Vec(2, Real)], Real, body), [1, 2]) == 3


def test_an_opaque_function_without_derivative() -> None:
    def secret(x):
        return x

    f = opaque([Real], Real, secret)
    g = fn([Real], Real, lambda x: vjp(f)(x).grad(1))
    with pytest.raises(DerivativeError, match=r"opaque function secret has no derivative; set secret\.jvp"):
        compile(g)


def test_a_wrong_derivative_is_told_where_tangents_are_numbers() -> None:
    """As a page may have set one; reverse mode takes what has tangents in it with numbers for these."""
    square = fn([Real], Real, lambda x: x * x)
    f = fn([Real], Real, lambda x: jvp(square)({"re": x, "du": zero()}).re)
    f.func.fault = "f.jvp: that is none"
    around = fn([Real], Real, lambda x: f(x) + x)
    assert Expansion(around.func).root
    for mode in (fn([Real], Real, lambda x: vjp(around)(x).grad(1)), jvp(around)):
        with pytest.raises(DerivativeError, match=r"f\.jvp: that is none"):
            Expansion(mode.func)


def test_a_derivative_that_needs_itself() -> None:
    f = fn([Real], Real, lambda x: x * x)
    f.jvp = fn([Dual], Dual, lambda x: jvp(f)(x))
    with pytest.raises(DerivativeError, match="needs itself"):
        compile(jvp(f))


CALLS = [
    ([1], TypeError, "takes 2 arguments, got 1"),
    ([1, [1, 2], 3], TypeError, "takes 2 arguments, got 3"),
    (["1", [1, 2]], TypeError, "argument 1 of f: expected Real, got str '1'"),
    ([True, [1, 2]], TypeError, "argument 1 of f: expected Real, got bool"),
    ([1, [1]], ValueError, "argument 2 of f: expected 2 elements, got 1"),
    ([1, [1, None]], TypeError, r"argument 2 of f\[1\]: expected Real"),
    ([1, {"a": 1}], TypeError, r"expected \[2\]Real"),
]


@pytest.mark.parametrize("make", [compile, interp])
@pytest.mark.parametrize(("args", "kind", "message"), CALLS)
def test_calls_with_wrong_arguments(make, args, kind, message) -> None:
    def f(x, v):
        return x + v[0]

    g = make(fn([Real, Vec(2, Real)], Real, f))
    with pytest.raises(kind, match=message):
        g(*args)
    assert g(1, [2, 3]) == 3


def test_vectors_of_tangents():
    """A forward derivative makes vectors of tangents, which its own derivative takes for numbers."""
    V2 = Vec(2, Real)
    f = fn([V2], V2, lambda x: [x[0] * x[0], x[0] * 3.0])
    twice = jvp(jvp(f))
    check(Expansion(twice.func).root)
    x = [{"re": {"re": a, "du": 1.0}, "du": {"re": 1.0, "du": 0.0}} for a in (2.0, 5.0)]
    assert [y.du.du for y in compile(twice)(x)] == [2.0, 0.0]


def test_fields_may_have_any_names() -> None:
    """Those of what symbolic values have themselves, too."""
    t = struct({"block": Real, "trace": Real, "type": 3, "described": Real, "id": Real, "ids": Vec(2, Real)})
    f = fn([t], Real, lambda s: s.block * s.trace + s.described * s.ids[select(s.type < 1, 2, 1, 0)] + s.id)
    s = {"block": 3.0, "trace": 7.0, "type": 0, "described": 2.0, "id": 5.0, "ids": [11.0, 13.0]}
    assert compile(f)(s) == interp(f)(s) == 3 * 7 + 2 * 13 + 5


def test_instructions_are_found_by_opcode_as_a_function_grows():
    f = Func("f", [REAL], REAL)
    b = Builder(f)
    x = b.param(REAL)
    accumulator = b.accum(b.real(0.0))
    b.add_to(accumulator, x)
    assert places(f, among((PARAM, ADD_TO))) == [x, 2]
    assert places(f, among([RESOLVE])) == []
    end = b.resolve(accumulator)
    assert places(f, among([RESOLVE])) == [end]
    assert opcodes(f) == {PARAM, ACCUM, ADD_TO, RESOLVE}
    assert places(Func("empty", [], REAL), among([PARAM])) == []


def test_what_is_public_says_what_it_does() -> None:
    functions = [getattr(rose, name) for name in rose.__all__ if callable(getattr(rose, name))]
    assert [f for f in functions if not f.__doc__] == []
    assert str(rose.atan2.__doc__).startswith("``atan2(Real, Real)``, a Real")
