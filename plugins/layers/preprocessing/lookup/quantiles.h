// Values of a stream in little memory, and where they part into equal shares: Keras' summaries.
#pragma once
#include <cstdint>
#include <vector>

namespace crescent {

/// Some of the values, in order, and for how many each stands.
struct Summary {
  std::vector<float> values, weights;
};

/// `epsilon`: the share of the values that one of the summary stands for.
Summary summary_of(std::vector<float> values, double epsilon);
Summary merged(const Summary& newer, const Summary& older, double epsilon);
/// What parts the values into `bins` of about equal weight; fewer when there are fewer values.
std::vector<double> boundaries_of(const Summary& summary, int64_t bins);

}  // namespace crescent
