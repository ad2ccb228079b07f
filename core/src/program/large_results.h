// Ops whose large results are not computed, for shape inference in which a large number stands for
// a size that is not known.
#pragma once
#include <cstdint>
#include <optional>

#include "crescent/tensor/tensor.h"

namespace crescent {

/// While an object of this class lives, ops on this thread return abstract tensors where a result
/// has at least `min_elements` elements; nullopt: they compute all results, also if an object that
/// was made earlier says otherwise.
class LargeResultsAbstract {
 public:
  explicit LargeResultsAbstract(std::optional<int64_t> min_elements);
  ~LargeResultsAbstract();
  LargeResultsAbstract(const LargeResultsAbstract&) = delete;
  /// Whether a result of this shape, whose sizes are known, is not computed now.
  static bool includes(const Shape& shape);

 private:
  std::optional<int64_t> previous_min_elements_;
};

}  // namespace crescent
