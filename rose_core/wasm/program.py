"""A whole program: its functions lowered into one WebAssembly module, and how to call that.

Functions are lowered callers first, because a function's frame stands above those of its callers.
"""

from __future__ import annotations

from collections.abc import Sequence

from rose_core import encode
from rose_core.encode import MEMORY_FILL, call, global_set, i32_const, load, memory_init, store
from rose_core.errors import FAIL, Notes, notes
from rose_core.language.ir import (
    ACCUM,
    BEYOND_BINARY,
    LOOP,
    VEC,
    ZEROS,
    Func,
    among,
    callees_first,
    is_unwritten,
    opcodes,
    operands,
    places,
)
from rose_core.language.ops import OPS, Op
from rose_core.language.tables import numbers_of
from rose_core.language.types import Array, Type, has_tape, is_memory
from rose_core.libm.link import Library
from rose_core.optimise.unroll import unrolled
from rose_core.wasm.context import Callees, Codes, Context
from rose_core.wasm.enclosed import Enclosed, calls, enclosed, is_short
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


_VECTORS = among([VEC])
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
        for f in reversed(_callers_first(root)):
            root = unrolled(f)
        order = _callers_first(root)
        called = needs(order)
        inside = enclosed(order)
        apart = [f for f in order if f not in inside]
        imports, codes, callees, library, runtime = self._imports(order, called, len(apart))
        for k, f in enumerate(apart):
            callees[f] = (len(imports) + k, Convention(f))
        constants = _Constants(order, aligned(len(library.data)))
        data = constants.places
        for f in inside:
            demand = called.demands.pop(f, None)
            callees[f] = (-1, Enclosed(data[f], None if is_short(f) else demand))
        stored = (0, library.data), (constants.start, bytes(constants.content))
        segments = [(at, content) for at, content in stored if content]
        self.args, self.results, address = _interface(root, constants.end)
        context = Context(codes, callees, constants.zeros_at, runtime, Overwriting(order), Given(order))
        frames = dict.fromkeys(apart, address)
        end = address
        functions: list[encode.Function] = []
        long: dict[int, Lowered] = {}
        """Those that are several, by number."""
        sizes = []
        for f in apart:
            entry = (_unpassed(self.args), _unpassed(self.results)) if f is root else None
            demand = called.demands.pop(f, None)
            body = lowered(f, context, frames[f], data[f], demand, entry)
            functions.append(body.functions[-1])
            if len(body.functions) > 1:
                long[len(functions) - 1] = body
            for function in body.functions:
                check_function(f, function)
            end = max(end, body.frame_end)
            sizes.append((f, body.frame_end - frames[f]))
            for g in calls(f, inside):
                if g in frames:
                    frames[g] = max(frames[g], body.frame_end)
        check_memory(root, end, constants.start + len(constants.content), sizes)
        self.pages = (end + PAGE - 1) // PAGE
        self.end = end
        """The first address that the program does not use."""
        functions += library.functions() + runtime.functions
        for number, body in long.items():
            functions[number] = in_turn(body.functions, len(imports) + len(functions))
            functions += body.functions
        top = -1
        if runtime.takes_memory:
            # set anew by every call, since one that failed has not given back what it took
            top = aligned(end + 1)
            functions[0].code = i32_const(top) + global_set(TOP) + functions[0].code
        if memory == "shared":
            functions[0].code = _constants_in_place(constants, segments) + functions[0].code
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


class _Constants:
    """What a program has in memory from its start: zeros for all, and vectors, each once."""

    def __init__(self, order: Sequence[Func], zeros_at: int) -> None:
        self.zeros_at = zeros_at
        self.zeros = max((size_of(t) for f in order for t in _read_zeros(f)), default=0)
        """How many bytes of zeros there are."""
        self.start = self.end = aligned(zeros_at + self.zeros)
        """Where the vectors begin, and where memory is free after them."""
        self.content = bytearray()
        """The vectors, from the start on."""
        self.places: dict[Func, dict[int, int]] = {}
        """By function and value, the address of each vector."""
        known: dict[bytes, int] = {}
        for f in order:
            self.places[f] = {}
            for v, content in _constant_vectors(f).items():
                if content not in known:
                    known[content], self.end = placed(self.end, len(content))
                    self.content += bytes(known[content] - self.start - len(self.content)) + content
                self.places[f][v] = known[content]


def _read_zeros(f: Func) -> list[Type]:
    """The types of the zeros that ``f`` reads: where an accumulator begins with them, they are written."""
    arrays = [
        (~k, t)
        for k, (x, t) in enumerate(f.pool)
        if is_memory(t) and not (is_unwritten(f, ~k) or isinstance(x, bytes))
    ]
    if not arrays:
        return []
    read = {x for ins in f.code if ins[0] != ACCUM for x in operands(ins, f.blocks)}.union(f.results)
    return [t for v, t in arrays if v in read or has_tape(t)]


def _constants_in_place(constants: _Constants, segments: list[tuple[int, bytes]]) -> bytes:
    """Code that makes the constants what they are, where others may have written over them."""
    at, zeros = constants.zeros_at, constants.zeros
    code = [i32_const(at), i32_const(0), i32_const(zeros), MEMORY_FILL] if zeros else []
    for k, (address, content) in enumerate(segments):
        code += [i32_const(address), i32_const(0), i32_const(len(content)), memory_init(k)]
    return b"".join(code)


def _callers_first(root: Func) -> list[Func]:
    """All transparent functions that ``root`` needs, each before those it calls."""
    return callees_first(root, lambda f: [g for g in f.callees if g.host is None])[::-1]


def _constant_vectors(f: Func) -> dict[int, bytes]:
    """The vectors of constants in ``f``, as bytes in memory, but for those that are parts of others only."""
    found: dict[int, bytes] = {}
    for v in places(f, _VECTORS):
        ins = f.code[v]
        if all(x < 0 or x in found for x in ins[1:]):
            t = f.types[v]
            assert isinstance(t, Array)
            content = numbers_of(f, v)
            if content is None:
                content = b"".join(bytes(size_of(t.elem)) if x < 0 else found[x] for x in ins[1:])
            found[v] = content
    if not found:
        return found
    needed = set(f.results)
    for v in places(f, BEYOND_BINARY):
        if v not in found:
            needed.update(operands(f.code[v], f.blocks))
    return {v: content for v, content in found.items() if v in needed}


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
