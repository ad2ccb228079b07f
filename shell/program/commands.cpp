#include "commands.h"

#include <unistd.h>

#include <cstdio>
#include <functional>

#include "command_table.h"
#include "crescent/plugin.h"
#include "crescent/program/device.h"
#include "crescent/program/distribution.h"
#include "crescent/registry/loader.h"
#include "crescent/system/process.h"
#include "file_commands.h"
#include "lua/whole_state.h"
#include "plugin_listing.h"
#include "prompt/tour.h"

namespace crescent::program {
namespace {

void print_row(const std::string& name, const std::string& text) {
  print(name + std::string(name.size() < 16 ? 16 - name.size() : 0, ' ') + " " + text + "\n");
}

void print_dict(const Dict& dict, const std::string& indent) {
  for (const DictEntry& entry : dict) {
    if (!entry.value.is_dict()) {
      print_row(indent + entry.key, text_of(entry.value));
      continue;
    }
    print(indent + entry.key + "\n");
    print_dict(entry.value.as_dict(), indent + "  ");
  }
}

/// Calls `make_text` in a child process and returns its text or the message of its error. After an
/// error or a crash, which ends only the child, `child_survived` is false.
std::string run_in_child(const std::function<std::string()>& make_text, bool& child_survived) {
  const Descriptor answer_file = memory_file("crescent-plugins");
  std::fflush(stdout);
  Process process = Process::copy([&] {
    std::string text;
    int status = 0;
    try {
      text = make_text();
    } catch (...) {
      text = exception_text();
      status = 1;
    }
    const ssize_t written_bytes = write(answer_file, text.data(), text.size());
    return written_bytes == static_cast<ssize_t>(text.size()) ? status : 1;
  });
  child_survived = process.wait() == 0;
  return process.signal() ? "crashed while loading: " + signal_name(process.signal())
                          : contents_of(answer_file);
}

std::string describe_class(const std::string& kind, const std::string& name) {
  const auto info = registry().get(kind, name);
  std::string text = concat("\n", name, " (", kind, ")\n  ", info->schema.description, "\n");
  for (const Field& field : info->schema.fields) {
    if (field.keyword_only) continue;
    text += concat("  ", field.name, ": ", field.type,
                   field.required ? ", required" : concat(", default ", field.default_value), ". ",
                   field.doc, "\n");
  }
  for (const Method& method : info->schema.methods)
    text += concat("  ", method.name, "(): ", method.parameters.description, "\n");
  for (const Field& property : info->schema.properties)
    text += concat("  ", property.name, " (property): ", property.type, ". ", property.doc, "\n");
  return text;
}

/// Loads the plugin and describes its classes.
std::string describe_plugin(const std::string& name) {
  const bool is_path = name.find('/') != std::string::npos;
  const PluginRecord plugin = is_path ? load_plugin(name) : load_plugin_by_name(name);
  std::string text = concat(plugin.name, " ", plugin.version, "\n", plugin.path, "\n");
  for (const auto& [kind, class_name] : plugin.classes) text += describe_class(kind, class_name);
  return text;
}

/// The facts that show_info prints as a dictionary, for the option --json.
Value info() {
  Dict facts{{"crescent", CRESCENT_VERSION}, {"toolchain", CRESCENT_TOOLCHAIN}};
  facts.set("device", device().class_name());
  facts.set("device_information", device().information());
  facts.set("communicator", communicator()->information());
  List folders, plugins;
  for (const std::string& folder : plugin_search_path()) folders.emplace_back(folder);
  for (const PluginRecord& plugin : list_plugins())
    plugins.emplace_back(Dict{{"name", plugin.name},
                              {"version", plugin.version},
                              {"state", state_of_plugin(plugin)},
                              {"path", plugin.path}});
  facts.set("plugin_path", std::move(folders));
  facts.set("plugins", std::move(plugins));
  return facts;
}

}  // namespace

int show_info(const std::vector<std::string>& arguments) {
  if (communicator()->rank() != 0) return 0;  // rank 0 prints the information of all processes
  if (arguments == std::vector<std::string>{"--json"}) return print_json(info()), 0;
  if (!arguments.empty() && !arguments.front().starts_with("--")) return inspect(arguments);
  FileArguments(arguments, "info", 0, {"json"});
  print_row("crescent", CRESCENT_VERSION);
  print_row("toolchain", CRESCENT_TOOLCHAIN);
  print_row("device", device().class_name());
  print_dict(device().information(), "");
  print_dict({{"communicator", communicator()->information()}}, "");
  print_row("plugin path", join(plugin_search_path(), ":"));
  for (const PluginRecord& plugin : list_plugins())
    print_row("plugin", concat(plugin.name, " ", plugin.version, ", ", state_of_plugin(plugin),
                               ", ", plugin.path));
  return 0;
}

std::string describe_in_child(const std::string& plugin, bool& child_survived) {
  return run_in_child([&] { return describe_plugin(plugin); }, child_survived);
}

int show_demo(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments)
    if (argument != "--fast") fail_usage("demo", concat("unknown argument '", argument, "'"));
  return run_in_lua([&](lua_State* L) { return run_tour(L, !arguments.empty()) ? 0 : 1; });
}

}  // namespace crescent::program
