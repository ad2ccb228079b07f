// StorageHold: while an object of this class exists for a storage, writes to single elements of the
// storage are refused.
#pragma once
#include <memory>
#include <utility>

#include "crescent/tensor/tensor.h"

namespace crescent {

/// While an object of this class lives, is_held() is true for the storage. The object does not keep
/// the storage alive.
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
