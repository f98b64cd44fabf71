#include "bench.h"

#define PIXELS 784
#define CLASSES 10
#define MOST 1024 // hidden units

static double hidden[MOST], out[CLASSES];

static void layer(double *restrict to, const double *restrict from, const double *restrict b,
                  const double *restrict w, int rows, int columns) {
  for (int j = 0; j < rows; ++j) {
    // four sums, as C may not reorder one
    double sum[4] = {b[j], 0, 0, 0};
    const double *row = w + j * columns;
    int i = 0;
    for (; i + 4 <= columns; i += 4)
      for (int lane = 0; lane < 4; ++lane) sum[lane] += row[i + lane] * from[i + lane];
    for (; i < columns; ++i) sum[0] += row[i] * from[i];
    to[j] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
}

static double forward(int n, const double *x, const double *image) {
  const double *b2 = x + n, *w1 = b2 + CLASSES, *w2 = w1 + n * PIXELS;
  layer(hidden, image, x, w1, n, PIXELS);
  for (int j = 0; j < n; ++j) hidden[j] = hidden[j] > 0 ? hidden[j] : 0;
  layer(out, hidden, b2, w2, CLASSES, n);
  double sum = 0;
  for (int k = 0; k < CLASSES; ++k) sum += exp(out[k]);
  return sum;
}

EXPORT(value) double value(int n, const double *x, const double *image, const double *label) {
  double loss = log(forward(n, x, image));
  for (int k = 0; k < CLASSES; ++k) loss -= label[k] * out[k];
  return loss;
}

EXPORT(gradient)
void gradient(int n, const double *restrict x, double *restrict g, const double *restrict image,
              const double *restrict label) {
  const double *w2 = x + n + CLASSES + n * PIXELS;
  double *g2 = g + n, *gw1 = g2 + CLASSES, *gw2 = gw1 + n * PIXELS;
  double sum = forward(n, x, image);
  for (int j = 0; j < n; ++j) g[j] = 0;
  for (int k = 0; k < CLASSES; ++k) {
    double d = exp(out[k]) / sum - label[k];
    g2[k] = d;
    for (int j = 0; j < n; ++j) {
      gw2[k * n + j] = d * hidden[j];
      g[j] += hidden[j] > 0 ? d * w2[k * n + j] : 0;
    }
  }
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < PIXELS; ++i) gw1[j * PIXELS + i] = g[j] * image[i];
}
