#include "text_rules.h"

#include <algorithm>

namespace crescent {
namespace {

/// Whether a character is white space, independent of the locale.
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
         (c >= '{' && c <= '~');
}

/// The number of bytes of a UTF-8 character by its first byte; 0 if no character begins with this
/// byte.
size_t utf8_length(unsigned char first_byte) {
  if (first_byte < 0x80) return 1;
  if (first_byte >= 0xc2 && first_byte < 0xe0) return 2;
  if (first_byte >= 0xe0 && first_byte < 0xf0) return 3;
  return first_byte >= 0xf0 && first_byte < 0xf5 ? 4 : 0;
}

/// Whether `byte` can be byte number `position` of a UTF-8 character that begins with `first_byte`.
/// The second byte is restricted to exclude overlong forms, surrogates, and values beyond Unicode.
bool can_follow(unsigned char first_byte, size_t position, unsigned char byte) {
  const unsigned low = position > 1         ? 0x80
                       : first_byte == 0xe0 ? 0xa0
                       : first_byte == 0xf0 ? 0x90
                                            : 0x80,
                 high = position > 1         ? 0xbf
                        : first_byte == 0xed ? 0x9f
                        : first_byte == 0xf4 ? 0x8f
                                             : 0xbf;
  return byte >= low && byte <= high;
}

Tensor checked_shape(const Tensor& result, const Shape& shape, const char* option) {
  if (result.dtype() != DType::string ||
      (option == std::string_view("standardize") && result.shape() != shape))
    fail("the function of `", option, "` gave ", result.spec(), "; expected strings",
         option == std::string_view("standardize") ? concat(" of shape ", shape) : "");
  return result;
}

}  // namespace

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

std::string without_punctuation(const std::string& text) {
  std::string result;
  std::copy_if(text.begin(), text.end(), std::back_inserter(result),
               [](char c) { return !is_punctuation(c); });
  return result;
}

std::vector<std::string> split_at_whitespace(std::string_view text) {
  std::vector<std::string> words;
  for (auto word_start = text.begin();;) {
    word_start = std::find_if_not(word_start, text.end(), is_space);
    if (word_start == text.end()) return words;
    const auto word_end = std::find_if(word_start, text.end(), is_space);
    words.emplace_back(word_start, word_end);
    word_start = word_end;
  }
}

std::vector<std::string> split_characters(std::string_view text) {
  std::vector<std::string> characters;
  for (size_t i = 0; i < text.size();) {
    const auto first_byte = static_cast<unsigned char>(text[i]);
    const size_t length = utf8_length(first_byte);
    size_t valid_length = 1;
    while (valid_length < length && i + valid_length < text.size() &&
           can_follow(first_byte, valid_length, static_cast<unsigned char>(text[i + valid_length])))
      ++valid_length;
    characters.emplace_back(valid_length == length ? text.substr(i, length) : "\xef\xbf\xbd");
    i += valid_length;
  }
  return characters;
}

std::vector<std::string> ngrams_of(const std::vector<std::string>& terms,
                                   const std::vector<int64_t>& widths) {
  std::vector<std::string> result;
  for (int64_t width : widths)
    for (size_t first_index = 0; first_index + static_cast<size_t>(width) <= terms.size();
         ++first_index)
      result.push_back(join(std::span(terms).subspan(first_index, width), " "));
  return result;
}

std::vector<Document<std::string>> TextRules::documents(const Tensor& texts) const {
  const Tensor standardized_texts =
      standardize ? checked_shape((*standardize)(texts), texts.shape(), "standardize") : texts;
  std::vector<std::string> strings = strings_of(standardized_texts);
  for (std::string& text : strings) {
    if (lower) text = lower_case(std::move(text));
    if (strip_punctuation) text = without_punctuation(text);
  }
  std::vector<Document<std::string>> result;
  const auto append_rows = [&](const std::vector<std::string>& terms, int64_t rows) {
    const size_t row_length = rows == 0 ? 0 : terms.size() / static_cast<size_t>(rows);
    for (size_t i = 0; i < static_cast<size_t>(rows); ++i)
      result.emplace_back(terms.begin() + ptrdiff_t(i * row_length),
                          terms.begin() + ptrdiff_t((i + 1) * row_length));
  };
  const auto text_count = static_cast<int64_t>(strings.size());
  if (split == Split::none)
    append_rows(strings, texts.rank() > 1 ? texts.dim(0) : text_count);
  else if (split == Split::function) {
    const Tensor terms =
        checked_shape((*splitter)(string_tensor(strings, {text_count})), {}, "split");
    if (terms.rank() != 2 || terms.dim(0) != text_count)
      fail("the function of `split` gave ", terms.spec(), "; expected a row of strings for each ",
           "of ", text_count, " texts");
    append_rows(strings_of(terms), text_count);
  } else
    for (const std::string& text : strings)
      result.push_back(split == Split::whitespace ? split_at_whitespace(text)
                                                  : split_characters(text));
  if (!ngrams.empty())
    for (Document<std::string>& terms : result) terms = ngrams_of(terms, ngrams);
  return result;
}

}  // namespace crescent
