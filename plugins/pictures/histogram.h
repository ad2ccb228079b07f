// How often values lie in intervals of equal size.
#pragma once
#include <cstdint>
#include <vector>

namespace crescent::pictures {

struct Histogram {
  std::vector<double> edges, counts;  ///< there is one more edge than counts
};

inline constexpr int64_t kMostBins = 10'000;

/// Counts the finite values; with 0 `bins` there are as many as the square root of their number, of
/// at least 5 and at most 50. The last interval contains its upper edge.
Histogram histogram_of(const std::vector<double>& values, int64_t bins);

}  // namespace crescent::pictures
