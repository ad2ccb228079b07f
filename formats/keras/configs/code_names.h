// Names in a configuration that stand for code: functions and classes from Lua. No file holds them;
// whoever loads it brings them.
#pragma once
#include <string>
#include <vector>

#include "crescent/schema.h"

namespace crescent::keras {

/// The kind of object that an option takes by name ("activation"), or "".
std::string kind_of_option(const Field& field);

/// Each name once, in the order of the configuration.
std::vector<std::string> names_of_code(const Value& config);

/// How to bring them: "pass it when loading: load_model(path, {custom_objects = {gap = gap}})".
std::string how_to_bring(const std::string& name);

}  // namespace crescent::keras
