// The data sets of keras.datasets, read from the files that Keras stores in $KERAS_HOME/datasets or
// ~/.keras/datasets. Nothing is downloaded: the error for a missing file says which file to put
// where. Paths are relative to that folder, or absolute.
//
//   const TrainAndTest mnist = load_mnist();
//   model->fit({mnist.train.x}, {mnist.train.y});
#pragma once
#include "crescent/base/value.h"
#include "crescent/data/word_sequences.h"

namespace crescent {

/// Samples and their labels or targets; both have the same first dimension.
struct LabelledArrays {
  Tensor x, y;
};
/// The training part and the test part of a data set.
struct TrainAndTest {
  LabelledArrays train, test;
};

/// Images of digits, uint8 (60000 and 10000, 28, 28), and their labels, uint8.
CRESCENT_API TrainAndTest load_mnist(const std::string& path = "mnist.npz");
/// Images of clothes and their labels, with the shapes and dtypes of load_mnist().
CRESCENT_API TrainAndTest load_fashion_mnist();
/// Colour images, uint8 (50000 and 10000, 32, 32, 3), and their labels, uint8 (..., 1).
CRESCENT_API TrainAndTest load_cifar10();
/// Images in the shapes of load_cifar10() with labels of 100 classes ("fine") or 20 ("coarse"),
/// int64 (..., 1).
CRESCENT_API TrainAndTest load_cifar100(const std::string& label_mode = "fine");

/// Features of houses (rows, 13) and their prices, shuffled by NumpyRandom; the last fraction
/// `test_split` of the rows is the test part.
CRESCENT_API TrainAndTest load_boston_housing(const std::string& path = "boston_housing.npz",
                                              double test_split = 0.2, int64_t seed = 113);
/// Features of houses (rows, 8) and their prices: 20640 rows, or 600 of version "small".
CRESCENT_API TrainAndTest load_california_housing(
    const std::string& version = "large", const std::string& path = "california_housing.npz",
    double test_split = 0.2, int64_t seed = 113);

/// Film reviews as sequences of word numbers, the training and the test part; the label of a
/// positive review is 1.
CRESCENT_API std::pair<WordSequences, WordSequences> load_imdb(const std::string& path = "imdb.npz",
                                                               int64_t seed = 113,
                                                               const WordOptions& options = {});
/// News as sequences of word numbers, in 46 classes; the last fraction `test_split` of the texts is
/// the test part.
CRESCENT_API std::pair<WordSequences, WordSequences> load_reuters(
    const std::string& path = "reuters.npz", double test_split = 0.2, int64_t seed = 113,
    const WordOptions& options = {});
/// Returns a dictionary that maps each word of load_imdb() to its number.
CRESCENT_API Value imdb_word_index(const std::string& path = "imdb_word_index.json");
/// Returns a dictionary that maps each word of load_reuters() to its number.
CRESCENT_API Value reuters_word_index(const std::string& path = "reuters_word_index.json");
/// The names of the 46 classes of load_reuters().
CRESCENT_API std::vector<std::string> reuters_label_names();

}  // namespace crescent
