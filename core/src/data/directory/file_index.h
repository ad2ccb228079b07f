// The files in a folder and their labels.
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

/// Lists the files in alphabetical order, those of a folder before those of its subfolders.
FileIndex index_of_files(const DirectoryOptions& options, const FileKind& kind);
/// Whether the label of a file is the number of its subfolder.
bool has_inferred_labels(const DirectoryOptions& options);

}  // namespace crescent
