// The paths of this library and of the files installed with it.
#pragma once
#include <string>

namespace crescent {

/// The path of libcrescent.so.
const std::string& core_library_path();
/// The folder of the built-in plugins: lib/crescent/plugins beside libcrescent.so.
const std::string& installed_plugin_directory();

}  // namespace crescent
