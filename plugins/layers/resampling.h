// Resizing an axis as a product with a matrix of weights, that of each new place for each old one.
// Places are the middles of their cells (of "bilinear_keras2" their beginnings); weights beyond the
// ends are left out and the others made to sum to 1.
#pragma once
#include <algorithm>
#include <cmath>
#include <string>

#include "crescent/ops.h"

namespace crescent {

/// Of something `away` cells from a new place: linear, cubic (Keys, -1/2), or a windowed sinc.
inline double resampling_weight(const std::string& interpolation, double away) {
  const double x = std::abs(away);
  if (interpolation.starts_with("bilinear")) return std::max(0.0, 1 - x);
  if (interpolation == "bicubic") {
    if (x >= 2) return 0;
    return x < 1 ? (1.5 * x - 2.5) * x * x + 1 : ((-0.5 * x + 2.5) * x - 4) * x + 2;
  }
  const double radius = interpolation == "lanczos3" ? 3 : 5, pi = 3.14159265358979323846;
  if (x >= radius) return 0;
  return x < 1e-9 ? 1 : radius * std::sin(pi * x) * std::sin(pi * x / radius) / (pi * pi * x * x);
}

/// (to, from). Coarser results are smoothed first when `antialias`.
inline Tensor resampling_matrix(const std::string& interpolation, int64_t from, int64_t to,
                                bool antialias, DType dtype) {
  constexpr double kMostWeights = 1 << 28;
  if (double(from) * double(to) > kMostWeights)
    fail("cannot interpolate ", from, " places to ", to, ": too many");
  const double scale = double(from) / double(to);
  const double reach = antialias ? std::max(scale, 1.0) : 1.0;
  const double middle = interpolation == "bilinear_keras2" ? 0 : 0.5;
  std::vector<float> weights(size_t(from * to));
  for (int64_t i = 0; i < to; ++i) {
    const double place = (double(i) + middle) * scale - middle;
    std::vector<double> row;
    double sum = 0;
    for (int64_t j = 0; j < from; ++j) {
      row.push_back(resampling_weight(interpolation, (double(j) - place) / reach));
      sum += row.back();
    }
    for (int64_t j = 0; j < from; ++j)
      weights[size_t(i * from + j)] = float(sum != 0 ? row[size_t(j)] / sum : 0);
  }
  return ops::cast(Tensor::from(weights, Shape{to, from}), dtype);
}

/// Along an axis, what the middle of each new cell lies in.
inline Tensor nearest(const Tensor& x, int axis, int64_t to) {
  const int64_t from = x.dim(axis);
  std::vector<int32_t> places;
  for (int64_t i = 0; i < to; ++i)
    places.push_back(int32_t(std::min((2 * i + 1) * from / (2 * to), from - 1)));
  return ops::take(x, Tensor::from(places, Shape{to}), axis);
}

/// Axes 1 and 2 of images (batch, rows, columns, channels) brought to new sizes.
inline Tensor resampled(const Tensor& images, int64_t rows, int64_t columns,
                        const std::string& interpolation, bool antialias) {
  if (interpolation == "nearest") return nearest(nearest(images, 1, rows), 2, columns);
  const int64_t batch = images.dim(0), old_rows = images.dim(1), old_columns = images.dim(2),
                channels = images.dim(3);
  const DType dtype = images.dtype();
  const Tensor down = resampling_matrix(interpolation, old_rows, rows, antialias, dtype),
               across = resampling_matrix(interpolation, old_columns, columns, antialias, dtype);
  const Tensor lines = ops::reshape(images, {batch, old_rows, old_columns * channels});
  const Tensor taller = ops::reshape(ops::matmul(down, lines), {-1, old_columns, channels});
  return ops::reshape(ops::matmul(across, taller), {batch, rows, columns, channels});
}

}  // namespace crescent
