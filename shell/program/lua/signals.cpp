#include "signals.h"

#include <poll.h>

#include <cerrno>
#include <cstring>
#include <iterator>

#include "crescent/system/interrupt.h"
#include "module/values/interruption.h"

namespace crescent::program {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
lua_State* interruptible = nullptr;  // the Lua state that signals interrupt
Interruption* active_interruption =
    nullptr;  // the Interruption of the thread that runs the Lua state
bool at_prompt = false;
volatile std::sig_atomic_t received = 0, count = 0;

bool is_final(int signal) { return signal == SIGTERM || signal == SIGHUP; }

/// Whether the signal is a Ctrl-C at the prompt, which ends the command but not the session.
bool is_gentle(int signal) { return at_prompt && !is_final(signal); }

void stop(lua_State* L, lua_Debug*) {
  clear_interrupt();
  if (count < 2 && !is_final(received)) lua_sethook(L, nullptr, 0, 0);
  if (is_final(received)) luaL_error(L, "stopped by SIG%s", sigabbrev_np(received));
  luaL_error(L, "interrupted!");
}

/// The signal handler. It requests loops in C++ to stop, and sets a debug hook that raises the
/// error before the next instruction of Lua code.
extern "C" void crescent_stop_lua(int signal) {
  if (!is_final(received)) received = signal;
  count = count + 1;
  if (count > 1 && is_gentle(signal))
    std::signal(signal, SIG_DFL);
  else if (count > 1)
    lua::end_soon(received);
  if (!interruptible) return;
  active_interruption->request();
  lua_sethook(interruptible, stop, LUA_MASKCOUNT, 1);
}

}  // namespace

StopSignals::StopSignals(lua_State* L) : L_(L) {
  if (!is_final(received)) received = 0;
  count = 0;
  interruptible = L;
  active_interruption = Interruption::current().get();
  struct sigaction action {};
  action.sa_handler = crescent_stop_lua;
  sigemptyset(&action.sa_mask);
  action.sa_flags = L ? SA_RESTART : 0;
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

StopSignals::~StopSignals() {
  for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  interruptible = nullptr;
  if (!L_) return;
  lua_sethook(L_, nullptr, 0, 0);
  clear_interrupt();
  if (!told_to_end()) lua::cancel_end();
}

bool await_input(int file) {
  sigset_t stops, before;
  sigemptyset(&stops);
  for (int signal : kSignals) sigaddset(&stops, signal);
  sigprocmask(SIG_BLOCK, &stops, &before);
  pollfd input{file, POLLIN, 0};
  while (received == 0 && ppoll(&input, 1, nullptr, &before) < 0 && errno == EINTR) {
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return received == 0;
}

void begin_prompt() { at_prompt = true; }

int stop_signal() { return received; }
bool told_to_end() { return is_final(received); }

}  // namespace crescent::program
