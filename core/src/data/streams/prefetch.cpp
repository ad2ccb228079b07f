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
      stopping_ = true;
    }
    source_interruption_->request();
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  /// Waits for an element. A signal does not notify the condition variable, so the wait checks for
  /// an interruption at intervals. If the thread could not be started, next() makes the element
  /// itself.
  bool next(Element& element) override {
    if (!started_) start();
    if (!thread_.joinable()) return source_cursor_->next(element);
    constexpr auto kPollInterval = std::chrono::milliseconds(20);
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kPollInterval, [&] { return ended_ || !ready_.empty(); }))
      check_element_interruption();
    if (ready_.empty()) {
      if (const std::exception_ptr error = std::exchange(error_, nullptr))
        std::rethrow_exception(error);
      return false;
    }
    element = std::move(ready_.front());
    ready_.pop_front();
    changed_.notify_all();
    return true;
  }

  int64_t pass(int64_t count) override {
    return thread_.joinable() ? Cursor::pass(count) : source_cursor_->pass(count);
  }

 private:
  void start() {
    started_ = true;
    thread_ = start_thread([this] { work(); });
  }

  void work() {
    const InheritInterrupt the_pass(source_interruption_);
    std::unique_lock lock(mutex_);
    while (!ended_) {
      changed_.wait(lock, [&] { return stopping_ || ready_.size() < count_; });
      if (stopping_) return;
      lock.unlock();
      Element element;
      bool made = false;
      std::exception_ptr error;
      try {
        made = source_cursor_->next(element);
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      if (made) ready_.push_back(std::move(element));
      ended_ = !made;
      error_ = error;
      changed_.notify_all();
    }
  }

  CursorPtr source_cursor_;
  size_t count_;
  /// the flag by which the destructor interrupts the thread's call of the source
  std::shared_ptr<Interruption> source_interruption_ = std::make_shared<Interruption>();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Element> ready_;
  bool started_ = false, ended_ = false, stopping_ = false;
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
