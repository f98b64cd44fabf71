"""The bridge under Node: what authors and their pages do wrong, and what they are told."""

from __future__ import annotations

import math

import pytest

from e2e.node import Run, evaluate

MISTAKES = [
    *((f"fn([Real], {ty}, () => {value})",
       f"TypeError: the result of f{where}: invalid value: expected {of}, got undefined; a return or an argument may be missing, "
       "and an array of JavaScript has no element at a symbolic index, but vec(n, T, array) has")
      for ty, value, where, of in [("Real", "undefined", "", "Real"), ("Vec(2, Real)", "{}", "", "Vec(2, Real)"),
                                   ("{ a: Bool }", "({ a: undefined })", ".a", "Bool")]),
    ("fn([Real], Real, () => null)", "TypeError: the result of f: did not expect null: expected Real"),
    ("fn([Bool], Real, (p) => p)", "TypeError: the result of f: variable type mismatch: expected Real, got Bool"),
    ("fn([Real], Real, (x) => add(x, true))", "TypeError: invalid value: expected Real, got true"),
    ("fn([Vec(2, Real)], Real, (v) => v[2])", "RangeError: invalid value: 2 is out of range, expected an index from 0 to 1"),
    ("fn([Vec(2, Real)], Real, (v) => v[-1])", "RangeError: invalid value: -1 is out of range, expected an index from 0 to 1"),
    ("fn([Vec(2, Real)], Real, (v) => v.x)", 'TypeError: unexpected key: Vec(2, Real) has no "x"'),
    ("fn([{ a: Real }], Real, (s) => s.b)", 'TypeError: unexpected key: { a: Real } has no "b"'),
    ("fn([], { a: Real }, () => ({ b: 1 }))", "TypeError: the result of f: wrong struct keys: expected a, got b"),
    ("fn([], { a: Real }, async () => ({ a: 1 }))", "TypeError: the result of f: wrong struct keys: expected a, got a promise"),
    ("rose.interp(square)(stray)",
     "TypeError: argument 1 of square: expected Real, got a symbolic Real; in a body, call the function that it was made of"),
    ("rose.interp(fn([Vec(2, Real)], Real, (v) => v[0]))({ 0: 1, 1: 2 })",
     "TypeError: argument 1 of f: expected Vec(2, Real), got an object with 0, 1"),
    ("fn([], Vec(2, { a: Real }), () => [{ a: 1 }, { a: '1' }])",
     'TypeError: the result of f[1].a: invalid value: expected Real, got the string "1"'),
    ("fn([], Vec(2, Real), () => [1])", "RangeError: the result of f: wrong array size: expected 2 elements for Vec(2, Real), got 1"),
    ("fn([Vec(3, Real)], Vec(2, Real), (v) => v)",
     "TypeError: the result of f: variable type mismatch: expected Vec(2, Real), got Vec(3, Real)"),
    ("fn([Real], Real, (x) => add(x, stray))",
     "ReferenceError: variable is out of scope: this Real belongs to the function keeper; pass it as an argument"),
    ("fn([], 2, () => { let k; vec(2, Real, (i) => { k = i; return 1; }); return k; })",
     "ReferenceError: the result of f: variable is out of scope: this 2 belongs to a loop or a side of a cond "
     "that has ended; outside, use what that returns"),
    ("fn([Real], Real, (x) => { let y; rose.cond(rose.lt(x, 1), Real, () => (y = mul(x, x)), () => x); return y; })",
     "ReferenceError: the result of f: variable is out of scope: this Real belongs to a loop or a side of a cond "
     "that has ended; outside, use what that returns"),
    *((text, "Error: no `fn` context found: this works only in the body of a function given to fn; "
       "compile it for numbers") for text in ["add(1, 2)", "square(3)", "rose.grad(square)(3)", "vjp(square)(3)"]),
    ("fn([Real], Real, (x) => square(x, x))", "TypeError: square takes 1 argument, got 2"),
    ("fn([Bool], Real, (p) => square(p))",
     "TypeError: argument 1 of square: variable type mismatch: expected Real, got Bool"),
    ("fn([Tan, Tan], Tan, (a, b) => mul(a, b))",
     "TypeError: variable type mismatch: a product or quotient of two tangents is not linear"),
    ("fn([Vec(3, Real)], Real, (v) => rose.sum(4, (i) => v[i]))",
     "TypeError: variable type mismatch: expected an index below 3, got one below 4; index(3, i) makes it one"),
    ("fn([Real], Real, (x) => rose.select(rose.lt(x, 0), Real, x, [x]))",
     "TypeError: side 2 of select: invalid value: expected Real, got an array of 1"),
    ("fn([3, Real], 3, (i, x) => rose.iadd(3, i, x))", "TypeError: iadd: invalid value: expected an index, got a symbolic Real"),
    ("fn([Real], Real, (x) => rose.select(rose.lt(x, 0), 1, 2))",
     "TypeError: select takes a condition, a type and two values, got 3 arguments"),
    *((f"fn([Real], Real, (x) => {text})",
       "TypeError: this takes 2 arguments: for more, call it twice, as in max(max(x, y), z) or and(lt(x, y), lt(y, z))")
      for text in ["rose.sub(x, x, x)", "rose.pow(x, 2, x)", "rose.lt(0, x, 1)", "rose.max(x, 1, 2)", "rose.add(x, x, 1, 2)",
                   "rose.xor(true, false, true)", "rose.iff(true, false, true)", "rose.imod(3, 1, 2)"]),
    *((f"fn([3], Real, (i) => {text})",
       "TypeError: this takes 3 arguments: for more, call it twice, as in max(max(x, y), z) or and(lt(x, y), lt(y, z))")
      for text in ["rose.ilt(3, i, 1, 2)", "rose.iadd(3, i, 1, 2)"]),
    ("fn([10], Bool, (i) => rose.ilt(10, rose.iadd(10, i, 2147483647), 5))",
     "RangeError: iadd: 2147483647 to 2147483656 is out of range, expected an index from 0 to 9"),
    ("{ const n = rose.Size('n'); fn(Vec(n, Real), Real, (v) => v[0]); }",
     "TypeError: fn: expected an array of parameter types, got the type of a vector"),
    *((f"{{ const n = rose.Size('n'); rose.hvp(fn([Vec(n, Real)], Real, (v) => v[0]), {argnums}); }}",
       f"TypeError: hvp: expected an argument number, or several, got {got}")
      for argnums, got in [("'0'", 'the string "0"'), ("null", "null")]),
    ("fn([Real], Real, (x) => rose.whileLoop(Real, x, (s) => rose.lt(s, 1), (s) => s, null))",
     "TypeError: whileLoop: expected an object of options, got null"),
    ("{ const n = rose.Size('n'); fn([Vec(n, Real)], Real, (v) => v[0]).at({ n: 2.5 }); }", "TypeError: f.at: n: expected a size, got 2.5"),
    ("fn([{ ['__proto__']: Real }], Real, () => 1)", "TypeError: invalid type: __proto__ is no name of a field"),
    *((f"fn([{{ a: Real }}], Real, () => fn([{{ a: Real }}], Real, (s) => s.a)({{ get a() {{ throw {error}; }} }}))", told)
      for error, told in [("new DOMException('mine', 'AbortError')", "AbortError: mine"),
                          ("Object.freeze(RangeError('mine'))", "RangeError: mine")]),
    ("fn([Real], Real, (x) => rose.scan(3, Real, x, (s) => [s, s], { checkpoint: 2 })[0])",
     "TypeError: scan takes 4 arguments: checkpoints are for fori and whileLoop"),
    ("{ const n = rose.Size('n'); fn([Vec(n, Real)], Real, (v) => v[0]).at({ n: 1, k: 2 }); }", "TypeError: f.at: there is no size k, only n"),
    ("{ const n = rose.Size('n'); fn([Vec(n, Real)], Real, (v) => rose.mul(v[0], n)).at({ n: 3 }); }",
     "TypeError: invalid value: expected Real, got the size n, which is a number as +n"),
    ("rose.vmap(square, 0, 3)", "TypeError: Size: expected a name, got 3"),
    ("fn([Real], Real, (x) => rose.sum(x, () => x))", "TypeError: sum: expected a size, got a symbolic Real"),
    ("fn([Real], Real, (x) => rose.sum(2.5, () => x))", "TypeError: sum: expected a size, got 2.5"),
    ("fn([5], Real, (i) => rose.real(rose.idiv(5, i, 0)))", "RangeError: idiv: it cannot divide by 0"),
    ("fn([Tan], Tan, (a) => rose.sin(a))", "TypeError: variable type mismatch: expected Real, got Tan"),
    ("fn(Real, Real, (x) => x)", "TypeError: fn: expected an array of parameter types, got the type Real"),
    ("fn([Real], 'Real', (x) => x)", 'TypeError: invalid type: the string "Real"; expected Real, Vec(3, Real), a size or the like'),
    ("Vec(1.5, Real)", "TypeError: Vec: expected a size, got 1.5: this index type cannot be used as an index"),
    ("vjp((x) => x)", "TypeError: vjp: expected a function made with fn or opaque, got a function"),
    ("square.jvp = (x) => x", "TypeError: square.jvp: expected a function made with fn or opaque, got a function"),
    *((f"fn([Real, {{ p: Bool }}, Vec(3, Real), [Real]], Real, (x, s, v, t) => {text})",
       f"TypeError: a symbolic {ty} is no number or text of JavaScript: write add(x, y) for x + y, "
       "lt(x, y) for x < y, sin(x) for Math.sin(x), and so on")
      for text, ty in [("x + 1", "Real"), ("-x", "Real"), ("x < 0 ? 1 : 2", "Real"), ("Math.sin(x)", "Real"),
                       ("v[s.p]", "Bool"), ("v[s]", "{ p: Bool }"),
                       ("v + v", "Vec(3, Real)"), ("v[v]", "Vec(3, Real)"), ("2 * t", "[Real]")]),
    *((f"fn([Real, Vec(3, Real)], Real, (x, v) => {text})",
       "TypeError: a symbolic Real is no index or text of JavaScript: index(n, x) makes it an index; "
       "the body of a fori has the index first, that of a scan last")
      for text in ["v[x]", "`${x}`", "rose.fori(3, Real, x, (s, i) => add(s, v[i]))"]),
    *((f"fn([Vec(3, Real)], Real, (v) => rose.sum(3, (i) => {text}))",
       "TypeError: a symbolic index is no number of JavaScript: iadd(n, i, 1) is i + 1, imod(n, i) the rest, idiv(n, i, 2) a quotient, "
       "ieq(n, i, j) and ilt(n, i, j) compare, real(i) is its value")
      for text in ["v[i + 1]", "v[(i + 1) % 3]", "i < 2 ? v[i] : 0", "mul(2 * i, v[i])", "v[`${i}`]"]),
    *((f"{{ const data = [[1], [2]]; fn([Real], Real, (x) => rose.sum(2, (i) => {text})); }}",
       f"TypeError: {before}an array of JavaScript has no element at a symbolic index, but vec(n, T, array) has")
      for text, before in [("data[i][i]", ""), ("mul(x, data[i])", "invalid value: expected Real, got undefined; a return or an argument may be missing, and ")]),
    ("fn([Real], Real, (x) => rose.sum(3, Real, (i) => x))", "TypeError: sum: expected a function, got the type Real"),
    ("fn([Vec(3, Real)], Real, (v) => JSON.stringify(v))",
     "TypeError: a symbolic Real is no number or text of JavaScript: write add(x, y) for x + y, "
     "lt(x, y) for x < y, sin(x) for Math.sin(x), and so on"),
    ("fn([Real], Real, (x) => mul(x, new Float64Array(2)))",
     "TypeError: invalid value: expected Real, got a Float64Array of 2"),
    ("fn([Real], Real, (x) => rose.sum(3, (i) => mul(i, x)))",
     "TypeError: invalid value: expected Real, got a symbolic index below 3; real(i) is its value, and ieq(n, i, j) compares indices"),
    ("fn([Real], Real, (x) => rose.sum(3, (i) => rose.real(rose.iadd(i, 1))))",
     "TypeError: invalid type: expected a size first, as in iadd(n, i, j), got a symbolic index below 3"),
    ("fn([Real], Real, () => vec(2, Real, [1])[0])",
     "RangeError: vec: wrong array size: expected 2 elements for Vec(2, Real), got 1"),
    ("fn([Vec(2, Real)], Real, (v) => { v[0] = 1; return 1; })",
     "TypeError: a symbolic Vec(2, Real) cannot be changed; build a new one"),
    *((f"fn([Vec(2, Real), {{ a: Real }}], Real, (v, s) => {{ {text}; return 1; }})",
       f"TypeError: a symbolic {ty} cannot be changed; build a new one")
      for text, ty in [("v.fill(0)", "Vec(2, Real)"), ("v.push(1)", "Vec(2, Real)"), ("delete v[0]", "Vec(2, Real)"),
                       ("delete s.a", "{ a: Real }"), ("Object.defineProperty(s, 'a', { value: 1 })", "{ a: Real }")]),
    ("fn([Vec(2, Real)], Real, (v) => add(v, v))",
     "TypeError: invalid value: expected Real, got a symbolic Vec(2, Real); vec(2, Real, (i) => …) does something with each element"),
    ("fn([{ a: Real }], Real, (s) => s)", "TypeError: the result of f: invalid value: expected Real, got a symbolic { a: Real }"),
    ("fn([Real], Real, async (x) => x)", "TypeError: the result of f: invalid value: expected Real, got a promise"),
    ("fn([Real], Real, function* (x) { yield x; })", "TypeError: the result of f: invalid value: expected Real, got an object of the class Generator"),
    ("fn([Real], Real, (x) => rose.max(x, 1, x))",
     "TypeError: this takes 2 arguments: for more, call it twice, as in max(max(x, y), z) or and(lt(x, y), lt(y, z))"),
    ("configure({ cores: 2 })", "TypeError: configure: there is no option cores; the options are core, assets, frozen, cache, incremental, draft, precise"),
    ("configure({ assets: './elsewhere' })", "Error: configure: the core has been started; call configure before ready and compile"),
    ("configure({ assets: 'http://' })",
     'RangeError: configure: expected assets to be the address of a folder, got the string "http://"'),
    ("configure({ frozen: 7 })", "RangeError: configure: expected frozen to be the address of a folder, or false, got 7"),
    ("configure({ cache: null })", "RangeError: configure: expected cache to be true, false or a number of bytes, got null"),
    ("configure({ core: 'worker' })", 'RangeError: configure: expected core to be "main", where there are no pages, got the string "worker"'),
    ("fn([Vec(0, Real)], Real, (v) => v[0])",
     "RangeError: invalid value: 0 is out of range, expected no index, since there are no elements"),
    ("{ const knot = {}; knot.a = [Real, knot]; fn([knot], Real, () => 1); }", "TypeError: invalid type: it is a part of itself"),
    ("fn([Real], (x) => x)", "TypeError: fn takes the types of the parameters, that of the result and a function, got 2 arguments"),
    *((f"fn([Vec(2, Real)], Bool, (v) => v.{name}(1) !== false)",
       f"TypeError: {name} compares symbols, and not their numbers: eq(x, y) compares these when it runs")
      for name in ["includes", "indexOf", "lastIndexOf"]),
    ("rose.functional(square, [Real], Real, (f, x) => f(x))", "TypeError: functional: expected an array of functions, got a function"),
    ("rose.functional([square], [Real], Real, (f, x) => f(x))", "TypeError: functional: its derivative: expected a function, got undefined"),
]  # fmt: skip


