// Large constants of a single number, such as the zeros that a gradient begins with: programs of
// all shapes read them in the same memory.
#pragma once
#include <array>
#include <mutex>
#include <vector>

#include "crescent/tensor/tensor.h"

namespace crescent::cpu {

class UniformConstants {
 public:
  /// The same values, where they are large and all one number in memory that others share.
  Tensor shared(const Tensor& constant);

 private:
  struct Entry {
    std::array<std::byte, 8> number;
    size_t size;  ///< bytes of the number
    std::weak_ptr<Storage> memory;
  };
  static std::shared_ptr<Storage> filled(const Entry& entry, size_t bytes);

  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace crescent::cpu
