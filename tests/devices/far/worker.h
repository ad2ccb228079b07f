// A thread that runs the tasks of the device in order. After a task has failed, programs are
// skipped until finish() has thrown the error.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace crescent::far {

class Worker {
 public:
  using Task = std::function<void()>;
  enum class Kind { transfer, program };
  Worker() = default;
  ~Worker();
  Worker(const Worker&) = delete;
  /// Queues a task; a task submitted by the device's own thread runs at once.
  void submit(Kind kind, Task task);
  /// Waits for all tasks and throws the error of the first task that failed.
  void finish();

 private:
  void work();
  bool is_own_thread() const { return std::this_thread::get_id() == own_thread_id_.load(); }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<Kind, Task>> tasks_;
  bool is_working_ = false, is_quitting_ = false;
  std::exception_ptr error_;
  std::thread thread_;  ///< started with the first task
  std::atomic<std::thread::id> own_thread_id_{};
};

}  // namespace crescent::far
