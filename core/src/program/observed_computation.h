// Notifies the ComputationObserver of the thread, if there is one, of the beginning and the end of
// a computation.
#pragma once
#include <span>

#include "host/computation_observer.h"

namespace crescent {

/// An object of this class lives while a computation runs; its constructor and its destructor
/// notify the observer.
class ObservedComputation {
 public:
  explicit ObservedComputation(std::span<const Program::Binding> variables) : observer_(current_) {
    if (observer_) observer_->begin(variables);
  }
  ~ObservedComputation() {
    if (observer_) observer_->end();
  }
  ObservedComputation(const ObservedComputation&) = delete;

 private:
  friend class ComputationObserver;
  ComputationObserver* observer_;
  inline static thread_local ComputationObserver* current_ = nullptr;
};

}  // namespace crescent
