"""The Python tracer: functions of Rose written with Python's own operators.

`fn` runs a body once with symbolic values and keeps what it did. A symbolic scalar is one id of the
function being built; vectors and structs are bundles of the ids of their leaves, which live on this
side only and cost the program nothing. Every mistake raises on the author's line, in the author's
terms, and leaves nothing half-built: a function exists only when its body has returned.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

from rose_core import ops
from rose_core.ir import Builder, Func, is_real
from rose_core.ops import Op
from rose_core.types import (
    BOOL,
    REAL,
    TAN,
    UNIT,
    Array,
    Fin,
    Pair,
    Scalar,
    Struct,
    Type,
    array,
    dual,
    fin,
    leaves,
)


class Trace:
    """A function under construction."""

    def __init__(self, func: Func) -> None:
        self.func = func
        self.builder = Builder(func)


_traces: list[Trace] = []


def current() -> Trace:
    """The function being defined right now."""
    if not _traces:
        raise RuntimeError("symbolic values exist only while the body of an fn runs")
    return _traces[-1]


# -- types as authors write them ----------------------------------------------------------------------


def as_type(t: object) -> Type:
    """The type an author means: a Rose type, a size ``n`` for the indices below it, a dict for a struct.

    Raises:
        TypeError: ``t`` is none of these.
    """
    if isinstance(t, Type):
        return t
    if t is None:
        return UNIT
    if isinstance(t, int) and not isinstance(t, bool):
        if t < 0:
            raise ValueError(f"an index type needs a size of 0 or more, not {t}")
        return fin(t)
    if isinstance(t, dict):
        for name in t:
            if not isinstance(name, str):
                raise TypeError(f"the name of a struct's field must be a string, not {name!r}")
        return Struct({name: as_type(field) for name, field in t.items()})
    raise TypeError(f"expected a type such as Real, Vec(3, Real) or a size, got {describe(t)}")


def Vec(index: object, elem: object) -> Array:
    """The type of vectors with one ``elem`` for each value of ``index``, an int for its size."""
    size = as_type(index)
    if not isinstance(size, Fin):
        raise TypeError(f"the size of a Vec must be a whole number, got {describe(index)}")
    return array(size, as_type(elem))


def struct(fields: object = None, /, **named: object) -> Struct:
    """A struct type, from a dict, from keywords, or as a decorator from a class's annotations."""
    if isinstance(fields, type):
        scope = {**vars(sys.modules[fields.__module__]), **sys._getframe(1).f_locals}
        fields = {name: _annotated(field, scope) for name, field in fields.__annotations__.items()}
    t = as_type(named if fields is None else fields)
    if not isinstance(t, Struct):
        raise TypeError(f"expected the fields of a struct, got {describe(fields)}")
    return t


def describe(x: object) -> str:
    """What ``x`` is, in an author's words."""
    if isinstance(x, Value):
        return f"a symbolic {x.type}"
    if isinstance(x, Type):
        return f"the type {x}"
    if isinstance(x, Function):
        return f"the function {x.func.name}"
    return f"{type(x).__name__} {x!r:.60}"


# -- symbolic values ----------------------------------------------------------------------------------


class Value:
    """A symbolic value: its type and where it may be used."""

    __slots__ = ("block", "trace", "type")
    type: Type
    trace: Trace
    block: int

    def __bool__(self) -> bool:
        raise TypeError("a symbolic value has no truth value while its function is traced; use select")


