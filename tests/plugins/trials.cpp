// Plugins that crash or exit while they are loaded. Each plugin is first loaded in a child process;
// the crash or exit ends only the child, and the refusal tells how it ended.
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>

#include "crescent/registry/registry.h"
#include "support.h"

using namespace crescent;
using namespace crescent::plugin_tests;
using Catch::Contains;

// A sanitizer turns a crash into an exit.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr const char* kSegmentationFault = "while it is loaded";
#else
constexpr const char* kSegmentationFault =
    "crashes while it is loaded: SIGSEGV (Segmentation fault)";
#endif

TEST_CASE("A plugin that would end the process is refused with what happened", "[P04]") {
  const std::pair<const char*, const char*> rows[] = {
      {"exits_at_start", "ends the process while it is loaded, with exit status 3"},
      {"exits_quietly", "ends the process while it is loaded, with exit status 0"},
      {"throws_at_start", "crashes while it is loaded: SIGABRT"},
      {"crashes_in_setup", kSegmentationFault},
      {"crashes_at_end", "crashes when the process ends: SIGABRT"},
      {"crashes_here", "crashes in this process: SIGABRT"},
      {"aborts", "SIGABRT (Aborted); its last words: setup: \\x1b[31mthe table is empty"},
      {"hangs", "does not come to an end while it is loaded"}};
  for (const auto& [name, expected_words] : rows) {
    const std::string message = refusal(library(name));
    INFO(name << " is refused with: " << message);
    CHECK_THAT(message, Contains(expected_words) && Contains(library(name)));
  }
  for (const char* name : {"Exits", "Quiet", "ThrowsAtStart", "Crashes", "CrashesAtEnd",
                           "CrashesHere", "Aborts", "Hangs"})
    CHECK(registry().find("regularizer", name) == nullptr);
}

TEST_CASE("A plugin may build on one that was loaded before it") {
  load_plugin(library("good"));
  CHECK(load_plugin(library("after_good")).loaded);
}

TEST_CASE("A plugin may ask the loader while it is loaded, in a copy of the process too") {
  using std::chrono::steady_clock;
  const auto start = steady_clock::now();
  CHECK(load_plugin(library("comes_back")).loaded);
  CHECK(steady_clock::now() - start <
        std::chrono::seconds(8));  // limit; a child that hangs would take ten seconds
}

TEST_CASE("A plugin whose file changes while it is tried is refused") {
  CHECK_THAT(refusal(library("changes_its_file")), Contains("has changed while it was tried"));
  CHECK(registry().find("regularizer", "Changes") == nullptr);
}

TEST_CASE("Every source of a plugin registers its classes, in the order of their names") {
  std::vector<std::string> names;
  for (const auto& [kind, name] : load_plugin(library("several")).classes) names.push_back(name);
  CHECK(names == std::vector<std::string>{"BesideTheStamp", "Earlier", "Later", "Last"});
}

TEST_CASE("A trial needs nothing of the process but its own child") {
  // With SIGCHLD ignored, the parent is not told of the end of the child.
  const auto old_handler = std::signal(SIGCHLD, SIG_IGN);
  CHECK_THAT(refusal(library("crashes_in_setup")), Contains("while it is loaded"));
  CHECK(load_plugin(library("throwing")).loaded);
  std::signal(SIGCHLD, old_handler);
}
