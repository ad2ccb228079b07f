#include "registry/loader/kept_state.h"

#include <dlfcn.h>
#include <pthread.h>

#include <clocale>
#include <cstring>

namespace crescent {
namespace {

/// Whether the handler is a function of libcrescent.so, the library that contains this code.
bool is_of_core(const struct sigaction& action) {
  Dl_info core_info, handler_info;
  const auto address = reinterpret_cast<const void*>(action.sa_sigaction);
  return dladdr(reinterpret_cast<const void*>(&is_of_core), &core_info) &&
         dladdr(address, &handler_info) && core_info.dli_fbase == handler_info.dli_fbase;
}

bool same_handler(const struct sigaction& a, const struct sigaction& b) {
  return a.sa_sigaction == b.sa_sigaction && a.sa_flags == b.sa_flags;
}

}  // namespace

SavedProcessState::SavedProcessState() : handlers_(NSIG) {
  std::fegetenv(&floating_point_modes_);
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, nullptr, &handlers_[signal]);
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked_signals_);
  locale_ = std::setlocale(LC_ALL, nullptr);
}

SavedProcessState::~SavedProcessState() {
  std::fesetenv(&floating_point_modes_);
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction current_action {};
    if (sigaction(signal, nullptr, &current_action) != 0 ||
        same_handler(current_action, handlers_[signal]))
      continue;
    if (!is_of_core(current_action)) sigaction(signal, &handlers_[signal], nullptr);
  }
  pthread_sigmask(SIG_SETMASK, &blocked_signals_, nullptr);
  if (locale_ != std::setlocale(LC_ALL, nullptr)) std::setlocale(LC_ALL, locale_.c_str());
}

}  // namespace crescent
