// Every way to be refused, with the sentence that says why; nothing of a refused plugin stays behind.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "crescent/error.h"
#include "crescent/plugin.h"
#include "crescent/registry.h"

using namespace crescent;

namespace {

std::string library(const std::string& name) { return std::string(TEST_PLUGINS) + "/" + name + ".so"; }

std::string refusal(const std::string& path) {
  try {
    load_plugin(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

struct Refusal {
  const char* library;
  std::vector<std::string> says;
};

}  // namespace

TEST_CASE("A plugin that does not fit is refused, and the message says why") {
  const std::string abi = std::to_string(CRESCENT_PLUGIN_ABI), bad_abi = std::to_string(CRESCENT_PLUGIN_ABI + 41);
  const Refusal rows[] = {
      {"no_stamp", {"no_stamp.so", "not a Crescent plugin"}},
      {"wrong_magic", {"wrong_magic.so", "not a Crescent plugin"}},
      {"wrong_abi", {"bad.stamp", abi, bad_abi, "cmake --build"}},
      {"wrong_toolchain", {"bad.stamp", "tcc 1; libfoo", CRESCENT_TOOLCHAIN, "cmake --build"}},
      {"wrong_layout", {"bad.stamp", "layout", "cmake --build"}},
      {"setup_throws", {"bad.setup_throws", "the licence server is asleep"}},
      {"clash_builtin", {"L2", "bad.clash_builtin", "regularizers"}},
      {"clash_inside", {"Twice", "bad.clash_inside"}},
      {"missing_symbol", {"missing_symbol.so", "nobody_defines_this"}},
  };
  for (const Refusal& row : rows) {
    std::string message = refusal(library(row.library));
    INFO(row.library << " is refused with: " << message);
    CHECK_FALSE(message.empty());
    for (const std::string& text : row.says) {
      INFO("must say: " << text);
      CHECK(message.find(text) != std::string::npos);
    }
  }
  for (const char* name : {"HalfDone", "BeforeTheClash", "Twice"}) CHECK(registry().find("regularizer", name) == nullptr);
}

TEST_CASE("A file that is no library is refused") {
  const std::string folder = std::filesystem::temp_directory_path().string() + "/crescent_no_library";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/text.so") << "just some text\n";
  std::ofstream(folder + "/empty.so");
  std::ofstream(folder + "/header.so") << "\x7f" "ELF\x02\x01\x01";
  std::filesystem::resize_file(folder + "/header.so", 64);
  for (const char* name : {"/text.so", "/empty.so", "/header.so", "/absent.so", ""}) {
    std::string message = refusal(folder + name);
    INFO(folder << name << ": " << message);
    CHECK(message.find(folder + name) != std::string::npos);
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("A truncated plugin is refused at every length") {
  std::ifstream in(library("good"), std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  const std::string path = std::filesystem::temp_directory_path().string() + "/crescent_truncated.so";
  for (size_t length = 1; length < bytes.size(); length += bytes.size() / 50) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), length);
    INFO("first " << length << " of " << bytes.size() << " bytes");
    CHECK_FALSE(refusal(path).empty());
  }
  std::filesystem::remove(path);
}

TEST_CASE("A plugin found by name is loaded once, unknown names list what was tried") {
  setenv("CRESCENT_PLUGIN_PATH", TEST_PLUGINS, 1);
  CHECK(plugin_search_path().front() == TEST_PLUGINS);
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
  CHECK(message.find(TEST_PLUGINS) != std::string::npos);
}

TEST_CASE("A folder that others may write is not searched") {
  const std::string folder = std::filesystem::temp_directory_path().string() + "/crescent_open_to_all";
  std::filesystem::create_directories(folder);
  std::filesystem::permissions(folder, std::filesystem::perms::all);
  setenv("CRESCENT_PLUGIN_PATH", folder.c_str(), 1);
  for (const std::string& searched : plugin_search_path()) CHECK(searched != folder);
  std::filesystem::remove_all(folder);
}

TEST_CASE("Listing plugins reads stamps and runs nothing") {
  setenv("CRESCENT_PLUGIN_PATH", TEST_PLUGINS, 1);
  bool found = false;
  for (const PluginRecord& record : list_plugins())
    if (record.name == "bad.stamp" || record.path.find("wrong_abi") != std::string::npos) {
      found = true;
      CHECK_FALSE(record.refused.empty());
    }
  CHECK(found);
}
