#include "values/interruption.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <iterator>
#include <utility>

namespace crescent::lua {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
// For each signal, the handler that was set before the outermost Interruptible was made.
struct sigaction previous_actions[std::size(kSignals)];
volatile std::sig_atomic_t caught_signal = 0;  // the signal that stopped the run; 0 for none
int interruptible_count = 0;
// the Interruption of the thread that has the outermost Interruptible
Interruption* volatile active_interruption = nullptr;
// Whether the current command may continue after a first Ctrl-C (see mark_result_returned()).
bool may_continue_after_interrupt = false;
bool is_at_prompt = false;
volatile std::sig_atomic_t final_signal = 0;    // the signal with which the process will end
thread_local int no_signal_handling_count = 0;  // number of NoSignalHandling objects on this thread

const struct sigaction& previous_action(int signal) {
  size_t i = 0;
  while (kSignals[i] != signal) ++i;
  return previous_actions[i];
}

extern "C" void crescent_on_interrupt(int signal) {
  active_interruption->request();
  if (caught_signal == 0) {
    caught_signal = signal;
    return;
  }
  caught_signal = 0;
  if (!is_at_prompt || signal != SIGINT) end_soon(signal);
  sigaction(signal, &previous_action(signal), nullptr);
  std::raise(signal);  // the previous handler gets the signal when this handler returns
}

extern "C" void crescent_end(int) { _exit(128 + final_signal); }

/// Flushes output if the signal's previous handling is the default, which kills the process.
void flush_if_deadly(int signal) {
  if (previous_action(signal).sa_handler == SIG_DFL) std::fflush(nullptr);
}

}  // namespace

NoSignalHandling::NoSignalHandling() { ++no_signal_handling_count; }
NoSignalHandling::~NoSignalHandling() { --no_signal_handling_count; }

Interruptible::Interruptible()
    : is_outermost_(no_signal_handling_count == 0 && interruptible_count++ == 0) {
  if (!is_outermost_) return;
  caught_signal = 0;
  active_interruption = Interruption::current().get();
  struct sigaction action {};
  action.sa_handler = crescent_on_interrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], nullptr, &previous_actions[i]);
    if (previous_actions[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

Interruptible::~Interruptible() {
  if (no_signal_handling_count > 0) return;
  --interruptible_count;
  if (!is_outermost_) return;
  for (size_t i = 0; i < std::size(kSignals); ++i)
    sigaction(kSignals[i], &previous_actions[i], nullptr);
  cancel_end();
  clear_interrupt();
  const int signal = caught_signal;
  caught_signal = 0;
  if (signal == 0) return;
  flush_if_deadly(signal);
  std::raise(signal);
}

void Interruptible::mark_result_returned() {
  if (is_outermost_ && caught_signal == SIGINT &&
      std::exchange(may_continue_after_interrupt, false))
    caught_signal = 0;
}

void begin_command() { may_continue_after_interrupt = is_at_prompt = true; }

void end_soon(int signal) {
  constexpr unsigned kSeconds = 2;
  final_signal = signal;
  struct sigaction action {};
  action.sa_handler = crescent_end;
  sigemptyset(&action.sa_mask);
  sigaction(SIGALRM, &action, nullptr);
  alarm(kSeconds);
}

void cancel_end() {
  if (final_signal == 0) return;
  final_signal = 0;
  alarm(0);
  std::signal(SIGALRM, SIG_DFL);
}

}  // namespace crescent::lua
