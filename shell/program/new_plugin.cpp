// crescent new-plugin NAME: a project of one's own around one layer, ready to build, test and
// change.
#include <sys/stat.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "command_table.h"
#include "commands.h"
#include "crescent/system/file.h"

namespace crescent::program {
namespace {

constexpr const char* kBuild = R"(# Build against an installed Crescent:
#   cmake -S . -B build -DCMAKE_PREFIX_PATH=/where/crescent/is
#   cmake --build build && ctest --test-dir build
cmake_minimum_required(VERSION 3.25)
project(@TARGET@ LANGUAGES CXX)
find_package(Crescent REQUIRED)

crescent_add_plugin(NAME @NAME@ SOURCES @FILE@.cpp)

enable_testing()
add_test(NAME @FILE@ COMMAND "${Crescent_PROGRAM}" "${CMAKE_CURRENT_SOURCE_DIR}/test.lua")
set_tests_properties(@FILE@ PROPERTIES
  TIMEOUT 300 ENVIRONMENT "CRESCENT_PLUGIN_PATH=${CMAKE_CURRENT_BINARY_DIR}")
)";

constexpr const char* kSource = R"(#include "crescent/plugin.h"

using namespace crescent;

/// Options, weights and call: everything else (gradients, files, Lua, help) follows.
class @CLASS@ final : public UnaryLayer {
 public:
  static void describe(Schema<@CLASS@>& s) {
    s.doc("Multiplies each feature by a learned factor.")
        .field("initializer", &@CLASS@::initializer_, "How the factors start.");
  }
  void build(const Shape& input) override {
    factor_ = add_weight("factor", {input[-1]}, initializer_);
  }
  Tensor call(const Tensor& x, const Call&) override { return x * factor_; }

 private:
  Ref<Initializer> initializer_ = "ones";
  Variable factor_;
};

CRESCENT_PLUGIN("@NAME@", "0.1.0") { registry.add<@CLASS@>("@CLASS@"); }
)";

constexpr const char* kTest =
    R"(-- Loads the plugin, checks its layer (gradients, shapes, files, precisions, ...), trains.
--   CRESCENT_PLUGIN_PATH=build crescent test.lua
local cr = require "crescent"
cr.plugins.load "@NAME@"

print(cr.check.layer(cr.layers.@CLASS@, { initializer = "normal" }, { 3 }))

local x = cr.random.normal { 4, 3 }
local model = cr.Sequential { cr.layers.@CLASS@ { input_shape = { 3 } }, cr.layers.Dense(1) }
model:compile { optimizer = "adam", loss = "mse" }
model:fit(x, cr.zeros { 4, 1 }, { epochs = 3, verbose = 0 })
print "ok @NAME@"
)";

constexpr const char* kReadme = R"(# @NAME@

A plugin of Crescent with the layer `@CLASS@`.

    cmake -S . -B build -DCMAKE_PREFIX_PATH=/where/crescent/is
    cmake --build build
    ctest --test-dir build

`CRESCENT_PLUGIN_PATH=build crescent check-plugin @NAME@` checks every class that it has.

Then, with `CRESCENT_PLUGIN_PATH` set to `build` (or the library copied to a folder of
`crescent plugins`):

    cr.plugins.load "@NAME@"
    layer = cr.layers.@CLASS@()
)";

struct Names {
  std::string name, file, class_name, target;
};

/// "acme.scale" -> file scale, class Scale, target acme_scale.
Names names_of(const std::string& name) {
  for (char c : name)
    if (!(std::islower(static_cast<unsigned char>(c)) ||
          std::isdigit(static_cast<unsigned char>(c)) || c == '.' || c == '_'))
      fail(
          "new-plugin: a name has lower-case letters, digits, '_' and '.', such as 'acme.scale'; "
          "got '",
          name, "'");
  Names names{name, name.substr(name.rfind('.') + 1), "", name};
  if (names.file.empty() || !std::islower(static_cast<unsigned char>(names.file[0])))
    fail("new-plugin: the last part of a name starts with a letter, got '", name, "'");
  bool upper = true;
  for (char c : names.file) {
    if (c != '_')
      names.class_name +=
          upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = c == '_';
  }
  for (char& c : names.target) c = c == '.' ? '_' : c;
  return names;
}

std::string filled(std::string text, const Names& names) {
  const std::pair<const char*, const std::string&> words[] = {{"@NAME@", names.name},
                                                              {"@FILE@", names.file},
                                                              {"@CLASS@", names.class_name},
                                                              {"@TARGET@", names.target}};
  for (const auto& [word, replacement] : words)
    for (size_t at; (at = text.find(word)) != std::string::npos;)
      text.replace(at, std::strlen(word), replacement);
  return text;
}

}  // namespace

int make_plugin(const std::vector<std::string>& arguments) {
  if (arguments.size() != 1) fail_usage("new-plugin", "expected one name, such as 'acme.scale'");
  const Names names = names_of(arguments[0]);
  if (mkdir(names.name.c_str(), 0777) != 0)
    fail("new-plugin: cannot make the folder ", names.name, ": ", std::strerror(errno));
  replace_file(names.name + "/CMakeLists.txt", filled(kBuild, names));
  replace_file(names.name + "/" + names.file + ".cpp", filled(kSource, names));
  replace_file(names.name + "/test.lua", filled(kTest, names));
  replace_file(names.name + "/README.md", filled(kReadme, names));
  std::printf("Written to %s; README.md there says how to build it.\n", names.name.c_str());
  return 0;
}

}  // namespace crescent::program
