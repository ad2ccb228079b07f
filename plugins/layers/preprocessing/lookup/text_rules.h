// Splitting of texts into terms.
#pragma once
#include <memory>

#include "crescent/layer/activation.h"
#include "documents.h"

namespace crescent {

enum class Split : uint8_t { none, whitespace, character, function };

struct TextRules {
  bool lower = false, strip_punctuation = false;
  /// a function (texts -> texts) that replaces the options `lower` and `strip_punctuation`
  std::shared_ptr<Activation> standardize;
  Split split = Split::none;
  /// A function (texts (n) -> terms (n, m)) that replaces `split`.
  std::shared_ptr<Activation> splitter;
  /// The lengths of n-grams; empty if only single terms are used.
  std::vector<int64_t> ngrams;

  /// The terms of each row of texts; without splitting, each text of a row is a term.
  std::vector<Document<std::string>> documents(const Tensor& texts) const;
};

/// The text with ASCII letters in lower case; as in TensorFlow other letters are unchanged.
std::string lower_case(std::string text);
/// The text without !"#$%&'()*+,-./:;<=>?@[\]^_`{|}~
std::string without_punctuation(const std::string& text);
std::vector<std::string> split_at_whitespace(std::string_view text);
/// The characters of UTF-8; invalid bytes become U+FFFD.
std::vector<std::string> split_characters(std::string_view text);
/// All n-grams of terms, joined by spaces: all of the first length, then all of the second, ...
std::vector<std::string> ngrams_of(const std::vector<std::string>& terms,
                                   const std::vector<int64_t>& widths);

}  // namespace crescent
