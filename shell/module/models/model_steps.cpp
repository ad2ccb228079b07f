#include "models/model_steps.h"

#include "crescent/steps.h"
#include "values/batches.h"
#include "values/read.h"

namespace crescent::lua {
namespace {

/// {x, y, sample_weight} by position or by name.
Batch batch_at(lua_State* L, int index) {
  if (!is_plain_table(L, index)) fail_expected(L, index, "data as a table {x, y, sample_weight}");
  Batch batch;
  const std::pair<const char*, Tensors*> parts[] = {
      {"x", &batch.x}, {"y", &batch.y}, {"sample_weight", &batch.sample_weight}};
  lua_Integer place = 0;
  reserve(L, 4);
  for (const auto& [name, tensors] : parts) {
    lua_rawgeti(L, index, ++place);
    if (lua_isnil(L, -1)) {
      lua_pop(L, 1);
      push_field(L, index, name);
    }
    if (!lua_isnil(L, -1)) *tensors = to_tensors(L, lua_gettop(L));
    lua_pop(L, 1);
  }
  if (batch.x.empty()) fail("expected data as a table {x, y, sample_weight}, got no x");
  return batch;
}

Tensors tensors_at(const Any& value) {
  lua_State* L = current();
  return lua_isnoneornil(L, value.index) ? Tensors() : to_tensors(L, value.index);
}

/// As a table; where a step gave nothing, what loss and metrics are so far.
OnStack push_logs(const Model& model, StepLogs logs) {
  if (logs.empty()) logs = metrics_result(model);
  lua_State* L = current();
  lua_createtable(L, 0, static_cast<int>(logs.size()));
  for (const auto& [name, value] : logs) {
    push(L, value);
    lua_setfield(L, -2, name.c_str());
  }
  return {};
}

OnStack train_step(Model& model, Any data) {
  return push_logs(model, Steps().train_step(model, batch_at(current(), data.index)));
}
OnStack test_step(Model& model, Any data) {
  return push_logs(model, Steps().test_step(model, batch_at(current(), data.index)));
}
OneOrMore<Tensor> predict_step(Model& model, Any x) {
  return {Steps().predict_step(model, tensors_at(x))};
}
Tensor compute_loss(Model& model, Any x, Any y, Any y_pred, Any sample_weight, bool training) {
  const Batch batch{tensors_at(x), tensors_at(y), tensors_at(sample_weight)};
  return Steps().compute_loss(model, batch, tensors_at(y_pred), training);
}
OnStack compute_metrics(Model& model, Any x, Any y, Any y_pred, Any sample_weight) {
  const Batch batch{tensors_at(x), tensors_at(y), tensors_at(sample_weight)};
  return push_logs(model, Steps().compute_metrics(model, batch, tensors_at(y_pred)));
}

}  // namespace

void add_steps(Type& model) {
  model
      .method("train_step", &train_step, {"data"},
              "What fit does with a batch {x, y, sample_weight}; gives logs. A class of one's own "
              "may have another.")
      .method("test_step", &test_step, {"data"}, "The same of evaluate.")
      .method("predict_step", &predict_step, {"x"}, "The same of predict; gives predictions.")
      .method("compute_loss", &compute_loss,
              {"x", "y", "y_pred", "sample_weight=nil", "training=true"},
              "The losses of compile, weighted, and what layers add: a scalar.")
      .method("compute_metrics", &compute_metrics, {"x", "y", "y_pred", "sample_weight=nil"},
              "Updates the metrics of compile; gives what loss and metrics are so far.")
      .method(
          "get_metrics_result", [](Model& m) { return push_logs(m, {}); }, {},
          "What loss and metrics are so far.");
}

}  // namespace crescent::lua
