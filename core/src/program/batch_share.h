// The share of a batch that this process computes, and the ops that make of the shares of all
// processes what one process with the whole batch has.
#pragma once
#include <algorithm>

#include "crescent/tensor/tensor.h"

namespace crescent {

/// Rows [first, first + count) of the `whole` ones of a batch. A share without rows computes one
/// row all the same, so that every process runs the same ops, and its results count for nothing.
struct Share {
  int64_t first = 0, count = 0, whole = 0;  ///< whole: 0 where batches are not shared
  /// The share of process `rank` of `size`.
  static Share of(int64_t whole, int rank, int size) {
    const int64_t first = whole * rank / size;
    return {first, whole * (rank + 1) / size - first, whole};
  }
  explicit operator bool() const { return whole > 0; }
  bool operator==(const Share&) const = default;
  // The first row and the number of rows that are computed.
  int64_t begin() const { return std::min(first, whole - 1); }
  int64_t rows() const { return std::max<int64_t>(count, 1); }
  /// The weight of a mean over this share in the mean over the batch.
  double weight() const { return static_cast<double>(count) / static_cast<double>(whole); }
};

/// While an object of this class lives, ops::all_reduce on this thread sums zeros for a share
/// without rows.
class ShareScope {
 public:
  explicit ShareScope(const Share& share);
  ~ShareScope();
  ShareScope(const ShareScope&) = delete;
  static bool is_empty();

 private:
  bool before_;
};

}  // namespace crescent
