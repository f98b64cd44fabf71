"""Rose: composable automatic differentiation, compiled to WebAssembly.

Define functions with `fn`, differentiate them with `jvp` and `vjp`, and turn them into fast callables
with `compile`. The same package runs under CPython, with wasmtime, and in a web page, in Pyodide.
"""

from rose_core.api import compile, interp
from rose_core.expand import DerivativeError
from rose_core.trace import (
    Function,
    Vec,
    fn,
    iadd,
    imod,
    index_operation,
    jvp,
    opaque,
    operation,
    select,
    struct,
    sum,
    vec,
    vjp,
    zero,
)
from rose_core.types import BOOL as Bool
from rose_core.types import DUAL as Dual
from rose_core.types import REAL as Real
from rose_core.types import TAN as Tan
from rose_core.types import UNIT as Null
from rose_core.values import Record

__version__ = "0.1.0"

abs, sign, ceil, floor, trunc, sqrt = map(operation, "abs sign ceil floor trunc sqrt".split())
sin, cos, tan, asin, acos, atan, atan2 = map(operation, "sin cos tan asin acos atan atan2".split())
sinh, cosh, tanh, exp, expm1, log, log1p = map(operation, "sinh cosh tanh exp expm1 log log1p".split())
log2, log10, pow, cbrt, hypot, min, max = map(operation, "log2 log10 pow cbrt hypot min max".split())
neg, add, sub, mul, div = map(operation, "neg add sub mul div".split())
neq, lt, leq, eq, gt, geq = map(operation, "neq lt leq eq gt geq".split())
not_, and_, or_, iff, xor = map(operation, "not and or iff xor".split())
ineq, ilt, ileq, ieq, igt, igeq = map(index_operation, "ineq ilt ileq ieq igt igeq".split())
