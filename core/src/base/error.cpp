#include "crescent/base/error.h"

#include <cxxabi.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <new>

#include "base/text.h"
#include "crescent/base/memory_error.h"

namespace crescent {

Error::Error(std::string_view message) : std::runtime_error(printable(message)) {}
Error::~Error() = default;
Interrupted::~Interrupted() = default;
DataError::~DataError() = default;
MemoryError::~MemoryError() = default;

void Error::add_context(std::string_view context) {
  std::runtime_error::operator=(std::runtime_error(printable(context) + what()));
}

void Error::set_message(std::string_view message) {
  std::runtime_error::operator=(std::runtime_error(printable(message)));
}

void raise_error(std::string_view message, std::string layer) {
  Error error(message);
  error.set_layer(std::move(layer));
  throw error;
}

std::string exception_text() try { throw; } catch (const Error& error) {
  return error.what();
} catch (const std::bad_alloc&) {
  return "not enough memory";
} catch (const std::exception& error) {
  return concat(demangled_name(typeid(error)), ": ", error.what());
} catch (...) {
  const std::type_info* type = abi::__cxa_current_exception_type();
  return concat("an exception of type ", type ? demangled_name(*type) : "unknown");
}

std::string to_text(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  const double magnitude = std::fabs(x);
  const bool is_without_exponent = magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16);
  char digits[32];
  auto conversion =
      std::to_chars(digits, digits + sizeof digits, x,
                    is_without_exponent ? std::chars_format::fixed : std::chars_format::scientific);
  return std::string(digits, conversion.ptr);
}

namespace {

std::atomic<void (*)(std::string_view)> warning_handler{nullptr};

/// The number of edits (insert, delete, replace, swap of neighbours) between two words; stops
/// counting at `max_distance` + 1.
size_t edit_distance(std::string_view a, std::string_view b, size_t max_distance) {
  if (a.size() > b.size() + max_distance || b.size() > a.size() + max_distance)
    return max_distance + 1;
  std::vector<size_t> second_last_row, last_row(b.size() + 1), current_row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last_row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    current_row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      current_row[j] = std::min(
          {last_row[j] + 1, current_row[j - 1] + 1, last_row[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current_row[j] = std::min(current_row[j], second_last_row[j - 2] + 1);
    }
    second_last_row = last_row;
    last_row = current_row;
  }
  return last_row[b.size()];
}

constexpr size_t kMaxWordLength = 100;

}  // namespace

void set_warning_handler(void (*handler)(std::string_view text)) { warning_handler = handler; }

void warn_text(std::string_view text) {
  if (auto handler = warning_handler.load()) return handler(text);
  std::fprintf(stderr, "crescent: %s\n", printable(text).c_str());
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  if (word.empty() || word.size() > kMaxWordLength) return "";
  const std::string lower_word = lower_case(word);
  const size_t max_distance = (word.size() + 1) / 3;
  const std::string* best_candidate = nullptr;
  // The edit distances of the best candidate so far: first without regard to case, then with regard
  // to it.
  std::pair<size_t, size_t> best_distance(max_distance + 1, 0);
  for (const std::string& candidate : candidates) {
    const size_t lower_case_distance =
        edit_distance(lower_word, lower_case(candidate), max_distance);
    const std::pair distance(lower_case_distance, edit_distance(word, candidate, kMaxWordLength));
    if (distance < best_distance) best_candidate = &candidate, best_distance = distance;
  }
  // If no candidate is near, the shortest one that begins with `word` is suggested.
  if (!best_candidate && word.size() >= 4)
    for (const std::string& candidate : candidates)
      if (lower_case(candidate).starts_with(lower_word) &&
          (!best_candidate || candidate.size() < best_candidate->size()))
        best_candidate = &candidate;
  return best_candidate ? concat(" (did you mean '", *best_candidate, "'?)") : "";
}

std::string options_hint(std::string_view word, std::span<const std::string> candidates,
                         std::span<const std::string> listed_options) {
  constexpr size_t kMaxListedCount = 8;
  const std::string guess = did_you_mean(word, candidates);
  const bool lists_options =
      guess.empty() && !listed_options.empty() && listed_options.size() <= kMaxListedCount;
  return lists_options ? "; it takes " + join(listed_options) : guess;
}

std::string join(std::span<const std::string> words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words)
    text.append(&word == words.data() ? "" : separator).append(word);
  return text;
}

}  // namespace crescent
