"""The IR as text, in the notation of the paper's Figure 3 and its listings.

One ``let`` per instruction, as in Listing 7. What the paper has no notation for is written like a
function (``sin(x)``, ``min(x, y)``). A function or loop with several results gives nested pairs of
them, a loop a pair of arrays where the paper would have an array of pairs; a pattern takes them apart. An
accumulator whose scope ends where another's is still open is written ``accum x`` … ``resolve a`` in place
of a block.
`language.parse` reads it all back, but for what opaque functions run.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from rose_core.language.ir import (
    ACCUM,
    ADD_TO,
    ALL,
    CALL,
    COND,
    FOR,
    GET,
    IDX,
    INDEX,
    LOOP,
    MEMBER,
    PARAM,
    PULL,
    REF_INDEX,
    REF_MEMBER,
    RESOLVE,
    SET,
    TUPLE,
    VEC,
    VJP,
    ZEROS,
    CondSite,
    Func,
    LoopSite,
    fields_of,
    result_count,
    result_type,
)
from rose_core.language.ops import OPS, TABLE_END, UNARY_END
from rose_core.language.queries import users_of
from rose_core.language.tables import nested, table_of
from rose_core.language.types import (
    BOOL,
    REAL,
    TAN,
    UNIT,
    Array,
    Fin,
    Pair,
    Ref,
    Struct,
    Type,
    array,
    is_tape,
    paths,
)

_PREFIX = {"-", "abs", "sgn", "ceil", "floor", "trunc", "sqrt", "¬"}
"""The paper's unary operators; other ops of one operand look like calls."""

RESERVED = {
    "if", "loop", "let", "in", "def", "for", "accum", "from", "type", "rule", "resolve", "true", "false",
    "inf", "nan", "not", "and", "or", "then", "else", "to", "down", "do", "until", "while", "give", "note",
    "fst", "snd", "set", "zeros", "vjp", "pull", "jvp", "jet", "opaque", "checkpoint", "_",
    *(op.symbol for op in OPS),
}  # fmt: skip
"""Words that have a meaning of their own in programs."""

_INFIX = {"mod", "iff", "xor"}
"""Words between operands; other ops whose symbol is a word look like calls."""


def tuple_type(types: list[Type]) -> Type:
    """Several results as one type: nested pairs, to the right."""
    if not types:
        return UNIT
    return types[0] if len(types) == 1 else Pair(types[0], tuple_type(types[1:]))


def show(f: Func) -> str:
    """The text of one function."""
    return _Printer(f, {}).run()


def show_program(f: Func, rules: bool = True) -> str:
    """The text of a function and of all it needs, callees first; with custom derivatives, if ``rules``."""
    order: list[Func] = []
    seen: set[Func] = set()

    def visit(g: Func) -> None:
        g = g.instance[0] if g.instance else g
        if g in seen:
            return
        seen.add(g)
        for h in (*g.callees, g.origin and g.origin[1]):
            if h:
                visit(h)
        order.append(g)
        if rules and g.jvp:  # which may call g
            visit(g.jvp)

    visit(f)
    taken: dict[str, int] = {}
    names = {g: _free_name(g.name, taken) for g in order}
    texts = [_Printer(g, names).run() for g in order]
    pairs = [(g, g.jvp) for g in order if rules and g.jvp]
    pairs.sort(key=lambda pair: pair[0] is f)
    at = len(texts) - (not (rules and f.jvp))
    texts[at:at] = [f"rule {names[g]} = {names[h]}\n" for g, h in pairs]
    return "\n".join(texts)


def _free_name(name: str, taken: dict[str, int]) -> str:
    """A name like this one that means nothing yet; ``taken`` has those that do, each with its last number."""
    name = plain = re.sub(r"[^\w']", "_", name) if _NAME.match(name) else "f"
    n = taken.get(plain, 0)
    while name in RESERVED or name in taken:
        n += 1
        name = f"{plain}_{n}"
    taken[plain] = n
    taken.setdefault(name, 0)
    return name


_NAME = re.compile(r"[^\W\d]")

_MADE = re.compile(r"[vat]\d+|[ijkl]|i\d+")
"""The names that printing gives."""


