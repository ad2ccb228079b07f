// Gives a share of a batch the random numbers that its rows have in the whole batch.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "crescent/ops/random.h"
#include "program/batch_share.h"

namespace crescent {

/// The axis of a drawn tensor that has the rows of the batch, and the number of elements of that
/// axis that belong to each row.
struct RowsInDraw {
  int axis = 0;
  int64_t per_row = 0;  ///< 0: the draw does not depend on the rows of the batch
};

/// Finds out how each draw of a computation depends on the number of rows, by comparing the
/// shapes drawn for two numbers of rows. The result is in the order of the draws.
std::vector<RowsInDraw> rows_in_draws(const std::function<void(int64_t rows)>& compute);

/// While an object of this class lives, each random draw of this thread draws the numbers for the
/// whole batch and returns those for the rows of this process's share of the batch. `draws`
/// describes the draws in their order.
class RowDraws {
 public:
  /// `drawn` stores the draws of the whole batch, so that all shares of a program use the same.
  RowDraws(const Share& share, const std::vector<RowsInDraw>& draws, Tensors* drawn = nullptr);
  ~RowDraws();
  RowDraws(const RowDraws&) = delete;

  /// Returns draw(shape), or the rows of the share in what `draw` returns for the whole batch.
  static Tensor draw_rows(const Shape& shape, const std::function<Tensor(const Shape&)>& draw);
  /// For a draw that an op makes itself: the state of the draw, which `take` returns, and the row
  /// of the draw at which the rows of the share begin. Returns nullopt, without a draw, if the rows
  /// of the batch are not in axis 0.
  static std::optional<SeedGenerator::DrawState> state(const Shape& shape,
                                                       const std::function<Tensor()>& take);

 private:
  RowsInDraw rows() const { return next_draw_ < draws_.size() ? draws_[next_draw_] : RowsInDraw{}; }
  Tensor next_draw(const Shape& shape, const std::function<Tensor(const Shape&)>& draw);
  /// Returns the draw of the whole batch, which is made once for all shards of a program.
  Tensor draw_once(const std::function<Tensor()>& draw);
  static RowDraws*& current_draws();

  Share share_;
  const std::vector<RowsInDraw>& draws_;
  Tensors* stored_draws_;
  size_t next_draw_ = 0;
  RowDraws* outer_;
};

}  // namespace crescent
