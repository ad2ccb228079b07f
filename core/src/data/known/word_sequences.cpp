#include "crescent/data/word_sequences.h"

#include <algorithm>
#include <numeric>

#include "crescent/data/numpy_random.h"
#include "crescent/ops/ops.h"

namespace crescent {

WordSequences shuffled_sequences(const Tensor& values, const Tensor& lengths, const Tensor& labels,
                                 NumpyRandom& random) {
  const Tensor class_labels = ops::cast(labels, DType::int64);
  if (class_labels.size() != lengths.size())
    fail("expected a label for each of ", lengths.size(), " texts, got ", class_labels.size());
  std::vector<size_t> starts{0}, order(lengths.size());
  for (int64_t i = 0; i < lengths.size(); ++i)
    starts.push_back(starts.back() + static_cast<size_t>(lengths.data<int64_t>()[i]));
  std::iota(order.begin(), order.end(), size_t{0});
  random.shuffle(order);
  WordSequences shuffled;
  for (const size_t i : order) {
    const int64_t* words = values.data<int64_t>();
    shuffled.texts.emplace_back(words + starts[i], words + starts[i + 1]);
    shuffled.labels.push_back(class_labels.data<int64_t>()[i]);
  }
  return shuffled;
}

void begin_sequences(WordSequences& sequences, const WordOptions& options) {
  WordSequences result;
  for (size_t i = 0; i < sequences.texts.size(); ++i) {
    std::vector<int64_t>& text = sequences.texts[i];
    for (int64_t& word : text) word += options.index_from;
    if (options.start_char) text.insert(text.begin(), *options.start_char);
    if (options.maxlen && static_cast<int64_t>(text.size()) >= *options.maxlen) continue;
    result.texts.push_back(std::move(text));
    result.labels.push_back(sequences.labels[i]);
  }
  if (result.texts.empty())
    fail("After filtering for sequences shorter than maxlen=", options.maxlen.value_or(0),
         ", no sequence was kept. Increase maxlen.");
  sequences = std::move(result);
}

void limit_words(std::span<WordSequences> splits, const WordOptions& options) {
  int64_t word_limit = options.num_words.value_or(0);
  if (!options.num_words)
    for (const WordSequences& split : splits)
      for (const auto& text : split.texts)
        for (const int64_t word : text) word_limit = std::max(word_limit, word);
  const auto is_unknown = [&](int64_t word) {
    return word < options.skip_top || word >= word_limit;
  };
  for (WordSequences& split : splits)
    for (auto& text : split.texts) {
      if (options.oov_char)
        std::replace_if(text.begin(), text.end(), is_unknown, *options.oov_char);
      else
        std::erase_if(text, is_unknown);
    }
}

void check_test_split(double test_split) {
  if (!(test_split >= 0 && test_split < 1))
    fail("expected test_split to be 0 or more and less than 1, got ", test_split);
}

std::pair<WordSequences, WordSequences> split_sequences(WordSequences sequences,
                                                        double test_split) {
  check_test_split(test_split);
  const auto test_begin =
      static_cast<std::ptrdiff_t>(double(sequences.texts.size()) * (1 - test_split));
  return {{{sequences.texts.begin(), sequences.texts.begin() + test_begin},
           {sequences.labels.begin(), sequences.labels.begin() + test_begin}},
          {{sequences.texts.begin() + test_begin, sequences.texts.end()},
           {sequences.labels.begin() + test_begin, sequences.labels.end()}}};
}

}  // namespace crescent
