#include "bench.h"

#ifdef N // straight-line code for this one size
#define SIZE(n) (N)
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define SIZE(n) (n)
#define UNROLLED
#endif

#define TURN 6.283185307179586
#define E 2.718281828459045

EXPORT(value) double value(int n, const double *restrict x) {
  double squares = 0, cosines = 0;
  UNROLLED
  for (int i = 0; i < SIZE(n); ++i) {
    squares += x[i] * x[i];
    cosines += cos(TURN * x[i]);
  }
  return -20 * exp(-0.2 * sqrt(squares / SIZE(n))) - exp(cosines / SIZE(n)) + 20 + E;
}

EXPORT(gradient) void gradient(int n, const double *restrict x, double *restrict g) {
  double squares = 0, cosines = 0;
  UNROLLED
  for (int i = 0; i < SIZE(n); ++i) {
    squares += x[i] * x[i];
    cosines += cos(TURN * x[i]);
    g[i] = sin(TURN * x[i]);
  }
  double r = sqrt(squares / SIZE(n));
  double a = 4 * exp(-0.2 * r) / (SIZE(n) * r);
  double b = TURN * exp(cosines / SIZE(n)) / SIZE(n);
  UNROLLED
  for (int i = 0; i < SIZE(n); ++i) g[i] = a * x[i] + b * g[i];
}
