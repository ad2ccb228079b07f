// Data of models in Lua: tensors, tables of tensors by position or by name, functions that return
// batches.
#pragma once
#include "crescent/model/model.h"
#include "lua/state.h"
#include "values/push.h"

namespace crescent::lua {

/// The names of the inputs or outputs of a model, which are computed only if a table has names.
class DataNames {
 public:
  DataNames() = default;
  std::vector<std::string> get() const;
  /// The names without those of outputs that have neither a loss nor metrics.
  std::vector<std::string> needed() const;

 private:
  using Of = std::vector<std::string> (Model::*)() const;
  DataNames(const Model& model, Of of) : model_(&model), of_(of) {}
  friend DataNames input_names(const Model& model);
  friend DataNames output_names(const Model& model);

  const Model* model_ = nullptr;
  Of of_ = nullptr;
};
DataNames input_names(const Model& model);
DataNames output_names(const Model& model);

/// The tensors in a tensor, a table of tensors, a table by the names of inputs (or outputs), or
/// numbers; empty for nil.
Tensors to_data(lua_State* L, int index, const DataNames& names);
/// The sample weights; empty also for an empty table: train_on_batch(x, y, {}).
Tensors to_weights(lua_State* L, int index, const DataNames& names);
/// The inputs of a model; tables for a model without a graph keep their structure.
Tensors to_inputs(lua_State* L, int index, Model& model);
/// A tensor, or null, for each input of a graph, from the argument of a call.
List inputs_of_graph(const Model& graph, const Value& nested);
/// The targets for these inputs. If names of outputs are needed, a model without a graph is called
/// to find them.
Tensors to_targets(lua_State* L, int index, Model& model, const Tensors& x);
/// The dataset of a function that returns x, y, sample_weight of the next batch, or nil at the end
/// of the epoch.
DatasetPtr function_dataset(lua_State* L, int index, const DataNames& inputs,
                            const DataNames& outputs, int64_t batches);
/// The dataset at `index`, or that of a function; null for other values.
DatasetPtr dataset_at(lua_State* L, int index, const Model& model, int64_t batches);
/// The dataset for the model, with parts ordered by the names of inputs and outputs. Fails for an
/// infinite stream unless `batches` limits it.
DatasetPtr for_model(const DatasetPtr& data, const Model& model, int64_t batches);

}  // namespace crescent::lua
