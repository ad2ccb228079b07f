// Optimizers whose class is written in Lua. The class defines the update of one variable; gradient
// clipping, weight decay and averaging are done by Optimizer as for all optimizers.
#pragma once
#include "instances/lua_objects.h"

namespace crescent::lua {

class LuaOptimizer final : public LuaObjectOf<Optimizer> {
 public:
  static void describe(Schema<LuaOptimizer>&) {}
  template <class T>
  static void describe_base(Schema<T>& s) {
    s.keyword_only(false)
        .field("learning_rate", &LuaOptimizer::learning_rate_, "A number or a schedule.")
        .alias("lr")
        .keyword_only(true);
    Optimizer::describe_base<T>(s);
  }

 protected:
  /// The names of the slots (state per variable) that self:slots() returns; empty if the class does
  /// not define slots().
  std::vector<std::string> slots() const override;
  /// The result of self:initial_slot(name, variable); zeros if the class does not define
  /// initial_slot().
  Tensor initial_slot(std::string_view slot, const Variable& variable) const override;
  /// Calls self:update_step(gradient, variable, learning_rate, state); state has the slots by name
  /// and the number of the step.
  void update(const Variable& variable, const Tensor& gradient, const Tensor& rate,
              const Tensor& step, Slots slots) override;
};

}  // namespace crescent::lua