def test_mistakes(node: Run) -> None:
    """Each throws where it is made, in the author's terms; and the next program works."""
    attempts = "\n".join(f"attempt(() => {action});" for action, _ in MISTAKES)
    body = f"""
        const {{ Bool, Real, Tan, Vec, add, configure, fn, mul, vec, vjp }} = rose;
        const square = fn([Real], Real, function square(x) {{ return mul(x, x); }});
        let stray;
        fn([Real], Real, function keeper(x) {{ return (stray = x); }});
        {attempts}
        return [messages, await same(fn([Real], Real, (x) => square(x)), 3)];"""
    messages, value = evaluate(node, body)  # type: ignore[misc]
    assert value == 9
    for (action, expected), message in zip(MISTAKES, messages, strict=True):
        assert message == expected, action


def told_of_unused(run: Run, definitions: list[str]) -> list[int]:
    """In which of these lines a function is defined of which the console is told that it uses no comparison."""
    lines = "\n".join(definitions)
    body = f"""
        const {{ Bool, Real, Vec, and, cond, eq, fn, ilt, lt, minimize, mul, not, select, sum, vec, whileLoop }} = rose;
        const said = [];
        const {{ warn }} = console;
        console.warn = (text) => said.push(text);
        const [, first] = Error().stack.split("\\n")[1].match(/:(\\d+):\\d+/);
        {lines}
        console.warn = warn;
        return said.map((text) => [text.match(/^Rose: (.*) uses no result of a comparison \\(.*line (\\d+)\\), .*/), +first])
            .map(([[, name, line], first]) => [name, line - first - 1]);"""
    return [line for name, line in evaluate(run, body) if name == "f"]  # type: ignore[attr-defined]


