#include "gaussian_process.h"

#include <algorithm>
#include <cmath>

namespace crescent {
namespace {

/// The Matern correlation of two points at this squared distance, in units of the length scales.
double matern(double squared_length) {
  const double scaled_length = std::sqrt(5 * squared_length);
  return (1 + scaled_length + scaled_length * scaled_length / 3) * std::exp(-scaled_length);
}

double squared_distance(const Points& points, const double* a, const double* b,
                        const std::vector<double>& length_scales) {
  double sum = 0;
  for (size_t d = 0; d < points.dimensions; ++d) {
    const double difference = points.categorical[d] ? (a[d] != b[d] ? 1 : 0) : a[d] - b[d];
    sum += difference * difference / (length_scales[d] * length_scales[d]);
  }
  return sum;
}

/// The lower Cholesky factor of the matrix of correlations, with `noise` added to its diagonal.
std::vector<double> cholesky_factor(const Points& points, const std::vector<double>& length_scales,
                                    double noise) {
  const size_t n = points.size();
  std::vector<double> l(n * n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double sum =
          i == j ? 1 + noise
                 : matern(squared_distance(points, points.at(i), points.at(j), length_scales));
      for (size_t k = 0; k < j; ++k) sum -= l[i * n + k] * l[j * n + k];
      l[i * n + j] = i == j ? std::sqrt(std::max(sum, noise)) : sum / l[j * n + j];
    }
  }
  return l;
}

/// Solves L L^T x = values, where L is the leading part of the (n, n) factor `l` with as many rows
/// as there are values. The values are given in the argument x.
std::vector<double> solve_cholesky(const std::vector<double>& l, size_t n, std::vector<double> x) {
  const size_t value_count = x.size();
  for (size_t i = 0; i < value_count; ++i) {
    for (size_t k = 0; k < i; ++k) x[i] -= l[i * n + k] * x[k];
    x[i] /= l[i * n + i];
  }
  for (size_t i = value_count; i-- > 0;) {
    for (size_t k = i + 1; k < value_count; ++k) x[i] -= l[k * n + i] * x[k];
    x[i] /= l[i * n + i];
  }
  return x;
}

}  // namespace

GaussianProcess::GaussianProcess(Points points, std::vector<double> values,
                                 std::vector<double> length_scales, double noise)
    : points_(std::move(points)),
      values_(std::move(values)),
      length_scales_(std::move(length_scales)),
      factor_(cholesky_factor(points_, length_scales_, noise)),
      weights_(solve_cholesky(factor_, points_.size(), values_)) {
  weights_.resize(points_.size());
}

double GaussianProcess::log_likelihood() const {
  const size_t n = points_.size();
  double sum = 0;
  for (size_t i = 0; i < values_.size(); ++i)
    sum -= values_[i] * weights_[i] / 2 + std::log(factor_[i * n + i]);
  return sum;
}

std::vector<double> GaussianProcess::likely_length_scales(const Points& points,
                                                          const std::vector<double>& values,
                                                          double noise) {
  constexpr double kLengthScales[] = {0.1, 0.2, 0.4, 0.8, 1.6};
  std::vector<double> best(points.dimensions, 0.4);
  double best_likelihood = -INFINITY;
  const auto try_length_scales = [&](const std::vector<double>& length_scales) {
    // Length scales near half the size of the space are preferred by this prior.
    double log_prior = 0;
    for (const double length : length_scales) log_prior -= std::pow(std::log(length / 0.5), 2) / 4;
    const double likelihood =
        GaussianProcess(points, values, length_scales, noise).log_likelihood() + log_prior;
    if (likelihood > best_likelihood) best_likelihood = likelihood, best = length_scales;
  };
  for (const double scale : kLengthScales)
    try_length_scales(std::vector<double>(points.dimensions, scale));
  for (size_t d = 0; d < points.dimensions; ++d)
    for (const double factor : {0.5, 2.0, 4.0}) {
      std::vector<double> length_scales = best;
      length_scales[d] *= factor;
      try_length_scales(length_scales);
    }
  return best;
}

std::vector<GaussianProcess::Normal> GaussianProcess::predict(const Points& points) const {
  const size_t n = points_.size(), m = points.size();
  // For each point c, column c of `solved_correlations` is L^-1 times the correlations of the
  // observed points with point c. It is stored by rows, so that the inner loops run over points.
  std::vector<double> solved_correlations(n * m), means(m), explained_variances(m);
  for (size_t i = 0; i < n; ++i) {
    double* row = solved_correlations.data() + i * m;
    for (size_t c = 0; c < m; ++c) {
      row[c] = matern(squared_distance(points, points_.at(i), points.at(c), length_scales_));
      means[c] += row[c] * weights_[i];
    }
    for (size_t k = 0; k < i; ++k) {
      const double factor = factor_[i * n + k];
      const double* solved_row = solved_correlations.data() + k * m;
      for (size_t c = 0; c < m; ++c) row[c] -= factor * solved_row[c];
    }
    for (size_t c = 0; c < m; ++c) {
      row[c] /= factor_[i * n + i];
      explained_variances[c] += row[c] * row[c];
    }
  }
  std::vector<Normal> predictions(m);
  for (size_t c = 0; c < m; ++c)
    predictions[c] = {means[c], std::sqrt(std::max(1 - explained_variances[c], 1e-12))};
  return predictions;
}

}  // namespace crescent
