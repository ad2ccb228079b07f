#include "background/used_objects.h"

#include <algorithm>

#include "background/async_run.h"
#include "background/computing_step.h"
#include "crescent/layer/training.h"
#include "crescent/model/distillation_loss.h"
#include "instances/instance.h"

namespace crescent::lua {
namespace {

template <class... T>
bool is_one_of(const Object& object) {
  return (dynamic_cast<const T*>(&object) || ...);
}

/// Whether Lua code may use the object while any step computes: it has no variables, or it is a
/// run, whose methods wait for the step themselves where this is necessary.
bool is_passive(const Object& object) {
  return is_one_of<AsyncRun, History, Dataset, Loss, DistillationLoss, Activation, Initializer,
                   Regularizer, Constraint, Schedule>(object);
}

/// Whether the layer or one of its sublayers is written in Lua, so that not all variables that it
/// uses are known.
bool has_lua_layer(Layer& layer) {
  const std::vector<Layer*> layers = layer.flatten_layers();
  return std::any_of(layers.begin(), layers.end(), [](const Layer* inner_layer) {
    return dynamic_cast<const Instance*>(inner_layer) != nullptr;
  });
}

}  // namespace

bool uses_variable(const Variable& variable) {
  return computing_step()->uses_any_of(ids_of({variable}));
}

bool uses_object(Object& object) {
  if (auto* layer = dynamic_cast<Layer*>(&object))
    return has_lua_layer(*layer) || computing_step()->uses_any_of(ids_of_layer(*layer));
  if (auto* metric = dynamic_cast<Metric*>(&object))
    return computing_step()->uses_any_of(ids_of(metric->variables()));
  if (auto* optimizer = dynamic_cast<Optimizer*>(&object))
    return computing_step()->uses_any_of(ids_of(optimizer->state()));
  return !is_passive(object);
}

}  // namespace crescent::lua
