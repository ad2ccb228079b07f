// Tracks which interned texts are in use.
#pragma once
#include "crescent/tensor/strings.h"

namespace crescent {

/// Keeps the texts in the storage alive as long as the storage lives.
void watch_strings(const std::shared_ptr<Storage>& storage);
/// Keeps the texts of the tensor until the process ends, because a program may have copied their
/// ids.
void keep_strings(const Tensor& tensor);

/// While an object of this class lives, no text is freed. Runs of programs whose arena holds
/// strings have such an object.
class StringsInUse {
 public:
  StringsInUse();
  ~StringsInUse();
  StringsInUse(const StringsInUse&) = delete;
  StringsInUse& operator=(const StringsInUse&) = delete;
};

}  // namespace crescent
