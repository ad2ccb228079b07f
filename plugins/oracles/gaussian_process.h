// Gaussian process regression in float64, with a Matern kernel of smoothness 5/2.
#pragma once
#include <cstddef>
#include <vector>

namespace crescent {

/// Points with coordinates from 0 to 1. Along a categorical coordinate the distance of two points
/// is 0 or 1.
struct Points {
  size_t dimensions = 0;
  std::vector<char> categorical;  ///< for each dimension, whether it is categorical
  std::vector<double> coordinates;

  size_t size() const { return dimensions == 0 ? 0 : coordinates.size() / dimensions; }
  const double* at(size_t i) const { return coordinates.data() + i * dimensions; }
  void add(const std::vector<double>& point) {
    coordinates.insert(coordinates.end(), point.begin(), point.end());
  }
};

class GaussianProcess {
 public:
  /// A prediction at a point: a normal distribution.
  struct Normal {
    double mean, deviation;
  };

  /// `values`, which should have mean 0 and standard deviation 1, are the values at the first
  /// points. The values at the other points are not known yet: these points reduce the deviations
  /// of predictions near them, but do not change the means. `noise` is the variance of a value
  /// about the function, `length_scales` are the length scales of the dimensions.
  GaussianProcess(Points points, std::vector<double> values, std::vector<double> length_scales,
                  double noise);
  /// Returns length scales for which the values have a high likelihood.
  static std::vector<double> likely_length_scales(const Points& points,
                                                  const std::vector<double>& values, double noise);

  std::vector<Normal> predict(const Points& points) const;
  /// The logarithm of the likelihood of the values, up to a constant.
  double log_likelihood() const;

 private:
  Points points_;
  std::vector<double> values_, length_scales_;
  std::vector<double> factor_;  ///< lower triangle of the Cholesky factor, row by row
  /// The mean of a prediction is the sum of its correlations with the points, times these weights;
  /// points without a value have weight 0.
  std::vector<double> weights_;
};

}  // namespace crescent
