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
  /// Makes the current thread, which must hold the entrance mutex, a reader as long as the object
  /// lives. A reader must not lock the entrance again: a writer may hold it while it waits for this
  /// reader.
  class ReadScope {
   public:
    explicit ReadScope(ReadersWriterLock& lock) : lock_(lock), outer_scope_(innermost_scope_) {
      innermost_scope_ = this;
      const uint32_t begun_count = lock_.begun_readers_.load(std::memory_order_relaxed);
      lock_.begun_readers_.store(begun_count + 1, std::memory_order_relaxed);
    }
    ~ReadScope() {
      innermost_scope_ = outer_scope_;
      lock_.finished_readers_.fetch_add(1, std::memory_order_release);
      lock_.finished_readers_.notify_all();
    }
    ReadScope(const ReadScope&) = delete;

   private:
    friend class ReadersWriterLock;
    ReadersWriterLock& lock_;
    const ReadScope* outer_scope_;
    inline static thread_local const ReadScope* innermost_scope_ = nullptr;
  };

  // lock() and unlock() lock and unlock the entrance, a recursive mutex.
  void lock() { entrance_.lock(); }
  void unlock() { entrance_.unlock(); }
  /// Waits for all readers to finish. The calling thread, which must hold the entrance mutex, is
  /// then a writer until it unlocks that mutex.
  void wait_for_readers() const {
    const uint32_t begun_count = begun_readers_.load(std::memory_order_relaxed);
    for (uint32_t finished_count;
         (finished_count = finished_readers_.load(std::memory_order_acquire)) != begun_count;)
      finished_readers_.wait(finished_count);
  }
  /// Whether this thread is a reader.
  bool is_reader_thread() const {
    if (finished_readers_.load(std::memory_order_acquire) ==
        begun_readers_.load(std::memory_order_relaxed))
      return false;  // no thread is a reader
    const ReadScope* scope = ReadScope::innermost_scope_;
    while (scope && &scope->lock_ != this) scope = scope->outer_scope_;
    return scope != nullptr;
  }

 private:
  std::recursive_mutex entrance_;
  // number of readers so far; only the holder of the entrance writes it
  std::atomic<uint32_t> begun_readers_{0};
  std::atomic<uint32_t> finished_readers_{0};  // number of readers that have finished
};

}  // namespace crescent
