#include "layer/calls/call_observer.h"

#include <utility>

namespace crescent {
namespace {

thread_local CallObserver* call_observer = nullptr;

}  // namespace

CallObserver::CallObserver() : outer_observer_(std::exchange(call_observer, this)) {}
CallObserver::~CallObserver() { call_observer = outer_observer_; }

ObservedCall::ObservedCall(const Layer& layer) : layer_(layer), observer_(call_observer) {
  if (observer_) observer_->begin(layer_);
}
ObservedCall::~ObservedCall() {
  if (observer_) observer_->end(layer_, outputs_);
}

void ObservedCall::set_outputs(const Tensors& outputs) {
  if (observer_) outputs_ = outputs;
}

}  // namespace crescent
