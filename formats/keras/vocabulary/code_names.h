// Names in a configuration that refer to code: functions and classes from Lua. Files do not contain
// them; the user must provide them when loading.
#pragma once
#include <string>
#include <vector>

#include "crescent/registry/schema.h"
#include "keras/export.h"

namespace crescent::keras {

/// The distinct names in the order of the configuration.
std::vector<std::string> names_of_code(const Value& config);

/// Those of these names that no class has.
std::vector<std::string> names_of_functions(const Value& config);

/// Whether a name where an object of a kind is expected refers to a function of the user: a
/// registered one, or an unknown one, but no class of Lua.
bool is_own_function(const std::string& kind, const std::string& name);

/// A text for messages, how to provide the function or class: "pass it when loading:
/// load_model(path, {custom_objects = {gap = gap}})".
CRESCENT_KERAS_API std::string how_to_provide(const std::string& name,
                                              const char* load = "load_model(path");

/// Whether a text is one of the words of the option, and not the name of a function.
CRESCENT_KERAS_API bool is_own_word(const std::string& class_name, const std::string& option,
                                    const std::string& text);

}  // namespace crescent::keras
