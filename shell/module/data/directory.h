// A folder with a folder for each class, as Keras' *_dataset_from_directory read it: which files,
// which labels, which part of them. What is in the files is the caller's business.
#pragma once
#include <optional>

#include "classes/object_types.h"
#include "crescent/data/stream.h"

namespace crescent::lua {

/// Options that all of these functions have, as Keras names them.
struct DirectoryOptions {
  std::string directory;
  Value labels;  ///< "inferred", null, or a list of numbers
  std::optional<std::string> label_mode;
  std::vector<std::string> class_names;  ///< empty: all folders
  std::optional<int64_t> batch_size;     ///< none: no batches
  bool shuffle = true;
  std::optional<int64_t> seed;
  std::optional<double> validation_split;
  std::optional<std::string> subset;
  bool follow_links = false, verbose = true;
};

/// What files of one kind are called and how one of them is read; called on workers' threads.
struct FileKind {
  const char* what;  ///< "image", in messages
  std::vector<std::string> endings;
  std::function<Value(const std::string& path)> load;
  bool any_length = false;  ///< files of a batch are filled up with zeros to the longest
};

/// One dataset, or for subset "both" two: batches of what is in the files and their labels.
std::vector<StreamPtr> directory_datasets(const DirectoryOptions& options, const FileKind& kind);

void add_directory_type(ObjectTypes& types, const Type& dataset);

}  // namespace crescent::lua
