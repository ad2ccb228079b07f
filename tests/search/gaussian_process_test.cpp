// The Gaussian process compared with formulas that use an inverse matrix.
#include "gaussian_process.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

namespace {

using crescent::GaussianProcess;
using crescent::Points;
using Matrix = std::vector<std::vector<double>>;

double kernel(const Points& points, const double* a, const double* b,
              const std::vector<double>& lengths) {
  double squared_distance = 0;
  for (size_t d = 0; d < points.dimensions; ++d) {
    const double difference = points.categorical[d] ? double(a[d] != b[d]) : a[d] - b[d];
    squared_distance += std::pow(difference / lengths[d], 2);
  }
  const double r = std::sqrt(squared_distance);
  return (1 + std::sqrt(5) * r + 5 * r * r / 3) * std::exp(-std::sqrt(5) * r);
}

/// The inverse by Gauss-Jordan elimination, and the logarithm of the determinant.
Matrix inverse_of(Matrix a, double* log_determinant) {
  const size_t n = a.size();
  Matrix inverse(n, std::vector<double>(n));
  *log_determinant = 0;
  for (size_t i = 0; i < n; ++i) inverse[i][i] = 1;
  for (size_t i = 0; i < n; ++i) {
    const double pivot = a[i][i];
    *log_determinant += std::log(pivot);
    for (size_t j = 0; j < n; ++j) a[i][j] /= pivot, inverse[i][j] /= pivot;
    for (size_t k = 0; k < n; ++k) {
      if (k == i) continue;
      const double factor = a[k][i];
      for (size_t j = 0; j < n; ++j) {
        a[k][j] -= factor * a[i][j];
        inverse[k][j] -= factor * inverse[i][j];
      }
    }
  }
  return inverse;
}

Points random_points(size_t count, size_t dimensions, std::mt19937& random) {
  Points points{dimensions, std::vector<char>(dimensions), {}};
  if (dimensions > 1) points.categorical[1] = true;
  std::uniform_real_distribution<double> uniform(0, 1);
  for (size_t i = 0; i < count * dimensions; ++i)
    points.coordinates.push_back(dimensions > 1 && i % dimensions == 1 ? std::round(uniform(random))
                                                                       : uniform(random));
  return points;
}

}  // namespace

TEST_CASE("Predictions and likelihood are those of the formulas") {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  for (const size_t n : {1, 2, 7, 40})
    for (const size_t d : {1, 3})
      for (const size_t pending_count : {0, 3}) {
        INFO(n << " values, " << d << " dimensions, " << pending_count << " expected");
        const Points points = random_points(n + pending_count, d, random),
                     queries = random_points(9, d, random);
        std::vector<double> values(n);
        for (double& value : values) value = normal(random);
        const std::vector<double> lengths(d, 0.3);
        constexpr double kNoise = 1e-2;
        const auto kernel_matrix = [&](size_t size) {
          Matrix k(size, std::vector<double>(size));
          for (size_t i = 0; i < size; ++i)
            for (size_t j = 0; j < size; ++j)
              k[i][j] = kernel(points, points.at(i), points.at(j), lengths) + (i == j) * kNoise;
          return k;
        };
        double log_determinant, pending_log_determinant;
        const Matrix inverse = inverse_of(kernel_matrix(n), &log_determinant);
        const Matrix inverse_with_pending =
            inverse_of(kernel_matrix(n + pending_count), &pending_log_determinant);
        double likelihood = -log_determinant / 2;
        for (size_t i = 0; i < n; ++i)
          for (size_t j = 0; j < n; ++j) likelihood -= values[i] * inverse[i][j] * values[j] / 2;
        const GaussianProcess process(points, values, lengths, kNoise);
        CHECK(process.log_likelihood() == Approx(likelihood).epsilon(1e-9));
        const auto predictions = process.predict(queries);
        for (size_t c = 0; c < queries.size(); ++c) {
          double mean = 0, variance = 1;
          for (size_t i = 0; i < n; ++i)
            for (size_t j = 0; j < n; ++j)
              mean +=
                  kernel(points, points.at(i), queries.at(c), lengths) * inverse[i][j] * values[j];
          for (size_t i = 0; i < n + pending_count; ++i)
            for (size_t j = 0; j < n + pending_count; ++j)
              variance -= kernel(points, points.at(i), queries.at(c), lengths) *
                          inverse_with_pending[i][j] *
                          kernel(points, points.at(j), queries.at(c), lengths);
          CHECK(predictions[c].mean == Approx(mean).margin(1e-9));
          CHECK(predictions[c].deviation == Approx(std::sqrt(variance)).margin(1e-7));
        }
      }
}

TEST_CASE("Likely lengths are short along what values depend on") {
  std::mt19937 random(2);
  Points points = random_points(40, 3, random);
  std::vector<double> values;
  for (size_t i = 0; i < points.size(); ++i) values.push_back(std::sin(12 * points.at(i)[0]));
  const auto lengths = GaussianProcess::likely_length_scales(points, values, 1e-4);
  CHECK(lengths[0] < 0.5);
  CHECK(lengths[2] > 2 * lengths[0]);
}
