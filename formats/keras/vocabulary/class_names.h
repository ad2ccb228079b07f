// The mapping of class names in a file to registered classes.
#pragma once
#include <string>

#include "crescent/base/value.h"
#include "keras/export.h"

namespace crescent::keras {

class CRESCENT_KERAS_API ClassNames {
 public:
  /// `custom_names` maps class names in the file to registered names; `plugins` maps class names to
  /// [plugin, version].
  ClassNames(Value custom_names, Value plugins)
      : custom_names_(std::move(custom_names)), plugins_(std::move(plugins)) {}

  /// The registered name for a class name in the file. tf.keras writes a package before the names
  /// of the user's classes: "Custom>Adam". If a file of Crescent refers to a class from Lua, a
  /// built-in class of the same name is not used in its place.
  std::string registered_name(const std::string& class_name) const;
  /// The registered name of the class of an object; Keras 3 writes the name with the package beside
  /// class_name.
  std::string registered_class(const Dict& object) const;
  /// Fails with the reason why the class is unknown and the way to provide it.
  [[noreturn]] void fail_unknown(std::string_view kind, const std::string& class_name,
                                 const std::string& location) const;
  /// Fails like fail_unknown() if the file says that the name, which it has in the place of an
  /// object of this kind, is that of a plugin's class, and no such class is registered.
  void expect_class(std::string_view kind, const std::string& name,
                    const std::string& location) const;

 private:
  Value custom_names_, plugins_;
};

/// The kind that has a class of this name: `expected` if it has one, else any other kind except
/// layer. Returns "" for the kind layer and if no kind has such a class.
CRESCENT_KERAS_API std::string kind_beside_layers(const std::string& class_name,
                                                  const std::string& expected);

}  // namespace crescent::keras
