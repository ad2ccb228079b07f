// The share of a batch that this process computes. Ops combine the shares of all processes to the
// values that one process with the whole batch would compute.
#pragma once
#include <algorithm>

#include "crescent/tensor/tensor.h"

namespace crescent {

/// A share of a batch of `whole` rows: the `count` rows that begin with row `first`. A share
/// without rows computes one row nevertheless, so that every process runs the same ops; the results
/// for that row are not used.
struct Share {
  int64_t first = 0, count = 0, whole = 0;  ///< whole: 0 if batches are not shared
  int64_t shards = 0;  ///< the number of logical shards of the batch; 0 unless op determinism is on
  /// The share of the process `rank` among `process_count` processes.
  static Share of(int64_t whole, int rank, int process_count) {
    const int64_t first = whole * rank / process_count;
    return {first, whole * (rank + 1) / process_count - first, whole};
  }
  /// Returns the whole batch, divided into logical shards. Their number depends only on the number
  /// of rows.
  static Share in_shards(int64_t whole) {
    constexpr int64_t kMaxShards = 8, kMinRows = 8;
    return {0, whole, whole, std::clamp<int64_t>(whole / kMinRows, 1, kMaxShards)};
  }
  /// The rows of the logical shard `index`.
  Share shard(int64_t index) const {
    return of(whole, static_cast<int>(index), static_cast<int>(shards));
  }
  explicit operator bool() const { return whole > 0; }
  bool operator==(const Share&) const = default;
  // begin() is the first row that is computed, rows() the number of computed rows.
  int64_t begin() const { return std::min(first, whole - 1); }
  int64_t rows() const { return std::max<int64_t>(count, 1); }
  /// The weight of the mean over this share in the mean over the batch.
  double weight() const { return static_cast<double>(count) / static_cast<double>(whole); }
};

/// While an object of this class lives, this thread calls layers on the rows of the share, and if
/// the share has no rows, ops::all_reduce contributes zeros to sums.
class ShareScope {
 public:
  explicit ShareScope(const Share& share);
  ~ShareScope();
  ShareScope(const ShareScope&) = delete;
  /// The share of the innermost scope; empty outside of all scopes.
  static const Share& current();
  static bool is_empty() { return current() && current().count == 0; }

 private:
  Share outer_share_;
};

}  // namespace crescent
