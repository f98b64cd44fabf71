"""An ablation of the compiler: JavaScript in place of WebAssembly, from the same representation.

One function of JavaScript for each function of the program, one constant for each instruction. Vectors of
numbers are ``Float64Array``s, other arrays are ``Array``s, and no value changes once it is there.
An accumulator of an array is the array itself; one of a number is an array and an index into it.
`rose_core.language.interp` says what everything means.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rose_core.language.ir import (
    ACCUM,
    ADD_TO,
    CALL,
    COND,
    FOR,
    GET,
    IDX,
    INDEX,
    LOOP,
    PARAM,
    REF_INDEX,
    RESOLVE,
    SET,
    VEC,
    ZEROS,
    CondSite,
    Func,
    LoopSite,
    is_real,
    result_count,
    zero_of,
)
from rose_core.language.ops import OPS
from rose_core.language.types import BOOL, Array, Fin, Ref, Type, is_tape, scalar_of

_MATH = (
    "abs ceil floor trunc sqrt sin cos tan asin acos atan sinh cosh tanh exp expm1 log log1p log2 log10 cbrt"
)
_MATH += " min max pow atan2 hypot"
_INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "iadd": "+",
    "isub": "-",
    "imod": "%",
    "neq": "!==",
    "lt": "<",
    "leq": "<=",
    "eq": "===",
    "gt": ">",
    "geq": ">=",
    "ineq": "!==",
    "ilt": "<",
    "ileq": "<=",
    "ieq": "===",
    "igt": ">",
    "igeq": ">=",
    "and": "&&",
    "or": "||",
    "iff": "===",
    "xor": "!==",
}
FORMS = {
    **{name: f"Math.{name}({{0}})" for name in _MATH.split()},
    **{name: f"Math.{name}({{0}}, {{1}})" for name in ("min", "max", "pow", "atan2", "hypot")},
    **{name: f"{{0}} {sign} {{1}}" for name, sign in _INFIX.items()},
    "neg": "-{0}",
    "not": "!{0}",
    "real": "{0}",
    "narrow": "{0}",
    "select": "{0} ? {1} : {2}",
    "imin": "Math.min({0}, {1})",
    "imax": "Math.max({0}, {1})",
    "sign": "sign({0})",
    "side": "side({0})",
    "imul": "Math.min({0} * {1}, 2147483647)",
    "idiv": "Math.floor({0} / {1})",
    "defined": "defined({0})",
    "bound": "bound({0}, {1})",
    "index": "bound({0}, {1})",
}
"""Of every operation the expression, by its name."""

PRELUDE = """"use strict";
const flat = (x) => typeof x[0] !== "object";
const copy = (x) => (flat(x) ? x.slice() : x.map(copy));
const zeros = (x) => (typeof x !== "object" ? 0 : flat(x) ? new Float64Array(x.length) : x.map(zeros));
const addTo = (x, y) => {
  if (flat(x)) for (let i = 0; i < y.length; ++i) x[i] += y[i];
  else for (let i = 0; i < y.length; ++i) addTo(x[i], y[i]);
};
const sign = (x) => (x !== x ? x : x > 0 || Object.is(x, 0) ? 1 : -1);
const side = (x) => (x < 0 || Object.is(x, -0) ? -1 : 1);
const fail = (words) => { throw Error(words); };
const defined = (x) => (x !== x ? fail("not a number") : x);
const bound = (i, size) => (i >= 0 && i < size && i === Math.floor(i) ? i : fail("out of range"));
"""


def emit(root: Func) -> str:
    """The body of a function that gives ``root`` as a function of its leaves."""
    numbers: dict[Func, int] = {}
    order: list[Func] = []
    stack = [root]
    while stack:
        f = stack.pop()
        if f not in numbers:
            if f.host is not None:
                raise ValueError(f"{f.name} is opaque: it runs in the page only")
            numbers[f] = len(numbers)
            order.append(f)
            stack += f.callees
    return PRELUDE + "".join(_Function(f, numbers).text() for f in order) + "return f0;\n"


class _Function:
    def __init__(self, func: Func, numbers: dict[Func, int]) -> None:
        self.func = func
        self.numbers = numbers
        self.lines: list[str] = []
        self.names: dict[int, tuple[str, ...]] = {}
        """What stands for a value, where not ``v`` and its number: two for an accumulator of a number."""

    def text(self) -> str:
        f = self.func
        params: list[str] = []
        for v, ins in enumerate(f.code):
            if ins[0] == PARAM:
                self.names[v] = _parameter(ins[1], f.types[v])
        for k, t in enumerate(f.params):
            params += _parameter(k, t)
        constants = "".join(
            f"const k{self.numbers[f]}_{k} = {filled(t, value)};\n"
            for k, (value, t) in enumerate(f.pool)
            if isinstance(t, Array)
        )
        self.block(0)
        self.lines.append(f"return {self.bundle(f.results)};")
        body = "\n".join(self.lines)
        return f"{constants}function f{self.numbers[f]}({', '.join(params)}) {{\n{body}\n}}\n"

    def bundle(self, results: Sequence[int]) -> str:
        """What a call gives: a result that is alone as it is, several in an array."""
        values = [self.value(v) for v in results]
        return values[0] if len(values) == 1 else f"[{', '.join(values)}]"

    def value(self, v: int) -> str:
        if v >= 0:
            (name,) = self.names.get(v, (f"v{v}",))
            return name
        value, t = self.func.pool[~v]
        return f"k{self.numbers[self.func]}_{~v}" if isinstance(t, Array) else literal(value, t)

    def passed(self, values: Iterable[int]) -> str:
        """Arguments of a call, two for an accumulator of a number."""
        return ", ".join(text for v in values for text in self.names.get(v, (self.value(v),)))

    def block(self, number: int) -> None:
        for v in self.func.blocks[number].order:
            ins = self.func.code[v]
            if ins[0] < len(OPS):
                operands = [self.value(x) for x in ins[1:]]
                self.let(v, FORMS[OPS[ins[0]].name].format(*operands))
            else:
                self.structural(v, ins)

    def let(self, v: int, expression: str) -> None:
        self.lines.append(f"const v{v} = {expression};")

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        op, t = ins[0], self.func.types[v]
        if op == VEC:
            elements = ", ".join(self.value(x) for x in ins[1:])
            self.let(v, f"Float64Array.of({elements})" if _is_numbers(t) else f"[{elements}]")
        elif op == INDEX:
            self.let(v, f"{self.value(ins[1])}[{self.value(ins[2])}]")
        elif op == GET:
            self.names[v] = (f"v{ins[1]}_{ins[2]}",)
        elif op == FOR:
            self.loop(v, ins[1])
        elif op == CALL:
            self.several(v, self.called(self.func.callees[ins[1]], ins[2:]))
        elif op == COND:
            site = CondSite(self.func, ins)
            sides = [self.called(f, args) for f, args in zip(site.functions, site.args, strict=True)]
            self.several(v, f"{self.value(site.p)} ? {sides[0]} : {sides[1]}")
        elif op == LOOP:
            self.turns(v, LoopSite(self.func, ins))
        elif op == SET:
            self.let(v, f"{self.value(ins[1])}.slice()")
            self.lines.append(f"v{v}[{self.value(ins[2])}] = {self.value(ins[3])};")
        elif op == ZEROS:
            self.let(v, f"zeros({self.value(ins[1])})")
        elif op in (ACCUM, ADD_TO, REF_INDEX, RESOLVE):
            self.accumulator(v, ins, t)
        else:
            assert op in (PARAM, IDX), f"cannot emit {ins}"

    def accumulator(self, v: int, ins: tuple[int, ...], t: Type) -> None:
        op = ins[0]
        if op == ACCUM:
            assert isinstance(t, Ref)
            initial = self.value(ins[1])
            self.let(v, f"copy({initial})" if isinstance(t.inner, Array) else f"[{initial}]")
            if not isinstance(t.inner, Array):
                self.names[v] = (f"v{v}", "0")
        elif op == REF_INDEX:
            assert isinstance(t, Ref)
            if isinstance(t.inner, Array):
                self.let(v, f"{self.value(ins[1])}[{self.value(ins[2])}]")
            else:
                self.names[v] = (self.value(ins[1]), self.value(ins[2]))
        else:
            names = self.names.get(ins[1], (f"v{ins[1]}",))
            if op == RESOLVE:
                self.let(v, "{}[{}]".format(*names) if len(names) == 2 else names[0])
            elif is_real(self.func.type_of(ins[2])):
                added = self.value(ins[2])
                add = "{}[{}] += {};" if len(names) == 2 else "addTo({}, {});"
                self.lines.append(add.format(*names, added))

    def called(self, f: Func, args: Iterable[int]) -> str:
        return f"f{self.numbers[f]}({self.passed(args)})"

    def several(self, v: int, expression: str) -> None:
        """The results of ``v``, each by a name of its own."""
        count = result_count(self.func, v)
        names = ", ".join(f"v{v}_{k}" for k in range(count))
        self.lines.append(f"const {names if count == 1 else f'[{names}]'} = {expression};")

    def loop(self, v: int, number: int) -> None:
        block = self.func.blocks[number]
        assert isinstance(block.size, Fin)
        n, i = block.size.size, f"v{block.index}"
        for k, r in enumerate(block.results):
            is_number = is_real(t := self.func.type_of(r)) and not isinstance(t, Array)
            self.lines.append(f"const v{v}_{k} = new {'Float64Array' if is_number else 'Array'}({n});")
        turns = n if block.count is None else self.value(block.count)
        up, down = f"{i} = 0; {i} < {turns}; ++{i}", f"{i} = {turns} - 1; {i} >= 0; --{i}"
        self.lines.append(f"for (let {down if block.down else up}) {{")
        self.block(number)
        self.lines += [f"v{v}_{k}[{i}] = {self.value(r)};" for k, r in enumerate(block.results)]
        self.lines.append("}")

    def turns(self, v: int, site: LoopSite) -> None:
        spec = site.spec
        count, types = self.value(site.count), site.body.result_types[spec.carries :]
        states = [f"v{v}_{k}" for k in range(spec.carries)]
        turns, at = f"v{v}_{spec.carries}", spec.carries + 1
        kept = [f"v{v}_{at + k}" for k in range(len(types))]
        self.lines += [f"let {name} = {self.value(x)};" for name, x in zip(states, site.state, strict=True)]
        self.lines += [f"let {turns} = 0;", *(f"const {name} = [];" for name in kept)]
        state = "".join(f"{name}, " for name in states)
        test = "true"
        if site.test:
            test = f"f{self.numbers[site.test]}({state}{self.passed(site.test_args)})"
        self.lines.append(f"for (; {turns} < {count} && {test}; ++{turns}) {{")
        i = f"{count} - 1 - {turns}" if spec.down else turns
        given = f"f{self.numbers[site.body]}({i}, {state}{self.passed(site.args)})"
        temporary = [f"x{k}" for k in range(len(states) + len(kept))]
        names = ", ".join(temporary)
        self.lines.append(f"const {names if len(temporary) == 1 else f'[{names}]'} = {given};")
        self.lines += [f"{name} = {x};" for name, x in zip(states, temporary, strict=False)]
        self.lines += [f"{name}.push({x});" for name, x in zip(kept, temporary[len(states) :], strict=True)]
        self.lines.append("}")
        if spec.must_end and site.test:
            self.lines.append(f'if ({turns} === {count} && {test}) fail("no end");')
        if spec.down:
            self.lines += [f"{name}.reverse();" for name in kept]
        for name, t in zip(kept[: spec.outputs], types, strict=False):
            assert isinstance(spec.index, Fin)
            pad = filled(t, zero_of(t))
            self.lines.append(f"while ({name}.length < {spec.index.size}) {name}.push({pad});")


def _parameter(k: int, t: Type) -> tuple[str, ...]:
    if isinstance(t, Ref) and not isinstance(t.inner, Array):
        return f"p{k}", f"i{k}"
    return (f"p{k}",)


def _is_numbers(t: Type) -> bool:
    return isinstance(t, Array) and not isinstance(t.elem, Array) and is_real(t)


def filled(t: Type, value: float) -> str:
    """An array of this type that is full of a number."""
    if is_tape(t):
        return "[]"
    if not isinstance(t, Array):
        return literal(value, t)
    if _is_numbers(t):
        return f"new Float64Array({t.size}).fill({literal(value, t)})"
    return f"Array.from({{ length: {t.size} }}, () => {filled(t.elem, value)})"


def literal(value: float, t: Type) -> str:
    if scalar_of(t) is BOOL:
        return "true" if value else "false"
    if not is_real(t):
        return str(int(value))
    if math.isnan(value):
        return "NaN"
    text = "Infinity" if math.isinf(value) else repr(abs(value))
    return f"(-{text})" if math.copysign(1.0, value) < 0 else text
