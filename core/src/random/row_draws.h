// Gives a share of a batch the random numbers that its rows have in the whole batch.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "crescent/ops/random.h"
#include "program/batch_share.h"

namespace crescent {

/// Which axis of a drawn tensor has the rows of the batch, and how many elements of that axis
/// belong to each row.
struct RowsInDraw {
  int axis = 0;
  int64_t each = 0;  ///< 0: the draw does not depend on the rows of the batch
};

/// Finds out how each draw of a computation depends on the number of rows, by comparing the shapes
/// drawn for two numbers of rows. The result is in the order of the draws.
std::vector<RowsInDraw> rows_in_draws(const std::function<void(int64_t rows)>& compute);

/// While an object of this class lives, each draw of this thread draws the numbers of the whole
/// batch and returns those of the rows of the share. `draws` describes the draws in their order.
class RowDraws {
 public:
  /// `drawn` stores the draws of the whole batch, so that all shares of a program use the same.
  RowDraws(const Share& share, const std::vector<RowsInDraw>& draws, Tensors* drawn = nullptr);
  ~RowDraws();
  RowDraws(const RowDraws&) = delete;

  /// Returns draw(asked), or the rows of the share in what `draw` returns for the whole batch.
  static Tensor drawn(const Shape& asked, const std::function<Tensor(const Shape&)>& draw);
  /// The state that `take` returns for a draw that an op makes itself, and the first of the share's
  /// rows. Returns nullopt, without a draw, if the rows of the batch are not in axis 0.
  static std::optional<SeedGenerator::DrawState> state(const Shape& asked,
                                                       const std::function<Tensor()>& take);

 private:
  RowsInDraw rows() const { return next_ < draws_.size() ? draws_[next_] : RowsInDraw{}; }
  Tensor next(const Shape& asked, const std::function<Tensor(const Shape&)>& draw);
  /// Returns the draw of the whole batch, which is made once for all shards of a program.
  Tensor take(const std::function<Tensor()>& draw);
  static RowDraws*& in_use();

  Share share_;
  const std::vector<RowsInDraw>& draws_;
  Tensors* drawn_;
  size_t next_ = 0;
  RowDraws* before_;
};

}  // namespace crescent
