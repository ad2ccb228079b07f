// Threads that transform elements and return them in order.
#pragma once
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "crescent/data/stream.h"
#include "crescent/system/interrupt.h"

namespace crescent {

/// An element and its index in the pass.
struct IndexedElement {
  int64_t index = 0;
  Element element;
};

class Workers {
 public:
  using Transform = std::function<Element(IndexedElement)>;
  /// Starts `count` threads, or as many as the system allows. Each thread calls `make_transform`,
  /// which returns the function that transforms elements. If no thread could be started,
  /// next_result() transforms elements itself.
  Workers(int64_t count, std::function<Transform()> make_transform);
  /// Interrupts the threads and waits for their end.
  ~Workers();
  Workers(const Workers&) = delete;

  /// The number of submitted elements whose results next_result() has not returned yet.
  size_t pending_count() const { return tasks_.size(); }
  void submit(IndexedElement indexed_element);
  /// Waits for the result of the first submitted element whose result was not returned yet, and
  /// returns it. Rethrows an exception of the transformation of this element.
  Element next_result();

 private:
  struct Task {
    IndexedElement indexed_element;
    bool is_begun = false, is_done = false;
    Element result;
    std::exception_ptr error;
  };
  void run(const std::function<Transform()>& make_transform);
  Element transform_inline();
  void stop();

  std::function<Transform()> make_transform_;
  Transform inline_transform_;  ///< transforms elements in next_result() if there are no threads
  std::mutex mutex_;
  std::condition_variable task_submitted_, task_done_;
  /// submitted elements whose results next_result() has not returned yet, in order
  std::deque<std::shared_ptr<Task>> tasks_;
  bool is_stopping_ = false;
  std::shared_ptr<Interruption> interruption_;  ///< interrupts the threads
  std::vector<std::thread> threads_;
};

}  // namespace crescent
