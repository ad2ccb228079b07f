// keras.utils.FeatureSpace in archives: no model, but layers that each prepare a column of a table,
// and what they have learned.
#pragma once
#include "keras/export.h"
#include "keras/model/model_file.h"

namespace crescent::keras {

inline constexpr const char* kFeatureSpace = "FeatureSpace";

/// {"features": [{"name", "dtype", "preprocessor", "output_mode"}, ...], "crosses":
/// [{"feature_names", "crossing_dim", "output_mode"}, ...], and the other options of a
/// FeatureSpace}, with preprocessors that are layers; null when the file holds something else.
CRESCENT_KERAS_API Value load_feature_space(WeightSource& file, const Value& custom_objects);

/// Of the same form.
CRESCENT_KERAS_API ArchiveParts feature_space_parts(const Dict& space);

/// What a file says about one: columns and crosses, without what they have learned.
Dict inspect_feature_space(const Dict& config);

}  // namespace crescent::keras
