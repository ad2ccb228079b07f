// Data of models as Lua gives it: tensors, tables of tensors by position or by name, functions that
// produce batches.
#pragma once
#include "crescent/model/model.h"
#include "lua/state.h"
#include "values/push.h"

namespace crescent::lua {

/// Names of a model's inputs or outputs, asked for only where a table has names.
class DataNames {
 public:
  DataNames() = default;
  std::vector<std::string> get() const;
  /// Without those of outputs that compile gave neither a loss nor metrics.
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

/// One tensor, a table of tensors, a table by the names of inputs (or outputs), or numbers; nil is
/// nothing.
Tensors to_data(lua_State* L, int index, const DataNames& names);
/// The same of the weights of samples, where an empty table is nothing: train_on_batch(x, y, {}).
Tensors to_weights(lua_State* L, int index, const DataNames& names);
/// The same of a model's inputs: one that is no graph is given tables as they are nested.
Tensors to_inputs(lua_State* L, int index, Model& model);
/// A tensor, or none, for each input of a graph, from what a call is given.
List inputs_of_graph(const Model& graph, const Value& nested);
/// The same of targets for these inputs. A model that is no graph is called to know the names of
/// its outputs where they are needed.
Tensors to_targets(lua_State* L, int index, Model& model, const Tensors& x);
/// A function that returns x, y, sample_weight of the next batch, or nil at the end of the epoch.
DatasetPtr function_dataset(lua_State* L, int index, const DataNames& inputs,
                            const DataNames& outputs, int64_t batches);
/// A dataset, or a function that makes one; none for other values.
DatasetPtr dataset_at(lua_State* L, int index, const Model& model, int64_t batches);
/// The data as the model takes them: parts by the names of inputs and outputs. Fails for a stream
/// without end unless `batches` says how many are wanted.
DatasetPtr for_model(const DatasetPtr& data, const Model& model, int64_t batches);

}  // namespace crescent::lua
