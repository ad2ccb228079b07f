// Archives of keras.utils.FeatureSpace: layers that each preprocess a column of a table, and their
// adapted state.
#pragma once
#include "keras/export.h"
#include "keras/model/model_file.h"

namespace crescent::keras {

inline constexpr const char* kFeatureSpace = "FeatureSpace";

/// Loads a FeatureSpace as {"features": [{"name", "dtype", "preprocessor", "output_mode"}, ...],
/// "crosses": [{"feature_names", "crossing_dim", "output_mode"}, ...], and the other options}, in
/// which each "preprocessor" is a layer; null if the file contains no FeatureSpace.
CRESCENT_KERAS_API Value load_feature_space(WeightSource& file, const Value& custom_objects);

/// The parts of an archive for a FeatureSpace; `space` has the form that load_feature_space()
/// returns.
CRESCENT_KERAS_API ArchiveParts feature_space_parts(const Dict& space);

/// A summary for `crescent inspect`: columns and crosses without their adapted state.
Dict inspect_feature_space(const Dict& config);

}  // namespace crescent::keras
