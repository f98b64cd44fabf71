"""Cost grows with the program and with nothing else: sizes are counted, not timed."""

from __future__ import annotations

import gc
import sys
import threading
from functools import partial
from itertools import pairwise

import pytest
import recordings

from rose_core import (
    Dual,
    Real,
    Vec,
    and_,
    compile,
    cond,
    fn,
    fori,
    grad,
    gt,
    ieq,
    imod,
    index,
    interp,
    jet,
    jvp,
    lt,
    not_,
    opaque,
    or_,
    select,
    sin,
    vec,
    vjp,
    while_loop,
    xor,
)
from rose_core import sum as rose_sum
from rose_core.deep import deep_recursion
from rose_core.derivatives.expand import Expansion, expansion
from rose_core.derivatives.known import Known
from rose_core.derivatives.tape import Transposed
from rose_core.derivatives.updates import is_worth_it
from rose_core.language.ir import LOOP, Func, LoopSite
from rose_core.language.text import show
from rose_core.language.types import Ref
from rose_core.recording import record
from rose_core.wasm.context import Codes, Context
from rose_core.wasm.program import Program


def functions(root: Func) -> list[Func]:
    found, todo = [], [root]
    while todo:
        f = todo.pop()
        if f not in found:
            found.append(f)
            todo += f.callees
    return found


def tower(height: int, step):
    """Functions of which each calls the one before it twice."""
    f = fn([Real], Real, step)
    for _ in range(height):
        f = (lambda g: fn([Real], Real, lambda x: g(x) + g(x * 0.5)))(f)
    return f


def measure(f) -> tuple[int, int]:
    """Instructions of a program, and bytes of its module."""
    with deep_recursion():
        root = Expansion(f.func).root
        return sum(len(g.code) for g in functions(root)), len(Program(root).bytes)


@pytest.mark.parametrize(
    "derive", [lambda f: f, jvp, grad, lambda f: grad(grad(f))], ids=["f", "jvp", "grad", "grad²"]
)
def test_calls_stay_calls(derive) -> None:
    """Functions, the last of which runs the first up to 2^24 times, in linear size."""
    sizes = [measure(derive(tower(height, sin))) for height in (6, 12, 18, 24)]
    for k in (0, 1):
        steps = [b[k] - a[k] for a, b in pairwise(sizes)]
        assert max(steps) - min(steps) <= 0.05 * max(steps), sizes


def products(height: int):
    """As `tower`, but the derivative of each call takes values of its own: 2^height in all."""
    f = fn([Real], Real, sin)
    for _ in range(height):
        f = (lambda g: fn([Real], Real, lambda x: sin(g(x) * g(x * 0.5) + x)))(f)
    return f


def test_tapes_stay_short() -> None:
    """Code grows in proportion to the height, though the work doubles with every step."""
    sizes = [measure(grad(products(height)))[0] for height in (20, 40, 60)]
    assert sizes[2] - sizes[1] <= 1.3 * (sizes[1] - sizes[0]), sizes


def long_products(height: int):
    """As `products`, of functions of some length."""

    def longer(g, x):
        for k in range(30):
            x = sin(x) * (1 + k / 30)
        return sin(g(x) * g(x * 0.5) + x)

    f = fn([Real], Real, sin)
    for _ in range(height):
        f = (lambda g: fn([Real], Real, lambda x: longer(g, x)))(f)
    return f


def test_tapes_are_not_as_long_as_all_that_is_called() -> None:
    """Each function would pass on what those that it calls do, all the way down."""
    sizes = [measure(grad(long_products(height)))[1] for height in (20, 40, 60)]
    assert sizes[2] - sizes[1] <= 1.15 * (sizes[1] - sizes[0]), sizes
    f = long_products(9)
    for x in (0.3, -1.2):
        slope = compile(jvp(f))({"re": x, "du": 1})["du"]
        assert compile(grad(f))(x) == pytest.approx(slope, rel=1e-11)


