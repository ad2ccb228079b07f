// Several plugins in one process: a file that is reached by several paths, symbols of the same name
// in two plugins, and a folder with two hundred plugins.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>

#include "crescent/registry/registry.h"
#include "support.h"

using namespace crescent;
using namespace crescent::plugin_tests;

namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Writes the library twin_a with the plugin's name replaced by another one of the same length.
void write_renamed(const std::string& content, const std::string& path, const std::string& name) {
  std::string renamed_content = content;
  for (size_t at = 0; (at = renamed_content.find("twin_a", at)) != renamed_content.npos;
       at += name.size())
    renamed_content.replace(at, name.size(), name);
  std::ofstream(path, std::ios::binary) << renamed_content;
}

}  // namespace

TEST_CASE("One file by a symbolic and by a hard link is one plugin", "[P06]") {
  const Folder folder;
  REQUIRE(load_plugin(library("good")).loaded);
  fs::create_symlink(library("good"), folder / "symbolic.so");
  fs::create_hard_link(library("good"), folder / "hard.so");
  for (const char* name : {"symbolic.so", "hard.so"}) {
    INFO(name);
    CHECK(refusal(folder / name).empty());
  }
  CHECK(registry().find("regularizer", "Welcome")->plugin == "good");
}

TEST_CASE("Plugins do not share what has one name in both", "[P08]") {
  for (const char* name : {"twin_a", "twin_b"}) {
    CHECK(refusal(library(name)).empty());
    CHECK(registry().find("regularizer", name) != nullptr);
  }
}

TEST_CASE("A plugin with a thread and objects of threads lives until the process ends", "[P09]") {
  const pid_t child = fork();
  if (child == 0) {
    static std::shared_ptr<Configurable>
        kept;  // destroyed after main, like other objects that are never freed
    if (!refusal(library("lives_on")).empty()) _exit(2);
    kept = make_object("regularizer", "LivesOn", {});
    exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("Two hundred plugins are listed at once, each by its name", "[P14]") {
  constexpr int kCount = 200;
  const Folder folder;
  const std::string content = content_of(library("twin_a"));
  REQUIRE(content.find("twin_a") != content.npos);
  std::set<std::string> expected_names, loaded_names;
  for (int i = 0; i < kCount; ++i) {
    char name[] = "tw_000";
    std::snprintf(name, sizeof name, "tw_%03d", i);
    write_renamed(content, folder / (name + std::string(".so")), name);
    expected_names.insert(name);
  }
  setenv("CRESCENT_PLUGIN_PATH", folder.path().c_str(), 1);
  const auto start = std::chrono::steady_clock::now();
  const std::vector<PluginRecord> records = list_plugins();
  const std::chrono::duration<double> duration = std::chrono::steady_clock::now() - start;
  for (const PluginRecord& record : records)
    if (expected_names.contains(record.name) && record.refused.empty())
      loaded_names.insert(record.name);
  CHECK(loaded_names == expected_names);
  WARN("200 plugins are listed in " << duration.count() << " s");
  CHECK(duration.count() < 2);
  REQUIRE(load_plugin_by_name("tw_199").loaded);
  CHECK(registry().find("regularizer", "tw_199") != nullptr);
}
