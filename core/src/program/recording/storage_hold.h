// StorageHold: a claim that the bytes of a storage stay unchanged, which writes to single elements
// respect.
#pragma once
#include <memory>
#include <utility>

#include "crescent/tensor/tensor.h"

namespace crescent {

/// While it lives, is_held() is true for the storage, which it does not keep alive.
class StorageHold {
 public:
  StorageHold() = default;
  explicit StorageHold(const std::shared_ptr<Storage>& storage);
  StorageHold(StorageHold&& other) noexcept : storage_(std::exchange(other.storage_, {})) {}
  StorageHold& operator=(StorageHold&& other) noexcept {
    std::swap(storage_, other.storage_);
    return *this;
  }
  ~StorageHold();

 private:
  std::weak_ptr<Storage> storage_;
};

bool is_held(const std::shared_ptr<Storage>& storage);

}  // namespace crescent
