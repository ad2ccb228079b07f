#include "data/directory.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <thread>

#include "crescent/base/progress.h"
#include "crescent/data/numpy_random.h"
#include "crescent/ops/random.h"
#include "values/push.h"

namespace crescent::lua {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

struct LabelledFile {
  std::string path;
  int64_t label = 0;
};
using LabelledFiles = std::vector<LabelledFile>;

// ---- what is in the folder

Texts sorted_entries(const fs::path& folder, bool folders) {
  Texts names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory() == folders) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

bool has_ending(std::string name, const Texts& endings) {
  std::transform(name.begin(), name.end(), name.begin(), ::tolower);
  return std::any_of(endings.begin(), endings.end(),
                     [&](const std::string& ending) { return name.ends_with(ending); });
}

/// Files below folders, those of a folder before those of the folders in it. Links to folders may
/// go round: each folder is visited once.
class FileSearch {
 public:
  FileSearch(const DirectoryOptions& options, const FileKind& kind)
      : options_(options),
        kind_(kind),
        progress_(concat("looking through '", options.directory, "'"), "file") {}
  void add(const fs::path& folder, int64_t label, LabelledFiles& files) {
    if (!visited_.insert(fs::canonical(folder)).second) return;
    for (const std::string& name : sorted_entries(folder, false))
      if (has_ending(name, kind_.endings)) files.push_back({(folder / name).string(), label});
    progress_.come_to(static_cast<int64_t>(files.size()));
    for (const std::string& name : sorted_entries(folder, true))
      if (options_.follow_links || !fs::is_symlink(folder / name)) add(folder / name, label, files);
  }

 private:
  const DirectoryOptions& options_;
  const FileKind& kind_;
  std::set<fs::path> visited_;
  Progress progress_;
};

struct Index {
  LabelledFiles files;
  Texts classes;
};

Texts classes_of(const DirectoryOptions& options) {
  Texts found;
  for (const std::string& name : sorted_entries(options.directory, true))
    if (!name.starts_with(".")) found.push_back(name);
  if (options.class_names.empty()) return found;
  Texts given = options.class_names;
  std::sort(given.begin(), given.end());
  if (!std::includes(found.begin(), found.end(), given.begin(), given.end()))
    fail(
        "The `class_names` passed did not match the names of the subdirectories of the target "
        "directory. Expected: ",
        join(found), " (or a subset of it), but received: class_names=", join(options.class_names));
  return options.class_names;
}

bool is_inferred(const DirectoryOptions& options) {
  return options.labels.is_string() && options.labels.as_string() == "inferred";
}

Index index_of(const DirectoryOptions& options, const FileKind& kind) {
  Index index;
  FileSearch search(options, kind);
  const fs::path folder = options.directory;
  if (is_inferred(options)) {
    index.classes = classes_of(options);
    for (size_t i = 0; i < index.classes.size(); ++i)
      search.add(folder / index.classes[i], static_cast<int64_t>(i), index.files);
    return index;
  }
  search.add(folder, 0, index.files);
  if (options.labels.is_null()) return index;
  const List& labels = options.labels.as_list();
  if (labels.size() != index.files.size())
    fail(
        "Expected the lengths of `labels` to match the number of files in the target directory. "
        "len(labels) is ",
        labels.size(), " while we found ", index.files.size(), " files in directory ",
        options.directory, ".");
  std::set<int64_t> different;
  for (size_t i = 0; i < labels.size(); ++i)
    different.insert(index.files[i].label = labels[i].as_int());
  for (const int64_t label : different) index.classes.push_back(std::to_string(label));
  return index;
}

// ---- options, in Keras' words

void check_labels(const DirectoryOptions& options, const FileKind& kind) {
  if (!options.labels.is_null() && !options.labels.is_list() && !is_inferred(options))
    fail(
        "`labels` argument should be a list/tuple of integer labels, of the same size as the "
        "number of ",
        kind.what,
        " files in the target directory. If you wish to infer the labels "
        "from the subdirectory names in the target directory, pass `labels=\"inferred\"`. If you "
        "wish to get a dataset that only contains ",
        kind.what, "s (no labels), pass `labels=None`. Received: labels=", options.labels);
  if (!options.class_names.empty() && !is_inferred(options))
    fail("You can only pass `class_names` if `labels=\"inferred\"`. Received: labels=",
         options.labels, ", and class_names=", join(options.class_names));
  const std::string mode = options.label_mode.value_or("int");
  if (mode != "int" && mode != "categorical" && mode != "binary")
    fail(
        "`label_mode` argument must be one of \"int\", \"categorical\", \"binary\", or None. "
        "Received: label_mode=",
        mode);
}

void check_split(const DirectoryOptions& options) {
  const auto& split = options.validation_split;
  if (split && !(*split > 0 && *split < 1))
    fail("`validation_split` must be between 0 and 1, received: ", *split);
  if (split.has_value() != options.subset.has_value())
    fail("If `subset` is set, `validation_split` must be set, and inversely.");
  if (!split) return;
  const std::string& subset = *options.subset;
  if (subset != "training" && subset != "validation" && subset != "both")
    fail("`subset` must be either \"training\", \"validation\" or \"both\", received: ", subset);
  if (options.shuffle && !options.seed)
    fail(
        "If using `validation_split` and shuffling the data, you must provide a `seed` argument, "
        "to make sure that there is no overlap between the training and validation subset.");
}

// ---- the datasets

/// What users ask of it beside its elements.
class DirectoryDataset final : public Stream {
 public:
  DirectoryDataset(StreamPtr stream, Texts classes, Texts paths)
      : class_names(std::move(classes)), file_paths(std::move(paths)), stream_(std::move(stream)) {}
  int64_t elements() const override { return stream_->elements(); }
  CursorPtr open(uint64_t epoch) override { return stream_->open(epoch); }
  std::vector<StreamPtr> sources() const override { return {stream_}; }

