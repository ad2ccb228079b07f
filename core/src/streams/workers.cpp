#include "streams/workers.h"

#include <algorithm>
#include <chrono>

namespace crescent {

Workers::Workers(int64_t count, std::function<Work()> begin)
    : runs_(std::make_shared<Interruption>()) {
  for (int64_t i = 0; i < count; ++i) threads_.emplace_back([this, begin] { run(begin); });
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  runs_->request();
  given_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::give(Placed placed) {
  auto task = std::make_shared<Task>();
  task->placed = std::move(placed);
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  given_.notify_one();
}

/// A signal wakes nobody, so an interruption is looked for now and then.
Element Workers::take() {
  constexpr auto kLook = std::chrono::milliseconds(20);
  std::unique_lock lock(mutex_);
  const std::shared_ptr<Task> task = tasks_.front();
  while (!done_.wait_for(lock, kLook, [&] { return task->done; }))
    if (interrupted()) throw Interrupted("interrupted while elements of a dataset were made");
  tasks_.pop_front();
  if (task->error) std::rethrow_exception(task->error);
  return std::move(task->result);
}

void Workers::run(const std::function<Work()>& begin) {
  const WorksFor the_pass(runs_);
  Work work;
  std::exception_ptr broken;
  try {
    work = begin();
  } catch (...) {
    broken = std::current_exception();
  }
  std::unique_lock lock(mutex_);
  for (;;) {
    std::shared_ptr<Task> task;
    given_.wait(lock, [&] {
      const auto found =
          std::find_if(tasks_.begin(), tasks_.end(), [](const auto& t) { return !t->begun; });
      if (found != tasks_.end()) task = *found;
      return stopping_ || task;
    });
    if (stopping_) return;
    task->begun = true;
    lock.unlock();
    Element result;
    std::exception_ptr error = broken;
    try {
      if (!broken) result = work(std::move(task->placed));
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    task->result = std::move(result);
    task->error = error;
    task->done = true;
    done_.notify_all();
  }
}

}  // namespace crescent
