#include "data/known_datasets.h"

#include <numeric>

#include "crescent/data/numpy_random.h"
#include "crescent/ops/ops.h"
#include "crescent/system/file.h"
#include "data/dataset_files.h"
#include "data/word_sequences.h"

namespace crescent::lua {
namespace {

std::string keras_file(const std::string& name) {
  return "https://storage.googleapis.com/tensorflow/tf-keras-datasets/" + name;
}

/// {x_train, y_train}, {x_test, y_test}
using TrainAndTest = std::tuple<Tensors, Tensors>;

// ---- digits and clothes

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

// ---- small colour images

/// A batch of CIFAR, a pickle: images as rows of 3 x 32 x 32 bytes, labels under some key.
Tensors cifar_batch(const MemberFiles& files, const std::string& name, const char* labels,
                    DType label_dtype) {
  const auto pickle = get<Format>("pickle");
  const Value content =
      pickle->call_method("parse", {{"path", files.path(name)}, {"bytes", files.text(name)}});
  const auto data = content.as_dict().at("data").object_as<BoxedTensor>();
  std::vector<int64_t> classes;
  for (const Value& label : content.as_dict().at(labels).as_list())
    classes.push_back(label.as_int());
  const auto count = static_cast<int64_t>(classes.size());
  if (!data || data->tensor.size() != count * 3072)
    fail("'", files.path(name), "': expected an image of 3072 bytes for each of ", count,
         " labels");
  return {ops::transpose(data->tensor.view({count, 3, 32, 32}), {0, 2, 3, 1}),
          ops::cast(Tensor::from(classes, {count, 1}), label_dtype)};
}

TrainAndTest load_cifar10() {
  const MemberFiles files(
      {"cifar10", "cifar-10-batches-py", "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"},
      {"cifar-10-batches-py-target/cifar-10-batches-py", "cifar-10-batches-py.tar.gz",
       "cifar-10-python.tar.gz"});
  Tensors images, labels;
  for (const char* name :
       {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5"}) {
    const Tensors batch = cifar_batch(files, name, "labels", DType::uint8);
    images.push_back(batch[0]);
    labels.push_back(batch[1]);
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
  const std::string labels = label_mode + "_labels";
  return {cifar_batch(files, "train", labels.c_str(), DType::int64),
          cifar_batch(files, "test", labels.c_str(), DType::int64)};
}

// ---- houses

Tensor rows(const Tensor& x, std::span<const int32_t> places) {
  return ops::take(x, Tensor::from(places, {static_cast<int64_t>(places.size())}), 0);
}

TrainAndTest split_rows(const Tensor& x, const Tensor& y, double test_split, int64_t seed) {
  check_test_split(test_split);
  std::vector<int32_t> order(static_cast<size_t>(x.dim(0)));
  std::iota(order.begin(), order.end(), 0);
  NumpyRandom(static_cast<uint32_t>(seed)).shuffle(order);
  const auto middle = static_cast<size_t>(double(order.size()) * (1 - test_split));
  const std::span all(std::as_const(order));
  const auto train = all.first(middle), test = all.subspan(middle);
  return {{rows(x, train), rows(y, train)}, {rows(x, test), rows(y, test)}};
}

TrainAndTest load_boston(const std::string& path, double test_split, int64_t seed) {
  const DatasetFile file{"boston_housing", path, keras_file("boston_housing.npz")};
  const NamedTensors arrays = arrays_of(file);
  return split_rows(array_named(arrays, "x", file), array_named(arrays, "y", file), test_split,
                    seed);
}

TrainAndTest load_california(const std::string& version, const std::string& path, double test_split,
                             int64_t seed) {
  if (version != "small" && version != "large")
    fail("Argument `version` must be one of 'small', 'large'. Received: version=", version);
  const DatasetFile file{"california_housing", path, keras_file("california_housing.npz")};
  const NamedTensors arrays = arrays_of(file);
  Tensor x = array_named(arrays, "x", file), y = array_named(arrays, "y", file);
  constexpr int64_t kSmall = 600;
  if (version == "small" && x.dim(0) > kSmall) {
    x = x.view_rows(0, kSmall);
    y = y.view_rows(0, kSmall);
  }
  return split_rows(x, y, test_split, seed);
}

// ---- texts as numbers of words

Value word_index(const char* dataset, const std::string& path) {
  const std::string origin = keras_file(path);
  return parse_json(read_file(path_of({dataset, path, origin})));
}
Value imdb_words(const std::string& path) { return word_index("imdb", path); }
Value reuters_words(const std::string& path) { return word_index("reuters", path); }

/// The sequences of an array, shuffled with their labels.
WordSequences sequences_of(const DatasetFile& file, const char* x, const char* y,
                           NumpyRandom& random) {
  const auto npz = get<Format>("npz");
  const Value lists =
      npz->call_method("read_ragged", {{"path", path_of(file)}, {"name", std::string(x)}});
  const Tensor labels = read_array(path_of(file), y);
  return shuffled_sequences(lists.as_list()[0].object_as<BoxedTensor>()->tensor,
                            lists.as_list()[1].object_as<BoxedTensor>()->tensor, labels, random);
}

std::tuple<OnStack, OnStack> load_imdb(const std::string& path, std::optional<int64_t> num_words,
                                       int64_t skip_top, std::optional<int64_t> maxlen,
                                       int64_t seed, Value start_char, Value oov_char,
                                       int64_t index_from) {
  const DatasetFile file{"imdb", path, keras_file("imdb.npz")};
  NumpyRandom random(static_cast<uint32_t>(seed));
  WordSequences train = sequences_of(file, "x_train", "y_train", random),
                test = sequences_of(file, "x_test", "y_test", random);
  const WordOptions options =
      word_options(num_words, skip_top, maxlen, start_char, oov_char, index_from);
  begin_sequences(train, options);
  begin_sequences(test, options);
  limit_words({&train, &test}, options);
  push_sequences(current(), {train, test});
  return {};
}

std::tuple<OnStack, OnStack> load_reuters(const std::string& path, std::optional<int64_t> num_words,
                                          int64_t skip_top, std::optional<int64_t> maxlen,
                                          double test_split, int64_t seed, Value start_char,
                                          Value oov_char, int64_t index_from) {
  check_test_split(test_split);
  const DatasetFile file{"reuters", path, keras_file("reuters.npz")};
  NumpyRandom random(static_cast<uint32_t>(seed));
  WordSequences all = sequences_of(file, "x", "y", random);
  const WordOptions options =
      word_options(num_words, skip_top, maxlen, start_char, oov_char, index_from);
  begin_sequences(all, options);
  limit_words({&all}, options);
  push_sequences(current(), split_sequences(std::move(all), test_split));
  return {};
}

std::vector<std::string> reuters_labels() {
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

constexpr const char* kParts = "Two tables, {x, y} to train on and {x, y} to test with.";

template <class F>
std::vector<CallablePtr> loader(F load, Parameters parameters) {
  std::vector<CallablePtr> all;
  all.push_back(bound("load_data", load, std::move(parameters), kParts));
  return all;
}

}  // namespace

const std::vector<KnownDataset>& known_datasets() {
  static const std::vector<KnownDataset> all = [] {
    std::vector<KnownDataset> sets;
    const auto add = [&](const char* name, std::vector<CallablePtr> functions) {
      sets.push_back({name, std::move(functions)});
    };
    add("mnist", loader(&load_mnist, {"path=mnist.npz"}));
    add("fashion_mnist", loader(&load_fashion_mnist, {}));
    add("cifar10", loader(&load_cifar10, {}));
    add("cifar100", loader(&load_cifar100, {"label_mode=fine"}));
    add("boston_housing",
        loader(&load_boston, {"path=boston_housing.npz", "test_split=0.2", "seed=113"}));
    add("california_housing",
        loader(&load_california,
               {"version=large", "path=california_housing.npz", "test_split=0.2", "seed=113"}));
    std::vector<CallablePtr> imdb =
        loader(&load_imdb, {"path=imdb.npz", "num_words=nil", "skip_top=0", "maxlen=nil",
                            "seed=113", "start_char=1", "oov_char=2", "index_from=3"});
    imdb.push_back(bound("get_word_index", &imdb_words, {"path=imdb_word_index.json"},
                         "The number of each word."));
    add("imdb", std::move(imdb));
    std::vector<CallablePtr> reuters =
        loader(&load_reuters,
               {"path=reuters.npz", "num_words=nil", "skip_top=0", "maxlen=nil", "test_split=0.2",
                "seed=113", "start_char=1", "oov_char=2", "index_from=3"});
    reuters.push_back(bound("get_word_index", &reuters_words, {"path=reuters_word_index.json"},
                            "The number of each word."));
    reuters.push_back(
        bound("get_label_names", &reuters_labels, {}, "What the classes are called."));
    add("reuters", std::move(reuters));
    return sets;
  }();
  return all;
}

}  // namespace crescent::lua
