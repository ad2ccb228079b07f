#include "worker.h"

namespace crescent::far {

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    is_quitting_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Worker::submit(Kind kind, Task task) {
  if (is_own_thread()) return task();
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  tasks_.emplace_back(kind, std::move(task));
  changed_.notify_all();
}

void Worker::finish() {
  if (is_own_thread()) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return tasks_.empty() && !is_working_; });
  if (std::exception_ptr error = std::exchange(error_, nullptr)) std::rethrow_exception(error);
}

void Worker::work() {
  own_thread_id_ = std::this_thread::get_id();
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_quitting_ || !tasks_.empty(); });
    if (is_quitting_) return;
    auto [kind, task] = std::move(tasks_.front());
    tasks_.pop_front();
    const bool is_skipped = kind == Kind::program && error_;
    is_working_ = true;
    lock.unlock();
    std::exception_ptr error;
    try {
      if (!is_skipped) task();
    } catch (...) {
      error = std::current_exception();
    }
    task = nullptr;
    lock.lock();
    if (error) error_ = error;
    is_working_ = false;
    changed_.notify_all();
  }
}

}  // namespace crescent::far
