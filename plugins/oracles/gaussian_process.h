// Regression by a Gaussian process with a Matern kernel of smoothness 5/2, in double.
#pragma once
#include <cstddef>
#include <vector>

namespace crescent {

/// Points as rows of coordinates from 0 to 1. Along categorical coordinates, two points are alike
/// or at distance 1.
struct Points {
  size_t dimensions = 0;
  std::vector<char> categorical;  ///< one flag a dimension
  std::vector<double> coordinates;

  size_t size() const { return dimensions == 0 ? 0 : coordinates.size() / dimensions; }
  const double* at(size_t i) const { return coordinates.data() + i * dimensions; }
  void add(const std::vector<double>& point) {
    coordinates.insert(coordinates.end(), point.begin(), point.end());
  }
};

class GaussianProcess {
 public:
  /// A prediction at a point.
  struct Normal {
    double mean, deviation;
  };

  /// The process given values, which should have mean 0 and deviation 1, at the first of the
  /// points. At the others values are expected that are not known yet: they make predictions surer,
  /// as if they were what is predicted. `noise` is the variance of a value about the function,
  /// `lengths` are the scales of the dimensions.
  GaussianProcess(Points points, std::vector<double> values, std::vector<double> lengths,
                  double noise);
  /// Length scales that make the values likely.
  static std::vector<double> likely_lengths(const Points& points, const std::vector<double>& values,
                                            double noise);

  std::vector<Normal> predict(const Points& points) const;
  /// The logarithm of the density of the values, up to a constant.
  double log_likelihood() const;

 private:
  Points points_;
  std::vector<double> values_, lengths_;
  std::vector<double> factor_;   ///< lower triangle of the Cholesky factor, row by row
  std::vector<double> weights_;  ///< what correlations with points are multiplied by
};

}  // namespace crescent
