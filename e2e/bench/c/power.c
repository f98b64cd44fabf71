#include "bench.h"

EXPORT(value) double value(int n, const double *x) {
  double r = 1;
  for (int i = 0; i < n; ++i) r *= x[0];
  return r;
}

EXPORT(gradient) void gradient(int n, const double *restrict x, double *restrict g) {
  double r = 1, d = 0;
  for (int i = 0; i < n; ++i) {
    d = d * x[0] + r;
    r *= x[0];
  }
  g[0] = d;
}