def test_conditions_that_javascript_itself_sees_are_told_of(node: Run) -> None:
    """It asks no symbol what it is: each counts as true. Once for each function, wherever in its body that is."""
    definitions = [
        "fn([Real], Real, (x) => (lt(x, 0) ? 1 : x));",
        "for (const y of [1, 2]) fn([Real], Real, (x) => { if (not(lt(x, y))) return 1; return x; });",
        "fn([Real], Bool, (x) => lt(x, 0) && lt(-1, 0));",
        "fn([Real], Bool, (x) => !eq(x, 0));",
        "fn([Vec(2, Real)], Real, (v) => v.find((x) => lt(x, 0)));",
        "fn([Real], Real, (x) => sum(3, (i) => (ilt(3, i, 2) ? x : 0)));",
        "fn([Real], Real, (x) => cond(lt(x, 0), Real, () => (lt(x, -1) ? x : 1), () => 2));",
        "fn([Real], Real, (x) => minimize((y) => (lt(y, x) ? mul(y, y) : 1), 0));",
    ]
    assert told_of_unused(node, definitions) == list(range(len(definitions)))


def test_conditions_that_are_used_are_not_told_of(node: Run) -> None:
    definitions = [
        "fn([Real], Real, (x) => select(lt(x, 0), Real, 1, x));",
        "fn([Real], Bool, (x) => and(lt(x, 0), not(lt(x, -1))));",
        "fn([Real], Real, (x) => { const p = lt(x, 0); return cond(lt(x, 1), Real, () => 1, () => select(p, Real, x, 2)); });",
        "fn([Vec(2, Real)], { p: Bool, q: Vec(2, Bool) }, (v) => ({ p: lt(v[0], 0), q: vec(2, Bool, (i) => lt(v[i], 0)) }));",
        "fn([Real], Real, (x) => whileLoop([Real, Bool], [x, lt(x, 0)], ([, p]) => p, ([y]) => [mul(y, 2), lt(y, -1)])[0]);",
        "const own = fn([Bool], Real, (p) => select(p, Real, 1, 2)); fn([Real], Real, (x) => own(lt(x, 0)));",
        "fn([Real], Real, (x) => { try { sum(2, () => { lt(x, 0); throw 1; }); } catch {} return x; });",
        "try { fn([Real], Real, (x) => { lt(x, 0); throw 1; }); } catch {}",
    ]
    assert told_of_unused(node, definitions) == []