class Var(Value):
    """A symbolic scalar."""

    __slots__ = ("id",)

    def __init__(self, trace: Trace, id: int, type: Type) -> None:
        self.trace = trace
        self.block = trace.builder.open[-1]
        self.id = id
        self.type = type

    def __repr__(self) -> str:
        return f"<symbolic {self.type}>"

    __hash__ = object.__hash__

    def __neg__(self) -> Var:
        return neg(self)

    def __pos__(self) -> Var:
        return self

    def __abs__(self) -> Var:
        return absolute(self)

    def __add__(self, other: object) -> Var:
        return iadd(self.type, self, other) if isinstance(self.type, Fin) else add(self, other)

    def __radd__(self, other: object) -> Var:
        return iadd(self.type, other, self) if isinstance(self.type, Fin) else add(other, self)

    def __sub__(self, other: object) -> Var:
        return sub(self, other)

    def __rsub__(self, other: object) -> Var:
        return sub(other, self)

    def __mul__(self, other: object) -> Var:
        return mul(self, other)

    def __rmul__(self, other: object) -> Var:
        # a tangent is written first in a product, whichever side the author put it on
        return mul(self, other)

    def __truediv__(self, other: object) -> Var:
        return div(self, other)

    def __rtruediv__(self, other: object) -> Var:
        return div(other, self)

    def __pow__(self, other: object) -> Var:
        return power(self, other)

    def __rpow__(self, other: object) -> Var:
        return power(other, self)

    def __mod__(self, other: int) -> Var:
        return imod(other, self)

    def __eq__(self, other: object) -> Var:  # type: ignore[override]
        return _compare(self, other, "eq")

    def __ne__(self, other: object) -> Var:  # type: ignore[override]
        return _compare(self, other, "neq")

    def __lt__(self, other: object) -> Var:
        return _compare(self, other, "lt")

    def __le__(self, other: object) -> Var:
        return _compare(self, other, "leq")

    def __gt__(self, other: object) -> Var:
        return _compare(self, other, "gt")

    def __ge__(self, other: object) -> Var:
        return _compare(self, other, "geq")

    def __and__(self, other: object) -> Var:
        return apply(ops.by_name["and"], self, other)

    __rand__ = __and__

    def __or__(self, other: object) -> Var:
        return apply(ops.by_name["or"], self, other)

    __ror__ = __or__

    def __xor__(self, other: object) -> Var:
        return apply(ops.by_name["xor"], self, other)

    __rxor__ = __xor__

    def __invert__(self) -> Var:
        return apply(ops.by_name["not"], self)


class VecValue(Value):
    """A symbolic vector: indexed by ints and symbolic indices, iterated, unpacked, measured with len."""

    __slots__ = ("ids",)

    def __init__(self, trace: Trace, ids: Sequence[int], type: Array) -> None:
        self.trace = trace
        self.block = trace.builder.open[-1]
        self.ids = ids
        self.type = type

    def __repr__(self) -> str:
        return f"<symbolic {self.type}>"

    def __len__(self) -> int:
        return self.type.size  # type: ignore[attr-defined, no-any-return]

    def __getitem__(self, i: object) -> Value:
        trace = _in_scope(self)
        t = self.type
        assert isinstance(t, Array)
        if isinstance(i, int) and not isinstance(i, bool) and -t.size <= i < 0:
            i += t.size
        (at,) = lift(trace, i, t.index, f"index of {t}")
        return wrap(trace, [trace.builder.index(v, at) for v in self.ids], t.elem)

    def __iter__(self) -> Iterator[Value]:
        return (self[i] for i in range(len(self)))


class StructValue(Value):
    """A symbolic struct: its fields are attributes."""

    __slots__ = ("_fields",)

    def __init__(self, trace: Trace, fields: dict[str, object], type: Struct | Pair) -> None:
        self.trace = trace
        self.block = trace.builder.open[-1]
        self._fields = fields
        self.type = type

    def __repr__(self) -> str:
        return f"<symbolic {self.type}>"

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") or name == "_fields":
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> object:
        try:
            return self._fields[name]
        except KeyError:
            keys = ", ".join(self._fields)
            raise AttributeError(f"this struct has no field {name!r}; its fields are {keys}") from None


