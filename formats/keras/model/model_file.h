// Reads and writes models and weights in files of Keras, independently of the file format: the
// result of writing is a list of entries.
#pragma once
#include "crescent/io/format.h"
#include "keras/export.h"
#include "keras/model/options.h"
#include "keras/source/entry.h"
#include "keras/source/weight_source.h"

namespace crescent::keras {

/// The entries of a file with the model; `path` is for warnings.
CRESCENT_KERAS_API Entries model_entries(Model& model, const std::string& path,
                                         const SaveOptions& options);
CRESCENT_KERAS_API ModelPtr load_model(WeightSource& file, const LoadOptions& options);

/// A model as an archive of Keras 3: two texts, the entries of the HDF5 file, and further files.
struct ArchiveParts {
  std::string metadata, config;
  Entries weights;  ///< the entries; the first one is the root group
  AssetFiles assets{};
};
CRESCENT_KERAS_API ArchiveParts archive_parts(Model& model, const std::string& path,
                                              const SaveOptions& options);

/// The entries of a file with only weights, in the layout of Keras 3. They include the state of the
/// optimizer if the model is compiled. Layers and the optimizer are left out if `objects_to_skip`
/// lists them.
CRESCENT_KERAS_API Entries keras3_weight_entries(Model& model, const Value& objects_to_skip = {});
/// The entries of a file with only weights: in the layout of Keras 3 if `path` ends in .weights.h5,
/// else in that of Keras 2, for which `objects_to_skip` must be null.
CRESCENT_KERAS_API Entries weight_entries(Model& model, const std::string& path,
                                          const Value& objects_to_skip = {});
/// Fails if the option is given for a file in another layout than that of .weights.h5; `action` is
/// "saving" or "loading".
void refuse_skipping(const std::string& path, const Value& objects_to_skip, const char* action);
CRESCENT_KERAS_API void load_weights(WeightSource& file, Model& model,
                                     const LoadWeightsOptions& options);
/// Loads weights from a file of named arrays.
void load_named_weights(WeightSource& file, Model& model, const LoadWeightsOptions& options);

}  // namespace crescent::keras
