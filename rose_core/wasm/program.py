"""A whole program: its functions lowered into one WebAssembly module, and how to call that.

Functions are lowered callers first, because a function's frame stands above those of its callers.
"""

from __future__ import annotations

from rose_core import encode
from rose_core.encode import call, global_set, i32_const, load, store
from rose_core.errors import FAIL, Notes, notes
from rose_core.language.ir import LOOP, ZEROS, Func
from rose_core.language.ops import OPS, Op
from rose_core.language.queries import callees_first, opcodes
from rose_core.language.types import is_memory
from rose_core.libm.link import Library
from rose_core.optimise.sums import summed
from rose_core.optimise.unroll import unrolled
from rose_core.wasm.constants import Constants
from rose_core.wasm.context import Callees, Codes, Context
from rose_core.wasm.enclosed import Enclosed, calls, enclosed
from rose_core.wasm.given import Given
from rose_core.wasm.layout import (
    BASE,
    MOST_SCALARS,
    Convention,
    HostConvention,
    Slot,
    aligned,
    kind_of,
    placed,
    size_of,
)
from rose_core.wasm.limits import check_function, check_import, check_memory
from rose_core.wasm.lowered import Lowered, lowered
from rose_core.wasm.needs import Needs, needs
from rose_core.wasm.parts import in_turn
from rose_core.wasm.reuse import Overwriting
from rose_core.wasm.runtime import TOP, Runtime

PAGE = 65536


def _suffix(op: Op) -> bytes:
    """The code of an operation, but for what each program has of its own: numbers of functions and locals."""
    if isinstance(op.wasm, bytes):
        return op.wasm
    return bytes([op.wasm]) if isinstance(op.wasm, int) else b""


_SUFFIXES = [_suffix(op) for op in OPS]
_IMPORTED = [(op.code, op.wasm, len(op.ins)) for op in OPS if isinstance(op.wasm, str)]
_HELPERS = [(op.code, op.wasm) for op in OPS if isinstance(op.wasm, encode.Helper)]


