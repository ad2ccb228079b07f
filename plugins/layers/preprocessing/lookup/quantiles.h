// Approximate quantiles of a stream in little memory, by the summaries of Keras.
#pragma once
#include <cstdint>
#include <vector>

namespace crescent {

/// Some of the values, sorted, and the number of values that each represents.
struct Summary {
  std::vector<float> values, weights;
};

/// Summarizes values; `epsilon` is the fraction of values that each value of the summary
/// represents.
Summary summary_of(std::vector<float> values, double epsilon);
Summary merged(const Summary& newer, const Summary& older, double epsilon);
/// The boundaries of `bins` bins with about the same number of values; fewer if there are fewer
/// values.
std::vector<double> boundaries_of(const Summary& summary, int64_t bins);

}  // namespace crescent
