// crescent check-plugin NAME: checks the classes of a plugin (gradients, shapes, files, ...); for a
// device it also runs the tests of devices and ops.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "commands.h"
#include "crescent/model/check.h"
#include "crescent/program/device.h"
#include "crescent/registry/loader.h"
#include "crescent/system/crash.h"
#include "crescent/system/file.h"
#include "crescent/system/process.h"
#include "file_commands.h"

namespace crescent::program {
namespace {

namespace fs = std::filesystem;

/// The folder of the test programs in an installation.
constexpr const char* kTests = "lib/crescent/tests";

bool is_path(const std::string& name) {
  return name.find('/') != std::string::npos || name.ends_with(".so");
}

/// Reads options from JSON text, or from a file that contains it.
Dict options_in(const std::string& text) try {
  const bool is_text = text.starts_with('{') || text.starts_with('[');
  const Value options = parse_json(is_text ? text : read_file(text));
  if (!options.is_dict())
    fail("expected {\"Class\": {\"options\": {...}}}, got ", to_json(options));
  return options.as_dict();
} catch (Error& error) {
  error.add_context("check-plugin: --options: ");
  throw;
}

/// Runs the checks in a child process: a crash ends only the child, and this process then prints a
/// line about the crash.
int check_classes(const std::string& plugin, const Dict& options) {
  const Descriptor end = memory_file("check-plugin");  // is written to when all checks have run
  Process process = Process::copy([&] {
    report_crashes();
    bool ok = true;
    try {
      for (const CheckReport& report : check_plugin(plugin, options)) {
        print(report.text() + "\n");
        ok = ok && report.ok();
      }
    } catch (...) {
      print(concat("crescent: ", exception_text(), "\n"), stderr);
      ok = false;
    }
    std::fflush(stdout);
    return write(end, "end", 3) == 3 && ok ? 0 : 1;
  });
  const int status = process.wait();
  const bool ended = !contents_of(end).empty();
  if (!ended)
    print(concat("crescent: plugin '", plugin, "': the check ", process.ending(), "\n"), stderr);
  return ended && status == 0 ? 0 : 1;
}

/// The path of a test program, in the build or in an installation; empty if there is none.
std::string test_program(const char* name) {
  const fs::path program = fs::read_symlink("/proc/self/exe"), folder = program.parent_path();
  for (const fs::path& candidate : {folder / name, folder.parent_path() / kTests / name})
    if (access(candidate.c_str(), X_OK) == 0) return candidate.string();
  return "";
}

int judge_device(const std::string& device, const PluginRecord& plugin) {
  const char* before = std::getenv("CRESCENT_PLUGIN_PATH");
  const std::string folder = fs::path(plugin.path).parent_path().string();
  setenv("CRESCENT_PLUGIN_PATH", concat(folder, before ? ":" : "", before ? before : "").c_str(),
         1);
  setenv("CRESCENT_DEVICE", device.c_str(), 1);
  int status = 0;
  for (const char* name : {"test_devices", "test_ops"}) {
    const std::string test = test_program(name);
    if (test.empty())
      fail("check-plugin: the program ", name, " is missing; install Crescent again");
    print(concat(device, " (device): ", name, "\n"));
    std::fflush(stdout);
    if (Process::program({test}).wait() != 0) status = 1;
  }
  return status;
}

/// The record of a plugin from the index of plugins. A plugin that is not in the index is loaded
/// for it.
PluginRecord record_of(const std::string& plugin) {
  for (const PluginRecord& record : list_plugins())
    if (record.name == plugin || record.path == plugin) return record;
  return is_path(plugin) ? load_plugin(plugin) : load_plugin_by_name(plugin);
}

}  // namespace

int check_plugin_command(const std::vector<std::string>& arguments) {
  const FileArguments given(arguments, "check-plugin", 1, {}, {"options"});
  const std::string& plugin = given.paths[0];
  const Value* options = given.options.find("options");
  int status = check_classes(plugin, options ? options_in(options->as_string()) : Dict());
  if (status != 0) return status;
  const PluginRecord record = record_of(plugin);
  for (const auto& [kind, name] : record.classes)
    if (kind == Device::kKind && judge_device(name, record) != 0) status = 1;
  return status;
}

}  // namespace crescent::program