  const Texts class_names, file_paths;

 private:
  StreamPtr stream_;
};

Value label_value(int64_t label, const std::string& mode, size_t classes) {
  if (mode == "int") return label;
  const bool binary = mode == "binary";
  std::vector<float> values(binary ? 1 : classes);
  if (binary)
    values[0] = static_cast<float>(label);
  else if (label >= 0 && label < static_cast<int64_t>(classes))
    values[static_cast<size_t>(label)] = 1;
  const auto count = static_cast<int64_t>(values.size());
  return std::make_shared<BoxedTensor>(Tensor::from(values, {count}));
}

StreamPtr dataset_of(const LabelledFiles& files, const Texts& classes,
                     const DirectoryOptions& options, const FileKind& kind) {
  if (files.empty())
    fail("No ", kind.what, "s found in directory ", options.directory,
         ". Allowed formats: ", join(kind.endings));
  const bool labelled = options.label_mode && !options.labels.is_null();
  std::vector<Element> elements;
  Texts paths;
  for (const LabelledFile& file : files) {
    Element& element = elements.emplace_back(Element{file.path});
    if (labelled) element.push_back(label_value(file.label, *options.label_mode, classes.size()));
    paths.push_back(file.path);
  }
  StreamPtr data = list_stream(std::move(elements));
  if (options.shuffle)
    data = shuffle(data, {static_cast<int64_t>(files.size()), options.seed, true});
  Mapping reading;
  reading.name = "reading files";
  reading.workers = std::clamp<int64_t>(std::thread::hardware_concurrency(), 1, 8);
  reading.make = [load = kind.load]() -> Mapper {
    return [load](Element element) {
      element[0] = load(element[0].as_string());
      return element;
    };
  };
  data = map(data, std::move(reading));
  if (options.batch_size)
    data = kind.any_length ? padded_batch(data, *options.batch_size)
                           : batch(data, {*options.batch_size, {}, 1, false});
  return std::make_shared<DirectoryDataset>(prefetch_elements(data, 2), classes, paths);
}

/// As Keras tells of it.
void tell(const Index& index, const DirectoryOptions& options) {
  if (!options.verbose) return;
  if (options.labels.is_null())
    std::printf("Found %zu files.\n", index.files.size());
  else
    std::printf("Found %zu files belonging to %zu classes.\n", index.files.size(),
                index.classes.size());
}

}  // namespace

std::vector<StreamPtr> directory_datasets(const DirectoryOptions& options, const FileKind& kind) {
  check_labels(options, kind);
  check_split(options);
  if (!fs::is_directory(options.directory))
    fail("'", options.directory, "' is no folder; expected one with a folder for each class");
  Index index = index_of(options, kind);
  tell(index, options);
  if (options.label_mode.value_or("") == "binary" && index.classes.size() != 2)
    fail(
        "When passing `label_mode=\"binary\"`, there must be exactly 2 class_names. Received: "
        "class_names=",
        join(index.classes));
  if (options.shuffle) {
    const int64_t seed = options.seed.value_or(global_random().seed() % 1'000'000);
    NumpyRandom(static_cast<uint32_t>(seed)).shuffle(index.files);
  }
  if (!options.subset) return {dataset_of(index.files, index.classes, options, kind)};
  const auto count =
      static_cast<int64_t>(*options.validation_split * static_cast<double>(index.files.size()));
  const auto middle = index.files.end() - count;
  std::vector<StreamPtr> datasets;
  for (const char* part : {"training", "validation"}) {
    if (*options.subset != part && *options.subset != "both") continue;
    const bool training = std::string_view(part) == "training";
    const LabelledFiles files(training ? index.files.begin() : middle,
                              training ? middle : index.files.end());
    if (options.verbose) std::printf("Using %zu files for %s.\n", files.size(), part);
    datasets.push_back(dataset_of(files, index.classes, options, kind));
  }
  return datasets;
}

void add_directory_type(ObjectTypes& types, const Type& dataset) {
  add_type<DirectoryDataset>(types, "dataset of files", &dataset)
      .property("class_names", [](DirectoryDataset& data) { return data.class_names; })
      .property("file_paths", [](DirectoryDataset& data) { return data.file_paths; });
}

}  // namespace crescent::lua
