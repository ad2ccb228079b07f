// The option `overwrite` that saving has in every format.
#pragma once
#include <string>

#include "files/export.h"

namespace crescent::files {

/// Fails when a file is there and may not be replaced.
CRESCENT_FILES_API void check_overwrite(const std::string& path, bool overwrite);

}  // namespace crescent::files
