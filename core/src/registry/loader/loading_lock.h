// The lock of the plugin loader.
#pragma once
#include <atomic>
#include <mutex>
#include <thread>

namespace crescent {

/// The thread that holds the lock may lock it again, because the setup of a plugin may load others.
/// The same holds in a copy of the process, where a std::recursive_mutex would wait forever because
/// the thread has another id there.
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
  int depth_ = 0;  // the number of locks that the owner holds
};

}  // namespace crescent