class Zero:
    """The zero tangent, as `zero` gives it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "zero()"


_ZERO = Zero()


def zero() -> Zero:
    """The tangent of what does not vary, for custom derivatives."""
    return _ZERO


def _in_scope(x: Value) -> Trace:
    """The trace ``x`` belongs to, if that is the current one and ``x`` is in scope.

    Raises:
        RuntimeError: it is not.
    """
    trace = current()
    if x.trace is not trace:
        raise RuntimeError(
            f"a symbolic {x.type} of the function {x.trace.func.name} was used outside of it; "
            "pass it as an argument instead"
        )
    if x.block not in trace.builder.open:
        raise RuntimeError(f"a symbolic {x.type} was used outside of the loop it belongs to")
    return trace


def wrap(trace: Trace, ids: Sequence[int], t: Type) -> object:
    """The symbolic value of type ``t`` whose leaves are ``ids``."""
    if isinstance(t, Array):
        return VecValue(trace, ids, t)
    if isinstance(t, (Struct, Pair)):
        names = sorted(t.fields) if isinstance(t, Struct) else ("fst", "snd")
        types = t.fields if isinstance(t, Struct) else {"fst": t.fst, "snd": t.snd}
        fields, at = {}, 0
        for name in names:
            count = len(leaves(types[name]))
            fields[name] = wrap(trace, ids[at : at + count], types[name])
            at += count
        return StructValue(trace, fields, t)
    return None if t is UNIT else Var(trace, ids[0], t)


def lift(trace: Trace, x: object, t: Type, what: str) -> list[int]:
    """The ids of the leaves of ``x``, taken as a ``t``.

    Raises:
        TypeError: ``x`` is not a ``t``; the message begins with ``what``.
        ValueError: a vector of another size; IndexError: an index out of range.
    """
    b = trace.builder
    if isinstance(x, Value):
        _in_scope(x)
        if x.type is t or x.type == t:
            return _ids(x)
        raise TypeError(f"{what}: expected {t}, got {describe(x)}")
    if t is REAL:
        if isinstance(x, (int, float)) and not isinstance(x, bool):
            return [b.real(float(x))]
        if hasattr(x, "__float__") and not isinstance(x, (bool, str)):
            return [b.real(float(x))]  # type: ignore[arg-type]
    elif t is BOOL:
        if isinstance(x, bool):
            return [b.const(x, BOOL)]
    elif t is TAN:
        if x is _ZERO:
            return [b.const(0.0, TAN)]
    elif t is UNIT:
        if x is None:
            return []
    elif isinstance(t, Fin):
        if hasattr(x, "__index__") and not isinstance(x, bool):
            i = x.__index__()
            if not 0 <= i < t.size:
                raise IndexError(f"{what}: {i} is out of range, expected 0 <= i < {t.size}")
            return [b.const(i, t)]
    elif isinstance(t, Array):
        if hasattr(x, "__len__") and hasattr(x, "__getitem__") and not isinstance(x, (str, bytes, dict)):
            return _lift_vec(trace, x, t, what)
    elif isinstance(t, Struct):
        fields = x if isinstance(x, dict) else getattr(x, "__dict__", None)
        if fields is not None:
            if set(fields) != set(t.fields):
                got, expected = ", ".join(sorted(map(str, fields))), ", ".join(sorted(t.fields))
                raise TypeError(f"{what}: expected a struct with the fields {expected}, got {got}")
            return [
                v for name, u in t.sorted_fields() for v in lift(trace, fields[name], u, f"{what}.{name}")
            ]
    raise TypeError(f"{what}: expected {t}, got {describe(x)}")


def _lift_vec(trace: Trace, x: Sequence[object], t: Array, what: str) -> list[int]:
    if len(x) != t.size:
        raise ValueError(f"{what}: expected {t.size} elements, got {len(x)}")
    elems = [lift(trace, x[i], t.elem, f"{what}[{i}]") for i in range(t.size)]
    types = leaves(t)
    return [trace.builder.vec([e[k] for e in elems], types[k]) for k in range(len(types))]


def _ids(x: object) -> list[int]:
    """The leaves of a symbolic value."""
    if isinstance(x, Var):
        return [x.id]
    if isinstance(x, VecValue):
        return list(x.ids)
    if isinstance(x, StructValue):
        names = sorted(x._fields) if isinstance(x.type, Struct) else list(x._fields)
        return [v for name in names for v in _ids(x._fields[name])]
    return []


# -- operations ---------------------------------------------------------------------------------------

_TYPE_OF_LETTER = {"R": REAL, "B": BOOL}


def apply(op: Op, *args: object) -> Var:
    """An operation on Reals, Bools or (where it is linear) tangents; on plain numbers its plain value."""
    if not any(isinstance(x, (Value, Zero)) for x in args):
        return op.evaluate(*args)  # type: ignore[return-value]
    trace = current()
    letters = ["T" if x is _ZERO or (isinstance(x, Var) and x.type is TAN) else "" for x in args]
    tangent = "T" in letters
    if tangent and (
        len(letters) != len(op.tangent)
        or any((a == "T") != (b == "T") for a, b in zip(letters, op.tangent, strict=True))
    ):
        raise TypeError(
            f"{op.name} is not linear in {'this tangent' if letters.count('T') == 1 else 'these tangents'}"
        )
    ids = []
    for k, (x, letter) in enumerate(zip(args, op.ins, strict=True)):
        t = TAN if letters[k] else _TYPE_OF_LETTER[letter]
        if isinstance(x, Var) and x.type is t:
            _in_scope(x)
            ids.append(x.id)
        else:
            ids += lift(trace, x, t, op.name)
    out = TAN if tangent else _TYPE_OF_LETTER[op.out]
    return Var(trace, trace.builder.op(op.code, *ids, type=out), out)


def operation(name: str) -> Callable[..., Var]:
    """The Python function for the op ``name`` of the table."""
    op = ops.by_name[name]

    def function(*args: object) -> Var:
        if len(args) != len(op.ins):
            raise TypeError(f"{name} takes {len(op.ins)} arguments, got {len(args)}")
        return apply(op, *args)

    function.__name__ = function.__qualname__ = name
    return function


add, sub, mul, div, neg = map(operation, ("add", "sub", "mul", "div", "neg"))
power, absolute = operation("pow"), operation("abs")


def _compare(x: Var, y: object, name: str) -> Var:
    if isinstance(x.type, Fin):
        return index_operation("i" + name)(x.type, x, y)
    if x.type is BOOL:
        return apply(ops.by_name[{"eq": "iff", "neq": "xor"}.get(name, name)], x, y)
    return apply(ops.by_name[name], x, y)


def index_operation(name: str) -> Callable[..., Var]:
    """The Python function for an op on two indices of the type that is its first argument."""
    op = ops.by_name[name]

    def function(index: object, i: object, j: object) -> Var:
        t = as_type(index)
        trace = current()
        (a,), (b) = lift(trace, i, t, name), lift(trace, j, t, name)
        out = t if op.out == "I" else BOOL
        return Var(trace, trace.builder.binary(op.code, a, b[0], out), out)

    function.__name__ = function.__qualname__ = name
    return function


iadd = index_operation("iadd")


def imod(index: object, i: object) -> Var:
    """The index ``i``, of any type, modulo the size of ``index``."""
    t = as_type(index)
    if not isinstance(t, Fin) or t.size < 1:
        raise ValueError(f"imod: expected a size of 1 or more, got {describe(index)}")
    trace = current()
    if isinstance(i, Var) and isinstance(i.type, Fin):
        _in_scope(i)
        a = i.id
    else:
        (a,) = lift(trace, i, fin(1 << 31), "imod")
    return Var(
        trace, trace.builder.binary(ops.code("imod"), a, trace.builder.const(t.size, fin(1 << 31)), t), t
    )


def select(p: object, *choice: object) -> object:
    """``select(p, T, a, b)``: ``a`` where ``p`` holds, else ``b``, both of type ``T``.

    ``select(p, a, b)`` finds the type out, where one of the two is symbolic.
    """
    if len(choice) == 2:
        known = next((x.type for x in choice if isinstance(x, Value)), REAL)
        choice = (known, *choice)
    if len(choice) != 3:
        raise TypeError("select takes a Bool, a type and two values")
    t = as_type(choice[0])
    trace = current()
    (c,) = lift(trace, p, BOOL, "select")
    a, b = lift(trace, choice[1], t, "select"), lift(trace, choice[2], t, "select")
    code = ops.code("select")
    ids = [trace.builder.ternary(code, c, x, y, u) for x, y, u in zip(a, b, leaves(t), strict=True)]
    return wrap(trace, ids, t)


def vec(index: object, elem: object, body: Callable[[Var], object]) -> object:
    """The vector of ``body(i)`` for every ``i`` of the index type; ``body`` runs once, ``i`` symbolic."""
    size, t = as_type(index), as_type(elem)
    if not isinstance(size, Fin):
        raise TypeError(f"vec: expected a size, got {describe(index)}")
    trace = current()
    b = trace.builder
    i = b.open_for(size)
    depth = len(b.open)
    try:
        ids = lift(trace, body(Var(trace, i, size)), t, "the body of vec")
    except BaseException:
        del b.open[depth - 1 :]
        raise
    loop = b.close_for(ids)
    return wrap(trace, [b.get(loop, k) for k in range(len(ids))], array(size, t))


def sum(index: object, body: Callable[[Var], object]) -> Var:
    """The sum of ``body(i)`` over every ``i`` of the index type, from 0 up."""
    trace = current()
    b = trace.builder
    total = b.accum(b.real(0.0))

    def add_term(i: Var) -> None:
        (x,) = lift(trace, body(i), REAL, "the body of sum")
        b.add_to(total, x)

    vec(index, UNIT, add_term)
    return Var(trace, b.resolve(total), REAL)


# -- functions ----------------------------------------------------------------------------------------


class Function:
    """A Rose function, to be called on symbolic values, differentiated and compiled."""

    def __init__(self, func: Func) -> None:
        self.func = func
        self.__name__ = func.name

    def __repr__(self) -> str:
        params = ", ".join(map(str, self.func.param_types))
        return f"<fn {self.func.name}({params}) -> {self.func.ret}>"

    def __call__(self, *args: object) -> object:
        trace = current()
        call = trace.builder.call(self.func, lift_args(trace, self.func, args))
        return _results(trace, self.func, call)

    @property
    def jvp(self) -> Function | None:
        """The custom derivative, a function from duals to duals; None where there is none."""
        return Function(self.func.jvp) if self.func.jvp else None

    @jvp.setter
    def jvp(self, rule: Function) -> None:
        if not isinstance(rule, Function):
            raise TypeError(f"{self.func.name}.jvp: expected a function, got {describe(rule)}")
        params, ret = [dual(t) for t in self.func.param_types], dual(self.func.ret)
        if rule.func.param_types != params or rule.func.ret != ret:
            raise TypeError(
                f"{self.func.name}.jvp: expected a function ({', '.join(map(str, params))}) -> {ret}, "
                f"got ({', '.join(map(str, rule.func.param_types))}) -> {rule.func.ret}"
            )
        self.func.jvp = rule.func


def lift_args(trace: Trace, f: Func, args: Sequence[object]) -> list[int]:
    """The leaves of a call's arguments, checked against the signature."""
    if len(args) != len(f.param_types):
        raise TypeError(f"{f.name} takes {_count(len(f.param_types), 'argument')}, got {len(args)}")
    return [
        v
        for k, (x, t) in enumerate(zip(args, f.param_types, strict=True))
        for v in lift(trace, x, t, f"argument {k + 1} of {f.name}")
    ]


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _results(trace: Trace, f: Func, call: int) -> object:
    return wrap(trace, [trace.builder.get(call, k) for k in range(len(leaves(f.ret)))], f.ret)


