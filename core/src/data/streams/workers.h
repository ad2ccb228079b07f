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

/// An element with the place that it has in its pass, from 0.
struct Placed {
  int64_t place = 0;
  Element element;
};

class Workers {
 public:
  using Work = std::function<Element(Placed)>;
  /// `begin` is called by each thread and gives what it works with. Where the system starts fewer
  /// threads, those work; without any, take() does.
  Workers(int64_t count, std::function<Work()> begin);
  /// Asks what is being done to stop, and waits for it.
  ~Workers();
  Workers(const Workers&) = delete;

  size_t waiting() const { return tasks_.size(); }  ///< given and not taken
  void give(Placed placed);
  /// The result for the element that was given first; throws what the work threw.
  Element take();

 private:
  struct Task {
    Placed placed;
    bool begun = false, done = false;
    Element result;
    std::exception_ptr error;
  };
  void run(const std::function<Work()>& begin);
  Element take_unworked();
  void stop();

  std::function<Work()> begin_;
  Work own_;  ///< of the thread that takes, where there is no other
  std::mutex mutex_;
  std::condition_variable given_, done_;
  std::deque<std::shared_ptr<Task>> tasks_;  ///< given and not taken, in order
  bool stopping_ = false;
  std::shared_ptr<Interruption> runs_;  ///< of the threads
  std::vector<std::thread> threads_;
};

}  // namespace crescent
