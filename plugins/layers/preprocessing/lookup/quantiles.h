// Approximate quantiles of a stream of numbers in little memory, by the same summaries as in Keras.
#pragma once
#include <cstdint>
#include <vector>

namespace crescent {

/// A sorted selection of the values, and for each the number of values that it represents.
struct Summary {
  std::vector<float> values, weights;
};

/// Summarizes values; `epsilon` is the fraction of values that each value of the summary
/// represents.
Summary summary_of(std::vector<float> values, double epsilon);
Summary merge_summaries(const Summary& newer, const Summary& older, double epsilon);
/// The boundaries of `bins` bins with about the same number of values; fewer if there are fewer
/// values.
std::vector<double> boundaries_of(const Summary& summary, int64_t bins);

}  // namespace crescent
