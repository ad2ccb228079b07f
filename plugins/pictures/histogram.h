// Histograms with intervals of equal size.
#pragma once
#include <cstdint>
#include <vector>

namespace crescent::pictures {

struct Histogram {
  std::vector<double> edges, counts;  ///< there is one more edge than counts
};

inline constexpr int64_t kMaxBins = 10'000;

/// Counts the finite values. If `bins` is 0, the number of bins is the square root of the number of
/// values, from 5 to 50. The last interval contains its upper edge.
Histogram histogram_of(const std::vector<double>& values, int64_t bins);

}  // namespace crescent::pictures
