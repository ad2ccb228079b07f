// A match pairs a dataset of a file with a variable of a model. Weights in any layout are read by
// making matches: assignment.h then reads the datasets and assigns the variables.
#pragma once
#include <string>
#include <vector>

#include "crescent/model/model.h"

namespace crescent::keras {

/// A dataset (saved array) of a file, and the model variable to which it is loaded.
struct Match {
  using Convert = Tensor (*)(const Tensor& saved);
  using ShapeOf = Shape (*)(const Shape& saved);
  std::string dataset;
  Variable variable;
  /// converts the saved value to Crescent's convention, for example to another order of axes; null
  /// if no conversion is needed
  Convert convert = nullptr;
  std::string layer{};  ///< the layer's name, for messages
  /// Returns the shape after `convert`; null if the saved shape stays the same.
  ShapeOf converted_shape = nullptr;
  /// if a layer's class loads the value itself: this layer; the last part of the dataset's path is
  /// the name of the value
  Layer* self_loading_layer = nullptr;
  /// the second matrix of the layer's adapter; it is set to zero after loading, because the saved
  /// weight already includes the term of the adapter; empty if the layer has no adapter
  Variable adapter{};
};
using Matches = std::vector<Match>;
/// Replaces the saved shape of each match in `saved_specs` by the shape after conversion.
void convert_shapes(const Matches& matches, std::vector<TensorSpec>& saved_specs);

/// Whether the class of a layer saves and loads its state itself, as arrays by name.
bool saves_own_state(const Layer& layer);
/// The state of a layer for which saves_own_state() is true: arrays by name.
Dict own_state(const Layer& layer);
/// Passes the loaded values to those layers whose class loads its state itself.
void pass_to_layers(const Matches& matches);
/// Sets the variable `adapter` of every match that has one to zero.
void clear_adapters(const Matches& matches);

std::vector<std::string> datasets_of(const Matches& matches);
void append(Matches& matches, Matches additions);

/// The variables of the layer that do not belong to one of the layers in `inner_layers`.
Variables own_variables(const Layer& layer, const std::vector<LayerPtr>& inner_layers);
/// Fails if a layer has no weights because the model was not built.
void check_built(const Model& model, const std::string& path);

}  // namespace crescent::keras
