#include "registry/trial/plugin_trial.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "crescent/base/error.h"
#include "system/installation.h"

namespace crescent {
namespace {

constexpr auto kTimeout = std::chrono::seconds(10);

}  // namespace

Descriptor trial_file() { return memory_file("crescent-try"); }

std::string trial_program() {
  const std::string path =
      (std::filesystem::path(installed_plugin_directory()).parent_path() / "crescent-try").string();
  if (access(path.c_str(), X_OK) != 0)
    fail("the program that tries plugins, ", path, ", is missing; install Crescent again");
  return path;
}

namespace {

/// The last line of the child's stderr, which an assertion or the dynamic linker may have written,
/// as an addition to an error message; "" if there is none.
std::string last_stderr_line_note(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  const std::string line = text.substr(text.rfind('\n') + 1);
  return line.empty() ? "" : concat("; its last words: ", line);
}

}  // namespace

/// The child process stays in the process group of its parent, so Ctrl-C ends the trial.
PluginTrial::PluginTrial(const std::function<Process(const ProcessOptions&)>& start_process)
    : stderr_file_(trial_file()),
      report_file_(trial_file()),
      process_(start_process({.descriptors = {{ProcessOptions::kNowhere, STDIN_FILENO},
                                              {ProcessOptions::kNowhere, STDOUT_FILENO},
                                              {stderr_file_, STDERR_FILENO},
                                              {report_file_, kTrialDescriptor}}})),
      deadline_(std::chrono::steady_clock::now() + kTimeout) {}

PluginTrial PluginTrial::in_program(const std::vector<std::string>& libraries) {
  std::vector<std::string> command_line{trial_program()};
  command_line.insert(command_line.end(), libraries.begin(), libraries.end());
  return PluginTrial(
      [&](const ProcessOptions& options) { return Process::program(command_line, options); });
}

/// The child process ends by exit(), so that the trial includes the destructors and exit handlers
/// of the library.
PluginTrial PluginTrial::in_fork(const std::string& library) {
  const auto try_library = [&]() -> int { std::exit(run_trial({library})); };
  return PluginTrial(
      [&](const ProcessOptions& options) { return Process::copy(try_library, options); });
}

TrialOutcome PluginTrial::outcome() {
  std::string reason = failure();
  return {std::move(reason), contents_of(report_file_)};
}

std::string PluginTrial::failure() {
  const auto remaining_time = deadline_ - std::chrono::steady_clock::now();
  const bool is_in_time = process_.wait(
      std::chrono::ceil<Process::Timeout>(std::max(remaining_time, remaining_time.zero())));
  const bool was_loaded = !contents_of(report_file_).empty();
  const std::string stderr_note = last_stderr_line_note(contents_of(stderr_file_));
  const char* time_text = was_loaded ? "when the process ends" : "while it is loaded";
  if (!is_in_time)
    return concat("it does not come to an end ", time_text, ": it was given ", kTimeout.count(),
                  " seconds", stderr_note);
  if (process_.signal())
    return concat("it crashes ", time_text, ": ", signal_name(process_.signal()), stderr_note);
  if (!was_loaded)
    return concat("it ends the process ", time_text, ", with exit status ", process_.exit_status(),
                  stderr_note);
  return process_.exit_status() ? concat("it makes the process end with exit status ",
                                         process_.exit_status(), stderr_note)
                                : "";
}

/// Forks this process and calls `load` in the fork, which has a single thread. A fork that waits
/// forever for other threads, or that cannot be made for lack of memory, does not count as a
/// failure of the library.
std::string failure_in_copy(const std::function<void()>& load) try {
  const Descriptor report_file = trial_file();
  const auto load_and_report = [&] {
    try {
      load();
      // The exception is ignored, because loading the library in this process throws it again.
    } catch (...) {
    }
    return write(report_file, "1", 1) == 1 ? 0 : 1;
  };
  constexpr int kNoDescriptor = ProcessOptions::kNowhere;
  Process process =
      Process::copy(load_and_report, {.descriptors = {{kNoDescriptor, STDIN_FILENO},
                                                      {kNoDescriptor, STDOUT_FILENO},
                                                      {kNoDescriptor, STDERR_FILENO}}});
  if (!process.wait(kTimeout) || !contents_of(report_file).empty()) return "";
  if (process.signal())
    return concat("it crashes in this process: ", signal_name(process.signal()));
  return "it ends this process while it is loaded";
} catch (const Error&) {
  return "";
}

int finish_trial(const std::string& report) {
  const ssize_t written_bytes = write(kTrialDescriptor, report.data(), report.size());
  return written_bytes == static_cast<ssize_t>(report.size()) ? 0 : 1;
}

int run_trial(const std::vector<std::string>& libraries) {
  std::string report;
  for (const std::string& library : libraries) report = load_untried(library);
  return finish_trial(report);
}

}  // namespace crescent
