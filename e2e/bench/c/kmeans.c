#include "bench.h"

#define CENTRES 5

static inline double squared(const double *x, int k, const double *p) {
  double dx = x[2 * k] - p[0], dy = x[2 * k + 1] - p[1];
  return dx * dx + dy * dy;
}

EXPORT(value) double value(int n, const double *restrict x, const double *restrict points) {
  double loss = 0;
  for (int i = 0; i < n; ++i) {
    double least = squared(x, 0, points + 2 * i);
    for (int k = 1; k < CENTRES; ++k) {
      double d = squared(x, k, points + 2 * i);
      least = d < least ? d : least;
    }
    loss += least;
  }
  return loss;
}

EXPORT(gradient)
void gradient(int n, const double *restrict x, double *restrict g, const double *restrict points) {
  for (int k = 0; k < 2 * CENTRES; ++k) g[k] = 0;
  for (int i = 0; i < n; ++i) {
    const double *p = points + 2 * i;
    int nearest = 0;
    double least = squared(x, 0, p);
    for (int k = 1; k < CENTRES; ++k) {
      double d = squared(x, k, p);
      nearest = d < least ? k : nearest;
      least = d < least ? d : least;
    }
    g[2 * nearest] += 2 * (x[2 * nearest] - p[0]);
    g[2 * nearest + 1] += 2 * (x[2 * nearest + 1] - p[1]);
  }
}
