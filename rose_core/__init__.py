"""Rose: composable automatic differentiation, compiled to WebAssembly.

Define functions with `fn`, differentiate them with `jvp` and `vjp`, and turn them into fast callables
with `compile`. The same package runs under CPython, with wasmtime, and in a web page, in Pyodide.
"""

from rose_core.api import compile, interp
from rose_core.derivatives.expand import DerivativeError
from rose_core.errors import RunError
from rose_core.inspection import Inspection, inspect
from rose_core.language.types import BOOL as Bool
from rose_core.language.types import DUAL as Dual
from rose_core.language.types import REAL as Real
from rose_core.language.types import TAN as Tan
from rose_core.language.types import UNIT as Null
from rose_core.operators.forward import jvp
from rose_core.operators.gradients import grad, hvp, linearize, value_and_grad
from rose_core.operators.jacobian import hessian, jacobian
from rose_core.operators.sparse import Sparse, sparse_hessian, sparse_jacobian
from rose_core.operators.taylor import jet
from rose_core.operators.vmap import vmap
from rose_core.solvers.minimum import minimize
from rose_core.solvers.ode import odeint
from rose_core.solvers.quadrature import quad
from rose_core.solvers.roots import fixed_point, root
from rose_core.standalone import load
from rose_core.tracing.constructs import extreme, select, sum, vec
from rose_core.tracing.control import checkpoint, cond, fori, scan, while_loop
from rose_core.tracing.declare import Vec, struct
from rose_core.tracing.functional import functional
from rose_core.tracing.functions import Function, fn, opaque, vjp
from rose_core.tracing.generic import Generic
from rose_core.tracing.indices import iadd, idiv, imax, imin, imod, imul, index, index_operation, isub, real
from rose_core.tracing.infix import ExpressionError, expr
from rose_core.tracing.operations import operation
from rose_core.tracing.sizes import Size
from rose_core.tracing.symbols import zero
from rose_core.tracing.values import Record
from rose_core.wasm.limits import SizeError

__version__ = "0.1.0"

abs, sign, ceil, floor, trunc, sqrt = map(operation, "abs sign ceil floor trunc sqrt".split())
sin, cos, tan, asin, acos, atan, atan2 = map(operation, "sin cos tan asin acos atan atan2".split())
sinh, cosh, tanh, exp, expm1, log, log1p = map(operation, "sinh cosh tanh exp expm1 log log1p".split())
log2, log10, pow, cbrt, hypot = map(operation, "log2 log10 pow cbrt hypot".split())
min, max = map(extreme, ("min", "max"))
neg, add, sub, mul, div = map(operation, "neg add sub mul div".split())
neq, lt, leq, eq, gt, geq = map(operation, "neq lt leq eq gt geq".split())
not_, and_, or_, iff, xor = map(operation, "not and or iff xor".split())
ineq, ilt, ileq, ieq, igt, igeq = map(index_operation, "ineq ilt ileq ieq igt igeq".split())

__all__ = [
    "Bool",
    "DerivativeError",
    "Dual",
    "ExpressionError",
    "Function",
    "Generic",
    "Inspection",
    "Null",
    "Real",
    "Record",
    "RunError",
    "Size",
    "SizeError",
    "Sparse",
    "Tan",
    "Vec",
    "abs",
    "acos",
    "add",
    "and_",
    "asin",
    "atan",
    "atan2",
    "cbrt",
    "ceil",
    "checkpoint",
    "compile",
    "cond",
    "cos",
    "cosh",
    "div",
    "eq",
    "exp",
    "expm1",
    "expr",
    "fixed_point",
    "floor",
    "fn",
    "fori",
    "functional",
    "geq",
    "grad",
    "gt",
    "hessian",
    "hvp",
    "hypot",
    "iadd",
    "idiv",
    "ieq",
    "iff",
    "igeq",
    "igt",
    "ileq",
    "ilt",
    "imax",
    "imin",
    "imod",
    "imul",
    "index",
    "ineq",
    "inspect",
    "interp",
    "isub",
    "jacobian",
    "jet",
    "jvp",
    "leq",
    "linearize",
    "load",
    "log",
    "log1p",
    "log2",
    "log10",
    "lt",
    "max",
    "min",
    "minimize",
    "mul",
    "neg",
    "neq",
    "not_",
    "odeint",
    "opaque",
    "or_",
    "pow",
    "quad",
    "real",
    "root",
    "scan",
    "select",
    "sign",
    "sin",
    "sinh",
    "sparse_hessian",
    "sparse_jacobian",
    "sqrt",
    "struct",
    "sub",
    "sum",
    "tan",
    "tanh",
    "trunc",
    "value_and_grad",
    "vec",
    "vjp",
    "vmap",
    "while_loop",
    "xor",
    "zero",
]  # fmt: skip
