#include "values/interruption.h"

#include <csignal>
#include <cstdio>
#include <iterator>
#include <utility>

namespace crescent::lua {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
struct sigaction before[std::size(kSignals)];  // the outermost, of each signal
volatile std::sig_atomic_t caught = 0;         // the signal that the run was stopped by
int running = 0;
Interruption* volatile asked = nullptr;  // of the thread that the outermost is on
bool answerable = false;                 // the command had no Ctrl-C yet
thread_local int elsewhere = 0;          // signals are no business of this thread

const struct sigaction& handled_before(int signal) {
  size_t i = 0;
  while (kSignals[i] != signal) ++i;
  return before[i];
}

extern "C" void crescent_on_interrupt(int signal) {
  asked->request();
  if (caught == 0) {
    caught = signal;
    return;
  }
  caught = 0;
  sigaction(signal, &handled_before(signal), nullptr);
  std::raise(signal);  // arrives when this handler ends
}

/// What a process that the signal kills would have written.
void flush_if_deadly(int signal) {
  if (handled_before(signal).sa_handler == SIG_DFL) std::fflush(nullptr);
}

}  // namespace

SignalsElsewhere::SignalsElsewhere() { ++elsewhere; }
SignalsElsewhere::~SignalsElsewhere() { --elsewhere; }

Interruptible::Interruptible() : outermost_(elsewhere == 0 && running++ == 0) {
  if (!outermost_) return;
  caught = 0;
  asked = Interruption::current().get();
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

void begin_command() { answerable = true; }

}  // namespace crescent::lua
