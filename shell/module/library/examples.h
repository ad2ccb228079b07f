// Examples of functions and classes of the module, by name. They are in files NAME.examples in the
// folders of plugins, which are read on first use:
//
//   # cr.ops.dot
//   > cr.ops.dot({ 1, 2 }, { 3, 4 })
//   11.0
//   <float32()>
//   > cr.ops.dot({ 2, 3 }, { 4, 5, 6 })
//   crescent: dot: tensordot: axis 0 of shape (2,) and axis 0 of shape (3,) differ
//
// A heading has a name that `crescent describe` knows, or several such names separated by commas.
// Below the heading are entries of the prompt, each followed by its output. An entry that fails is
// followed by the message as the prompt prints it, without the location; such entries are the
// errors of the name.
#pragma once
#include <string>
#include <vector>

namespace crescent::lua {

/// The prompt entries in the examples of the name `path` that succeed, each with its output; empty
/// if there are none.
std::string example_of(const std::string& path);
/// The prompt entries in the examples of the name `path` that fail, each with its message; empty if
/// there are none.
std::string errors_of(const std::string& path);
/// The family of the name `path`: the name of the file of its example without the ending, such as
/// "reductions"; empty if it has no example.
std::string family_of(const std::string& path);
/// The sorted names that have an example and whose last part is `name`; with "", all names that
/// have an example.
std::vector<std::string> names_with_example(const std::string& name = "");

}  // namespace crescent::lua