def fn(*args: object) -> Function:
    """Define a function: ``fn([Real, Vec(3, Real)], Real, body)``, or ``@fn`` above an annotated one.

    Raises:
        TypeError: the signature is not one, or the body returns something else than it says.
    """
    if len(args) == 1 and callable(args[0]):
        body = args[0]
        params, ret = _signature(body, sys._getframe(1).f_locals)
    elif len(args) == 3 and callable(args[2]):
        if not isinstance(args[0], (list, tuple)):
            raise TypeError(f"fn: expected a list of parameter types, got {describe(args[0])}")
        params, ret, body = [as_type(t) for t in args[0]], as_type(args[1]), args[2]
    else:
        raise TypeError(
            "fn takes parameter types, a result type and a body, or decorates an annotated function"
        )
    if _traces:
        raise RuntimeError("a function cannot be defined while another one is; define it before")
    name = getattr(body, "__name__", "f")
    func = Func("f" if name == "<lambda>" else name, params, ret)
    trace = Trace(func)
    _traces.append(trace)
    try:
        values = []
        for t in params:
            values.append(wrap(trace, [trace.builder.param(leaf) for leaf in leaves(t)], t))
        func.blocks[0].results = lift(trace, body(*values), ret, f"the result of {func.name}")
    finally:
        _traces.pop()
    code = getattr(body, "__code__", None)
    if code is not None and code.co_argcount == len(params):
        func.param_names = list(code.co_varnames[: len(params)])
    return Function(func)