class Program:
    """A compiled program.

    Attributes:
        bytes: the module. It imports ``Math`` functions by name and opaque ones by number from the
            module ``""``, and exports ``f`` and ``r``, which is ``f`` with everything in memory. Its
            memory is exported or imported, or shared with other modules; then every call first puts its
            constants in place (see `encode.module`).
        args, results: where the host puts arguments and finds results, leaf by leaf.
        hosts: the opaque functions, by number.
        notes: what it says of values that are not defined, by number.
        pages: how much memory it needs.

    Raises:
        SizeError: it is larger than what engines take.
    """

    def __init__(self, root: Func, memory: str = "exported") -> None:
        self.hosts: list[Func] = []
        self.notes: Notes = notes
        for prepared in unrolled, summed:
            for f in reversed(_callers_first(root)):
                root = prepared(f)
        order = _callers_first(root)
        called = needs(order)
        inside = enclosed(order)
        apart = [f for f in order if f not in inside]
        imports, codes, callees, library, runtime = self._imports(order, called, len(apart))
        for k, f in enumerate(apart):
            callees[f] = (len(imports) + k, Convention(f))
        constants = Constants(order, aligned(len(library.data)))
        for f, is_repeated in inside.items():
            demand = called.demands.pop(f, None)
            callees[f] = (-1, Enclosed(constants.places[f], None if is_repeated else demand))
        self.args, self.results, address = _interface(root, constants.end)
        context = Context(codes, callees, constants.zeros_at, runtime, Overwriting(order), Given(order))
        frames = dict.fromkeys(apart, address)
        made: dict[Func, Lowered] = {}
        for f in apart:
            entry = (_unpassed(self.args), _unpassed(self.results)) if f is root else None
            demand = called.demands.pop(f, None)
            made[f] = lowered(f, context, frames[f], constants.places[f], demand, entry)
            for function in made[f].functions:
                check_function(f, function)
            for g in calls(f, inside):
                if g in frames:
                    frames[g] = max(frames[g], made[f].frame_end)
        self.end = max(body.frame_end for body in made.values())
        """The first address that the program does not use."""
        self.pages = (self.end + PAGE - 1) // PAGE
        sizes = [(f, body.frame_end - frames[f]) for f, body in made.items()]
        check_memory(root, self.end, constants.start + len(constants.content), sizes)
        functions = [body.functions[-1] for body in made.values()]
        functions += library.functions() + runtime.functions
        for number, body in enumerate(made.values()):
            if len(body.functions) > 1:
                functions[number] = in_turn(body.functions, len(imports) + len(functions))
                functions += body.functions
        top = -1
        if runtime.takes_memory:
            # set anew by every call, since one that failed has not given back what it took
            top = aligned(self.end + 1)
            functions[0].code = i32_const(top) + global_set(TOP) + functions[0].code
        stored = (0, library.data), (constants.start, bytes(constants.content))
        segments = [(at, content) for at, content in stored if content]
        if memory == "shared":
            functions[0].code = constants.in_place(segments) + functions[0].code
        exported = {"f": 0, "r": 0}
        if any(slot.passed for slot in (*self.args, *self.results)):
            exported["r"] = len(functions)
            functions.append(_in_memory(root.name, len(imports), self.args, self.results))
        self.bytes = encode.module(imports, functions, exported, self.pages, segments, memory, top)

    def _imports(
        self, order: list[Func], called: Needs, count: int
    ) -> tuple[list[encode.Import], Codes, Callees, Library, Runtime]:
        """What the program imports; the code of operations; the opaque functions; what the compiler adds to
        ``count`` functions."""
        imports: list[encode.Import] = []
        suffixes = [*_SUFFIXES]
        used = set().union(*map(opcodes, order))
        for code, name, arity in _IMPORTED:
            if code in used:
                suffixes[code] = call(len(imports))
                imports.append(encode.Import("", name, "f" * arity, "f"))
        callees: Callees = {}
        for f in order:
            for g in f.callees:
                if g.host is not None and g not in callees:
                    convention = HostConvention(g)
                    check_import(g, len(convention.params))
                    callees[g] = (len(imports), convention)
                    number = str(len(self.hosts))
                    imports.append(encode.Import("", number, convention.params, convention.results))
                    self.hosts.append(g)
        helpers = [(code, helper) for code, helper in _HELPERS if code in used]
        if any(helper.after for _, helper in helpers) or LOOP in used or ZEROS in used:
            imports.append(encode.Import("", FAIL, "iff", ""))
        library = Library([*called.single.values(), *called.together], called.in_lanes, len(imports) + count)
        for code, name in called.single.items():
            suffixes[code] = library.call(name)
        together = {op: library.call(name) for name, ops in called.together.items() for op in ops}
        in_lanes = {library.call(name): library.call(name, in_lanes=True) for name in called.in_lanes}
        runtime = Runtime(library.end, len(imports) - 1)
        for code, helper in helpers:
            suffixes[code] = runtime.helper(helper)
        return imports, Codes(suffixes, together, in_lanes), callees, library, runtime


def _callers_first(root: Func) -> list[Func]:
    """All transparent functions that ``root`` needs, each before those it calls."""
    return callees_first(root, lambda f: [g for g in f.callees if g.host is None])[::-1]


def _interface(root: Func, address: int) -> tuple[list[Slot], list[Slot], int]:
    """Where the host puts arguments and finds results, from ``address`` up; the address after them."""
    args, results = [], []
    direct = sum(not is_memory(t) for t in root.params) <= MOST_SCALARS
    for t in root.params:
        at, address = placed(address, size_of(t))
        args.append(Slot(t, at, direct and not is_memory(t)))
    types = root.result_types
    single = len(types) == 1 and not is_memory(types[0])
    for t in types:
        at, address = placed(address, size_of(t))
        results.append(Slot(t, at, single))
    return args, results, address


def _unpassed(slots: list[Slot]) -> list[int]:
    """Addresses as `Body` takes them for the entry."""
    return [-1 if slot.passed else slot.address for slot in slots]


def _in_memory(name: str, entry: int, args: list[Slot], results: list[Slot]) -> encode.Function:
    """A function without parameters or results: the entry, on scalars in memory."""
    code = [BASE + load(kind_of(s.leaf), s.address) for s in args if s.passed]
    code.append(call(entry))
    for s in results:
        if s.passed:
            code = [BASE, *code, store(kind_of(s.leaf), s.address)]
    return encode.Function(f"run {name}", "", "", [], b"".join(code))
