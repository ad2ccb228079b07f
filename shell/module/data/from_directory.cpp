#include "data/from_directory.h"

#include "crescent/io/format.h"
#include "crescent/ops/ops.h"
#include "crescent/system/file.h"
#include "data/directory.h"
#include "data/timeseries.h"
#include "images/functions.h"

namespace crescent::lua {
namespace {

using Text = std::optional<std::string>;

void check_format(const std::string& format) {
  if (format != "tf")
    fail("datasets are Crescent's own: leave 'format' at \"tf\", got \"", format, "\"");
}

DirectoryOptions directory_options(const std::string& directory, Value labels, Value label_mode,
                                   std::optional<std::vector<std::string>> class_names,
                                   Value batch_size, bool shuffle, std::optional<int64_t> seed,
                                   std::optional<double> validation_split, Text subset,
                                   bool follow_links, bool verbose) {
  DirectoryOptions options;
  options.directory = directory;
  options.labels = labels.is_bool() && !labels.as_bool() ? Value() : std::move(labels);
  if (!label_mode.is_bool() || label_mode.as_bool()) options.label_mode = label_mode.as_string();
  options.class_names = class_names.value_or(std::vector<std::string>{});
  if (batch_size.is_int()) options.batch_size = batch_size.as_int();
  options.shuffle = shuffle;
  options.seed = seed;
  options.validation_split = validation_split;
  options.subset = std::move(subset);
  options.follow_links = follow_links;
  options.verbose = verbose;
  return options;
}

/// The second for subset "both" only.
using OneOrTwo = std::tuple<StreamPtr, StreamPtr>;

OneOrTwo one_or_two(const std::vector<StreamPtr>& datasets) {
  return {datasets[0], datasets.size() > 1 ? datasets[1] : nullptr};
}

// ---- images

struct ImageReading {
  int64_t channels;
  ImageSize size;
  std::string interpolation;
  bool crop, pad, channels_first;

  Value operator()(const std::string& path) const {
    Tensor image = read_image(path, channels);
    if (pad) image = padded_to_aspect_ratio(image, size);
    const ImageRegion region = crop ? central_region(image, size) : whole_image(image);
    image = resize_as_tensorflow(image, region, size, interpolation);
    return std::make_shared<BoxedTensor>(channels_first ? ops::transpose(image, {2, 0, 1}) : image);
  }
};

OneOrTwo image_dataset(const std::string& directory, Value labels, Value label_mode,
                       std::optional<std::vector<std::string>> class_names,
                       const std::string& color_mode, Value batch_size, Any image_size,
                       bool shuffle, std::optional<int64_t> seed,
                       std::optional<double> validation_split, Text subset,
                       const std::string& interpolation, bool follow_links,
                       bool crop_to_aspect_ratio, bool pad_to_aspect_ratio, Text data_format,
                       const std::string& format, bool verbose) {
  check_format(format);
  if (crop_to_aspect_ratio && pad_to_aspect_ratio)
    fail("Only one of `pad_to_aspect_ratio` and `crop_to_aspect_ratio` can be set to `True`.");
  ImageReading reading{
      channels_of(color_mode), optional_size_at(image_size.index).value_or(ImageSize{256, 256}),
      interpolation,           crop_to_aspect_ratio,
      pad_to_aspect_ratio,     is_channels_first(data_format.value_or(kChannelsLast))};
  check_tensorflow_filter(interpolation);
  const FileKind kind{"image", {".bmp", ".jpeg", ".jpg", ".png"}, reading};
  return one_or_two(directory_datasets(
      directory_options(directory, std::move(labels), std::move(label_mode), std::move(class_names),
                        std::move(batch_size), shuffle, seed, validation_split, std::move(subset),
                        follow_links, verbose),
      kind));
}

// ---- texts

OneOrTwo text_dataset(const std::string& directory, Value labels, Value label_mode,
                      std::optional<std::vector<std::string>> class_names, Value batch_size,
                      std::optional<int64_t> max_length, bool shuffle, std::optional<int64_t> seed,
                      std::optional<double> validation_split, Text subset, bool follow_links,
                      const std::string& format, bool verbose) {
  check_format(format);
  const auto load = [max_length](const std::string& path) -> Value {
    std::string text = read_file(path);
    if (max_length) text.resize(std::min(text.size(), static_cast<size_t>(*max_length)));
    return text;
  };
  return one_or_two(directory_datasets(
      directory_options(directory, std::move(labels), std::move(label_mode), std::move(class_names),
                        std::move(batch_size), shuffle, seed, validation_split, std::move(subset),
                        follow_links, verbose),
      {"text file", {".txt"}, load}));
}

// ---- sound

struct AudioReading {
  std::optional<int64_t> sampling_rate, length;

