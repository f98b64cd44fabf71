"""From a function to numbers: `compile` and `interp`."""

from __future__ import annotations

from collections.abc import Callable

from rose_core.deep import deep_recursion
from rose_core.host import instantiate
from rose_core.language.interp import call as run
from rose_core.recording.rebuild import expanded
from rose_core.tracing.functions import Function, closed
from rose_core.tracing.values import build, flatten_args
from rose_core.wasm.program import Program


def compile(f: Function, precise: bool = False) -> Callable[..., object]:
    """``f`` compiled to WebAssembly: a callable on ordinary Python values.

    A Real is a float, a Vec a list (any sequence as an argument), a struct a `Record`.

    ``precise``: whether powers like ``x**8`` are as near to the exact value as other functions are, a unit in
    the last place; else they are products, which take a tenth of the time, with up to 8 roundings.

    Raises:
        DerivativeError: a derivative is asked for of an opaque function that has none.
        SizeError: it is larger than what engines take.
    """
    func = closed(f, "compile")
    with deep_recursion():
        program = Program(expanded(func, precise))
    instance = instantiate(program)

    def compiled(*args: object, **named: object) -> object:
        return build(instance(flatten_args(f.ordered(args, named), func.param_types, func.name)), func.ret)

    compiled.__name__ = compiled.__qualname__ = func.name
    return compiled


def interp(f: Function, precise: bool = False) -> Callable[..., object]:
    """``f`` run by the interpreter: slow, and by definition right; ``precise`` as for `compile`."""
    func = closed(f, "interp")
    with deep_recursion():
        root = expanded(func, precise)

    def interpreted(*args: object, **named: object) -> object:
        leaves = flatten_args(f.ordered(args, named), func.param_types, func.name)
        with deep_recursion():
            return build(run(root, leaves), func.ret)

    interpreted.__name__ = interpreted.__qualname__ = func.name
    return interpreted
