#include "crescent/system/user_folder.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

using namespace crescent;

namespace {

/// Sets an environment variable, or removes it if the value is null, until the end of the scope.
class EnvironmentVariable {
 public:
  EnvironmentVariable(const char* name, const char* value) : name_(name) {
    if (const char* previous = std::getenv(name)) previous_value_ = previous, was_set_ = true;
    set(value);
  }
  ~EnvironmentVariable() { set(was_set_ ? previous_value_.c_str() : nullptr); }

 private:
  void set(const char* value) const {
    if (value)
      setenv(name_, value, 1);
    else
      unsetenv(name_);
  }
  const char* name_;
  std::string previous_value_;
  bool was_set_ = false;
};

}  // namespace

TEST_CASE("folders of the user follow the XDG specification") {
  const EnvironmentVariable home("HOME", "/home/ada"), cache("XDG_CACHE_HOME", "/fast/cache"),
      config("XDG_CONFIG_HOME", "relative"), data("XDG_DATA_HOME", nullptr),
      state("XDG_STATE_HOME", "");
  CHECK(user_folder(UserFolder::cache) == "/fast/cache/crescent");
  CHECK(user_folder(UserFolder::config) == "/home/ada/.config/crescent");
  CHECK(user_folder(UserFolder::data) == "/home/ada/.local/share/crescent");
  CHECK(user_folder(UserFolder::state) == "/home/ada/.local/state/crescent");
}

TEST_CASE("there is no folder of the user without a home") {
  const EnvironmentVariable home("HOME", "somewhere"), data("XDG_DATA_HOME", nullptr);
  CHECK(user_folder(UserFolder::data).empty());
}
