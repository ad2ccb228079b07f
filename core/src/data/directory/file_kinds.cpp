// Readers of image, text and audio files.
#include "crescent/data/directory.h"
#include "crescent/io/format.h"
#include "crescent/ops/ops.h"
#include "crescent/system/file.h"

namespace crescent {
namespace {

Value read_image_file(const std::string& path, const ImageFileOptions& options) {
  Tensor image = read_image(path, channels_of(options.color_mode));
  if (options.pad_to_aspect_ratio) image = padded_to_aspect_ratio(image, options.size);
  const ImageRegion region =
      options.crop_to_aspect_ratio ? central_region(image, options.size) : whole_image(image);
  image = resize_as_tensorflow(image, region, options.size, options.interpolation);
  return std::make_shared<BoxedTensor>(image_to_array(image, options.data_format));
}

void check_sampling_rate(const std::string& path, ReadsArrays& format, int64_t expected_rate) {
  const auto rate = static_cast<int64_t>(format.read_array(path, "sampling_rate").item());
  if (rate != expected_rate)
    fail("'", path, "' has ", rate, " samples a second, expected sampling_rate = ", expected_rate,
         "; sound is not resampled");
}

/// Audio (samples, channels), truncated or padded with zeros to this length.
Tensor cut_or_padded(const Tensor& audio, int64_t length) {
  if (audio.dim(0) >= length) return audio.view_rows(0, length);
  return ops::pad(audio, {0, 0}, {length - audio.dim(0), 0});
}

Value read_audio_file(const std::string& path, const AudioFileOptions& options) {
  const auto format = format_named<ReadsArrays>("wav");
  if (options.sampling_rate) check_sampling_rate(path, *format, *options.sampling_rate);
  const Tensor audio = format->read_array(path, "");
  const auto& length = options.output_sequence_length;
  return std::make_shared<BoxedTensor>(length ? cut_or_padded(audio, *length) : audio);
}

}  // namespace

DirectoryDatasets image_dataset_from_directory(const DirectoryOptions& options,
                                               const ImageFileOptions& images) {
  if (images.crop_to_aspect_ratio && images.pad_to_aspect_ratio)
    fail("Only one of `pad_to_aspect_ratio` and `crop_to_aspect_ratio` can be set to `True`.");
  channels_of(images.color_mode);
  is_channels_first(images.data_format);
  check_tensorflow_filter(images.interpolation);
  const auto load = [images](const std::string& path) { return read_image_file(path, images); };
  return directory_datasets(options, {"image", {".bmp", ".jpeg", ".jpg", ".png"}, load});
}

DirectoryDatasets text_dataset_from_directory(const DirectoryOptions& options,
                                              std::optional<int64_t> max_length) {
  const auto load = [max_length](const std::string& path) -> Value {
    std::string text = read_file(path);
    if (max_length) text.resize(std::min(text.size(), static_cast<size_t>(*max_length)));
    return text;
  };
  return directory_datasets(options, {"text file", {".txt"}, load});
}

DirectoryDatasets audio_dataset_from_directory(const DirectoryOptions& options,
                                               const AudioFileOptions& sounds) {
  const auto& [rate, length] = sounds;
  if (rate && *rate <= 0)
    fail("`sampling_rate` should be higher than 0. Received: sampling_rate=", *rate);
  if (length && *length < 1) fail("output_sequence_length: expected at least 1, got ", *length);
  const auto load = [sounds](const std::string& path) { return read_audio_file(path, sounds); };
  return directory_datasets(options, {"audio file", {".wav"}, load, !length});
}

}  // namespace crescent
