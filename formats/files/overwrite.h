// The option `overwrite` of saving, which all formats have.
#pragma once
#include <string>

#include "files/export.h"

namespace crescent::files {

/// Fails if the file exists and may not be replaced.
CRESCENT_FILES_API void check_overwrite(const std::string& path, bool overwrite);

}  // namespace crescent::files
