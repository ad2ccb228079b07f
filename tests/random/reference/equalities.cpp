#include "random/reference/equalities.h"

#include <algorithm>

namespace crescent::random_programs {

void Equalities::add(std::vector<bool> are_equal) {
  if (next_comparison_ == comparisons_.size())
    comparisons_.push_back({are_equal, std::vector<bool>(are_equal.size())});
  Comparison& comparison = comparisons_[next_comparison_++];
  for (size_t i = 0; i < are_equal.size(); ++i)
    if (are_equal[i] != comparison.exact[i]) comparison.differs_by_rounding[i] = true;
}

size_t Equalities::most_by_rounding() const {
  std::ptrdiff_t largest_count = 0;
  for (const auto& [exact, differs_by_rounding] : comparisons_)
    largest_count = std::max(
        largest_count, std::count(differs_by_rounding.begin(), differs_by_rounding.end(), true));
  return static_cast<size_t>(largest_count);
}

}  // namespace crescent::random_programs
