"""Running modules: wasmtime under CPython, the browser's (or Node's) own engine under Pyodide.

The only part of the core that knows where it runs. An instance takes and gives leaves, as the
interpreter does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from threading import RLock
from typing import Any, Protocol
from weakref import finalize, ref

from rose_core.errors import FAIL, Notes, failure
from rose_core.language.ir import Func
from rose_core.language.ops import OPS
from rose_core.language.tables import flattened, nested
from rose_core.language.types import Type, is_memory
from rose_core.wasm.layout import HostConvention, Slot, kind_of, size_of

_ADDRESS = (1 << 32) - 1
"""A mask: engines give addresses with a sign."""


class Module(Protocol):
    """What of a `Program` is needed to run it."""

    bytes: bytes
    args: list[Slot]
    results: list[Slot]
    hosts: list[Func]
    notes: Notes


class Instance:
    """A program ready to be called, from one thread after another; subclasses know the engine."""

    def __init__(self, program: Module) -> None:
        self.program = program
        self._lock = RLock()
        self._is_busy = False

    def enter(self, scalars: list[Any]) -> object:
        """Call the exported function."""
        raise NotImplementedError

    def write(self, address: int, data: bytes) -> None:
        raise NotImplementedError

    def read(self, address: int, size: int) -> bytes:
        raise NotImplementedError

    def snapshot(self) -> tuple[bytes, int]:
        """What is in memory, and where what a call takes begins, if any does."""
        raise NotImplementedError

    def restore(self, memory: bytes, top: int) -> None:
        """Make memory as it was in a snapshot."""
        raise NotImplementedError

    def host(self, number: int) -> Callable[..., Any]:
        """An opaque function of the program, as WebAssembly calls it (`HostConvention`)."""
        f = self.program.hosts[number]
        convention = HostConvention(f)
        run = f.host
        assert run is not None
        order = [*convention.scalars, *convention.pointers]
        itself = ref(self)  # the engine holds on to what it calls, and that must not hold on to the engine

        def call(*args: Any) -> Any:
            instance = itself()
            assert instance is not None
            leaves: list[Any] = [None] * len(f.params)
            for k, x in zip(order, args, strict=False):  # the rest is where results go
                t = f.params[k]
                leaves[k] = instance._fetch(Slot(t, x & _ADDRESS)) if is_memory(t) else convert(t, x)
            results = run(*leaves)
            if convention.returns:
                return results[0]
            for t, address, x in zip(f.result_types, args[len(order) :], results, strict=True):
                instance._put(Slot(t, address & _ADDRESS), x)
            return None

        return call

    def _fetch(self, slot: Slot) -> object:
        return nested(self.read(slot.address, size_of(slot.leaf)), slot.leaf)

    def _put(self, slot: Slot, x: object) -> None:
        data = flattened(x, slot.leaf)
        if data:
            self.write(slot.address, data)

    def __call__(self, args: Sequence[object]) -> list[object]:
        """The result leaves of the program on argument leaves."""
        with self._lock:
            if not self._is_busy:
                self._is_busy = True
                try:
                    return self._call(args)
                finally:
                    self._is_busy = False
            # one of its own opaque functions calls it, which has all that it is computing in memory
            waiting = self.snapshot()
            try:
                return self._call(args)
            finally:
                self.restore(*waiting)

    def _call(self, args: Sequence[object]) -> list[object]:
        scalars = []
        for slot, x in zip(self.program.args, args, strict=True):
            if slot.passed:
                scalars.append(x)
            else:
                self._put(slot, x)
        returned = self.enter(scalars)
        return [
            convert(slot.leaf, returned) if slot.passed else self._fetch(slot)
            for slot in self.program.results
        ]


_CONVERSIONS: dict[str, Callable[[Any], object]] = {"f": float, "i": int, "b": bool}


def convert(leaf: Type, x: object) -> object:
    """A scalar as the engine gave it: JavaScript tells neither Bools nor whole Reals from indices."""
    return _CONVERSIONS[kind_of(leaf)](x)


class _Wasmtime(Instance):
    def __init__(self, program: Module) -> None:
        try:
            import wasmtime as w
        except ImportError:
            raise ImportError("to run what it compiles, Rose needs wasmtime: pip install wasmtime") from None
        super().__init__(program)
        self._store = w.Store()
        module = w.Module(self._store.engine, program.bytes)
        fail = _fails(program)
        imports = []
        for item in module.imports:
            assert isinstance(item.type, w.FuncType)
            name = item.name or ""
            run = self.host(int(name)) if name.isdigit() else fail if name == FAIL else _math(name)
            imports.append(w.Func(self._store, item.type, run))
        exports = w.Instance(self._store, module, imports).exports(self._store)
        f, memory, top = exports["f"], exports["m"], exports.get("t")
        assert isinstance(f, w.Func) and isinstance(memory, w.Memory)
        assert top is None or isinstance(top, w.Global)
        self._f, self._memory, self._top = f, memory, top

    def enter(self, scalars: list[Any]) -> object:
        return self._f(self._store, *scalars)

    def write(self, address: int, data: bytes) -> None:
        self._memory.write(self._store, data, address)

    def read(self, address: int, size: int) -> bytes:
        return bytes(self._memory.read(self._store, address, address + size))

    def snapshot(self) -> tuple[bytes, int]:
        top = self._top.value(self._store) if self._top else self._memory.data_len(self._store)
        return self.read(0, top), top

    def restore(self, memory: bytes, top: int) -> None:
        self.write(0, memory)
        if self._top:
            self._top.set_value(self._store, top)


def _fails(program: Module) -> Callable[[int, float, float], None]:
    """What a program calls when it cannot go on."""
    notes = program.notes

    def fail(code: int, x: float, y: float) -> None:
        raise failure(code, x, y, notes)

    return fail


def _math(name: str) -> Callable[..., float]:
    """A function of JavaScript's ``Math``."""
    return next(op for op in OPS if op.wasm == name).evaluate


