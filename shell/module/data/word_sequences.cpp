#include "data/word_sequences.h"

#include <algorithm>
#include <numeric>

#include "crescent/ops/ops.h"
#include "values/push.h"

namespace crescent::lua {
namespace {

std::optional<int64_t> word_at(const Value& word) {
  if (word.is_null() || (word.is_bool() && !word.as_bool())) return std::nullopt;
  return word.as_int();
}

}  // namespace

WordOptions word_options(std::optional<int64_t> num_words, int64_t skip_top,
                         std::optional<int64_t> maxlen, const Value& start_char,
                         const Value& oov_char, int64_t index_from) {
  return {num_words, skip_top, maxlen, word_at(start_char), word_at(oov_char), index_from};
}

WordSequences shuffled_sequences(const Tensor& values, const Tensor& lengths, const Tensor& labels,
                                 NumpyRandom& random) {
  const Tensor numbers = ops::cast(labels, DType::int64);
  if (numbers.size() != lengths.size())
    fail("expected a label for each of ", lengths.size(), " texts, got ", numbers.size());
  std::vector<size_t> starts{0}, order(static_cast<size_t>(lengths.size()));
  for (int64_t i = 0; i < lengths.size(); ++i)
    starts.push_back(starts.back() + static_cast<size_t>(lengths.data<int64_t>()[i]));
  std::iota(order.begin(), order.end(), size_t{0});
  random.shuffle(order);
  WordSequences shuffled;
  for (const size_t i : order) {
    const int64_t* words = values.data<int64_t>();
    shuffled.texts.emplace_back(words + starts[i], words + starts[i + 1]);
    shuffled.labels.push_back(numbers.data<int64_t>()[i]);
  }
  return shuffled;
}

void begin_sequences(WordSequences& sequences, const WordOptions& options) {
  WordSequences kept;
  for (size_t i = 0; i < sequences.texts.size(); ++i) {
    std::vector<int64_t>& text = sequences.texts[i];
    for (int64_t& word : text) word += options.index_from;
    if (options.start_char) text.insert(text.begin(), *options.start_char);
    if (options.maxlen && static_cast<int64_t>(text.size()) >= *options.maxlen) continue;
    kept.texts.push_back(std::move(text));
    kept.labels.push_back(sequences.labels[i]);
  }
  if (kept.texts.empty())
    fail("After filtering for sequences shorter than maxlen=", options.maxlen.value_or(0),
         ", no sequence was kept. Increase maxlen.");
  sequences = std::move(kept);
}

void limit_words(const std::vector<WordSequences*>& all, const WordOptions& options) {
  int64_t end = options.num_words.value_or(0);
  if (!options.num_words)
    for (const WordSequences* part : all)
      for (const auto& text : part->texts)
        for (const int64_t word : text) end = std::max(end, word);
  const auto unknown = [&](int64_t word) { return word < options.skip_top || word >= end; };
  for (WordSequences* part : all)
    for (auto& text : part->texts) {
      if (options.oov_char)
        std::replace_if(text.begin(), text.end(), unknown, *options.oov_char);
      else
        std::erase_if(text, unknown);
    }
}

void check_test_split(double test_split) {
  if (!(test_split >= 0 && test_split < 1))
    fail("expected test_split to be 0 or more and less than 1, got ", test_split);
}

std::vector<WordSequences> split_sequences(WordSequences all, double test_split) {
  const auto middle = static_cast<std::ptrdiff_t>(double(all.texts.size()) * (1 - test_split));
  return {{{all.texts.begin(), all.texts.begin() + middle},
           {all.labels.begin(), all.labels.begin() + middle}},
          {{all.texts.begin() + middle, all.texts.end()},
           {all.labels.begin() + middle, all.labels.end()}}};
}

void push_sequences(lua_State* L, const std::vector<WordSequences>& parts) {
  reserve(L, static_cast<int>(parts.size()) + 6);
  for (const WordSequences& part : parts) {
    lua_createtable(L, 2, 0);
    push(L, part.texts);
    lua_rawseti(L, -2, 1);
    push(L, Tensor::from(part.labels, {static_cast<int64_t>(part.labels.size())}));
    lua_rawseti(L, -2, 2);
  }
}

}  // namespace crescent::lua
