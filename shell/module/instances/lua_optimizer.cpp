#include "instances/lua_optimizer.h"

#include <algorithm>

namespace crescent::lua {
namespace {

/// The argument `state` of update_step: the slots of a variable by name, and the number of the
/// step.
struct PushedState {
  const std::vector<std::string>& slot_names;
  Optimizer::Slots slots;
  const Tensor& step;
};
void push(lua_State* L, const PushedState& state) {
  lua_createtable(L, 0, static_cast<int>(state.slot_names.size()) + 1);
  push_handle(L, state.step);
  lua_setfield(L, -2, "step");
  for (size_t i = 0; i < state.slots.size(); ++i) {
    push_handle(L, state.slots[i]);
    lua_setfield(L, -2, state.slot_names[i].c_str());
  }
}

}  // namespace

std::vector<std::string> LuaOptimizer::slots() const {
  if (!has("slots")) return {};
  lua_State* L = current();
  StackRestorer restorer(L);
  invoke(L, "slots", 1);
  const Value names = to_value(L, -1);
  if (!names.is_list()) fail(class_name(), ": slots(): expected a list of names, got ", names);
  std::vector<std::string> result;
  for (const Value& name : names.as_list()) {
    const std::string& text = name.as_string();
    if (text == "step" || std::find(result.begin(), result.end(), text) != result.end())
      fail(class_name(), ": slots(): expected names of their own, got ", names,
           text == "step" ? "; state.step is the number of the step" : "");
    result.push_back(text);
  }
  return result;
}

Tensor LuaOptimizer::initial_slot(std::string_view slot, const Variable& variable) const {
  if (!has("initial_slot")) return Optimizer::initial_slot(slot, variable);
  const Tensor value = call_for_tensor(*this, "initial_slot", std::string(slot), variable);
  if (!(value.shape() == variable.shape()))
    fail(class_name(), ": initial_slot(): expected a tensor of the variable's shape ",
         variable.shape(), ", got ", value.shape());
  return value;
}

void LuaOptimizer::update(const Variable& variable, const Tensor& gradient, const Tensor& rate,
                          const Tensor& step, Slots slots) {
  lua_State* L = current();
  StackRestorer restorer(L);
  const std::vector<std::string> names = this->slots();
  if (names.size() != slots.size())
    fail("slots(): expected ", slots.size(), " names as when the optimizer was built, got ",
         names.size());
  invoke(L, "update_step", 1, gradient, variable, rate, PushedState{names, slots, step});
  if (!lua_isnil(L, -1))
    fail("update_step(): expected nothing, got ", lua::describe(L, -1),
         "; the new value is given by variable:assign(value)");
}

}  // namespace crescent::lua
