// The training steps (train_step, test_step, ...) of models whose class is written in Lua: the
// methods of the class or, where it defines none, the default steps.
#include <algorithm>

#include "instances/lua_model.h"
#include "instances/lua_objects.h"
#include "values/structured.h"

namespace crescent::lua {
namespace {

struct NestedTensors {
  const Tensors& tensors;
  Value structure;
};
void push(lua_State* L, const NestedTensors& arrays) {
  const bool is_empty =
      std::none_of(arrays.tensors.begin(), arrays.tensors.end(),
                   [](const Tensor& tensor) { return static_cast<bool>(tensor); });
  if (is_empty && !arrays.structure.is_null()) return lua_pushnil(L);
  push_nested(L, arrays.structure, arrays.tensors);
}

/// The argument `data` of a training step: {x, y, sample_weight}; its members can also be read by
/// name.
struct StepData {
  const Batch& batch;
  Structures structures;
};
void push(lua_State* L, const StepData& data) {
  const auto& [inputs, outputs] = data.structures;
  const std::pair<const char*, NestedTensors> parts[] = {
      {"x", {data.batch.x, inputs}},
      {"y", {data.batch.y, outputs}},
      {"sample_weight", {data.batch.sample_weight, outputs}}};
  lua_createtable(L, 3, 3);
  lua_Integer index = 0;
  for (const auto& [name, arrays] : parts) {
    push(L, arrays);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, name);
    lua_rawseti(L, -2, ++index);
  }
}

const Instance& instance_of(const Model& model) { return dynamic_cast<const Instance&>(model); }

/// Converts the table on top of the stack to logs, sorted by name; nil means no logs.
StepLogs logs_on_top(lua_State* L, const char* method) {
  StepLogs logs;
  if (lua_isnil(L, -1)) return logs;
  const int table_index = lua_gettop(L);
  if (!is_plain_table(L, table_index))
    fail(method, "(): expected a table of names and numbers, got ", describe(L, table_index));
  for (lua_pushnil(L); lua_next(L, table_index); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING)
      fail(method, "(): expected names of logs, got ", describe(L, -2));
    logs.emplace_back(text_of(L, -2), to_tensor(L, lua_gettop(L)));
  }
  std::sort(logs.begin(), logs.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  // the loss comes first
  std::stable_partition(logs.begin(), logs.end(),
                        [](const auto& log) { return log.first == "loss"; });
  return logs;
}

template <class... A>
StepLogs call_for_logs(const Model& model, const char* method, const A&... arguments) {
  lua_State* L = current();
  StackRestorer restorer(L);
  reserve(L, 8);
  instance_of(model).push_self_method(L, method);
  (push(L, arguments), ...);
  protected_call(L, 1 + static_cast<int>(sizeof...(A)), 1);
  return logs_on_top(L, method);
}

}  // namespace

StepLogs LuaSteps::train_step(Model& model, const Batch& batch) const {
  if (!instance_of(model).has("train_step")) return Steps::train_step(model, batch);
  return call_for_logs(model, "train_step", StepData{batch, model.structures()});
}

StepLogs LuaSteps::test_step(Model& model, const Batch& batch) const {
  if (!instance_of(model).has("test_step")) return Steps::test_step(model, batch);
  return call_for_logs(model, "test_step", StepData{batch, model.structures()});
}

Tensors LuaSteps::predict_step(Model& model, const Tensors& x) const {
  if (!instance_of(model).has("predict_step")) return Steps::predict_step(model, x);
  lua_State* L = current();
  StackRestorer restorer(L);
  reserve(L, 8);
  instance_of(model).push_self_method(L, "predict_step");
  push(L, NestedTensors{x, model.structures().inputs});
  protected_call(L, 2, 1);
  if (lua_isnil(L, -1)) fail("predict_step() returned nothing; expected a tensor");
  return tensors_of(nested_at(L, -1));
}

Tensor LuaSteps::compute_loss(Model& model, const Batch& batch, const Tensors& y_pred,
                              bool training) const {
  if (!instance_of(model).has("compute_loss"))
    return Steps::compute_loss(model, batch, y_pred, training);
  lua_State* L = current();
  StackRestorer restorer(L);
  reserve(L, 12);
  instance_of(model).push_self_method(L, "compute_loss");
  const auto [inputs, outputs] = model.structures();
  push(L, NestedTensors{batch.x, inputs});
  for (const Tensors* tensors : {&batch.y, &y_pred, &batch.sample_weight})
    push(L, NestedTensors{*tensors, outputs});
  push(L, training);
  protected_call(L, 6, 1);
  if (lua_isnil(L, -1)) fail("compute_loss() returned nothing; expected a scalar");
  const Tensor loss = to_tensor(L, -1);
  return loss.rank() == 0 ? loss : ops::mean(loss);
}

StepLogs LuaSteps::compute_metrics(Model& model, const Batch& batch, const Tensors& y_pred) const {
  if (!instance_of(model).has("compute_metrics"))
    return Steps::compute_metrics(model, batch, y_pred);
  const auto [inputs, outputs] = model.structures();
  return call_for_logs(model, "compute_metrics", NestedTensors{batch.x, inputs},
                       NestedTensors{batch.y, outputs}, NestedTensors{y_pred, outputs},
                       NestedTensors{batch.sample_weight, outputs});
}

/// Whether the training steps call the model. They do not call it if the class defines train_step
/// but no call, and the model has no graph of layers.
bool LuaSteps::calls_model(const Model& model) const {
  return dynamic_cast<const LuaModel&>(model).graph() || instance_of(model).has("call") ||
         !instance_of(model).has("train_step");
}

}  // namespace crescent::lua