def test_a_loop_of_javascript_that_never_ends_does(own_node: Run) -> None:
    """As one on a condition, which is a symbol: before the page has no memory left."""
    body = """
        const { Real, fn, lt, mul } = rose;
        const grow = function grow(x) { while (lt(x, 10)) x = mul(x, 2); return x; };
        attempt(() => fn([Real], Real, grow));
        return messages;"""
    assert evaluate(own_node, body) == [
        "RangeError: grow has more than 8388608 operations: a loop of JavaScript on symbolic values may never end; "
        "whileLoop and fori are loops that run later"
    ]


def test_what_is_compiled_is_no_function_to_differentiate(node: Run) -> None:
    body = """
        const { Real, compile, fn, grad } = rose;
        const f = await compile(fn([Real], Real, (x) => x));
        try { return grad(f); } catch (error) { return error.message; }"""
    assert evaluate(node, body) == "grad: expected a function made with fn or opaque, got a compiled function"


def test_options_of_compile_are_checked(own_node: Run) -> None:
    body = """
        const { Real, compile, fn } = rose;
        const f = fn([Real], Real, (x) => x);
        const wrong = [{ previous: f }, { signal: "stop" }, { signal: new AbortController() },
            { signal: {} }, { memory: new ArrayBuffer(65536) },
            { memory: new WebAssembly.Memory({ initial: 1, maximum: 2, shared: true }) }];
        return Promise.all(wrong.map((options) => compile(f, options).catch(String)));"""
    assert evaluate(own_node, body) == [
        "TypeError: compile: there is no option previous; the options are memory, signal, draft, precise",
        'RangeError: compile: expected signal to be an AbortSignal, got the string "stop"',
        "RangeError: compile: expected signal to be an AbortSignal, got an object of the class AbortController",
        "RangeError: compile: expected signal to be an AbortSignal, got an empty object",
        "RangeError: compile: expected memory to be a WebAssembly.Memory that is not shared, "
        "got an object of the class ArrayBuffer",
        "RangeError: compile: expected memory to be a WebAssembly.Memory that is not shared, "
        "got an object of the class Memory",
    ]


