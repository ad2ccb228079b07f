#include "executor/executable.h"

#include <algorithm>
#include <cassert>

#include "crescent/program/activity.h"

namespace crescent::cpu {
namespace {

/// The address of a tensor's values; fails if the values are still in a file.
std::byte* memory_of(const Tensor& t) {
  return static_cast<std::byte*>(const_cast<void*>(t.raw()));
}

/// Whether an output has the memory of one of the inputs, as the output of an op that only checks
/// its input has.
bool is_input(const Tensor& output, std::span<const Tensor> inputs) {
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const Tensor& input) { return input.storage() == output.storage(); });
}

}  // namespace

void CpuExecutable::run(std::span<const Tensor> inputs, std::span<Tensor> variables,
                        std::span<Tensor> outputs) {
  std::unique_lock observed_run_lock(observed_run_mutex_, std::defer_lock);
  if (plan_.is_observed()) observed_run_lock.lock();
  const ObjectPool<Plan::Frame>::Lease frame(frames_,
                                             [&] { return std::make_unique<Plan::Frame>(plan_); });
  bind(*frame, inputs, variables, outputs);
  const Arenas::Lease arena(arenas_, plan_.arena_bytes());
  plan_.run(*frame, arena.memory(), observed_run_lock.owns_lock() && plan_.is_observed());
  if (is_tracking_activity()) leave_program();
}

void CpuExecutable::bind(Plan::Frame& frame, std::span<const Tensor> inputs,
                         std::span<Tensor> variables, std::span<Tensor> outputs) const {
  auto& memory = frame.memory();
  assert(inputs.size() == memory.inputs.size() && variables.size() == memory.variables.size() &&
         outputs.size() == memory.outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) memory.inputs[i] = memory_of(inputs[i]);
  for (size_t i = 0; i < variables.size(); ++i) {
    if (plan_.writes(i)) variables[i].storage()->bump_version();
    memory.variables[i] = memory_of(variables[i]);
    memory.contents[i] = variables[i].contents();
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!is_input(outputs[i], inputs)) outputs[i].storage()->bump_version();
    memory.outputs[i] = memory_of(outputs[i]);
  }
}

void CpuExecutable::profile(bool on) {
  const std::lock_guard lock(observed_run_mutex_);
  plan_.profile(on);
}

std::vector<ProfileEntry> CpuExecutable::rows() const {
  const std::lock_guard lock(observed_run_mutex_);
  return plan_.rows();
}

bool CpuExecutable::watch(Watcher watcher) {
  const std::lock_guard lock(observed_run_mutex_);
  plan_.watch(std::move(watcher));
  return true;
}

}  // namespace crescent::cpu
