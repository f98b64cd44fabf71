"""The backward sweep over straight-line code, written out from the derivative rules.

Reverse mode spends its time on multiplications and additions of scalars. For the ops with the
simplest transposed templates (`derivatives.rules`) this module writes one Python function in which each
template stands as plain code, so that an instruction costs no more than the dictionary access that
looks for an equal one. The text is made once, at import, from the same rules as everything else.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rose_core.derivatives.rules import RECIPROCAL, Rule, Template, rule
from rose_core.language.builder import Builder
from rose_core.language.ops import OPS, code

_NAMES = "mul add sub select div neg sqrt exp log sin cos sinh cosh".split()
"""The ops that are written out, the most frequent first; their templates have no constant but 0."""

_ADD, _SUB, _MUL, _NEG, _DIV, _SELECT, _SQRT = map(code, "add sub mul neg div select sqrt".split())


class _Signed:
    """Sums by id with a sign each: a negation is put off until it can become a subtraction."""

    b: Builder
    negative: list[bool] | dict[int, bool]

    def _sum(self, v: int) -> int | None:
        raise NotImplementedError

    def __setitem__(self, v: int, c: int | None) -> None:
        raise NotImplementedError

    def contribute(self, v: int, is_negative: bool, c: int) -> None:
        """Add ``c``, or what it is the negative of, to the sum of ``v``."""
        old, b = self._sum(v), self.b
        if old is None:
            self[v] = c
            self.negative[v] = is_negative
        elif self.negative[v] == is_negative:
            self[v] = b.binary(_ADD, old, c)
        else:
            self[v] = b.binary(_SUB, old, c) if is_negative else b.binary(_SUB, c, old)
            self.negative[v] = False

    def take(self, v: int) -> tuple[int | None, bool]:
        """The sum of ``v``, which it has no more, and whether that is to be negated."""
        found = self._sum(v)
        if found is None:
            return None, False
        self[v] = None
        return found, self.negative[v]

    def get(self, v: int) -> int | None:
        found = self._sum(v)
        if found is not None and self.negative[v]:
            found = self[v] = self.b.unary(_NEG, found)
            self.negative[v] = False
        return found

    def pop(self, v: int) -> int | None:
        """The sum of ``v``, which it has no more."""
        found = self.get(v)
        self[v] = None
        return found


class Sums(_Signed, list[int | None]):  # type: ignore[misc]
    """The cotangents of a straight function, by source id."""

    def __init__(self, size: int, b: Builder) -> None:
        super().__init__([None] * size)
        self.b = b
        self.negative = [False] * size

    _sum = list.__getitem__  # type: ignore[assignment]
    __setitem__ = list.__setitem__


class LoopSums(_Signed, dict[int, int | None]):  # type: ignore[misc]
    """The sums that are made in a block, by source id; None for one that was taken."""

    def __init__(self, b: Builder) -> None:
        super().__init__()
        self.b = b
        self.negative = {}

    _sum = dict.get  # type: ignore[assignment]
    __setitem__ = dict.__setitem__


_HEAD = '''
def sweep(order, code, cotangents, values, active, fetch, b, visit, is_iteration):
    """Visit the ids in ``order``: turn each cotangent into contributions to the operands.

    ``cotangents`` (of class `Sums`), ``values`` and ``active`` are indexed by source id; ``values``
    holds None where ``fetch(id)`` must first bring a primal value over; ``visit(id, instruction)`` does
    what is not written out here, and what has a library's functions in its derivative if ``is_iteration``.
    Instructions go to builder ``b``, whose per-id lists are padded later.
    """
    negative = cotangents.negative
    instructions, table = b.code, b.table
    append, known, pad = instructions.append, table.setdefault, b.pad
    n = len(instructions)
    zero = None
    for v in order:
        c = cotangents[v]
        if c is None:
            continue
        ins = code[v]
        op = ins[0]
'''

_TAIL = """
        else:
            pad()
            visit(v, ins)
            n = len(instructions)
    pad()
