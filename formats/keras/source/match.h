// Matches of datasets in a file with variables of a model, the common result for all layouts of
// files; assignment.h reads the datasets and assigns the variables.
#pragma once
#include <string>
#include <vector>

#include "crescent/model/model.h"

namespace crescent::keras {

/// A dataset (saved array) and the model variable that it is loaded into.
struct Match {
  using Convert = Tensor (*)(const Tensor& saved);
  using ShapeOf = Shape (*)(const Shape& saved);
  std::string dataset;
  Variable variable;
  /// converts the saved value from another convention, such as another order of axes; null if no
  /// conversion is needed
  Convert convert = nullptr;
  std::string layer{};      ///< the layer's name, for messages
  ShapeOf shape = nullptr;  ///< the shape after `convert`; null if it is the saved shape
  /// the layer whose class loads the value itself, under the last part of the dataset's path as its
  /// name
  Layer* self_loading_layer = nullptr;
};
using Matches = std::vector<Match>;
/// Replaces each shape in `saved`, in the order of `matches`, by the shape after conversion.
void convert_shapes(const Matches& matches, std::vector<TensorSpec>& saved);

/// Whether the class of a layer saves and loads its state itself, as arrays by name.
bool is_kept_by_class(const Layer& layer);
Dict kept_by_class(const Layer& layer);
/// Passes the loaded values to those layers whose class loads its state itself.
void pass_to_layers(const Matches& matches);

std::vector<std::string> datasets_of(const Matches& matches);
void append(Matches& matches, Matches more);

/// The variables of the layer that do not belong to a layer `inside` it.
Variables own_variables(const Layer& layer, const std::vector<LayerPtr>& inside);
/// Fails if a layer has no weights because the model was not built.
void check_built(const Model& model, const std::string& path);

}  // namespace crescent::keras
