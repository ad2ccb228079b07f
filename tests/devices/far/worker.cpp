#include "worker.h"

namespace crescent::far {

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    quitting_ = true;
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
  changed_.wait(lock, [this] { return tasks_.empty() && !working_; });
  if (std::exception_ptr error = std::exchange(error_, nullptr)) std::rethrow_exception(error);
}

void Worker::work() {
  own_ = std::this_thread::get_id();
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return quitting_ || !tasks_.empty(); });
    if (quitting_) return;
    auto [kind, task] = std::move(tasks_.front());
    tasks_.pop_front();
    const bool left_out = kind == Kind::program && error_;
    working_ = true;
    lock.unlock();
    std::exception_ptr error;
    try {
      if (!left_out) task();
    } catch (...) {
      error = std::current_exception();
    }
    task = nullptr;
    lock.lock();
    if (error) error_ = error;
    working_ = false;
    changed_.notify_all();
  }
}

}  // namespace crescent::far
