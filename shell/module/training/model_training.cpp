#include "training/model_training.h"

#include <cmath>
#include <cstdio>

#include "background/async_run.h"
#include "classes/building.h"
#include "classes/lua_dataset.h"
#include "classes/options.h"
#include "crescent/base/mapped.h"
#include "crescent/model/training_run.h"
#include "instances/lua_objects.h"
#include "lua/results.h"
#include "training/given_model.h"
#include "training/training_arguments.h"
#include "values/batches.h"
#include "values/interruption.h"
#include "values/structured.h"

namespace crescent::lua {

std::string log_text(const std::string& name, double value) {
  char number[32];
  std::snprintf(number, sizeof number, "%.4g", std::isnan(value) ? std::abs(value) : value);
  return concat(", ", name, " ", number);
}

namespace {

int64_t integer_option(const Dict& options, std::string_view name) {
  const Value* value = options.find(name);
  return value && !value->is_null() ? value->as_int() : -1;
}

/// Pushes the loss and metrics that the method returns: as a table by name if `as_dict` is true,
/// else as a list, or as a number if there is only one.
void push_results(lua_State* L, const char* method, const NamedValues& values, bool as_dict) {
  if (!as_dict && values.size() == 1) return push_float(L, values.front().second);
  lua_createtable(L, 0, static_cast<int>(values.size()));
  std::vector<std::string> names;
  for (const auto& [name, value] : values) {
    names.push_back(name);
    push_float(L, value);
    as_dict ? lua_setfield(L, -2, name.c_str())
            : lua_rawseti(L, -2, static_cast<lua_Integer>(names.size()));
  }
  if (!as_dict) mark_results(L, method, names);
}

// The key in the Lua registry of a table {handle of model = loss passed to compile}.
const char losses_key = 0;

void push_losses(lua_State* L) { push_weak_table(L, &losses_key, "k"); }

/// The loss in which objects made of Lua functions are replaced by these functions.
Value with_functions(const Value& loss) {
  return mapped(loss, [](const Value& value) -> std::optional<Value> {
    const auto lua_loss = value.object_as<LuaLoss>();
    if (!lua_loss || !lua_loss->is_function()) return std::nullopt;
    return Value(std::make_shared<LuaFunction>(lua_loss->function()));
  });
}

int compile(lua_State* L) {
  auto model = self(L);
  expect_not_in_training(*model, "compile");
  const Dict options = options_from(L, 2, schema<CompileOptions>("compile"));
  model->compile(options);
  const Value* loss = options.find("loss");
  push_losses(L);
  lua_pushvalue(L, 1);
  push_value(L, loss ? with_functions(*loss) : Value());
  lua_rawset(L, -3);
  return 0;
}

/// Pushes the loss that was passed to compile; for a loaded model, the loss that its file contains.
OnStack loss_of(const ModelPtr& model) {
  lua_State* L = current();
  push_losses(L);
  push_object(L, model);
  if (lua_rawget(L, -2) != LUA_TNIL) return {};
  const Value options = model->compile_config();
  const Value* loss = options.is_dict() ? options.as_dict().find("loss") : nullptr;
  push_value(L, loss ? mapped(*loss,
                              [](const Value& value) -> std::optional<Value> {
                                if (!value.is_dict() || !value.as_dict().contains("class_name"))
                                  return std::nullopt;
                                return Value(get<Loss>(value));
                              })
                     : Value());
  return {};
}

/// Implements the assignment model.loss = x: fails, because compile sets the loss. In a Lua class
/// an attribute of this name can be assigned.
void set_loss(Model& model, Any) {
  if (!dynamic_cast<Instance*>(&model)) fail("model: 'loss' cannot be set; compile takes it");
  lua_State* L = current();
  lua_pushliteral(L, "loss");
  lua_insert(L, 2);
  set_attribute(L);
}

/// The class weights; the keys are the labels. The list {1, 5} is the table {[1] = 1, [2] = 5} in
/// Lua, so it gives the weights of the labels 1 and 2.
Value weights_by_label(const Value& weights) {
  Dict result;
  if (weights.is_dict()) {
    for (const DictEntry& entry : weights.as_dict())
      result.set(entry.key, weights_by_label(entry.value));
    return result;
  }
  if (!weights.is_list()) return weights;
  List outputs;
  for (const Value& item : weights.as_list()) {
    if (item.is_number())
      result.set(std::to_string(result.size() + 1), item);
    else
      outputs.push_back(weights_by_label(item));
  }
  return outputs.empty() ? Value(result) : Value(outputs);
}

/// Fails if a dataset is given together with targets (index 3), and warns if batch_size is given,
/// since a dataset has its own. For validation arrays batch_size is allowed.
void check_call_on_dataset(lua_State* L, const char* function, const Dict& options) {
  if (!lua_isnoneornil(L, 3))
    fail(
        "When providing `x` as a dataset, `y` should not be passed. Instead, the targets should "
        "be included as part of the dataset.");
  const Value *size = options.find("batch_size"), *validation = options.find("validation_data");
  if (size && !size->is_null() && !(validation && validation->is_list()))
    warn(function, ": batch_size is not used: a dataset gives batches of its own");
}

/// The dataset to train on; null if arrays are given. The batches of a dataset class in Lua are
/// shuffled unless the option `shuffle` is false.
DatasetPtr training_data(lua_State* L, const Model& model, const Dict& options) {
  const int64_t steps_per_epoch = integer_option(options, "steps_per_epoch");
  const Value* shuffle = options.find("shuffle");
  auto batches = object_as<LuaDataset>(L, 2);
  if (!batches || (shuffle && *shuffle == Value(false)))
    return dataset_at(L, 2, model, steps_per_epoch);
  return for_model(shuffled_stream(std::move(batches)), model, steps_per_epoch);
}

/// Calls `train` with the data and the options of fit. Each of `further_options` is set unless the
/// user gives it.
template <class Train>
auto train_on(lua_State* L, Model& model, Train train, const Dict& further_options = {}) {
  const int first_option_index = first_option(L, model, 2);
  Dict options = options_from(L, first_option_index, schema<FitOptions>("fit"));
  for (const DictEntry& option : further_options)
    if (!options.contains(option.key)) options.set(option.key, option.value);
  if (Value* weights = options.find("class_weight")) *weights = weights_by_label(*weights);
  if (Value* validation = options.find("validation_data")) {
    if (auto generator = validation->object_as<LuaFunction>()) {
      generator->function.push(L);
      *validation = dataset_at(L, -1, model, integer_option(options, "validation_steps"));
      lua_pop(L, 1);
    } else if (auto data = validation->object_as<Dataset>()) {
      *validation = for_model(data, model, integer_option(options, "validation_steps"));
    }
  }
  const DatasetPtr data = training_data(L, model, options);
  if (data) check_call_on_dataset(L, "fit", options);
  if (data) return train(data, options);
  const Tensors x = to_inputs(L, 2, model);
  return train(x, to_targets(L, 3, model, x), options);
}

int fit(lua_State* L) {
  Interruptible interruptible;
  auto model = self(L);
  expect_not_in_training(*model, "fit");
  push(L, train_on(L, *model, [&](const auto&... arguments) { return model->fit(arguments...); }));
  interruptible.mark_result_returned();
  return 1;
}

int start_training(lua_State* L) {
  auto model = self(L);
  expect_not_in_training(*model, "start_training");
  push(L, training_run_of(L, *model));
  return 1;
}

int evaluate(lua_State* L) {
  Interruptible interruptible;
  auto model = self(L);
  expect_not_in_training(*model, "evaluate");
  const int first_option_index = first_option(L, *model, 2);
  const Dict options = options_from(L, first_option_index, schema<EvaluateOptions>("evaluate"));
  const Value* as_dict = options.find("return_dict");
  const DatasetPtr data = dataset_at(L, 2, *model, integer_option(options, "steps"));
  if (data) check_call_on_dataset(L, "evaluate", options);
  const Tensors x = data ? Tensors() : to_inputs(L, 2, *model);
  const NamedValues values = data ? model->evaluate(data, options)
                                  : model->evaluate(x, to_targets(L, 3, *model, x), options);
  push_results(L, "evaluate", values, as_dict && as_dict->as_bool());
  return 1;
}

int predict(lua_State* L) {
  Interruptible interruptible;
  auto model = self(L);
  const int first_option_index = first_option(L, *model, 1);
  const Dict options = options_from(L, first_option_index, schema<PredictOptions>("predict"));
  const DatasetPtr data = dataset_at(L, 2, *model, integer_option(options, "steps"));
  const Tensors outputs =
      data ? model->predict(data, options) : model->predict(to_inputs(L, 2, *model), options);
  push_nested(L, model->structures().outputs, outputs);
  return 1;
}

OnStack train_on_batch(Model& model, Any x, Any y, Any sample_weight, NamedValueTable class_weight,
                       bool reset_metrics, bool return_dict) {
  expect_not_in_training(model, "train_on_batch");
  lua_State* L = current();
  const Tensors inputs = to_inputs(L, x.index, model);
  push_results(L, "train_on_batch",
               model.train_on_batch(inputs, to_targets(L, y.index, model, inputs),
                                    to_weights(L, sample_weight.index, output_names(model)),
                                    class_weight.dict, reset_metrics),
               return_dict);
  return {};
}

OnStack test_on_batch(Model& model, Any x, Any y, Any sample_weight, bool reset_metrics,
                      bool return_dict) {
  expect_not_in_training(model, "test_on_batch");
  lua_State* L = current();
  const Tensors inputs = to_inputs(L, x.index, model);
  push_results(
      L, "test_on_batch",
      model.test_on_batch(inputs, to_targets(L, y.index, model, inputs),
                          to_weights(L, sample_weight.index, output_names(model)), reset_metrics),
      return_dict);
  return {};
}

OnStack predict_on_batch(Model& model, Any x) {
  lua_State* L = current();
  const Tensors outputs = model.predict_on_batch(to_inputs(L, x.index, model));
  push_nested(L, model.structures().outputs, outputs);
  return {};
}

Optimizer& optimizer_of(const Model& model) {
  if (!model.optimizer()) fail("You must compile your model before using it.");
  return *model.optimizer();
}

Variable learning_rate(Model& model) { return optimizer_of(model).learning_rate(); }
void set_model_rate(Model& model, Any rate) { set_learning_rate(optimizer_of(model), rate); }

}  // namespace

TrainingRunPtr training_run_of(lua_State* L, Model& model, bool is_quiet) {
  return train_on(
      L, model, [&](const auto&... arguments) { return model.start_training(arguments...); },
      is_quiet ? Dict{{"verbose", 0}} : Dict());
}

void set_learning_rate(Optimizer& optimizer, Any rate) {
  lua_State* L = current();
  const auto schedule = object_as<Schedule>(L, rate.index);
  LearningRate learning_rate = schedule ? 0.0 : Read<double>::from(L, rate.index);
  learning_rate.schedule = schedule;
  optimizer.set_learning_rate(learning_rate);
}

void add_training(HandleType& model) {
  model
      .raw_method("compile -> nothing", compile,
                  {"optimizer: a name, a configuration or an optimizer=rmsprop",
                   "loss: a loss, its name, a function, or a structure of them=nil",
                   "metrics: a list of metrics or a structure of them=nil"},
                  "Configures the model for training: optimizer, loss and metrics.",
                  &schema<CompileOptions>("compile"))
      .raw_method("fit -> a history", fit,
                  {"x: a tensor, a structure of them, or a dataset",
                   "y: a tensor or a structure of them=nil"},
                  "Trains the model; returns the history. Options by name: help(model.fit).",
                  &schema<FitOptions>("fit"))
      .raw_method("start_training -> a training run", start_training,
                  {"x: a tensor, a structure of them, or a dataset",
                   "y: a tensor or a structure of them=nil"},
                  "Prepares the training that fit would do and returns it as a run: "
                  "run:advance(100) and run:finish() train; in between, the run can be inspected, "
                  "changed and saved. Options are those of fit.",
                  &schema<FitOptions>("fit"))
      .raw_method("evaluate -> a list of numbers, or a table by name", evaluate,
                  {"x: a tensor, a structure of them, or a dataset",
                   "y: a tensor or a structure of them=nil"},
                  "The loss and metrics on the given data.", &schema<EvaluateOptions>("evaluate"))
      .raw_method("predict -> a tensor or a structure of them", predict,
                  {"x: a tensor, a structure of them, or a dataset"},
                  "The outputs of the model for these inputs.", &schema<PredictOptions>("predict"))
      .method("train_on_batch -> a list of numbers, or a table by name", &train_on_batch,
              {"x: a tensor or a structure of them", "y: a tensor or a structure of them=nil",
               "sample_weight: a tensor or a structure of them=nil", "class_weight=nil",
               "reset_metrics=true", "return_dict=false"},
              "One update on one batch. Returns the loss and metrics of this batch, or with "
              "reset_metrics = false those since the last reset.")
      .method("test_on_batch -> a list of numbers, or a table by name", &test_on_batch,
              {"x: a tensor or a structure of them", "y: a tensor or a structure of them=nil",
               "sample_weight: a tensor or a structure of them=nil", "reset_metrics=true",
               "return_dict=false"},
              "The loss and metrics on one batch, without an update.")
      .method("predict_on_batch -> a tensor or a structure of them", &predict_on_batch,
              {"x: a tensor or a structure of them"}, "The outputs of the model for one batch.")
      .property("loss", &loss_of, &set_loss, "The loss as passed to compile.")
      .property("learning_rate", &learning_rate, &set_model_rate,
                "The learning rate of the optimizer.");
}

}  // namespace crescent::lua
