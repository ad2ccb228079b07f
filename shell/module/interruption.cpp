#include "interruption.h"

#include "crescent/model.h"

namespace crescent::lua {
namespace {

volatile std::sig_atomic_t presses = 0;
int running = 0;
bool session = false;

/// A second press means it: the program ends as it would without us.
extern "C" void crescent_on_interrupt(int signal) {
  presses = presses + 1;
  interrupt();
  if (presses == 2) std::signal(signal, SIG_DFL);
}

}  // namespace

Interruptible::Interruptible() : outermost_(running++ == 0) {
  if (!outermost_) return;
  presses = 0;
  struct sigaction action {};
  action.sa_handler = crescent_on_interrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &before_);
}

Interruptible::~Interruptible() {
  --running;
  if (!outermost_) return;
  sigaction(SIGINT, &before_, nullptr);
  if (presses > 0 && !session) std::raise(SIGINT);
  clear_interrupt();
}

void keep_session(bool on) { session = on; }

}  // namespace crescent::lua
