// Orders the entries of a list that was recorded shard by shard, so that each reduction over all
// shards stands after the values that it reduces and before the values that are computed from its
// result.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

namespace crescent {

/// Positions in a list that belong to one shard: the beginning of its section, the position of each
/// of its reductions, and the end of its section.
using ShardCuts = std::vector<size_t>;

/// Reorders a list that contains the sections of all shards, one after another, and then an entry
/// for each reduction. The result contains the entries of all shards before their first reduction,
/// the entry of that reduction, the entries of all shards between the first and the second
/// reduction, and so on.
template <class T>
void interleave(std::vector<T>& list, const std::vector<ShardCuts>& shards) {
  const size_t reduction_count = shards.front().size() - 2, first_reduction = shards.back().back();
  std::vector<T> result;
  result.reserve(list.size());
  for (size_t i = 0; i < shards.front().front(); ++i) result.push_back(std::move(list[i]));
  for (size_t k = 0; k <= reduction_count; ++k) {
    for (const ShardCuts& cuts : shards)
      for (size_t i = cuts[k]; i < cuts[k + 1]; ++i) result.push_back(std::move(list[i]));
    if (k < reduction_count) result.push_back(std::move(list[first_reduction + k]));
  }
  list = std::move(result);
}

}  // namespace crescent
