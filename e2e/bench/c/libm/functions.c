// Sums of built-in functions: of calls for themselves, and of calls each of which waits for the one before.

#define EXPORT(name) __attribute__((export_name(#name)))

#define SUMS(name, call)                                           \
  EXPORT(name##_free)                                              \
  double name##_free(int n, const double *x, const double *y) {    \
    double sum = 0;                                                \
    for (int i = 0; i < n; ++i) {                                  \
      double v = x[i];                                             \
      sum += call;                                                 \
    }                                                              \
    return sum;                                                    \
  }                                                                \
  EXPORT(name##_waiting)                                           \
  double name##_waiting(int n, const double *x, const double *y) { \
    double sum = 0, last = 0;                                      \
    for (int i = 0; i < n; ++i) {                                  \
      double v = x[i] + 0 * last;                                  \
      last = call;                                                 \
      sum += last;                                                 \
    }                                                              \
    return sum;                                                    \
  }

#define UNARY(name)    \
  double name(double); \
  SUMS(name, name(v))
#define BINARY(name)           \
  double name(double, double); \
  SUMS(name, name(v, y[i]))

UNARY(sin)
UNARY(cos)
UNARY(tan)
UNARY(asin)
UNARY(acos)
UNARY(atan)
UNARY(sinh)
UNARY(cosh)
UNARY(tanh)
UNARY(exp)
UNARY(expm1)
UNARY(log)
UNARY(log1p)
UNARY(log2)
UNARY(log10)
UNARY(cbrt)
BINARY(pow)
BINARY(atan2)
BINARY(hypot)