"""


class _Text:
    """Lines of Python at an indentation."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 2

    def add(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def instruction(self, target: str, op: int, *args: str) -> None:
        """``target`` = the id of ``op`` of ``args``, found or appended."""
        method = ("unary", "binary", "ternary")[len(args) - 1]
        known = args[:1] if op == _SELECT else args
        self.add(f"if {' or '.join(f'{a} < 0' for a in dict.fromkeys(known))}:")
        self.add(f"    pad(); {target} = b.{method}({op}, {', '.join(args)}); n = len(instructions)")
        self.add("else:")
        if OPS[op].commutes and args[0] != args[1]:
            p, q = args
            self.add(f"    key = ({op}, {p}, {q}) if {p} < {q} else ({op}, {q}, {p})")
        else:
            self.add(f"    key = ({op}, {', '.join(args)})")
        self.add(f"    {target} = known(key, n)")
        self.add(f"    if {target} == n:")
        self.add("        append(key); n += 1")

    def contribute(self, operand: str, sign: int, term: str) -> None:
        """Add to, or subtract from, the cotangent of an operand; ``g`` is the sign of the result's."""
        opposite = "g" if sign > 0 else "not g"
        self.add(f"s = cotangents[{operand}]")
        self.add("if s is None:")
        self.add(f"    cotangents[{operand}] = {term}; negative[{operand}] = {opposite}")
        self.add(f"elif negative[{operand}] == ({opposite}):")
        self.depth += 1
        self.instruction("r", _ADD, "s", term)
        self.add(f"cotangents[{operand}] = r")
        self.depth -= 1
        self.add("else:")
        self.depth += 1
        self.add(f"p, q = ({term}, s) if negative[{operand}] else (s, {term})")
        self.instruction("r", _SUB, "p", "q")
        self.add(f"cotangents[{operand}] = r; negative[{operand}] = False")
        self.depth -= 1

    def value(self, target: str, source: str) -> None:
        """``target`` = the primal value of a source id."""
        self.add(f"{target} = values[{source}]")
        self.add(f"if {target} is None:")
        self.add(f"    pad(); {target} = fetch({source}); n = len(instructions)")

    def pull(self, template: Template, operands: list[str]) -> None:
        """A transposed template, as plain code."""
        slots = [*(f"x{k}" for k in range(len(operands))), "y", "c"]
        if template.consts:
            assert template.consts == [None]
            slots.append("zero")
            self.add("if zero is None:")
            self.add("    zero = b.real(0.0)")
        needed = {s for _, _, *args in template.instrs for s in args} | {s for *_, s in template.outputs}
        for k, source in enumerate([*operands, "v"]):
            if k in needed:
                self.value(slots[k], source)
        for k, (op, _, *args) in enumerate(template.instrs):
            slots.append(f"t{k}")
            self.instruction(slots[-1], op, *[slots[a] for a in args])
        for k, sign, s in template.outputs:
            self.contribute(operands[k], sign, slots[s])

    def visit(self) -> None:
        """Leave an instruction to `Reverse.visit`, which knows more rules."""
        self.add("pad(); visit(v, ins); n = len(instructions)")

    def square(self) -> None:
        """The square of a number, as `Reverse._square` has it."""
        self.add("if active[a]:")
        self.depth += 1
        self.value("x0", "a")
        self.add("pad(); t0 = b.doubled(c); n = len(instructions)")
        self.instruction("t1", _MUL, "t0", "x0")
        self.contribute("a", 1, "t1")
        self.depth -= 1

    def op(self, opcode: int, keyword: str) -> None:
        """The branch of one op: a variant for each set of varying operands."""
        pulls = [rule(opcode, 1 << k).pull for k in range(len(OPS[opcode].ins))]
        calls = any(pull and pull.has_function for pull in pulls)
        self.add(f"{keyword} op == {opcode}{' and not is_iteration' if calls else ''}:")
        self.depth += 1
        operands = ["a", "o", "w"][: len(OPS[opcode].ins)]
        self.add(f"_, {', '.join(operands)} = ins")
        self.add("g = negative[v]")
        first, second = ("o", "w") if opcode == _SELECT else ("a", "o")
        bit = 1 << operands.index(first)

        def pulled(by: Rule) -> Callable[[], None]:
            assert by.pull is not None
            return partial(self.pull, by.pull, operands)

        variants = [(f"active[{first}]", pulled(rule(opcode, bit)))]
        if len(operands) > 1:
            both = f"active[{first}] and active[{second}]", pulled(rule(opcode, 3 * bit))
            variants = [both, *variants, (f"active[{second}]", pulled(rule(opcode, 2 * bit)))]
        if opcode == _MUL:
            by_root = f"active[a] and active[o] and code[o][0] == {_SQRT} and code[o][1] == a"
            variants = [("a == o", self.square), (by_root, self.visit), *variants]
        if opcode == _DIV:
            is_reciprocal = "a < 0 and active[o] and b.pool[~values[a]][0] == 1"
            variants.insert(0, (is_reciprocal, pulled(RECIPROCAL)))
        for k, (test, write) in enumerate(variants):
            self.add(f"{'elif' if k else 'if'} {test}:")
            self.depth += 1
            write()
            self.depth -= 1
        self.depth -= 1


def _write() -> str:
    text = _Text()
    for k, name in enumerate(_NAMES):
        text.op(code(name), "elif" if k else "if")
    return _HEAD + "\n".join(text.lines) + _TAIL


source: str = _write()
"""The text of `sweep`, to look at."""

_namespace: dict[str, Callable[..., None]] = {}
exec(
    compile(source, "<rose_core.derivatives.sweep>", "exec"), _namespace
)  # made of this module's own text alone
sweep = _namespace["sweep"]
