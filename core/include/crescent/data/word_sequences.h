// Texts as lists of the numbers of their words, and what keras.datasets' imdb and reuters do with
// them before they give them.
#pragma once
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "crescent/tensor/tensor.h"

namespace crescent {

class NumpyRandom;

struct WordSequences {
  std::vector<std::vector<int64_t>> texts;
  std::vector<int64_t> labels;  ///< one a text
};

/// Numbers of words are ranks by frequency, counted after index_from was added.
struct WordOptions {
  std::optional<int64_t> num_words = {};  ///< words from this number on are unknown
  int64_t skip_top = 0;                   ///< words before this number too
  std::optional<int64_t> maxlen = {};     ///< texts of so many words and longer ones are left out
  std::optional<int64_t> start_char = 1;  ///< is put in front of each text
  std::optional<int64_t> oov_char = 2;    ///< takes the place of unknown words; none: they go
  int64_t index_from = 3;                 ///< is added to the number of each word
};

/// `values`: the words of all texts, int64; `lengths`: how many of them each text has, int64;
/// `labels`: one a text. Fails where there are not as many labels as texts.
CRESCENT_API WordSequences shuffled_sequences(const Tensor& values, const Tensor& lengths,
                                              const Tensor& labels, NumpyRandom& random);
/// Adds index_from and start_char, and leaves out what is too long. Fails where nothing stays.
CRESCENT_API void begin_sequences(WordSequences& sequences, const WordOptions& options);
/// Words that are too frequent or too rare become oov_char, or go. Without num_words the greatest
/// number of all parts is taken for it, which is unknown then, as Keras has it.
CRESCENT_API void limit_words(std::span<WordSequences> parts, const WordOptions& options);
/// The texts but the last `test_split` of them, and those.
CRESCENT_API std::pair<WordSequences, WordSequences> split_sequences(WordSequences all,
                                                                     double test_split);
/// Fails unless 0 <= test_split < 1.
CRESCENT_API void check_test_split(double test_split);

}  // namespace crescent
