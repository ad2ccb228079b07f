// The lock of the plugin loader.
#pragma once
#include <atomic>
#include <mutex>
#include <thread>

namespace crescent {

/// A recursive lock: the thread that holds it may lock it again, because the setup of a plugin may
/// load other plugins. It works in a fork of the process too, where a std::recursive_mutex would
/// wait forever, because the thread has another id there.
class LoadingLock {
 public:
  void lock() {
    if (owner_thread_ != std::this_thread::get_id()) mutex_.lock();
    owner_thread_ = std::this_thread::get_id();
    ++lock_count_;
  }
  void unlock() {
    if (--lock_count_ > 0) return;
    owner_thread_ = std::thread::id();
    mutex_.unlock();
  }

 private:
  std::mutex mutex_;
  std::atomic<std::thread::id> owner_thread_;
  int lock_count_ = 0;  // the number of locks that the owner holds
};

}  // namespace crescent
