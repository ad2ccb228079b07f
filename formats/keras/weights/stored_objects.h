// The objects of a file of weights of Keras 3 as plain data, for tools that edit such files:
// layers, models and optimizers with their weights, by paths such as "layers/dense_1".
#pragma once
#include "keras/export.h"
#include "keras/source/entry.h"
#include "keras/source/weight_source.h"

namespace crescent::keras {

/// The objects of a file, each a Dict with `path` ("" is the model), `weights` (tensors by name)
/// and `attributes` (of the group). `in_vars` is false for objects whose weights are not in a group
/// "vars" of their own.
CRESCENT_KERAS_API List stored_objects(WeightSource& file);
/// The objects of a file with these entries.
CRESCENT_KERAS_API List stored_objects(const Entries& entries);
/// The entries of a file with these objects.
CRESCENT_KERAS_API Entries entries_of(const List& objects);

}  // namespace crescent::keras
