// Names in a configuration that refer to code: functions and classes from Lua. Files do not contain
// them; the user must provide them when loading.
#pragma once
#include <string>
#include <vector>

#include "crescent/registry/schema.h"
#include "keras/export.h"

namespace crescent::keras {

/// The distinct names of the user's functions and classes in a configuration, in its order.
std::vector<std::string> names_of_code(const Value& config);

/// Those of the names from names_of_code() that are not names of registered classes.
std::vector<std::string> names_of_functions(const Value& config);

/// Whether a name that stands for an object of this kind is the name of a user's function: it is
/// registered as a function, or it is neither registered nor a class from Lua.
bool is_own_function(const std::string& kind, const std::string& name);

/// The part of a message that tells how to provide a function or class: "pass it when loading:
/// load_model(path, {custom_objects = {gap = gap}})".
CRESCENT_KERAS_API std::string how_to_provide(const std::string& name,
                                              const char* load = "load_model(path");

/// Whether a text is one of the words that the option accepts, and therefore not the name of a
/// function.
CRESCENT_KERAS_API bool is_own_word(const std::string& class_name, const std::string& option,
                                    const std::string& text);

}  // namespace crescent::keras
