// The mapping of class names in a file to registered classes.
#pragma once
#include <string>

#include "crescent/base/value.h"
#include "keras/export.h"

namespace crescent::keras {

class CRESCENT_KERAS_API ClassNames {
 public:
  /// `custom` and `plugins` are those of ConfigIn.
  ClassNames(Value custom, Value plugins)
      : custom_(std::move(custom)), plugins_(std::move(plugins)) {}

  /// The registered name for a class name. tf.keras writes the package before classes of the user:
  /// "Custom>Adam". A file of Crescent names classes of Lua, which a built-in class of the same
  /// name does not replace.
  std::string registered(const std::string& class_name) const;
  /// The registered name of the class of an object; Keras 3 writes the name with the package beside
  /// class_name.
  std::string of(const Dict& object) const;
  /// Fails with the reason why the class is unknown and the way to provide it.
  [[noreturn]] void fail_unknown(std::string_view kind, const std::string& class_name,
                                 const std::string& place) const;

 private:
  Value custom_, plugins_;
};

/// The kind of the class of this name: the expected kind if that has such a class, else any kind
/// but layer; "" for a layer.
CRESCENT_KERAS_API std::string kind_beside_layers(const std::string& class_name,
                                                  const std::string& expected);

}  // namespace crescent::keras
