#include "signals.h"

#include <cstring>
#include <iterator>

#include "coroutines.h"
#include "module/values/interruption.h"

namespace crescent::program {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
lua_State* volatile interruptible_state = nullptr;  // the Lua state that signals interrupt
// The Interruption and the running coroutines of the thread that runs this Lua state.
Interruption* volatile active_interruption = nullptr;
RunningCoroutine* volatile* volatile running_coroutines = nullptr;
lua_State* stopped_thread = nullptr;  // the Lua thread in which a signal raised an error
bool is_at_prompt = false;
StopSignalHandling* innermost_handling = nullptr;
struct sigaction
    previous_actions[std::size(kSignals)];  // the actions before the outermost StopSignalHandling
volatile std::sig_atomic_t last_signal = 0, signal_count = 0;

bool is_final(int signal) { return signal == SIGTERM || signal == SIGHUP; }

/// Whether the signal is a Ctrl-C at the prompt, which ends the command but not the session.
bool ends_command_only(int signal) { return is_at_prompt && !is_final(signal); }

/// Sets the debug hook of the interruptible Lua state and of its running coroutines.
void set_hooks(lua_Hook hook) {
  const int mask = hook ? LUA_MASKCOUNT : 0;
  lua_sethook(interruptible_state, hook, mask, 1);
  for (RunningCoroutine* call = *running_coroutines; call; call = call->enclosing_call)
    lua_sethook(call->thread, hook, mask, 1);
}

void raise_stop_error(lua_State* L, lua_Debug*) {
  clear_interrupt();
  if (signal_count < 2 && !is_final(last_signal)) set_hooks(nullptr);
  stopped_thread = L;
  if (is_final(last_signal)) luaL_error(L, "stopped by SIG%s", sigabbrev_np(last_signal));
  luaL_error(L, "interrupted!");
}

/// The signal handler. It requests loops in C++ to stop, and sets a debug hook that raises the
/// error before the next instruction of Lua code.
extern "C" void crescent_stop_lua(int signal) {
  if (!is_final(last_signal)) last_signal = signal;
  signal_count = signal_count + 1;
  if (signal_count > 1 && ends_command_only(signal))
    std::signal(signal, SIG_DFL);
  else if (signal_count > 1)
    lua::end_soon(last_signal);
  if (!interruptible_state) return;
  active_interruption->request();
  set_hooks(raise_stop_error);
}

/// Installs the signal handler for the signals that were not ignored before.
void install_handler(int flags) {
  struct sigaction action {};
  action.sa_handler = crescent_stop_lua;
  sigemptyset(&action.sa_mask);
  action.sa_flags = flags;
  for (size_t i = 0; i < std::size(kSignals); ++i)
    if (previous_actions[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
}

void set_interruptible(lua_State* L, Interruption* interruption) {
  interruptible_state = nullptr;
  active_interruption = interruption;
  running_coroutines = &innermost_coroutine();
  interruptible_state = L;
}

}  // namespace

StopSignalHandling::StopSignalHandling(lua_State* L, int flags)
    : enclosing_handling_(innermost_handling), L_(L), interruption_(Interruption::current().get()) {
  if (!is_final(last_signal)) last_signal = 0;
  signal_count = 0;
  innermost_handling = this;
  set_interruptible(L_, interruption_);
  if (enclosing_handling_) return;
  for (size_t i = 0; i < std::size(kSignals); ++i)
    sigaction(kSignals[i], nullptr, &previous_actions[i]);
  install_handler(flags);
}

/// Makes the enclosing object active again, or restores the previous actions if there is none.
/// After a second Ctrl-C at the prompt, which removes the handler, installs it again for that
/// object.
StopSignalHandling::~StopSignalHandling() {
  innermost_handling = enclosing_handling_;
  set_interruptible(enclosing_handling_ ? enclosing_handling_->L_ : nullptr,
                    enclosing_handling_ ? enclosing_handling_->interruption_ : nullptr);
  if (!enclosing_handling_)
    for (size_t i = 0; i < std::size(kSignals); ++i)
      sigaction(kSignals[i], &previous_actions[i], nullptr);
  else if (signal_count > 1)
    install_handler(SA_RESTART);
  if (!L_) return;
  lua_sethook(L_, nullptr, 0, 0);
  clear_interrupt();
  if (!has_final_signal()) lua::cancel_end();
}

void pass_signals(lua_State* caller, lua_State* coroutine) {
  stopped_thread = nullptr;
  if (lua_gethook(caller) != raise_stop_error && lua_gethook(coroutine) != raise_stop_error) return;
  lua_sethook(coroutine, lua_gethook(caller), lua_gethookmask(caller), lua_gethookcount(caller));
}

void pass_stop(lua_State* coroutine, lua_State* caller) {
  if (stopped_thread == coroutine) stopped_thread = caller;
}

bool is_stopped(lua_State* L) { return stopped_thread == L; }

void begin_prompt() { is_at_prompt = true; }

int stop_signal() { return last_signal; }
bool has_final_signal() { return is_final(last_signal); }

}  // namespace crescent::program