def _signature(body: Callable[..., object], local: Mapping[str, object]) -> tuple[list[Type], Type]:
    """The types in a function's annotations; ``local`` are the names where it is defined."""
    annotations = dict(body.__annotations__)
    code = body.__code__
    scope = {**body.__globals__, **local}

    def annotated(name: str, what: str) -> Type:
        if name not in annotations:
            raise TypeError(f"@fn: {what} of {body.__name__} has no type annotation")
        return as_type(_annotated(annotations[name], scope))

    params = [annotated(p, f"parameter {p}") for p in code.co_varnames[: code.co_argcount]]
    return params, annotated("return", "the result")


def _annotated(t: object, scope: dict[str, object]) -> object:
    """An annotation, which is text where the author's module postpones evaluation."""
    return eval(t, scope) if isinstance(t, str) else t


def opaque(params: Sequence[object], ret: object, host: Callable[..., object]) -> Function:
    """A function that runs ``host``, of which Rose knows nothing; give it a derivative with ``.jvp``."""
    types, result = [as_type(t) for t in params], as_type(ret)
    for t in (*types, result):
        if t is not REAL:
            raise TypeError(f"opaque: expected Real parameters and a Real result, got {t}")
    func = Func(getattr(host, "__name__", "opaque"), types, result)
    func.params = list(types)
    func.host = host
    func.effects = True
    return Function(func)


