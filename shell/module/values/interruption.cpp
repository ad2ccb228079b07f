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
struct sigaction before[std::size(kSignals)];
volatile std::sig_atomic_t caught = 0;  // the signal that stopped the run; 0 for none
int running = 0;
// the Interruption of the thread that has the outermost Interruptible
Interruption* volatile active_interruption = nullptr;
// Whether the current command may continue after a first Ctrl-C (see answer()).
bool answerable = false;
bool at_prompt = false;
volatile std::sig_atomic_t ending = 0;  // the signal with which the process will end
thread_local int elsewhere = 0;         // number of SignalsElsewhere objects on this thread

const struct sigaction& handled_before(int signal) {
  size_t i = 0;
  while (kSignals[i] != signal) ++i;
  return before[i];
}

extern "C" void crescent_on_interrupt(int signal) {
  active_interruption->request();
  if (caught == 0) {
    caught = signal;
    return;
  }
  caught = 0;
  if (!at_prompt || signal != SIGINT) end_soon(signal);
  sigaction(signal, &handled_before(signal), nullptr);
  std::raise(signal);  // the previous handler gets the signal when this handler returns
}

extern "C" void crescent_end(int) { _exit(128 + ending); }

/// Flushes output if the signal's previous handling is the default, which kills the process.
void flush_if_deadly(int signal) {
  if (handled_before(signal).sa_handler == SIG_DFL) std::fflush(nullptr);
}

}  // namespace

SignalsElsewhere::SignalsElsewhere() { ++elsewhere; }
SignalsElsewhere::~SignalsElsewhere() { --elsewhere; }

Interruptible::Interruptible() : outermost_(elsewhere == 0 && running++ == 0) {
  if (!outermost_) return;
  caught = 0;
  active_interruption = Interruption::current().get();
  struct sigaction action {};
  action.sa_handler = crescent_on_interrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], nullptr, &before[i]);
    if (before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

Interruptible::~Interruptible() {
  if (elsewhere > 0) return;
  --running;
  if (!outermost_) return;
  for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before[i], nullptr);
  cancel_end();
  clear_interrupt();
  const int signal = caught;
  caught = 0;
  if (signal == 0) return;
  flush_if_deadly(signal);
  std::raise(signal);
}

void Interruptible::answer() {
  if (outermost_ && caught == SIGINT && std::exchange(answerable, false)) caught = 0;
}

void begin_command() { answerable = at_prompt = true; }

void end_soon(int signal) {
  constexpr unsigned kSeconds = 2;
  ending = signal;
  struct sigaction action {};
  action.sa_handler = crescent_end;
  sigemptyset(&action.sa_mask);
  sigaction(SIGALRM, &action, nullptr);
  alarm(kSeconds);
}

void cancel_end() {
  if (ending == 0) return;
  ending = 0;
  alarm(0);
  std::signal(SIGALRM, SIG_DFL);
}

}  // namespace crescent::lua
