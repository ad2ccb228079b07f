// The layout of weights in Keras 2: a group with the attribute layer_names contains a group per
// layer, which has the attribute weight_names and contains a dataset per weight. The functions
// write this layout and match it with a model.
#pragma once
#include "keras/export.h"
#include "keras/source/entry.h"
#include "keras/source/match.h"
#include "keras/source/weight_source.h"
#include "keras/vocabulary/origin.h"
#include "keras/weights/names/renaming.h"

namespace crescent::keras {

/// Adds the weights of a model below `group`; the names are those of `target_generation` ("keras2"
/// or "keras3").
CRESCENT_KERAS_API void write_weights(Entries& entries, Model& model, const std::string& group,
                                      const std::string& target_generation);

/// The path of the group with the attribute layer_names: "model_weights" or the root. Fails if
/// there is none.
std::string find_weights(WeightSource& file);

/// Matches layers in order, whatever their names, as load_weights of Keras does. With
/// `skip_mismatch` a layer that does not fit is skipped with a warning.
Matches match_in_order(WeightSource& file, const std::string& group, Model& model,
                       const Origin& origin, bool skip_mismatch = false);
/// Matches layers by name if the file and the model have the same names, else in order. For a model
/// that was built from the same file.
Matches match_own(WeightSource& file, const std::string& group, Model& model, const Origin& origin);
/// Matches only layers with equal names, after the names in the file were changed by `renaming`.
Matches match_by_name(WeightSource& file, const std::string& group, Model& model,
                      const Origin& origin, bool skip_mismatch, const Renaming& renaming);
/// Matches weights by canonical path (weight_paths.h), after renaming the layers of the file. The
/// order of the weights, and which of them are trainable, have no influence. Fails unless all
/// weights are found.
Matches match_by_layer_path(WeightSource& file, const std::string& group, Model& model,
                            const Origin& origin, const Renaming& renaming);
/// The names of all datasets of all layers.
Names arrays_of(WeightSource& file, const std::string& group);

}  // namespace crescent::keras
