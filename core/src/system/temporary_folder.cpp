#include "host/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "crescent/base/error.h"

namespace crescent {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() : old_working_folder_(fs::current_path()) {
  std::string name = (fs::temp_directory_path() / "crescent-XXXXXX").string();
  if (!mkdtemp(name.data())) fail("cannot create the folder '", name, "': ", strerror(errno));
  fs::current_path(path_ = name);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::current_path(old_working_folder_, ignored);
  fs::remove_all(path_, ignored);
}

}  // namespace crescent
