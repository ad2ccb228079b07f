// Configurations of models as JSON texts without weights. The version of Keras that wrote a text is
// recognized by its contents.
#pragma once
#include <string>

#include "crescent/registry/schema.h"
#include "keras/export.h"

namespace crescent::keras {

struct CRESCENT_KERAS_API JsonOptions {
  std::string target = "keras3";  ///< "keras3", "keras2" or "crescent"
  CRESCENT_KERAS_API static void describe(Schema<JsonOptions>& s);
};

/// Converts {"class_name", "config"} of a model, with other keys of Keras, to Crescent's own form.
CRESCENT_KERAS_API Value from_keras(const Value& model, const Value& custom_objects);
/// Converts a model, or its configuration in Crescent's own form, to the form of `target`.
CRESCENT_KERAS_API Value to_keras(const Value& model_or_config, const JsonOptions& options);

}  // namespace crescent::keras
