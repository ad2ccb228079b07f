// A temporary current folder, for code that writes files into the current folder that need not be
// kept.
#pragma once
#include <filesystem>

#include "crescent/base/export.h"

namespace crescent {

/// A temporary folder, which is the current folder of the process while the object exists. The
/// destructor removes it.
class CRESCENT_API TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;

 private:
  std::filesystem::path old_working_folder_, path_;
};

}  // namespace crescent
