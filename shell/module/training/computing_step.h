// The step that a run of fit_async computes while the Lua state is unlocked, and what it uses.
#pragma once
#include <functional>
#include <lua.hpp>
#include <unordered_set>
#include <vector>

#include "crescent/model/model.h"
#include "host/computation_observer.h"

namespace crescent::lua {

/// On the thread of a run, which makes the object, unlocks the Lua state while a compiled function
/// computes, such as a training step. A function that a function of Lua calls, as callbacks do,
/// keeps it locked, and so does one that draws from the generator of the process or exchanges data
/// with other processes.
class ComputingStep final : public ComputationObserver {
 public:
  /// `may_call_lua` tells, with the lock held, whether the run may still call Lua after a step.
  ComputingStep(Model& model, std::function<bool()> may_call_lua);
  void begin(std::span<const Program::Binding> variables) noexcept override;
  void end() noexcept override;

  // For the thread of the script, while the step computes:
  bool is_of(const Model& model) const { return &model == &model_; }
  /// Whether the step, or the model in training, has one of these variables and layers, given by
  /// id() and address.
  bool uses_any_of(const std::vector<const void*>& ids);

 private:
  bool may_unlock() const;

  Model& model_;
  std::function<bool()> may_call_lua_;
  std::span<const Program::Binding> variables_;
  std::unordered_set<const void*> used_;  ///< collected when they are asked for
  bool is_open_ = false;
  int depth_ = 0;
  lua_State* caller_ = nullptr;
};

/// Whether the step that computes while the thread of the script holds the lock may use the
/// variable or the object.
bool uses_variable(const Variable& variable);
bool uses_object(Object& object);

/// Whether a step of this model computes; for the holder of the lock.
bool is_computing(const Model& model);

}  // namespace crescent::lua
