// How a text becomes terms.
#pragma once
#include <memory>

#include "crescent/layer/activation.h"
#include "documents.h"

namespace crescent {

enum class Split : uint8_t { none, whitespace, character, function };

struct TextRules {
  bool lower = false, strip_punctuation = false;
  std::shared_ptr<Activation> standardize;  ///< texts -> texts, instead of both
  Split split = Split::none;
  std::shared_ptr<Activation> splitter;  ///< texts (n) -> terms (n, m)
  std::vector<int64_t> ngrams;           ///< how many terms make one; empty: terms stay alone

  /// The terms of each text; without a split, of each row: a text is a term.
  std::vector<Document<std::string>> documents(const Tensor& texts) const;
};

/// ASCII letters in lower case: TensorFlow leaves the others as they are.
std::string lower_case(std::string text);
/// Without !"#$%&'()*+,-./:;<=>?@[\]^_`{|}~
std::string without_punctuation(const std::string& text);
std::vector<std::string> split_at_whitespace(std::string_view text);
/// Characters of UTF-8; bytes that are none become U+FFFD.
std::vector<std::string> split_characters(std::string_view text);
/// Of each of the widths in turn, all runs of terms, joined by spaces.
std::vector<std::string> ngrams_of(const std::vector<std::string>& terms,
                                   const std::vector<int64_t>& widths);

}  // namespace crescent
