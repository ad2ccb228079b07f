// Mixed precision: during the call of a layer with a mixed policy, reads of trainable variables are
// cast to the compute dtype.
#pragma once
#include <optional>

#include "crescent/tensor/tensor.h"

namespace crescent {

/// While an object of this class lives, floating trainable variables that this thread reads are
/// cast to `dtype`; without `dtype` they are not cast.
class Autocast {
 public:
  explicit Autocast(std::optional<DType> dtype);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  static std::optional<DType> current();

 private:
  std::optional<DType> outer_dtype_;
};

}  // namespace crescent
