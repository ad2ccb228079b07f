// crescent new-plugin NAME [--kind KIND]: creates a project for a plugin with one class, ready to
// build, test and change. It is a copy of the example of its kind (examples/plugins) with other
// names.
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "command_table.h"
#include "commands.h"
#include "crescent/registry/registry.h"
#include "crescent/system/file.h"
#include "plugin_names.h"
#include "plugin_templates.h"

namespace crescent::program {
namespace {

namespace fs = std::filesystem;

/// An example project: the kind of plugin that the user names, the names of its file and its class,
/// and the kind of the class in the registry.
struct Example {
  const char *kind, *file, *class_name, *class_kind;
};
constexpr Example kExamples[] = {{"layer", "swish", "Swish", "layer"},
                                 {"op", "ema", "Ema", "layer"},
                                 {"loss", "quartic", "Quartic", "loss"},
                                 {"metric", "within", "Within", "metric"},
                                 {"optimizer", "signs", "Signs", "optimizer"},
                                 {"callback", "target", "Target", "callback"},
                                 {"format", "plain", "Plain", "format"},
                                 {"device", "relay", "Relay", "device"},
                                 {"communicator", "alone", "Alone", "communicator"},
                                 {"dataset", "spirals", "Spirals", "dataset"},
                                 {"lua", "gate", "Gate", "layer"},
                                 {"lua-dataset", "waves", "Waves", "dataset"}};

/// Classes from which the classes of plugins derive; a class of the same name would hide them.
constexpr const char* kBases[] = {"Layer",    "Model",  "Loss",   "Metric",       "Optimizer",
                                  "Callback", "Format", "Device", "Communicator", "Sequential"};

bool is_in_lua(const Example& example) { return std::string_view(example.kind).starts_with("lua"); }

const Example& example_of(const std::string& kind) {
  for (const Example& example : kExamples)
    if (example.kind == kind) return example;
  const std::vector<std::string> known_kinds = kinds_of_new_plugins();
  fail_usage("new-plugin", concat("no kind '", kind, "'", did_you_mean(kind, known_kinds),
                                  "; there are ", join(known_kinds)));
}

struct Arguments {
  std::string name, kind = "layer";
};

Arguments read_arguments(const std::vector<std::string>& arguments) {
  Arguments result;
  for (auto it = arguments.begin(); it != arguments.end(); ++it) {
    if (*it == "--kind") {
      if (++it == arguments.end()) fail_usage("new-plugin", "expected a kind after --kind");
      result.kind = *it;
    } else if (it->starts_with("-")) {
      fail_usage("new-plugin", concat("no option '", *it, "'"));
    } else if (!result.name.empty()) {
      fail_usage("new-plugin", "expected one name, such as 'acme.swish'");
    } else {
      result.name = *it;
    }
  }
  if (result.name.empty()) fail_usage("new-plugin", "expected one name, such as 'acme.swish'");
  return result;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Replaces a word in the text where it begins a word. If `allows_suffix` is false, it must be the
/// whole word.
void replace_word(std::string& text, const std::string& word, const std::string& replacement,
                  bool allows_suffix) {
  for (size_t offset = 0; (offset = text.find(word, offset)) != text.npos;) {
    const size_t end = offset + word.size();
    const bool begins_word = offset == 0 || !is_word(text[offset - 1]);
    const bool ends_word = allows_suffix || end == text.size() || !is_word(text[end]);
    if (begins_word && ends_word) text.replace(offset, word.size(), replacement);
    offset += begins_word && ends_word ? replacement.size() : word.size();
  }
}

std::string with_new_names(std::string text, const Example& example, const PluginNames& names) {
  const std::string file = example.file;
  replace_word(text, "acme." + file, names.name, false);
  replace_word(text, "acme_" + file, names.target, false);
  replace_word(text, "acme", names.prefix, false);
  replace_word(text, example.class_name, names.class_name, true);
  replace_word(text, file, names.file, false);
  return text;
}

/// The name that a file of the example gets in the new project.
std::string file_name(const std::string& name, const Example& example, const PluginNames& names) {
  const fs::path path(name);
  return path.stem() == example.file ? names.file + path.extension().string() : name;
}

/// Fails if another class of the kind already has the name, because the new class could not be
/// registered.
void check_class(const Example& example, const PluginNames& names) {
  for (const char* base : kBases)
    if (names.class_name == base)
      fail("new-plugin: '", base, "' is a base class; take another last part of the name");
  const auto existing_class = registry().find(example.class_kind, names.class_name);
  if (existing_class)
    fail("new-plugin: ", example.class_kind, " '", names.class_name, "' is there already, from '",
         existing_class->plugin, "'; take another last part of the name");
}

/// A path quoted for a shell.
std::string quoted(const std::string& path) {
  const bool needs_no_quotes = std::all_of(
      path.begin(), path.end(), [](char c) { return is_word(c) || std::strchr("./-+", c); });
  return needs_no_quotes ? path : "'" + path + "'";
}

/// The word by which a shell starts this program: its path if another program, or none, is called
/// `crescent` on the PATH.
std::string program_word() {
  const fs::path program = fs::read_symlink("/proc/self/exe");
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  std::error_code ignored_error;
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const fs::path program_path = fs::path(folder) / "crescent";
        fs::exists(program_path, ignored_error))
      return fs::equivalent(program_path, program, ignored_error) ? "crescent"
                                                                  : quoted(program.string());
  return quoted(program.string());
}

/// The folder in which this program is installed with its CMake files; a placeholder if it is not
/// installed.
std::string installation_folder() {
  const fs::path program = fs::read_symlink("/proc/self/exe");
  const fs::path prefix = program.parent_path().parent_path();
  return fs::exists(prefix / "lib/cmake/Crescent") ? quoted(prefix.string()) : "/where/crescent/is";
}

std::string commands_for(const Example& example, const PluginNames& names) {
  const std::string folder = names.name;
  if (is_in_lua(example))
    return concat("  CRESCENT_PLUGIN_PATH=", folder, " ", program_word(), " ", folder,
                  "/test.lua\n");
  return concat("  cmake -S ", folder, " -B ", folder,
                "/build -DCMAKE_PREFIX_PATH=", installation_folder(), "\n  cmake --build ", folder,
                "/build\n  ctest --test-dir ", folder, "/build --output-on-failure\n");
}

std::string readme(const Example& example, const PluginNames& names) {
  return concat("# ", names.name, "\n\nA plugin of Crescent (", example.kind, "): `",
                names.class_name, "`. From the folder above:\n\n```sh\n",
                commands_for(example, names), "```\n\nIts classes are found by name when ",
                "`CRESCENT_PLUGIN_PATH` names the folder of the plugin, or when the plugin\n",
                "is in `~/.local/share/crescent/plugins`. `crescent plugins ", names.name,
                "` tells what it has, `crescent check-plugin\n", names.name,
                "` whether its classes keep the rules.\n");
}

}  // namespace

std::vector<std::string> kinds_of_new_plugins() {
  std::vector<std::string> kinds;
  for (const Example& example : kExamples) kinds.emplace_back(example.kind);
  return kinds;
}

int make_plugin(const std::vector<std::string>& arguments) {
  const Arguments command_line = read_arguments(arguments);
  const Example& example = example_of(command_line.kind);
  const PluginNames names = plugin_names(command_line.name);
  check_class(example, names);
  if (mkdir(names.name.c_str(), 0755) != 0)
    fail("new-plugin: cannot make the folder ", names.name, ": ", std::strerror(errno));
  for (const PluginTemplate& file : plugin_templates())
    if (example.kind == std::string(file.kind))
      replace_file(names.name + "/" + file_name(file.file, example, names),
                   with_new_names(file.text, example, names));
  replace_file(names.name + "/README.md", readme(example, names));
  std::printf("Written to %s. To build and test it:\n%s", names.name.c_str(),
              commands_for(example, names).c_str());
  return 0;
}

}  // namespace crescent::program
