// Threads that work on elements and give them back in order.
#pragma once
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "crescent/data/stream.h"
#include "crescent/system/interrupt.h"

namespace crescent {

/// An element with its index in its pass.
struct IndexedElement {
  int64_t index = 0;
  Element element;
};

class Workers {
 public:
  using Transform = std::function<Element(IndexedElement)>;
  /// `begin` is called by each thread and gives what it works with. Where the system starts fewer
  /// threads, those work; without any, take() does.
  Workers(int64_t count, std::function<Transform()> begin);
  /// Asks what is being done to stop, and waits for it.
  ~Workers();
  Workers(const Workers&) = delete;

  size_t waiting() const { return tasks_.size(); }  ///< given and not taken
  void give(IndexedElement indexed);
  /// The result for the element that was given first; throws what the work threw.
  Element take();

 private:
  struct Task {
    IndexedElement indexed;
    bool begun = false, done = false;
    Element result;
    std::exception_ptr error;
  };
  void run(const std::function<Transform()>& begin);
  Element take_unworked();
  void stop();

  std::function<Transform()> begin_;
  Transform own_;  ///< of the thread that takes, where there is no other
  std::mutex mutex_;
  std::condition_variable given_, done_;
  std::deque<std::shared_ptr<Task>> tasks_;  ///< given and not taken, in order
  bool stopping_ = false;
  std::shared_ptr<Interruption> runs_;  ///< of the threads
  std::vector<std::thread> threads_;
};

}  // namespace crescent
