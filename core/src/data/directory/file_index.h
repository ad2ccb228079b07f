// Which files a folder has, and what their labels are.
#pragma once
#include "crescent/data/directory.h"

namespace crescent {

struct LabelledFile {
  std::string path;
  int64_t label = 0;
};

struct FileIndex {
  std::vector<LabelledFile> files;
  std::vector<std::string> classes;
};

/// Files in alphabetical order, those of a folder before those of the folders in it.
FileIndex index_of_files(const DirectoryOptions& options, const FileKind& kind);
/// Whether a file's folder tells its label.
bool has_inferred_labels(const DirectoryOptions& options);

}  // namespace crescent
