// Well-known datasets, read from small files in their formats, and the error for a missing file.
#include "crescent/data/known_datasets.h"

#include <catch2/catch.hpp>

#include "crescent/data/numpy_random.h"
#include "crescent/io/format.h"
#include "folder.h"

using namespace crescent;
using Catch::Contains;
using namespace std::string_literals;

namespace {

using Doubles = std::vector<double>;
using WordLists = std::vector<std::vector<int64_t>>;

Tensor ramp(int64_t rows, int64_t columns) {
  std::vector<float> numbers;
  for (int64_t i = 0; i < rows * columns; ++i) numbers.push_back(static_cast<float>(i));
  return Tensor::from(numbers, {rows, columns});
}

/// While an object of this class exists, KERAS_HOME is a temporary folder.
class KerasHome {
 public:
  KerasHome() { setenv("KERAS_HOME", folder.path().c_str(), 1); }
  ~KerasHome() { unsetenv("KERAS_HOME"); }
  void write(const std::string& name, const std::string& bytes) const {
    folder.write("datasets/" + name, bytes);
  }
  void write(const std::string& name, const NamedTensors& arrays) const {
    write_arrays(folder.add("datasets/" + name), arrays);
  }

 private:
  const Folder folder;
};

std::string little_endian(size_t number, int byte_count) {
  std::string bytes;
  for (int i = 0; i < byte_count; ++i) bytes += static_cast<char>(number >> (8 * i));
  return bytes;
}

/// A batch of CIFAR as Python 2 pickles it, with one image whose first row has more red.
std::string cifar_pickle(char label, const std::string& key) {
  const auto pickled_text = [](const std::string& s) {
    return "T" + little_endian(s.size(), 4) + s;
  };
  const std::string array =
      "cnumpy.core.multiarray\n_reconstruct\nq\1(cnumpy\nndarray\nq\2K\0\x85U\1btR(K\1M\1\0M\0\x0c"
      "\x86"
      "cnumpy\ndtype\nU\2u1K\0K\1\x87R(K\3U\1|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb\x89"s;
  const std::string planes = std::string(32, '\7') + std::string(992, '\1') +
                             std::string(1024, '\2') + std::string(1024, '\3');
  return "\x80\x02}("s + pickled_text("data") + array + pickled_text(planes) + "tb" +
         pickled_text(key) + "](K" + label + "eu.";
}

WordSequences two_texts() { return {{{1, 2, 3}, {4, 5, 9, 7}}, {0, 1}}; }

}  // namespace

TEST_CASE("digits come as arrays to train on and to test with") {
  const KerasHome home;
  const Tensor x = ramp(3, 2), y = ramp(3, 1);
  home.write("mnist.npz", {{"x_train", x}, {"y_train", y}, {"x_test", y}, {"y_test", x}});
  const TrainAndTest mnist = load_mnist();
  CHECK(mnist.train.x.to_vector() == x.to_vector());
  CHECK(mnist.test.y.to_vector() == x.to_vector());
  home.write("half.npz", {{"x_train", x}});
  CHECK_THROWS_WITH(load_mnist("half.npz"), Contains("half.npz' has no array 'y_train'"));
}

TEST_CASE("a data set that is not there is named with the place where Keras gets it") {
  const KerasHome home;
  const std::string advice =
      "is not there, and nothing is downloaded; put Keras' file there (from ";
  CHECK_THROWS_WITH(load_mnist(), Contains("datasets/mnist.npz' " + advice + "https://"));
  CHECK_THROWS_WITH(load_fashion_mnist(), Contains("train-images-idx3-ubyte.gz' " + advice));
  CHECK_THROWS_WITH(load_cifar10(), Contains("cifar-10-python.tar.gz"));
  CHECK_THROWS_WITH(load_imdb(), Contains("imdb.npz' " + advice));
  CHECK_THROWS_WITH(load_reuters(), Contains("reuters.npz' " + advice));
}

