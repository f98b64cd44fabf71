#include "bench.h"

#define SOFT 0.01

EXPORT(value) double value(int n, const double *x) {
  double sum = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) {
      double dx = x[2 * i] - x[2 * j], dy = x[2 * i + 1] - x[2 * j + 1];
      sum += 1 / sqrt(dx * dx + dy * dy + SOFT);
    }
  return sum;
}

EXPORT(gradient) void gradient(int n, const double *restrict x, double *restrict g) {
  for (int k = 0; k < 2 * n; ++k) g[k] = 0;
  for (int i = 0; i < n; ++i) {
    double gx = 0, gy = 0;
    for (int j = 0; j < i; ++j) {
      double dx = x[2 * i] - x[2 * j], dy = x[2 * i + 1] - x[2 * j + 1];
      double square = dx * dx + dy * dy + SOFT;
      double scale = 1 / (square * sqrt(square));
      gx += scale * dx;
      gy += scale * dy;
      g[2 * j] += scale * dx;
      g[2 * j + 1] += scale * dy;
    }
    g[2 * i] -= gx;
    g[2 * i + 1] -= gy;
  }
}
