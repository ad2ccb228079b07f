// Mixed precision: inside the call of a layer whose policy says so, its trained weights read as
// narrower numbers.
#pragma once
#include <optional>

#include "crescent/tensor/tensor.h"

namespace crescent {

/// While alive, floating trainable variables read on this thread are cast to this dtype; none: they
/// are as they are.
class Autocast {
 public:
  explicit Autocast(std::optional<DType> dtype);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  static std::optional<DType> current();

 private:
  std::optional<DType> before_;
};

}  // namespace crescent
