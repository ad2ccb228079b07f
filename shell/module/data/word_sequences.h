// Texts as lists of the numbers of their words, and what Keras' imdb and reuters do with them.
#pragma once
#include <lua.hpp>
#include <optional>
#include <vector>

#include "crescent/base/value.h"
#include "crescent/data/numpy_random.h"

namespace crescent {
class Tensor;
}

namespace crescent::lua {

struct WordSequences {
  std::vector<std::vector<int64_t>> texts;
  std::vector<int64_t> labels;
};

struct WordOptions {
  std::optional<int64_t> num_words;  ///< words from this number on are unknown
  int64_t skip_top;                  ///< words before this number too
  std::optional<int64_t> maxlen;     ///< longer texts are left out
  std::optional<int64_t> start_char, oov_char;
  int64_t index_from;
};
/// start_char and oov_char: false for none.
WordOptions word_options(std::optional<int64_t> num_words, int64_t skip_top,
                         std::optional<int64_t> maxlen, const Value& start_char,
                         const Value& oov_char, int64_t index_from);

/// `values`: all numbers; `lengths`: how many of them each text has.
WordSequences shuffled_sequences(const Tensor& values, const Tensor& lengths, const Tensor& labels,
                                 NumpyRandom& random);
/// Adds index_from and start_char, and leaves out what is too long.
void begin_sequences(WordSequences& sequences, const WordOptions& options);
/// Words that are too frequent or too rare become oov_char, or go.
void limit_words(const std::vector<WordSequences*>& all, const WordOptions& options);
void check_test_split(double test_split);
std::vector<WordSequences> split_sequences(WordSequences all, double test_split);
/// For each {x, y}: texts as tables of numbers, labels as a tensor.
void push_sequences(lua_State* L, const std::vector<WordSequences>& parts);

}  // namespace crescent::lua
