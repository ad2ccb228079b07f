// Models and weights as files of Keras, in whatever format: what is to be written, and what is
// read.
#pragma once
#include "crescent/io/format.h"
#include "keras/export.h"
#include "keras/model/options.h"
#include "keras/source/entry.h"
#include "keras/source/weight_source.h"

namespace crescent::keras {

/// `path` is the file's, for warnings.
CRESCENT_KERAS_API Entries model_entries(Model& model, const std::string& path,
                                         const SaveOptions& options);
CRESCENT_KERAS_API ModelPtr load_model(WeightSource& file, const LoadOptions& options);

/// A model as Keras 3's archive: two texts, and what is to be in the HDF5 file beside them.
struct ArchiveParts {
  std::string metadata, config;
  Entries weights;  ///< the root comes first
};
CRESCENT_KERAS_API ArchiveParts archive_parts(Model& model, const std::string& path,
                                              const SaveOptions& options);

/// Weights alone in Keras 3's layout, with the state of the optimizer of a compiled model.
CRESCENT_KERAS_API Entries keras3_weight_entries(Model& model);
/// Weights alone: the same when `path` ends in .weights.h5, else in Keras 2's layout.
CRESCENT_KERAS_API Entries weight_entries(Model& model, const std::string& path);
CRESCENT_KERAS_API void load_weights(WeightSource& file, Model& model,
                                     const LoadWeightsOptions& options);
/// Of a file that knows arrays by name alone.
void load_named_weights(WeightSource& file, Model& model, const LoadWeightsOptions& options);

}  // namespace crescent::keras
