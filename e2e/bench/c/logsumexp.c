#include "bench.h"

EXPORT(value) double value(int n, const double *restrict x) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += exp(x[i]);
  return log(sum);
}

EXPORT(gradient) void gradient(int n, const double *restrict x, double *restrict g) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += g[i] = exp(x[i]);
  double scale = 1 / sum;
  for (int i = 0; i < n; ++i) g[i] *= scale;
}
