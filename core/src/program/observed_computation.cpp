#include "program/observed_computation.h"

#include <utility>

namespace crescent {

ComputationObserver::ComputationObserver()
    : around_(std::exchange(ObservedComputation::current_, this)) {}

ComputationObserver::~ComputationObserver() { ObservedComputation::current_ = around_; }

}  // namespace crescent