def test_what_an_opaque_function_gives_is_checked(node: Run) -> None:
    body = """
        const { Real, compile, fn, interp, opaque } = rose;
        for (const wrong of ["5", undefined, null, [3], true, 5n]) {
            const host = opaque([Real], Real, function host(x) { return wrong; });
            const f = fn([Real], Real, (x) => host(x));
            for (const g of [await compile(f), interp(f)]) attempt(() => g(1));
        }
        return messages;"""
    told = ['the string "5"', "undefined", "null", "an array of 1", "true", "the bigint 5n"]
    messages = evaluate(node, body)
    assert messages == [f"TypeError: the result of host: expected Real, got {x}" for x in told for _ in "ab"]


def test_what_an_opaque_function_throws_comes_through(node: Run) -> None:
    """By compiled code and by the interpreter, also where derivatives are taken; and what one of them catches does not."""
    body = """
        const { Dual, Real, Vec, compile, fn, grad, index, interp, mul, opaque } = rose;
        class Mine extends Error {}
        const kinds = [new Mine("one\\ntwo"), "text", undefined];
        const strict = opaque([Real], Real, (x) => { if (x in kinds) throw kinds[x]; return x; });
        strict.jvp = fn([Dual], Dual, ({ re, du }) => ({ re: strict(re), du }));
        const f = grad(fn([Real], Real, (x) => mul(strict(x), x)));
        const thrown = [];
        for (const g of [interp(f), await compile(f)])
            for (const k of kinds.keys())
                try { g(k); } catch (error) { thrown.push(error === kinds[k]); }
        const tried = opaque([Real], Real, (x) => { try { return x === 9 ? again(0) : strict(x); } catch { return 7; } });
        tried.jvp = fn([Dual], Dual, ({ re, du }) => ({ re: tried(re), du }));
        const h = grad(fn([Real, Vec(3, Real)], Real, (x, v) => v[index(3, tried(x))]), 1);
        const again = (x) => interp(f)(x);
        attempt(() => interp(h)(9, [1, 2, 3]));
        return [thrown, interp(f)(4), messages];"""
    thrown, value, [message] = evaluate(node, body)
    assert thrown == [True] * 6
    assert value == 8
    assert message.startswith("RangeError: index: 7 cannot be an index")


