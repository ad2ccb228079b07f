// Which dataset of a file belongs to which variable of a model. Whatever layout a file has,
// matching ends in these; assignment.h reads the datasets and assigns the variables.
#pragma once
#include <string>
#include <vector>

#include "crescent/model/model.h"

namespace crescent::keras {

/// A dataset that belongs to a variable.
struct Match {
  using Convert = Tensor (*)(const Tensor& saved);
  using ShapeOf = Shape (*)(const Shape& saved);
  std::string dataset;
  Variable variable;
  Convert convert = nullptr;  ///< from another convention; null: as it is
  std::string layer{};        ///< for messages
  ShapeOf shape = nullptr;    ///< of what convert gives; null: that of the saved one
  Layer* keeper = nullptr;    ///< its class takes the value itself, by the dataset's last name
};
using Matches = std::vector<Match>;
/// Shapes of datasets, in the order of the matches, become those of what they are converted to.
void convert_shapes(const Matches& matches, std::vector<TensorSpec>& saved);

/// Whether the class of a layer sees itself to what files hold of its variables, and those arrays
/// by their names.
bool is_kept_by_class(const Layer& layer);
Dict kept_by_class(const Layer& layer);
/// Gives classes that take their values themselves what was read.
void hand_over(const Matches& matches);

std::vector<std::string> datasets_of(const Matches& matches);
void append(Matches& matches, Matches more);

/// Variables of the layer itself: none of those `inside` it has them.
Variables own_variables(const Layer& layer, const std::vector<LayerPtr>& inside);
/// Fails when a layer has no weights yet because nobody built the model.
void check_built(const Model& model, const std::string& path);

}  // namespace crescent::keras
