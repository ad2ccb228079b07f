// Examples of what the module has, by name. They stand in files NAME.examples in the folders of
// plugins, which are read when somebody asks for one:
//
//   # cr.ops.relu
//   > cr.ops.relu { -1, 2 }
//   [0. 2.]
//
// A heading names what is shown as `crescent describe` does, or several such names with commas
// between. Entries of the prompt follow, and what it answers.
#pragma once
#include <string>
#include <vector>

namespace crescent::lua {

/// The entries and answers under this name; empty for what has no example.
std::string example_of(const std::string& path);
/// The names with an example, sorted, whose last part is `name`; without it all of them.
std::vector<std::string> names_with_example(const std::string& name = "");

}  // namespace crescent::lua
