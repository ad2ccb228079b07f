// What a file says about itself, for people and tools: read from texts and headers alone. Nothing
// is built, no class is looked up, no number is read.
#pragma once
#include "keras/export.h"
#include "keras/source/named_arrays.h"
#include "keras/source/weight_source.h"

namespace crescent::keras {

/// Of a file with a model or its weights: {"kind", "written_by", "layers", "parameters",
/// "optimizer", ...}. Nothing when it has neither.
CRESCENT_KERAS_API std::optional<Dict> inspect(WeightSource& file);

/// {"name", "dtype", "shape"} of an array.
CRESCENT_KERAS_API Dict described(const std::string& name, const TensorSpec& spec);
/// Of a file with nothing but arrays.
CRESCENT_KERAS_API Dict inspect_arrays(List arrays);
Dict inspect(NamedArrays& file);

}  // namespace crescent::keras
