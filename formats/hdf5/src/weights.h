// Keras' weight groups: layer_names, a group a layer, weight_names, a dataset a weight. Writing
// them, and matching what a file has with what a model has. Nothing is assigned before everything
// has been read and checked.
#pragma once
#include <string>
#include <vector>

#include "crescent/model.h"
#include "file_reader.h"
#include "origin.h"

namespace crescent::hdf5 {

inline constexpr const char* kKerasVersion = "2.3.1";  ///< whose layout we write
inline constexpr const char* kBackend = "tensorflow";

/// A dataset that belongs to a variable.
struct Match {
  using Convert = Tensor (*)(const Tensor& saved);
  std::string dataset;
  Variable variable;
  Convert convert = nullptr;  ///< from another convention; null: as it is
  std::string layer{};        ///< for messages
};
using Matches = std::vector<Match>;

/// Adds the weights of a model below `group` ("" is the root).
void write_weights(Tree& tree, Model& model, const std::string& group);
Node dataset_node(std::string path, const Tensor& value);

/// "model_weights" or the root, wherever layer_names is. Fails when neither has it.
std::string find_weights(FileReader& file);

/// Layer for layer in order, names ignored (Keras' rule for load_weights).
Matches match_in_order(FileReader& file, const std::string& group, Model& model,
                       const Origin& origin);
/// By name when the names are the same, else in order: for a model that was made from the same
/// file.
Matches match_own(FileReader& file, const std::string& group, Model& model, const Origin& origin);
/// Layers of equal names only. With `skip_mismatch` a layer that does not fit is left alone, with a
/// warning.
Matches match_by_name(FileReader& file, const std::string& group, Model& model,
                      const Origin& origin, bool skip_mismatch);

/// Reads all datasets, then assigns all variables. Fails on the first shape that differs.
void assign_all(FileReader& file, Matches matches);
/// The same for variables that have values, which change when nothing can fail any more: the
/// numbers are checked in the mapped file, and then copied to the memory that variables have.
void replace_all(FileReader& file, Matches matches);

/// Variables of the layer itself: none of those `inside` it has them.
Variables own_variables(const Layer& layer, const std::vector<LayerPtr>& inside);
/// Fails when a layer has no weights yet because nobody built it.
void check_built(const Model& model, const std::string& path);

}  // namespace crescent::hdf5