  Value operator()(const std::string& path) const {
    const auto format = format_named<ReadsArrays>("wav");
    if (sampling_rate) {
      const auto rate = static_cast<int64_t>(format->read_array(path, "sampling_rate").item());
      if (rate != *sampling_rate)
        fail("'", path, "' has ", rate,
             " samples a second, expected sampling_rate = ", *sampling_rate,
             "; sound is not resampled");
    }
    const Tensor audio = format->read_array(path, "");
    if (!length) return std::make_shared<BoxedTensor>(audio);
    if (audio.dim(0) >= *length) return std::make_shared<BoxedTensor>(audio.view_rows(0, *length));
    return std::make_shared<BoxedTensor>(ops::pad(audio, {0, 0}, {*length - audio.dim(0), 0}));
  }
};

OneOrTwo audio_dataset(const std::string& directory, Value labels, Value label_mode,
                       std::optional<std::vector<std::string>> class_names, Value batch_size,
                       std::optional<int64_t> sampling_rate,
                       std::optional<int64_t> output_sequence_length, bool ragged, bool shuffle,
                       std::optional<int64_t> seed, std::optional<double> validation_split,
                       Text subset, bool follow_links, const std::string& format, bool verbose) {
  check_format(format);
  if (ragged)
    fail("ragged: tensors are dense; sounds of a batch are filled up with zeros to the longest, ",
         "or cut and filled to `output_sequence_length`");
  if (sampling_rate && *sampling_rate <= 0)
    fail("`sampling_rate` should be higher than 0. Received: sampling_rate=", *sampling_rate);
  if (output_sequence_length && *output_sequence_length < 1)
    fail("output_sequence_length: expected at least 1, got ", *output_sequence_length);
  return one_or_two(directory_datasets(
      directory_options(directory, std::move(labels), std::move(label_mode), std::move(class_names),
                        std::move(batch_size), shuffle, seed, validation_split, std::move(subset),
                        follow_links, verbose),
      {"audio file",
       {".wav"},
       AudioReading{sampling_rate, output_sequence_length},
       !output_sequence_length}));
}

}  // namespace

std::vector<CallablePtr> dataset_utilities() {
  std::vector<CallablePtr> all;
  all.push_back(bound(
      "image_dataset_from_directory", &image_dataset,
      {"directory", "labels=inferred", "label_mode=int", "class_names=nil", "color_mode=rgb",
       "batch_size=32", "image_size=nil", "shuffle=true", "seed=nil", "validation_split=nil",
       "subset=nil", "interpolation=bilinear", "follow_links=false", "crop_to_aspect_ratio=false",
       "pad_to_aspect_ratio=false", "data_format=nil", "format=tf", "verbose=true"},
      "Batches of images, float32 from 0 to 255, of a folder that has a folder for each class; "
      "read "
      "as they are needed. image_size is {256, 256} when not given; labels = false or label_mode "
      "= false give images alone, batch_size = false single ones."));
  all.push_back(
      bound("text_dataset_from_directory", &text_dataset,
            {"directory", "labels=inferred", "label_mode=int", "class_names=nil", "batch_size=32",
             "max_length=nil", "shuffle=true", "seed=nil", "validation_split=nil", "subset=nil",
             "follow_links=false", "format=tf", "verbose=true"},
            "Batches of texts, of a folder that has a folder of .txt files for each class."));
  all.push_back(
      bound("audio_dataset_from_directory", &audio_dataset,
            {"directory", "labels=inferred", "label_mode=int", "class_names=nil", "batch_size=32",
             "sampling_rate=nil", "output_sequence_length=nil", "ragged=false", "shuffle=true",
             "seed=nil", "validation_split=nil", "subset=nil", "follow_links=false", "format=tf",
             "verbose=true"},
            "Batches of sounds (batch, samples, channels), float32 from -1 to 1, of a folder that "
            "has a folder of WAV files for each class. Shorter ones have zeros at the end."));
  all.push_back(timeseries_function());
  return all;
}

}  // namespace crescent::lua
