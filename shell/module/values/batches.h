// Data of models as Lua gives it: tensors, tables of tensors by position or by name, functions that
// produce batches.
#pragma once
#include "crescent/model.h"
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

/// A list of what the table at `index` has by the wanted ones of these names; fails for names
/// beyond them.
void push_in_order(lua_State* L, int index, const std::vector<std::string>& names,
                   const std::vector<std::string>& wanted);
/// One tensor, a table of tensors, a table by the names of inputs (or outputs), or numbers; nil is
/// nothing.
Tensors to_data(lua_State* L, int index, const DataNames& names);
/// The same of the weights of samples, where an empty table is nothing: train_on_batch(x, y, {}).
Tensors to_weights(lua_State* L, int index, const DataNames& names);
/// The same of targets for these inputs. A model that is no graph is called to know the names of
/// its outputs where they are needed.
Tensors to_targets(lua_State* L, int index, Model& model, const Tensors& x);
/// What a model gives: one tensor or symbol, a list of them, or a table by its outputs' keys.
template <class T>
void push_outputs(lua_State* L, const Model& model, std::vector<T> items) {
  const std::vector<std::string> keys = model.keys().outputs;
  if (keys.size() != items.size()) return push(L, OneOrMore<T>{std::move(items)});
  lua_createtable(L, 0, static_cast<int>(keys.size()));
  for (size_t i = 0; i < keys.size(); ++i) {
    push(L, items[i]);
    lua_setfield(L, -2, keys[i].c_str());
  }
}
/// A function that returns x, y, sample_weight of the next batch, or nil at the end of the epoch.
DatasetPtr function_dataset(lua_State* L, int index, const DataNames& inputs,
                            const DataNames& outputs, int64_t batches);
/// A dataset, or a function that makes one; none for other values.
DatasetPtr dataset_at(lua_State* L, int index, const Model& model, int64_t batches);
/// The data as the model takes them: parts by the names of inputs and outputs. Fails for a stream
/// without end unless `batches` says how many are wanted.
DatasetPtr for_model(const DatasetPtr& data, const Model& model, int64_t batches);

}  // namespace crescent::lua
