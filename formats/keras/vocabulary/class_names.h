// Names of classes in a file and those of the registered classes that they stand for.
#pragma once
#include <string>

#include "crescent/base/value.h"
#include "keras/export.h"

namespace crescent::keras {

class CRESCENT_KERAS_API ClassNames {
 public:
  /// As ConfigIn has them.
  ClassNames(Value custom, Value plugins)
      : custom_(std::move(custom)), plugins_(std::move(plugins)) {}

  /// tf.keras puts the package in front of classes that somebody registered: "Custom>Adam". A file
  /// of ours knows those of Lua, which no class with the name alone stands for.
  std::string registered(const std::string& class_name) const;
  /// Of an object: Keras 3 has the name with the package beside the one of the class.
  std::string of(const Dict& object) const;
  /// Says why there is no such class, and how to bring it.
  [[noreturn]] void fail_unknown(std::string_view kind, const std::string& class_name,
                                 const std::string& place) const;

 private:
  Value custom_, plugins_;
};

/// The kind that has a class of this name, the expected one if that has it; "" for a layer.
CRESCENT_KERAS_API std::string kind_beside_layers(const std::string& class_name,
                                                  const std::string& expected);

}  // namespace crescent::keras
