#include "crash_note.h"

#include <unistd.h>

#include <csignal>

#include "crescent/base/error.h"

namespace crescent::program {
namespace {

constexpr int kCrashSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

std::string note;
void (*report_crash)(int) = nullptr;  // the handler of report_crashes()

/// The handler of report_crashes() leaves the signal pending, so that the process ends when this
/// handler returns.
extern "C" void crescent_on_prompt_crash(int signal) {
  report_crash(signal);
  [[maybe_unused]] const auto ignored = write(STDERR_FILENO, note.data(), note.size());
}

}  // namespace

void name_history_in_crashes(const std::string& history_path) {
  if (history_path.empty()) return;
  note = concat("crescent: the inputs of this session are in '", printable(history_path), "'\n");
  for (const int signal : kCrashSignals) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN ||
        (action.sa_flags & SA_SIGINFO) != 0 || (report_crash && action.sa_handler != report_crash))
      continue;
    report_crash = action.sa_handler;
    action.sa_handler = crescent_on_prompt_crash;
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace crescent::program
