#include "data/streams/workers.h"

#include <algorithm>
#include <chrono>

#include "crescent/system/thread.h"
#include "data/streams/interruption_check.h"

namespace crescent {

Workers::Workers(int64_t count, std::function<Transform()> begin)
    : make_transform_(std::move(begin)), interruption_(std::make_shared<Interruption>()) {
  threads_.reserve(count);
  for (int64_t i = 0; i < count; ++i) {
    std::thread thread = start_thread([this] { run(make_transform_); });
    if (!thread.joinable()) break;
    threads_.push_back(std::move(thread));
  }
}

Workers::~Workers() { stop(); }

void Workers::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  interruption_->request();
  task_given_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::submit(IndexedElement indexed) {
  auto task = std::make_shared<Task>();
  task->indexed = std::move(indexed);
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  task_given_.notify_one();
}

/// Waits for a result. A signal does not notify the condition variable, so the wait checks for an
/// interruption at intervals.
Element Workers::next_result() {
  if (threads_.empty()) return take_without_threads();
  constexpr auto kPollInterval = std::chrono::milliseconds(20);
  std::unique_lock lock(mutex_);
  const std::shared_ptr<Task> task = tasks_.front();
  while (!task_done_.wait_for(lock, kPollInterval, [&] { return task->is_done; }))
    check_element_interruption();
  tasks_.pop_front();
  if (task->error) std::rethrow_exception(task->error);
  return std::move(task->result);
}

Element Workers::take_without_threads() {
  const std::shared_ptr<Task> task = tasks_.front();
  tasks_.pop_front();
  if (!inline_transform_) inline_transform_ = make_transform_();
  return inline_transform_(std::move(task->indexed));
}

void Workers::run(const std::function<Transform()>& begin) {
  const InheritInterrupt inherit_interrupt(interruption_);
  Transform transform;
  std::exception_ptr worker_error;
  try {
    transform = begin();
  } catch (...) {
    worker_error = std::current_exception();
  }
  std::unique_lock lock(mutex_);
  for (;;) {
    std::shared_ptr<Task> task;
    task_given_.wait(lock, [&] {
      const auto found =
          std::find_if(tasks_.begin(), tasks_.end(), [](const auto& t) { return !t->is_begun; });
      if (found != tasks_.end()) task = *found;
      return is_stopping_ || task;
    });
    if (is_stopping_) return;
    task->is_begun = true;
    lock.unlock();
    Element result;
    std::exception_ptr error = worker_error;
    try {
      if (!worker_error) result = transform(std::move(task->indexed));
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    task->result = std::move(result);
    task->error = error;
    task->is_done = true;
    task_done_.notify_all();
  }
}

}  // namespace crescent
