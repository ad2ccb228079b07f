// Configurations of models as they travel alone, as JSON: they say themselves who wrote them.
#pragma once
#include <string>

#include "crescent/registry/schema.h"
#include "keras/export.h"

namespace crescent::keras {

struct CRESCENT_KERAS_API JsonOptions {
  std::string target = "keras3";  ///< or "keras2", "crescent"
  CRESCENT_KERAS_API static void describe(Schema<JsonOptions>& s);
};

/// {"class_name", "config"} of a model with whatever Keras puts beside them -> core's own form.
CRESCENT_KERAS_API Value from_keras(const Value& model, const Value& custom_objects);
/// A model, or core's own form of one -> what `target` reads.
CRESCENT_KERAS_API Value to_keras(const Value& given, const JsonOptions& options);

}  // namespace crescent::keras