def test_a_wrong_derivative_is_told_of_when_it_is_needed(node: Run) -> None:
    body = """
        const { Dual, Real, Vec, compile, fn, interp, jvp, mul, opaque, sin, vjp } = rose;
        const host = opaque([Real], Real, function host(x) { return 2 * x; });
        const twice = fn([Real], Real, function twice(x) { return mul(2, x); });
        const thrice = fn([Real], Real, function thrice(x) { return mul(3, x); });
        host.jvp = fn([Dual, Dual], Dual, (x) => x);
        thrice.jvp = twice;
        const values = [];
        for (const wrong of [host, thrice]) {
            const f = fn([Real], Real, (x) => mul(sin(wrong(1)), wrong(x)));
            values.push((await compile(f))(0.5));
            for (const derivative of [fn([Real], Real, (x) => vjp(f)(x).grad(1)), jvp(wrong)]) {
                const fail = await compile(derivative).then(() => () => {}, (error) => () => { throw error; });
                attempt(fail);
            }
            attempt(() => interp(jvp(f))({ re: 1, du: 1 }));
        }
        const constant = fn([Real], Real, (x) => mul(host(1), twice(x)));
        values.push((await compile(fn([Real], Real, (x) => vjp(constant)(x).grad(1))))(7));
        thrice.jvp = fn([Dual], Dual, ({ re, du }) => ({ re: mul(3, re), du: mul(5, du) }));
        values.push((await compile(fn([Real], Real, (x) => vjp(thrice)(x).grad(1))))(7));
        return [messages, values];"""
    messages, values = evaluate(node, body)  # type: ignore[misc]
    dual = "{ re: Real, du: Tan }"
    wrong = f"Error: host.jvp: expected a function ({dual}) -> {dual}, got ({dual}, {dual}) -> {dual}"
    other = f"Error: thrice.jvp: expected a function ({dual}) -> {dual}, got (Real) -> Real"
    assert messages == [wrong] * 3 + [other] * 3
    assert values == pytest.approx([math.sin(2), 1.5 * math.sin(3), 4, 5])


def test_mistakes_when_calling(node: Run) -> None:
    body = """
        const { Bool, Real, Vec, compile, fn, interp } = rose;
        const body = function f(x, v, p, i) { return x; };
        const f = fn([Real, Vec(2, { a: Real }), Bool, 3], Real, body);
        const good = [1, [{ a: 1 }, { a: 2 }], true, 2];
        for (const g of [await compile(f), interp(f)]) {
            attempt(() => g());
            attempt(() => g("1", ...good.slice(1)));
            attempt(() => g(1, [{ a: 1 }], true, 2));
            attempt(() => g(1, [{ a: 1 }, { a: null }], true, 2));
            attempt(() => g(1, [{ a: 1 }, { b: 1 }], true, 2));
            attempt(() => g(1, good[1], 1, 2));
            attempt(() => g(1, good[1], true, 3));
            if (g(...good) !== 1) throw Error("wrong");
        }
        return messages;"""
    expected = [
        "TypeError: f takes 4 arguments, got 0",
        'TypeError: argument 1 of f: expected Real, got the string "1"',
        "RangeError: argument 2 of f: expected 2 elements for Vec(2, { a: Real }), got 1",
        "TypeError: argument 2 of f[1].a: expected Real, got null",
        "TypeError: argument 2 of f[1]: expected an object with a, got an object with b",
        "TypeError: argument 3 of f: expected Bool, got 1",
        "RangeError: argument 4 of f: expected an index from 0 to 2, got 3",
    ]
    assert evaluate(node, body) == expected * 2


def test_a_derivative_that_cannot_be_made(node: Run) -> None:
    body = """
        const { Dual, Real, compile, fn, jvp, opaque, vjp } = rose;
        const secret = opaque([Real], Real, function secret(x) { return x; });
        const f = fn([Real], Real, (x) => secret(x));
        const told = (f) => compile(f).then(() => "compiled", (error) => error.message);
        const g = fn([Real], Real, (x) => x);
        g.jvp = fn([Dual], Dual, (z) => jvp(g)(z));
        return [await told(fn([Real], Real, (x) => vjp(f)(x).grad(1))), await told(jvp(g))];"""
    first, second = evaluate(node, body)  # type: ignore[misc]
    assert first == "the opaque function secret has no derivative; set secret.jvp"
    assert "needs itself" in second


