// ReadersWriterLock: several readers run at the same time, a writer runs alone. Every thread first
// locks a mutex, the entrance. A reader unlocks it as soon as it has copied the state that it
// needs; a writer keeps it and waits until all readers have finished.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>

namespace crescent {

class ReadersWriterLock {
 public:
  /// Makes the current thread, which must hold the entrance, a reader as long as the object lives.
  /// A reader must not lock the entrance again: a writer may hold it while it waits for this
  /// reader.
  class ReadScope {
   public:
    explicit ReadScope(ReadersWriterLock& lock) : lock_(lock), outer_(innermost_) {
      innermost_ = this;
      const uint32_t begun_before = lock_.begun_readers_.load(std::memory_order_relaxed);
      lock_.begun_readers_.store(begun_before + 1, std::memory_order_relaxed);
    }
    ~ReadScope() {
      innermost_ = outer_;
      lock_.finished_readers_.fetch_add(1, std::memory_order_release);
      lock_.finished_readers_.notify_all();
    }
    ReadScope(const ReadScope&) = delete;

   private:
    friend class ReadersWriterLock;
    ReadersWriterLock& lock_;
    const ReadScope* outer_;
    inline static thread_local const ReadScope* innermost_ = nullptr;
  };

  // lock() and unlock() lock and unlock the entrance, a recursive mutex.
  void lock() { entrance_.lock(); }
  void unlock() { entrance_.unlock(); }
  /// Waits for all readers to finish, so that the holder of the entrance becomes a writer until it
  /// unlocks.
  void wait_for_readers() const {
    const uint32_t begun_count = begun_readers_.load(std::memory_order_relaxed);
    for (uint32_t finished_count;
         (finished_count = finished_readers_.load(std::memory_order_acquire)) != begun_count;)
      finished_readers_.wait(finished_count);
  }
  /// Whether this thread is a reader.
  bool is_read_here() const {
    if (finished_readers_.load(std::memory_order_acquire) ==
        begun_readers_.load(std::memory_order_relaxed))
      return false;  // no thread is a reader
    const ReadScope* scope = ReadScope::innermost_;
    while (scope && &scope->lock_ != this) scope = scope->outer_;
    return scope != nullptr;
  }

 private:
  std::recursive_mutex entrance_;
  // number of readers so far; only the holder of the entrance writes it
  std::atomic<uint32_t> begun_readers_{0};
  std::atomic<uint32_t> finished_readers_{0};  // number of readers that have finished
};

}  // namespace crescent
