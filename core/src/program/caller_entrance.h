// A lock that a caller of a function holds only until the function has found its program (which may
// be traced), not while the program runs.
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
      : outer_(std::exchange(current_, &entrance)) {}
  ~UnlockOnLookup() { current_ = outer_; }
  UnlockOnLookup(const UnlockOnLookup&) = delete;

 private:
  friend class TransferredLock;
  std::unique_lock<ReadersWriterLock>* outer_;
  inline static thread_local std::unique_lock<ReadersWriterLock>* current_ = nullptr;
};

/// Takes the lock of UnlockOnLookup over at the beginning of a function call, so that function
/// calls within it do not unlock it.
class TransferredLock {
 public:
  TransferredLock() : entrance_(std::exchange(UnlockOnLookup::current_, nullptr)) {}
  TransferredLock(const TransferredLock&) = delete;
  void unlock() const {
    if (entrance_) entrance_->unlock();
  }

 private:
  std::unique_lock<ReadersWriterLock>* entrance_;
};

}  // namespace crescent
