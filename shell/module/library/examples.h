// Examples of functions and classes of the module, by name. They are in files NAME.examples in the
// folders of plugins, which are read on first use:
//
//   # cr.ops.relu
//   > cr.ops.relu { -1, 2 }
//   [0. 2.]
//
// A heading has a name that `crescent describe` knows, or several of them with commas. Below it are
// entries of the prompt, each followed by its output.
#pragma once
#include <string>
#include <vector>

namespace crescent::lua {

/// The entries and their output under this name; empty if it has no example.
std::string example_of(const std::string& path);
/// The sorted names with an example whose last part is `name`; all of them for "".
std::vector<std::string> names_with_example(const std::string& name = "");

}  // namespace crescent::lua
