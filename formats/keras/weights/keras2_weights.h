// Keras 2's layout of weights: a group with layer_names, in it a group a layer with weight_names, a
// dataset a weight. Writing it, and matching what a file has with what a model has.
#pragma once
#include "keras/export.h"
#include "keras/source/entry.h"
#include "keras/source/match.h"
#include "keras/source/weight_source.h"
#include "keras/vocabulary/origin.h"
#include "keras/weights/names/renaming.h"

namespace crescent::keras {

/// Adds the weights of a model below `group`, named as `target` ("keras2", "keras3") has them.
CRESCENT_KERAS_API void write_weights(Entries& entries, Model& model, const std::string& group,
                                      const std::string& target);

/// "model_weights" or the root, wherever layer_names is. Fails when neither has it.
std::string find_weights(WeightSource& file);

/// Layer for layer in order, names ignored (Keras' rule for load_weights). With `skip_mismatch` a
/// layer that does not fit is left alone, with a warning.
Matches match_in_order(WeightSource& file, const std::string& group, Model& model,
                       const Origin& origin, bool skip_mismatch = false);
/// By name when the names are the same, else in order: for a model that was made from the same
/// file.
Matches match_own(WeightSource& file, const std::string& group, Model& model, const Origin& origin);
/// Layers of equal names only, after those of the file were renamed.
Matches match_by_name(WeightSource& file, const std::string& group, Model& model,
                      const Origin& origin, bool skip_mismatch, const Renaming& renamed);
/// Weight for weight by canonical path (weight_paths.h), whatever is trainable or stands in another
/// order, once the layers of the file were renamed. Fails unless all are found.
Matches match_by_layer_path(WeightSource& file, const std::string& group, Model& model,
                            const Origin& origin, const Renaming& renamed);
/// Every array of every layer.
Names arrays_of(WeightSource& file, const std::string& group);

}  // namespace crescent::keras
