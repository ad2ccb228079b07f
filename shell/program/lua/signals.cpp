#include "signals.h"

#include <cstring>
#include <iterator>

#include "coroutines.h"
#include "module/values/interruption.h"

namespace crescent::program {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
lua_State* volatile interruptible = nullptr;  // the Lua state that signals interrupt
// The Interruption and the running coroutines of the thread that runs this Lua state.
Interruption* volatile active_interruption = nullptr;
RunningCoroutine* volatile* volatile coroutines = nullptr;
lua_State* stopped = nullptr;  // the Lua thread in which a signal raised an error
bool at_prompt = false;
StopSignalHandling* innermost = nullptr;
struct sigaction
    before[std::size(kSignals)];  // the actions before the outermost StopSignalHandling
volatile std::sig_atomic_t received = 0, count = 0;

bool is_final(int signal) { return signal == SIGTERM || signal == SIGHUP; }

/// Whether the signal is a Ctrl-C at the prompt, which ends the command but not the session.
bool is_gentle(int signal) { return at_prompt && !is_final(signal); }

/// Sets the debug hook of the interruptible Lua state and of its running coroutines.
void set_hooks(lua_Hook hook) {
  const int mask = hook ? LUA_MASKCOUNT : 0;
  lua_sethook(interruptible, hook, mask, 1);
  for (RunningCoroutine* call = *coroutines; call; call = call->outer)
    lua_sethook(call->thread, hook, mask, 1);
}

void stop(lua_State* L, lua_Debug*) {
  clear_interrupt();
  if (count < 2 && !is_final(received)) set_hooks(nullptr);
  stopped = L;
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
  set_hooks(stop);
}

/// Installs the signal handler for the signals that were not ignored before.
void install_handler(int flags) {
  struct sigaction action {};
  action.sa_handler = crescent_stop_lua;
  sigemptyset(&action.sa_mask);
  action.sa_flags = flags;
  for (size_t i = 0; i < std::size(kSignals); ++i)
    if (before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
}

void set_interruptible(lua_State* L, Interruption* interruption) {
  interruptible = nullptr;
  active_interruption = interruption;
  coroutines = &innermost_coroutine();
  interruptible = L;
}

}  // namespace

StopSignalHandling::StopSignalHandling(lua_State* L, int flags)
    : outer_(innermost), L_(L), interruption_(Interruption::current().get()) {
  if (!is_final(received)) received = 0;
  count = 0;
  innermost = this;
  set_interruptible(L_, interruption_);
  if (outer_) return;
  for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], nullptr, &before[i]);
  install_handler(flags);
}

/// A second Ctrl-C at the prompt removes the handler, which the objects outside still need.
StopSignalHandling::~StopSignalHandling() {
  innermost = outer_;
  set_interruptible(outer_ ? outer_->L_ : nullptr, outer_ ? outer_->interruption_ : nullptr);
  if (!outer_)
    for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before[i], nullptr);
  else if (count > 1)
    install_handler(SA_RESTART);
  if (!L_) return;
  lua_sethook(L_, nullptr, 0, 0);
  clear_interrupt();
  if (!told_to_end()) lua::cancel_end();
}

void pass_signals(lua_State* caller, lua_State* coroutine) {
  stopped = nullptr;
  if (lua_gethook(caller) != stop && lua_gethook(coroutine) != stop) return;
  lua_sethook(coroutine, lua_gethook(caller), lua_gethookmask(caller), lua_gethookcount(caller));
}

void pass_stop(lua_State* coroutine, lua_State* caller) {
  if (stopped == coroutine) stopped = caller;
}

bool is_stopped(lua_State* L) { return stopped == L; }

void begin_prompt() { at_prompt = true; }

int stop_signal() { return received; }
bool told_to_end() { return is_final(received); }

}  // namespace crescent::program
