#include "crescent/data/known_datasets.h"

#include <numeric>

#include "crescent/data/numpy_random.h"
#include "crescent/ops/ops.h"
#include "crescent/system/file.h"
#include "data/known/dataset_files.h"

namespace crescent {
namespace {

std::string keras_file(const std::string& name) {
  return "https://storage.googleapis.com/tensorflow/tf-keras-datasets/" + name;
}

/// Reads a batch of CIFAR from a pickle: "data" has images as rows of 3 x 32 x 32 bytes, and the
/// key `labels_key` has their labels.
LabelledArrays cifar_batch(const MemberFiles& files, const std::string& name,
                           const char* labels_key, DType label_dtype) {
  const auto pickle = get<Format>("pickle");
  const Value content =
      pickle->call_method("parse", {{"path", files.path(name)}, {"bytes", files.text(name)}});
  const auto data = content.as_dict().at("data").object_as<BoxedTensor>();
  std::vector<int64_t> classes;
  for (const Value& label : content.as_dict().at(labels_key).as_list())
    classes.push_back(label.as_int());
  const auto count = static_cast<int64_t>(classes.size());
  if (!data || data->tensor.size() != count * 3072)
    fail("'", files.path(name), "': expected an image of 3072 bytes for each of ", count,
         " labels");
  return {ops::transpose(data->tensor.view({count, 3, 32, 32}), {0, 2, 3, 1}),
          ops::cast(Tensor::from(classes, {count, 1}), label_dtype)};
}

Tensor rows_at(const Tensor& x, std::span<const int32_t> indices) {
  return ops::gather(x, Tensor::from(indices, {static_cast<int64_t>(indices.size())}), 0);
}

TrainAndTest split_rows(const Tensor& x, const Tensor& y, double test_split, int64_t seed) {
  check_test_split(test_split);
  std::vector<int32_t> order(x.dim(0));
  std::iota(order.begin(), order.end(), 0);
  NumpyRandom(static_cast<uint32_t>(seed)).shuffle(order);
  const auto test_begin = static_cast<size_t>(double(order.size()) * (1 - test_split));
  const std::span indices(std::as_const(order));
  const auto train_indices = indices.first(test_begin), test_indices = indices.subspan(test_begin);
  return {{rows_at(x, train_indices), rows_at(y, train_indices)},
          {rows_at(x, test_indices), rows_at(y, test_indices)}};
}

Value word_index(const char* dataset, const std::string& path) {
  const std::string origin = keras_file(path);
  return parse_json(read_file(path_of({dataset, path, origin})));
}

/// The word sequences of an array, shuffled with their labels.
WordSequences sequences_of(const DatasetFile& file, const char* x_name, const char* y_name,
                           NumpyRandom& random) {
  const auto npz = get<Format>("npz");
  const Value encoded_sequences =
      npz->call_method("read_ragged", {{"path", path_of(file)}, {"name", std::string(x_name)}});
  const Tensor labels = read_array(path_of(file), y_name);
  return shuffled_sequences(encoded_sequences.as_list()[0].object_as<BoxedTensor>()->tensor,
                            encoded_sequences.as_list()[1].object_as<BoxedTensor>()->tensor, labels,
                            random);
}

}  // namespace

// ---- MNIST and Fashion-MNIST

TrainAndTest load_mnist(const std::string& path) {
  const DatasetFile file{"mnist", path, keras_file("mnist.npz")};
  const NamedTensors arrays = arrays_of(file);
  const auto get = [&](const char* name) { return array_named(arrays, name, file); };
  return {{get("x_train"), get("y_train")}, {get("x_test"), get("y_test")}};
}

TrainAndTest load_fashion_mnist() {
  const auto get = [](const std::string& name) {
    const std::string origin = keras_file(name);
    return read_array(path_of({"fashion_mnist", "fashion-mnist/" + name, origin}));
  };
  return {{get("train-images-idx3-ubyte.gz"), get("train-labels-idx1-ubyte.gz")},
          {get("t10k-images-idx3-ubyte.gz"), get("t10k-labels-idx1-ubyte.gz")}};
}

// ---- CIFAR

TrainAndTest load_cifar10() {
  const MemberFiles files(
      {"cifar10", "cifar-10-batches-py", "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"},
      {"cifar-10-batches-py-target/cifar-10-batches-py", "cifar-10-batches-py.tar.gz",
       "cifar-10-python.tar.gz"});
  Tensors images, labels;
  for (const char* name :
       {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5"}) {
    const LabelledArrays batch = cifar_batch(files, name, "labels", DType::uint8);
    images.push_back(batch.x);
    labels.push_back(batch.y);
  }
  return {{ops::concatenate(images, 0), ops::concatenate(labels, 0)},
          cifar_batch(files, "test_batch", "labels", DType::uint8)};
}

TrainAndTest load_cifar100(const std::string& label_mode) {
  if (label_mode != "fine" && label_mode != "coarse")
    fail("`label_mode` must be one of `\"fine\"`, `\"coarse\"`. Received: label_mode=", label_mode,
         ".");
  const MemberFiles files(
      {"cifar100", "cifar-100-python", "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"},
      {"cifar-100-python-target/cifar-100-python", "cifar-100-python.tar.gz"});
  const std::string labels_key = label_mode + "_labels";
  return {cifar_batch(files, "train", labels_key.c_str(), DType::int64),
          cifar_batch(files, "test", labels_key.c_str(), DType::int64)};
}

// ---- prices of houses

TrainAndTest load_boston_housing(const std::string& path, double test_split, int64_t seed) {
  const DatasetFile file{"boston_housing", path, keras_file("boston_housing.npz")};
  const NamedTensors arrays = arrays_of(file);
  return split_rows(array_named(arrays, "x", file), array_named(arrays, "y", file), test_split,
                    seed);
}

TrainAndTest load_california_housing(const std::string& version, const std::string& path,
                                     double test_split, int64_t seed) {
  if (version != "small" && version != "large")
    fail("Argument `version` must be one of 'small', 'large'. Received: version=", version);
  const DatasetFile file{"california_housing", path, keras_file("california_housing.npz")};
  const NamedTensors arrays = arrays_of(file);
  Tensor x = array_named(arrays, "x", file), y = array_named(arrays, "y", file);
  constexpr int64_t kSmallRows = 600;
  if (version == "small" && x.dim(0) > kSmallRows) {
    x = x.view_rows(0, kSmallRows);
    y = y.view_rows(0, kSmallRows);
  }
  return split_rows(x, y, test_split, seed);
}

// ---- IMDB and Reuters

std::pair<WordSequences, WordSequences> load_imdb(const std::string& path, int64_t seed,
                                                  const WordOptions& options) {
  const DatasetFile file{"imdb", path, keras_file("imdb.npz")};
  NumpyRandom random(static_cast<uint32_t>(seed));
  WordSequences splits[] = {sequences_of(file, "x_train", "y_train", random),
                            sequences_of(file, "x_test", "y_test", random)};
  for (WordSequences& split : splits) begin_sequences(split, options);
  limit_words(splits, options);
  return {std::move(splits[0]), std::move(splits[1])};
}

std::pair<WordSequences, WordSequences> load_reuters(const std::string& path, double test_split,
                                                     int64_t seed, const WordOptions& options) {
  check_test_split(test_split);
  const DatasetFile file{"reuters", path, keras_file("reuters.npz")};
  NumpyRandom random(static_cast<uint32_t>(seed));
  WordSequences sequences = sequences_of(file, "x", "y", random);
  begin_sequences(sequences, options);
  limit_words({&sequences, 1}, options);
  return split_sequences(std::move(sequences), test_split);
}

Value imdb_word_index(const std::string& path) { return word_index("imdb", path); }
Value reuters_word_index(const std::string& path) { return word_index("reuters", path); }

std::vector<std::string> reuters_label_names() {
  return {"cocoa",        "grain",   "veg-oil",   "earn",
          "acq",          "wheat",   "copper",    "housing",
          "money-supply", "coffee",  "sugar",     "trade",
          "reserves",     "ship",    "cotton",    "carcass",
          "crude",        "nat-gas", "cpi",       "money-fx",
          "interest",     "gnp",     "meal-feed", "alum",
          "oilseed",      "gold",    "tin",       "strategic-metal",
          "livestock",    "retail",  "ipi",       "iron-steel",
          "rubber",       "heat",    "jobs",      "lei",
          "bop",          "zinc",    "orange",    "pet-chem",
          "dlr",          "gas",     "silver",    "wpi",
          "hog",          "lead"};
}

}  // namespace crescent
