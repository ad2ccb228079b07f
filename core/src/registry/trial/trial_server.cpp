#include "registry/trial/trial_server.h"

#include <algorithm>
#include <sstream>

#include "crescent/base/error.h"

namespace crescent {
namespace {

constexpr size_t kTrialsAtOnce = 8;
constexpr size_t kLibrariesPerServer = 256;  // a command line has a limited length

/// Writes the length of a text, then the text, which may have any bytes.
void write_text(std::ostream& out, const std::string& text) { out << text.size() << ' ' << text; }

std::string read_text(std::istream& in) {
  size_t size = 0;
  in >> size;
  in.get();
  std::string text(size, '\0');
  in.read(text.data(), static_cast<std::streamsize>(size));
  return text;
}

/// Tries these libraries in a single process of crescent-try, and appends the outcomes.
void try_in_server(const std::vector<std::string>& libraries, std::vector<TrialOutcome>& outcomes) {
  const Descriptor report_file = trial_file();
  std::vector<std::string> command_line{trial_program(), kTryEach};
  command_line.insert(command_line.end(), libraries.begin(), libraries.end());
  constexpr int kNoDescriptor = ProcessOptions::kNowhere;
  Process server =
      Process::program(command_line, {.descriptors = {{kNoDescriptor, STDIN_FILENO},
                                                      {kNoDescriptor, STDOUT_FILENO},
                                                      {kNoDescriptor, STDERR_FILENO},
                                                      {report_file, kTrialDescriptor}}});
  if (server.wait() != 0)
    fail("plugins cannot be tried: the program that tries them, ", command_line.front(), ", ",
         server.ending());
  std::istringstream report_stream(contents_of(report_file));
  for (size_t i = 0; i < libraries.size(); ++i) {
    std::string failure = read_text(report_stream);
    outcomes.push_back({std::move(failure), read_text(report_stream)});
  }
}

}  // namespace

std::vector<TrialOutcome> try_each(const std::vector<std::string>& libraries) {
  std::vector<TrialOutcome> outcomes;
  for (size_t begin = 0; begin < libraries.size(); begin += kLibrariesPerServer) {
    const size_t end = std::min(begin + kLibrariesPerServer, libraries.size());
    try_in_server({libraries.begin() + begin, libraries.begin() + end}, outcomes);
  }
  return outcomes;
}

int serve_trials(const std::vector<std::string>& libraries) {
  prepare_for_trials();
  std::ostringstream output;
  for (size_t begin = 0; begin < libraries.size(); begin += kTrialsAtOnce) {
    const size_t end = std::min(begin + kTrialsAtOnce, libraries.size());
    std::vector<PluginTrial> trials;
    for (size_t i = begin; i < end; ++i) trials.push_back(PluginTrial::in_fork(libraries[i]));
    for (PluginTrial& trial : trials) {
      const TrialOutcome trial_outcome = trial.outcome();
      write_text(output, trial_outcome.failure);
      write_text(output, trial_outcome.report);
    }
  }
  return finish_trial(output.str());
}

}  // namespace crescent
