// Observers of the layer calls on a thread. They record the outputs of layers or statistics of
// them.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent {

/// While an object of this class lives, begin() and end() are called for each layer call on this
/// thread.
class CallObserver {
 public:
  CallObserver();
  virtual ~CallObserver();
  CallObserver(const CallObserver&) = delete;
  virtual void begin(const Layer& layer) = 0;
  /// Called at the end of a layer call; `outputs` is empty if the call failed.
  virtual void end(const Layer& layer, const Tensors& outputs) = 0;

 private:
  friend class ObservedCall;
  CallObserver* outer_observer_;
};

/// A call of a layer that is reported to the observer of the thread.
class ObservedCall {
 public:
  explicit ObservedCall(const Layer& layer);
  ~ObservedCall();
  ObservedCall(const ObservedCall&) = delete;
  void set_outputs(const Tensors& outputs);

 private:
  const Layer& layer_;
  CallObserver* observer_;
  Tensors outputs_;
};

}  // namespace crescent
