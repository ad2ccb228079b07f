// Summaries of files for people and tools. They are made from texts and headers only: no model is
// built, no class is looked up and no values are read.
#pragma once
#include "keras/export.h"
#include "keras/source/named_arrays.h"
#include "keras/source/weight_source.h"

namespace crescent::keras {

/// The summary of a file with a model or weights: {"kind", "written_by", "layers", "parameters",
/// "optimizer", ...}; nullopt for other files.
CRESCENT_KERAS_API std::optional<Dict> inspect(WeightSource& file);

/// The summary {"name", "dtype", "shape"} of an array.
CRESCENT_KERAS_API Dict array_summary(const std::string& name, const TensorSpec& spec);
/// The summary of a file of arrays.
CRESCENT_KERAS_API Dict inspect_arrays(List arrays);
Dict inspect(NamedArrays& file);

}  // namespace crescent::keras
