#include "data/from_directory.h"

#include "crescent/data/directory.h"
#include "data/timeseries.h"
#include "images/functions.h"

namespace crescent::lua {
namespace {

using OptionalString = std::optional<std::string>;

void check_format(const std::string& format) {
  if (format != "tf")
    fail("datasets are Crescent's own: leave 'format' at \"tf\", got \"", format, "\"");
}

bool is_false(const Value& value) { return value.is_bool() && !value.as_bool(); }

DirectoryOptions directory_options(const std::string& directory, Value labels, Value label_mode,
                                   std::optional<std::vector<std::string>> class_names,
                                   Value batch_size, bool shuffle, std::optional<int64_t> seed,
                                   std::optional<double> validation_split, OptionalString subset,
                                   bool follow_links, bool verbose) {
  DirectoryOptions options;
  options.directory = directory;
  options.labels = is_false(labels) ? Value() : std::move(labels);
  if (is_false(label_mode))
    options.label_mode.reset();
  else
    options.label_mode = label_mode.as_string();
  options.class_names = class_names.value_or(std::vector<std::string>{});
  options.batch_size = batch_size.is_int() ? std::optional(batch_size.as_int()) : std::nullopt;
  options.shuffle = shuffle;
  options.seed = seed;
  options.validation_split = validation_split;
  options.subset = std::move(subset);
  options.follow_links = follow_links;
  options.verbose = verbose;
  return options;
}

/// The datasets that the option `subset` selects: two for "both", otherwise one and null.
using SelectedDatasets = std::tuple<StreamPtr, StreamPtr>;

SelectedDatasets selected_datasets(const DirectoryDatasets& datasets) {
  return {datasets[0], datasets.size() > 1 ? datasets[1] : nullptr};
}

SelectedDatasets image_dataset(const std::string& directory, Value labels, Value label_mode,
                               std::optional<std::vector<std::string>> class_names,
                               const std::string& color_mode, Value batch_size, Any image_size,
                               bool shuffle, std::optional<int64_t> seed,
                               std::optional<double> validation_split, OptionalString subset,
                               const std::string& interpolation, bool follow_links,
                               bool crop_to_aspect_ratio, bool pad_to_aspect_ratio,
                               OptionalString data_format, const std::string& format,
                               bool verbose) {
  check_format(format);
  ImageFileOptions images{.color_mode = color_mode,
                          .interpolation = interpolation,
                          .crop_to_aspect_ratio = crop_to_aspect_ratio,
                          .pad_to_aspect_ratio = pad_to_aspect_ratio,
                          .data_format = data_format.value_or(kChannelsLast)};
  if (const auto size = optional_size_at(image_size.index)) images.size = *size;
  return selected_datasets(image_dataset_from_directory(
      directory_options(directory, std::move(labels), std::move(label_mode), std::move(class_names),
                        std::move(batch_size), shuffle, seed, validation_split, std::move(subset),
                        follow_links, verbose),
      images));
}

SelectedDatasets text_dataset(const std::string& directory, Value labels, Value label_mode,
                              std::optional<std::vector<std::string>> class_names, Value batch_size,
                              std::optional<int64_t> max_length, bool shuffle,
                              std::optional<int64_t> seed, std::optional<double> validation_split,
                              OptionalString subset, bool follow_links, const std::string& format,
                              bool verbose) {
  check_format(format);
  return selected_datasets(text_dataset_from_directory(
      directory_options(directory, std::move(labels), std::move(label_mode), std::move(class_names),
                        std::move(batch_size), shuffle, seed, validation_split, std::move(subset),
                        follow_links, verbose),
      max_length));
}

SelectedDatasets audio_dataset(const std::string& directory, Value labels, Value label_mode,
                               std::optional<std::vector<std::string>> class_names,
                               Value batch_size, std::optional<int64_t> sampling_rate,
                               std::optional<int64_t> output_sequence_length, bool ragged,
                               bool shuffle, std::optional<int64_t> seed,
                               std::optional<double> validation_split, OptionalString subset,
                               bool follow_links, const std::string& format, bool verbose) {
  check_format(format);
  if (ragged)
    fail("ragged: tensors are dense; sounds of a batch are filled up with zeros to the longest, ",
         "or cut and filled to `output_sequence_length`");
  return selected_datasets(audio_dataset_from_directory(
      directory_options(directory, std::move(labels), std::move(label_mode), std::move(class_names),
                        std::move(batch_size), shuffle, seed, validation_split, std::move(subset),
                        follow_links, verbose),
      {sampling_rate, output_sequence_length}));
}

}  // namespace

std::vector<CallablePtr> dataset_utilities() {
  std::vector<CallablePtr> callables;
  callables.push_back(bound(
      "image_dataset_from_directory -> a dataset of files, or two", &image_dataset,
      {"directory", "labels: \"inferred\", nil or a list of integers=inferred",
       "label_mode: a string=int", "class_names=nil", "color_mode=rgb", "batch_size: an integer=32",
       "image_size: a list of two integers=nil", "shuffle=true", "seed=nil", "validation_split=nil",
       "subset=nil", "interpolation=bilinear", "follow_links=false", "crop_to_aspect_ratio=false",
       "pad_to_aspect_ratio=false", "data_format=nil", "format=tf", "verbose=true"},
      "Batches of images, float32 from 0 to 255, from a folder with one subfolder for each class, "
      "read as needed. image_size is {256, 256} by default; labels = false or label_mode = false "
      "omits labels, batch_size = false gives single images."));
  callables.push_back(
      bound("text_dataset_from_directory -> a dataset of files, or two", &text_dataset,
            {"directory", "labels: \"inferred\", nil or a list of integers=inferred",
             "label_mode: a string=int", "class_names=nil", "batch_size: an integer=32",
             "max_length=nil", "shuffle=true", "seed=nil", "validation_split=nil", "subset=nil",
             "follow_links=false", "format=tf", "verbose=true"},
            "Batches of texts, from a folder with one subfolder of .txt files for each class."));
  callables.push_back(bound(
      "audio_dataset_from_directory -> a dataset of files, or two", &audio_dataset,
      {"directory", "labels: \"inferred\", nil or a list of integers=inferred",
       "label_mode: a string=int", "class_names=nil", "batch_size: an integer=32",
       "sampling_rate=nil", "output_sequence_length=nil", "ragged=false", "shuffle=true",
       "seed=nil", "validation_split=nil", "subset=nil", "follow_links=false", "format=tf",
       "verbose=true"},
      "Batches of sounds (batch, samples, channels), float32 from -1 to 1, from a folder with one "
      "subfolder of WAV files for each class. Shorter sounds are padded with zeros."));
  callables.push_back(timeseries_function());
  return callables;
}

}  // namespace crescent::lua