def test_a_loop_whose_body_fails_leaves_nothing(node: Run) -> None:
    body = """
        const { Real, Vec, fn, sum, vec } = rose;
        const f = fn([Vec(2, Real)], Real, (v) => {
            try { vec(2, Real, (i) => { const x = v[i]; throw Error("mine"); }); } catch {}
            return sum(2, (i) => v[i]);
        });
        return await same(f, [3, 4]);"""
    assert evaluate(node, body) == 7


def test_captures_of_a_loop_whose_body_fails(node: Run) -> None:
    body = """
        const { Real, Vec, add, cos, fn, mul, sin, vec } = rose;
        const V5 = Vec(5, Real);
        const f = fn([V5, Real, Real], Real, (v, x, y) => fn([Real], Real, (z) => {
            let r = z;
            try { vec(5, Real, (i) => { mul(x, v[i]); throw Error("mine"); }); } catch {}
            r = add(r, sin(y));
            r = add(r, cos(z));
            return add(r, mul(x, 10));
        })(2));
        return await same(f, [1, 2, 3, 4, 5], 7, 0.5);"""
    assert evaluate(node, body) == pytest.approx(72 + math.sin(0.5) + math.cos(2))


def test_closures_out_of_place(node: Run) -> None:
    body = """
        const { Dual, Real, compile, fn, add } = rose;
        let leak;
        fn([Real], Real, function outer(x) { leak = fn([Real], Real, function inner(y) { return add(x, y); }); return x; });
        attempt(() => fn([Real], Real, (x) => leak(x)));
        attempt(() => { leak.jvp = fn([Dual], Dual, (z) => z); });
        messages.push(await compile(leak).catch((error) => error.message));
        return messages;"""
    assert evaluate(node, body) == [
        "ReferenceError: calling inner: variable is out of scope: this Real belongs to the function outer; "
        "pass it as an argument",
        "ReferenceError: inner.jvp: inner uses values of the function outer around it, of which a custom derivative "
        "knows nothing; pass them as arguments, or use functional",
        "inner uses values of the function outer around it, so it can be called only there",
    ]


def test_what_goes_wrong_in_a_run(own_node: Run) -> None:
    """Both engines say the same, and the compiled function can be called again."""
    body = """
        const { Real, add, compile, fn, fori, gt, iadd, index, interp, real, whileLoop } = rose;
        const cases = [
            [fn([5], 5, (i) => iadd(5, i, 3)), 4, 1],
            [fn([Real], 5, (x) => index(5, x)), 2.5, 2],
            [fn([Real], Real, (n) => fori(n, Real, 0, (i, s) => add(s, real(i)))), NaN, 4],
            [fn([Real], Real, (x) => whileLoop(Real, x, (s) => gt(s, 0), (s) => add(s, 1), { limit: 9 })), 1, -1],
        ];
        for (const [f, bad, good] of cases)
            for (const run of [interp(f), await compile(f)]) {
                attempt(() => run(bad));
                messages.push(run(good));
            }
        attempt(() => fn([5], 5, (i) => iadd(5, i, 7)));
        attempt(() => fn([Real], Real, (x) => fori(3, Real, x, () => true)));
        attempt(() => fn([Real], Real, (x) => fori(true, Real, x, () => x)));
        attempt(() => fn([Real], Real, (x) => fori(3, Real, x, (i, s) => s, { checkpoint: 0 })));
        attempt(() => fn([Real], Real, (x) => whileLoop(Real, x, () => x, () => x)));
        attempt(() => fn([Real], Real, (x) => rose.cond(true, Real, 1, 2)));
        attempt(() => fn([Real], Real, (x) => rose.cond(x, Real, () => x, () => x)));
        attempt(() => fn([Real], Real, (x) => rose.cond(gt(x, 0), (x) => x, (x) => x, x)));
        attempt(() => fn([Real], Real, (x) => fori(3, x, Real, (i, s) => s)));
        attempt(() => fn([Real], Real, (x) => fori(-1, Real, x, (i, s) => s)));
        attempt(() => fn([Real], Real, (x) => fori(NaN, Real, x, (i, s) => s)));
        attempt(() => fn([Real], Real, (x) => fori(3, Real, x, (s, i) => add(s, 1))));
        attempt(() => fn([3], 3, (i) => rose.isub(3, i)));
        const R3 = rose.Vec(3, Real);
        attempt(() => fn([R3], R3, (v) => v.at[3].set(1)));
        attempt(() => fn([R3], R3, (v) => v.at[0][1].set(1)));
        attempt(() => fn([R3], R3, (v) => v.at[0].add([1])));
        return messages;
    """
    messages = evaluate(own_node, body)
    assert isinstance(messages, list)
    told = [
        ("iadd: 7 is out of range, expected a whole number from 0 to 4", 4),
        ("index: 2.5 cannot be an index, expected a whole number from 0 to 4", 2),
        ("fori: it cannot run NaN times, expected a whole number from 0 to 2147483647", 6),
        ("whileLoop: it did not end within its limit of 9 iterations", -1),
    ]
    for k, (text, value) in enumerate(told):
        interpreted, first, compiled, second = messages[4 * k : 4 * k + 4]
        assert interpreted == f"RangeError: {text} ([eval1], line {17 + k})"
        assert compiled == interpreted
        assert first == second == value
    assert messages[16:] == [
        "RangeError: the result of f: iadd: 7 to 11 is out of range, expected an index from 0 to 4",
        "TypeError: the state that the body of fori gives: invalid value: expected Real, got true",
        "TypeError: fori: expected a size, got true",
        'RangeError: fori: expected checkpoint to be "none", "revolve" or a number of iterations, got 0',
        "TypeError: the test of whileLoop: variable type mismatch: expected Bool, got Real",
        "TypeError: cond: expected a function, got 1",
        "TypeError: the condition of cond: variable type mismatch: expected Bool, got Real",
        "TypeError: cond: invalid type: a function; expected Real, Vec(3, Real), a size or the like",
        "TypeError: fori: invalid type: a symbolic Real; expected Real, Vec(3, Real), a size or the like",
        "TypeError: fori: expected a size, got -1",
        "TypeError: fori: expected a size, got NaN",
        "TypeError: invalid value: expected Real, got a symbolic index below 3; real(i) is its value, "
        "and ieq(n, i, j) compares indices",
        "TypeError: isub: invalid value: expected an index, got undefined; a return or an argument "
        "may be missing, and an array of JavaScript has no element at a symbolic index, but vec(n, T, array) has",
        "RangeError: invalid value: 3 is out of range, expected an index from 0 to 2",
        "TypeError: at: Real has no elements",
        "TypeError: add: invalid value: expected Real, got an array of 1",
    ]


