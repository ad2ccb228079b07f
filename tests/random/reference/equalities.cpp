#include "random/reference/equalities.h"

#include <algorithm>

namespace crescent::random_programs {

void Equalities::take(std::vector<bool> are_equal) {
  if (next_ == comparisons_.size())
    comparisons_.push_back({are_equal, std::vector<bool>(are_equal.size())});
  Comparison& comparison = comparisons_[next_++];
  for (size_t i = 0; i < are_equal.size(); ++i)
    if (are_equal[i] != comparison.exact[i]) comparison.by_rounding[i] = true;
}

size_t Equalities::most_by_rounding() const {
  std::ptrdiff_t most = 0;
  for (const auto& [exact, by_rounding] : comparisons_)
    most = std::max(most, std::count(by_rounding.begin(), by_rounding.end(), true));
  return static_cast<size_t>(most);
}

}  // namespace crescent::random_programs