def test_tapes_of_tapes_stay_short() -> None:
    """Of a second derivative no faster than with the square, or a little more."""
    sizes = [measure(grad(grad(products(height))))[0] for height in (15, 30, 45)]
    assert sizes[2] - sizes[1] <= 3 * (sizes[1] - sizes[0]), sizes


def descent(height: int):
    """Functions of which each calls the one before it in either side of a choice."""

    def choice(g, k: int):
        def body(x, y):
            return cond(x > 0.1 * k, Real, lambda: g(0.5 * x, y), lambda: g(x + y, y))

        return fn([Real, Real], Real, body)

    f = fn([Real, Real], Real, lambda x, y: sin(x * y))
    for k in range(height):
        f = choice(f, k)
    return f


def small_loops(height: int):
    """Loops of few iterations, each of them in a side of a choice in the iterations of the one before."""

    def trips(height, s, x):
        if not height:
            return sin(s * x[0]) + x[1]
        return fori(
            12,
            Real,
            s,
            lambda i, s: cond(s > 0.1, Real, lambda: trips(height - 1, s, x), lambda: s * x[1]),
        )

    return fn([Real, Real], Real, lambda *x: trips(height, x[0], x))


def slope(f):
    def body(*x):
        dx, dy = vjp(f)(*x).grad(1)
        return dx + dy

    return fn(f.func.param_types, Real, body)


@pytest.mark.parametrize(("program", "heights"), [(descent, (6, 9, 12)), (small_loops, (3, 4, 5))])
@pytest.mark.parametrize("derive", [lambda f: f, jvp, slope], ids=["f", "jvp", "grad"])
def test_choices_in_each_other_stay_short(program, heights, derive) -> None:
    """The derivative of a side is made as often as that stands in the program, not as it may be taken."""
    sizes = [measure(derive(program(height)))[0] for height in heights]
    assert sizes[2] - sizes[1] <= 1.3 * (sizes[1] - sizes[0]), sizes


def kept_in_choices(depth: int):
    """Choices in each other, in which each level has to keep some of what it computes."""

    def nest(d: int, v, x):
        if not d:
            return sin(v)
        return cond(v > d - 99.0, Real, lambda: sin(nest(d - 1, sin(v * x) + 0.5, x)) * v, lambda: v)

    return fn([Real], Real, lambda x: nest(depth, x, x))


def test_what_choices_in_each_other_keep_does_not_go_through_all_of_them() -> None:
    sizes = [measure(grad(kept_in_choices(depth))) for depth in (40, 80, 120)]
    for few, more, most in zip(*sizes, strict=True):
        assert most - more <= 1.3 * (more - few), sizes


def test_the_gradient_of_choices_deep_in_each_other() -> None:
    f = kept_in_choices(60)
    g = grad(f)
    slope, curvature = compile(jvp(f)), compile(jvp(g))
    for x in (0.7, 1.1, -45.5):
        dual = {"re": x, "du": 1.0}
        assert compile(g)(x) == interp(g)(x) == pytest.approx(slope(dual)["du"], rel=1e-12)
        assert compile(grad(g))(x) == pytest.approx(curvature(dual)["du"], rel=1e-11)


def test_loops_find_out_once_which_arrays_go_along(monkeypatch) -> None:
    """However deep they are in each other: of each one more backward function is made, to look at."""
    vector = Vec(20, Real)
    state = {"v": vector, "x": Real}

    def nest(depth: int, v, x):
        if not depth:
            return sin(x)

        def iteration(i, s):
            means = rose_sum(20, lambda j: s.v[j] * 0.05)
            return {"v": s.v.set(index(20, 2), means + s.x), "x": nest(depth - 1, v, s.x)}

        last = fori(50, state, {"v": v, "x": x}, iteration)
        return last.x + last.v[2]

    made = []
    make = Transposed._make
    monkeypatch.setattr(Transposed, "_make", lambda self, request: made.append(0) or make(self, request))
    Expansion(gradient(fn([vector], Real, lambda v: nest(8, v, v[0])), 20).func)
    assert len(made) < 60


