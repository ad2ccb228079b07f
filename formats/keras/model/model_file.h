// Models and weights as files of Keras, in whatever format: what is to be written, and what is
// read.
#pragma once
#include "crescent/format.h"
#include "keras/weights/entry.h"
#include "keras/weights/weight_source.h"

namespace crescent::keras {

/// `path` is the file's, for warnings.
Entries model_entries(Model& model, const std::string& path, const SaveOptions& options);
ModelPtr load_model(WeightSource& file, const LoadOptions& options);

/// Weights alone: in Keras 3's layout when `path` ends in .weights.h5, else in Keras 2's.
Entries weight_entries(Model& model, const std::string& path);
void load_weights(WeightSource& file, Model& model, const LoadWeightsOptions& options);

}  // namespace crescent::keras
