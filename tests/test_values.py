"""Values of other libraries, and what Python itself has for records."""

from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType, SimpleNamespace
from typing import ClassVar, NamedTuple, TypedDict

import pytest

from rose_core import Bool, Real, Size, Vec, compile, fn, grad, interp, opaque, scan, select, struct, sum, vec

n = Size("n")


class Series:
    """A vector whose elements have other names than their numbers; an array, if it has dimensions."""

    def __init__(self, *values: object, shape: tuple[int, ...] | None = None) -> None:
        self.values = values
        self.dtype: object = None
        self.shape = (len(values),) if shape is None else shape

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, i: int) -> object:
        return self.values[-1 - i]

    def __float__(self) -> float:
        return self.values[0]

    def tolist(self) -> object:
        return list(self.values) if self.shape else self.values[0]


def test_arrays_and_series_of_other_libraries() -> None:
    weighed = fn([Vec(3, Real)], Real, lambda v: v[0] - v[2] + vec(2, Real, Series(7.0, 5.0))[0])
    of_any_size = fn([Vec(n, Real)], Real, lambda v: v[0] * n)
    for by in (compile, interp):
        assert by(weighed)(Series(1.0, 2.0, 4.0)) == by(weighed)([1, 2.0, 4]) == 4.0
        assert by(fn([Real], Real, lambda x: of_any_size(Series(x, 2, 3))))(5.0) == 15.0
        assert by(fn([Real], Real, lambda x: x * 2))(Series(4.0, shape=())) == 8.0
    with pytest.raises(TypeError, match=r"argument 1 of <?f.*expected \[3\]Real, got Series"):
        compile(weighed)(Series(4.0, shape=()))
    with pytest.raises(TypeError, match="expected Real, got Series"):
        compile(fn([Real], Real, lambda x: x))(Series(4.0))


@pytest.mark.parametrize("kind", ["b", "c", "S", "U"])
def test_what_other_libraries_make_floats_of(kind: str) -> None:
    x = Series(1.0, shape=())
    x.dtype = SimpleNamespace(kind=kind)
    with pytest.raises(TypeError, match="expected Real, got Series"):
        compile(fn([Real], Real, lambda x: x))(x)


@dataclass(slots=True)
class Slots:
    x: object
    y: object

    @property
    def more(self) -> object:
        return self.x


@dataclass
class Plain:
    x: object
    y: object

    @cached_property
    def more(self) -> object:
        return self.x


class Named(NamedTuple):
    x: object
    y: object


RECORDS = [Slots, Plain, Named, lambda x, y: MappingProxyType({"x": x, "y": y})]


@pytest.mark.parametrize("record", RECORDS)
def test_records_of_python(record) -> None:
    """Values with fields, wherever a struct is expected, or the type is not said."""
    pair, many = struct(x=Real, y=Real), struct(x=Vec(n, Real), y=Real)
    product = fn([pair], Real, lambda p: p.x * p.y)
    of_any_size = fn([many], Real, lambda p: sum(p.x) * p.y)
    swapped = fn([Real, Real], pair, lambda x, y: record(y, x))
    trips = fn([Real], Vec(2, pair), lambda x: scan(2, Real, x, lambda s, i: (s + 1, record(s, 3)))[1])
    both = fn([Real, Real], Real, lambda x, y: of_any_size(record([x, x, y], y)) + product(record(x, y)))
    kept = record(2.0, 5.0)
    if isinstance(kept, Plain):
        assert kept.more == 2.0  # which is no field
    for by in (compile, interp):
        assert by(product)(kept) == 10.0
        assert by(swapped)(2, 5) == {"x": 5.0, "y": 2.0}
        assert by(trips)(1)[1] == {"x": 2.0, "y": 3.0}
        assert by(grad(both))(2, 5) == 15.0


@dataclass
class Body:
    mass: float
    moves: bool
    kinds: ClassVar[int] = 2

    @property
    def weight(self) -> float:
        return 10 * self.mass


class Place(NamedTuple):
    x: float
    v: "Vec(2, Real)"


@dataclass
class Planet(Body):
    at: "Place" = Place(0.0, [0.0, 0.0])  # noqa: RUF009


class Typed(TypedDict):
    i: 2
    x: "float"


def test_classes_of_python_as_types() -> None:
    """They make the values, too, in functions and outside."""

    @fn
    def moved(planet: Planet, more: Typed) -> Planet:
        x, v = planet.at.x, planet.at.v
        return Planet(planet.mass * 2, more.i == 1, Place(x + v[more.i], [more.x, x]))

    moon = Planet(0.5, True, Place(1.0, [2.0, 3.0]))
    result = {"mass": 1.0, "moves": True, "at": {"x": 4.0, "v": [7.0, 1.0]}}
    for by in (compile, interp):
        assert by(moved)(moon, {"i": 1, "x": 7}) == result
    mass = fn([Vec(2, Planet)], float, lambda v: sum(p.mass * p.mass for p in v))
    assert [p.mass for p in compile(grad(mass))([moon, moon])] == [1.0, 1.0]
    assert fn([bool, Place], struct(Place), lambda p, x: x).func.param_types == [
        Bool,
        struct(x=Real, v=Vec(2, Real)),
    ]


@pytest.mark.parametrize("of", [int, str, list, object, type("Empty", (), {})])
def test_classes_that_are_no_types(of: type) -> None:
    told = f"^parameter x of f: expected a type such as Real.*the class {of.__name__}"
    with pytest.raises(TypeError, match=told):
        fn([of], Real, lambda x: 1.0)


def test_types_of_python_that_are_none_are_told_where_and_what_to_write() -> None:
    def told(of: object) -> str:
        with pytest.raises(TypeError) as error:
            fn([Real, of], Real, lambda x, *more: x)
        where, _, what = str(error.value).partition(
            ": expected a type such as Real, Vec(3, Real) or a size, "
        )
        assert where == "parameter 2 of f"
        return what

    assert told(int) == "got the class int; a number is a float, and an index has its size for a type"
    assert told(list[float]).endswith("list[float]; all numbers of a list are a Vec(Size(), Real)")
    for of in (tuple[float, float], (float, float)):
        assert told(of).endswith("; of several values the type is a dict, {'x': Real, 'n': 3}")
    for make, where in [
        (lambda: fn([Real], int, lambda x: x), "the result of f"),
        (lambda: fn([Real], Real, lambda x: select(x > 0, int, x, x)), "select"),
        (lambda: fn([Real], Real, lambda x: vec(3, [Real], lambda i: x)[0]), "vec"),
        (lambda: opaque([str], Real, len), "parameter 1 of len"),
    ]:
        with pytest.raises(TypeError, match=f"^{where}: expected a type such as"):
            make()
    with pytest.raises(TypeError, match=r"^side 2 of select: expected Real, got list"):
        fn([Real], Real, lambda x: select(x > 0, Real, x, [x]))
