// Tests every reason for refusing a plugin, with its message; no part of a refused plugin stays
// loaded.
#include <catch2/catch.hpp>
#include <fstream>
#include <vector>

#include "crescent/plugin.h"
#include "crescent/registry/registry.h"
#include "support.h"

using namespace crescent;
using namespace crescent::plugin_tests;

namespace {

struct Refusal {
  const char* library;
  std::vector<std::string> message_parts;
};

}  // namespace

TEST_CASE("A plugin that does not fit is refused, and the message says why", "[P01][P03][P05]") {
  const std::string abi = std::to_string(CRESCENT_PLUGIN_ABI),
                    bad_abi = std::to_string(CRESCENT_PLUGIN_ABI + 41);
  const Refusal rows[] = {
      {"no_stamp", {"no_stamp.so", "not a Crescent plugin"}},
      {"wrong_magic", {"wrong_magic.so", "not a Crescent plugin"}},
      {"wrong_abi", {"bad.stamp", abi, bad_abi, "cmake --build"}},
      {"wrong_toolchain", {"bad.stamp", "tcc 1; libfoo", CRESCENT_TOOLCHAIN, "cmake --build"}},
      {"fast_math", {"bad.flags", "'fast-math=1'", "'fast-math=0'", "cmake --build"}},
      {"unsigned_char", {"bad.flags", "'unsigned-char=1'", "'unsigned-char=0'"}},
      {"no_rtti", {"bad.flags", "'rtti=0'", "'rtti=1'"}},
      {"no_exceptions", {"bad.flags", "'exceptions=0'", "'exceptions=1'"}},
      {"glibcxx_debug", {"bad.flags", "'glibcxx-debug=1'", "'glibcxx-debug=0'"}},
      {"wrong_headers", {"bad.stamp", "public headers", "cmake --build"}},
      {"setup_throws", {"bad.setup_throws", "the licence server is asleep"}},
      {"throws_int", {"bad.throws_int", "its setup failed: an exception of type int"}},
      {"clash_builtin", {"L2", "bad.clash_builtin", "regularizers"}},
      {"clash_inside", {"Twice", "bad.clash_inside"}},
      {"declared_twice", {"bad.declared_twice", "TwoWidths: option 'units' is declared twice"}},
      {"wrong_signature", {"bad.wrong_signature", "notes", "hexadecimal digits", "'not hex'"}},
      {"missing_symbol", {"missing_symbol.so", "nobody_defines_this"}},
  };
  for (const Refusal& refused_library : rows) {
    std::string message = refusal(library(refused_library.library));
    INFO(refused_library.library << " is refused with: " << message);
    CHECK_FALSE(message.empty());
    for (const std::string& text : refused_library.message_parts) {
      INFO("must say: " << text);
      CHECK(message.find(text) != std::string::npos);
    }
  }
  for (const char* name : {"HalfDone", "BeforeTheClash", "Twice"})
    CHECK(registry().find("regularizer", name) == nullptr);
}

TEST_CASE("A file that is no library is refused", "[P02]") {
  const Folder folder;
  std::ofstream(folder / "text.so") << "just some text\n";
  std::ofstream(folder / "empty.so");
  std::ofstream(folder / "header.so") << "\x7f"
                                         "ELF\x02\x01\x01";
  fs::resize_file(folder / "header.so", 64);
  for (const char* name : {"text.so", "empty.so", "header.so", "absent.so", ""}) {
    const std::string path = folder / name, message = refusal(path);
    INFO(path << ": " << message);
    CHECK(message.find(path) != std::string::npos);
  }
}

TEST_CASE("A plugin cut short is refused at every length", "[P02]") {
  std::ifstream in(library("good"), std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  const Folder folder;
  for (size_t length = 1; length < bytes.size(); length += bytes.size() / 50) {
    std::ofstream(folder / "short.so", std::ios::binary).write(bytes.data(), length);
    INFO("first " << length << " of " << bytes.size() << " bytes");
    CHECK_FALSE(refusal(folder / "short.so").empty());
  }
}

TEST_CASE("A plugin found by name is loaded once, unknown names list what was tried") {
  setenv("CRESCENT_PLUGIN_PATH", libraries().path().c_str(), 1);
  CHECK(plugin_search_path().front() == libraries().path());
  PluginRecord record = load_plugin_by_name("good");
  CHECK(record.loaded);
  CHECK(record.version == "1.2.3");
  CHECK(registry().find("regularizer", "Welcome")->plugin == "good");
  CHECK_NOTHROW(load_plugin_by_name("good"));

  std::string message;
  try {
    load_plugin_by_name("nobody.wrote_this");
  } catch (const Error& error) {
    message = error.what();
  }
  INFO(message);
  CHECK(message.find("nobody.wrote_this") != std::string::npos);
  CHECK(message.find(libraries().path()) != std::string::npos);
}

TEST_CASE("A folder that others may write is not searched, a library in it not loaded", "[P07]") {
  const Folder folder;
  fs::copy(library("good"), folder / "open.so");
  fs::permissions(folder.path(), fs::perms::all);
  setenv("CRESCENT_PLUGIN_PATH", folder.path().c_str(), 1);
  for (const std::string& searched_folder : plugin_search_path())
    CHECK(searched_folder != folder.path());
  CHECK(refusal(folder / "open.so").find("others may write") != std::string::npos);
}

TEST_CASE("A relative folder of the search path is meant from where the process was", "[P07]") {
  const fs::path current_folder = fs::current_path(),
                 relative_folder = fs::relative(libraries().path(), current_folder);
  setenv("CRESCENT_PLUGIN_PATH", relative_folder.c_str(), 1);
  CHECK(fs::path(plugin_search_path().front()).is_absolute());
  CHECK(fs::equivalent(plugin_search_path().front(), libraries().path()));
  CHECK(load_plugin_by_name("good").loaded);
  fs::current_path("/");
  CHECK(fs::equivalent(plugin_search_path().front(), libraries().path()));
  fs::current_path(current_folder);
}

TEST_CASE("Listing plugins reads stamps and runs nothing") {
  setenv("CRESCENT_PLUGIN_PATH", libraries().path().c_str(), 1);
  bool is_listed = false;
  for (const PluginRecord& record : list_plugins())
    if (record.name == "bad.stamp" || record.path.find("wrong_abi") != std::string::npos) {
      is_listed = true;
      CHECK_FALSE(record.refused.empty());
    }
  CHECK(is_listed);
}