def function_of(f: object, what: str) -> Func:
    if not isinstance(f, Function):
        raise TypeError(f"{what}: expected a function made with fn or opaque, got {describe(f)}")
    return f.func


def jvp(f: Function) -> Function:
    """The forward derivative of ``f``: the same function on duals (paper, Section 4.2)."""
    g = function_of(f, "jvp")
    found = g.memo.get("jvp of")
    if found is None:
        func = Func(f"jvp_{g.name}", [dual(t) for t in g.param_types], dual(g.ret))
        func.params = [leaf for t in func.param_types for leaf in leaves(t)]
        func.origin = ("jvp", g)
        func.effects = g.effects
        found = g.memo["jvp of"] = Function(func)
    return found  # type: ignore[return-value]


class Pullback:
    """What `vjp` gives: the value ``ret``, and ``grad`` from a cotangent of it to one of the arguments."""

    __slots__ = ("_args", "_call", "_func", "_trace", "ret")

    def __init__(self, trace: Trace, func: Func, args: list[int]) -> None:
        self._trace = trace
        self._func = func
        self._args = args
        self._call = trace.builder.vjp(func, args)
        self.ret = _results(trace, func, self._call)

    def grad(self, cotangent: object) -> object:
        """The vector-Jacobian product with ``cotangent``, which has the type of ``ret``.

        One value for a function of one parameter, else a tuple. What is not Real has no derivative;
        in its place stands the argument's own value.
        """
        trace, f = self._trace, self._func
        if current() is not trace or trace.builder.home[self._call] not in trace.builder.open:
            raise RuntimeError(f"the grad of {f.name} was used outside of the function or loop it belongs to")
        b = trace.builder
        cotangents = lift(trace, cotangent, f.ret, f"the cotangent of {f.name}")
        reals = [c for c, t in zip(cotangents, leaves(f.ret), strict=True) if is_real(t)]
        pull = b.pull(self._call, reals)
        ids, k = [], 0
        for arg, t in zip(self._args, f.params, strict=True):
            if is_real(t):
                arg = b.get(pull, k)
                k += 1
            ids.append(arg)
        values, at = [], 0
        for t in f.param_types:
            count = len(leaves(t))
            values.append(wrap(trace, ids[at : at + count], t))
            at += count
        return values[0] if len(values) == 1 else tuple(values)

    def __iter__(self) -> Iterator[object]:
        return iter((self.ret, self.grad))


def vjp(f: Function) -> Callable[..., Pullback]:
    """The reverse derivative of ``f``: called on arguments, gives its value and its pullback."""
    g = function_of(f, "vjp")

    def pullback(*args: object) -> Pullback:
        trace = current()
        return Pullback(trace, g, lift_args(trace, g, args))

    return pullback


def is_type(t: object) -> bool:
    """Whether ``t`` is one of the constant types an author names, such as Real."""
    return isinstance(t, Scalar)
