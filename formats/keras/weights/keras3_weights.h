// The layout of .weights.h5 files of Keras 3, which are also in .keras archives: a group per
// object, named by class and number or by attribute, with its variables as numbered datasets. The
// optimizer's variables are in a group beside the layers.
#pragma once
#include <set>

#include "keras/export.h"
#include "keras/source/entry.h"
#include "keras/source/match.h"
#include "keras/source/weight_source.h"

namespace crescent::keras {

/// Layers in a list, and the name of the group of this list in a file of Keras.
struct LayerList {
  std::vector<LayerPtr> layers;
  std::string group;
};

/// Layers that are neither written nor read. Layers inside them are left out, too, unless another
/// layer also contains them.
using SkippedLayers = std::set<const Layer*>;

CRESCENT_KERAS_API void write_keras3_weights(Entries& entries, Model& model,
                                             const SkippedLayers& skipped_layers = {});
void write_keras3_weights(Entries& entries, const LayerList& list);
bool has_keras3_weights(WeightSource& file);
/// Matches the weights of a model with the file. Fails, with the message of Keras, if a layer has
/// another number of variables in the file.
Matches match_keras3_weights(WeightSource& file, Model& model);
/// Matches weights that another model may have saved: also fails if the file has layers that the
/// model lacks. With `skip_mismatch` layers that do not fit are skipped with a warning.
Matches match_all_keras3_weights(WeightSource& file, Model& model, bool skip_mismatch,
                                 const SkippedLayers& skipped_layers = {});
Matches match_keras3_weights(WeightSource& file, const LayerList& list);
/// The path of the group of each layer, and of the model itself, which comes first: "",
/// "layers/dense/", ... A null `file` stands for one that is to be written.
using LayerPaths = std::vector<std::pair<std::string, Layer*>>;
LayerPaths keras3_paths(WeightSource* file, Model& model);
LayerPaths keras3_paths(WeightSource* file, const LayerList& list);

/// The paths of the groups with the variables of the optimizer, and with those of the inner
/// optimizer of a LossScaleOptimizer, which are also in the first group.
inline constexpr const char *kOptimizerGroup = "optimizer/vars",
                            *kInnerOptimizerGroup = "optimizer/inner_optimizer/vars";

}  // namespace crescent::keras
