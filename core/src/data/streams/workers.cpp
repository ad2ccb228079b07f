#include "data/streams/workers.h"

#include <algorithm>
#include <chrono>

#include "crescent/system/thread.h"
#include "data/streams/interruption_check.h"

namespace crescent {

Workers::Workers(int64_t count, std::function<Transform()> make_transform)
    : make_transform_(std::move(make_transform)), interruption_(std::make_shared<Interruption>()) {
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
  task_submitted_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::submit(IndexedElement indexed_element) {
  auto task = std::make_shared<Task>();
  task->indexed_element = std::move(indexed_element);
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  task_submitted_.notify_one();
}

/// Waits for a result. A signal does not notify the condition variable, so the wait checks for an
/// interruption at intervals.
Element Workers::next_result() {
  if (threads_.empty()) return transform_inline();
  constexpr auto kPollInterval = std::chrono::milliseconds(20);
  std::unique_lock lock(mutex_);
  const std::shared_ptr<Task> task = tasks_.front();
  while (!task_done_.wait_for(lock, kPollInterval, [&] { return task->is_done; }))
    check_element_interruption();
  tasks_.pop_front();
  if (task->error) std::rethrow_exception(task->error);
  return std::move(task->result);
}

Element Workers::transform_inline() {
  const std::shared_ptr<Task> task = tasks_.front();
  tasks_.pop_front();
  if (!inline_transform_) inline_transform_ = make_transform_();
  return inline_transform_(std::move(task->indexed_element));
}

void Workers::run(const std::function<Transform()>& make_transform) {
  const InheritInterrupt inherit_interrupt(interruption_);
  Transform transform;
  std::exception_ptr worker_error;
  try {
    transform = make_transform();
  } catch (...) {
    worker_error = std::current_exception();
  }
  std::unique_lock lock(mutex_);
  for (;;) {
    std::shared_ptr<Task> task;
    task_submitted_.wait(lock, [&] {
      const auto next_task =
          std::find_if(tasks_.begin(), tasks_.end(), [](const auto& t) { return !t->is_begun; });
      if (next_task != tasks_.end()) task = *next_task;
      return is_stopping_ || task;
    });
    if (is_stopping_) return;
    task->is_begun = true;
    lock.unlock();
    Element result;
    std::exception_ptr error = worker_error;
    try {
      if (!worker_error) result = transform(std::move(task->indexed_element));
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
