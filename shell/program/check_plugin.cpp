// crescent check-plugin NAME: checks the classes of a plugin (gradients, shapes, files, ...); for a
// device it also runs the tests of devices and ops.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>

#include "commands.h"
#include "crescent/program/device.h"
#include "crescent/registry/loader.h"
#include "crescent/system/crash.h"
#include "crescent/system/file.h"
#include "crescent/system/process.h"
#include "file_commands.h"
#include "host/plugin_checks.h"

namespace crescent::program {
namespace {

namespace fs = std::filesystem;

/// The folder of the test programs in an installation.
constexpr const char* kTestFolder = "lib/crescent/tests";
/// The time that a test program may take, several times that of the slowest device.
constexpr std::chrono::seconds kDeviceTestLimit{1800};

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

/// The pipe through which a child process says which check it begins, and which reports it has
/// printed: lines of words between tabs.
class ChecksPipe {
 public:
  using Words = std::vector<std::string>;

  ChecksPipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail("cannot make a pipe: ", std::strerror(errno));
    read_end_ = Descriptor(ends[0]), write_end_ = Descriptor(ends[1]);
  }
  void write_line(const Words& words) const {
    std::string line;
    for (const std::string& word : words) line += concat(line.empty() ? "" : "\t", word);
    line += '\n';
    if (write(write_end_, line.data(), line.size()) < 0) std::_Exit(1);
  }
  /// Reads lines of the child until it closes the pipe, and returns true; returns false if no line
  /// came within `limit`.
  bool read_until_closed(std::chrono::milliseconds limit) {
    write_end_.close();
    for (;;) {
      pollfd request{read_end_, POLLIN, 0};
      const int ready_count = poll(&request, 1, static_cast<int>(limit.count()));
      if (ready_count == 0) return false;
      if (ready_count > 0 && !read_some()) return true;
    }
  }
  /// The lines that the child wrote.
  std::vector<Words> lines() const {
    std::vector<Words> result;
    std::istringstream line_stream(lines_);
    for (std::string line; std::getline(line_stream, line);) {
      std::istringstream word_stream(line);
      Words& words = result.emplace_back();
      for (std::string word; std::getline(word_stream, word, '\t');) words.push_back(word);
    }
    return result;
  }

 private:
  bool read_some() {
    char bytes[4096];
    const ssize_t count = read(read_end_, bytes, sizeof bytes);
    if (count > 0) lines_.append(bytes, static_cast<size_t>(count));
    return count > 0;
  }

