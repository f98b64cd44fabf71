#include "bench.h"

#ifdef N // straight-line code for this one size
#define SIZE(n) (N)
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define SIZE(n) (n)
#define UNROLLED
#endif

EXPORT(value) double value(int n, const double *restrict x) {
  double sum = 0;
  UNROLLED
  for (int i = 0; i < SIZE(n) - 1; ++i) {
    double a = x[i + 1] - x[i] * x[i];
    double b = 1 - x[i];
    sum += 100 * a * a + b * b;
  }
  return sum;
}

EXPORT(gradient) void gradient(int n, const double *restrict x, double *restrict g) {
  double carry = 0;
  UNROLLED
  for (int i = 0; i < SIZE(n) - 1; ++i) {
    double a = x[i + 1] - x[i] * x[i];
    g[i] = carry - 400 * a * x[i] - 2 * (1 - x[i]);
    carry = 200 * a;
  }
  g[SIZE(n) - 1] = carry;
}
