#include "training/model_steps.h"

#include "crescent/model/steps.h"
#include "instances/instance.h"
#include "values/batches.h"
#include "values/read.h"

namespace crescent::lua {
namespace {

/// Reads the batch from a table {x, y, sample_weight}, whose members are given by position or by
/// name.
Batch batch_at(lua_State* L, const Model& model, int index) {
  if (!is_plain_table(L, index)) fail_expected(L, index, "data as a table {x, y, sample_weight}");
  Batch batch;
  const std::tuple<const char*, Tensors*, DataNames> parts[] = {
      {"x", &batch.x, input_names(model)},
      {"y", &batch.y, output_names(model)},
      {"sample_weight", &batch.sample_weight, output_names(model)}};
  lua_Integer index_in_table = 0;
  reserve(L, 4);
  for (const auto& [name, tensors, names] : parts) {
    lua_rawgeti(L, index, ++index_in_table);
    if (lua_isnil(L, -1)) {
      lua_pop(L, 1);
      push_field(L, index, name);
    }
    if (!lua_isnil(L, -1)) *tensors = to_data(L, lua_gettop(L), names);
    lua_pop(L, 1);
  }
  if (batch.x.empty()) fail("expected data as a table {x, y, sample_weight}, got no x");
  return batch;
}

Tensors tensors_at(const Any& value, const DataNames& names) {
  return to_data(current(), value.index, names);
}

/// The steps that methods of the model run: the default ones for a model of a Lua class, which
/// calls them where it defines steps of its own.
const Steps& base_steps(const Model& model) {
  static const Steps default_steps;
  return dynamic_cast<const Instance*>(&model) ? default_steps : steps_of(model);
}

/// Pushes the logs as a table; if a step returned no logs, pushes the current loss and metrics.
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
  return push_logs(model,
                   base_steps(model).train_step(model, batch_at(current(), model, data.index)));
}
OnStack test_step(Model& model, Any data) {
  return push_logs(model,
                   base_steps(model).test_step(model, batch_at(current(), model, data.index)));
}
OneOrMore<Tensor> predict_step(Model& model, Any x) {
  return {base_steps(model).predict_step(model, tensors_at(x, input_names(model)))};
}
Batch batch_of(const Model& model, Any x, Any y, Any sample_weight) {
  return {tensors_at(x, input_names(model)), tensors_at(y, output_names(model)),
          tensors_at(sample_weight, output_names(model))};
}
Tensor compute_loss(Model& model, Any x, Any y, Any y_pred, Any sample_weight, bool training) {
  const Batch batch = batch_of(model, x, y, sample_weight);
  return base_steps(model).compute_loss(model, batch, tensors_at(y_pred, output_names(model)),
                                        training);
}
OnStack compute_metrics(Model& model, Any x, Any y, Any y_pred, Any sample_weight) {
  const Batch batch = batch_of(model, x, y, sample_weight);
  return push_logs(model, base_steps(model).compute_metrics(
                              model, batch, tensors_at(y_pred, output_names(model))));
}

}  // namespace

void add_steps(HandleType& model) {
  model
      .method("train_step -> a table with names", &train_step,
              {"data: a table of x, y, sample_weight"},
              "One step of fit on a batch {x, y, sample_weight}; returns the logs. A derived class "
              "may define its own.")
      .method(
          "test_step -> a table with names", &test_step, {"data: a table of x, y, sample_weight"},
          "Computes loss and metrics of one batch of evaluate; a derived class may define its own.")
      .method(
          "predict_step", &predict_step, {"x: a tensor or a structure of them"},
          "Computes the predictions of one batch of predict; a derived class may define its own.")
      .method("compute_loss", &compute_loss,
              {"x: a tensor or a structure of them=nil", "y: a tensor or a structure of them=nil",
               "y_pred: a tensor or a structure of them=nil",
               "sample_weight: a tensor or a structure of them=nil", "training=true"},
              "The total loss as a scalar: the weighted losses of compile plus the losses that "
              "layers added.")
      .method("compute_metrics -> a table with names", &compute_metrics,
              {"x: a tensor or a structure of them=nil", "y: a tensor or a structure of them=nil",
               "y_pred: a tensor or a structure of them=nil",
               "sample_weight: a tensor or a structure of them=nil"},
              "Updates the metrics of compile with a batch; returns the current loss and metrics.")
      .method(
          "get_metrics_result -> a table with names", [](Model& m) { return push_logs(m, {}); }, {},
          "The current values of loss and metrics.");
}

}  // namespace crescent::lua
