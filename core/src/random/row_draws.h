// Random draws for a share (some rows) of a batch: each row gets the same random numbers as when
// the whole batch is computed at once.
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
/// whole batch and returns those for the rows of `share`. `draws` describes the draws in their
/// order.
class RowDraws {
 public:
  /// `stored_draws` stores the draws of the whole batch, so that all shares of a program use the
  /// same numbers.
  RowDraws(const Share& share, const std::vector<RowsInDraw>& draws,
           Tensors* stored_draws = nullptr);
  ~RowDraws();
  RowDraws(const RowDraws&) = delete;

  /// Returns draw(shape) or, while an object of this class lives, the rows of the share from the
  /// result of `draw` for the shape of the whole batch.
  static Tensor draw_rows(const Shape& shape, const std::function<Tensor(const Shape&)>& draw);
  /// For ops that draw numbers themselves: returns the state of a draw, which `take_state` returns,
  /// and the row of the draw at which the rows of the share begin. Returns nullopt, without a draw,
  /// if the rows of the batch are not in axis 0.
  static std::optional<SeedGenerator::DrawState> state(const Shape& shape,
                                                       const std::function<Tensor()>& take_state);

 private:
  RowsInDraw rows_of_next_draw() const {
    return next_draw_ < draws_.size() ? draws_[next_draw_] : RowsInDraw{};
  }
  Tensor next_draw(const Shape& shape, const std::function<Tensor(const Shape&)>& draw);
  /// Returns the draw of the whole batch, which is made once for all shares of a program.
  Tensor draw_once(const std::function<Tensor()>& draw);
  static RowDraws*& current_draws();

  Share share_;
  const std::vector<RowsInDraw>& draws_;
  Tensors* stored_draws_;
  size_t next_draw_ = 0;
  RowDraws* outer_draws_;
};

}  // namespace crescent
