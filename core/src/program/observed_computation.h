// Tells the observer of the thread, if there is one, when a computation begins and ends.
#pragma once
#include <span>

#include "host/computation_observer.h"

namespace crescent {

/// The extent of one computation: the constructor and the destructor tell the observer.
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
