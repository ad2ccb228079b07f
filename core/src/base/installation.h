// Where this library and what was installed with it are.
#pragma once
#include <string>

namespace crescent {

/// The path of libcrescent.so.
const std::string& core_library_path();
/// The folder of the built-in plugins: lib/crescent/plugins beside libcrescent.so.
const std::string& installed_plugin_directory();

}  // namespace crescent
