// The public functions of recording: trace() and the classes that set scopes and pause traces.
#include "program/recording/recorder.h"

namespace crescent {

Program trace(const std::function<Tensors(const Tensors&)>& f, std::span<const TensorSpec> inputs,
              std::vector<StorageHold>& holds) {
  Recorder recorder(Recorder::Kind::program);
  Tensors arguments;
  for (const TensorSpec& spec : inputs) arguments.push_back(recorder.add_input(spec));
  Program program = recorder.finish(f(arguments));
  holds = recorder.take_holds();
  return program;
}

Program trace(const std::function<Tensors(const Tensors&)>& f, std::span<const TensorSpec> inputs) {
  std::vector<StorageHold> storage_holds;
  return trace(f, inputs, storage_holds);
}

bool is_tracing() { return Recorder::current() != nullptr; }

NoTrace::NoTrace() : paused_(Recorder::set_current(nullptr)) {}
NoTrace::~NoTrace() { Recorder::set_current(static_cast<Recorder*>(paused_)); }

ProgramScope::ProgramScope(const std::string& name) {
  Recorder* recorder = Recorder::current();
  previous_ = recorder ? recorder->enter_scope(name) : -1;
}

ProgramScope::~ProgramScope() {
  Recorder* recorder = Recorder::current();
  if (recorder && previous_ >= 0) recorder->set_scope(previous_);
}

}  // namespace crescent
