// A lock that the caller of a Function holds until the function has found or traced its program,
// but not while the program runs.
#pragma once
#include <mutex>
#include <utility>

#include "base/readers_writer_lock.h"

namespace crescent {

/// While an object of this class lives, the next function call on this thread unlocks `entrance`
/// once it has found its program and read the variables.
class UnlockOnLookup {
 public:
  explicit UnlockOnLookup(std::unique_lock<ReadersWriterLock>& entrance)
      : outer_entrance_(std::exchange(current_entrance_, &entrance)) {}
  ~UnlockOnLookup() { current_entrance_ = outer_entrance_; }
  UnlockOnLookup(const UnlockOnLookup&) = delete;

 private:
  friend class TransferredLock;
  std::unique_lock<ReadersWriterLock>* outer_entrance_;
  inline static thread_local std::unique_lock<ReadersWriterLock>* current_entrance_ = nullptr;
};

/// Takes the lock over from UnlockOnLookup at the beginning of a function call, so that nested
/// function calls do not unlock it.
class TransferredLock {
 public:
  TransferredLock() : entrance_(std::exchange(UnlockOnLookup::current_entrance_, nullptr)) {}
  TransferredLock(const TransferredLock&) = delete;
  void unlock() const {
    if (entrance_) entrance_->unlock();
  }

 private:
  std::unique_lock<ReadersWriterLock>* entrance_;
};

}  // namespace crescent
