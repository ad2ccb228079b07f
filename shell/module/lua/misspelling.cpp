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
void remove_common(std::string_view& a, std::string_view& b) {
  const auto begin = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  a.remove_prefix(begin.first - a.begin());
  b.remove_prefix(begin.second - b.begin());
  const auto end = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend());
  a.remove_suffix(end.first - a.rbegin());
  b.remove_suffix(end.second - b.rbegin());
}

bool is_one_slip(std::string_view written, std::string_view meant) {
  constexpr size_t kShortWord = 4;
  const bool is_plural = written.ends_with('s') && written.substr(0, written.size() - 1) == meant;
  const bool is_singular = meant.ends_with('s') && meant.substr(0, meant.size() - 1) == written;
  const bool is_short = meant.size() <= kShortWord;
  if (written.empty() || meant.empty() || written[0] != meant[0] || is_plural || is_singular)
    return false;
  remove_common(written, meant);
  if (written.size() == 2 && meant.size() == 2)
    return written[0] == meant[1] && written[1] == meant[0];
  return !is_short && written.size() <= 1 && meant.size() <= 1;
}

}  // namespace

bool is_misspelling(std::string_view written, std::string_view meant) {
  return written != meant &&
         (letters_of(written) == letters_of(meant) || is_one_slip(written, meant));
}

}  // namespace crescent::lua
