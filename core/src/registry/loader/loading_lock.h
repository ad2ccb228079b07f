// The lock of loading.
#pragma once
#include <atomic>
#include <mutex>
#include <thread>

namespace crescent {

/// The thread that holds it may lock it again: a plugin's setup asks the loader too. So may that
/// thread in a copy of the process, where a std::recursive_mutex would wait without end for an
/// owner with another number.
class LoadingLock {
 public:
  void lock() {
    if (owner_ != std::this_thread::get_id()) mutex_.lock();
    owner_ = std::this_thread::get_id();
    ++depth_;
  }
  void unlock() {
    if (--depth_ > 0) return;
    owner_ = std::thread::id();
    mutex_.unlock();
  }

 private:
  std::mutex mutex_;
  std::atomic<std::thread::id> owner_;
  int depth_ = 0;  // of the owner's locks
};

}  // namespace crescent
