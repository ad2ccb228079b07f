#include "program/observed_computation.h"

#include <utility>

namespace crescent {

ComputationObserver::ComputationObserver()
    : outer_(std::exchange(ObservedComputation::current_, this)) {}

ComputationObserver::~ComputationObserver() { ObservedComputation::current_ = outer_; }

}  // namespace crescent
