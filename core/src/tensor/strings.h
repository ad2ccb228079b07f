// Which texts are in use.
#pragma once
#include "crescent/tensor/strings.h"

namespace crescent {

/// Texts that the storage holds stay as long as it lives.
void watch_strings(const std::shared_ptr<Storage>& storage);
/// The texts of the tensor stay for good: a program may have copied its values.
void keep_strings(const Tensor& tensor);

/// While a program runs that has strings in memory of its own, no text goes.
class StringsInUse {
 public:
  StringsInUse();
  ~StringsInUse();
  StringsInUse(const StringsInUse&) = delete;
  StringsInUse& operator=(const StringsInUse&) = delete;
};

}  // namespace crescent
