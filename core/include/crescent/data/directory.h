// Datasets of the files in a folder that has a subfolder for each class, like those of Keras'
// *_dataset_from_directory functions. Files are listed when the dataset is made. A file is read
// when a pass over the dataset reaches its element.
//
//   auto parts = image_dataset_from_directory(
//       {.directory = "photos", .seed = 1, .validation_split = 0.2, .subset = "both"},
//       {.size = {64, 64}});
//   model->fit({parts[0]}, {{"validation_data", parts[1]}});
#pragma once
#include "crescent/data/images.h"
#include "crescent/data/stream.h"

namespace crescent {

/// The options that all functions of this header share, with their names in Keras.
struct DirectoryOptions {
  std::string directory = {};
  /// "inferred": the label of a file is the class number of its subfolder; null: there are no
  /// labels; a list: one integer label for each file, in alphabetical order of the files
  Value labels = "inferred";
  /// "int": labels are class numbers; "categorical": one-hot, float32 (classes); "binary": float32
  /// (1); nullopt: no labels.
  std::optional<std::string> label_mode = "int";
  /// The names of subfolders in the order of their class numbers; empty: all subfolders,
  /// alphabetically.
  std::vector<std::string> class_names = {};
  std::optional<int64_t> batch_size = 32;  ///< nullopt: elements are not batched
  bool shuffle = true;  ///< whether files are shuffled, once when listed and again in each pass
  std::optional<int64_t> seed = {};  ///< nullopt: drawn from global_random()
  /// The fraction of the files, at the end of the list, that is the validation part.
  std::optional<double> validation_split = {};
  std::optional<std::string> subset = {};  ///< "training", "validation" or "both"
  bool follow_links = false;               ///< whether symbolic links to folders are followed
  bool verbose = true;                     ///< whether the number of files is printed
};

/// The names of files of one kind and the function that reads one of them.
struct FileKind {
  std::string name;                  ///< the word for a file in messages: "image"
  std::vector<std::string> endings;  ///< the file name extensions in lower case: ".png"
  std::function<Value(const std::string& path)> load;  ///< reads a file; called on worker threads
  /// Whether the files of a batch are padded with zeros to the longest one (padded_batch).
  bool any_length = false;
};

/// A stream of pairs of the content of a file and its label.
class CRESCENT_API DirectoryDataset final : public Stream {
 public:
  DirectoryDataset(StreamPtr stream, std::vector<std::string> class_names,
                   std::vector<std::string> file_paths);
  int64_t elements() const override;
  CursorPtr open(uint64_t epoch) override;
  std::vector<StreamPtr> sources() const override;

  const std::vector<std::string> class_names;
  /// The paths of all files, in the order that they have before a pass shuffles them.
  const std::vector<std::string> file_paths;

 private:
  StreamPtr stream_;
};
/// One dataset, or the training and the validation dataset if `subset` is "both".
using DirectoryDatasets = std::vector<std::shared_ptr<DirectoryDataset>>;

/// Lists the files and makes their datasets. Fails with Keras' messages for options that contradict
/// each other, and if there is no file.
CRESCENT_API DirectoryDatasets directory_datasets(const DirectoryOptions& options,
                                                  const FileKind& kind);

/// The options of image_dataset_from_directory() for images, with their names in Keras.
struct ImageFileOptions {
  std::string color_mode = "rgb";
  ImageSize size{256, 256};
  std::string interpolation = "bilinear";  ///< the name of a filter of resize_as_tensorflow
  /// Whether the central region with the aspect ratio of `size` is cut out before resizing.
  bool crop_to_aspect_ratio = false;
  bool pad_to_aspect_ratio = false;  ///< whether zeros are added around the image before resizing
  std::string data_format = "channels_last";
};
/// Datasets of images in .bmp, .jpeg, .jpg and .png files: float32 from 0 to 255, (batch, height,
/// width, channels).
CRESCENT_API DirectoryDatasets image_dataset_from_directory(const DirectoryOptions& options,
                                                            const ImageFileOptions& images = {});
/// Datasets of the texts in .txt files, which are truncated to `max_length` bytes.
CRESCENT_API DirectoryDatasets text_dataset_from_directory(const DirectoryOptions& options,
                                                           std::optional<int64_t> max_length = {});

/// The options of audio_dataset_from_directory() for audio, with their names in Keras.
struct AudioFileOptions {
  std::optional<int64_t> sampling_rate = {};  ///< in Hz; reading a file with another rate fails
  /// The length in samples; nullopt: the length of the longest file in a batch.
  std::optional<int64_t> output_sequence_length = {};
};
/// Datasets of the audio in .wav files: float32 from -1 to 1, (batch, samples, channels), with
/// zeros at the end of shorter files.
CRESCENT_API DirectoryDatasets audio_dataset_from_directory(const DirectoryOptions& options,
                                                            const AudioFileOptions& sounds = {});

}  // namespace crescent
