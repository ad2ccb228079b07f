// Data of models in Lua: tensors, tables of tensors by position or by name, and functions that
// return batches.
#pragma once
#include "crescent/model/model.h"
#include "lua/state.h"
#include "values/push.h"

namespace crescent::lua {

/// The names of a model's inputs or outputs; they are computed only when a table with names
/// requires them.
class DataNames {
 public:
  DataNames() = default;
  std::vector<std::string> get() const;
  /// The names, without outputs that have neither a loss nor metrics.
  std::vector<std::string> required_names() const;
  /// Whether these are names of inputs.
  bool are_inputs() const { return names_function_ == &Model::input_names; }
  /// Fails for `count` tensors in a list if the inputs have names: names have no order in Lua.
  void refuse_list(size_t count) const;

 private:
  using NamesFunction = std::vector<std::string> (Model::*)() const;
  DataNames(const Model& model, NamesFunction names_function)
      : model_(&model), names_function_(names_function) {}
  friend DataNames input_names(const Model& model);
  friend DataNames output_names(const Model& model);

  const Model* model_ = nullptr;
  NamesFunction names_function_ = nullptr;
};
DataNames input_names(const Model& model);
DataNames output_names(const Model& model);

/// Converts data to tensors: a tensor, a table of tensors, a table with the names of inputs (or
/// outputs), or numbers; empty for nil.
Tensors to_data(lua_State* L, int index, const DataNames& names);
/// Converts sample weights to tensors; an empty table also means none: train_on_batch(x, y, {}).
Tensors to_weights(lua_State* L, int index, const DataNames& names);
/// Converts the inputs of a model to tensors. For a model without a graph, the nested structure of
/// tables is kept.
Tensors to_inputs(lua_State* L, int index, Model& model);
/// The data for each input of a graph, in order, from `nested`, the inputs of a call: tensors and
/// nulls.
List inputs_of_graph(const Model& graph, const Value& nested);
/// Converts the targets for the inputs `x` to tensors. If names of outputs are needed and the model
/// has no graph, calls the model to find them.
Tensors to_targets(lua_State* L, int index, Model& model, const Tensors& x);
/// A dataset whose batches a Lua function returns: x, y, sample_weight of the next batch, or nil at
/// the end of the epoch.
DatasetPtr function_dataset(lua_State* L, int index, const DataNames& inputs,
                            const DataNames& outputs, int64_t batch_count);
/// The dataset at `index`, or one made of the function there; null for other values.
DatasetPtr dataset_at(lua_State* L, int index, const Model& model, int64_t batch_count);
/// The dataset with its parts put in the order of the model's inputs and outputs. Fails for an
/// infinite stream unless `batch_count` limits it.
DatasetPtr for_model(const DatasetPtr& data, const Model& model, int64_t batch_count);

}  // namespace crescent::lua
