// The step that a run of fit_async computes while the Lua state is unlocked, and what it uses.
#pragma once
#include <functional>
#include <lua.hpp>
#include <unordered_set>
#include <vector>

#include "crescent/model/model.h"
#include "host/computation_observer.h"

namespace crescent::lua {

/// Variables by id(), layers by address.
using Ids = std::vector<const void*>;

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
  /// Whether the step, or the model in training, has one of these variables and layers.
  bool uses_any_of(const Ids& ids);

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

// For the holder of the lock:
/// The step that computes; null when there is none.
ComputingStep* computing_step();
/// Whether it is one of this model.
bool is_computing(const Model& model);

Ids ids_of(const Variables& variables);
/// The layer with those below it, its variables, those of metrics and, of a model, those that
/// training updates.
Ids parts_of(Layer& layer);

}  // namespace crescent::lua