def test_what_is_run_again_for_want_of_a_tape() -> None:
    f = products(12)
    forward, reverse = compile(jvp(f)), compile(grad(f))
    for x in (0.3, -1.2, 2.5):
        assert reverse(x) == pytest.approx(forward({"re": x, "du": 1})["du"], rel=1e-12)


def test_what_has_effects_is_run_once() -> None:
    calls = []
    noisy = opaque([Real], Real, lambda x: (calls.append(x), x)[1])
    noisy.jvp = fn([Dual], Dual, lambda x: {"re": noisy(x.re), "du": x.du})
    f = fn([Real], Real, noisy)
    for _ in range(8):
        f = (lambda g: fn([Real], Real, lambda x: sin(g(x) * g(x))))(f)
    compile(grad(f))(0.5)
    assert len(calls) == 2**8


def test_a_shared_call_graph_runs() -> None:
    f = fn([Real], Real, lambda x: x)
    for _ in range(20):
        f = (lambda g: fn([Real], Real, lambda x: g(x) + g(x)))(f)
    assert compile(jvp(f))({"re": 2, "du": 3}) == {"re": 2.0**21, "du": 3 * 2.0**20}


def test_a_deep_chain_of_calls() -> None:
    f = fn([Real], Real, lambda x: x * 1.5)
    for _ in range(2000):
        f = (lambda g: fn([Real], Real, lambda x: g(x) + 1))(f)
    assert interp(f)(2) == 2003
    assert compile(grad(f))(2) == 1.5


def test_the_gradient_of_a_chain_of_calls_grows_with_its_length() -> None:
    def chain(length: int):
        f = fn([Real], Real, sin)
        for k in range(length):
            f = (lambda g, at: fn([Real], Real, lambda x: sin(g(x) * at) + x))(f, 1 + k / length)
        return f

    sizes = [measure(grad(chain(length)))[0] for length in (100, 200, 300)]
    assert sizes[2] - sizes[1] <= 1.3 * (sizes[1] - sizes[0]), sizes


def test_choices_deep_in_each_other_need_no_stack() -> None:
    """A thread of a browser has little."""

    def choice(g, k: int):
        return fn([Real], Real, lambda x: cond(lt(x, k), Real, lambda: g(sin(x)), lambda: x * k))

    f = fn([Real], Real, lambda x: x * 1.5)
    for k in range(1000):
        f = choice(f, k)
    with_little_stack(f)


def with_little_stack(f) -> None:
    """Compile ``f``, or end the process."""
    done_with_little_stack(lambda: Program(expansion(f.func, Known())))


def done_with_little_stack(run) -> None:
    """Run it, or end the process."""
    done = []

    def work() -> None:
        with deep_recursion():
            done.append(run())

    size = threading.stack_size(2**18)
    thread = threading.Thread(target=work)
    thread.start()
    threading.stack_size(size)
    thread.join()
    assert done


def test_what_an_iteration_calls_needs_no_stack() -> None:
    def longer(g, k: int):
        def body(x):
            y = g(x) + g(x + k)
            for _ in range(30):
                y = sin(y) * k
            return y

        return fn([Real], Real, body)

    f = fn([Real], Real, lambda x: x * 1.5)
    for k in range(1000):
        f = longer(f, k)
    with_little_stack(fn([Real], Real, lambda x: fori(300, Real, x, lambda i, s: s * 0.5 + f(x))))