  Descriptor read_end_, write_end_;
  std::string lines_;
};

// The first words of the lines in a ChecksPipe.
constexpr const char *kBegins = "begins", *kReported = "reported", *kLastLine = "end";

/// Checks the classes, and prints the report of each as soon as there is one; returns whether all
/// passed. `progress` has the results of earlier processes.
bool print_checks(const std::string& plugin, const Dict& options, CheckProgress progress,
                  const ChecksPipe& pipe) try {
  bool ok = progress.fatal_results.empty();
  progress.begins = [&](const KindAndName& kind_and_name, const std::string& check) {
    pipe.write_line({kBegins, kind_and_name.first, kind_and_name.second, check});
  };
  progress.ended = [&](const KindAndName& kind_and_name, const CheckReport& report) {
    print(report.text() + "\n");
    std::fflush(stdout);
    pipe.write_line({kReported, kind_and_name.first, kind_and_name.second});
    ok = ok && report.ok();
  };
  check_plugin(plugin, options, progress);
  return ok;
} catch (...) {
  print(concat("crescent: ", exception_text(), "\n"), stderr);
  return false;
}

/// Runs checks in a child process. If a crash, or a check that reaches the time limit, ends the
/// process, prints a line that names class and check, notes them in `progress` and returns nullopt
/// so that another child can check the other classes; else returns the exit status.
std::optional<int> check_remaining_classes(const std::string& plugin, const Dict& options,
                                           std::chrono::seconds limit, CheckProgress& progress) {
  ChecksPipe pipe;
  Process process = Process::copy([&] {
    report_crashes();
    const bool ok = print_checks(plugin, options, progress, pipe);
    std::fflush(stdout);
    pipe.write_line({kLastLine});
    return ok ? 0 : 1;
  });
  const bool has_ended_in_time = pipe.read_until_closed(limit);
  has_ended_in_time ? static_cast<void>(process.wait()) : process.kill();
  ChecksPipe::Words check;
  for (const ChecksPipe::Words& words : pipe.lines()) {
    if (words[0] == kLastLine && has_ended_in_time) return process.exit_status() == 0 ? 0 : 1;
    if (words[0] == kBegins) check = words;
    if (words[0] == kReported) progress.reported_classes.emplace(words[1], words[2]);
  }
  const std::string ending = has_ended_in_time
                                 ? process.ending()
                                 : concat("did not end within ", limit.count(), " seconds");
  const std::string subject =
      check.empty() ? "loading it" : concat("the check '", check[3], "' of ", check[2]);
  print(concat("crescent: plugin '", plugin, "': ", subject, " ", ending, "\n"), stderr);
  if (check.empty()) return 1;
  const CheckResult result{check[3], CheckOutcome::failed, concat("the process ", ending)};
  progress.fatal_results.emplace(KindAndName(check[1], check[2]), result);
  return std::nullopt;
}

/// Checks the classes in as many child processes as it takes until one of them ends by itself.
int check_classes(const std::string& plugin, const Dict& options, std::chrono::seconds limit) {
  CheckProgress progress;
  for (;;) {
    const size_t known_results = progress.fatal_results.size();
    if (const auto status = check_remaining_classes(plugin, options, limit, progress))
      return *status;
    if (progress.fatal_results.size() == known_results) return 1;
  }
}

/// The path of a test program, in the build or in an installation; empty if there is none.
std::string test_program(const char* name) {
  const fs::path program = fs::read_symlink("/proc/self/exe"), folder = program.parent_path();
  for (const fs::path& candidate : {folder / name, folder.parent_path() / kTestFolder / name})
    if (access(candidate.c_str(), X_OK) == 0) return candidate.string();
  return "";
}

int test_device(const std::string& device, const PluginRecord& plugin) {
  const char* search_path = std::getenv("CRESCENT_PLUGIN_PATH");
  const std::string folder = fs::path(plugin.path).parent_path().string();
  setenv("CRESCENT_PLUGIN_PATH",
         concat(folder, search_path ? ":" : "", search_path ? search_path : "").c_str(), 1);
  setenv("CRESCENT_DEVICE", device.c_str(), 1);
  int status = 0;
  for (const char* name : {"test_devices", "test_ops"}) {
    const std::string test_path = test_program(name);
    if (test_path.empty())
      fail("check-plugin: the program ", name, " is missing; install Crescent again");
    print(concat(device, " (device): ", name, "\n"));
    std::fflush(stdout);
    Process process = Process::program({test_path});
    if (!process.wait(kDeviceTestLimit))
      print(concat("crescent: device '", device, "': ", name, " did not end within ",
                   kDeviceTestLimit.count(), " seconds\n"),
            stderr);
    if (process.exit_status() != 0) status = 1;
  }
  return status;
}

/// The record of a plugin from the index of plugins. A plugin that is not in the index is loaded to
/// get the record.
PluginRecord record_of(const std::string& plugin) {
  for (const PluginRecord& record : list_plugins())
    if (record.name == plugin || record.path == plugin) return record;
  return is_path(plugin) ? load_plugin(plugin) : load_plugin_by_name(plugin);
}

/// The time that a check may take.
std::chrono::seconds time_limit_in(const Dict& options) try {
  const Value* option = options.find("seconds");
  const int64_t seconds = option ? parse_json(option->as_string()).as_int() : 60;
  if (seconds < 1 || seconds > 86400) fail("expected 1 to 86400, got ", seconds);
  return std::chrono::seconds(seconds);
} catch (Error& error) {
  error.add_context("check-plugin: --seconds: ");
  throw;
}

}  // namespace

int check_plugin_command(const std::vector<std::string>& arguments) {
  const FileArguments command_line(arguments, "check-plugin", 1, {}, {"options", "seconds"});
  const std::string& plugin = command_line.paths[0];
  const Value* options = command_line.options.find("options");
  int status = check_classes(plugin, options ? options_in(options->as_string()) : Dict(),
                             time_limit_in(command_line.options));
  if (status != 0) return status;
  const PluginRecord record = record_of(plugin);
  for (const auto& [kind, name] : record.classes)
    if (kind == Device::kKind && test_device(name, record) != 0) status = 1;
  return status;
}

}  // namespace crescent::program
