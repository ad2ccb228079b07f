// keras.datasets: well-known data sets from the files that Keras keeps, in $KERAS_HOME/datasets or
// ~/.keras/datasets. Nothing is downloaded: where a file is not there, the error says what to put
// where. Paths are below that folder, or absolute.
//
//   const TrainAndTest mnist = load_mnist();
//   model->fit({mnist.train.x}, {mnist.train.y});
#pragma once
#include "crescent/base/value.h"
#include "crescent/data/word_sequences.h"

namespace crescent {

struct LabelledArrays {
  Tensor x, y;
};
struct TrainAndTest {
  LabelledArrays train, test;
};

/// Digits, uint8 (60000 and 10000, 28, 28), and labels.
CRESCENT_API TrainAndTest load_mnist(const std::string& path = "mnist.npz");
/// Clothes, as digits of MNIST.
CRESCENT_API TrainAndTest load_fashion_mnist();
/// Colour images, uint8 (50000 and 10000, 32, 32, 3), and labels, uint8 (..., 1).
CRESCENT_API TrainAndTest load_cifar10();
/// The same in 100 classes ("fine") or 20 ("coarse"), int64 (..., 1).
CRESCENT_API TrainAndTest load_cifar100(const std::string& label_mode = "fine");

/// Houses (rows, 13) and their prices, mixed by NumPy's generator; the last `test_split` of the
/// rows are those to test with.
CRESCENT_API TrainAndTest load_boston_housing(const std::string& path = "boston_housing.npz",
                                              double test_split = 0.2, int64_t seed = 113);
/// Houses (rows, 8), 20640 of them or, with version "small", 600.
CRESCENT_API TrainAndTest load_california_housing(
    const std::string& version = "large", const std::string& path = "california_housing.npz",
    double test_split = 0.2, int64_t seed = 113);

/// Reviews, 1 for good ones: those to train on, and those to test with.
CRESCENT_API std::pair<WordSequences, WordSequences> load_imdb(const std::string& path = "imdb.npz",
                                                               int64_t seed = 113,
                                                               const WordOptions& options = {});
/// News in 46 classes; the last `test_split` of them are those to test with.
CRESCENT_API std::pair<WordSequences, WordSequences> load_reuters(
    const std::string& path = "reuters.npz", double test_split = 0.2, int64_t seed = 113,
    const WordOptions& options = {});
/// The number of each word, a dictionary.
CRESCENT_API Value imdb_word_index(const std::string& path = "imdb_word_index.json");
CRESCENT_API Value reuters_word_index(const std::string& path = "reuters_word_index.json");
/// What the classes are called.
CRESCENT_API std::vector<std::string> reuters_label_names();

}  // namespace crescent
