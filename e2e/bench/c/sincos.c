#include "bench.h"

EXPORT(value) double value(int n, const double *x) { return sin(cos(x[0])); }

EXPORT(gradient) void gradient(int n, const double *x, double *g) {
  g[0] = -cos(cos(x[0])) * sin(x[0]);
}
