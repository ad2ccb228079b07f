#include "lua/misspelling.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace crescent::lua {
namespace {

std::string letters_of(std::string_view word) {
  std::string letters;
  for (const unsigned char letter : word)
    if (letter != '_') letters += static_cast<char>(std::tolower(letter));
  return letters;
}

/// Removes the first letters, then the last letters, that both words have.
void remove_common_ends(std::string_view& a, std::string_view& b) {
  const auto begin = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  a.remove_prefix(begin.first - a.begin());
  b.remove_prefix(begin.second - b.begin());
  const auto end = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend());
  a.remove_suffix(end.first - a.rbegin());
  b.remove_suffix(end.second - b.rbegin());
}

bool is_one_typo(std::string_view word, std::string_view intended_word) {
  constexpr size_t kShortWord = 4;
  const bool is_plural = word.ends_with('s') && word.substr(0, word.size() - 1) == intended_word;
  const bool is_singular =
      intended_word.ends_with('s') && intended_word.substr(0, intended_word.size() - 1) == word;
  const bool is_short = intended_word.size() <= kShortWord;
  if (word.empty() || intended_word.empty() || word[0] != intended_word[0] || is_plural ||
      is_singular)
    return false;
  remove_common_ends(word, intended_word);
  if (word.size() == 2 && intended_word.size() == 2)
    return word[0] == intended_word[1] && word[1] == intended_word[0];
  return !is_short && word.size() <= 1 && intended_word.size() <= 1;
}

}  // namespace

bool is_misspelling(std::string_view word, std::string_view intended_word) {
  return word != intended_word &&
         (letters_of(word) == letters_of(intended_word) || is_one_typo(word, intended_word));
}

}  // namespace crescent::lua
