// Texts as sequences of word numbers, and the transformations that imdb and reuters of
// keras.datasets apply to them.
#pragma once
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "crescent/tensor/tensor.h"

namespace crescent {

class NumpyRandom;

/// The word numbers of texts, and a label per text.
struct WordSequences {
  std::vector<std::vector<int64_t>> texts;
  std::vector<int64_t> labels;  ///< one label per text
};

/// The number of a word is its rank by frequency plus index_from; num_words and skip_top are
/// compared with this number.
struct WordOptions {
  std::optional<int64_t> num_words = {};  ///< words with this number or a greater one are unknown
  int64_t skip_top = 0;                   ///< words with a smaller number are unknown
  std::optional<int64_t> maxlen = {};     ///< texts of this many words or more are left out
  std::optional<int64_t> start_char = 1;  ///< word number that is inserted before each text
  /// The number that replaces those of unknown words; nullopt: unknown words are removed.
  std::optional<int64_t> oov_char = 2;
  int64_t index_from = 3;  ///< added to the rank of each word
};

/// Makes the sequences of texts and shuffles them by `random`. `values` (int64) are the word
/// numbers of all texts, concatenated; `lengths` (int64) are the numbers of words of the texts;
/// `labels` are one label per text. Fails unless there are as many labels as texts.
CRESCENT_API WordSequences shuffled_sequences(const Tensor& values, const Tensor& lengths,
                                              const Tensor& labels, NumpyRandom& random);
/// Adds index_from to words, inserts start_char and removes texts that are too long. Fails if no
/// text is left.
CRESCENT_API void begin_sequences(WordSequences& sequences, const WordOptions& options);
/// Replaces words that are too frequent or too rare by oov_char, or removes them. If num_words is
/// not given, it is the greatest word number in all parts, as in Keras, so the words with that
/// number are unknown.
CRESCENT_API void limit_words(std::span<WordSequences> splits, const WordOptions& options);
/// Splits off the last fraction `test_split` of the texts as the test part.
CRESCENT_API std::pair<WordSequences, WordSequences> split_sequences(WordSequences all,
                                                                     double test_split);
/// Fails unless 0 <= test_split < 1.
CRESCENT_API void check_test_split(double test_split);

}  // namespace crescent
