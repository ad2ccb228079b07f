// UniformConstants: large constants whose elements all equal one number, such as the zeros that a
// gradient begins with. Programs of all shapes read them from the same memory.
#pragma once
#include <array>
#include <mutex>
#include <vector>

#include "crescent/tensor/tensor.h"

namespace crescent::cpu {

class UniformConstants {
 public:
  /// Returns a tensor equal to `constant` in shared memory if `constant` is large and uniform, else
  /// `constant` itself.
  Tensor shared(const Tensor& constant);

 private:
  struct Entry {
    std::array<std::byte, 8> number;
    size_t size;  ///< size of the number in bytes
    std::weak_ptr<Storage> memory;
  };
  static std::shared_ptr<Storage> filled_storage(const Entry& entry, size_t bytes);

  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace crescent::cpu
