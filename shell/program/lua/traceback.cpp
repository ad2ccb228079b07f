#include "traceback.h"

#include <cstdlib>
#include <cstring>
#include <vector>

#include "crescent/base/error.h"

namespace crescent::program {
namespace {

constexpr size_t kMaxCallsAtEnd = 6;  // the number of calls shown at each end of a long traceback

std::string function_text(lua_State* L, lua_Debug& frame, int main_index) {
  lua_getinfo(L, "f", &frame);
  const bool is_main = *frame.what == 'm' || lua_rawequal(L, -1, main_index);
  lua_pop(L, 1);
  if (is_main) return "in main chunk";
  if (std::strcmp(frame.namewhat, "method") == 0) return concat("in method '", frame.name, "'");
  if (*frame.namewhat) return concat("in function '", frame.name, "'");
  return concat("in function <", frame.short_src, ":", frame.linedefined, ">");
}

/// Collects the texts of those calls that are in the user's code.
class UserCalls {
 public:
  UserCalls(lua_State* L, int main_index) : L_(L), main_index_(main_index) {}

  /// Adds the text of the call at this level of the stack if the call is in the user's code.
  /// Returns false if there is no such level.
  bool add_call(int level) {
    lua_Debug frame;
    if (!lua_getstack(L_, level, &frame)) return false;
    lua_getinfo(L_, "Sln", &frame);
    if (is_of_user(frame))
      texts.push_back(concat("\n\t", frame.short_src, ":", frame.currentline, ": ",
                             function_text(L_, frame, main_index_)));
    return true;
  }
  std::vector<std::string> texts;

 private:
  lua_State* L_;
  int main_index_;
};

int last_level(lua_State* L) {
  int low = 0, high = 1;
  lua_Debug frame;
  while (lua_getstack(L, high, &frame)) low = high, high *= 2;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    (lua_getstack(L, middle, &frame) ? low : high) = middle;
  }
  return low;
}

std::string full_traceback(lua_State* L, int level) {
  luaL_traceback(L, L, nullptr, level);
  const std::string text = lua_tostring(L, -1);
  lua_pop(L, 1);
  return "\n" + text;
}

bool wants_full_traceback() {
  const char* setting = std::getenv("CRESCENT_TRACEBACK");
  return setting && std::strcmp(setting, "full") == 0;
}

/// Whether the traceback adds nothing: it has only one location, with which the message already
/// begins.
bool adds_nothing(const std::vector<std::string>& texts, std::string_view message) {
  const std::string_view position = texts[0];
  return texts.size() == 1 && message.starts_with(position.substr(2, position.rfind(": in ") - 1));
}

/// Removes the calls in the middle of a long traceback. `omitted_count` is the number of further
/// calls in the middle, which `texts` does not contain.
void shorten(std::vector<std::string>& texts, int omitted_count) {
  if (texts.size() <= 2 * kMaxCallsAtEnd) return;
  const auto first = texts.begin() + kMaxCallsAtEnd, last = texts.end() - kMaxCallsAtEnd;
  const std::string note = concat("\n\t... (", last - first + omitted_count, " calls)");
  texts.insert(texts.erase(first, last), note);
}

}  // namespace

bool is_of_user(const lua_Debug& frame) {
  return *frame.what != 'C' && !std::string_view(frame.source).starts_with("=crescent/");
}

std::string traceback(lua_State* L, int level, int main_index, std::string_view message) {
  if (wants_full_traceback()) return full_traceback(L, level);
  UserCalls calls(L, lua_absindex(L, main_index)), outer_calls(L, lua_absindex(L, main_index));
  while (calls.texts.size() <= 2 * kMaxCallsAtEnd && calls.add_call(level)) ++level;
  int outer_level = last_level(L);
  while (outer_calls.texts.size() < kMaxCallsAtEnd && outer_level >= level)
    outer_calls.add_call(outer_level--);
  std::vector<std::string>& texts = calls.texts;
  texts.insert(texts.end(), outer_calls.texts.rbegin(), outer_calls.texts.rend());
  if (texts.empty() || adds_nothing(texts, message)) return "";
  shorten(texts, outer_level - level + 1);
  return std::string(kTraceback) + join(texts, "");
}

}  // namespace crescent::program
