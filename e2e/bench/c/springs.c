#include "bench.h"

#define DIAGONAL 1.4142135623730951

static inline double energy(const double *a, const double *b, double rest) {
  double dx = a[0] - b[0], dy = a[1] - b[1];
  double stretch = sqrt(dx * dx + dy * dy) - rest;
  return 0.5 * stretch * stretch;
}

static inline void force(const double *a, const double *b, double rest, double *ga, double *gb) {
  double dx = a[0] - b[0], dy = a[1] - b[1];
  double scale = 1 - rest / sqrt(dx * dx + dy * dy);
  ga[0] += scale * dx;
  gb[0] -= scale * dx;
  ga[1] += scale * dy;
  gb[1] -= scale * dy;
}

EXPORT(value) double value(int n, const double *x) {
  double sum = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const double *a = x + 2 * (n * i + j), *below = a + 2 * n;
      if (j + 1 < n) sum += energy(a, a + 2, 1);
      if (i + 1 < n) sum += energy(a, below, 1);
      if (i + 1 < n && j + 1 < n) sum += energy(a, below + 2, DIAGONAL) + energy(below, a + 2, DIAGONAL);
    }
  return sum;
}

EXPORT(gradient) void gradient(int n, const double *restrict x, double *restrict g) {
  for (int k = 0; k < 2 * n * n; ++k) g[k] = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      int at = 2 * (n * i + j);
      const double *a = x + at, *below = a + 2 * n;
      double *ga = g + at, *gbelow = ga + 2 * n;
      if (j + 1 < n) force(a, a + 2, 1, ga, ga + 2);
      if (i + 1 < n) force(a, below, 1, ga, gbelow);
      if (i + 1 < n && j + 1 < n) {
        force(a, below + 2, DIAGONAL, ga, gbelow + 2);
        force(below, a + 2, DIAGONAL, gbelow, ga + 2);
      }
    }
}
