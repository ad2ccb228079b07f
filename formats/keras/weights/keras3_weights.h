// The layout of Keras 3's .weights.h5, which .keras archives hold too: a place for every object, by
// class and number or by the attribute that it is, its variables by position, the optimizer's
// beside them.
#pragma once
#include "keras/export.h"
#include "keras/source/entry.h"
#include "keras/source/match.h"
#include "keras/source/weight_source.h"

namespace crescent::keras {

/// Layers that are in a list, in the group that Keras has for it.
struct LayerList {
  std::vector<LayerPtr> layers;
  std::string group;
};

CRESCENT_KERAS_API void write_keras3_weights(Entries& entries, Model& model);
void write_keras3_weights(Entries& entries, const LayerList& list);
bool has_keras3_weights(WeightSource& file);
/// Fails in Keras' words when a layer has another number of variables in the file.
Matches match_keras3_weights(WeightSource& file, Model& model);
/// The same for weights of another model: fails also when the file has layers that the model does
/// not have. `skip_mismatch`: leaves what does not fit as it is, with a warning.
Matches match_all_keras3_weights(WeightSource& file, Model& model, bool skip_mismatch);
Matches match_keras3_weights(WeightSource& file, const LayerList& list);
/// Where the layers of a model are, itself the first: "", "layers/dense/", ...
using LayerPaths = std::vector<std::pair<std::string, Layer*>>;
LayerPaths keras3_paths(WeightSource& file, Model& model);
LayerPaths keras3_paths(WeightSource& file, const LayerList& list);

/// Where the variables of the optimizer are.
inline constexpr const char* kOptimizerPlace = "optimizer/vars";

}  // namespace crescent::keras
