#include "files/overwrite.h"

#include <unistd.h>

#include "crescent/base/error.h"
#include "crescent/system/file.h"

namespace crescent::files {

void check_overwrite(const std::string& path, bool overwrite) {
  if (!overwrite && access(system_path(path), F_OK) == 0)
    fail("'", path, "' exists already; pass overwrite=true to replace it");
}

}  // namespace crescent::files
