#include "data/directory/file_index.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "crescent/base/progress.h"

namespace crescent {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

Texts sorted_entries(const fs::path& folder, bool wants_folders) {
  Texts names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory() == wants_folders) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

bool has_ending(std::string name, const Texts& endings) {
  std::transform(name.begin(), name.end(), name.begin(), ::tolower);
  return std::any_of(endings.begin(), endings.end(),
                     [&](const std::string& ending) { return name.ends_with(ending); });
}

/// Lists the files in a folder; the files of a folder precede those of its subfolders. Each folder
/// is visited once, because symbolic links to folders can form a cycle.
class FileSearch {
 public:
  FileSearch(const DirectoryOptions& options, const FileKind& kind)
      : options_(options),
        kind_(kind),
        progress_(concat("looking through '", options.directory, "'"), "file") {}
  void add(const fs::path& folder, int64_t label, std::vector<LabelledFile>& files) {
    if (!visited_folders_.insert(fs::canonical(folder)).second) return;
    for (const std::string& name : sorted_entries(folder, false))
      if (has_ending(name, kind_.endings)) files.push_back({(folder / name).string(), label});
    progress_.come_to(static_cast<int64_t>(files.size()));
    for (const std::string& name : sorted_entries(folder, true))
      if (options_.follow_links || !fs::is_symlink(folder / name)) add(folder / name, label, files);
  }

 private:
  const DirectoryOptions& options_;
  const FileKind& kind_;
  std::set<fs::path> visited_folders_;
  Progress progress_;
};

Texts classes_of(const DirectoryOptions& options) {
  Texts folder_names;
  for (const std::string& name : sorted_entries(options.directory, true))
    if (!name.starts_with(".")) folder_names.push_back(name);
  if (options.class_names.empty()) return folder_names;
  Texts class_names = options.class_names;
  std::sort(class_names.begin(), class_names.end());
  if (!std::includes(folder_names.begin(), folder_names.end(), class_names.begin(),
                     class_names.end()))
    fail(
        "The `class_names` passed did not match the names of the subdirectories of the target "
        "directory. Expected: ",
        join(folder_names),
        " (or a subset of it), but received: class_names=", join(options.class_names));
  return options.class_names;
}

/// Labels each file with the number of its subfolder among the classes.
FileIndex index_by_folder(const DirectoryOptions& options, FileSearch& search) {
  FileIndex index;
  index.classes = classes_of(options);
  const fs::path folder = options.directory;
  for (size_t i = 0; i < index.classes.size(); ++i)
    search.add(folder / index.classes[i], static_cast<int64_t>(i), index.files);
  return index;
}

/// Labels files with the given list; its distinct labels are the classes.
void set_labels(FileIndex& index, const DirectoryOptions& options) {
  const List& labels = options.labels.as_list();
  if (labels.size() != index.files.size())
    fail(
        "Expected the lengths of `labels` to match the number of files in the target directory. "
        "len(labels) is ",
        labels.size(), " while we found ", index.files.size(), " files in directory ",
        options.directory, ".");
  std::set<int64_t> distinct_labels;
  for (size_t i = 0; i < labels.size(); ++i)
    distinct_labels.insert(index.files[i].label = labels[i].as_int());
  for (const int64_t label : distinct_labels) index.classes.push_back(std::to_string(label));
}

}  // namespace

bool has_inferred_labels(const DirectoryOptions& options) {
  return options.labels.is_string() && options.labels.as_string() == "inferred";
}

FileIndex index_of_files(const DirectoryOptions& options, const FileKind& kind) {
  FileSearch search(options, kind);
  if (has_inferred_labels(options)) return index_by_folder(options, search);
  FileIndex index;
  search.add(options.directory, 0, index.files);
  if (!options.labels.is_null()) set_labels(index, options);
  return index;
}

}  // namespace crescent