def test_mistakes_in_bodies_tell_the_line(own_node: Run) -> None:
    """However deep the bridge is when it finds them, and though engines tell few calls by themselves."""
    body = """
        const { Real, Vec, cond, fn, fori, lt, scan, sum, vec, whileLoop } = rose;
        const before = Error.stackTraceLimit;
        const cases = [
            (x) => fori(3, Real, x, (i, s) => lt(s, 2)),
            (x) => cond(lt(x, 0), Real, () => true, () => x),
            (x) => whileLoop(Real, x, (s) => lt(s, 9), (s) => lt(s, 2)),
            (x) => scan(3, Real, x, (s, i) => [lt(s, 2), s])[0],
            (x) => sum(3, () => fori(3, Real, x, (i, s) => cond(lt(s, 0), Real, () => [s], () => s))),
            (x) => vec(2, Real, () => fn([Real], Real, (y) => fori(2, Real, y, () => lt(y, 0)))(x))[0],
        ];
        const lines = cases.map((body) => {
            try { fn([Real], Real, body); }
            catch ({ stack }) { return Number(/\\[eval1\\]:(\\d+)/.exec(stack)?.[1]); }
        });
        return [lines.map((line) => line - lines[0]), Error.stackTraceLimit === before];"""
    assert evaluate(own_node, body) == [[0, 1, 2, 3, 4, 5], True]


def test_mistakes_in_types_tell_the_line(own_node: Run) -> None:
    """However deep in them they are."""
    body = """
        const { Real, Vec, fn } = rose;
        const knot = {};
        knot.a = [Real, knot];
        const types = [{ a: { b: { c: { d: rose.Reel } } } }, Vec(2, [{ a: [[rose.Reel]] }]), knot];
        return types.map((type) => {
            try { fn([type], Real, () => 1); }
            catch ({ message, stack }) { return [message, /\\[eval1\\]:\\d+/.test(stack)]; }
        });"""
    missing = "invalid type: undefined; expected Real, Vec(3, Real), a size or the like"
    assert evaluate(own_node, body) == [
        [missing, True],
        [missing, True],
        ["invalid type: it is a part of itself", True],
    ]


def test_where_what_the_engine_gives_is_frozen(own_node: Run) -> None:
    """As by pages that trust not all of their scripts: mistakes are told, and what is right runs."""
    body = """
        const { Real, Vec, compile, fn, mul } = rose;
        Object.freeze(Error);
        attempt(() => fn([Real], Vec(2, Real), (x) => [x, true]));
        return [messages, (await compile(fn([Real], Real, (x) => mul(x, x))))(3)];"""
    assert evaluate(own_node, body) == [
        ["TypeError: the result of f[1]: invalid value: expected Real, got true"],
        9,
    ]