def test_updates_in_choices_in_choices_are_counted_without_stack() -> None:
    vector = Vec(40, Real)

    def choice(g, k: int):
        def body(v, x):
            return cond(lt(x, k), vector, lambda: g(v.at[k % 40].set(x * v[3]), x), lambda: g(v, x + k))

        return fn([vector, Real], vector, body)

    f = fn([vector, Real], vector, lambda v, x: v.at[0].set(x))
    for k in range(2000):
        f = choice(f, k)
    loop = fn([vector, Real], vector, lambda v, x: fori(9, vector, v, lambda i, s: f(s, x))).func
    (site,) = (LoopSite(loop, ins) for ins in loop.code if ins[0] == LOOP)
    done_with_little_stack(lambda: is_worth_it(site, 0))


def steps_in_choices(depth: int):
    """The gradient of a loop that replaces elements, in so many choices in each other."""
    vector = Vec(40, Real)

    def steps(v, x):
        return fori(30, vector, v, lambda i, s: s.at[imod(40, i)].set(sin(s[3] * x)))

    def choice(g, k: int):
        return fn(
            [vector, Real], Real, lambda v, x: cond(lt(x, k), Real, lambda: g(v, x) * x, lambda: g(v, x + k))
        )

    f = fn([vector, Real], Real, lambda v, x: steps(v, x)[7])
    for k in range(depth):
        f = choice(f, k)
    return gradient(fn([vector], Real, lambda v: f(vec(40, Real, lambda i: v[i] * v[i]), v[1])), 40)


@pytest.mark.parametrize("depth", [20, 60])
def test_cotangents_start_from_what_choices_in_choices_give(depth: int) -> None:
    with deep_recursion():
        root = Expansion(steps_in_choices(depth).func).root
    assert not any(isinstance(t, Ref) for g in functions(root) for t in g.params)


def pairs(condition):
    """The gradient by what is infinite of two that are one, for pairs but those of a condition on indices."""

    def row(v, i):
        return rose_sum(8, lambda j: select(condition(i, j), Real, 0.0, 1 / (v[i] - v[j])))

    return gradient(fn([Vec(8, Real)], Real, lambda v: rose_sum(8, lambda i: row(v, i))), 8)


