// Datasets of a folder with a folder for each class, as keras.utils' *_dataset_from_directory read
// it. Files are found when the dataset is made and read as their elements are asked for.
//
//   auto parts = image_dataset_from_directory(
//       {.directory = "photos", .seed = 1, .validation_split = 0.2, .subset = "both"},
//       {.size = {64, 64}});
//   model->fit({parts[0]}, {{"validation_data", parts[1]}});
#pragma once
#include "crescent/data/images.h"
#include "crescent/data/stream.h"

namespace crescent {

/// Options that all of these functions have, as Keras names them.
struct DirectoryOptions {
  std::string directory = {};
  /// "inferred": the place of a file's folder among the classes; null: none; or a list of whole
  /// numbers, one for each file in alphabetical order.
  Value labels = "inferred";
  /// "int": numbers; "categorical": one-hot, float32 (classes); "binary": float32 (1); none: no
  /// labels.
  std::optional<std::string> label_mode = "int";
  /// The folders in the order of their numbers; empty: all, alphabetical.
  std::vector<std::string> class_names = {};
  std::optional<int64_t> batch_size = 32;       ///< none: no batches
  bool shuffle = true;                          ///< once as a whole, then in each pass
  std::optional<int64_t> seed = {};             ///< none: drawn from global_random()
  std::optional<double> validation_split = {};  ///< the share of files at the end, between 0 and 1
  std::optional<std::string> subset = {};       ///< "training", "validation" or "both"
  bool follow_links = false;                    ///< to folders
  bool verbose = true;                          ///< prints how many files there are
};

/// What files of one kind are called and how one of them is read.
struct FileKind {
  std::string name;                                    ///< "image", in messages
  std::vector<std::string> endings;                    ///< ".png", in small letters
  std::function<Value(const std::string& path)> load;  ///< called on threads of workers
  bool any_length = false;  ///< files of a batch are filled up with zeros (padded_batch)
};

/// Elements of what is in the files and their labels.
class CRESCENT_API DirectoryDataset final : public Stream {
 public:
  DirectoryDataset(StreamPtr stream, std::vector<std::string> class_names,
                   std::vector<std::string> file_paths);
  int64_t elements() const override;
  CursorPtr open(uint64_t epoch) override;
  std::vector<StreamPtr> sources() const override;

  const std::vector<std::string> class_names;
  const std::vector<std::string> file_paths;  ///< before each pass shuffles them

 private:
  StreamPtr stream_;
};
/// One dataset, or for subset "both" those to train on and to validate with.
using DirectoryDatasets = std::vector<std::shared_ptr<DirectoryDataset>>;

/// Fails in Keras' words for options that contradict each other, and where no file is found.
CRESCENT_API DirectoryDatasets directory_datasets(const DirectoryOptions& options,
                                                  const FileKind& kind);

struct ImageFileOptions {
  std::string color_mode = "rgb";
  ImageSize size{256, 256};
  std::string interpolation = "bilinear";  ///< a filter of resize_as_tensorflow
  bool crop_to_aspect_ratio = false;       ///< cut out the middle first
  bool pad_to_aspect_ratio = false;        ///< put zeros around first
  std::string data_format = "channels_last";
};
/// Images of .bmp, .jpeg, .jpg and .png files, float32 from 0 to 255, (batch, height, width,
/// channels).
CRESCENT_API DirectoryDatasets image_dataset_from_directory(const DirectoryOptions& options,
                                                            const ImageFileOptions& images = {});
/// Texts of .txt files, cut off after `max_length` bytes.
CRESCENT_API DirectoryDatasets text_dataset_from_directory(const DirectoryOptions& options,
                                                           std::optional<int64_t> max_length = {});

struct AudioFileOptions {
  std::optional<int64_t> sampling_rate = {};  ///< samples a second that every file must have
  std::optional<int64_t> output_sequence_length = {};  ///< samples; none: of the longest of a batch
};
/// Sounds of .wav files, float32 from -1 to 1, (batch, samples, channels), with zeros at the end of
/// shorter ones.
CRESCENT_API DirectoryDatasets audio_dataset_from_directory(const DirectoryOptions& options,
                                                            const AudioFileOptions& sounds = {});

}  // namespace crescent
