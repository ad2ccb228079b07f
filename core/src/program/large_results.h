// Keeps ops from computing large results during shape inference, in which large numbers stand for
// unknown sizes.
#pragma once
#include <cstdint>
#include <optional>

#include "crescent/tensor/tensor.h"

namespace crescent {

/// While an object of this class lives, ops on this thread return abstract tensors in place of
/// results with at least `min_elements` elements. If `min_elements` is nullopt, ops compute all
/// results, even within the scope of another object of this class.
class LargeResultsAbstract {
 public:
  explicit LargeResultsAbstract(std::optional<int64_t> min_elements);
  ~LargeResultsAbstract();
  LargeResultsAbstract(const LargeResultsAbstract&) = delete;
  /// Whether ops now return an abstract tensor in place of a result of this shape. All sizes of the
  /// shape must be known.
  static bool includes(const Shape& shape);

 private:
  std::optional<int64_t> previous_min_elements_;
};

}  // namespace crescent
