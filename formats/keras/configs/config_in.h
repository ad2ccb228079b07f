// Configurations of every generation of Keras, rewritten into the one form that Crescent builds
// models from: objects are {"class_name", "config"}, graphs have inbound_nodes as in Keras 2 and
// count nodes from 0, options are those of the registered classes. What contradicts between
// generations is a row of a table in the .cpp.
#pragma once
#include <string>

#include "crescent/registry/schema.h"
#include "keras/export.h"
#include "keras/vocabulary/class_names.h"
#include "keras/vocabulary/origin.h"

namespace crescent::keras {

/// The shape, or shapes, that Keras 3 built an object for, of its build_config; null when it does
/// not say.
Value build_shape_in(const Value& build_config);

class CRESCENT_KERAS_API ConfigIn {
 public:
  /// `custom`: class name in the file -> registered name. `plugins`: class name -> [plugin,
  /// version], as saved by us.
  explicit ConfigIn(Origin origin, Value custom = {}, Value plugins = {});

  /// A model's or layer's object. Fails naming class and layer when a class is not registered.
  Value model(const Value& object) const;
  /// training_config -> options of Model::compile.
  Dict compile_options(const Value& training_config) const;

 private:
  Value layer(const Dict& object) const;
  /// Without the number of one that stands at several places.
  Dict single_layer(const Dict& object) const;
  Dict sequential(const Value& config) const;
  Dict functional(const Dict& config) const;
  /// Whether the layer of an entry lets a mask through.
  bool hands_masks_on(const Dict& entry) const;
  /// What a value is looked up as, for messages and names that several kinds have.
  struct Expected {
    std::string kind, place;
  };
  Value nested(const Value& value, const Expected& expected) const;
  Value plain_object(const Dict& object, const Expected& expected) const;
  Value wrapped_function(const Dict& config, const Expected& expected) const;
  Dict options(std::string_view kind, const std::string& class_name, const Dict& config) const;
  Value known(const std::string& class_name, const Field& field, const Value& value) const;

  Origin origin_;
  ClassNames names_;
};

}  // namespace crescent::keras
