// Names in a configuration that stand for code: functions and classes from Lua. No file holds them;
// whoever loads it brings them.
#pragma once
#include <string>
#include <vector>

#include "crescent/registry/schema.h"
#include "keras/export.h"

namespace crescent::keras {

/// Each name once, in the order of the configuration.
std::vector<std::string> names_of_code(const Value& config);

/// Whether a name stands for a function of somebody's own where something of a kind is expected:
/// one that is registered, or one that nobody knows here. Classes of Lua are none.
bool is_own_function(const std::string& kind, const std::string& name);

/// How to bring them: "pass it when loading: load_model(path, {custom_objects = {gap = gap}})".
CRESCENT_KERAS_API std::string how_to_bring(const std::string& name,
                                            const char* load = "load_model(path");

/// Whether a text is a word of the option itself, and not the name of a function.
CRESCENT_KERAS_API bool is_own_word(const std::string& class_name, const std::string& option,
                                    const std::string& text);

}  // namespace crescent::keras