def test_long_conditions_on_indices_need_no_stack() -> None:
    def condition(i, j):
        found = ieq(8, i, j)
        for k in range(1000):
            found = or_(found, and_(ieq(8, i, k % 8), xor(found, ieq(8, j, k // 8 % 8))))
        return found

    with_little_stack(pairs(condition))


def test_conditions_on_indices_are_written_once() -> None:
    def condition(i, j):
        found = ieq(8, i, j)
        for k in range(20):
            found = or_(and_(found, ieq(8, i, k % 8)), and_(not_(found), ieq(8, j, 3 * k % 8)))
        return found

    assert len(Expansion(pairs(condition).func).root.code) < 300


@pytest.mark.parametrize("is_first", [False, True])
def test_choices_by_indices_grow_with_their_number(is_first: bool) -> None:
    n = 1000

    def tables(count: int):
        def term(v, i):
            conditions = [ieq(n, i, k) for k in range(count)] if is_first else []
            found = 0.0
            for k in reversed(range(count)):
                is_here = conditions[k] if is_first else ieq(n, i, k)
                found = select(is_here, Real, (k + 1) / (v[i] - k * k), found)
            return found

        return gradient(fn([Vec(n, Real)], Real, lambda v: rose_sum(n, lambda i: term(v, i))), n)

    sizes = [len(Expansion(tables(count).func).root.code) for count in (50, 100, 150)]
    assert sizes[2] - sizes[1] <= 1.1 * (sizes[1] - sizes[0]), sizes


def unrolled(n: int):
    def body(x):
        total = 0.0
        for i in range(n - 1):
            a, b = x[i + 1] - x[i] * x[i], 1 - x[i]
            total = total + (100 * (a * a) + b * b)
        return total

    return fn([Vec(n, Real)], Real, body)


def rolled(n: int):
    def term(x, i):
        a = x[i] - x[i] * x[i]
        return 100 * (a * a) + sin(a)

    return fn([Vec(n, Real)], Real, lambda x: rose_sum(n, lambda i: term(x, i)))


def gradient(f, n: int):
    return fn([Vec(n, Real)], Vec(n, Real), lambda x: vjp(f)(x).grad(1))


def test_straight_code_stays_linear() -> None:
    small, large = (measure(gradient(unrolled(n), n)) for n in (200, 800))
    assert large[0] <= 4.1 * small[0]
    assert large[1] <= 4.3 * small[1]  # addresses get longer


def test_loops_stay_loops() -> None:
    small, large = (measure(gradient(rolled(n), n)) for n in (10, 10_000))
    assert large[0] == small[0]
    assert large[1] <= small[1] + 40


def test_gradients_need_few_local_variables() -> None:
    """The backward part of each term is computed next to its forward part."""
    root = Expansion(gradient(unrolled(1000), 1000).func).root
    from rose_core.language.ops import OPS
    from rose_core.wasm.lower import Body

    body = Body(root, Context(Codes([b"\xa0"] * len(OPS))), 0, {}, entry=([0], [8000]))
    assert sum(count for count, _ in body.runs) <= 16


def test_large_programs_run() -> None:
    n = 3000
    f = gradient(unrolled(n), n)
    x = [((i * 37) % 100) / 50 - 1 for i in range(n)]
    expected = [0.0] * n
    for i in range(n - 1):
        a = x[i + 1] - x[i] * x[i]
        expected[i] += -400 * a * x[i] - 2 * (1 - x[i])
        expected[i + 1] += 200 * a
    assert compile(f)(x) == pytest.approx(expected, rel=1e-12, abs=1e-9)


def effort(f) -> int:
    """Calls of functions that compiling takes."""
    return calls_in(lambda: Program(expansion(f.func, Known())))


def choices_in_choices(n: int):
    """Functions of which each calls the one before it where something holds."""
    f = fn([Real], Real, sin)
    for _ in range(n):
        f = (lambda g: fn([Real], Real, lambda x: cond(lt(x, 9.0), Real, lambda: g(x) + 1.0, lambda: x)))(f)
    return f


def test_what_derivatives_are_made_with_goes_at_once() -> None:
    """And not when Python looks for what refers to itself, which is in the middle of something else."""
    f = grad(choices_in_choices(5))
    while gc.collect():  # what other tests have left behind
        pass
    with deep_recursion():
        Expansion(f.func)
    assert gc.collect() == 0


def test_chains_are_freed_one_after_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """One in another would take space on the machine's stack, of which a browser gives little."""
    depths: list[int] = []
    give_up = Func.give_up

    def noted(self):
        frame, depth = sys._getframe(), 0
        while frame := frame.f_back:
            depth += 1
        depths.append(depth)
        return give_up(self)

    f = choices_in_choices(100)
    monkeypatch.setattr(Func, "give_up", noted)
    del f
    gc.collect()
    assert len(depths) > 200
    assert max(depths) - min(depths) < 10


def calls_in(work) -> int:
    """How many there are, without those that free what other tests have left behind."""
    count = 0

    def note(_frame, event, _arg) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    with deep_recursion():
        gc.disable()
        sys.setprofile(note)
        try:
            work()
        finally:
            sys.setprofile(None)
            gc.enable()
    return count


def test_printing_is_linear() -> None:
    """Of many sums, each with an accumulator whose scope is to be seen."""

    def sums(n: int):
        def body(v):
            x = v[0]
            for _ in range(n):
                x = sin(x) + rose_sum(9, lambda i, x=x: v[i] * sin(v[i] * x))
            return x

        return Expansion(gradient(fn([Vec(9, Real)], Real, body), 9).func).root

    small, large = (calls_in(partial(show, sums(n))) for n in (25, 100))
    assert large <= 4.4 * small


def test_loops_with_limits_of_their_own_are_recorded_in_proportion() -> None:
    def loops(n: int):
        def body(x):
            for k in range(n):
                x = while_loop(Real, x, lambda y: lt(y, 0.0), sin, limit=k)
            return x

        return fn([Real], Real, body)

    small, large = (calls_in(partial(loops, n)) for n in (50, 200))
    assert large <= 4.4 * small


def of_parameters(n: int):
    def body(*xs):
        total = 0.0
        for x in xs:
            total = total * 0.9 + x * sin(x)
        return total

    f = fn([Real] * n, Real, body)

    def gradients(*xs):
        g = vjp(f)(*xs).grad(1)
        return [g[k] for k in range(n)]

    return fn([Real] * n, Vec(n, Real), gradients)


def of_fields(n: int):
    t = {f"a{k}": Real for k in range(n)}

    def body(s):
        total = 0.0
        for k in range(n):
            total = total + s[f"a{k}"] * s[f"a{(k + 1) % n}"]
        return total

    f = fn([t], Real, body)
    return fn([t], t, lambda s: vjp(f)(s).grad(1))


def of_updates(n: int):
    def body(v):
        for k in range(n):
            v = v.at[k].set(v[(k * 7) % n] * v[k])
        return rose_sum(n, lambda i: v[i])

    return gradient(fn([Vec(n, Real)], Real, body), n)


def of_loops(n: int):
    def step(v, k: int):
        return vec(9, Real, lambda i: sin(v[i]) * (k + 0.5))

    def body(v):
        for k in range(n):
            v = step(v, k)
        return rose_sum(9, lambda i: v[i])

    return gradient(fn([Vec(9, Real)], Real, body), 9)


def of_states(n: int):
    def body(v):
        x = v[0]
        for k in range(n):
            a = v[k % 9]
            x = fori(10, Real, x, lambda i, y, a=a: sin(y + a) * 0.9)
        return x

    return gradient(fn([Vec(9, Real)], Real, body), 9)


def of_choices(n: int):
    def step(v, x, k: int):
        return cond(lt(x, v[k % 9]), Real, lambda: x * v[1], lambda: sin(x))

    def body(v):
        x = v[0]
        for k in range(n):
            x = step(v, x, k)
        return x

    return gradient(fn([Vec(9, Real)], Real, body), 9)


def of_calls(n: int):
    f = fn([Real], Real, sin)
    for k in range(n):
        f = (lambda g, c: fn([Real], Real, lambda x: g(x) * c + x))(f, 0.5 + k)
    return grad(f)


def of_functions(n: int):
    def term(k: int):
        return fn([Real, Real], Real, lambda x, y: (sin(y) if k % 7 else y) * (x if k % 3 else y) + k)

    fs = [term(k) for k in range(n)]

    def body(v):
        total = 0.0
        for f in fs:
            total = total + f(v[0], v[1])
        return total

    return gradient(fn([Vec(2, Real)], Real, body), 2)


def of_derivatives(n: int):
    f = fn([Vec(3, Real)], Real, lambda v: sin(v[0]) * (v[1] + v[2] * v[2]))

    def body(v):
        for _ in range(n):
            g = vjp(f)(v).grad(1)
            v = [v[k] - 0.1 * g[k] for k in range(3)]
        return v

    return fn([Vec(3, Real)], Vec(3, Real), body)


def of_rows(n: int):
    t = Vec(n, {"x": Real, "y": Real})

    def body(p):
        total = 0.0
        for i in range(n):
            a, b = p[i], p[(i * 5 + 1) % n]
            total = total + (a.x - b.x) * (a.y - b.y) * (1.5 if i % 3 else a.x)
        return total

    f = fn([t], Real, body)
    return fn([t], t, lambda p: vjp(f)(p).grad(1))


def of_vectors(n: int):
    """Many vectors that calls, choices and loops change."""
    t = {f"a{k}": Vec(2, Real) for k in range(n)}

    def turned(s, i):
        return {f"a{k}": s[f"a{(k + 1) % n}"].set(i, sin(s[f"a{k}"][1])) for k in range(n)}

    step = fn([t, 2], t, turned)

    def body(s):
        s = step(s, 1)
        s = cond(gt(s["a0"][0], 0.5), t, lambda: turned(s, 0), lambda: s)
        s = fori(2, t, s, lambda i, s: turned(s, i))
        total = 0.0
        for k in range(n):
            total = total * 0.9 + s[f"a{k}"][k % 2]
        return total

    f = fn([t], Real, body)
    return fn([t], t, lambda s: vjp(f)(s).grad(1))


def exchanges(n: int):
    """Two points that change places again and again."""
    point = Vec(2, Real)

    def body(v):
        x, y = v[0], v[1]
        for k in range(n):
            p = gt(v[2][0], 0.1 * (k % 7))
            x, y = select(p, point, x, y), select(p, point, y, x)
        return x[0] * y[1] * y[1]

    return fn([Vec(3, point)], Real, body)


def of_exchanges(n: int):
    f = exchanges(n)
    return fn(f.func.param_types, f.func.param_types[0], lambda v: vjp(f)(v).grad(1))


def of_exchanges_to_the_second(n: int):
    """Reverse over reverse: what is added to a choice between accumulators has a cotangent itself."""
    slopes = of_exchanges(n)
    of_slope = fn(slopes.func.param_types, Real, lambda v: slopes(v)[0][1] + slopes(v)[1][0])
    return fn(slopes.func.param_types, slopes.func.ret, lambda v: vjp(of_slope)(v).grad(1))


def of_exchanges_in_both_modes(n: int):
    return jet(jvp(of_exchanges(n)), 2)


def test_points_that_changed_places_have_the_gradient_of_where_they_are() -> None:
    v = [[0.5, -1.5], [2.0, 3.0], [0.35, 0.0]]  # above four of the seven: exchanged at the other three
    f = exchanges(7)
    assert compile(f)(v) == 2.0 * 1.5 * 1.5
    slopes = compile(of_exchanges(7))(v)
    assert slopes == [[0.0, 2 * 2.0 * -1.5], [1.5 * 1.5, 0.0], [0.0, 0.0]]
    second = compile(of_exchanges_to_the_second(7))(v)
    assert second == [[0.0, 2 * 2.0 - 2 * 1.5], [2 * -1.5, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    "program",
    [
        of_exchanges, of_exchanges_to_the_second, of_exchanges_in_both_modes,
        of_parameters, of_fields, of_updates, of_loops, of_states,
        of_choices, of_calls, of_functions, of_derivatives, of_rows, of_vectors,
    ],
)  # fmt: skip
def test_effort_is_linear(program) -> None:
    small, large = (effort(program(n)) for n in (100, 400))
    assert large <= 4.4 * small


def test_lists_of_operands_are_read_once(monkeypatch) -> None:
    """Rows of a recording that have none, as reads of elements, look at none."""
    seen = 0

    class Counted(list):
        def __getitem__(self, k):
            nonlocal seen
            found = super().__getitem__(k)
            seen += len(found) if isinstance(k, slice) else 1
            return found

    read = record.Recording._read

    def counted(self, *given):
        entries = read(self, *given)
        for entry in entries.values():
            entry.extra = Counted(entry.extra)
        return entries

    monkeypatch.setattr(record.Recording, "_read", counted)

    def work(n: int) -> int:
        nonlocal seen
        seen = 0
        f = recordings.Writer("f", [2], 0, [0, 1])
        v = f.row("param", 0)
        x = f.literal(0, 0)
        for k in range(n):
            element = f.row("index", v, f.literal(k * k % n, 1))
            bigger = f.row("sin" if k % 7 == 3 else "exp", x)
            x = f.rows_of("select", f.row("lt", element, x), bigger, element)
        recordings.recording(["real", n, ["vec", n, 0]], [f], [[x]])
        return seen

    assert 0 < work(2000) < 2.2 * work(1000)
