// Random numbers of a share of a batch: those that its rows have in the whole batch.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "program/batch_share.h"

namespace crescent {

/// Where the rows of a batch are in a draw: the axis, and how many of its elements a row has.
struct RowsInDraw {
  int axis = 0;
  int64_t each = 0;  ///< 0: the draw has no rows of the batch
};

/// How the draws of a computation, in their order, depend on the number of rows: found by comparing
/// what it draws for two numbers.
std::vector<RowsInDraw> rows_in_draws(const std::function<void(int64_t rows)>& compute);

/// While an object of this class lives, the draws of this thread are, in their order, the rows of
/// the share in the draws of the whole batch.
class RowDraws {
 public:
  RowDraws(const Share& share, const std::vector<RowsInDraw>& draws);
  ~RowDraws();
  RowDraws(const RowDraws&) = delete;

  /// The shape that is drawn for one that is asked for.
  static Shape whole(const Shape& asked);
  /// The rows of the share of what was drawn. Each draw calls both.
  static Tensor own(const Tensor& drawn);

 private:
  const RowsInDraw* current() const;
  static RowDraws*& in_use();

  Share share_;
  const std::vector<RowsInDraw>& draws_;
  size_t next_ = 0;
  RowDraws* before_;
};

}  // namespace crescent
