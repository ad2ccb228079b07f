#include "executable.h"

#include <cassert>

namespace crescent::cpu {
namespace {

template <class Span>
void take(const Span& tensors, std::vector<std::byte*>& memory) {
  assert(tensors.size() == memory.size());
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte*>(tensors[i].raw());
}

}  // namespace

void CpuExecutable::run(std::span<const Tensor> inputs, std::span<Tensor> variables, std::span<Tensor> outputs) {
  std::lock_guard lock(mutex_);
  take(inputs, plan_.memory().inputs);
  take(variables, plan_.memory().variables);
  take(outputs, plan_.memory().outputs);
  plan_.run();
}

void CpuExecutable::profile(bool on) {
  std::lock_guard lock(mutex_);
  plan_.profile(on);
}

std::vector<ProfileRow> CpuExecutable::rows() const {
  std::lock_guard lock(mutex_);
  return plan_.rows();
}

}  // namespace crescent::cpu
