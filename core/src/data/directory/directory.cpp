// Datasets of files and labels: they select a subset, shuffle and batch it.
#include "crescent/data/directory.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "crescent/data/numpy_random.h"
#include "crescent/ops/random.h"
#include "data/directory/file_index.h"

namespace crescent {
namespace {

using Files = std::vector<LabelledFile>;
using Texts = std::vector<std::string>;

void check_labels(const DirectoryOptions& options, const FileKind& kind) {
  if (!options.labels.is_null() && !options.labels.is_list() && !has_inferred_labels(options))
    fail(
        "`labels` argument should be a list/tuple of integer labels, of the same size as the "
        "number of ",
        kind.name,
        " files in the target directory. If you wish to infer the labels "
        "from the subdirectory names in the target directory, pass `labels=\"inferred\"`. If you "
        "wish to get a dataset that only contains ",
        kind.name, "s (no labels), pass `labels=None`. Received: labels=", options.labels);
  if (!options.class_names.empty() && !has_inferred_labels(options))
    fail("You can only pass `class_names` if `labels=\"inferred\"`. Received: labels=",
         options.labels, ", and class_names=", join(options.class_names));
  const std::string mode = options.label_mode.value_or("int");
  if (mode != "int" && mode != "categorical" && mode != "binary")
    fail(
        "`label_mode` argument must be one of \"int\", \"categorical\", \"binary\", or None. "
        "Received: label_mode=",
        mode);
}

void check_subset(const DirectoryOptions& options) {
  const auto& split_fraction = options.validation_split;
  if (split_fraction && !(*split_fraction > 0 && *split_fraction < 1))
    fail("`validation_split` must be between 0 and 1, received: ", *split_fraction);
  if (split_fraction.has_value() != options.subset.has_value())
    fail("If `subset` is set, `validation_split` must be set, and inversely.");
  if (!split_fraction) return;
  const std::string& subset = *options.subset;
  if (subset != "training" && subset != "validation" && subset != "both")
    fail("`subset` must be either \"training\", \"validation\" or \"both\", received: ", subset);
  if (options.shuffle && !options.seed)
    fail(
        "If using `validation_split` and shuffling the data, you must provide a `seed` argument, "
        "to make sure that there is no overlap between the training and validation subset.");
}

Value label_value(int64_t label, const std::string& mode, size_t class_count) {
  if (mode == "int") return label;
  const bool is_binary = mode == "binary";
  std::vector<float> values(is_binary ? 1 : class_count);
  if (is_binary)
    values[0] = static_cast<float>(label);
  else if (label >= 0 && label < static_cast<int64_t>(class_count))
    values[label] = 1;
  const auto count = static_cast<int64_t>(values.size());
  return std::make_shared<BoxedTensor>(Tensor::from(values, {count}));
}

/// The elements of a dataset: the path of each file and, if there are labels, its label.
std::vector<Element> elements_of(const Files& files, const Texts& classes,
                                 const DirectoryOptions& options) {
  const bool has_labels = options.label_mode && !options.labels.is_null();
  std::vector<Element> elements;
  for (const LabelledFile& file : files) {
    Element& element = elements.emplace_back(Element{file.path});
    if (has_labels) element.push_back(label_value(file.label, *options.label_mode, classes.size()));
  }
  return elements;
}

Mapping file_reading_mapping(const FileKind& kind) {
  Mapping reading_mapping;
  reading_mapping.name = "reading files";
  reading_mapping.workers = std::clamp<int64_t>(std::thread::hardware_concurrency(), 1, 8);
  reading_mapping.make = [load = kind.load]() -> Mapper {
    return [load](Element element) {
      element[0] = load(element[0].as_string());
      return element;
    };
  };
  return reading_mapping;
}

Texts paths_of(const Files& files) {
  Texts paths;
  for (const LabelledFile& file : files) paths.push_back(file.path);
  return paths;
}

std::shared_ptr<DirectoryDataset> dataset_of(const Files& files, const Texts& classes,
                                             const DirectoryOptions& options,
                                             const FileKind& kind) {
  if (files.empty())
    fail("No ", kind.name, "s found in directory ", options.directory,
         ". Allowed formats: ", join(kind.endings));
  StreamPtr data = list_stream(elements_of(files, classes, options));
  if (options.shuffle)
    data = shuffle(data, {static_cast<int64_t>(files.size()), options.seed, true});
  data = map(data, file_reading_mapping(kind));
  if (options.batch_size)
    data = kind.any_length ? padded_batch(data, *options.batch_size)
                           : batch(data, {*options.batch_size, {}, 1, false});
  return std::make_shared<DirectoryDataset>(prefetch_elements(data, 2), classes, paths_of(files));
}

/// Prints the number of files, in the words of Keras.
void print_counts(const FileIndex& index, const DirectoryOptions& options) {
  if (!options.verbose) return;
  if (options.labels.is_null())
    std::printf("Found %zu files.\n", index.files.size());
  else
    std::printf("Found %zu files belonging to %zu classes.\n", index.files.size(),
                index.classes.size());
}

void shuffle_files(Files& files, const DirectoryOptions& options) {
  if (!options.shuffle) return;
  const int64_t seed = options.seed.value_or(global_random().seed() % 1'000'000);
  NumpyRandom(static_cast<uint32_t>(seed)).shuffle(files);
}

/// The files of a subset; the validation files are the last ones.
Files files_of(const std::string& subset_name, const FileIndex& index,
               const DirectoryOptions& options) {
  const auto validation_count =
      static_cast<int64_t>(*options.validation_split * static_cast<double>(index.files.size()));
  const auto validation_begin = index.files.end() - validation_count;
  const bool is_training = subset_name == "training";
  Files files(is_training ? index.files.begin() : validation_begin,
              is_training ? validation_begin : index.files.end());
  if (options.verbose) std::printf("Using %zu files for %s.\n", files.size(), subset_name.c_str());
  return files;
}

}  // namespace

DirectoryDataset::DirectoryDataset(StreamPtr stream, std::vector<std::string> classes,
                                   std::vector<std::string> paths)
    : class_names(std::move(classes)), file_paths(std::move(paths)), stream_(std::move(stream)) {}

int64_t DirectoryDataset::elements() const { return stream_->elements(); }
CursorPtr DirectoryDataset::open(uint64_t epoch) { return stream_->open(epoch); }
std::vector<StreamPtr> DirectoryDataset::sources() const { return {stream_}; }

DirectoryDatasets directory_datasets(const DirectoryOptions& options, const FileKind& kind) {
  check_labels(options, kind);
  check_subset(options);
  if (!std::filesystem::is_directory(options.directory))
    fail("'", options.directory, "' is no folder; expected one with a folder for each class");
  FileIndex index = index_of_files(options, kind);
  print_counts(index, options);
  if (options.label_mode.value_or("") == "binary" && index.classes.size() != 2)
    fail(
        "When passing `label_mode=\"binary\"`, there must be exactly 2 class_names. Received: "
        "class_names=",
        join(index.classes));
  shuffle_files(index.files, options);
  if (!options.subset) return {dataset_of(index.files, index.classes, options, kind)};
  DirectoryDatasets datasets;
  for (const char* subset_name : {"training", "validation"})
    if (*options.subset == subset_name || *options.subset == "both")
      datasets.push_back(
          dataset_of(files_of(subset_name, index, options), index.classes, options, kind));
  return datasets;
}

}  // namespace crescent
