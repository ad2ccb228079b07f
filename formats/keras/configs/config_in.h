// Converts configurations of all generations of Keras to the form from which Crescent builds
// models: objects are {"class_name", "config"}, graphs have inbound_nodes as in Keras 2 with nodes
// counted from 0, and options are those of the registered classes. The differences between
// generations are listed in tables in config_in.cpp and options_in.cpp.
#pragma once
#include <string>

#include "crescent/registry/schema.h"
#include "keras/export.h"
#include "keras/vocabulary/class_names.h"
#include "keras/vocabulary/origin.h"

namespace crescent::keras {

/// The input shape, or the list of shapes, in the build_config of Keras 3; null if there is none.
Value build_shape_in(const Value& build_config);

class CRESCENT_KERAS_API ConfigIn {
 public:
  /// `custom_names` maps class names in the file to registered names. `plugins`, which only files
  /// of Crescent have, maps class names to [plugin, version].
  explicit ConfigIn(Origin origin, Value custom_names = {}, Value plugins = {});

  /// Converts the object of a model or layer to Crescent's form. Fails, naming class and layer, if
  /// a class is not registered.
  Value model(const Value& object) const;
  /// Converts training_config to options of Model::compile.
  Dict compile_options(const Value& training_config) const;

 private:
  Value layer(const Dict& object) const;
  /// Converts a layer, except for its shared_object_id.
  Dict single_layer(const Dict& object) const;
  Dict sequential(const Value& config) const;
  Dict functional(const Dict& config) const;
  /// Whether the layer described by an entry of the configuration passes masks on.
  bool passes_masks_on(const Dict& entry) const;
  /// The kind of object that a value should be, which is needed since several kinds share some
  /// names; and where the value is, for messages.
  struct ExpectedObject {
    std::string kind, location;
  };
  Value converted_value(const Value& value, const ExpectedObject& expected) const;
  Value plain_object(const Dict& object, const ExpectedObject& expected) const;
  Value wrapped_function(const Dict& config, const ExpectedObject& expected) const;
  Dict options(std::string_view kind, const std::string& class_name, const Dict& config) const;
  Value registered_value(const std::string& class_name, const Field& field,
                         const Value& value) const;

  Origin origin_;
  ClassNames names_;
};

}  // namespace crescent::keras
