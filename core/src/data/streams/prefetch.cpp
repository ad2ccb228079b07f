// prefetch_elements() makes elements ahead on another thread.
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "crescent/system/thread.h"
#include "data/streams/interruption_check.h"
#include "data/streams/order_stream.h"

namespace crescent {
namespace {

class PrefetchCursor final : public Cursor {
 public:
  PrefetchCursor(CursorPtr source, int64_t count)
      : source_cursor_(std::move(source)), count_(count) {}

  ~PrefetchCursor() override {
    {
      const std::lock_guard lock(mutex_);
      is_stopping_ = true;
    }
    source_interruption_->request();
    state_changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  /// Waits for an element. A signal does not notify the condition variable, so the wait checks for
  /// an interruption at intervals. If the thread could not be started, next() makes the element
  /// itself.
  bool next(Element& element) override {
    if (!has_started_) start();
    if (!thread_.joinable()) return source_cursor_->next(element);
    constexpr auto kPollInterval = std::chrono::milliseconds(20);
    std::unique_lock lock(mutex_);
    while (!state_changed_.wait_for(lock, kPollInterval,
                                    [&] { return has_ended_ || !ready_elements_.empty(); }))
      check_element_interruption();
    if (ready_elements_.empty()) {
      if (const std::exception_ptr error = std::exchange(error_, nullptr))
        std::rethrow_exception(error);
      return false;
    }
    element = std::move(ready_elements_.front());
    ready_elements_.pop_front();
    state_changed_.notify_all();
    return true;
  }

  int64_t pass(int64_t count) override {
    return thread_.joinable() ? Cursor::pass(count) : source_cursor_->pass(count);
  }

 private:
  void start() {
    has_started_ = true;
    thread_ = start_thread([this] { make_elements(); });
  }

  void make_elements() {
    const InheritInterrupt inherit_interrupt(source_interruption_);
    std::unique_lock lock(mutex_);
    while (!has_ended_) {
      state_changed_.wait(lock, [&] { return is_stopping_ || ready_elements_.size() < count_; });
      if (is_stopping_) return;
      lock.unlock();
      Element element;
      bool is_made = false;
      std::exception_ptr error;
      try {
        is_made = source_cursor_->next(element);
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      if (is_made) ready_elements_.push_back(std::move(element));
      has_ended_ = !is_made;
      error_ = error;
      state_changed_.notify_all();
    }
  }

  CursorPtr source_cursor_;
  size_t count_;
  /// the flag by which the destructor interrupts the thread's call of the source
  std::shared_ptr<Interruption> source_interruption_ = std::make_shared<Interruption>();
  std::mutex mutex_;
  std::condition_variable state_changed_;
  std::deque<Element> ready_elements_;
  bool has_started_ = false, has_ended_ = false, is_stopping_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

class PrefetchStream final : public OrderStream {
 public:
  PrefetchStream(StreamPtr source, int64_t count) : OrderStream(std::move(source)), count_(count) {
    if (count < 1) fail("prefetch: expected at least 1 element, got ", count);
    if (source_->on_own_thread())
      warn(
          "prefetch: the dataset calls a function of the script, which runs on the script's own "
          "thread: its elements are made when they are asked for, not ahead; give its map or "
          "filter workers, or prefetch before it");
  }

 protected:
  CursorPtr reorder(const OpenPass& open_source, uint64_t epoch) override {
    CursorPtr source = open_source(epoch);
    return source_->on_own_thread() ? source
                                    : std::make_shared<PrefetchCursor>(std::move(source), count_);
  }

 private:
  int64_t count_;
};

}  // namespace

StreamPtr prefetch_elements(StreamPtr source, int64_t count) {
  return std::make_shared<PrefetchStream>(std::move(source), count);
}

}  // namespace crescent
