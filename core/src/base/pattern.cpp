#include "crescent/base/pattern.h"

#include <regex>

#include "crescent/base/error.h"

namespace crescent {
namespace {

/// The largest accepted lengths of a pattern and of a name, in bytes. They bound the depth of
/// std::regex, whose search recurses for every character; real patterns and names are shorter.
constexpr size_t kMaxPatternLength = 1024, kMaxNameLength = 4096;

}  // namespace

struct Pattern::Compiled {
  explicit Compiled(const std::string& text)
      : expression(text, std::regex_constants::ECMAScript | std::regex_constants::__polynomial) {}
  std::regex expression;
};

Pattern::Pattern(const std::string& text, const std::string& option) {
  if (text.size() > kMaxPatternLength)
    fail(option, ": expected a regular expression of at most ", kMaxPatternLength,
         " letters, got one of ", text.size());
  try {
    compiled_ = std::make_shared<Compiled>(text);
  } catch (const std::regex_error& error) {
    fail(option, ": expected a regular expression, got '", text, "': ", error.what());
  }
}

bool Pattern::matches(const std::string& name) const {
  return name.size() <= kMaxNameLength && std::regex_match(name, compiled_->expression);
}

bool Pattern::found_in(const std::string& name) const {
  return name.size() <= kMaxNameLength && std::regex_search(name, compiled_->expression);
}

}  // namespace crescent