class _JavaScript(Instance):
    def __init__(self, program: Module) -> None:
        import js
        from pyodide.ffi import create_proxy

        super().__init__(program)
        functions = js.Object.new()
        for op in OPS:
            if isinstance(op.wasm, str):
                setattr(functions, op.wasm, getattr(js.Math, op.wasm))
        own = {str(k): self.host(k) for k in range(len(program.hosts))}
        for name, run in {**own, FAIL: _fails(program)}.items():
            proxy = create_proxy(run)
            setattr(functions, name, proxy)
            finalize(self, proxy.destroy)
        imports = js.Object.new()
        setattr(imports, "", functions)
        module = js.WebAssembly.Module.new(to_js(program.bytes))
        exports = js.WebAssembly.Instance.new(module, imports).exports
        self._f = exports.f
        self._memory = exports.m
        self._top = getattr(exports, "t", None)
        self._view = js.Uint8Array
        self._numbers, self._single = js.Float64Array, js.Array.new(1)
        self._gives_real = any(slot.passed and kind_of(slot.leaf) == "f" for slot in program.results)

    def enter(self, scalars: list[Any]) -> object:
        if not self._gives_real:
            return self._f(*scalars)
        # through an array, since Python would get a whole number, and of -0 not the sign
        return self._numbers.from_(self._single, self._f.bind(None, *scalars)).to_py()[0]

    def write(self, address: int, data: bytes) -> None:
        self._view.new(self._memory.buffer, address, len(data)).assign(data)

    def read(self, address: int, size: int) -> bytes:
        return self._view.new(self._memory.buffer, address, size).to_bytes()  # type: ignore[no-any-return]

    def snapshot(self) -> tuple[bytes, int]:
        top: int = self._top.value if self._top else self._memory.buffer.byteLength
        return self.read(0, top), top

    def restore(self, memory: bytes, top: int) -> None:
        self.write(0, memory)
        if self._top:
            self._top.value = top


def to_js(data: bytes) -> Any:
    """Bytes as JavaScript sees them; only where there is JavaScript."""
    from pyodide.ffi import to_js

    return to_js(data)


def instantiate(program: Module) -> Instance:
    """The program, ready to run on this machine's engine.

    Raises:
        ImportError: under CPython without the ``wasmtime`` package.
    """
    return _JavaScript(program) if sys.platform == "emscripten" else _Wasmtime(program)