class _Printer:
    def __init__(self, f: Func, function_names: dict[Func, str]) -> None:
        self.f = f
        self.function_names = function_names
        self.names: dict[int, str] = {}
        self.lines: list[str] = []

    def run(self) -> str:
        f = self.f
        generics = f"<{', '.join(f'{t.name}: {t.bound}' for t in f.generics)}>" if f.generics else ""
        types = f.params or f.param_types
        taken: dict[str, int] = {}
        given = self.parameter_names(types)
        names = [_free_name(f"{name}_" if _MADE.fullmatch(name) else name, taken) for name in given]
        params = ", ".join(f"{name}: {t}" for name, t in zip(names, types, strict=True))
        mark = "checkpoint " if f.remat else ""
        head = f"{mark}def {self.function_name(f)}{generics}({params}): {tuple_type(f.result_types)} ="
        if f.host is not None:
            return f"{head} opaque\n"
        if f.origin is not None:
            order = f" {f.order}" if f.order else ""
            return f"{head} {f.origin[0]}{order} {self.function_name(f.origin[1])}\n"
        for v, ins in enumerate(f.code):
            if ins[0] == PARAM:
                self.names[v] = names[ins[1]]
        self.lines.append(head)
        self.block(0, 1)
        return "\n".join(self.lines) + "\n"

    def function_name(self, f: Func) -> str:
        return self.function_names.get(f, f.name)

    def parameter_names(self, types: list[Type]) -> list[str]:
        f = self.f
        if len(f.param_names) == len(f.param_types):
            if f.params == f.param_types:
                return list(f.param_names)
            names = [
                n + p.replace("[]", "")
                for n, t in zip(f.param_names, f.param_types, strict=True)
                for p in paths(t)
            ]
            names = [n.replace(".", "_") for n in names]
            if len(names) == len(types) == len(set(names)):
                return names
        return [f"x{k}" for k in range(len(types))]

    # -- values ----------------------------------------------------------------------------------------

    def value(self, x: int) -> str:
        if x >= 0:
            return self.names[x]
        value, t = self.f.pool[~x]
        return literal(value, t)

    def pairs(self, ids: Iterable[int]) -> str:
        """Several values: nested pairs, to the right."""
        parts = [self.value(x) for x in ids]
        if not parts:
            return "()"
        return "".join(f"({x}, " for x in parts[:-1]) + parts[-1] + ")" * (len(parts) - 1)

    # -- statements ------------------------------------------------------------------------------------

    def emit(self, depth: int, line: str) -> None:
        self.lines.append("  " * depth + line)

    def let(self, depth: int, v: int, t: Type, expression: str) -> None:
        self.names[v] = f"v{v}"
        self.emit(depth, f"let v{v}: {t} = {expression} in")

    def block(self, number: int, depth: int) -> None:
        block = self.f.blocks[number]
        self.statements(block.order, depth)
        self.emit(depth, self.pairs(block.results))

    def statements(self, order: list[int], depth: int) -> None:
        at = 0
        while at < len(order):
            end, result = self.scope_end(order, at)
            if end:
                self.accum_block(
                    order[at], order[at + 1 : end], order[end : end + 1 + (result is not None)], depth
                )
                at = end + 1 + (result is not None)
            else:
                self.statement(order[at], depth)
                at += 1

    def scope_end(self, order: list[int], at: int) -> tuple[int, int | None]:
        """Where the accumulator made at ``order[at]`` is resolved, if all between is for its sake; else 0.

        Second, the one value from between that is paired with the accumulator's right after, if any.
        """
        code = self.f.code
        r = order[at]
        if code[r][0] != ACCUM:
            return 0, None
        end = bisect_left(order, self.resolved(r))
        if order[end : end + 1] != [self.resolved(r)]:
            return 0, None
        inside = set(order[at + 1 : end])
        for v in inside:
            if code[v][0] == RESOLVE and code[v][1] not in inside:
                return 0, None
            if code[v][0] == ACCUM and self.resolved(v) not in inside:
                return 0, None
        uses = [
            (v, x)
            for x in (*inside, order[end])
            for v in self.users.get(x, ())
            if not self.stands_in(v, inside)
        ]
        results = self.f.blocks[self.f.home[r]].results
        if inside.isdisjoint(x for _, x in uses) and inside.isdisjoint(results):
            return end, None
        after = order[end + 1] if end + 1 < len(order) else -1
        pair = code[after] if after >= 0 else (-1,)
        if (
            pair[0] == TUPLE
            and pair[1] == order[end]
            and {v for v, _ in uses} == {after}
            and not {*results} & {order[end], *inside}
        ):
            return end, pair[2]
        return 0, None

    @cached_property
    def users(self) -> dict[int, list[int]]:
        return users_of(self.f)

    def resolved(self, r: int) -> int:
        """Where the scope of the accumulator ``r`` ends; -1 if it does not."""
        return next((v for v in self.users.get(r, ()) if self.f.code[v][0] == RESOLVE), -1)

    def stands_in(self, v: int, inside: set[int]) -> bool:
        """Whether ``v`` is one of ``inside``, or in a loop that is."""
        f = self.f
        while v >= 0 and v not in inside and f.home[v]:
            v = f.blocks[f.home[v]].owner
        return v in inside

    def accum_block(self, r: int, inside: list[int], after: list[int], depth: int) -> None:
        """``accum r from x in …``; ``after``: the ``RESOLVE``, and the pair of both results, if any."""
        t = self.f.types[after[0]]
        init = self.value(self.f.code[r][1])
        self.names[r] = f"a{r}"
        name, whole = (
            (f"v{after[1]}", self.f.types[after[1]]) if after[1:] else (f"t{after[0]}", Pair(t, UNIT))
        )
        self.emit(depth, f"let {name}: {whole} =")
        self.emit(depth + 1, f"accum a{r} from {init} in")
        self.statements(inside, depth + 2)
        self.emit(depth + 2, self.value(self.f.code[after[1]][2]) if after[1:] else "()")
        self.emit(depth, "in")
        if after[1:]:
            self.names[after[1]] = name
        else:
            self.let(depth, after[0], t, f"fst {name}")

    def statement(self, v: int, depth: int) -> None:
        f = self.f
        ins = f.code[v]
        op, t = ins[0], f.types[v]
        if op in (PARAM, IDX):
            return
        if op == FOR:
            self.loop(v, ins[1], depth)
        elif op in (CALL, VJP, PULL, COND, LOOP):
            self.let(depth, v, tuple_type(self.result_types(v)), self.expression(v))
            self.take_apart(v, depth)
        elif op != GET:
            self.let(depth, v, t, self.expression(v))

    def take_apart(self, v: int, depth: int) -> None:
        """Name the results of a loop, a call, a choice, a vjp or a pull that are used."""
        count = result_count(self.f, v)
        names = ["_"] * count
        for k, gets in self.gets.get(v, {}).items():
            names[k] = f"v{gets[0]}" if count > 1 else self.names[v]
            self.names |= dict.fromkeys(gets, names[k])
        if count > 1 and v in self.gets:
            self.emit(depth, f"let ({', '.join(names)}) = {self.names[v]} in")

    @cached_property
    def gets(self) -> dict[int, dict[int, list[int]]]:
        """What has several results → number of a used one → what gets it."""
        found: dict[int, dict[int, list[int]]] = {}
        for v, ins in enumerate(self.f.code):
            if ins[0] == GET:
                found.setdefault(ins[1], {}).setdefault(ins[2], []).append(v)
        return found

    def result_types(self, v: int) -> list[Type]:
        """What a loop, a call, a choice, a vjp or a pull gives."""
        if self.f.code[v][0] == FOR:
            return [self.f.type_of(r) for r in self.f.blocks[self.f.code[v][1]].results]
        return [result_type(self.f, v, k) for k in range(result_count(self.f, v))]

    def loop(self, v: int, number: int, depth: int) -> None:
        f = self.f
        block = f.blocks[number]
        nesting, at = 0, block.parent
        while at > 0:
            nesting, at = nesting + 1, f.blocks[at].parent
        self.names[block.index] = "ijkl"[nesting] if nesting < 4 else f"i{nesting}"
        types: list[Type] = [f.type_of(r) for r in block.results]
        whole = tuple_type([array(block.size, t) for t in types]) if types else array(block.size, UNIT)
        self.names[v] = f"v{v}"
        self.emit(depth, f"let v{v}: {whole} =")
        self.emit(depth + 1, f"[for {self.names[block.index]}: {block.size},")
        self.block(number, depth + 2)
        self.emit(depth + 1, "] in")
        del self.names[block.index]
        self.take_apart(v, depth)

    def expression(self, v: int) -> str:
        f = self.f
        ins = f.code[v]
        op = ins[0]
        if op < TABLE_END:
            return self.table_op(ins)
        if op in (CALL, VJP):
            callee = f.callees[ins[1]]
            generic = callee.instance
            types = f"<{', '.join(map(str, generic[1]))}>" if generic else ""
            name = self.function_name(generic[0] if generic else callee) + types
            return ("vjp " if op == VJP else "") + f"{name}({', '.join(map(self.value, ins[2:]))})"
        if op == COND:
            site = CondSite(f, ins)
            yes, no = (self.call(g, args) for g, args in zip(site.functions, site.args, strict=True))
            return f"if {self.value(site.p)} then {yes} else {no}"
        if op == LOOP:
            return self.control_loop(LoopSite(f, ins))
        if op in (MEMBER, REF_MEMBER):
            t = f.type_of(ins[1])
            amp = "&" if op == REF_MEMBER else ""
            inner = t.inner if isinstance(t, Ref) else t
            name = fields_of(inner)[ins[2]][0]
            x = self.value(ins[1])
            return f"{amp}{name} {x}" if isinstance(inner, Pair) else f"{amp}{x}.{name}"
        given = [self.value(x) for x in ins[1:]]
        if op == VEC:
            return f"[{', '.join(given)}]" if table_of(self.f, v) is None else given[0]
        if op == TUPLE:
            t = f.types[v]
            if isinstance(t, Struct):
                return (
                    "{" + ", ".join(f"{n}: {x}" for (n, _), x in zip(fields_of(t), given, strict=True)) + "}"
                )
            return f"({', '.join(given)})"
        if op == PULL:
            return f"pull {given[0]}({', '.join(given[1:])})"
        x, y = (*given, "")[:2]
        forms = {
            INDEX: f"{x}[{y}]",
            REF_INDEX: f"&{x}[{y}]",
            ACCUM: f"accum {x}",
            ADD_TO: f"{x} += {y}",
            RESOLVE: f"resolve {x}",
            SET: f"set({', '.join(given)})",
            ZEROS: f"zeros({x})",
        }
        return forms[op]

    def call(self, f: Func, args: Iterable[int]) -> str:
        return f"{self.function_name(f)}({', '.join(map(self.value, args))})"

    def control_loop(self, site: LoopSite) -> str:
        """``loop n to count from (state) do body(further arguments) …``"""
        spec = site.spec
        state = ", ".join(map(self.value, site.state))
        text = f"loop {spec.index} {'down ' if spec.down else ''}to {self.value(site.count)} from ({state})"
        text += f" do {self.call(site.body, site.args)}"
        if site.test:
            text += f" {'until not' if spec.must_end else 'while'} {self.call(site.test, site.test_args)}"
        outputs = len(site.body.results) - spec.carries if spec.outputs == ALL else spec.outputs
        text += f" give {outputs}" if outputs else ""
        text += f" checkpoint {spec.checkpoint}" if spec.checkpoint else ""
        return text + (f" note {spec.note}" if spec.note >= 0 else "")

    def table_op(self, ins: tuple[int, ...]) -> str:
        op = OPS[ins[0]]
        operands = [self.value(x) for x in ins[1:]]
        if op.code < UNARY_END:
            if op.symbol not in _PREFIX:
                return f"{op.symbol}({operands[0]})"
            return f"{op.symbol}{operands[0]}" if len(op.symbol) == 1 else f"{op.symbol} {operands[0]}"
        if op.symbol == "?:":
            return f"{operands[0]} ? {operands[1]} : {operands[2]}"
        if op.symbol.isidentifier() and op.symbol not in _INFIX:
            return f"{op.symbol}({', '.join(operands)})"
        return f"{operands[0]} {op.symbol} {operands[1]}"


def _listed(value: Any, t: Type) -> str:
    """The numbers of a table."""
    if not isinstance(t, Array):
        return literal(value, t)
    return f"[{', '.join(_listed(x, t.elem) for x in value)}]"


def literal(value: object, t: Type) -> str:
    """A constant."""
    if isinstance(value, bytes):
        return _listed(nested(value, t), t)
    if t is UNIT:
        return "()"
    if t is BOOL:
        return "true" if value else "false"
    if is_tape(t):
        return "[]"
    if isinstance(t, Array):
        return f"[for _: {t.index}, {literal(value, t.elem)}]"
    if isinstance(t, Fin):
        return str(value)
    assert t is REAL or t is TAN
    return repr(float(value))  # type: ignore[arg-type]
