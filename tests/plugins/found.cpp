// Classes of plugins on the search path are found by name; the facts about a library are cached in
// a file of the user.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

#include "crescent/registry/registry.h"
#include "crescent/system/file.h"
#include "crescent/system/process.h"
#include "support.h"

using namespace crescent;
using namespace crescent::plugin_tests;
using Catch::Contains;

namespace {

/// A search path of one folder with these libraries, and a separate cache.
class SearchPath {
 public:
  explicit SearchPath(const std::vector<std::string>& names) {
    for (const std::string& name : names) fs::copy(library(name), folder_ / (name + ".so"));
    set("CRESCENT_PLUGIN_PATH", folder_.path());
    set("XDG_CACHE_HOME", cache_.path());
    set("XDG_DATA_HOME", data_.path());
  }
  ~SearchPath() {
    for (const auto& [name, value] : previous_values_)
      value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
  }
  SearchPath(const SearchPath&) = delete;
  SearchPath& operator=(const SearchPath&) = delete;
  std::string path() const { return folder_.path(); }
  std::string operator/(const std::string& name) const { return folder_ / name; }
  std::string cache() const { return cache_ / "crescent/plugins.json"; }
  std::string user() const { return data_ / "crescent/plugins"; }

 private:
  void set(const std::string& name, const std::string& value) {
    const char* old_value = std::getenv(name.c_str());
    previous_values_.emplace_back(name,
                                  old_value ? std::optional<std::string>(old_value) : std::nullopt);
    setenv(name.c_str(), value.c_str(), 1);
  }
  Folder folder_, cache_, data_;
  std::vector<std::pair<std::string, std::optional<std::string>>> previous_values_;
};

/// Runs `check` in a fork of this process, so that the registry of this process is not changed;
/// returns the result of `check`.
bool holds(const std::function<bool()>& check) {
  return Process::copy([&] { return check() ? 0 : 1; }).wait() == 0;
}

bool finds_class(const char* name) { return registry().find("regularizer", name) != nullptr; }

/// The reason why a library is refused, according to the list of plugins; empty if it is not
/// refused.
std::string listed_refusal(const std::string& path) {
  for (const PluginRecord& record : list_plugins())
    if (record.path == fs::canonical(path).string()) return record.refused;
  return "it is not listed";
}

/// The error message of a search for this class name.
std::string search_message(const char* name) {
  try {
    registry().get("regularizer", name);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("A class of a plugin on the search path is found by its name, and no other is run") {
  const SearchPath path({"sought", "no_stamp", "wrong_abi", "missing_symbol"});
  CHECK(holds([] { return finds_class("Sought") && !finds_class("NobodyHasIt"); }));
  CHECK(holds([] { return finds_class("sought"); }));  // the class is found like built-in classes
}

TEST_CASE("A plugin in the folder of the user is found") {
  const SearchPath path({});
  fs::create_directories(path.user());
  fs::copy(library("sought"), path.user() + "/sought.so");
  CHECK(holds([] { return finds_class("Sought"); }));
}

TEST_CASE("A plugin that appears while the process runs is found") {
  const SearchPath path({});
  CHECK(holds([&] {
    if (finds_class("Sought")) return false;
    fs::copy(library("sought"), path / "sought.so");
    return finds_class("Sought");
  }));
}

TEST_CASE("What was learned is kept; a damaged or foreign file of it is made anew") {
  const SearchPath path({"sought"});
  REQUIRE(holds([] { return finds_class("Sought"); }));
  const std::string cached_facts = read_file(path.cache());
  CHECK_THAT(cached_facts, Contains("\"Sought\"") && Contains(path.path()));
  const std::string wrong_contents[] = {"",
                                        "{",
                                        "[1]",
                                        "{\"crescent\": 3}",
                                        cached_facts.substr(0, cached_facts.size() / 2),
                                        std::string(100'000, '['),
                                        std::string(300, '\xff')};
  for (const std::string& text : wrong_contents) {
    std::ofstream(path.cache()) << text;
    CHECK(holds([] { return finds_class("Sought"); }));
    CHECK(read_file(path.cache()) == cached_facts);
  }
}

TEST_CASE("A library that has changed is tried again") {
  const SearchPath path({"sought"});
  REQUIRE(holds([] { return finds_class("Sought"); }));
  fs::remove(path / "sought.so");
  fs::copy(library("sought_other"), path / "sought.so");
  CHECK(holds([] { return finds_class("SoughtOther") && !finds_class("Sought"); }));
}

TEST_CASE("A known library is not tried again") {
  const SearchPath path({"sought"});
  REQUIRE(holds([] { return finds_class("Sought"); }));
  std::string text = read_file(path.cache());
  text.replace(text.find("\"Sought\""), 8, "\"Fought\"");
  std::ofstream(path.cache()) << text;
  CHECK(holds([] {
    const auto names = registry().names("regularizer");
    return std::find(names.begin(), names.end(), "Fought") != names.end();
  }));
}

TEST_CASE("Names are listed without running code, and with what was learned") {
  const SearchPath path({"sought"});
  const auto is_listed = [] {
    const auto names = registry().names("regularizer");
    return std::find(names.begin(), names.end(), "Sought") != names.end();
  };
  CHECK(holds([&] { return !is_listed() && !finds_class("Nobody") && is_listed(); }));
  CHECK(holds(is_listed));
}

TEST_CASE("A library that others may write is neither run nor found, and listed with the reason") {
  const SearchPath path({"sought"});
  fs::permissions(path / "sought.so", fs::perms::all);
  CHECK(holds([] { return !finds_class("Sought"); }));
  CHECK_FALSE(fs::exists(path.cache()));
  CHECK_THAT(listed_refusal(path / "sought.so"), Contains("others may write"));
  fs::permissions(path / "sought.so", fs::perms::owner_all);
  fs::permissions(path.path(), fs::perms::all);
  CHECK(holds([] { return !finds_class("Sought"); }));
}

TEST_CASE("The list says why a plugin is refused") {
  const SearchPath path({"no_stamp", "wrong_abi", "clash_builtin", "setup_throws", "sought"});
  fs::copy(path / "sought.so", path / "sought_again.so");
  std::ofstream(path / "short.so") << "\x7f"
                                      "ELF";
  CHECK_THAT(listed_refusal(path / "no_stamp.so"), Contains("not a Crescent plugin"));
  CHECK_THAT(listed_refusal(path / "wrong_abi.so"), Contains("plugin interface"));
  CHECK_THAT(listed_refusal(path / "clash_builtin.so"), Contains("L2"));
  CHECK_THAT(listed_refusal(path / "setup_throws.so"), Contains("the licence server is asleep"));
  CHECK(listed_refusal(path / "sought.so").empty());
  CHECK_THAT(listed_refusal(path / "sought_again.so"),
             Contains("'sought' is the name of " + path / "sought.so"));
  CHECK_FALSE(listed_refusal(path / "short.so").empty());
}

TEST_CASE("A name that a refused plugin has is unknown, and the message says why") {
  const SearchPath path({"crashes_here"});
  CHECK(holds([] {
    return !finds_class("CrashesHere") &&
           Contains("plugin 'bad.here'").match(search_message("CrashesHere")) &&
           Contains("SIGABRT").match(search_message("CrashesHere"));
  }));
}

TEST_CASE("A plugin in Lua is listed with its classes, and refused where nothing runs Lua") {
  const SearchPath path({"sought"});
  std::ofstream(path / "gate.lua") << "-- acme.gate 0.1.0: Lets through.\n"
                                      "-- provides: regularizer Gate, regularizer Second\n";
  std::ofstream(path / "script.lua") << "print 'no plugin'\n";
  CHECK(listed_refusal(path / "gate.lua").empty());
  CHECK(listed_refusal(path / "script.lua") == "it is not listed");
  CHECK(holds([] {
    const std::vector<std::string> names = registry().names("regularizer");
    return std::count(names.begin(), names.end(), "Second") == 1 && !finds_class("Gate") &&
           Contains("plugin 'acme.gate'").match(search_message("Gate")) &&
           Contains("which this program does not run").match(search_message("Gate"));
  }));
}

TEST_CASE("The names of built-in plugins are reserved") {
  CHECK_THAT(refusal(library("reserved")), Contains("'losses' is the name of a built-in plugin"));
}

TEST_CASE(
    "An unknown class may be one of a plugin that is refused, unless its name is nearly known") {
  const SearchPath search_path({"setup_throws"});
  const auto expect_message = [](const char* name, const std::string& words) {
    try {
      registry().get("layer", name);
    } catch (const Error& error) {
      return std::string_view(error.what()).find(words) != std::string_view::npos;
    }
    return false;
  };
  CHECK(holds([&] {
    return expect_message("TotallyUnheardOf", "plugin 'bad.setup_throws' (" +
                                                  search_path / "setup_throws.so" +
                                                  "), whose classes are not known, is refused: ");
  }));
  CHECK(holds([&] {
    return expect_message("Denze", "'Denze' (did you mean 'Dense'?)") &&
           !expect_message("Denze", "is refused");
  }));
}
