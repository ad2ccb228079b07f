// AmxCut: the division of a matrix product on AMX tiles into parts.
#pragma once
#include <algorithm>
#include <limits>

#include "matmul/amx.h"
#include "matmul/matmul.h"

namespace crescent::cpu {

/// The largest number of values along k that is packed at a time. Four strips of rounded values fit
/// the first-level cache; split ones are multiplied so often that the second-level cache is fast
/// enough.
constexpr int64_t max_packed_depth(amx::Form form) { return form == amx::Form::split ? 256 : 288; }

/// Returns the size of pieces that together exceed `total_size` by as little as possible: a
/// multiple of `step`, and at most `max_piece_size` rounded up to such a multiple.
inline int64_t even_piece_size(int64_t total_size, int64_t max_piece_size, int64_t step) {
  int64_t best_size = 0, least_excess = std::numeric_limits<int64_t>::max();
  for (int64_t count = pieces(total_size, max_piece_size), end = 2 * count; count < end; ++count) {
    const int64_t size = pieces(pieces(total_size, count), step) * step,
                  excess = pieces(total_size, size) * size - total_size;
    if (excess < least_excess) best_size = size, least_excess = excess;
  }
  return best_size;
}

/// The division of a matrix product into blocks of the result and, for long sums, into partial
/// sums; it depends on shapes only. With more column blocks the packed strips of a are read more
/// often, with more row blocks those of b, and partial sums must be stored and added. For many
/// threads there are more blocks but the same sums, so results are bit-identical.
struct AmxCut {
  enum class ThreadCount { few, many };

  AmxCut(const MatmulPlan& p, bool packs_left, amx::Form form, ThreadCount thread_count)
      : thread_count(thread_count), rows(p.m), columns(p.n), depth(p.k) {
    halve(p, packs_left, form, ThreadCount::few);
    if (thread_count == ThreadCount::many) halve(p, packs_left, form, ThreadCount::many);
    constexpr int64_t kMaxLines = 512;  // largest number of lines per block
    rows = even_piece_size(p.m, std::min(rows, kMaxLines), amx::kBlock),
    columns = even_piece_size(p.n, std::min(columns, kMaxLines), amx::kBlock);
    depth = even_piece_size(p.k, depth, amx::kDepth);
    row_blocks = pieces(p.m, rows), column_blocks = pieces(p.n, columns), sums = pieces(p.k, depth);
    if (thread_count == ThreadCount::many) share_evenly(p);
  }

  /// Makes each block consist of whole rows of the result.
  void use_whole_rows(const MatmulPlan& p) {
    constexpr int64_t kMaxLines = 512, kMaxSums = 256 << 10;  // rows per block; values per block
    rows = p.m, columns = p.n;
    while (may_be_cut(p, thread_count) && rows >= 2 * amx::kBlock) rows = (rows + 1) / 2;
    rows = even_piece_size(
        p.m, std::min({rows, kMaxLines, std::max(amx::kBlock, kMaxSums / columns)}), amx::kBlock);
    row_blocks = pieces(p.m, rows), column_blocks = 1;
  }

  ThreadCount thread_count;
  int64_t rows, columns, depth;  ///< the size of a part, except at the edges
  int64_t row_blocks, column_blocks, sums;

 private:
  /// The number of parts that is enough for few threads, and for many threads.
  static constexpr int64_t kFewParts = 8, kEnoughParts = 16;

  /// Halves the parts along the dimension in which this costs least, until there are enough parts.
  /// Sums are only split for few threads.
  void halve(const MatmulPlan& p, bool packs_left, amx::Form form, ThreadCount thread_count) {
    const int64_t values_per_element = amx::parts(form), min_depth = max_packed_depth(form);
    while (may_be_cut(p, thread_count)) {
      constexpr int64_t kForbiddenCost = std::numeric_limits<int64_t>::max();
      const int64_t columns_cost = columns < 2 * amx::kBlock ? kForbiddenCost
                                   : packs_left && columns == p.n
                                       ? values_per_element * rows * depth
                                       : 0;
      const int64_t rows_cost = rows < 2 * amx::kBlock ? kForbiddenCost
                                : rows == p.m          ? values_per_element * columns * depth
                                                       : 0;
      const bool is_whole = depth < 2 * min_depth || thread_count == ThreadCount::many;
      const int64_t depth_cost =
          is_whole ? kForbiddenCost : rows * columns * (depth == p.k ? 8 : 2);
      const int64_t cheapest = std::min({columns_cost, rows_cost, depth_cost});
      if (cheapest == kForbiddenCost) break;
      int64_t& halved_size = cheapest == columns_cost ? columns
                             : cheapest == rows_cost  ? rows
                                                      : depth;
      halved_size = (halved_size + 1) / 2;
    }
  }

  /// Doubles the number of row blocks if otherwise some threads would get two parts and others one.
  void share_evenly(const MatmulPlan& p) {
    const int64_t parts = p.count() * row_blocks * column_blocks * sums;
    if (parts <= kEnoughParts || parts >= 2 * kEnoughParts || row_blocks == 1 ||
        rows < 2 * amx::kBlock)
      return;
    rows = even_piece_size(p.m, rows / 2, amx::kBlock), row_blocks = pieces(p.m, rows);
  }

  /// Whether there are too few parts and these are large enough to be halved.
  bool may_be_cut(const MatmulPlan& p, ThreadCount thread_count) const {
    const int64_t enough_parts = thread_count == ThreadCount::many ? kEnoughParts : kFewParts;
    constexpr double kMinWork = 1e6;  // fewest multiplications per part
    const double operations =
        static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(depth);
    return p.count() * pieces(p.m, rows) * pieces(p.n, columns) * pieces(p.k, depth) <
               enough_parts &&
           operations > 2 * kMinWork;
  }
};

}  // namespace crescent::cpu