TEST_CASE("planes of colour become channels") {
  const KerasHome home;
  for (const char* part : {"train", "test"})
    home.write(std::string("cifar-100-python/") + part, cifar_pickle(50, "fine_labels"));
  const TrainAndTest data = load_cifar100();
  CHECK(data.train.x.shape() == Shape{1, 32, 32, 3});
  CHECK(data.train.x.view({1024, 3}).view_rows(31, 2).to_vector() == Doubles{7, 2, 3, 1, 2, 3});
  CHECK(data.test.y.to_vector() == Doubles{50});
  CHECK_THROWS_WITH(load_cifar100("coarse"), Contains("coarse_labels"));
  CHECK_THROWS_WITH(load_cifar100("rough"), Contains("Received: label_mode=rough."));
}

TEST_CASE("houses are mixed as NumPy mixes them") {
  const KerasHome home;
  home.write("boston_housing.npz", {{"x", ramp(10, 2)}, {"y", ramp(10, 1)}});
  const TrainAndTest data = load_boston_housing();
  CHECK(data.train.y.to_vector() == Doubles{9, 3, 6, 1, 0, 7, 4, 8});
  CHECK(data.test.x.to_vector() == Doubles{4, 5, 10, 11});
  CHECK_THROWS_WITH(load_boston_housing("boston_housing.npz", 1), Contains("test_split"));
  home.write("california_housing.npz", {{"x", ramp(700, 2)}, {"y", ramp(700, 1)}});
  CHECK(load_california_housing("small").train.x.dim(0) == 480);
  CHECK(load_california_housing().train.x.dim(0) == 560);
  CHECK_THROWS_WITH(load_california_housing("tiny"), Contains("Received: version=tiny"));
}

TEST_CASE("texts begin with a word of their own, and long ones are left out") {
  WordSequences texts = two_texts();
  begin_sequences(texts, {});
  CHECK(texts.texts == WordLists{{1, 4, 5, 6}, {1, 7, 8, 12, 10}});
  texts = two_texts();
  begin_sequences(texts, {.maxlen = 4, .start_char = {}, .index_from = 0});
  CHECK((texts.texts == WordLists{{1, 2, 3}} && texts.labels == std::vector<int64_t>{0}));
  CHECK_THROWS_WITH(begin_sequences(texts, {.maxlen = 1}), Contains("shorter than maxlen=1"));
}

TEST_CASE("words that are too rare or too frequent are marked or go") {
  WordSequences parts[] = {two_texts()};
  limit_words(parts, {.num_words = 7, .skip_top = 2, .oov_char = 0});
  CHECK(parts[0].texts == WordLists{{0, 2, 3}, {4, 5, 0, 0}});
  parts[0] = two_texts();
  limit_words(parts, {.oov_char = {}});
  CHECK(parts[0].texts == WordLists{{1, 2, 3}, {4, 5, 7}});
}

TEST_CASE("texts are mixed with their labels and cut") {
  // With the seed 0, numpy.random.RandomState shuffles 0, 1, 2 to 2, 1, 0.
  NumpyRandom random(0);
  const Tensor values = Tensor::from(std::vector<int64_t>{1, 2, 3, 4, 5, 6}, {6});
  const Tensor lengths = Tensor::from(std::vector<int64_t>{1, 2, 3}, {3});
  const Tensor labels = Tensor::from(std::vector<int32_t>{7, 8, 9}, {3});
  const WordSequences shuffled_texts = shuffled_sequences(values, lengths, labels, random);
  CHECK(shuffled_texts.texts == WordLists{{4, 5, 6}, {2, 3}, {1}});
  CHECK(shuffled_texts.labels == std::vector<int64_t>{9, 8, 7});
  const auto [train, test] = split_sequences(shuffled_texts, 0.4);
  CHECK((train.texts.size() == 1 && test.labels == std::vector<int64_t>{8, 7}));
  CHECK_THROWS_WITH(split_sequences(shuffled_texts, 1), Contains("less than 1, got 1"));
  CHECK_THROWS_WITH(shuffled_sequences(values, lengths, values, random),
                    "expected a label for each of 3 texts, got 6");
}

TEST_CASE("words have numbers and classes of news names") {
  const KerasHome home;
  home.write("imdb_word_index.json", "{\"the\": 1}");
  CHECK(imdb_word_index().as_dict().at("the") == Value(1));
  CHECK_THROWS_WITH(reuters_word_index(), Contains("reuters_word_index.json"));
  CHECK(reuters_label_names().size() == 46);
}
