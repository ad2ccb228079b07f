#include "missing_globals.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "crescent/base/error.h"
#include "crescent/registry/registry.h"
#include "crescent/tensor/tensor.h"
#include "lua_tokens.h"
#include "sources.h"
#include "traceback.h"

namespace crescent::program {
namespace {

constexpr std::pair<std::string_view, const char*> kLiterals[] = {
    {"True", "true"}, {"False", "false"}, {"None", "nil"}};
/// The kinds of objects that are chosen by a name in quotes. Losses and metrics are missing, since
/// their names are also those of variables for their values.
constexpr const char* kNamedKinds[] = {"activation", "initializer", "optimizer"};

bool is_dtype(std::string_view name) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (name == name_of(static_cast<DType>(i))) return true;
  return false;
}

bool is_named_object(std::string_view name) {
  return std::any_of(std::begin(kNamedKinds), std::end(kNamedKinds), [&](const char* kind) {
    const std::vector<std::string> names = registry().all_names(kind);
    return std::find(names.begin(), names.end(), name) != names.end();
  });
}

/// The Lua code for what a variable of this name means in Python, such as "true" for "True"; empty
/// if that is not known.
std::string written_in_lua(const std::string& name) {
  for (const auto& [python_text, lua_text] : kLiterals)
    if (name == python_text) return lua_text;
  return is_dtype(name) || is_named_object(name) ? concat('"', name, '"') : "";
}

/// Stores what was found out about missing variables, so that reading such a variable in a loop
/// takes little time. Several threads may use it.
class MissingGlobals {
 public:
  /// written_in_lua() of the name, which is computed once.
  const std::string& lua_text_of(const char* name) {
    const std::lock_guard lock(mutex_);
    const auto it = lua_texts_.find(name);
    if (it != lua_texts_.end()) return it->second;
    return lua_texts_.emplace(name, written_in_lua(name)).first->second;
  }
  /// Whether nobody was warned yet of the name at this location.
  bool is_new(const std::string& location, const std::string& name) {
    const std::lock_guard lock(mutex_);
    return warned_locations_.insert(location + name).second;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::string, std::less<>> lua_texts_;
  std::set<std::string> warned_locations_;
};

MissingGlobals& missing_globals() {
  static MissingGlobals& globals = *new MissingGlobals;
  return globals;
}

/// The location "train.lua:3" of the code that reads a global variable; empty if it is not the
/// user's code. The stack has the metamethods of the table of global variables above that code.
std::string reading_location(lua_State* L) {
  lua_Debug frame;
  bool is_metamethod = false;
  for (int level = 0; lua_getstack(L, level, &frame); ++level) {
    lua_getinfo(L, "Sln", &frame);
    if (is_metamethod)
      return is_of_user(frame) ? concat(frame.short_src, ":", frame.currentline) : "";
    is_metamethod = std::strcmp(frame.namewhat, "metamethod") == 0;
  }
  return "";
}

/// The metamethod __index of the table of global variables.
int missing_global(lua_State* L) {
  if (lua_type(L, 2) != LUA_TSTRING) return 0;
  const std::string& lua_text = missing_globals().lua_text_of(lua_tostring(L, 2));
  if (lua_text.empty()) return 0;
  const std::string name = lua_tostring(L, 2), location = reading_location(L);
  if (location.empty() || lua_calls(line_at(location_of(location + ":")), name) ||
      !missing_globals().is_new(location, name))
    return 0;
  std::fflush(stdout);
  std::fprintf(stderr, "crescent: %s: '%s' is a variable without a value; it is written %s\n",
               location.c_str(), name.c_str(), lua_text.c_str());
  return 0;
}

}  // namespace

void warn_of_missing_globals(lua_State* L) {
  lua_pushglobaltable(L);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, missing_global);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  lua_pop(L, 1);
}

}  // namespace crescent::program
