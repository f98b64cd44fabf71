#include "bench.h"

#define FEATURES 10

static double dot(const double *restrict a, const double *restrict b) {
  double sum = 0;
  for (int j = 0; j < FEATURES; ++j) sum += a[j] * b[j];
  return sum;
}

EXPORT(value)
double value(int n, const double *restrict w, const double *restrict X, const double *restrict y) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += log(1 + exp(-y[i] * dot(X + i * FEATURES, w)));
  return sum;
}

EXPORT(gradient)
void gradient(int n, const double *restrict w, double *restrict g, const double *restrict X,
              const double *restrict y) {
  for (int j = 0; j < FEATURES; ++j) g[j] = 0;
  for (int i = 0; i < n; ++i) {
    const double *row = X + i * FEATURES;
    double e = exp(-y[i] * dot(row, w));
    double d = -y[i] * e / (1 + e);
    for (int j = 0; j < FEATURES; ++j) g[j] += d * row[j];
  }
}
