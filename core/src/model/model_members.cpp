// Declares the methods and properties that all models have in Lua besides those of layers. Help
// texts list them too.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "crescent/layer/stateless.h"
#include "crescent/layer/training.h"
#include "crescent/model/callback.h"
#include "crescent/model/model.h"
#include "training/state/training.h"

namespace crescent {
namespace {

Variables states_of_metrics(const Model& model) {
  Variables variables;
  for (const auto& metric : model.all_metrics())
    for (const Variable& v : metric->variables()) variables.push_back(v);
  return variables;
}

bool runs_eagerly(const Model& model) {
  const Value options = model.compile_config();
  const Value* option_value = options.is_dict() ? options.as_dict().find("run_eagerly") : nullptr;
  return option_value && option_value->is_bool() && option_value->as_bool();
}

/// Variables with their paths in the state tree (get_state_tree of Keras), for example
/// "dense/kernel".
using StatePaths = std::vector<std::pair<std::string, Variable>>;

StatePaths with_paths(const Variables& variables, Layer& model) {
  std::unordered_map<const void*, std::string> generator_paths;
  for (const Layer* layer : model.flatten_layers()) {
    const auto& generators = layer->seed_generators();
    for (size_t i = 0; i < generators.size(); ++i)
      generator_paths.emplace(
          generators[i].state().id(),
          concat(layer->name(), i ? concat("/seed_generator_", i) : "/seed_generator",
                 "/seed_generator_state"));
  }
  StatePaths paths;
  for (const Variable& v : variables) {
    const auto generator_path = generator_paths.find(v.id());
    paths.emplace_back(generator_path == generator_paths.end() ? v.path() : generator_path->second,
                       v);
  }
  return paths;
}

/// The variables of each branch of the state tree.
std::vector<std::pair<std::string, StatePaths>> state_branches(Model& model) {
  StatePaths metric_paths;
  for (const auto& metric : model.all_metrics()) {
    const std::string name =
        metric->name().empty() ? to_snake_case(metric->class_name()) : metric->name();
    for (const Variable& v : metric->variables())
      metric_paths.emplace_back(name + "/" + v.name(), v);
  }
  const auto optimizer = model.optimizer();
  return {{"trainable_variables", with_paths(model.trainable_weights(), model)},
          {"non_trainable_variables", with_paths(non_trainable_state(model), model)},
          {"optimizer_variables", with_paths(optimizer ? optimizer->state() : Variables(), model)},
          {"metrics_variables", std::move(metric_paths)}};
}

/// Sets the value at the path "a/b/c" of nested tables.
void set_nested(Dict& tree, const std::string& path, Value value) {
  const size_t slash = path.find('/');
  if (slash == std::string::npos) {
    tree.set(path, std::move(value));
    return;
  }
  const std::string name = path.substr(0, slash);
  if (!tree.contains(name)) tree.set(name, Dict());
  set_nested(tree[name].as_dict(), path.substr(slash + 1), std::move(value));
}

Dict state_tree(Model& model, const std::string& value_format) {
  if (value_format != "backend_tensor" && value_format != "numpy_array")
    fail("Invalid `value_format` argument. Expected one of {'numpy_array', 'backend_tensor'}. ",
         "Received: value_format=", value_format);
  Dict tree;
  for (const auto& [name, variables] : state_branches(model)) {
    Dict branch;
    std::set<std::string> paths;
    for (const auto& [path, variable] : variables) {
      if (!paths.insert(path).second)
        fail("The following variable path is found twice in the model: '", path,
             "'. `get_state_tree()` can only be called when all variable paths are unique. Make "
             "sure to give unique names to your layers (and other objects).");
      set_nested(branch, path, Codec<Tensor>::encode(variable.value().clone()));
    }
    tree.set(name, std::move(branch));
  }
  return tree;
}

/// Assigns the values in nested tables to the variables with their paths.
void assign_nested(const Dict& tree, const std::string& prefix, const StatePaths& variables) {
  for (const DictEntry& entry : tree) {
    const std::string path = prefix + entry.key;
    if (entry.value.is_dict()) {
      assign_nested(entry.value.as_dict(), path + "/", variables);
      continue;
    }
    if (entry.value.is_list() && entry.value.as_list().empty())
      continue;  // Lua has one type for empty lists and empty tables
    std::vector<std::string> paths;
    for (const auto& [variable_path, variable] : variables) paths.push_back(variable_path);
    const auto match = std::find(paths.begin(), paths.end(), path);
    if (match == paths.end())
      fail("set_state_tree: no variable '", path, "'", did_you_mean(path, paths));
    variables[static_cast<size_t>(match - paths.begin())].second.assign(
        Codec<Tensor>::decode(entry.value));
  }
}

void set_state_tree(Model& model, const Dict& tree) {
  const auto branches = state_branches(model);
  Transaction transaction;
  for (const DictEntry& entry : tree) {
    const auto branch =
        std::find_if(branches.begin(), branches.end(),
                     [&](const auto& named_branch) { return named_branch.first == entry.key; });
    if (branch == branches.end())
      fail("Unknown variable name: ", entry.key, "; expected trainable_variables, ",
           "non_trainable_variables, optimizer_variables or metrics_variables");
    if (entry.value.is_dict()) assign_nested(entry.value.as_dict(), "", branch->second);
  }
  transaction.commit();
}

/// The configuration with which the model was compiled; empty if it was not.
Value compile_config_or_empty(const Model& model) {
  return model.compiled() ? model.compile_config() : Value(Dict());
}

/// Compiles the model with a configuration, and makes the variables of the optimizer.
void compile_from_config(Model& model, const Dict& config) {
  if (config.empty()) return;
  model.compile(config);
  if (model.built() && model.optimizer()) model.optimizer()->build(model.trainable_weights());
}

LayerPtr remove_last(Sequential& model) {
  const std::vector<LayerPtr> old_layers = model.layers();
  model.pop();
  return old_layers.back();
}

}  // namespace

void Model::describe_members(Schema<Model>& s) {
  s.property("layers", &Model::layers,
             "The layers of the graph, without operations such as x + 1, or those registered by "
             "track.")
      .property("operations", &Model::operations, "The layers and the operations of the graph.")
      .property("input_names", &Model::input_names, "The names of the inputs, in order.")
      .property("output_names", &Model::output_names, "The names of the outputs, in order.")
      .property("optimizer", &Model::optimizer, "The optimizer of compile.")
      .property("history", &Model::history, "The history of the last fit.")
      .property("metrics", &Model::all_metrics,
                "The mean losses, the metrics of compile and those of layers.")
      .property("metrics_names", &Model::metrics_names,
                "The names of the values that evaluate returns.")
      .property("metrics_variables", states_of_metrics, "The states of the metrics.")
      .property("run_eagerly", runs_eagerly, "Whether steps run op by op, as set in compile.")
      .property("compiled", &Model::compiled, "Whether compile was called.")
      .property("epochs_trained", &Model::epochs_trained,
                "The number of epochs of all calls of fit so far.")
      .property(
          "stop_training", &Model::stop_training,
          [](Model& model, bool on) { model.stop_training = on; },
          "Set by callbacks to stop training after the batch.")
      .property(
          "stop_evaluating",
          [](Model& model) { return ModelAccess::training(model).stop_requests.evaluating.load(); },
          [](Model& model, bool on) { ModelAccess::training(model).stop_requests.evaluating = on; },
          "Set by callbacks to end evaluate after the batch.")
      .property(
          "stop_predicting",
          [](Model& model) { return ModelAccess::training(model).stop_requests.predicting.load(); },
          [](Model& model, bool on) { ModelAccess::training(model).stop_requests.predicting = on; },
          "Set by callbacks to end predict after the batch; the results are those so far.")
      .method("get_compile_config", compile_config_or_empty,
              "The options of compile as plain values; empty before compile.")
      .method("compile_from_config", compile_from_config,
              "Compiles the model with what get_compile_config returned, and makes the variables "
              "of the optimizer.")
      .arg("config", "The options by name.")
      .method("get_state_tree", state_tree,
              "Copies of the values of all variables in nested tables by their paths: "
              "trainable_variables, non_trainable_variables, optimizer_variables and "
              "metrics_variables.")
      .arg("value_format", "\"backend_tensor\" or \"numpy_array\"; both are tensors.",
           "backend_tensor")
      .method("set_state_tree", set_state_tree,
              "Assigns values to variables by their paths; variables that the tables lack keep "
              "theirs.")
      .arg("state_tree", "What get_state_tree returned, or a part of it.")
      .method("reset_metrics", &Model::reset_metrics, "Resets the states of the metrics.");
}

void Sequential::describe_members(Schema<Sequential>& s) {
  s.method("pop", remove_last, "Removes and returns the last layer.");
}

}  // namespace crescent
