// The step that a run of fit_async computes while the Lua state is unlocked, and the variables and
// layers that the step uses.
#pragma once
#include <functional>
#include <lua.hpp>
#include <unordered_set>
#include <vector>

#include "crescent/model/model.h"
#include "host/computation_observer.h"

namespace crescent::lua {

/// Identifies variables by id() and layers by their address.
using Ids = std::vector<const void*>;

/// An object that the thread of a run creates. It unlocks the Lua state while a compiled function,
/// such as a training step, computes on that thread. The state stays locked while a function
/// computes that is called by Lua code (such as a callback), draws from global_random(), or
/// exchanges data with other processes.
class ComputingStep final : public ComputationObserver {
 public:
  /// `may_call_lua` is called after a step, while the lock is held; it returns whether the run may
  /// still call Lua functions.
  ComputingStep(Model& model, std::function<bool()> may_call_lua);
  void begin(std::span<const Program::Binding> variables) noexcept override;
  void end() noexcept override;

  // The functions below may only be called by the thread of the script while the step computes.
  bool is_step_of(const Model& model) const { return &model == &model_; }
  /// Whether the step uses a variable or a layer in `ids`, or the trained model contains one of
  /// them.
  bool uses_any_of(const Ids& ids);

 private:
  bool may_unlock() const;

  Model& model_;
  std::function<bool()> may_call_lua_;
  std::span<const Program::Binding> variables_;
  /// The ids of the variables and layers that the step uses; the first call of uses_any_of()
  /// collects them.
  std::unordered_set<const void*> used_ids_;
  bool has_unlocked_ = false;
  int depth_ = 0;
  lua_State* caller_state_ = nullptr;
};

// The two functions below may only be called by the thread that holds the lock of the Lua state.
/// The step that computes; null if there is none.
ComputingStep* computing_step();
/// Whether a step of this model computes.
bool is_computing(const Model& model);

Ids ids_of(const Variables& variables);
/// The layer with its sublayers, their variables and those of their metrics; for a compiled model
/// also the variables of its optimizer and of all its metrics.
Ids ids_of_layer(Layer& layer);

}  // namespace crescent::lua
