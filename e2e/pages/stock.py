from rose_core import Real, Vec, compile, fn, interp, opaque, sin, vjp

R2 = Vec(2, Real)


@fn
def f(v: R2) -> Real:
    x, y = v
    return x**y + sin(x)


@fn
def gradient(v: R2) -> R2:
    return vjp(f)(v).grad(1)


seen = []
probe = opaque([Real], Real, lambda x: seen.append(x) or x)
double = compile(fn([Real], Real, lambda x: probe(x) + x))
whole = compile(fn([Real], Real, lambda x: -x))

[
    [compile(gradient)([2, 3]), interp(gradient)([2, 3]), double(4.5)],
    repr([double(3), whole(0), whole(1.5), seen]),
]
